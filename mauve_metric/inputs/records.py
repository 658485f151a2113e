"""Records of a file, the values at the fields of each, and the column that parts them into several kinds of texts."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, overload

from mauve_metric.runtime.checks import first_few, shown
from mauve_metric.runtime.errors import NoSuchField, SeveralTexts


def lines_of(content: str) -> list[str]:
    """Lines split at line feeds and carriage returns, not at the other characters that str.splitlines takes for one."""
    lines = content.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


_MISSING = re.compile(  # what programs write in the place of a text
    r"nan|NaN|<NA>|NaT|\\N|\[(?:deleted|removed)(?: by \w+)?\]|#(?:REF!|VALUE!|DIV/0!|N/A|NAME\?|NUM!|NULL!|SPILL!)"
    r"|(?:(?:API |HTTP )?(?:ERROR|Error)|\w{1,30}(?:Error|Exception))(?: code)?: ?.{0,300}"
    r"(?:[Rr]ate.?limit|[Tt]ime[d -]*out|[Qq]uota|exceeded|[Oo]verloaded|[Uu]navailable|[Cc]onnection|\b[45]\d\d\b)"
    r".{0,300}"
)


def is_placeholder(text: str) -> bool:
    """Return whether a text is what programs write in the place of a missing one.

    >>> texts = "nan", "[deleted]", "#REF!", "ERROR: Rate limit exceeded", "None", "Error: no."
    >>> [is_placeholder(text) for text in texts]
    [True, True, True, True, False, False]
    """
    return _MISSING.fullmatch(text.strip()) is not None


class Record(NamedTuple):
    """A value, a text or an object of fields, and its place: the file and the line, entry or sample."""

    value: Any
    where: str


class Rows(Sequence[Record]):
    """The records of a file, made of their values when they are asked for.

    name: of the file. values: of the records. unit: what a place is called. places: of each record, by default its
    number from 0. columns: of a table, those too that are not read; a name may occur twice.
    """

    def __init__(
        self,
        name: str,
        values: Sequence[Any],
        unit: str = "entry",
        places: Sequence[object] | None = None,
        columns: Sequence[str] = (),
    ) -> None:
        self.name, self.values, self.unit, self.columns = name, values, unit, columns
        self.places = range(len(values)) if places is None else places

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...
    def __getitem__(self, index: int | slice) -> Record | Rows:
        if isinstance(index, slice):
            return Rows(self.name, self.values[index], self.unit, self.places[index], self.columns)
        return Record(self.values[index], f"{self.name}, {self.unit} {self.places[index]}")


def value_at(record: Record, path: str) -> object:
    """The value at a field, or at a dotted path of fields and of places in lists.

    Raises:
        ValueError: there is none.

    >>> record = Record({"doc": {"story": "Once."}, "resps": [["One.", "Two."]], "a.b": 1}, "line 1")
    >>> value_at(record, "doc.story"), value_at(record, "resps.0.1"), value_at(record, "a.b")
    ('Once.', 'Two.', 1)
    """
    value, passed = _reach(record.value, path)
    if passed is not None:
        raise NoSuchField(f"{record.where} has no field {shown(path)}; {_holds(value, passed)}")
    return value


def _reach(value: object, path: str) -> tuple[object, str | None]:
    """The value at a field or path, and None; else the last value on the way, and the part of the path up to it."""
    if isinstance(value, Mapping) and path in value:
        return value[path], None
    passed = ""
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part[:9]) < len(value):
            value = value[int(part)]
        else:
            return value, passed
        passed = f"{passed}.{part}" if passed else part
    return value, None


def has_field(record: Record, path: str) -> bool:
    """Return whether a record has a value at a field or path."""
    return _reach(record.value, path)[1] is None


def _holds(value: object, path: str) -> str:
    who = shown(path) if path else "it"
    if isinstance(value, Mapping):
        return f"{who} has {examples_of(value)}" if value else f"{who} is empty"
    if isinstance(value, list):
        return f"{who} is a list of {len(value)}"
    return f"{who} is {'a text' if isinstance(value, str) else 'null' if value is None else type(value).__name__}"


def examples_of(values: Mapping[str, object], most: int = 8) -> str:
    """Fields with a value each, as a message lists them.

    >>> examples_of({"id": 1, "text": "It was a dark and stormy night, and a very long one."})
    "'id' (1), 'text' ('It was a dark and stor…)"
    """
    return first_few([f"{shown(name)} ({shown(value, most=24)})" for name, value in values.items()], most)


# Two kinds of texts in one file: the column that parts them, and `FIELD[column=value]`, which reads one of them.
ALL = "*"  # the value that reads every kind
_WHERE = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]\Z")
_MOST_KINDS, _MOST_WRITERS, _LONGEST_NAME = 10, 50, 40
_SHOWN = 8  # values in a message
_WORD = re.compile(r"[^\W\d_]+")
_HUMAN = {"human", "humans", "mensch", "prompter"}
_PEOPLE = {"person", "people", "student", "students", "gold", "real", "user"}  # beside a name of a machine
_MACHINES = set(
    "machine machines ai llm gpt chatgpt model models bot generated synthetic fake assistant claude llama gemini "
    "mistral davinci".split()
)
_WRITTEN = {"written", "text", "texts", "answer", "answers", "author", "authored", "made", "original", "reference"}
SPLITS = {"train", "training", "test", "validation", "valid", "val", "dev", "eval"}
# Names of columns that part texts by who wrote them, and of those that may
_SURE = {"model", "model_name", "model_id", "generator", "engine", "llm", "role", "from", "speaker", "split"}
_SURE |= {"generated", "is_human", "is_ai", "is_generated", "machine_generated", "ai_generated"}
_LIKELY = {
    "label",
    "labels",
    "class",
    "source",
    "src",
    "generated",
    "is_human",
    "is_ai",
    "author",
    "origin",
    "type",
    "kind",
}


def split_where(field: str) -> tuple[str, dict[str, str]]:
    """A field, and the values that columns must have, in `FIELD[column=value]`.

    >>> split_where("text[label=human]"), split_where("[filter=none]"), split_where("text")
    (('text', {'label': 'human'}), ('', {'filter': 'none'}), ('text', {}))
    """
    where: dict[str, str] = {}
    while match := _WHERE.search(field):
        where[match[1].strip()] = match[2].strip()
        field = field[: match.start()]
    return field, where


def split_field(path: str) -> tuple[str, str | None]:
    """The name of a file, and the rest of `FILE:FIELD[column=value]`; None where there is none, or the whole is a file.

    >>> split_field("nowhere.csv"), split_field("-:Reply"), split_field("-[label=human]")
    (('nowhere.csv', None), ('-', 'Reply'), ('-', '[label=human]'))
    """
    if os.path.exists(path):
        return path, None
    plain = split_where(path)[0]
    for end in (len(plain), *(end for end in reversed(range(len(plain))) if plain[end] == ":")):
        file, rest = plain[:end], plain[end + 1 :] + path[len(plain) :]
        if rest and (file == "-" or os.path.exists(file)):
            return file, rest
    return path, None


class Kinds(NamedTuple):
    """The values of a column that parts the texts, each with its number of texts.

    is_sure: they are texts of different writers or sets, which are not one set.
    """

    column: str
    counts: Mapping[str, int]
    is_sure: bool

    def problem(self, name: str, field: str | None, path: str | None) -> SeveralTexts:
        """The error for texts of several kinds. name: of the file. field: of the texts. path: see `named_field`."""
        chosen = f"{field or ''}[{self.column}={next(iter(self.counts))}]"
        example = f"text_field={chosen!r}" if path is None else f"'{path}{':' if field else ''}{chosen}'"
        return SeveralTexts(
            f"{name} holds texts of {len(self.counts)} kinds, by {self.column!r}: {self.listed}; choose one, such as "
            f"{example} ([{self.column}={ALL}] reads all of them as one set)"
        )

    @property
    def listed(self) -> str:
        """The values with their numbers, of many the first."""
        return first_few([f"{value!r} ({times})" for value, times in self.counts.items()], _SHOWN)


def candidates(sample: Sequence[Record]) -> list[str]:
    """The columns whose names or first values say that they part the texts."""
    value = sample[0].value if len(sample) else None
    likely: list[str] = []
    others: list[str] = []
    for name in value if isinstance(value, Mapping) else ():
        if str(name).lower() in _SURE | _LIKELY:
            likely.append(name)
        elif _is_who([_at(record, name) for record in sample]):
            others.append(name)
    return likely + others


def kinds_of(rows: Rows, column: str, named: bool = False) -> Kinds | None:
    """The kinds that a column parts the texts into; None where it does not. named: by the format of the file."""
    counts = Counter(_at(record, column) for record in rows)
    values = [value for value in counts if value]
    is_who = _is_who(values)
    most = len(rows) if named else _MOST_WRITERS if is_who else _MOST_KINDS
    if not 2 <= len(values) <= most or (not named and 2 * len(values) > len(rows)):
        return None
    name = str(column).lower()
    is_split = {value.lower() for value in values} <= SPLITS
    is_sure = named or is_who or (name in _SURE and (name != "split" or is_split))
    return Kinds(column, dict(counts), is_sure) if is_sure or name in _LIKELY else None


def _is_who(values: Iterable[str | None]) -> bool:
    """Return whether values are names of writers, of which some are people and others not."""
    names = {value for value in values if value and len(value) <= _LONGEST_NAME}
    if not 2 <= len(names) <= _MOST_WRITERS:
        return False
    people = set(filter(is_people, names))
    is_named = _HUMAN & _words(" ".join(people)) or _MACHINES & _words(" ".join(names - people))
    return 0 < len(people) < len(names) and bool(is_named)


def is_people(value: str) -> bool:
    """Return whether the value of a column says that people wrote the text.

    >>> is_people("Human"), is_people("human_written"), is_people("human rights"), is_people("gpt-4")
    (True, True, False, False)
    """
    words = _words(value)
    return not words.isdisjoint(_HUMAN | _PEOPLE) and words <= _HUMAN | _PEOPLE | _WRITTEN


def _words(value: str) -> set[str]:
    return set(_WORD.findall(value.lower()))


def _at(record: Record, column: str) -> str:
    """The value of a column as `FIELD[column=value]` names it; empty where there is none, or no name."""
    value = value_at(record, column) if has_field(record, column) else None
    return str(value) if isinstance(value, (str, int, float)) else ""


def rows_where(rows: Rows, where: Mapping[str, str]) -> Rows:
    """The rows whose columns have these values.

    Raises:
        ValueError: there is no such column, or no such row.
    """
    for column, wanted in where.items():
        if not any(has_field(record, column) for record in rows):
            held = rows[0].value if len(rows) else {}
            such = f"; it has {examples_of(held)}" if isinstance(held, Mapping) else ""
            raise NoSuchField(f"{rows.name} has no field {column!r} for [{column}={wanted}]{such}")
        values = [_at(record, column) for record in rows]
        kept = [row for row, value in enumerate(values) if wanted in (ALL, value)]
        if not kept:
            listed = ", ".join(map(repr, list(dict.fromkeys(values))[:_MOST_KINDS]))
            raise NoSuchField(f"{rows.name} has no row of {column} {wanted!r}; it has {listed}")
        if len(kept) < len(rows):
            places = [rows.places[row] for row in kept]
            rows = Rows(rows.name, [rows.values[row] for row in kept], rows.unit, places, rows.columns)
    return rows
