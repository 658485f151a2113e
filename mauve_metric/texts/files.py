"""Files and folders of texts, read and checked: plain ones, and those that other tools write."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from mauve_metric.runtime.checks import check_file, shown
from mauve_metric.runtime.errors import EmptyTexts, NoSuchField, SeveralTexts, UnknownEnding
from mauve_metric.texts.records import (
    Record,
    decode,
    has_field,
    json_entries,
    json_lines,
    lines_of,
    loaded,
    plain_text,
    read_bytes,
    read_json,
    text_at,
    value_at,
)
from mauve_metric.texts.sources import NoTextsError
from mauve_metric.texts.tables import parquet_texts, read_csv, read_table
from mauve_metric.texts.tool_formats import INSPECT, Column, Format, format_of, inspect_records

Role = Literal["reference", "prediction"]

_LIST = re.compile(r'\s*\[\s*(["{\]]|$)')  # how a JSON list of texts or objects begins, and hardly a text
FEATURE_FILES = (".npy", ".npz")  # of numbers, where a file of texts could also be meant
TABLES: dict[str, Callable[[Path, str | None], list[str]]] = {
    ".txt": lambda path, _: lines_of(decode(read_bytes(path), str(path))),
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": lambda path, field: list(parquet_texts(path, field)),
}
# Fields that name what a text answers: texts with equal values in them are not independent of each other.
PROMPT_FIELDS = ("prompt", "prompt_id", "question_id", "doc_id", "document_id", "key")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
READERS = (".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".eval")


def read_texts(
    path: str | Path,
    text_field: str | None = None,
    *,
    side: Role | None = None,
    filter: str | None = None,
) -> list[str]:
    """The texts of a file or folder, in order.

    `.txt`: one text a line; `.jsonl`: one string or object a line; `.json`: a list of them; `.csv` (with commas,
    semicolons or tabs, see `csv_delimiter`) and `.tsv` with a header; `.parquet`; `.eval`: a log of Inspect; a folder:
    each `.txt` file in it is a text, by name, or the one file in it that another tool wrote; `-`: standard input, JSON
    lines if its lines are objects or all of them strings in quotes, a JSON list if it begins as one of strings or
    objects does, else one text a line. What other tools write is known by its fields (see `formats.FORMATS`).

    Args:
        path: of the file.
        text_field: the field or column of the texts, also a dotted path such as "doc.story".
        side: "reference" or "prediction", where a file holds human texts and a model's.
        filter: the one whose rows are read, where lm-evaluation-harness wrote several; of a log of Inspect, the epoch.

    Returns:
        The texts.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not what its name says, with the line.
    """
    if side is not None and not (isinstance(side, str) and side in get_args(Role)):
        raise ValueError(f"side must be 'reference', 'prediction' or None, got {shown(side)}")
    file = TextFile(path, text_field, filter=filter)
    if side is None and file.holds_both:
        said = file.says("reference", "prediction")
        raise NoSuchField(
            f"{said}: say which are meant with side='reference' or 'prediction', or name their field with text_field "
            "(--text-field)"
        )
    return file.side(side or "prediction").texts


class SideTexts(NamedTuple):
    """The texts of one side of a file.

    field: of the texts, and origin: what the signature says of them; None where nothing was recognised or chosen.
    where: the place of each. keys: what each row is matched by, and documents: what must be equal then; None where the
    format has none. groups: the prompt of each, by the field that was named for it; None where none was.
    prompts: the values of the field of `PROMPT_FIELDS` that the file has, whose name is `prompt_field`; None without.
    labels: the values of the field that was asked for, such as a topic; None where the file does not have it.
    """

    texts: list[str]
    field: str | None = None
    origin: str | None = None
    where: Sequence[str] | None = None
    keys: Sequence[Hashable] | None = None
    documents: Sequence[Hashable] | None = None
    groups: Sequence[Hashable] | None = None
    prompts: Sequence[Hashable] | None = None
    prompt_field: str | None = None
    labels: Sequence[Hashable] | None = None

    def check_filled(self) -> None:
        """`ValueError` for texts of nothing but white space, with the place of the first."""
        empty = [number for number, text in enumerate(self.texts) if not text.strip()]
        if empty and self.where is not None:
            raise EmptyTexts(
                f"{self.where[empty[0]]}: the text in {self.field!r} is empty, as are {len(empty)} of {len(self.texts)}"
                " in all; a model that says nothing is a finding: pass empty_texts='drop' to score the others"
            )


class TextFile:
    """A file of texts, or of another tool's records, that is read once and can be given wherever texts are.

    Attributes:
        name: what errors call it.
        format: what was recognised; None for plain texts and tables.
        group: the filter, or epoch, whose rows are read; None where there is none.
    """

    def __init__(
        self,
        path: str | Path,
        text_field: str | None = None,
        *,
        reference_field: str | None = None,
        prediction_field: str | None = None,
        filter: str | None = None,
        prompt_field: str | None = None,
    ) -> None:
        """Read a file like `read_texts`.

        Args:
            path: of the file, `-` for standard input.
            text_field, filter: see `read_texts`.
            reference_field, prediction_field: the field of the human texts and of the model's.
            prompt_field: the field of the prompt of each row, or of anything else that is equal in rows whose texts are
                not independent, such as the number of a document. A file of human texts alone may lack it.

        Raises:
            FileNotFoundError, ValueError, TypeError, ImportError: it cannot be read.
        """
        if not isinstance(path, (str, Path)):
            raise TypeError(f"path must be the name of a file or folder, got {type(path).__name__}: {shown(path)}")
        self._own: dict[Role, str | None] = {"reference": reference_field, "prediction": prediction_field}
        self._text_field, self._prompt_field = text_field, prompt_field
        given = {"text_field": text_field, **{f"{side}_field": field for side, field in self._own.items()}}
        for name, value in (given | {"filter": filter, "prompt_field": prompt_field}).items():
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} must be a text, got {shown(value)}")
        self.format: Format | None = None
        self.group: str | None = None
        self._records: list[Record] | None = None
        if str(path) == "":
            raise ValueError("a file must have a name, got ''")
        self._path = Path(path)
        if str(path) == "-":
            self.name, self._records = "standard input", _standard_input()
        else:
            self._path = _file_in(self._path) if os.path.isdir(path) else self._path
            self.name = str(self._path)
            self._read()
        self._recognise(any(given.values()), filter)

    def _read(self) -> None:
        path, suffix = self._path, self._path.suffix.lower()
        if os.path.isdir(path):
            return
        check_file(path)
        if suffix not in READERS:
            known = ", ".join(READERS)
            packed = f" ({suffix} is compressed: unpack it first)" if suffix in COMPRESSED else ""
            raise UnknownEnding(
                f"{path} has an unknown ending {path.suffix!r}{packed}: expected {known}, a folder of .txt files, "
                f"or {' or '.join(FEATURE_FILES)} for features"
            )
        values = read_json(path) if suffix == ".json" else None
        if suffix == ".eval" or (isinstance(values, dict) and {"version", "status", "eval"} <= set(values)):
            self.format, self._records = INSPECT, inspect_records(path)
        elif suffix == ".json":
            self._records = json_entries(values, self.name)
        elif suffix == ".jsonl":
            self._records = json_lines(lines_of(decode(read_bytes(path), self.name)), self.name)

    def _recognise(self, named: bool, filter: str | None) -> None:
        """Detect the format, and keep the rows of one filter."""
        if self._records == []:
            raise NoTextsError(f"{self.name} holds no texts")
        try:
            self.format = self.format or (format_of(self._records[0]) if self._records else None)
        except ValueError:
            if not named:
                raise
        field = None if self.format is None else self.format.group
        if self._records is None or field is None or not has_field(self._records[0], field):
            if filter is not None:
                raise NoSuchField(f"{self.name} has no field that filter={filter!r} could choose from")
            return
        groups = [str(value_at(record, field)) for record in self._records]
        found = list(dict.fromkeys(groups))
        listed = ", ".join(map(repr, found))
        if filter is None and len(found) > 1:
            raise SeveralTexts(
                f"{self.name} holds {len(found)} runs over the same documents, of {field} {listed}: choose one with "
                f"filter, such as --filter {found[0]}"
            )
        if filter is not None and filter not in found:
            raise ValueError(f"{self.name} has no row of {field} {filter!r}; it has {listed}")
        self.group = found[0] if filter is None else filter
        self._records = [record for record, group in zip(self._records, groups, strict=True) if group == self.group]

    def column(self, side: Role) -> Column | None:
        """Location of the texts of one side, or of the file's only side; None for plain texts."""
        both = (None, None) if self.format is None else (self.format.prediction, self.format.reference)
        known = [column for column in both if column is not None]
        field = self._own[side] or self._text_field
        if field is None:
            return known[-1 if side == "reference" else 0] if known else None
        chosen = Column(field, text_at if self._own[side] else plain_text)
        return next((column for column in known if column.field == field), chosen)

    @property
    def has_two_fields(self) -> bool:
        """Return whether human texts and a model's are in different fields."""
        human, model = self.column("reference"), self.column("prediction")
        return human is not None and model is not None and human.field != model.field

    @property
    def holds_both(self) -> bool:
        """Return whether the file has human texts and a model's side by side."""
        columns = (self.column("reference"), self.column("prediction"))
        return self.has_two_fields and all(column is not None and self._has(column.field) for column in columns)

    def says(self, *sides: Role) -> str:
        """Describe the recognised format in words; '' for plain texts and tables of one column."""
        columns = {side: column for side in sides if (column := self.column(side)) is not None}
        if not columns or (self.format is None and not any(self._own.values())):
            return ""
        title = "records" if self.format is None else self.format.title
        group = "" if self.group is None or self.format is None else f" ({self.format.group} {self.group!r})"
        whose: dict[Role, str] = {"reference": "human texts", "prediction": "the model's texts"}
        fields = " and ".join(f"{whose[side]} in {column.field!r}" for side, column in columns.items())
        return f"{self.name}: {title}{group}, {fields}"

    def side(self, side: Role, by: str | None = None) -> SideTexts:
        """The texts of one side. by: the field of its labels.

        Raises:
            ValueError: a record is not what the first one is, with its line and the field.
        """
        found, field = self._texts_of(side), self._prompt_field
        if by is not None and (self._has(by) or any(has_field(record, by) for record in self._records or ())):
            found = found._replace(labels=self._values(by))
        if field is not None and (side == "prediction" or self._has(field)):  # which human texts alone may lack
            if self._records is None and not self._columns:
                raise ValueError(f"{self.name} holds lines of text and no field {field!r}: expected a file with fields")
            return found._replace(groups=self._values(field))
        texts = {self._text_field, *self._own.values()}
        likely = next((field for field in PROMPT_FIELDS if field not in texts and self._has(field)), None)
        if likely is not None:
            with contextlib.suppress(ValueError):  # rows without a value
                found = found._replace(prompts=self._values(likely), prompt_field=likely)
        return found

    def _texts_of(self, side: Role) -> SideTexts:
        """The texts of one side, without their prompts."""
        column, records = self.column(side), self._records
        if records is None:
            texts = (
                [decode(read_bytes(file), str(file)) for file in _text_files(self._path)]
                if self._path.is_dir()
                else TABLES[self._path.suffix.lower()](self._path, None if column is None else column.field)
            )
            if not texts:
                raise NoTextsError(f"{self._path} holds no texts")
            return SideTexts(texts)
        if column is None or (self.format is None and not self._own[side]):
            field = None if column is None else column.field
            return SideTexts([plain_text(record, field) for record in records])
        texts = [column.read(record, column.field) for record in records]
        name = "records" if self.format is None else self.format.name
        group = "" if self.group is None or side == "reference" else f"/{self.group}"
        origin, where = f"{name}/{column.field}{group}", [record.where for record in records]
        return SideTexts(texts, column.field, origin, where, *_keys(records, self.format))

    @functools.cached_property
    def _columns(self) -> list[str]:
        """The names of a table's columns; none for lines of text and folders, and where it cannot be read."""
        suffix = self._path.suffix.lower()
        if self._path.is_dir() or suffix == ".txt":
            return []
        with contextlib.suppress(OSError, ValueError):
            if suffix != ".parquet":
                return read_table(self._path)[0]
            import pyarrow.parquet

            return list(pyarrow.parquet.read_schema(self._path).names)
        return []

    def first_rows(self, most: int) -> list[Mapping[str, object]]:
        """The first rows of a table, or records, as their fields; none of lines and lists of texts."""
        if self._records is None:
            if self._path.suffix.lower() not in (".csv", ".tsv"):
                return []
            columns, rows = read_table(self._path)
            return [values for _, values in rows[:most]] or [dict.fromkeys(columns, "")]
        return [record.value for record in self._records[:most] if isinstance(record.value, Mapping)]

    def _has(self, field: str) -> bool:
        """Return whether the first record, or the table, has a field."""
        return has_field(self._records[0], field) if self._records else field in self._columns

    def _values(self, field: str) -> list[Hashable]:
        """The values of a field, one a row."""
        if self._records is None:
            return list(TABLES[self._path.suffix.lower()](self._path, field))
        return _field_values(self._records, field)


def _field_values(records: Sequence[Record], field: str) -> list[Hashable]:
    """The values of a field, one a record; as JSON where they are lists or objects."""
    values = [value_at(record, field) for record in records]
    return [value if isinstance(value, Hashable) else json.dumps(value, sort_keys=True) for value in values]


def _keys(records: Sequence[Record], known: Format | None) -> tuple[list[Hashable] | None, list[Hashable] | None]:
    """Keys that match rows, and values that must then be equal; None where the format has none."""
    if known is None or known.key is None or not has_field(records[0], known.key):
        return None, None
    keys = _field_values(records, known.key)
    seen: dict[Hashable, Record] = {}
    for key, record in zip(keys, records, strict=True) if known.unique else ():
        if key in seen:
            raise ValueError(
                f"{record.where}: {known.key!r} {key!r} occurs already at {seen[key].where}: expected one row a "
                "document"
            )
        seen[key] = record
    has_document = known.document is not None and has_field(records[0], known.document)
    return keys, _field_values(records, str(known.document)) if has_document else None


def examples_folder() -> Path:
    """Folder of the example texts: in the package when it was installed, beside it in a checkout."""
    here = Path(__file__).resolve().parent.parent
    for folder in (here / "examples", here.parent / "examples"):
        if (folder / "human.jsonl").is_file():
            return folder
    raise FileNotFoundError("the example texts are not there: install the package, or run from a checkout")


def _text_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix.lower() == ".txt" and file.is_file())


def _file_in(folder: Path) -> Path:
    """The one file in a folder that another tool wrote; the folder itself where its .txt files are the texts.

    Raises:
        ValueError: there is nothing to read, or more than one thing.
    """
    texts, known = _text_files(folder), [file for file in sorted(folder.iterdir()) if _is_recognised(file)]
    if texts and not known:
        return folder
    if not known:
        raise UnknownEnding(f"the folder {folder} holds no .txt files, and no file of a tool that is known")
    if len(known) > 1 or texts:
        names = ", ".join(repr(file.name) for file in known) + (f" and {len(texts)} .txt files" if texts else "")
        raise ValueError(f"the folder {folder} holds {names}: expected one of them, give its own name")
    return known[0]


def _is_recognised(file: Path) -> bool:
    """Return whether a file in a folder is a log, or JSON lines of a known format, by its first line."""
    suffix = file.suffix.lower()
    if suffix == ".eval" or suffix != ".jsonl" or not file.is_file():
        return suffix == ".eval"
    with file.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"")
    try:
        record = Record(json.loads(first.decode("utf-8-sig")), str(file))
        return format_of(record) is not None
    except (ValueError, RecursionError):  # it may be one of several formats, or is damaged: reading it raises the error
        return True


def _standard_input() -> list[Record]:
    if sys.stdin is None:
        raise ValueError("standard input is closed: expected texts there")
    name = "standard input"
    content = decode(sys.stdin.buffer.read(), name)
    lines = lines_of(content)
    filled, strings = [line.strip() for line in lines if line.strip()], False
    with contextlib.suppress(json.JSONDecodeError):  # a dialogue's lines only begin and end like a string
        strings = bool(filled) and all(line.startswith('"') and isinstance(json.loads(line), str) for line in filled)
    if content.lstrip().startswith("{") or (not _LIST.match(content) and strings):
        return json_lines(lines, name)
    if _LIST.match(content):
        return json_entries(loaded(content, name), name)
    return [Record(line, f"{name}, line {number}") for number, line in enumerate(lines, 1)]
