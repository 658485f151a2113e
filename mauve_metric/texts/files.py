"""Files and folders of texts, read and checked."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import reprlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mauve_metric.texts.sources import choose_field

_WIDE_SHARE = 0.04  # of the characters of UTF-16 are spaces and ends of lines, even where no letter is Latin
_LIST = re.compile(r'\s*\[\s*(["{\]]|$)')  # how a JSON list of texts or objects begins, and hardly a text
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
FEATURE_FILES = (".npy", ".npz")  # of numbers, where a file of texts could also be meant


def read_texts(path: str | Path, text_field: str | None = None) -> list[str]:
    """The texts of a file or folder, in order.

    `.txt`: one text a line; `.jsonl`: one string or object a line; `.json`: a list of them; `.csv` (with commas,
    semicolons or tabs, see `csv_delimiter`) and `.tsv` with a header; `.parquet`; a folder: each `.txt` file in it is a
    text, by name; `-`: standard input, JSON lines if its lines are objects or all of them strings in quotes, a JSON
    list if it begins as one of strings or objects does, else one text a line.

    Raises:
        FileNotFoundError: no such file. ValueError: not what its name says, with the line.
    """
    if str(path) == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed: expected texts there")
        return _parse_standard_input(_decode(sys.stdin.buffer.read(), "standard input"), text_field)
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if path.suffix.lower() not in READERS:
        known = ", ".join(READERS)
        raise ValueError(f"{path} has an unknown ending {path.suffix!r}: expected {known}, or a folder of .txt files")
    texts = READERS[path.suffix.lower()](path, text_field)
    if not texts:
        raise ValueError(f"{path} holds no texts")
    return texts


def _decode(raw: bytes, name: str) -> str:
    encoding = _wide_encoding(raw)
    if encoding is not None:
        raise ValueError(f"{name} is not UTF-8: it looks like {encoding}; save it as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name} is not UTF-8: byte {error.start} on line {line} is 0x{raw[error.start]:02x}"
        ) from error


def _wide_encoding(raw: bytes) -> str | None:
    """The encoding of two or four bytes a character that bytes look like, with a mark at the beginning or without.

    Latin letters, spaces and ends of lines have bytes of 0 there, all of them at even or all at odd places.

    >>> _wide_encoding("no mark".encode("utf-16-le")), _wide_encoding(b"text")
    ('UTF-16 (little-endian)', None)
    """
    if 2 * raw.count(0) > len(raw):
        return "UTF-32"
    if raw.startswith(b"\xff\xfe") or _zeros(raw[1::2], raw[::2]):
        return "UTF-16 (little-endian)"
    return "UTF-16 (big-endian)" if raw.startswith(b"\xfe\xff") or _zeros(raw[::2], raw[1::2]) else None


def _zeros(high: bytes, low: bytes) -> bool:
    """Whether bytes of 0 are among the high ones of the characters, and hardly any among the low ones."""
    return high.count(0) > _WIDE_SHARE * len(high) and 10 * low.count(0) <= high.count(0)


def _lines(content: str) -> list[str]:
    """Lines split at newlines alone (not at the other characters that str.splitlines takes for one)."""
    lines = content.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _read_lines(path: Path, text_field: str | None) -> list[str]:
    return _lines(_decode(path.read_bytes(), str(path)))


def _read_folder(path: Path) -> list[str]:
    files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".txt" and file.is_file())
    if not files:
        raise ValueError(f"the folder {path} holds no .txt files")
    return [_decode(file.read_bytes(), str(file)) for file in files]


def _parse_standard_input(content: str, text_field: str | None) -> list[str]:
    name, lines = "standard input", _lines(content)
    if content.lstrip().startswith("{"):
        texts = _parse_json_lines(lines, name, text_field)
    elif _LIST.match(content):
        texts = _parse_json(content, name, text_field)
    elif _all_json_strings(lines):
        texts = _parse_json_lines(lines, name, None)
    else:
        texts = lines
    if not texts:
        raise ValueError("standard input holds no texts")
    return texts


def _all_json_strings(lines: Sequence[str]) -> bool:
    """Whether every line that holds anything is a JSON string; a dialogue's lines only begin and end like one."""
    filled = [line.strip() for line in lines if line.strip()]
    try:
        return bool(filled) and all(line.startswith('"') and isinstance(json.loads(line), str) for line in filled)
    except json.JSONDecodeError:
        return False


def _read_json_lines(path: Path, text_field: str | None) -> list[str]:
    return _parse_json_lines(_lines(_decode(path.read_bytes(), str(path))), str(path), text_field)


def _parse_json_lines(lines: Sequence[str], name: str, text_field: str | None) -> list[str]:
    texts = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            texts.append(_text_of(_loaded(line, name, number), f"{name}, line {number}", text_field))
    return texts


def _read_json(path: Path, text_field: str | None) -> list[str]:
    return _parse_json(_decode(path.read_bytes(), str(path)), str(path), text_field)


def _parse_json(content: str, name: str, text_field: str | None) -> list[str]:
    values = _loaded(content, name)
    if not isinstance(values, list):
        raise ValueError(f"{name} must hold a JSON list of texts or objects, got {type(values).__name__}")
    return [_text_of(value, f"{name}, entry {index}", text_field) for index, value in enumerate(values)]


def _loaded(content: str, name: str, line: int | None = None) -> object:
    """A JSON value: a file's, or that of one of its lines."""
    where = name if line is None else f"{name}, line {line}"
    try:
        value: object = json.loads(content)
    except json.JSONDecodeError as error:
        if line is None:
            raise ValueError(f"{name}, line {error.lineno}: not JSON: {error.msg}") from error
        raise ValueError(f"{where}: not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError(f"{where}: not JSON that can be read: it is nested too deep") from error
    except ValueError as error:  # Python reads no integer of more than some thousand digits
        raise ValueError(f"{where}: not JSON that can be read: a whole number of too many digits") from error
    return value


def _text_of(value: object, where: str, text_field: str | None) -> str:
    """The text in one JSON value: a string, or an object's field."""
    if isinstance(value, dict):
        value = value[choose_field(where, list(value), text_field)]
    if not isinstance(value, str):
        raise ValueError(f"{where}: expected a text, got {type(value).__name__}: {reprlib.repr(value):.60}")
    return value


def _read_csv(path: Path, text_field: str | None) -> list[str]:
    content = _decode(path.read_bytes(), str(path))
    previous = csv.field_size_limit(2**31 - 1)
    try:
        delimiter = csv_delimiter(content, path)
        reader = csv.DictReader(io.StringIO(content, newline=""), delimiter=delimiter)
        if not reader.fieldnames:
            raise ValueError(f"{path} is empty: expected a header line")
        column = choose_field(str(path), list(reader.fieldnames), text_field)
        texts = []
        for row in reader:
            if row[column] is None:
                raise ValueError(f"{path}, line {reader.line_num}: no value in column {column!r}")
            if None in row:
                mark = _DELIMITERS[delimiter]
                raise ValueError(
                    f"{path}, line {reader.line_num}: more values than the header has columns; quote a {mark}"
                )
            texts.append(row[column])
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not CSV: {error}") from error
    finally:
        csv.field_size_limit(previous)
    return texts


def csv_delimiter(content: str, path: Path) -> str:
    """What stands between the columns of a table: a tab in `.tsv`; in `.csv` a comma, a semicolon or a tab.

    It is the one mark that parts the header into several columns; of several marks, the one that parts every row into
    as many. A mark that stands in the header alone is part of its only column's name.

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
        raise ValueError(f"{path}, line 1: a {marks} may stand between the columns: quote the names that hold one")
    return found[0]


def _widths(content: str, delimiter: str) -> Iterator[int]:
    """How many values each row of a table has, the header first, up to where it cannot be read."""
    with contextlib.suppress(csv.Error):
        for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter):
            if row:
                yield len(row)


def _read_parquet(path: Path, text_field: str | None) -> list[str]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError("reading parquet needs pyarrow: pip install pyarrow") from error
    with path.open("rb") as raw:
        with _reading_parquet(path, pyarrow.ArrowException):
            file = parquet.ParquetFile(raw, page_checksum_verification=True)
            names = file.schema_arrow.names
        column = choose_field(str(path), names, text_field)
        with _reading_parquet(path, pyarrow.ArrowException):
            texts: list[str] = file.read([column])[column].to_pylist()
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"{path}, row {index}: expected a text in {column!r}, got {type(text).__name__}")
    return texts


@contextlib.contextmanager
def _reading_parquet(path: Path, foreign: type[Exception]) -> Iterator[None]:
    """What pyarrow raises, in one sentence that names the file."""
    try:
        yield
    except (OSError, ValueError, KeyError, foreign) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} is not a parquet file that can be read: {reason:.200}") from error


READERS: dict[str, Callable[[Path, str | None], list[str]]] = {
    ".txt": _read_lines,
    ".jsonl": _read_json_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
}
