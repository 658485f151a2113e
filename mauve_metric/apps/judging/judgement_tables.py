"""Tables of people's judgements: choices between the texts of two models, and guesses of where a machine took over."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from mauve_metric.inputs.bytes_and_encodings import WrongEncoding, check_content, decode, read_bytes
from mauve_metric.inputs.file_types import FILE_TYPES, type_of
from mauve_metric.inputs.json_rows import json_rows
from mauve_metric.inputs.records import Record, Rows
from mauve_metric.inputs.tables import csv_rows, workbook_rows
from mauve_metric.runtime.checks import check_count, check_file, check_path, is_bool, listed, quoted, shown
from mauve_metric.runtime.errors import DamagedFile, NoSuchField, UnknownEnding

logger = logging.getLogger(__name__)

TableData: TypeAlias = str | Path | Iterable[Mapping[str, object]]  # a file, or its rows by column
# Types that can hold a table: workbooks, and text with fields.
_KINDS = [kind for kind in FILE_TYPES if kind.has_sheets or (kind.read is None and not kind.is_plain)]
_JSON_ENDINGS = tuple(ending for kind in _KINDS if kind.content in ("lines", "value") for ending in kind.endings)
TABLE_ENDINGS = tuple(ending for kind in _KINDS for ending in kind.endings if ending not in _JSON_ENDINGS)
MODELS = ("model", "system", "system_id", "model_id", "name")
ANNOTATORS = ("annotator", "annotator_id", "worker", "worker_id", "workerid", "rater", "rater_id", "judge", "user")
MOST_SENTENCES = 1_000_000
_MOST_VALUES, _RANGES = 8, 5  # more numbers than that make so many groups of nearly equal size
_NONE = ("none", "human", "all human", "all-human", "never")
_TEXTS = ("generation", "gen_id", "text_id", "item", "text")
_PLAYERS = (*ANNOTATORS, "player")
_TIMES = ("sentence_seconds", "seconds_per_sentence")


class JudgementTable(NamedTuple):
    """Rows with the same columns, as dicts of texts, "" for a missing one. name: what errors call the table."""

    name: str
    columns: list[str]
    lines: list[Record]

    def column(self, *names: str) -> str | None:
        """The first column with one of these names, see `plain_name`; None where there is none."""
        by_name = {plain_name(column): column for column in reversed(self.columns)}
        return next((by_name[name] for name in names if name in by_name), None)


def open_table(name: str, data: TableData) -> JudgementTable:
    """A table of a `.csv`, `.tsv` or `.xlsx` file, of JSON records, or of dicts; a key that one lacks is an empty cell.

    JSON: lines, a list of objects, or an object for each model (`{"gpt2": {"fluency": 3.1}}`), whose key becomes the
    column `model`.

    Raises:
        FileNotFoundError: no such file. TypeError, ValueError: no such table, or one without rows.
    """
    if isinstance(data, (str, Path)):
        path = check_path(name, data)
        name, rows = str(path), _rows_of_table(path)
        columns = list(rows.columns) or list(dict.fromkeys(str(key) for row in rows for key in row.value))
        lines = [row._replace(value={key: _cell(row.value.get(key)) for key in columns}) for row in rows]
    else:
        is_one = getattr(data, "ndim", 1) == 0  # an array of no dimension has an iterator that only raises
        is_frame = hasattr(data, "columns")  # of pandas or polars: its iterator gives the names of columns, or columns
        if isinstance(data, (bytes, Mapping)) or not isinstance(data, Iterable) or is_one or is_frame:
            rows_of = ": give its rows, to_dict('records') of pandas or to_dicts() of polars" if is_frame else ""
            raise TypeError(f"{name} must be a path or a list of dicts, got {type(data).__name__}{rows_of}")
        dicts = list(data)
        odd = next((row for row in dicts if not isinstance(row, Mapping)), None)
        if odd is not None:
            raise TypeError(f"{name} must hold dicts, got {type(odd).__name__}: {odd!r:.60}")
        columns = [str(column) for column in dict.fromkeys(key for row in dicts for key in row)]
        texts = [{str(key): _cell(value) for key, value in row.items()} for row in dicts]
        empty = dict.fromkeys(columns, "")
        lines = [Record({**empty, **row}, f"{name}, row {number}") for number, row in enumerate(texts)]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise ValueError(f"{name} has two columns called {twice!r}")
    if not lines:
        raise ValueError(f"{name} has no rows")
    return JudgementTable(name, columns, lines)


def _rows_of_table(path: Path) -> Rows:
    """The rows of a file with a header."""
    check_file(path)
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return workbook_rows(path)
    check_content(path)
    kind = type_of(suffix)
    if kind is None or kind not in _KINDS:
        endings = listed([each.endings[0] for each in _KINDS], "or")
        raise UnknownEnding(f"{shown(str(path), most=200)} is no table: expected {endings}")
    try:
        content = decode(read_bytes(path), str(path))
    except WrongEncoding as error:
        raise DamagedFile(f"{path} is not UTF-8: save it as .xlsx, or as CSV UTF-8") from error
    if suffix in _JSON_ENDINGS:
        return _rows_of_json(content, str(path), kind.content)
    return csv_rows(content, str(path), tabs=kind.content == "tabs", header=True)


def _rows_of_json(content: str, name: str, expected: str) -> Rows:
    """The objects of JSON lines or of a list, or those of one object, with its keys as the column `model`."""
    rows = json_rows(content, name, expected) or Rows(name, [])
    values = list(rows.values)
    if expected == "value" and len(values) == 1 and isinstance(values[0], Mapping):
        by_model = values[0]
        if by_model and all(isinstance(entry, Mapping) for entry in by_model.values()):
            return Rows(name, [{"model": model} | dict(entry) for model, entry in by_model.items()], "entry")
    odd = next((value for value in values if not isinstance(value, Mapping)), None)
    if odd is not None:
        raise DamagedFile(f"{name} must hold JSON objects, a judgement each, got {shown(odd)}")
    return rows


def _cell(value: object) -> str:
    """A value as text; empty for None and NaN."""
    unequal: object = value != value  # an array of these for an array
    return "" if value is None or (is_bool(unequal) and bool(unequal)) else str(value).strip()


def plain_name(column: str) -> str:
    """A column's name without capitals, spaces, and the prefix of Mechanical Turk.

    >>> plain_name("Input.model_a"), plain_name("Answer.q3"), plain_name("Model A"), plain_name("WorkerId")
    ('model_a', 'q3', 'model_a', 'workerid')
    """
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    return name.removeprefix("input.").removeprefix("answer.")


def is_count(column: str, columns: Collection[str]) -> bool:
    """Return whether a column is the number of judgements behind another one: `n_fluency` beside `fluency`."""
    return column.startswith("n_") and column[2:] in columns


def number_at(line: Record, column: str, meaning: str) -> float:
    """The finite number in a column; `ValueError` with the place of a value that is none."""
    try:
        value = float(line.value[column])
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got {line.value[column]!r:.60}")
    return value


def tell_second_answers(
    table: JudgementTable, lines: Sequence[Record], annotators: Sequence[str] | None, writers: Sequence[tuple[str, ...]]
) -> None:
    """Log how many texts have several answers by one annotator, which may be two people without a name."""
    columns = [column for column in (table.column("file"), table.column(*_TEXTS)) if column is not None]
    if annotators is None or table.column(*_TEXTS) is None:
        return
    texts = (tuple(str(line.value[column]) for column in columns) for line in lines)
    answers = Counter(zip(annotators, texts, writers, strict=True))
    again = [(who, text[-1]) for (who, text, _), number in answers.items() if number > 1]
    if again:
        logger.warning(
            "%s: annotator %s answered more than once to text %s, as with %d of %d texts: are these two people under "
            "one name? Intervals take them for one",
            table.name,
            *map(repr, again[0]),
            len(again),
            len(answers),
        )


def pair_of_columns(table: JudgementTable, names: Iterable[tuple[str, str]], expected: str) -> tuple[str, str]:
    """The first of some pairs of columns that the table has."""
    for first, second in names:
        a, b = table.column(first), table.column(second)
        if a is not None and b is not None:
            return a, b
    raise ValueError(f"{table.name} must have the columns {expected}: it has {quoted(table.columns)}")


class Guesses(NamedTuple):
    """Rounds of the game, in the order in which they were played.

    boundary, guess: the number of the first sentence by a machine, from 2; `sentences` + 1 for none. players, models,
    texts: of each round; None where the table does not say. seconds: on each sentence of each round, likewise.
    groups: of each round, by a column.
    """

    name: str
    sentences: int
    boundary: list[int]
    guess: list[int]
    players: list[str] | None
    models: list[str] | None
    texts: list[str] | None
    seconds: list[list[float]] | None
    groups: list[str] | None = None


def read_guesses(data: TableData, *, sentences: int = 10, by: str | None = None) -> Guesses:
    """The rounds in a table: the true boundary and the guess on each row.

    `boundary` and `guess` are the number of the first sentence by a machine, from 2, or `none` for a text that is human
    throughout. The columns of the published data are read as they are: `true_boundary_index` and
    `predicted_boundary_index` count from 0 and give the last human sentence. `annotator` (`player`, …), `model`,
    `generation` (`text_id`, `item`) and `sentence_seconds` (numbers with spaces between them) are used where they are
    there; rows with a `date` (ISO 8601: 2021-12-31, with a time or without) are taken in its order.

    Args:
        data: a `.csv`, `.tsv` or `.xlsx` file with a header, or a list of dicts. sentences: of each text.
        by: a column whose values group the rounds, more than eight different numbers in up to five ranges; "round",
            where no column is called so: how many rounds a player had played, from 1.

    Raises:
        FileNotFoundError, TypeError, ValueError: with the line, what was expected and what came.

    >>> read_guesses([{"boundary": 4, "guess": "none"}]).guess
    [11]
    """
    check_count("sentences", sentences, low=2)
    if sentences > MOST_SENTENCES:
        raise ValueError(f"sentences must be at most {MOST_SENTENCES}, got {sentences}")
    table = open_table("guesses", data)
    date = table.column("date")
    lines = table.lines if date is None else sorted(table.lines, key=lambda line: _date(line, date))
    names = (("boundary", "guess"), ("true_boundary_index", "predicted_boundary_index"))
    expected = "'boundary' and 'guess', or 'true_boundary_index' and 'predicted_boundary_index'"
    true, said = pair_of_columns(table, names, expected)
    first = plain_name(true) == "boundary"  # the columns name the first sentence by a machine
    times = table.column(*_TIMES)
    players = _words(table, lines, *_PLAYERS)
    tell_second_answers(table, lines, players, [()] * len(lines))
    return Guesses(
        table.name,
        sentences,
        [_sentence(line, true, sentences, first, ("", *_NONE)) for line in lines],  # a human text has no boundary
        [_sentence(line, said, sentences, first) for line in lines],
        players,
        _words(table, lines, "model", "system"),
        _words(table, lines, *_TEXTS),
        None if times is None else [_seconds(line, times) for line in lines],
        None if by is None else groups_of_rows(table, lines, by, players),
    )


def groups_of_rows(
    table: JudgementTable, lines: list[Record], by: str, players: list[str] | None, *, rounds_too: bool = True
) -> list[str]:
    """The group of each row: the value of a column, or a range of its numbers; of rounds also their number."""
    if not isinstance(by, str) or by not in [*table.columns, *["round"] * rounds_too]:
        expected = ('"round" or ' if rounds_too else "") + f"a column of {table.name}, {quoted(table.columns)}"
        raise NoSuchField.of("by", f"must be {expected}, got {shown(by)}")
    if by not in table.columns:
        rounds: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))
        values = [str(next(rounds[player])) for player in players or [""] * len(lines)]
    else:
        values = [line.value[by] or "(none)" for line in lines]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        return values
    if len(np.unique(numbers)) <= _MOST_VALUES or not np.isfinite(numbers).all():
        return values
    ends = np.unique([part[-1] for part in np.array_split(np.sort(numbers), _RANGES)])
    range_index = np.searchsorted(ends, numbers)  # the first end that is no smaller
    inside = [numbers[range_index == number] for number in range(len(ends))]
    return [f"{inside[number].min():g} to {inside[number].max():g}" for number in range_index.tolist()]


def order_of_group(name: str) -> tuple[bool, float, str]:
    """Key of the order of groups: numbers and ranges first, by size, then words."""
    try:
        return False, float(name.split(" to ")[0]), name
    except ValueError:
        return True, 0.0, name


def _date(line: Record, column: str) -> datetime:
    """A row's date, in UTC where it has no time zone; `ValueError` for a text that is none, or may be one of two."""
    text = line.value[column]
    try:
        date = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{line.where}: expected a date such as 2021-12-31 or 2021-12-31 23:59:59 (ISO 8601) in column {column!r}, "
            f"got {text!r:.60}"
        ) from error
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date


def _sentence(line: Record, column: str, sentences: int, first: bool, none: tuple[str, ...] = _NONE) -> int:
    """The number of the first sentence by a machine. none: words for a text without one."""
    lowest, highest = (2, sentences + 1) if first else (0, sentences - 1)
    if first and line.value[column].lower() in none:
        return sentences + 1
    meaning = f"a sentence from {lowest} to {highest}" + (", or none," if first else "")
    number = number_at(line, column, meaning)
    if number != int(number) or not lowest <= number <= highest:
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got {line.value[column]!r}")
    return int(number) + (0 if first else 2)


def _words(table: JudgementTable, lines: list[Record], *names: str) -> list[str] | None:
    """The values of a column that is known by one of these names."""
    column = table.column(*names)
    if column is None:
        return None
    empty = next((line for line in lines if not line.value[column]), None)
    if empty is not None:
        raise ValueError(f"{empty.where}: nothing in column {column!r}")
    return [line.value[column] for line in lines]


def _seconds(line: Record, column: str) -> list[float]:
    try:
        seconds = [float(number) for number in line.value[column].replace(";", " ").replace("|", " ").split()]
    except ValueError:
        seconds = []
    if not seconds or not all(0 <= number < float("inf") for number in seconds):
        raise ValueError(f"{line.where}: expected seconds in column {column!r}, got {line.value[column]!r:.60}")
    return seconds
