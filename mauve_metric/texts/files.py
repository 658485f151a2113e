"""Files and folders of texts, read and checked."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from mauve_metric.texts.sources import choose_field

FEATURE_FILES = (".npy", ".npz")  # of numbers, where a file of texts could also be meant


def read_texts(path: str | Path, text_field: str | None = None) -> list[str]:
    """The texts of a file or folder, in order.

    `.txt`: one text a line; `.jsonl`: one string or object a line; `.json`: a list of them; `.csv` and `.tsv` with a
    header; `.parquet`; a folder: each `.txt` file in it is a text, by name; `-`: standard input, JSON lines if its
    lines are objects, else one text a line.

    Raises:
        FileNotFoundError: no such file. ValueError: not what its name says, with the line.
    """
    if str(path) == "-":
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
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name} is not UTF-8: byte {error.start} on line {line} is 0x{raw[error.start]:02x}"
        ) from error


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
    lines = _lines(content)
    if not lines:
        raise ValueError("standard input holds no texts")
    if lines[0].lstrip().startswith("{"):
        return _parse_json_lines(lines, "standard input", text_field)
    return lines


def _read_json_lines(path: Path, text_field: str | None) -> list[str]:
    return _parse_json_lines(_lines(_decode(path.read_bytes(), str(path))), str(path), text_field)


def _parse_json_lines(lines: Sequence[str], name: str, text_field: str | None) -> list[str]:
    texts = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{name}, line {number}: not JSON: {error.msg} at column {error.colno}") from error
            texts.append(_text_of(value, f"{name}, line {number}", text_field))
    return texts


def _read_json(path: Path, text_field: str | None) -> list[str]:
    try:
        values = json.loads(_decode(path.read_bytes(), str(path)))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error
    if not isinstance(values, list):
        raise ValueError(f"{path} must hold a JSON list of texts or objects, got {type(values).__name__}")
    return [_text_of(value, f"{path}, entry {index}", text_field) for index, value in enumerate(values)]


def _text_of(value: object, where: str, text_field: str | None) -> str:
    """The text in one JSON value: a string, or an object's field."""
    if isinstance(value, dict):
        value = value[choose_field(where, list(value), text_field)]
    if not isinstance(value, str):
        raise ValueError(f"{where}: expected a text, got {type(value).__name__}: {value!r:.60}")
    return value


def _read_csv(path: Path, text_field: str | None) -> list[str]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    previous = csv.field_size_limit(2**31 - 1)
    try:
        reader = csv.DictReader(io.StringIO(_decode(path.read_bytes(), str(path)), newline=""), delimiter=delimiter)
        if not reader.fieldnames:
            raise ValueError(f"{path} is empty: expected a header line")
        column = choose_field(str(path), list(reader.fieldnames), text_field)
        texts = []
        for row in reader:
            if row[column] is None:
                raise ValueError(f"{path}, line {reader.line_num}: no value in column {column!r}")
            if None in row:
                raise ValueError(
                    f"{path}, line {reader.line_num}: more values than the header has columns; quote a comma"
                )
            texts.append(row[column])
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not CSV: {error}") from error
    finally:
        csv.field_size_limit(previous)
    return texts


def _read_parquet(path: Path, text_field: str | None) -> list[str]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError("reading parquet needs pyarrow: pip install pyarrow") from error
    try:
        file = parquet.ParquetFile(path)
        column = choose_field(str(path), file.schema_arrow.names, text_field)
        texts: list[str] = file.read([column])[column].to_pylist()
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise ValueError(f"{path} is not a parquet file: {error}") from error
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"{path}, row {index}: expected a text in {column!r}, got {type(text).__name__}")
    return texts


READERS: dict[str, Callable[[Path, str | None], list[str]]] = {
    ".txt": _read_lines,
    ".jsonl": _read_json_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
}
