"""Files and pasted text → checked texts, with the column that holds them."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mauve_metric.hosts.space.limits import Limits, check_texts
from mauve_metric.runtime.optional_imports import import_parquet
from mauve_metric.texts.files import PROMPT_FIELDS, Role, TextFile
from mauve_metric.texts.formats import format_of
from mauve_metric.texts.records import Record
from mauve_metric.texts.tables import parquet_texts, read_table, reading_parquet

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

FILE_TYPES = [".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet"]
USER_ERRORS = (ValueError, TypeError, OSError, ImportError, RuntimeError, MemoryError)

_SIDES: dict[Role, set[str]] = {  # words in the names of columns
    "reference": {"human", "humans", "person", "people", "reference", "references", "gold", "target", "original"},
    "prediction": {"prediction", "predictions", "generated", "generation", "completion", "output", "response"},
}
_ROWS_LOOKED_AT = 20
_MOST_COLUMNS = 200
_one_at_a_time = threading.Lock()  # bounds the memory of parsing; `csv` also has a limit that all threads share


@dataclass(frozen=True)
class TextSet:
    """The texts of one side as a visitor gave them.

    title: what the page calls the set. name: of the file. columns: text columns to choose from. column: the one chosen.
    path: of the uploaded file. kind: "file", "paste" or "example". blank: lines without a text that were left out.
    prompts, prompt_field: of the texts, where the file has a field of `PROMPT_FIELDS`. every: step of a sample in the
    rows of the file; 1: all of them.
    """

    title: str
    name: str
    texts: list[str]
    columns: tuple[str, ...] = ()
    column: str | None = None
    path: Path | None = None
    kind: str = "file"
    blank: int = 0
    prompts: Sequence[Hashable] | None = None
    prompt_field: str | None = None
    every: int = 1

    @property
    def upload(self) -> Path | None:
        """The uploaded file, which is deleted with the set; None for lines and examples."""
        return self.path if self.kind == "file" else None


def sampled(side: TextSet, step: int) -> TextSet:
    """The first text of a set and every `step`-th after it.

    >>> sampled(TextSet("it", "a.txt", ["a", "b", "c", "d"]), 3).texts
    ['a', 'd']
    """
    prompts = None if side.prompts is None else side.prompts[::step]
    return replace(side, texts=side.texts[::step], prompts=prompts, every=side.every * step)


def every_text(step: int) -> str:
    """Words for a sample.

    >>> every_text(2), every_text(13), every_text(22)
    ('every 2nd text', 'every 13th text', 'every 22nd text')
    """
    last = 0 if step % 100 in (11, 12, 13) else step % 10
    return f"every {step}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') } text"


def read_upload(
    title: str,
    path: str | Path,
    column: str | None,
    limits: Limits,
    kind: str = "file",
    side: Role = "prediction",
    taken: Collection[str | None] = (),
) -> TextSet:
    """The texts of a file; errors name it by its title, never by its path on the server.

    Where a text is a line, blank lines are left out, as they are of what is pasted.

    Args:
        title: of the side, for errors.
        path: of the file.
        column: the one that holds the texts; None, or one that is not there: see `_choose_column`.
        limits: of the server.
        kind: of the set.
        side: whose texts to take from a file that holds both.
        taken: columns of this file that are other sets already, and are not taken unasked.

    Raises:
        ValueError: with one sentence that a visitor understands.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{title}: the file is not on the server any more, upload it again")
    if path.stat().st_size > limits.bytes:
        raise ValueError(f"{title}: a file may have at most {limits.megabytes} MB here")
    try:
        with _one_at_a_time:
            found = text_columns(path)
            columns = tuple(found)
            if column not in columns:
                free = {name: length for name, length in found.items() if name not in taken}
                if taken and not free:
                    raise ValueError("this file is the other side's already, and has no further column of texts")
                column = _choose_column(free, side, _columns_of_tools(path).get(side))
            prompts: Sequence[Hashable] | None = None
            if path.suffix.lower() == ".parquet":
                texts = _read_parquet(path, column, limits)
                field = next((name for name in PROMPT_FIELDS if name in columns and name != column), None)
                prompts = None if field is None else _read_parquet(path, field, limits)
            else:
                read = TextFile(path, column).side("prediction")
                texts, prompts, field = read.texts, read.prompts, read.prompt_field
            lines = len(texts)
            if path.suffix.lower() == ".txt":
                texts = _without_blank_lines(texts)
            checked = check_texts(title, texts, limits)
            blank = lines - len(texts)
            return TextSet(title, path.name, checked, columns, column, path, kind, blank, prompts, field)
    except USER_ERRORS as error:
        message = str(error).replace(str(path), title)
        raise ValueError(message if message.startswith(title) else f"{title}: {message}") from error


def _choose_column(columns: Mapping[str, float], side: Role, of_tool: str | None) -> str | None:
    """The column of a side among those of a file, by their mean length.

    In a file of another tool that of the side; else "text", else one whose name says whose texts it holds, else the one
    with the longest texts whose name does not say that they are the other side's.

    >>> columns = {"id": 8.0, "human": 90.0, "gpt4": 80.0}
    >>> _choose_column(columns, "reference", None), _choose_column(columns, "prediction", None)
    ('human', 'gpt4')
    """
    if of_tool in columns:
        return of_tool
    words = {name: set(re.split(r"[^a-z]+", name.lower())) for name in columns}
    whose = {name: next((own for own, known in _SIDES.items() if words[name] & known), None) for name in columns}
    ranks = {name: (name == "text", whose[name] == side, whose[name] is None, columns[name]) for name in columns}
    return max(columns, key=ranks.__getitem__, default=None)


def read_paste(title: str, pasted: str, limits: Limits) -> TextSet:
    """The texts of a paste box, one a line; blank lines are left out and counted.

    >>> read_paste("the human texts", "one\\n\\ntwo\\r\\n", Limits()).texts
    ['one', 'two']
    """
    if len(pasted) > limits.bytes:
        raise ValueError(f"{title}: at most {limits.bytes} characters can be pasted here, got {len(pasted)}")
    lines = pasted.replace("\r\n", "\n").rstrip("\n").split("\n")
    texts = check_texts(title, _without_blank_lines(lines), limits)
    return TextSet(title, "pasted.txt", texts, kind="paste", blank=len(lines) - len(texts))


def _without_blank_lines(lines: Sequence[str]) -> list[str]:
    """The lines that are not blank."""
    return [line for line in lines if line.strip()]


def text_columns(path: Path) -> dict[str, float]:
    """The columns of a file that hold texts, with the mean length of the first ones; empty for lines of text.

    An invalid file has no columns; reading it raises the error.
    """
    if path.suffix.lower() == ".parquet":
        return _parquet_columns(path)
    rows = _first_rows(path)
    if found := dict.fromkeys(_columns_of_tools(path).values(), 0.0):
        return found
    records = [row for row in rows if isinstance(row, dict)]
    if not records or len(records) < len(rows):
        return {}
    for name in itertools.islice(records[0], _MOST_COLUMNS):
        values = [value for row in records if isinstance(value := row.get(name), str)]
        if isinstance(name, str) and values:
            found[name] = sum(map(len, values)) / len(values)
    return found


def _columns_of_tools(path: Path) -> dict[Role, str]:
    """The column of each side in a file that another tool wrote; empty for other files."""
    rows = _first_rows(path) if path.suffix.lower() in (".jsonl", ".json") else []
    try:
        known = format_of(Record(rows[0], path.name)) if rows else None
    except (ValueError, RecursionError):  # reading it raises the error
        return {}
    if known is None:
        return {}
    return {"prediction": known.prediction.field, "reference": (known.reference or known.prediction).field}


def _first_rows(path: Path) -> Sequence[object]:
    """The first rows of a file of records; none for lines of text, or where reading it raises an error."""
    suffix = path.suffix.lower()
    try:
        if suffix in (".csv", ".tsv"):
            columns, rows = read_table(path)
            return [values for _, values in rows[:_ROWS_LOOKED_AT]] or [dict.fromkeys(columns, "")]
        if suffix not in (".jsonl", ".json"):
            return []
        content = path.read_text(encoding="utf-8-sig")
        if suffix == ".json":
            values = json.loads(content)
            return values[:_ROWS_LOOKED_AT] if isinstance(values, list) else []
        lines = (line for line in content.split("\n") if line.strip())
        return [json.loads(line) for line in itertools.islice(lines, _ROWS_LOOKED_AT)]
    except (ValueError, RecursionError):
        return []


def _parquet_columns(path: Path) -> dict[str, float]:
    """The text columns, with the bytes that one text takes in the file."""
    import pyarrow

    file = _open_parquet(path)
    found = {}
    for index, field in enumerate(file.schema_arrow):
        kind = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
        if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
            found[field.name] = _unpacked_bytes(file, field.name) / max(file.metadata.num_rows, 1) - index * 1e-9
    return dict(itertools.islice(found.items(), _MOST_COLUMNS))


def _open_parquet(path: Path) -> pyarrow.parquet.ParquetFile:
    parquet = import_parquet()
    with reading_parquet(path):
        return parquet.ParquetFile(path)


def _unpacked_bytes(file: pyarrow.parquet.ParquetFile, column: str) -> int:
    """The size of a column as the file states it."""
    chunks = (chunk for group in file.metadata.to_dict()["row_groups"] for chunk in group["columns"])
    return sum(chunk["total_uncompressed_size"] for chunk in chunks if chunk["path_in_schema"] == column)


def _read_parquet(path: Path, column: str | None, limits: Limits) -> list[str]:
    """The texts of a column, one by one: repeated ones are small in the file and by its own account."""
    if column is None:
        raise ValueError(f"{path} has no column of texts")
    file = _open_parquet(path)
    rows, size = file.metadata.num_rows, _unpacked_bytes(file, column)
    if rows > limits.texts:
        raise ValueError(f"{path}: at most {limits.texts} texts are taken here, got {rows}")
    if size > limits.bytes:
        raise ValueError(f"{path}: the texts may take at most {limits.megabytes} MB unpacked here, got {size} bytes")
    texts, characters = [], 0
    for text in parquet_texts(path, column, batch_size=1):
        texts.append(text)
        characters += len(text)
        if characters > limits.bytes:
            raise ValueError(f"{path}: the texts may take at most {limits.megabytes} MB unpacked here")
    return texts
