"""Corpora that do not fit into memory: their texts one after the other."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mauve_metric.runtime.checks import check_file
from mauve_metric.runtime.errors import DamagedFile, UnknownEnding
from mauve_metric.texts.files import READERS, read_texts
from mauve_metric.texts.records import Record, decode, loaded, plain_text
from mauve_metric.texts.tables import parquet_texts

_BLOCK = 1 << 20  # bytes of running text, rows of a table
_ENDINGS = (*READERS, ".txt.gz", ".jsonl.gz")


class CorpusText(NamedTuple):
    """A text, its place, and whether it continues the one before."""

    text: str
    where: str
    goes_on: bool = False


def corpus_texts(*paths: str | Path, text_field: str | None = None) -> Iterator[CorpusText]:
    """The texts of files and of all files in folders, by name, a few in memory at a time.

    `.jsonl`: one string or object a line; `.parquet`; `.txt`: running text, whose ends of lines are blanks; both `.txt`
    and `.jsonl` also packed, as `.gz`. `.csv`, `.tsv`, `.json` and `.eval` are read whole, as `read_texts` does.

    Args:
        paths: of files and folders.
        text_field: the field or column of the texts.

    Raises:
        FileNotFoundError: no such file. ValueError: not what its name says, with the line; no file in a folder.
    """
    if not paths:
        raise ValueError("paths must name at least one file or folder of the corpus")
    for path in map(Path, paths):
        for file in _files_of(path):
            yield from _texts_of(file, text_field)


def _files_of(path: Path) -> list[Path]:
    if os.path.isdir(path):
        found = sorted(file for file in path.rglob("*") if file.is_file() and file.name.lower().endswith(_ENDINGS))
        if not found:
            raise ValueError(f"the folder {path} holds no file of texts: expected {', '.join(_ENDINGS)}")
        return found
    check_file(path)
    if not path.name.lower().endswith(_ENDINGS):
        raise UnknownEnding(f"{path} has an unknown ending: expected {', '.join(_ENDINGS)}, or a folder of such files")
    return [path]


def _texts_of(file: Path, text_field: str | None) -> Iterator[CorpusText]:
    name = file.name.lower().removesuffix(".gz")
    if name.endswith(".parquet"):
        for number, text in enumerate(parquet_texts(file, text_field)):
            yield CorpusText(text, f"{file}, row {number}")
    elif name.endswith((".txt", ".jsonl")):
        with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as lines:
            try:
                if name.endswith(".txt"):
                    yield from _running(lines, file)
                    return
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        where = f"{file}, line {number}"
                        record = Record(loaded(_decode(line, file, number), str(file), number), where)
                        yield CorpusText(plain_text(record, text_field), where)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise DamagedFile(f"{file} is not a gzip file that can be read: {error}") from error
    else:
        for number, text in enumerate(read_texts(file, text_field), 1):
            yield CorpusText(text, f"{file}, text {number}")


def _running(raw: BinaryIO, file: Path) -> Iterator[CorpusText]:
    """Whole words, about a megabyte at a time."""
    number, goes_on, rest = 1, False, b""
    while block := raw.read(_BLOCK):
        block = rest + block
        cut = max(block.rfind(b" "), block.rfind(b"\n")) + 1
        if not cut:  # at the start of the last character of UTF-8
            cut = max(len(block) - 1, 0)
            while cut > 0 and block[cut] & 0xC0 == 0x80:
                cut -= 1
        if cut:
            yield CorpusText(_decode(block[:cut], file, number), f"{file}, from line {number}", goes_on)
            number, goes_on = number + block.count(b"\n", 0, cut), True
        rest = block[cut:]
    if rest:
        yield CorpusText(_decode(rest, file, number), f"{file}, from line {number}", goes_on)


def _decode(raw: bytes, file: Path, line: int) -> str:
    """Bytes that begin on this line of a file."""
    if line == 1:
        return decode(raw, str(file))
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line += raw.count(b"\n", 0, error.start)
        raise DamagedFile(f"{file} is not UTF-8: line {line} holds the byte 0x{raw[error.start]:02x}") from error
