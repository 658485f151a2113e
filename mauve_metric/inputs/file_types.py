"""The types of files that texts are read from: the endings of each, its reader, and where such a file can be given."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from mauve_metric.inputs.fields import LOOKED_AT
from mauve_metric.inputs.file_contents import PACKED_ENDINGS, inner_suffix
from mauve_metric.inputs.records import Rows
from mauve_metric.inputs.tables import arrow_rows, parquet_rows, workbook_rows
from mauve_metric.inputs.tool_formats import INSPECT, Format, inspect_rows


class RecordSource(NamedTuple):
    """The records of a file.

    sample: the first ones. load: reads all, with the fields of these paths at least. tool: the format of a log; None
    for other types of files.
    """

    sample: Rows
    load: Callable[[Collection[str]], Rows]
    tool: Format | None = None

    @classmethod
    def of(cls, rows: Rows, tool: Format | None = None) -> RecordSource:
        """The source of records that have been read."""
        return cls(rows[:LOOKED_AT], lambda fields: rows, tool)


class ReadOptions(NamedTuple):
    """Options with which a file is read.

    most_bytes: the limit of its unpacked bytes; None: none. sheet: of a workbook; None: the only one with rows.
    header: True if the first line of a table has the names of its columns; None: by its cells.
    """

    most_bytes: int | None = None
    sheet: str | None = None
    header: bool | None = None


class FileType(NamedTuple):
    """One type of file.

    endings: in small letters; the first is the one that messages name.
    read: a path → its records; None: the file holds text, see `content`.
    content: how text is structured: lines of text, JSON lines, a JSON value, or columns apart by commas or tabs.
    recognise: a path → whether a file of another ending is of this type.
    is_shard: several files of this type in one folder can be the parts of one set.
    is_upload: the page takes it. is_named: messages and help list it. has_sheets: a field is named "SHEET!FIELD".
    """

    endings: tuple[str, ...]
    read: Callable[[Path, ReadOptions], RecordSource] | None = None
    content: Literal["text", "lines", "value", "commas", "tabs"] = "text"
    recognise: Callable[[Path], bool] | None = None
    is_shard: bool = True
    is_upload: bool = True
    is_named: bool = True
    has_sheets: bool = False

    @property
    def is_plain(self) -> bool:
        """Return whether the ending says that there are texts and no fields."""
        return self.read is None and self.content == "text"


def _parquet(path: Path, reading: ReadOptions) -> RecordSource:
    return RecordSource(parquet_rows(path, most=LOOKED_AT), partial(parquet_rows, path))


def _is_parquet(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(4) == b"PAR1"
    return False


def _workbook(path: Path, reading: ReadOptions) -> RecordSource:
    return RecordSource.of(workbook_rows(path, reading.most_bytes, reading.sheet, reading.header))


def _is_workbook(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        return "xl/workbook.xml" in archive.namelist()
    return False


def _arrow(path: Path, reading: ReadOptions) -> RecordSource:
    return RecordSource.of(arrow_rows(path, reading.most_bytes))


def _log_of_inspect(path: Path, reading: ReadOptions) -> RecordSource:
    return RecordSource.of(inspect_rows(path), INSPECT)


FILE_TYPES = (
    FileType((".txt", ".text", ".md"), is_shard=False),
    FileType((".jsonl", ".ndjson", ".jsonlines", ".jl"), content="lines"),
    FileType((".json",), content="value"),
    FileType((".csv",), content="commas"),
    FileType((".tsv",), content="tabs"),
    FileType((".parquet",), _parquet, recognise=_is_parquet),
    FileType((".xlsx",), _workbook, recognise=_is_workbook, has_sheets=True),
    FileType((".arrow", ".feather"), _arrow, is_named=False),
    FileType((".eval",), _log_of_inspect, is_shard=False, is_upload=False),
)


def named_endings(*, with_fields: bool = False) -> tuple[str, ...]:
    """The endings that messages and help list; with_fields: of what can be uploaded and has columns alone.

    >>> named_endings()
    ('.txt', '.jsonl', '.json', '.csv', '.tsv', '.parquet', '.xlsx', '.eval')
    """
    named = [kind for kind in FILE_TYPES if kind.is_named]
    return tuple(kind.endings[0] for kind in named if not with_fields or (kind.is_upload and not kind.is_plain))


def read_endings() -> tuple[str, ...]:
    """Every ending that a file of texts may have, those of packed ones too."""
    return (*(ending for kind in FILE_TYPES for ending in kind.endings), *PACKED_ENDINGS)


def upload_endings() -> list[str]:
    """The endings that the page takes.

    >>> set(read_endings()) - {*upload_endings()}
    {'.eval'}
    """
    return [ending for kind in FILE_TYPES if kind.is_upload for ending in kind.endings] + list(PACKED_ENDINGS)


def type_of(suffix: str) -> FileType | None:
    """The type of files with an ending; None for what is no ending of one.

    >>> type_of(".ndjson").content, type_of(".gz")
    ('lines', None)
    """
    return next((kind for kind in FILE_TYPES if suffix in kind.endings), None)


def type_by_name(path: Path) -> FileType | None:
    """The type of what a file holds by its name, in a packed file too."""
    return type_of(inner_suffix(path))


def type_with_reader(path: Path) -> FileType | None:
    """The type with a reader of its own that a file has, by its content or else its ending; None for text."""
    of_content = (kind for kind in FILE_TYPES if kind.recognise is not None and kind.recognise(path))
    kind = next(of_content, None) or type_of(path.suffix.lower())
    return None if kind is None or kind.read is None else kind
