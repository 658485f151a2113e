"""Records of a file, and the values at the fields of each record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, overload

from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import NoSuchField


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


def is_missing(text: str) -> bool:
    """Return whether a text is what programs write in the place of a missing one.

    >>> [is_missing(text) for text in ("nan", "[deleted]", "#REF!", "ERROR: Rate limit exceeded", "None", "Error: no.")]
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
    value, passed = record.value, ""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part[:9]) < len(value):
            value = value[int(part)]
        else:
            raise NoSuchField(f"{record.where} has no field {shown(path)}; {_holds(value, passed)}")
        passed = f"{passed}.{part}" if passed else part
    return value


def has_field(record: Record, path: str) -> bool:
    """Return whether a record has a value at a field or path."""
    try:
        value_at(record, path)
    except ValueError:
        return False
    return True


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
    named = [f"{shown(name)} ({shown(value, most=24)})" for name, value in list(values.items())[:most]]
    return ", ".join(named) + (f" and {len(values) - most} more" if len(values) > most else "")
