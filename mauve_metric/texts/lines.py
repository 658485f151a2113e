"""Bytes of a file as lines of text."""

from __future__ import annotations

from pathlib import Path

from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import DamagedFile, NoFile

_WIDE_SHARE = 0.04  # of the characters of UTF-16 are spaces and ends of lines, even where no letter is Latin


def decode(raw: bytes, name: str) -> str:
    """Decode UTF-8; `ValueError` gives the first invalid byte."""
    encoding = _wide_encoding(raw)
    if encoding is not None:
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


def _wide_encoding(raw: bytes) -> str | None:
    """Guess the encoding of two or four bytes a character of some bytes, with or without a byte order mark.

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
    """Return whether bytes of 0 are among the high ones of the characters, and hardly any among the low ones."""
    return high.count(0) > _WIDE_SHARE * len(high) and 10 * low.count(0) <= high.count(0)


def lines_of(content: str) -> list[str]:
    """Lines split at newlines alone (not at the other characters that str.splitlines takes for one)."""
    lines = content.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
