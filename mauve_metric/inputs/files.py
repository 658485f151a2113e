"""Files and folders of texts, read and checked: plain ones, and those that other tools write."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, get_args

from mauve_metric.inputs.bytes_and_encodings import check_content, decode, inner_suffix, read_bytes, unpacked
from mauve_metric.inputs.fields import LOOKED_AT, Choice, Field, Role, choose, no_such_field, text_fields
from mauve_metric.inputs.file_types import (
    ReadOptions,
    RecordSource,
    files_in,
    named_endings,
    read_endings,
    split_of,
    type_of,
    type_with_reader,
)
from mauve_metric.inputs.json_rows import json_rows, unfolded
from mauve_metric.inputs.records import (
    Kinds,
    Record,
    Rows,
    candidates,
    has_field,
    kinds_of,
    lines_of,
    rows_where,
    split_field,
    split_where,
    value_at,
)
from mauve_metric.inputs.sources import NoTextsError
from mauve_metric.inputs.tables import (
    csv_rows,
    dataset_rows,
    saved_dataset,
    table_in_lines,
)
from mauve_metric.inputs.tool_formats import (
    INSPECT,
    Format,
    chat_template,
    failure_of,
    format_of,
    harness_target,
    inspect_rows,
    last_turn,
    text_or_reason,
)
from mauve_metric.runtime.checks import check_bool, check_count, check_file, shown, wrong
from mauve_metric.runtime.errors import EmptyTexts, NoSuchField, NotTexts, UnknownEnding
from mauve_metric.runtime.plain_text import counted, is_blank

logger = logging.getLogger(__name__)

FEATURE_FILES = (".npy", ".npz")  # of numbers, where a file of texts could also be meant
# Fields that name what a text answers: texts with equal values in them are not independent of each other.
PROMPT_FIELDS = ("prompt", "prompt_id", "question_id", "doc_id", "document_id", "key")


def read_texts(
    path: str | Path,
    text_field: str | None = None,
    *,
    side: Role | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> list[str]:
    """The texts of a file or folder, in order; what was read is logged.

    `.txt`: one text a line; `.jsonl`: one string or object a line; `.json`: a list of them, or an object that holds one
    (see `unfolded`); `.csv` (with commas, semicolons, tabs or bars) and `.tsv`; `.parquet`; `.xlsx`; `.eval`: a log of
    Inspect; a folder: each `.txt` file in it is a text, by name, or it holds shards, a saved dataset or the one file
    that another tool wrote; `-`: standard input. Any of them may be packed by gzip. Where the content says more than
    the ending, such as JSON lines in a `.txt`, the content counts. `FILE:FIELD` names the field with the file, and
    `FILE:FIELD[column=value]` the rows that are read; `[column=*]` reads all.

    Args:
        path: of the file.
        text_field: the field or column of the texts, also a dotted path such as "doc.story"; None: see `choose`.
        side: "reference" or "prediction", where a file holds human texts and a model's; "prompt" for what they answer.
        encoding: of a file that is not UTF-8.
        header: whether the first line of a table has the names of its columns; None: by its cells.

    Returns:
        The texts.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not what its name says, with the line; or several fields may hold the texts.
    """
    if side is not None and not (isinstance(side, str) and side in get_args(Role)):
        raise ValueError(f"side must be 'reference', 'prediction', 'prompt' or None, got {shown(side)}")
    file = TextFile(path, text_field, encoding=encoding, header=header)
    if side is None and file.holds_both:
        raise NoSuchField(
            f"{file.name}: {file.title}, human texts in {file.field('reference')!r} and the model's texts in "
            f"{file.field('prediction')!r}: say which are meant with side='reference' or 'prediction', or name their "
            "field with text_field (--text-field)"
        )
    side_texts = file.side(side or "prediction")
    logger.info("%s", side_texts.said)
    if side_texts.empty not in (None, "is empty"):
        logger.warning("%s", side_texts.empty_problem)
    return side_texts.texts


class SideTexts(NamedTuple):
    """The texts of one side of a file.

    field: of the texts, and origin: what the signature says of them; None where nothing was recognised or chosen.
    said: what was read, for people. where: the place of each. empty: words for the first empty text, None without one.
    keys: what each row is matched by, and documents: what must be equal then; None where the format has none.
    groups: the prompt of each, by the field that was named for it; None where none was.
    prompts: the values of the field of `PROMPT_FIELDS` that the file has, whose name is `prompt_field`; None without.
    labels: the values of the field that was asked for, such as a topic; None where the file does not have it.
    """

    texts: list[str]
    field: str | None = None
    origin: str | None = None
    said: str = ""
    where: Sequence[str] | None = None
    empty: str | None = None
    keys: Sequence[Hashable] | None = None
    documents: Sequence[Hashable] | None = None
    groups: Sequence[Hashable] | None = None
    prompts: Sequence[Hashable] | None = None
    prompt_field: str | None = None
    labels: Sequence[Hashable] | None = None

    @property
    def empty_problem(self) -> str | None:
        """Words for texts of nothing but white space, with the place of the first and their number; None without."""
        empty = [] if self.where is None else [row for row, text in enumerate(self.texts) if is_blank(text)]
        if self.where is None or not empty:
            return None
        problem = f"{self.empty or 'is empty'} ({len(empty)} of {len(self.texts)} in all)"
        if self.field is None:
            return (
                f"{self.where[empty[0]]} {problem}: a .txt file holds one text a line, and texts of several lines "
                "need .jsonl or a folder with a .txt file for each; empty_texts='drop' leaves missing texts out"
            )
        why = "a model that says nothing is a finding: " if self.empty in (None, "is empty") else ""
        cure = f"{why}pass empty_texts='drop' to score the others"
        return f"{self.where[empty[0]]}: the text in {self.field!r} {problem}; {cure}"

    def check_filled(self) -> None:
        """`EmptyTexts` for texts of nothing but white space, with the place of the first."""
        if (problem := self.empty_problem) is not None:
            raise EmptyTexts(problem)


class TextFile:
    """A file of texts, or of another tool's records, that is read once and can be given wherever texts are.

    Attributes:
        name: what errors call it.
        format: the format of a tool that was recognised; None for others.
        where: the values of columns whose rows are read, such as the filter of lm-evaluation-harness.
        encoding: for a file that is not UTF-8; None where none was named.
    """

    def __init__(
        self,
        path: str | Path,
        text_field: str | None = None,
        *,
        reference_field: str | None = None,
        prediction_field: str | None = None,
        prompt_field: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
        most_bytes: int | None = None,
    ) -> None:
        """Read a file like `read_texts`.

        Args:
            path: of the file, `-` for standard input; `FILE:FIELD[column=value]` also names the field of its texts, and
                the rows that are read.
            text_field, encoding: see `read_texts`.
            reference_field, prediction_field: the field of the human texts and of the model's.
            prompt_field: the field of the prompt of each row, or of anything else that is equal in rows whose texts are
                not independent, such as the number of a document. A file of human texts alone may lack it.
            header: whether the first line of a table has the names of its columns; None: by its cells.
            most_bytes: that a packed file may have unpacked; None: any number.

        Raises:
            FileNotFoundError, ValueError, TypeError, ImportError: it cannot be read.
        """
        if not isinstance(path, (str, Path)):
            raise TypeError(f"path must be the name of a file or folder, got {type(path).__name__}: {shown(path)}")
        fields = {"text_field": text_field, "reference_field": reference_field, "prediction_field": prediction_field}
        for name, value in (fields | {"prompt_field": prompt_field, "encoding": encoding}).items():
            if value is not None and (not isinstance(value, str) or not value):
                raise wrong(name, "a text with something in it", value)
        if most_bytes is not None:
            check_count("most_bytes", most_bytes)
        if str(path) == "":
            raise ValueError("a file must have a name, got ''")
        name, beside = split_field(str(path))
        field, self.where = split_where(beside or text_field or "")
        side_fields: dict[Role, str | None] = {"reference": reference_field, "prediction": prediction_field}
        self._side_fields = dict.fromkeys(side_fields, field) if beside and field else side_fields
        self._text_field, self._prompt_field = field or (split_where(text_field or "")[0] or None), prompt_field
        self.encoding, self._most = encoding, most_bytes
        self._header = None if header is None else bool(check_bool("header", header))
        self.format: Format | None = None
        self._choices: dict[Role, Choice] = {}
        self._lines: list[str] = []
        self._by_files: set[str] = set()  # columns of `where` that the names of the files have
        self._path, self.name = Path(name), name
        self._unit = "line"
        self._source = self._open(Path(name))
        sample = None if self._source is None else self._source.sample
        if sample is not None and not len(sample):
            raise NoTextsError(f"{self.name} holds no texts")
        if self.format is None and sample:
            self._choices["prediction"] = choose(sample)
            self.format = self._choices["prediction"].tool_format
        if self.format is not None and self.format.lacks and not (field or any(fields.values())):
            raise NotTexts(f"{self.name} holds {self.format.lacks}")

    @property
    def _path_to_name(self) -> str | None:
        """The path behind which an error names a field; None where `text_field` names that of all files."""
        return str(self._path)

    def _open(self, path: Path) -> RecordSource | None:
        """The records of a file; None for lines of text, which are kept."""
        if str(path) == "-":
            self.name = "standard input"
            return self._of_bytes(unpacked(_standard_input(), self.name, self._most), "")
        if os.path.isdir(path):
            return self._of_folder(path)
        self.name = str(path)
        check_file(path)
        suffix = path.suffix.lower()
        if suffix not in read_endings():
            with contextlib.suppress(OSError):
                check_content(path)
            expected = f"{', '.join(named_endings())} or a folder of .txt files"
            if suffix in FEATURE_FILES:
                raise UnknownEnding(f"{path} holds features, and texts are needed here: {expected}")
            expected += f"; features are in {' or '.join(FEATURE_FILES)}"
            raise UnknownEnding(f"{path} has an unknown ending {path.suffix!r}: expected {expected}")
        if (kind := type_with_reader(path)) is not None and kind.read is not None:
            sheet = None
            if kind.has_sheets:
                sheet = next((name.partition("!")[0] for name in self._named if "!" in name), None)
                self._rename(lambda field: field.rpartition("!")[2] or None)
            source = kind.read(path, ReadOptions(self._most, sheet, self._header))
            self.format = source.tool
            return source
        check_content(path)
        return self._of_bytes(read_bytes(path, self._most), inner_suffix(path))

    @property
    def has_declared_prompts(self) -> bool:
        """Return whether a field of prompts was named."""
        return self._prompt_field is not None

    @property
    def _named(self) -> list[str]:
        """The fields that were named."""
        return [field for field in (self._text_field, *self._side_fields.values()) if field is not None]

    def _rename(self, name: Callable[[str], str | None]) -> None:
        """Replace the fields that were named."""
        self._side_fields = {side: field and name(field) for side, field in self._side_fields.items()}
        self._text_field = self._text_field and name(self._text_field)

    def _of_bytes(self, raw: bytes, suffix: str) -> RecordSource | None:
        """The records of a content; its ending says how it is read where the content itself does not."""
        content = decode(raw, self.name, self.encoding)
        rows, expected = None, "text" if (kind := type_of(suffix)) is None else kind.content
        if expected not in ("commas", "tabs") or content.lstrip()[:2] in ('{"', "[{"):
            rows = json_rows(content, self.name, expected)
        if rows is not None and rows.unit == "line" and len(rows) == 1:
            value = rows.values[0]
            if expected == "value" and {"version", "status", "eval"} <= set(value):
                self.format = INSPECT
                return RecordSource.of(inspect_rows(self._path))
            if (expected == "value" or "\n" in content.strip()) and not _is_record(rows[0]):
                rows = unfolded(rows, next(iter(self._named), None))
                self._rename(partial(_inside, rows))
        if rows is None and expected in ("commas", "tabs"):
            rows = csv_rows(content, self.name, tabs=expected == "tabs", header=self._header)
        if rows is None:
            rows = table_in_lines(content, self.name, self._header)
        if rows is not None:
            return RecordSource.of(rows)
        self._lines = lines_of(content)
        return None

    def _of_folder(self, folder: Path) -> RecordSource | None:
        """The records of a folder: a saved dataset, shards, the file of a tool; None where each file is a text."""
        names = {file.name for file in folder.iterdir()}
        if "dataset_dict.json" in names or {"dataset_info.json", "state.json"} <= names:
            data = saved_dataset(folder)
            return RecordSource(dataset_rows(self.name, data, most=LOOKED_AT), partial(dataset_rows, self.name, data))
        files = files_in(folder, self.where.get("split"))
        self._by_files = {"split"} if all(map(split_of, files)) else set()
        if files[0].suffix.lower() == ".txt":
            self._unit = "file"
            self._lines = [decode(read_bytes(file, self._most), str(file), self.encoding) for file in files]
            return None
        if len(files) == 1:
            self._path = files[0]
            return self._open(files[0])
        sources = [source for file in files if (source := self._open(file)) is not None]
        self.name = str(folder)
        first = _keys_of(sources[0].sample)
        other = next((source for source in sources if _keys_of(source.sample) != first), None)
        if other is not None or len(sources) < len(files):
            named = sources[0].sample.name if other is None else other.sample.name
            raise NotTexts(f"the folder {folder} holds files with other fields, first {named}: give its own name")
        return RecordSource(sources[0].sample, partial(_of_shards, str(folder), sources))

    def _rows(self, *fields: str | None) -> Rows:
        """All records with the values of `where`, and with these fields at least."""
        if self._source is None:
            if self.where:
                raise NoSuchField(f"{self.name} holds lines of text and no field {next(iter(self.where))!r}")
            return Rows(self.name, self._lines, "line", range(1, len(self._lines) + 1))
        tool = self.format
        needed = [*fields, *self.where, *((tool.key, tool.document, tool.group) if tool is not None else ())]
        rows = self._source.load([field for field in needed if field is not None])
        if not self.where:
            return rows
        return rows_where(rows, {name: value for name, value in self.where.items() if name not in self._by_files})

    def kinds(self) -> list[Kinds]:
        """The kinds of texts that the file holds, by each column that parts them and is not in `where`."""
        if self._source is None:
            return []
        group = None if self.format is None else self.format.group
        texts = {self._text_field, *self._side_fields.values(), self._prompt_field}
        names = dict.fromkeys([group, *candidates(self._source.sample)])
        columns = [name for name in names if name is not None and name not in {*self.where, *texts}]
        if not columns:
            return []
        rows = self._rows(*columns)
        return [kinds for name in columns if (kinds := kinds_of(rows, name, name == group)) is not None]

    @property
    def group(self) -> str | None:
        """The value of the column by which the format parts its rows, such as the filter; None without one."""
        field = None if self.format is None else self.format.group
        if field is None or self._source is None or not has_field(self._source.sample[0], field):
            return None
        return self.where.get(field) or str(value_at(self._source.sample[0], field))

    @cached_property
    def fields(self) -> list[Field]:
        """The fields of texts, with their first values; none for lines and lists of texts."""
        return [] if self._source is None else text_fields(self._source.sample)

    def text_columns(self, most: int) -> list[list[object]]:
        """The values of each field that holds text in the first record, in which there may be prompts."""
        if not self.fields:
            return []
        rows = self._rows(*[field.path for field in self.fields]).values[:most]
        records = [value for value in rows if isinstance(value, Mapping)]
        names = [name for name, value in records[0].items() if isinstance(value, str)] if records else []
        return [[record.get(name) for record in records] for name in names]

    def choice(self, side: Role, taken: Collection[str | None] = ()) -> Choice:
        """The field of one side's texts: the one that was named, else see `choose`. taken: those of the other side."""
        field = self._side_fields.get(side) or self._text_field
        if self._source is None or not isinstance(self._source.sample[0].value, (Mapping, list)):
            if self._side_fields.get(side) is not None:
                raise NoSuchField(
                    f"{self.name} holds {'lines' if self._source is None else 'texts'} and no field {field!r}"
                )
            return Choice(None)
        tool = self.format
        if field is not None:
            return Choice(field, tool if tool is not None and field in (tool.prediction, tool.reference) else None)
        if tool is INSPECT:
            return Choice(tool.reference if side == "reference" else tool.prediction, tool)
        if taken:
            return choose(self._source.sample, side, taken)
        if side not in self._choices:
            self._choices[side] = choose(self._source.sample, side)
        return self._choices[side]

    def checked_field(self, side: Role) -> str | None:
        """The field of the texts of one side; None for plain texts.

        Raises:
            ValueError: no field is surely the text.
        """
        choice = self.choice(side)
        if choice.doubt:
            holds = "holds " if self.format is not None else ""
            raise NoSuchField(f"{self.name} {holds}{choice.problem(self._path_to_name)}")
        return choice.path

    def field(self, side: Role) -> str | None:
        """The field of the texts of one side, or of the file's only side; None for plain texts."""
        return self.choice(side).path

    @property
    def title(self) -> str:
        """The format in words."""
        group = "" if self.group is None or self.format is None else f" ({self.format.group} {self.group!r})"
        return f"{'records' if self.format is None else self.format.title}{group}"

    @property
    def has_two_fields(self) -> bool:
        """Return whether human texts and a model's are in different fields, by their names or by the format."""
        if self._source is None or not isinstance(self._source.sample[0].value, Mapping):
            return False
        human, model = self.choice("reference"), self.choice("prediction")
        if human.path is None or model.path is None or human.path == model.path:
            return False
        named = {side: self._side_fields[side] is not None for side in self._side_fields}
        if self._text_field is not None and not all(named.values()):
            return False
        return (
            (named["reference"] or human.role in ("human", "reference"))
            and (named["prediction"] or model.role == "prediction")
        ) or human.tool_format is INSPECT

    @property
    def holds_both(self) -> bool:
        """Return whether the file has human texts and a model's side by side."""
        return self.has_two_fields and all(self._has(str(self.field(side))) for side in self._side_fields)

    def side(self, side: Role, by: str | None = None) -> SideTexts:
        """The texts of one side. by: the field of its labels.

        Raises:
            ValueError: a record is not what the first one is, with its line and the field.
        """
        side_texts, field = self._texts_of(side), self._prompt_field
        if by is not None and self._has(by, everywhere=True):
            side_texts = side_texts._replace(labels=_field_values(self._rows(by), by))
        if field is not None and (side == "prediction" or self._has(field)):  # which human texts alone may lack
            if not self.fields:
                raise ValueError(f"{self.name} holds lines of text and no field {field!r}: expected a file with fields")
            return side_texts._replace(groups=_field_values(self._rows(field), field))
        likely, prompts = self.likely_prompts(side)
        return side_texts._replace(prompts=prompts, prompt_field=likely)

    def likely_prompts(self, side: Role) -> tuple[str | None, list[Hashable] | None]:
        """The field of the prompts of one side, if none is declared, and its values; None for both without one."""
        texts = {self._text_field, *self._side_fields.values(), self.checked_field(side)}
        of_format = None if self.format is None else self.format.prompt
        likely = next(
            (field for field in (*PROMPT_FIELDS, of_format) if field and field not in texts and self._has(field)), None
        )
        if likely is not None:
            with contextlib.suppress(ValueError):  # rows without a value
                return likely, _field_values(self._rows(likely), likely)
        return None, None

    def _texts_of(self, side: Role) -> SideTexts:
        """The texts of one side, without their prompts."""
        field, kinds = self.checked_field(side), [] if side == "prompt" else self.kinds()
        for kind in kinds:
            if kind.is_sure and kind.column != field:
                is_plain = self._source is None or self.format is not None
                raise kind.problem(str(self._path), None if is_plain else field, self._path_to_name)
        rows = self._rows(field, *[kind.column for kind in kinds])
        if not len(rows):
            raise NoTextsError(f"{self.name} holds no texts")
        self._check_field(field, rows)
        is_harness = self.format is not None and self.format.name == "lm_eval" and field == "target"
        texts: list[str] = []
        reasons: list[str | None] = []
        for record in rows:
            text, reason = text_or_reason(record, field, side)
            texts.append(harness_target(text, record) if is_harness else text)
            reasons.append(reason)
        template = chat_template(texts[:LOOKED_AT])
        if template is not None:
            texts = [text if (turn := last_turn(text)) is None else turn[1] for text in texts]
        empty = next((why or "is empty" for text, why in zip(texts, reasons, strict=True) if is_blank(text)), None)
        origin = self._origin(side, field, template)
        side_texts = SideTexts(texts, field, origin, self._said(len(texts), self.choice(side), kinds, template))
        if self.format is None and origin is None and empty is None:
            return side_texts
        keys, documents = _keys(rows, self.format)
        where = [record.where for record in rows]
        return side_texts._replace(where=where, empty=empty, keys=keys, documents=documents)

    def _check_field(self, field: str | None, rows: Rows) -> None:
        """`ValueError` for a field that the file does not have, or has twice."""
        if field is not None and rows.columns.count(field) > 1:
            raise ValueError(
                f"{self.name} has {rows.columns.count(field)} fields {field!r}: expected one, rename the others"
            )
        if field is None or "." in field:
            return
        first = next((row for row in rows if failure_of(row.value) is None), rows[0])
        if not has_field(first, field):
            raise no_such_field(
                first.where if not rows.columns else self.name,
                [first] if self._source is None else self._source.sample,
                field,
                self._path_to_name,
            )

    def _origin(self, side: Role, field: str | None, template: str | None) -> str | None:
        """The entry of the signature; None where nothing was recognised or chosen."""
        named = self._side_fields.get(side) is not None
        chosen_here = field is not None and self._text_field is None and len(self.fields) > 1 and field != "text"
        if self.format is None and template is None and not (named or chosen_here or self.where):
            return None
        name = "records" if self.format is None else self.format.name
        parts = [name, *([field] if field is not None else [])]
        if self.group is not None and side != "reference":
            parts.append(self.group)
        group = None if self.format is None else self.format.group
        others = "".join(f"[{column}={value}]" for column, value in self.where.items() if column != group)
        return "/".join([*parts, *(["last_turn"] if template is not None else [])]) + others

    def _said(self, number: int, choice: Choice, kinds: Sequence[Kinds], template: str | None) -> str:
        """The line that tells people of the texts, their field, and what else was recognised."""
        said = f"{self.name}: {counted(number, 'text')}"
        said += f", one a {self._unit}" if self._source is None else ""
        said += "" if choice.path is None else f" from `{choice.path}`"
        for column, value in self.where.items():
            said += f"[{column}={value}]"
        said += "" if choice.tool_format is None else f" ({self.title})"
        columns = [] if self._source is None else list(self._source.sample.columns)
        if columns and columns == list(map(str, range(1, len(columns) + 1))):
            said += ", a column by its number as there is no line of names (--header: the first line has them)"
        said += "" if template is None else f", the last turn of each conversation ({template})"
        for kind in kinds:
            said += f"; {kind.column!r} is {kind.listed}: [{kind.column}=…] reads one kind"
        return said

    def _has(self, field: str, everywhere: bool = False) -> bool:
        """Return whether the first record, or the table, has a field. everywhere: or any other record."""
        if self._source is None:
            return False
        if has_field(self._source.sample[0], field):
            return True
        return everywhere and any(has_field(record, field) for record in self._rows(field))


def _of_shards(folder: str, sources: Sequence[RecordSource], fields: Collection[str]) -> Rows:
    """The records of all files of a folder, one after the other."""
    parts = [source.load(fields) for source in sources]
    values = [value for part in parts for value in part.values]
    places = [f"{Path(part.name).name}, {part.unit} {row}" for part in parts for row in part.places]
    return Rows(folder, values, "file", places, parts[0].columns)


def _inside(rows: Rows, field: str) -> str:
    """A field without the path of the list that holds the records."""
    path = rows.name.rpartition(", '")[2].rstrip("'")
    return field.removeprefix(f"{path}.")


def _is_record(record: Record) -> bool:
    """Return whether an object is one record of a known format, and no columns of many."""
    tool = format_of(record)
    if tool is None:
        return False
    values = [value_at(record, path) for path in tool.needs]
    return not any(isinstance(value, list) and all(isinstance(entry, str) for entry in value) for value in values)


def _keys_of(sample: Rows) -> set[str]:
    return set(sample[0].value) if len(sample) and isinstance(sample[0].value, Mapping) else set()


def _field_values(records: Rows, field: str) -> list[Hashable]:
    """The values of a field, one a record; as JSON where they are lists or objects."""
    return [
        value if isinstance(value := value_at(record, field), Hashable) else json.dumps(value, sort_keys=True)
        for record in records
    ]


def _keys(records: Rows, tool: Format | None) -> tuple[list[Hashable] | None, list[Hashable] | None]:
    """Keys that match rows, and values that must then be equal; None where the format has none."""
    if tool is None or tool.key is None or not has_field(records[0], tool.key):
        return None, None
    keys = _field_values(records, tool.key)
    seen: dict[Hashable, Record] = {}
    for key, record in zip(keys, records, strict=True) if tool.unique else ():
        if key in seen:
            raise ValueError(
                f"{record.where}: {tool.key!r} {key!r} occurs already at {seen[key].where}: expected one row a document"
            )
        seen[key] = record
    has_document = tool.document is not None and has_field(records[0], tool.document)
    return keys, _field_values(records, str(tool.document)) if has_document else None


def examples_folder() -> Path:
    """Folder of the example texts: in the package when it was installed, beside it in a checkout."""
    here = Path(__file__).resolve().parent.parent
    for folder in (here / "examples", here.parent / "examples"):
        if (folder / "human.jsonl").is_file():
            return folder
    raise FileNotFoundError("the example texts are not there: install the package, or run from a checkout")


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise ValueError("standard input is closed: expected texts there")
    return sys.stdin.buffer.read()
