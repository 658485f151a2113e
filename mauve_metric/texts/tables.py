"""Tables: files with commas, semicolons or tabs between the columns, parquet, and tables of judgements."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mauve_metric.runtime.checks import check_unpacked, is_bool
from mauve_metric.runtime.errors import DamagedFile, EmptyTexts, NotTexts, one_line
from mauve_metric.runtime.optional_imports import import_parquet
from mauve_metric.texts.records import decode, read_bytes
from mauve_metric.texts.sources import choose_field

TableData: TypeAlias = str | Path | Iterable[Mapping[str, object]]  # a file, or its rows by column
_ENDINGS = (".csv", ".tsv")
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}


def read_table(path: Path) -> tuple[list[str], list[tuple[str, dict[str, str | None]]]]:
    """The columns of a table with a header, and of each row its place and its values, None for one that is missing.

    Raises:
        ValueError: what is no such table, with the line.
    """
    content = decode(read_bytes(path), str(path))
    previous = csv.field_size_limit(2**31 - 1)
    try:
        delimiter = csv_delimiter(content, path)
        reader = csv.DictReader(io.StringIO(content, newline=""), delimiter=delimiter)
        if not reader.fieldnames:
            raise EmptyTexts(f"{path} is empty: expected a header line")
        rows = []
        for row in reader:
            if None in row:
                mark = _DELIMITERS[delimiter]
                raise DamagedFile(
                    f"{path}, line {reader.line_num}: more values than the header has columns; quote a {mark}"
                )
            rows.append((f"{path}, line {reader.line_num}", row))
        return list(reader.fieldnames), rows
    except csv.Error as error:
        raise DamagedFile(f"{path}, line {reader.line_num}: not CSV: {error}") from error
    finally:
        csv.field_size_limit(previous)


def read_csv(path: Path, text_field: str | None) -> list[str]:
    """The texts in a column of a table with a header."""
    columns, rows = read_table(path)
    column = choose_field(str(path), columns, text_field)
    lacking = next((where for where, values in rows if values[column] is None), None)
    if lacking is not None:
        raise ValueError(f"{lacking}: no value in column {column!r}")
    return [values[column] or "" for _, values in rows]


def csv_delimiter(content: str, path: Path) -> str:
    """Delimiter of a table's columns: a tab in `.tsv`; in `.csv` a comma, a semicolon or a tab.

    It is the one mark that parts the header into several columns; of several marks, the one that parts every row into
    as many. A mark in the header alone is part of its only column's name.

    Raises:
        ValueError: several marks may be meant.

    >>> csv_delimiter("id;text\\n1;One, two.\\n", Path("texts.csv"))
    ';'
    """
    if path.suffix.lower() == ".tsv":
        return "\t"
    header = {mark: next(_widths(content, mark), 0) for mark in _DELIMITERS}
    parting = [mark for mark, columns in header.items() if columns > 1]
    if parting in ([], [","]):
        return ","
    if len(parting) == 1:
        return parting[0] if any(width > 1 for width in list(_widths(content, parting[0]))[1:]) else ","
    found = [mark for mark in parting if set(_widths(content, mark)) == {header[mark]}]
    if len(found) != 1:
        marks = " or a ".join(_DELIMITERS[mark] for mark in found or parting)
        raise ValueError(f"{path}, line 1: a {marks} may separate the columns: quote the names that hold one")
    return found[0]


def _widths(content: str, delimiter: str) -> Iterator[int]:
    """Yield the number of values of each row of a table, the header first, up to the first unreadable row."""
    with contextlib.suppress(csv.Error):
        for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter):
            if row:
                yield len(row)


def parquet_texts(path: Path, text_field: str | None, batch_size: int = 256) -> Iterator[str]:
    """The texts in a column of a parquet file, one after the other; the checksums of its pages are verified.

    batch_size: texts that are unpacked at a time; of repeated ones a small file may hold more than memory takes.
    """
    parquet, number, unpacked = import_parquet(), 0, 0
    with path.open("rb") as raw:
        with reading_parquet(path):
            file = parquet.ParquetFile(raw, page_checksum_verification=True)
            names = file.schema_arrow.names
        column = choose_field(str(path), names, text_field)
        batches = file.iter_batches(columns=[column], batch_size=batch_size)
        while True:
            with reading_parquet(path):
                texts = next((batch[column].to_pylist() for batch in batches), None)
            if texts is None:
                return
            unpacked += sum(len(text) for text in texts if isinstance(text, str))
            check_unpacked(path, unpacked)  # the file's own account leaves out how often a text is repeated
            for text in texts:
                if not isinstance(text, str):
                    raise NotTexts(f"{path}, row {number}: expected a text in {column!r}, got {type(text).__name__}")
                yield text
                number += 1


@contextlib.contextmanager
def reading_parquet(path: Path) -> Iterator[None]:
    """The errors of pyarrow as `ValueError` of one sentence that names the file."""
    import pyarrow

    try:
        yield
    except (OSError, ValueError, KeyError, pyarrow.ArrowException) as error:
        raise DamagedFile(f"{path} is not a parquet file that can be read: {one_line(error)}") from error


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


def open_table(name: str, data: TableData) -> Table:
    """A table of a `.csv` or `.tsv` file, or of dicts with the same keys.

    Raises:
        FileNotFoundError: no such file. TypeError, ValueError: no such table, or one without rows.
    """
    if isinstance(data, (str, Path)):
        path = Path(data)
        if path.suffix.lower() not in _ENDINGS:
            raise ValueError(f"{' '.join(str(path).split())} must be a table, {' or '.join(_ENDINGS)}")
        try:
            columns, read = read_table(path)
        except OSError as error:
            raise type(error)(f"{name}: {error}") from error
        name = str(path)
        lines = [Line(where, {key: (value or "").strip() for key, value in values.items()}) for where, values in read]
    else:
        is_one = getattr(data, "ndim", 1) == 0  # an array of no dimension has an iterator that only raises
        if isinstance(data, (bytes, Mapping)) or not isinstance(data, Iterable) or is_one:
            raise TypeError(f"{name} must be a path or a list of dicts, got {type(data).__name__}")
        rows = list(data)
        odd = next((row for row in rows if not isinstance(row, Mapping)), None)
        if odd is not None:
            raise TypeError(f"{name} must hold dicts, got {type(odd).__name__}: {odd!r:.60}")
        columns = [str(column) for column in (rows[0] if rows else ())]
        lines = [
            Line(f"{name}, row {number}", {str(key): _cell(value) for key, value in row.items()})
            for number, row in enumerate(rows)
        ]
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


def number_at(line: Line, column: str, meaning: str) -> float:
    """The finite number in a column; `ValueError` with the place of a value that is none."""
    try:
        value = float(line.values[column])
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got {line.values[column]!r:.60}")
    return value
