"""Where texts come from: lists, columns, streams and files, checked before anything is computed."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SHOWN = 5  # how many positions an error lists


@dataclass
class TextSource:
    """Checked texts of one side: a list, or a stream that is checked while it is read.

    texts: non-empty strings. dropped: how many empty ones were left out (so far, for a stream).
    """

    texts: Iterable[str]
    dropped: int = 0


def text_source(name: str, data: Any, *, text_field: str | None = None, empty_texts: str = "error") -> TextSource:
    """Take texts in any of the usual forms.

    Args:
        name: the argument's name, for errors.
        data: a list, tuple, numpy array, pandas column, pyarrow array, `datasets.Dataset` or one of its columns (a
            list of texts is made of them), or an `IterableDataset`, generator or other iterator (streamed).
        text_field: the column of a `Dataset`; None: "text", or the only text column.
        empty_texts: "error" or "drop" for empty and whitespace-only texts; "keep" takes any number of them, none at
            all too, and makes a list of a stream.

    Raises:
        TypeError: not texts. ValueError: none at all, or empty ones with "error".
    """
    if isinstance(data, (str, bytes)):
        raise TypeError(f"{name} must be a list of texts, got a single {type(data).__name__}: {data[:40]!r}")
    if isinstance(data, (dict, set, frozenset)) or data is None:  # a set has no order to repeat a score in
        raise TypeError(f"{name} must be a list of texts, got {type(data).__name__}")
    if hasattr(data, "column_names") and hasattr(data, "features"):
        data = _dataset_column(name, data, text_field)
    elif hasattr(data, "columns") and hasattr(data, "iloc"):
        data = data[_choose_field(name, list(data.columns), text_field)].tolist()
    elif hasattr(data, "to_pylist"):
        data = data.to_pylist()
    elif hasattr(data, "tolist"):
        data = data.tolist()
    if not isinstance(data, Iterable):
        raise TypeError(f"{name} must be a list of texts, got {type(data).__name__}")
    if not hasattr(data, "__len__"):  # a stream, such as the column of an IterableDataset
        data = iter(data)
    source = TextSource(())
    if isinstance(data, Iterator) and empty_texts != "keep":
        source.texts = _checked_stream(name, data, empty_texts, source)
        return source
    texts = list(data)
    _check_strings(name, texts)
    if empty_texts == "keep":
        source.texts = texts
        return source
    empty = [index for index, text in enumerate(texts) if not text.strip()]
    if empty and empty_texts == "error":
        raise ValueError(_empty_message(name, empty, len(texts)))
    source.texts = [text for text in texts if text.strip()] if empty else texts
    source.dropped = len(empty)
    if not source.texts:
        raise ValueError(f"{name} must hold at least one non-empty text, got {len(texts)} texts of which none is")
    return source


def _dataset_column(name: str, data: Any, text_field: str | None) -> Any:
    """The text column of a `datasets.Dataset` (a list) or `IterableDataset` (an iterator)."""
    field = _choose_field(name, data.column_names, text_field) if data.column_names else (text_field or "text")
    if hasattr(data, "__len__"):
        return list(data[field])
    return (row[field] for row in data)


def _choose_field(name: str, fields: Sequence[str], text_field: str | None) -> str:
    """The field that holds the texts: the one asked for, "text", or the only one."""
    if text_field is not None:
        if text_field not in fields:
            raise ValueError(f"{name} has no field {text_field!r}; it has {', '.join(map(repr, fields))}")
        return text_field
    if "text" in fields:
        return "text"
    if len(fields) == 1:
        return fields[0]
    raise ValueError(f"{name} has no field 'text': choose one of {', '.join(map(repr, fields))} with text_field")


def _check_strings(name: str, texts: Sequence[Any]) -> None:
    for index, text in enumerate(texts):
        _check_string(name, index, text)


def _check_string(name: str, index: int, text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{name} must hold strings only, got {type(text).__name__} at position {index}: {text!r:.60}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{name} holds half of a surrogate pair, which is no character, at position {index}: {text!a:.60}"
            ) from error


def _empty_message(name: str, positions: Sequence[int], total: int) -> str:
    shown = ", ".join(map(str, positions[:_SHOWN])) + (", …" if len(positions) > _SHOWN else "")
    return (
        f"{name} holds {len(positions)} empty or whitespace-only texts of {total}, at positions {shown}: "
        "remove them, or pass empty_texts='drop'"
    )


def _checked_stream(name: str, data: Iterator[Any], empty_texts: str, source: TextSource) -> Iterator[str]:
    kept = 0
    for index, text in enumerate(data):
        _check_string(name, index, text)
        if text.strip():
            kept += 1
            yield text
        elif empty_texts == "error":
            raise ValueError(
                f"{name} holds an empty or whitespace-only text at position {index}: remove it, or pass "
                "empty_texts='drop'"
            )
        else:
            source.dropped += 1
    if not kept:
        raise ValueError(f"{name} must hold at least one non-empty text, got none")


# --- files --------------------------------------------------------------------------------------------------------


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


def _text_of(value: Any, where: str, text_field: str | None) -> str:
    """The text in one JSON value: a string, or an object's field."""
    if isinstance(value, dict):
        value = value[_choose_field(where, list(value), text_field)]
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
        column = _choose_field(str(path), list(reader.fieldnames), text_field)
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
        column = _choose_field(str(path), file.schema_arrow.names, text_field)
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
