"""The types of files that texts are read from, by ending, reader and use, and the files of a folder that hold texts."""

from __future__ import annotations

import contextlib
import json
import re
import zipfile
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from mauve_metric.inputs.bytes_and_encodings import PACKED_ENDINGS, inner_suffix
from mauve_metric.inputs.fields import LOOKED_AT
from mauve_metric.inputs.records import ALL, SPLITS, Record, Rows
from mauve_metric.inputs.tables import arrow_rows, parquet_rows, workbook_rows
from mauve_metric.inputs.tool_formats import INSPECT, Format, format_of, inspect_rows
from mauve_metric.runtime.checks import quoted
from mauve_metric.runtime.errors import NoSuchField, SeveralTexts, UnknownEnding
from mauve_metric.runtime.plain_text import counted

_ABOUT_DATA = ("dataset_infos.json", "dataset_info.json", "state.json", "config.json", "package.json")
_SPLIT_FILE = re.compile(
    rf"({'|'.join(sorted(SPLITS, key=len, reverse=True))}|human|machine|model|ai)(?![a-z])", re.IGNORECASE
)


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
        return cls(rows[:LOOKED_AT], partial(_read, rows), tool)


def _read(rows: Rows, fields: Collection[str]) -> Rows:
    """All rows, which have been read: a function with a name can be pickled."""
    return rows


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


def split_of(file: Path) -> str | None:
    """The split, or the writer, with whose name a shard's name begins; None for others.

    >>> split_of(Path("train-00000-of-00002.parquet")), split_of(Path("human_2.jsonl")), split_of(Path("trains.csv"))
    ('train', 'human', None)
    """
    match = _SPLIT_FILE.match(file.name)
    return None if match is None else match[1].lower()


def _of_split(folder: Path, files: Sequence[Path], split: str | None) -> list[Path]:
    """The shards of one split of a data set; all of them where their names do not begin with those of splits.

    Raises:
        ValueError: there are several splits, and none was chosen.
    """
    splits = {file: split_of(file) for file in files}
    names = list(dict.fromkeys(map(str, splits.values())))
    if None in splits.values() or (split is None and len(names) < 2):
        return list(files)
    if split is None:
        raise SeveralTexts(
            f"the folder {folder} holds the splits {', '.join(map(repr, names))}: choose one, such as "
            f"'{folder}[split={names[0]}]' ([split={ALL}] reads all of them as one set)"
        )
    kept = [file for file in files if split in (ALL, splits[file])]
    if not kept:
        raise NoSuchField(f"{folder} has no split {split!r}; it has {', '.join(map(repr, names))}")
    return kept


def natural_order(file: Path) -> list[tuple[int, int, str]]:
    """The key that sorts names of files as people number them.

    >>> [file.name for file in sorted(map(Path, ("part-10", "part-2", "a", "part-1b")), key=natural_order)]
    ['a', 'part-1b', 'part-2', 'part-10']
    """
    parts = re.split(r"(\d+)", file.name)
    return [(int(part), len(part), "") if part.isdecimal() else (0, 0, part) for part in parts]


def files_in(folder: Path, split: str | None = None) -> list[Path]:
    """The files of a folder that hold its texts: `.txt` files, the one that a tool wrote, or shards of one ending.

    Hidden files, whose names begin with a dot, are left out.

    Raises:
        ValueError: there is nothing to read, or more than one thing.
    """
    files = [file for file in sorted(folder.iterdir(), key=natural_order) if file.is_file() and file.name[0] != "."]
    texts = [file for file in files if file.suffix.lower() == ".txt"]
    written = [file for file in files if _tool_of(file)]
    shards = [
        file
        for file in files
        if file.name not in _ABOUT_DATA and (kind := type_by_name(file)) is not None and kind.is_shard
    ]
    if texts and not written:
        others = [file.name for file in shards if inner_suffix(file) != ".json"]  # which may be about the texts
        if others:
            counts = counted(len(texts), ".txt file")
            raise SeveralTexts(f"the folder {folder} holds {counts} and {quoted(others)}: expected texts of one kind")
        return texts
    if not shards and not written and (folder / "data").is_dir():  # a clone of a data set of the Hub
        return files_in(folder / "data", split)
    shards = _of_split(folder, shards, split)
    numbered = {re.sub(r"\d+", "", file.name) for file in shards}
    is_one = len({inner_suffix(file) for file in shards}) == 1 and not texts
    is_run = any(isinstance(tool := _tool_of(file), Format) and tool.group is not None for file in written)
    if is_one and (not written or (len(written) == len(shards) and len(numbered) == 1 and not is_run)):
        return shards
    if not written:
        names = ", ".join(repr(file.name) for file in shards[:6])
        folders = ", ".join(sorted(repr(inner.name) for inner in folder.iterdir() if inner.is_dir())[:6])
        held = names or (folders and f"the folders {folders}")
        reason = f", but {held}: name the one that is meant" if held else ""
        if not held and any(file.suffix.lower() == ".npy" for file in files):
            reason = ": features of several files are read in Python, as p_features= and q_features="
        raise UnknownEnding(f"the folder {folder} holds no .txt files, and no file of a tool that is known{reason}")
    if len(written) > 1 or texts:
        also = f" and {counted(len(texts), '.txt file')}" if texts else ""
        names = ", ".join(repr(file.name) for file in written) + also
        raise ValueError(f"the folder {folder} holds {names}: expected one of them, give its own name")
    return written


def _tool_of(file: Path) -> Format | bool | None:
    """The format of a log or of JSON lines, by the first line; True for damaged ones; None or False for others."""
    suffix = file.suffix.lower()
    if suffix == ".eval" or suffix != ".jsonl" or not file.is_file():
        return suffix == ".eval"
    with file.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
    try:
        return format_of(Record(json.loads(first.decode("utf-8-sig")), str(file)))
    except (ValueError, RecursionError):  # it is damaged: reading it raises the error
        return True
