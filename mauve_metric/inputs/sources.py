"""Texts in any form that a user gives: lists, columns, streams."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mauve_metric.inputs.fields import LOOKED_AT, Role, chosen_field, no_such_field
from mauve_metric.inputs.file_types import type_by_name
from mauve_metric.inputs.records import Record, Rows, candidates, kinds_of
from mauve_metric.inputs.stripping import Stripping
from mauve_metric.inputs.tool_formats import text_in
from mauve_metric.runtime.checks import is_missing_key, quoted, shown
from mauve_metric.runtime.errors import EmptyTexts, NotTexts, SeveralTexts
from mauve_metric.runtime.plain_text import counted, is_blank

logger = logging.getLogger(__name__)

_READ = "mauve_metric.read_texts gives those of a file"
_SHOWN = 5  # how many positions an error lists


class NoTextsError(EmptyTexts):
    """A side or a file that holds no text at all, or, with empty_texts="drop", none that is not empty.

    dropped: how many empty texts it holds. stripped: how many texts each rule changed before they were empty.
    """

    def __init__(self, message: str, dropped: int = 0, stripped: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.dropped, self.stripped = dropped, dict(stripped or {})


@dataclass
class TextSource:
    """Checked texts of one side: a list, or a stream that is checked while it is read.

    texts: non-empty strings. dropped: how many empty ones were left out (so far, for a stream). stripping: what was
    taken off them, None if nothing was to be.
    """

    texts: Iterable[str]
    dropped: int = 0
    stripping: Stripping | None = None


def text_source(
    name: str,
    data: Any,
    *,
    text_field: str | None = None,
    empty_texts: str = "error",
    missing: bool = False,
    stripping: Stripping | None = None,
    side: Role | None = None,
    cure: str = "pass empty_texts='drop'",
) -> TextSource:
    """Take texts in any of the usual forms.

    Args:
        name: the argument's name, for errors.
        data: a list, tuple, numpy array, pandas or polars column or frame, pyarrow array or table, `datasets.Dataset`
            or one of its columns (a list of texts is made of them), or an `IterableDataset`, generator or other
            iterator (streamed).
        text_field: the field of a `Dataset` or a frame; None: see `choose`.
        empty_texts: "error" or "drop" for empty texts, see `is_blank`; "keep" takes any number of them, none at
            all too, and makes a list of a stream.
        missing: take None, NaN and NA for empty texts, as "drop" does.
        stripping: what is taken off each text; what is empty then counts as an empty text.
        side: whose texts they are, where the field is chosen; None: the model's, and human ones of `p_text`.
        cure: what leaves out empty and missing texts, for errors; "" where nothing does.

    Raises:
        TypeError: not texts. ValueError: none at all, or empty ones with "error".
    """
    if isinstance(data, (dict, set, frozenset)) or data is None:  # a set has no order to repeat a score in
        choice = f": choose one of {quoted(list(data), most=20)}" if isinstance(data, dict) else ""
        raise NotTexts.of(name, f"must be a list of texts, got {type(data).__name__}{choice}")
    if hasattr(data, "readline"):  # its lines, with their ends, are no texts
        raise NotTexts.of(name, f"must be a list of texts, got an open file, {type(data).__name__}: give its name")
    side = side or ("reference" if name in ("p_text", "references") else "prediction")
    if not isinstance(data, (list, tuple)):
        data = _plain_column(name, data, text_field, side)
    if isinstance(data, (str, bytes)):  # a numpy array of no dimension is one text, too
        read = f"; {_READ}" if isinstance(data, str) and type_by_name(Path(data)) is not None else ""
        raise NotTexts.of(name, f"must be a list of texts, got a single {type(data).__name__}: {data[:40]!r}{read}")
    if not isinstance(data, Iterable):
        read = f": {_READ}" if isinstance(data, Path) else ""
        raise NotTexts.of(name, f"must be a list of texts, got {type(data).__name__}{read}")
    if not hasattr(data, "__len__"):  # a stream, such as the column of an IterableDataset
        data = iter(data)
    if missing or empty_texts == "drop":
        data = map(_or_empty, data) if isinstance(data, Iterator) else [*map(_or_empty, data)]
    source = TextSource((), stripping=stripping)
    cure = f", or {cure}" if cure else ""
    if isinstance(data, Iterator) and empty_texts != "keep":
        source.texts = _filled_stream(name, data, empty_texts, source, cure)
        return source
    source.texts = texts = list(_checked(name, data, stripping, cure))
    if empty_texts == "keep":
        return source
    empty = [index for index, text in enumerate(texts) if is_blank(text)]
    if empty and empty_texts == "error":
        places = ", ".join(map(str, empty[:_SHOWN])) + (", …" if len(empty) > _SHOWN else "")
        raise EmptyTexts.of(
            name,
            f"holds {counted(len(empty), 'empty or whitespace-only text')} of {len(texts)}{_after(stripping)}, at "
            f"position{'s' * (len(empty) > 1)} {places}: remove them{cure}",
        )
    if empty:
        source.texts, source.dropped = [text for text in texts if not is_blank(text)], len(empty)
    if not source.texts:
        raise NoTextsError.of(
            name,
            f"must hold at least one non-empty text, got {counted(len(texts), 'text')} of which none is",
            len(texts),
            None if stripping is None else stripping.changed,
        )
    return source


def _plain_column(name: str, data: Any, text_field: str | None, side: Role) -> Any:
    """The texts of a library's data as a list, an `IterableDataset`'s as an iterator; other data as they are."""
    if hasattr(data, "column_names") and hasattr(data, "features") and not hasattr(data, "__len__"):
        field = _field(name, data.column_names or ["text"], text_field, lambda: list(data.take(LOOKED_AT)), side)
        return (_text(name, field, row[_column(field, row)]) for row in data)
    table = _table_of(data)
    if table is not None:
        field = _field(name, table.columns, text_field, table.first_rows, side)
        if side != "prompt":
            _check_kinds(name, field, table)
        return [_text(name, field, value) for value in table.values(_column(field, table.columns))]
    convert = getattr(data, "to_pylist", None) or getattr(data, "tolist", None)  # of pyarrow, of numpy and pandas
    return data if convert is None else convert()


class _Table(NamedTuple):
    """A library's table: the names of its columns, its first rows, and the values of a column."""

    columns: Sequence[Any]
    first_rows: Callable[[], list[Any]]
    values: Callable[[Any], list[Any]]


def _table_of(data: Any) -> _Table | None:
    """A table of `datasets`, polars, pandas or pyarrow; None for other data."""
    if hasattr(data, "column_names") and hasattr(data, "features") and hasattr(data, "__len__"):
        first = range(min(LOOKED_AT, len(data)))
        return _Table(data.column_names, lambda: data.select(first).to_list(), lambda column: list(data[column]))
    if hasattr(data, "collect_schema"):  # a polars LazyFrame reads one column alone
        return _Table(
            data.collect_schema().names(),
            lambda: data.lazy().head(LOOKED_AT).collect().to_dicts(),
            lambda column: data.lazy().select(column).collect().to_series().to_list(),
        )
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return _Table(
            list(data.columns),
            lambda: data.head(LOOKED_AT).to_dict("records"),
            lambda column: data[column].tolist(),
        )
    if hasattr(data, "schema") and hasattr(data, "column") and hasattr(data, "num_rows"):  # a table or batch of pyarrow
        return _Table(
            data.schema.names,
            lambda: data.slice(0, LOOKED_AT).to_pylist(),
            lambda column: data.column(column).to_pylist(),
        )
    return None


def column_beside(data: object, names: Iterable[str]) -> tuple[str | None, list[Any] | None]:
    """The first of some columns that a library's table has beside others, and its values; None for both without one."""
    table = _table_of(data)
    if table is not None and len(table.columns) > 1:
        for name in names:
            if name in table.columns:
                return name, table.values(name)
    return None, None


def _check_kinds(name: str, field: Any, table: _Table) -> None:
    """`SeveralTexts` for a table whose texts are of several kinds."""
    for column in candidates(Rows(name, table.first_rows())) if len(table.columns) > 1 else ():
        values = [{column: value} for value in table.values(column)] if column != field else []
        kinds = kinds_of(Rows(name, values), column)
        if kinds is not None and kinds.is_sure:
            raise SeveralTexts.of(
                name,
                f"holds texts of {len(kinds.counts)} kinds, by {column!r}: {kinds.listed}; give the rows of one, or "
                f"the column {field!r} alone to take all as one set",
            )


def _field(
    name: str, columns: Sequence[Any], text_field: str | None, first_rows: Callable[[], list[Any]], side: Role
) -> Any:
    """The field of a library's data that holds the texts, see `choose`.

    Raises:
        ValueError: the one asked for is not there; it is there twice; several may hold the texts.
    """
    field = text_field if text_field is not None else columns[0] if len(columns) == 1 else None
    if field is None and list(columns).count("text") < 2:
        rows = first_rows()
        if not rows and len(columns):  # no texts at all, in whatever field
            return columns[0]
        field = chosen_field(name, Rows(name, rows or [{}]), side)
        logger.info("%s: texts from `%s`", name, field)
    field = "text" if field is None else next((column for column in columns if str(column) == field), field)
    times = list(columns).count(_column(field, columns))
    if times > 1:
        raise ValueError(f"{name} has {times} fields {field!r}: expected one, rename the others")
    if times == 0:
        raise no_such_field(name, Rows(name, first_rows()[:1]), field)
    return field


def _column(field: Any, columns: Iterable[Any]) -> Any:
    """The column of a field, which may be a path into its values."""
    return field if field in columns or not isinstance(field, str) else field.partition(".")[0]


def _text(name: str, field: Any, value: Any) -> Any:
    """The text at a field, of the value in its column; a value that is none stays."""
    if not isinstance(value, (list, Mapping)):
        return value
    return text_in(Record({field.partition(".")[0]: value}, name), field, "text")


def _or_empty(text: object) -> object:
    """A text or another value as it is, an empty text for None, NaN and NA.

    >>> [_or_empty(text) for text in ("nan", None, float("nan"), 3, b"", [None])]
    ['nan', '', '', 3, b'', [None]]
    """
    return text if hasattr(text, "__len__") or not is_missing_key(text) else ""


def _checked(name: str, data: Iterable[object], stripping: Stripping | None, cure: str) -> Iterator[str]:
    """The texts without what is taken off them."""
    for index, text in enumerate(data):
        if not isinstance(text, str):
            got = f"{type(text).__name__} at position {index}: {shown(text)}"
            remove = f"; remove missing texts{cure}" if isinstance(_or_empty(text), str) else ""
            raise NotTexts.of(name, f"must hold strings only, got {got}{remove}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise NotTexts.of(
                name, f"holds half of a surrogate pair, which is no character, at position {index}: {text!a:.60}"
            ) from error
        yield text if stripping is None else stripping.strip(text)


def _after(stripping: Stripping | None) -> str:
    """Note for messages that texts may be empty only without their wrapping."""
    rules = "" if stripping is None else ", ".join(name for name, times in stripping.changed.items() if times)
    return f" once {rules} is taken off" if rules else ""


def _filled_stream(name: str, data: Iterable[object], empty_texts: str, source: TextSource, cure: str) -> Iterator[str]:
    kept = 0
    for index, text in enumerate(_checked(name, data, source.stripping, cure)):
        if not is_blank(text):
            kept += 1
            yield text
        elif empty_texts == "error":
            blank = f"empty or whitespace-only text{_after(source.stripping)} at position {index}"
            raise EmptyTexts.of(name, f"holds an {blank}: remove it{cure}")
        else:
            source.dropped += 1
    if not kept:
        raise EmptyTexts.of(name, "must hold at least one non-empty text, got none")
