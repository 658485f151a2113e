"""Files and pasted text → checked texts, with the column that holds them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mauve_metric.features.sides import Groups, shared_prompts
from mauve_metric.hosts.flags_and_labels import PAGE
from mauve_metric.hosts.space.limits import Limits, check_texts
from mauve_metric.inputs.bytes_and_encodings import WrongEncoding
from mauve_metric.inputs.fields import Role
from mauve_metric.inputs.files import PROMPT_FIELDS, TextFile
from mauve_metric.inputs.records import ALL, is_people, split_where
from mauve_metric.inputs.tables import parquet_batches, reading_parquet
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import USER_ERRORS
from mauve_metric.runtime.optional_imports import import_parquet

_EXAMPLES = 3  # of a column, in the list to choose from
_EXAMPLE_CHARACTERS = 30
_MOST_COLUMNS = 200
_one_at_a_time = threading.Lock()  # bounds the memory of parsing; `csv` also has a limit that all threads share


@dataclass(frozen=True)
class TextSet:
    """The texts of one side as a visitor gave them.

    title: what the page calls the set. name: of the file. columns: text columns to choose from. column: the one chosen.
    path: of the uploaded file. kind: "file", "paste" or "example". blank: lines without a text that were left out.
    prompts, prompt_field: of the texts, where the file has a field of `PROMPT_FIELDS`. every: step of a sample in the
    rows of the file; 1: all of them. examples: of each column, its name with the first texts. ask: words that ask for a
    look at the choice of the column or the encoding; "" where it is sure. encoding: of a file that is not UTF-8.
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
    examples: tuple[str, ...] = ()
    ask: str = ""
    encoding: str | None = None

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


def shared_prompts_of(sets: Mapping[str, TextSet]) -> Groups:
    """The prompts that the sets share, see `shared_prompts`."""
    return shared_prompts({name: (texts.prompt_field, texts.prompts) for name, texts in sets.items()})


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
        column: the one that holds the texts; None, or one that is not there: see `TextFile.choice`.
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
            sizes = _parquet_columns(path, limits) if path.suffix.lower() == ".parquet" else {}
            file = _opened(path, limits)
            fields = [field for field in file.fields if not field.is_code]
            of_format = () if file.format is None else (file.format.prediction, file.format.reference)
            paths = [*filter(None, of_format), *(field.path for field in fields)]
            plain = tuple(dict.fromkeys(paths))[:_MOST_COLUMNS]
            is_sure, columns = _with_kinds(file, plain)
            ask = ""
            if column not in columns:
                column, ask = _column_of_texts(title, file, plain, side, () if is_sure else taken)
                if is_sure:
                    names = [name for name in columns if name.startswith(f"{column}[") and name not in taken]
                    fit = [name for name in names if is_people(name.rpartition("=")[2]) == (side == "reference")]
                    column = next(iter([*fit, *names]), None)
                    ask = "The file holds texts of several kinds: choose the one that is meant."
            for name, size in sizes.items():
                used = split_where(column or "")[0]
                if any(field == name or field.startswith(f"{name}.") for field in (used, *PROMPT_FIELDS)):
                    _check_unpacked(path, name, size, limits)
            read = (file if column is None else _opened(path, limits, column)).side("prediction")
            if file.encoding is not None:
                ask = f"Read as {file.encoding}, as it is not UTF-8: look whether its letters are right. {ask}".strip()
            if read.empty not in (None, "is empty"):
                ask = f"{ask} {PAGE.respell(str(read.empty_problem)).replace(str(path), title)}".strip()
            is_lines = column is None and path.suffix.lower() in (".txt", ".gz")
            texts = [line for line in read.texts if line.strip()] if is_lines else read.texts
            if not texts:
                raise ValueError(f"{title} holds no texts")
            checked, blank = check_texts(title, texts, limits), len(read.texts) - len(texts)
            examples = {
                field.path: ", ".join(shown(text, _EXAMPLE_CHARACTERS) for text in field.values[:_EXAMPLES])
                for field in fields
            }
            return TextSet(
                title,
                path.name,
                checked,
                columns,
                column,
                path,
                kind,
                blank,
                read.prompts,
                read.prompt_field,
                examples=tuple(f"{name}: {examples[name]}" if name in examples else name for name in columns),
                ask=ask,
                encoding=file.encoding,
            )
    except USER_ERRORS as error:
        message = str(error).replace(str(path), title)
        raise ValueError(message if message.startswith(title) else f"{title}: {message}") from error


def _with_kinds(file: TextFile, columns: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
    """Return whether a file surely holds texts of several kinds, and its columns with `[column=value]` for each."""
    kind = min(file.kinds(), key=lambda kind: not kind.is_sure, default=None)
    if kind is None:
        return False, tuple(columns)
    of_texts = [name for name in columns if name != kind.column]
    values = [*filter(None, kind.counts), ALL]
    parts = [f"{name}[{kind.column}={value}]" for name in of_texts for value in values]
    return kind.is_sure, (*(() if kind.is_sure else columns), *parts)


def _column_of_texts(
    title: str, file: TextFile, columns: Collection[str], side: Role, taken: Collection[str | None]
) -> tuple[str | None, str]:
    """The column that holds the texts, and what to ask the visitor where several may."""
    others = {name for name in taken if name is not None}
    if taken and not set(columns) - others:
        raise ValueError("this file is the other side's already, and has no further column of texts")
    choice = file.choice(side, others)
    if choice.doubt and choice.path is None:
        raise ValueError(f"{title} {choice.problem()}")
    return choice.path, "Several columns may hold the texts: choose the one that is meant." if choice.doubt else ""


def _opened(path: Path, limits: Limits, column: str | None = None) -> TextFile:
    """A file, by its encoding or the guess of it."""
    try:
        return TextFile(path, column, most_bytes=limits.bytes)
    except WrongEncoding as error:
        if error.encoding is None:
            raise
        return TextFile(path, column, encoding=error.encoding, most_bytes=limits.bytes)


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


def _parquet_columns(path: Path, limits: Limits) -> dict[str, int]:
    """The columns of a parquet file, with the bytes of each as the file states them."""
    with reading_parquet(path):
        file = import_parquet().ParquetFile(path)
    if file.metadata.num_rows > limits.texts:
        raise ValueError(f"{path}: at most {limits.texts} texts are taken here, got {file.metadata.num_rows}")
    sizes: Counter[str] = Counter()
    for group in file.metadata.to_dict()["row_groups"]:
        for chunk in group["columns"]:
            sizes[chunk["path_in_schema"].partition(".")[0]] += chunk["total_uncompressed_size"]
    return {name: sizes[name] for name in file.schema_arrow.names}


def _check_unpacked(path: Path, column: str, size: float, limits: Limits) -> None:
    """Raise `ValueError` for a column that unpacks to too much, by its own account or text by text.

    Repeated texts are small in the file and by its own account.
    """
    too_much = f"{path}: the texts may take at most {limits.megabytes} MB unpacked here"
    if size > limits.bytes:
        raise ValueError(f"{too_much}, got {size} bytes")
    total = 0
    for num_bytes, _ in parquet_batches(path, [column], 1)[1]:
        total += num_bytes
        if total > limits.bytes:
            raise ValueError(too_much)
