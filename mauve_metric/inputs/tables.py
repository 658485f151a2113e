"""Tables: files with a mark between the columns, parquet, workbooks, and saved datasets."""

from __future__ import annotations

import contextlib
import csv
import io
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauve_metric.inputs.fields import LOOKED_AT, is_field_name, role_of
from mauve_metric.inputs.records import Rows, lines_of
from mauve_metric.runtime.checks import check_unpacked, quoted
from mauve_metric.runtime.errors import DamagedFile, EmptyTexts, NoSuchField, SeveralTexts, short_message
from mauve_metric.runtime.optional_imports import import_datasets, import_parquet

if TYPE_CHECKING:
    import pyarrow.parquet

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_NUMBER = re.compile(r"[-+]?\d[-+\d.,:/ ]*")
_SENTENCE = re.compile(r"\S+\s.*[.!?…\"”]\s*|(?:\S+\s+){3}.*|[^\x00-\u2e7f]{8,}.*", re.DOTALL)
_QUESTION = re.compile(r".*\S[?？]", re.DOTALL)
_ENDED = re.compile(r"[.!?…][\"'”’)]*\Z")
_NEARLY_ALL, _FEW = (
    0.9,
    9,
)  # of the texts of a column end like sentences, and more than so many: a cell that does not is a header
_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)
_MOST_TITLES = 5  # rows above the header of a table
_MOST_CELLS = 1 << 26  # of a sheet, empty ones before a filled one too
_ESCAPED = re.compile(r"_x([\dA-Fa-f]{4})_")  # a character of Excel's that XML has not
_MARKED = 0.8  # share of lines with a mark inside, from which lines are meant to be rows of a table
_COLUMN_NAME = re.compile(r"\w+(?:[ .-]\w+){0,2}")
_FIELD_NAME = re.compile(r"[a-z][a-z\d]*(?:[_.][a-z\d]+)*")  # of small letters: no title above a poem
_SAMPLE_BYTES = 1 << 26  # of the first rows of a parquet file
_BATCH_BYTES = 1 << 24  # of a column of a parquet file of repeated texts


def csv_rows(content: str, name: str, tabs: bool = False, header: bool | None = None) -> Rows:
    """The rows of a table as texts by column; without a header the columns are named by number, "1", "2", ….

    Args:
        content: of the file; a first line `sep=;` names what separates the columns. name: of the file.
        tabs: between the columns, as the ending `.tsv` says.
        header: whether the first row has the names of the columns; None: see `_is_headless`.

    Raises:
        ValueError: no such table: an unclosed quote, a row of another length, with the line.
    """
    stated = _SEPARATOR.match(content)
    content = content if stated is None else f"\n{content[stated.end() :]}"
    delimiter = stated[1] if stated is not None else "\t" if tabs else csv_delimiter(content, name)
    numbered = list(_parsed(content, name, delimiter))
    if all(len(row) < 2 for _, row in numbered):  # of one column, in which an empty line is an empty text
        filled = [index for index, (_, row) in enumerate(numbered) if row]
        numbered = [(number, row or [""]) for number, row in numbered[filled[0] : filled[-1] + 1]] if filled else []
    numbered = _without_title([(number, row) for number, row in numbered if row])
    if not numbered:
        raise EmptyTexts(f"{name} is empty: expected a header line")
    columns, width = numbered[0][1], len(numbered[0][1])
    for number, row in numbered:
        if len(row) > width:
            mark = _DELIMITERS.get(delimiter, repr(delimiter))
            raise DamagedFile(f"{name}, line {number}: more values than the header has columns; quote a {mark}")
        if len(row) < width:
            raise DamagedFile(
                f"{name}, line {number}: no value in column {columns[len(row)]!r}, expected {width} values"
            )
    _check_quotes(content, name, delimiter, numbered)
    return _with_columns(name, "line", numbered, header)


def _without_title(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The rows of a table without a title of one cell above its header."""
    titles = 0
    while (
        titles < min(_MOST_TITLES, len(rows) - 2) and not any(rows[titles][1][1:]) and not role_of(rows[titles][1][0])
    ):
        titles += 1
    is_title = titles > 0 and sum(map(bool, rows[titles][1])) > 1 and rows[0][1][0] != ""
    return rows[titles:] if is_title else rows


def _with_columns(name: str, unit: str, rows: list[tuple[int, list[str]]], header: bool | None) -> Rows:
    """The rows of a table, of one width, by the names of its columns."""
    if header is False or (header is None and _is_headless([row for _, row in rows[: LOOKED_AT + 1]])):
        columns = [str(number) for number in range(1, len(rows[0][1]) + 1)]
    else:
        columns = [cell or str(number) for number, cell in enumerate(rows[0][1], 1)]
        is_qualtrics = len(rows) > 2 and all(cell.startswith('{"ImportId"') for cell in rows[2][1])
        rows = rows[3 if is_qualtrics else 1 :]
    values = [dict(zip(columns, row, strict=True)) for _, row in rows]
    return Rows(name, values, unit, [number for number, _ in rows], columns)


def _parsed(content: str, name: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table, each with the number of its first line.

    The module `csv` in its strict mode: pandas and pyarrow join rows in silence where a later quote closes an open one.
    """
    previous, number = csv.field_size_limit(2**31 - 1), 1
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            yield number, row
            number = reader.line_num + 1
    except csv.Error as error:
        quote = "end of data" in str(error) or "expected after" in str(error)
        reason = (
            "a quote opens and does not close before the next column; double the quotes in a text" if quote else error
        )
        raise DamagedFile(f"{name}, line {number}: not CSV: {reason}") from error
    finally:
        csv.field_size_limit(previous)


def _check_quotes(content: str, name: str, delimiter: str, rows: Sequence[tuple[int, list[str]]]) -> None:
    """Refuse two stray quotes that swallow the rows between them: each line would be a row without them."""
    lines = [line for line in content.split("\n") if line.strip("\r")]
    if (
        len(lines) == len(rows)
        or {line.count(delimiter) + 1 for line in lines} != {len(rows[0][1])}
        or len(rows[0][1]) == 1
    ):
        return
    number = next((number for number, row in rows if any("\n" in value for value in row)), None)
    if number is None:
        return
    raise DamagedFile(
        f"{name}, line {number}: a quote opens here and closes on a later line, yet each line has {len(rows[0][1])} "
        "values: double the quotes in a text, or write its line breaks as blanks"
    )


def _is_headless(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a table is data: a number above numbers, or prose above prose.

    It is a header where one cell is unlike those below: the name of a field, a question above what is none, words
    without a full stop above sentences.

    >>> _is_headless([["1", "One text."], ["2", "Another text."]]), _is_headless([["id", "text"], ["1", "One text."]])
    (True, False)
    >>> _is_headless([["Name", "What did you do?"], ["Ann", "I went for a walk."]])
    False
    """
    first, *others = rows
    if not others or all(cell.strip().isdecimal() for cell in first if cell):  # the second: numbers by pandas
        return False
    is_data = False
    for cell, column in zip(map(str.strip, first), zip(*others, strict=True), strict=True):
        values = [value.strip() for value in column]
        numbers, prose, asked = (_most(pattern, values) for pattern in (_NUMBER, _SENTENCE, _QUESTION))
        is_name = is_field_name(cell) and cell not in values
        ended = sum(_ENDED.search(value) is not None for value in values) > _NEARLY_ALL * len(values)
        if ended and not _ENDED.search(cell) and len(values) > _FEW:
            return False
        if is_name or (numbers and not _NUMBER.fullmatch(cell)) or (_QUESTION.fullmatch(cell) and not asked):
            return False
        is_data |= numbers or (prose and _SENTENCE.fullmatch(cell) is not None)
    return is_data


def _most(pattern: re.Pattern[str], values: Sequence[str]) -> bool:
    return 2 * sum(pattern.fullmatch(value) is not None for value in values) > len(values)


def csv_delimiter(content: str, name: str) -> str:
    """Delimiter of a table's columns: a comma, a semicolon, a tab or a bar.

    It is the one mark that parts the header into several columns; of several marks, the one that parts every row into
    as many. A mark in the header alone is part of its only column's name.

    Raises:
        ValueError: several marks may be meant.

    >>> csv_delimiter("id;text\\n1;One, two.\\n", "texts.csv")
    ';'
    """
    header = {mark: next(_widths(content, mark), 0) for mark in _DELIMITERS}
    parting = [mark for mark, columns in header.items() if columns > 1]
    if parting in ([], [","]):
        return ","
    if len(parting) == 1:
        return parting[0] if any(width > 1 for width in list(_widths(content, parting[0]))[1:]) else ","
    fitting = [mark for mark in parting if set(_widths(content, mark)) == {header[mark]}]
    if len(fitting) != 1:
        marks = " or a ".join(_DELIMITERS[mark] for mark in fitting or parting)
        raise ValueError(f"{name}, line 1: a {marks} may separate the columns: quote the names that hold one")
    return fitting[0]


def _widths(content: str, delimiter: str) -> Iterator[int]:
    """Yield the number of values of each row of a table, the header first, up to the first unreadable row."""
    with contextlib.suppress(csv.Error):
        for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter):
            if row:
                yield len(row)


def table_in_lines(content: str, name: str, header: bool | None = None) -> Rows | None:
    """Parse lines that are a table though no ending tells; None for lines of text. header: see `csv_rows`.

    Known by tabs: as many in each line. By other marks: names of columns in the first line, values in most others.
    A first line that is only the name of a field of texts, above sentences, is a header and no text.

    Raises:
        ValueError: most lines have a tab inside, and not as many.
    """
    lines = [line for line in lines_of(content) if line.strip()]
    if len(lines) < 2:
        return None
    tabbed = [line.count("\t") for line in lines]
    if min(tabbed) and len(set(tabbed)) == 1:
        return csv_rows(content, name, tabs=True, header=header)
    if sum("\t" in line.strip() for line in lines) > _MARKED * len(lines) and len(lines) > 2:
        odd = next(number for number, tabs in enumerate(tabbed, 1) if tabs != tabbed[0])
        raise DamagedFile(
            f"{name}: a tab is in most lines, as in a table, yet line {odd} has {tabbed[odd - 1]} and line 1 has "
            f"{tabbed[0]}: give each line as many, or write blanks"
        )
    if "|" in lines[0] and "---" in lines[1] and set(lines[1]) <= set("|:- \t"):  # a table of Markdown
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in (lines[0], *lines[2:])]
        if {len(row) for row in cells} == {len(cells[0])}:
            return _with_columns(name, "row", [*enumerate(cells)], True)
    for mark in _DELIMITERS:
        names = [cell.strip(' "') for cell in lines[0].split(mark)]
        are_names = all(_COLUMN_NAME.fullmatch(cell) for cell in names) and any(map(role_of, names))
        filled = sum(line.count(mark) >= len(names) - 1 for line in lines)
        if len(names) > 1 and are_names and filled > _MARKED * len(lines):
            return csv_rows(content, name, header=header is not False)
    sentences = sum(_SENTENCE.fullmatch(line.strip()) is not None for line in lines[1:])
    is_name = _FIELD_NAME.fullmatch(lines[0].strip()) and role_of(lines[0]) not in ("", "id")
    if header or (header is None and is_name and 2 * sentences > len(lines)):
        first = content.index(lines[0])
        rows = lines_of(content[first:])[1:]
        start = content.count("\n", 0, first) + 2
        column = lines[0].strip()
        return Rows(name, [{column: row} for row in rows], "line", range(start, start + len(rows)), [column])
    return None


def workbook_rows(path: Path, most: int | None = None, sheet: str | None = None, header: bool | None = None) -> Rows:
    """The rows of a sheet of a workbook (`.xlsx`); all cells are texts, and None where there is nothing.

    Args:
        path: of the file. most: bytes that it may have unpacked. sheet: its name; None: the only one with rows.
        header: see `csv_rows`.

    Raises:
        ValueError: it cannot be read, or several sheets have rows.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())  # zipfile unpacks no more than these
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise DamagedFile(f"{path} is not a workbook that can be read: {short_message(error)}") from error
    if most is not None and size > most:
        raise ValueError(f"{path}: the texts may take at most {most >> 20} MB unpacked here")
    check_unpacked(path, size)
    sheets = _sheets(path)
    if sheet is not None and sheet not in sheets:
        raise NoSuchField(f"{path} has no sheet {sheet!r}; it has {quoted(list(sheets))}")
    filled = {title: cells for title, cells in sheets.items() if cells and sheet in (None, title)}
    if len(filled) != 1:
        what = (
            f"has rows in {len(filled)} sheets, {quoted(list(filled))}: name one"
            if filled
            else "has no rows: save texts"
        )
        raise SeveralTexts(
            f"{path} {what}" + (f", such as '{path}:{next(iter(filled))}!', or save it alone" if filled else " in it")
        )
    cells = next(iter(filled.values()))
    used = sorted({column for row in cells.values() for column in row})
    numbers = range(min(cells), max(cells) + 1) if len(used) == 1 else sorted(cells)
    rows = _without_title([(row, [cells.get(row, {}).get(column, "") for column in used]) for row in numbers])
    read = _with_columns(str(path), "row", rows, header)
    values = [{column: cell or None for column, cell in row.items()} for row in read.values]
    return Rows(read.name, values, read.unit, read.places, read.columns)


def _sheets(path: Path) -> dict[str, dict[int, dict[int, str]]]:
    """The filled cells of each sheet by row and column, whatever size the sheet states.

    Raises:
        DamagedFile: it cannot be read, or has a cell far from all others.
    """
    import openpyxl

    try:
        with path.open("rb") as file:  # by its name openpyxl refuses other endings
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            return {sheet.title: _cells(sheet, path) for sheet in book.worksheets}
    except DamagedFile:
        raise
    except Exception as error:  # of the parser of XML, of openpyxl
        raise DamagedFile(f"{path} is not a workbook that can be read: {short_message(error)}") from error


def _cells(sheet: Any, path: Path) -> dict[int, dict[int, str]]:
    cells: dict[int, dict[int, str]] = {}
    visited = 0
    sheet.reset_dimensions()  # programs state other ones than the sheet has
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        filled = {column: text for column, cell in enumerate(row) if cell is not None and (text := _cell_text(cell))}
        visited += len(row) + 1
        if visited > _MOST_CELLS:
            raise DamagedFile(f"{path}: the sheet {sheet.title!r} has more than {_MOST_CELLS} cells, filled and empty")
        if filled:
            cells[number] = filled
    return cells


def _cell_text(cell: object) -> str:
    """A cell as Excel shows it.

    >>> _cell_text(42.0), _cell_text("One_x000D_"), _cell_text(True)
    ('42', 'One\\r', 'TRUE')
    """
    if isinstance(cell, str):
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), cell)
    if isinstance(cell, bool):
        return str(cell).upper()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def arrow_rows(path: Path, most: int | None = None) -> Rows:
    """The rows of a file of Arrow, as `datasets`, pandas and polars write it. most: bytes that it may have unpacked."""
    import pyarrow
    from pyarrow import ipc

    with reading_parquet(path, "an Arrow"), path.open("rb") as file:
        start = file.read(6)
        file.seek(0)
        reader: Any = ipc.open_file(file) if start == b"ARROW1" else ipc.open_stream(file)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if start == b"ARROW1" else reader
        values: list[object] = []
        size = 0
        for batch in batches:
            size += pyarrow.Table.from_batches([batch]).nbytes
            if most is not None and size > most:
                raise DamagedFile(f"{path}: the texts may take at most {most >> 20} MB unpacked here")
            check_unpacked(path, size)
            values += batch.to_pylist()
        return Rows(str(path), values, "row", columns=list(reader.schema.names))


def parquet_rows(path: Path, fields: Collection[str] | None = None, most: int | None = None) -> Rows:
    """The rows of a parquet file as objects.

    Args:
        path: of the file. fields: paths that are needed; None: all. most: rows, and then only `_SAMPLE_BYTES` of them.
    """
    values: list[object] = []
    size, (names, batches) = 0, parquet_batches(path, fields, 256 if most is None else 1)
    for num_bytes, rows in batches:
        values += rows
        size += num_bytes
        if most is not None and (len(values) >= most or size > _SAMPLE_BYTES):
            break
    return Rows(str(path), values, "row", columns=names)


def parquet_batches(
    path: Path, fields: Collection[str] | None, batch_size: int
) -> tuple[list[str], Iterator[tuple[int, list[dict[str, object]]]]]:
    """The names of all columns of a parquet file, and its rows with the columns that fields are in, after their bytes.

    The checksums of pages are verified.

    batch_size: rows that are unpacked at a time; of repeated ones a small file may hold more than memory takes.

    Raises:
        ValueError: it cannot be read, also while it is iterated.
    """
    with path.open("rb") as raw, reading_parquet(path):
        names = list(import_parquet().ParquetFile(raw).schema_arrow.names)
    kept = None if fields is None else [name for name in names if any(_is_in(field, name) for field in fields)]

    def each() -> Iterator[tuple[int, list[dict[str, object]]]]:
        unpacked = 0
        with path.open("rb") as raw:
            with reading_parquet(path):
                file = import_parquet().ParquetFile(raw, page_checksum_verification=True)
                _check_repeated(path, file, kept)
                batches = file.iter_batches(columns=kept, batch_size=batch_size)
            while True:
                with reading_parquet(path):
                    batch = next(batches, None)
                    rows = [] if batch is None else batch.to_pylist()
                if batch is None:
                    return
                texts = [value for row in rows for value in row.values() if isinstance(value, str)]
                size = max(batch.nbytes, sum(map(len, texts)))  # a text that is repeated is in `nbytes` once
                unpacked += size
                check_unpacked(path, unpacked)
                yield size, rows

    return names, each()


def _check_repeated(path: Path, file: pyarrow.parquet.ParquetFile, columns: list[str] | None) -> None:
    """Refuse a file with less than a byte a row that unpacks to too much, before its rows become objects of Python.

    No value is longer than its chunk states, so that a batch takes `_BATCH_BYTES` a column at most, or one row.
    """
    if file.metadata.num_rows <= path.stat().st_size:
        return
    groups = file.metadata.to_dict()["row_groups"]
    longest = max(chunk["total_uncompressed_size"] for group in groups for chunk in group["columns"])
    unpacked = 0
    for batch in file.iter_batches(columns=columns, batch_size=max(1, _BATCH_BYTES // longest)):
        # of a dictionary `nbytes` counts each text once
        plain = (column.dictionary_decode() if hasattr(column, "dictionary") else column for column in batch.columns)
        unpacked += sum(column.nbytes for column in plain)
        check_unpacked(path, unpacked)


def _is_in(field: str, column: str) -> bool:
    return field == column or field.startswith(f"{column}.")


@contextlib.contextmanager
def reading_parquet(path: Path, kind: str = "a parquet") -> Iterator[None]:
    """The errors of pyarrow as `ValueError` of one sentence that names the file and its kind."""
    import pyarrow

    try:
        yield
    except DamagedFile:
        raise
    except (OSError, ValueError, KeyError, pyarrow.ArrowException) as error:
        raise DamagedFile(f"{path} is not {kind} file that can be read: {short_message(error)}") from error


def saved_dataset(folder: Path) -> Any:
    """The `datasets.Dataset` that `save_to_disk` wrote into a folder.

    Raises:
        ImportError: datasets is missing. ValueError: it cannot be read, or has several splits.
    """
    load = import_datasets().load_from_disk
    try:
        data = load(str(folder))
    except Exception as error:  # of pyarrow, JSON, the file system
        raise DamagedFile(f"{folder} is not a saved dataset that can be read: {short_message(error)}") from error
    if not isinstance(data, Mapping):
        return data
    if len(data) != 1:
        raise SeveralTexts(
            f"{folder} holds the splits {quoted(list(data))}: name the folder of one, such as "
            f"{folder / next(iter(data))}"
        )
    return next(iter(data.values()))


def dataset_rows(name: str, data: Any, fields: Collection[str] | None = None, most: int | None = None) -> Rows:
    """The rows of a `datasets.Dataset` as objects. fields, most: see `parquet_rows`."""
    names = list(data.column_names)
    kept = names if fields is None else [column for column in names if any(_is_in(field, column) for field in fields)]
    chosen = data.select_columns(kept)
    return Rows(
        name, (chosen if most is None else chosen.select(range(min(most, len(chosen))))).to_list(), "row", columns=names
    )
