"""Files and pasted text → checked texts, with the column that holds them."""

from __future__ import annotations

import itertools
import re
import threading
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mauve_metric.hosts.space.limits import Limits, check_texts
from mauve_metric.runtime.errors import NoSuchField
from mauve_metric.runtime.optional_imports import import_parquet
from mauve_metric.texts.files import PROMPT_FIELDS, Role, TextFile
from mauve_metric.texts.tables import parquet_texts, reading_parquet

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
            is_parquet = path.suffix.lower() == ".parquet"
            try:
                file = TextFile(path)
            except NoSuchField:  # it could be of several tools: a named field leaves that open
                file = TextFile(path, "text")
            found = _parquet_columns(path, limits) if is_parquet else text_columns(file)
            columns = tuple(found)
            if column not in columns:
                free = {name: length for name, length in found.items() if name not in taken}
                if taken and not free:
                    raise ValueError("this file is the other side's already, and has no further column of texts")
                of_tool = file.column(side) if file.format is not None else None
                column = _choose_column(free, side, None if of_tool is None else of_tool.field)
            for name, size in found.items() if is_parquet else ():
                if name in (column, *PROMPT_FIELDS):
                    _check_unpacked(path, name, size, limits)
            read = TextFile(path, column).side("prediction")
            texts = [line for line in read.texts if line.strip()] if path.suffix.lower() == ".txt" else read.texts
            checked, blank = check_texts(title, texts, limits), len(read.texts) - len(texts)
            return TextSet(
                title, path.name, checked, columns, column, path, kind, blank, read.prompts, read.prompt_field
            )
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
    texts = check_texts(title, [line for line in lines if line.strip()], limits)
    return TextSet(title, "pasted.txt", texts, kind="paste", blank=len(lines) - len(texts))


def text_columns(file: TextFile) -> dict[str, float]:
    """The columns of a file that hold texts, with the mean length of the first ones; empty for lines of text."""
    if file.format is not None:
        columns = file.column("prediction"), file.column("reference")
        return {column.field: 0.0 for column in columns if column is not None}
    rows = file.first_rows(_ROWS_LOOKED_AT)
    found = {}
    for name in itertools.islice(rows[0] if rows else (), _MOST_COLUMNS):
        lengths = [len(value) for row in rows if isinstance(value := row.get(name), str)]
        if isinstance(name, str) and lengths:
            found[name] = sum(lengths) / len(lengths)
    return found


def _parquet_columns(path: Path, limits: Limits) -> dict[str, float]:
    """The text columns of a parquet file, with the bytes of each as the file states them."""
    import pyarrow

    with reading_parquet(path):
        file = import_parquet().ParquetFile(path)
    if file.metadata.num_rows > limits.texts:
        raise ValueError(f"{path}: at most {limits.texts} texts are taken here, got {file.metadata.num_rows}")
    sizes: Counter[str] = Counter()
    for group in file.metadata.to_dict()["row_groups"]:
        for chunk in group["columns"]:
            sizes[chunk["path_in_schema"]] += chunk["total_uncompressed_size"]
    types = {field.name: field.type for field in file.schema_arrow}
    kinds = {name: kind.value_type if pyarrow.types.is_dictionary(kind) else kind for name, kind in types.items()}
    named = [name for name, kind in kinds.items() if kind in (pyarrow.string(), pyarrow.large_string())]
    if not named:
        raise ValueError(f"{path} has no column of texts")
    return {name: sizes[name] for name in named[:_MOST_COLUMNS]}


def _check_unpacked(path: Path, column: str, size: float, limits: Limits) -> None:
    """Raise `ValueError` for a column that unpacks to too much, by its own account or text by text.

    Repeated texts are small in the file and by its own account.
    """
    too_much = f"{path}: the texts may take at most {limits.megabytes} MB unpacked here"
    if size > limits.bytes:
        raise ValueError(f"{too_much}, got {size} bytes")
    characters = 0
    for text in parquet_texts(path, column, batch_size=1):
        characters += len(text)
        if characters > limits.bytes:
            raise ValueError(too_much)
