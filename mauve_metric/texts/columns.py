"""Tables of judgements: their rows, and columns with several accepted names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from mauve_metric.runtime.checks import quoted
from mauve_metric.runtime.errors import NoSuchField
from mauve_metric.texts.tables import read_table

TableData: TypeAlias = str | Path | Iterable[Mapping[str, object]]  # a file, or its rows by column
_ENDINGS = (".csv", ".tsv")


class Line(NamedTuple):
    """A row: its place, and its values as text, "" for a missing one."""

    where: str
    values: dict[str, str]


class Table(NamedTuple):
    """Rows with the same columns. name: what errors call it."""

    name: str
    columns: list[str]
    lines: list[Line]

    def column(self, *known: str) -> str | None:
        """The first column with one of these names, see `plain_name`; None where there is none."""
        found = {plain_name(column): column for column in reversed(self.columns)}
        return next((found[name] for name in known if name in found), None)

    def column_called(self, name: str) -> str:
        """The column of exactly this name; `ValueError` that lists the columns."""
        if name not in self.columns:
            raise NoSuchField(f"{self.name} has no column {name!r}: it has {quoted(self.columns)}")
        return name


def open_table(name: str, data: TableData) -> Table:
    """A table of a `.csv` or `.tsv` file, or of dicts with the same keys.

    Raises:
        FileNotFoundError: no such file. TypeError, ValueError: no such table, or one without rows.
    """
    if isinstance(data, (str, Path)):
        return _of_file(name, Path(data))
    is_one = getattr(data, "ndim", 1) == 0  # an array of no dimension has an iterator that only raises
    if isinstance(data, (bytes, Mapping)) or not isinstance(data, Iterable) or is_one:
        raise TypeError(f"{name} must be a path or a list of dicts, got {type(data).__name__}")
    rows = list(data)
    odd = next((row for row in rows if not isinstance(row, Mapping)), None)
    if odd is not None:
        raise TypeError(f"{name} must hold dicts, got {type(odd).__name__}: {odd!r:.60}")
    lines = [
        Line(f"{name}, row {number}", {str(key): _cell(value) for key, value in row.items()})
        for number, row in enumerate(rows)
    ]
    return _check_table(name, [str(column) for column in (rows[0] if rows else ())], lines)


def _of_file(name: str, path: Path) -> Table:
    if path.suffix.lower() not in _ENDINGS:
        raise ValueError(f"{' '.join(str(path).split())} must be a table, {' or '.join(_ENDINGS)}")
    try:
        columns, rows = read_table(path)
    except OSError as error:
        raise type(error)(f"{name}: {error}") from error
    lines = [
        Line(f"{path}, line {row.line}", {key: (value or "").strip() for key, value in row.values.items()})
        for row in rows
    ]
    return _check_table(str(path), columns, lines)


def _cell(value: object) -> str:
    """A value as text; empty for None and NaN."""
    unequal: object = value != value  # an array of these for an array
    is_missing = value is None or (isinstance(unequal, (bool, np.bool_)) and bool(unequal))
    return "" if is_missing else str(value).strip()


def _check_table(name: str, columns: list[str], lines: list[Line]) -> Table:
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise ValueError(f"{name} has two columns called {twice!r}")
    if not lines:
        raise ValueError(f"{name} has no rows")
    for line in lines:
        missing = [column for column in columns if column not in line.values]
        if missing:
            raise ValueError(f"{line.where}: no value for {missing[0]!r}")
    return Table(name, columns, lines)


def plain_name(column: str) -> str:
    """A column's name without capitals, spaces, and the prefix of Mechanical Turk.

    >>> plain_name("Input.model_a"), plain_name("Answer.q3"), plain_name("Model A"), plain_name("WorkerId")
    ('model_a', 'q3', 'model_a', 'workerid')
    """
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    return name.removeprefix("input.").removeprefix("answer.")


def number_at(line: Line, column: str, meaning: str) -> float:
    """The finite number in a column; `ValueError` with the place of a value that is none."""
    try:
        value = float(line.values[column])
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got {line.values[column]!r:.60}")
    return value
