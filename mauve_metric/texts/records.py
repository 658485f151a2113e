"""Records of a file: its bytes as lines, the content of each line or entry, and the values at their fields."""

from __future__ import annotations

import codecs
import json
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mauve_metric.runtime.checks import quoted, shown
from mauve_metric.runtime.errors import DamagedFile, NoFile, NoSuchField, NotTexts
from mauve_metric.texts.sources import choose_field

_WIDE_SHARE = 0.02  # of zero bytes: UTF-16 has more, by its spaces and line ends alone, in any alphabet


def decode(raw: bytes, name: str) -> str:
    """Decode UTF-8; `ValueError` gives the first invalid byte."""
    zeros = raw.count(0)
    if zeros > _WIDE_SHARE * len(raw) or raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "UTF-32" if 2 * zeros > len(raw) else "UTF-16"
        raise DamagedFile(f"{name} is not UTF-8: it looks like {encoding}; save it as UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DamagedFile(
            f"{name} is not UTF-8: byte {error.start} on line {line} is 0x{raw[error.start]:02x}; save it as UTF-8"
        ) from error


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        FileNotFoundError, IsADirectoryError, OSError: it is not there, or cannot be read; one sentence with its name.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NoFile(f"there is no file {shown(str(path), most=200)}") from error
    except IsADirectoryError as error:
        raise IsADirectoryError(f"{str(path)!r} is a folder, expected a file") from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = getattr(error, "strerror", None) or error
        raise OSError(f"{shown(str(path), most=200)} cannot be read: {reason}") from error


def lines_of(content: str) -> list[str]:
    """Lines split at newlines alone (not at the other characters that str.splitlines takes for one)."""
    lines = content.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


class Record(NamedTuple):
    """A value, a text or an object of fields, and its place: the file and the line, entry or sample."""

    value: object
    where: str


def json_lines(lines: Sequence[str], name: str) -> list[Record]:
    """One JSON value a line; empty lines are passed over.

    Raises:
        ValueError: a line is not JSON.
    """
    return [
        Record(loaded(line, name, number), f"{name}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def json_entries(values: object, name: str) -> list[Record]:
    """The entries of a JSON list; `ValueError` for another value."""
    if isinstance(values, Mapping) and "results" in values and "configs" in values:
        raise ValueError(
            f"{name} holds the scores of lm-evaluation-harness and no texts: run it with --log_samples, and give the "
            "samples_….jsonl that it then writes"
        )
    if not isinstance(values, list):
        raise ValueError(f"{name} must hold a JSON list of texts or objects, got {type(values).__name__}")
    return [Record(value, f"{name}, entry {index}") for index, value in enumerate(values)]


def read_json(path: str | Path) -> object:
    """The JSON value of a file."""
    return loaded(decode(read_bytes(Path(path)), str(path)), str(path))


def loaded(content: str, name: str, line: int | None = None) -> object:
    """A JSON value: a file's, or that of one of its lines."""
    where = name if line is None else f"{name}, line {line}"
    try:
        value: object = json.loads(content)
    except json.JSONDecodeError as error:
        if line is None:
            raise DamagedFile(f"{name}, line {error.lineno}: not JSON: {error.msg}") from error
        raise DamagedFile(f"{where}: not JSON: {error.msg.removesuffix(' at')} at column {error.colno}") from error
    except RecursionError as error:
        raise DamagedFile(f"{where}: not JSON that can be read: it is nested too deep") from error
    except ValueError as error:  # Python reads no integer of more than some thousand digits
        raise DamagedFile(f"{where}: not JSON that can be read: a whole number of too many digits") from error
    return value


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
        return f"{who} has {quoted(list(value), most=20)}" if value else f"{who} is empty"
    if isinstance(value, list):
        return f"{who} is a list of {len(value)}"
    return f"{who} is {'a text' if isinstance(value, str) else 'null' if value is None else type(value).__name__}"


def text_at(record: Record, path: str) -> str:
    """The text at a field or path; `ValueError` for another value."""
    value = value_at(record, path)
    if isinstance(value, str):
        return value
    choose = f"; name one of its places, such as {path}.0" if isinstance(value, list) and value else ""
    raise NotTexts(f"{record.where}: expected a text in {path!r}, got {_show(value)}{choose}")


def plain_text(record: Record, text_field: str | None) -> str:
    """The text of a record of no known format: the record itself, or the field asked for, "text", or the only one."""
    if isinstance(record.value, Mapping):
        if text_field is not None and text_field not in record.value and "." in text_field:
            return text_at(record, text_field)
        value = record.value[choose_field(record.where, list(record.value), text_field)]
    else:
        value = record.value
    if not isinstance(value, str):
        raise NotTexts(f"{record.where}: expected a text, got {_show(value)}")
    return value


def _show(value: object) -> str:
    return f"{type(value).__name__}: {reprlib.repr(value):.60}"
