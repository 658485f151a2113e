"""JSON as records: lines, lists, and objects that hold a list of records in a usual way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from mauve_metric.inputs.bytes_and_encodings import decode, read_bytes
from mauve_metric.inputs.fields import LOOKED_AT, choose
from mauve_metric.inputs.records import Rows, lines_of
from mauve_metric.runtime.checks import check_path, quoted, shown
from mauve_metric.runtime.errors import DamagedFile, NoSuchField

_DEPTH = 3  # of the list of records in an object
_BLANK = re.compile(r"\s*")


def json_rows(content: str, name: str, expected: str = "text") -> Rows | None:
    """The records of JSON lines, of one JSON list, or of objects one after the other; one object is one record.

    Args:
        content: of the file. name: of the file.
        expected: see `FileType.content`; content of "text" that only resembles JSON gives None.

    Raises:
        ValueError: it is not JSON, with the line.
    """
    lines = [(number, line.strip()) for number, line in enumerate(lines_of(content), 1) if line.strip()]
    if not lines:
        return None if expected == "text" else Rows(name, [])
    if expected == "text" and not _begins_json(content.lstrip(), [line for _, line in lines]):
        return None
    first, several = lines[0][1], len(lines) > 1
    if (several and _is_json(first)) or (not several and expected == "lines"):
        return _rows_of_lines(lines, name)
    values = _stream(content, name)
    if len(values) == 1:
        return _container_rows(values[0], name)
    if values and all(isinstance(value, Mapping) for value in values):
        return Rows(name, values)
    if several and first.startswith(("{", '"')) and not first.endswith(("{", ",", "[")):  # the first line is damaged
        return _rows_of_lines(lines, name)
    return _container_rows(loaded(content, name), name)


def _rows_of_lines(lines: Sequence[tuple[int, str]], name: str) -> Rows:
    """The records of lines with their numbers; those of the list in a single line."""
    values = [loaded(line, name, number) for number, line in lines]
    if len(values) == 1 and isinstance(values[0], list):
        return Rows(name, values[0])
    return Rows(name, values, "line", [number for number, _ in lines])


def _begins_json(content: str, filled: Sequence[str]) -> bool:
    """Return whether a content without a name for it is JSON: objects, a list of objects or texts, quoted texts.

    filled: its lines that are not blank.
    """
    first = filled[0]
    if first.startswith('"'):  # the lines of a dialogue only begin and end like a JSON string
        return all(line.startswith('"') and _is_json(line) for line in filled)
    if content.startswith("["):
        return content[1:].lstrip()[:1] in ("{", '"', "]", "[", "") and (len(filled) == 1 or not _is_json(first))
    return content.startswith("{") and content[1:].lstrip()[:1] in ('"', "}", "")


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _stream(content: str, name: str) -> list[object]:
    """The JSON values of a content that holds one after the other; none where one is damaged."""
    decoder, position, values = json.JSONDecoder(object_pairs_hook=partial(_object, name)), 0, []
    try:
        while (position := _BLANK.match(content, position).end()) < len(content):  # type: ignore[union-attr]
            value, position = decoder.raw_decode(content, position)
            values.append(value)
    except DamagedFile:
        raise
    except (ValueError, RecursionError):
        return []
    return values


def _object(where: str, pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object; `DamagedFile` for one with two values of a key."""
    value = dict(pairs)
    if len(value) < len(pairs):
        for key, first in pairs:
            if value[key] != first:
                both = f"{shown(first)} and {shown(value[key])}"
                raise DamagedFile(f"{where}: an object must have one value of {shown(key)}, got {both}")
    return value


def _container_rows(value: object, name: str) -> Rows:
    """The records of a JSON value: the entries of a list, or of an object that holds them in a usual way."""
    if isinstance(value, list):
        return Rows(name, value)
    if not isinstance(value, Mapping):
        raise DamagedFile(f"{name} must hold a JSON list of texts or objects, got {type(value).__name__}")
    if "results" in value and "configs" in value:
        raise ValueError(
            f"{name} holds the scores of lm-evaluation-harness and no texts: run it with --log_samples, and give the "
            "samples_….jsonl that it then writes"
        )
    return Rows(name, [value], "line", [1])


def unfolded(rows: Rows, field: str | None = None) -> Rows:
    """The records in the one JSON object of a file.

    Known shapes: columns beside rows (`{"columns": [...], "data": [[...]]}`), a list of records at a key (`{"data":
    [...]}`), lists of one length (`{"original": [...], "sampled": [...]}`), an object or a text for each id.

    field: that the user named; with the keys of a list before it, it says which of several lists is meant.

    Raises:
        ValueError: none of these, or several lists.
    """
    value, name = rows.values[0], rows.name
    if not isinstance(value, Mapping):
        return rows
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        if any(len(row) != len(columns) for row in data):
            raise DamagedFile(f"{name}: 'data' has a row of another length than 'columns'")
        return Rows(name, [dict(zip(map(str, columns), row, strict=True)) for row in data], "row")
    entries = list(value.values())
    if len(entries) > 1 and all(isinstance(entry, Mapping) and list(entry) == list(entries[0]) for entry in entries):
        return _by_id(value, name)
    lists = {path: entries for path, entries in _lists(value) if isinstance(entries[0], (dict, str))}
    records = [path for path, entries in lists.items() if isinstance(entries[0], dict)]
    chosen = [path for path in lists if field is not None and field.startswith(f"{path}.")] or records
    if len(chosen) > 1:  # one of which holds texts, beside what describes them
        fields = {path: _text_field(lists[path]) for path in chosen}
        chosen = [path for path, name_of in fields.items() if name_of is not None] or chosen
        if len(chosen) > 1:
            listed = ", ".join(f"{path!r} ({len(lists[path])} entries)" for path in records[:6])
            raise NoSuchField(
                f"{name} holds several lists: {listed}; name the field in the one that is meant, such as "
                f"text_field='{chosen[0]}.{fields[chosen[0]] or 'text'}'"
            )
    if chosen:
        return Rows(f"{name}, {chosen[0]!r}", lists[chosen[0]])
    for prefix in dict.fromkeys(path.rpartition(".")[0] for path in lists):
        of_columns = _in_columns(value if not prefix else _at(value, prefix), name)
        if of_columns is not None:
            return of_columns
    return _by_id(value, name)


def _text_field(entries: Sequence[object]) -> str | None:
    """The field of records that is surely their text; None without one."""
    choice = choose(Rows("", entries)[:LOOKED_AT])
    return None if choice.doubt else choice.path


def _at(value: Mapping[str, object], path: str) -> Mapping[str, object]:
    for key in path.split("."):
        inner = value[key]
        value = inner if isinstance(inner, Mapping) else {}
    return value


def _in_columns(value: Mapping[str, object], name: str) -> Rows | None:
    """The records of lists of one length; None where the lists of texts differ in length."""
    texts = [
        entries
        for entries in value.values()
        if isinstance(entries, list) and entries[:1] and isinstance(entries[0], str)
    ]
    if len({len(entries) for entries in texts}) != 1:
        return None
    columns = {key: cells for key, cells in value.items() if isinstance(cells, list) and len(cells) == len(texts[0])}
    return Rows(name, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])


def _by_id(value: Mapping[str, object], name: str) -> Rows:
    """The records of an object with one, or a text, for each id; also a table of pandas, columns with ids of rows."""
    entries, places = list(value.values()), [shown(key) for key in value]
    if len(entries) > 1 and all(isinstance(entry, str) and any(map(str.isdigit, key)) for key, entry in value.items()):
        return Rows(name, entries, "entry", places)
    objects = [entry for entry in entries if isinstance(entry, Mapping)]
    if not objects or len(objects) < len(entries):
        held = f": one object with {quoted(list(value), most=6)}" if value else ""
        raise DamagedFile(f"{name} must hold a JSON list of texts or objects, got dict{held}")
    ids = list(objects[0])
    if not all(str(key).isdecimal() for entry in objects for key in entry):
        return Rows(name, entries, "entry", places)
    if any(list(entry) != ids for entry in objects):
        raise DamagedFile(f"{name}: the columns have different rows")
    return Rows(
        name, [{key: column[row_id] for key, column in zip(value, objects, strict=True)} for row_id in ids], "row", ids
    )


def _lists(value: Mapping[str, object], before: str = "", depth: int = 1) -> Iterator[tuple[str, list[object]]]:
    """Yield the lists in an object and in the objects inside it, by their paths."""
    for key, inner in value.items():
        if isinstance(inner, list) and inner:
            yield f"{before}{key}", inner
        elif isinstance(inner, Mapping) and depth < _DEPTH:
            yield from _lists(inner, f"{before}{key}.", depth + 1)


def read_json(path: str | Path) -> object:
    """The JSON value of a file."""
    return loaded(decode(read_bytes(check_path("path", path)), str(path)), str(path))


def loaded(content: str, name: str, line: int | None = None) -> object:
    """A JSON value: a file's, or that of one of its lines."""
    where = name if line is None else f"{name}, line {line}"
    try:
        value: object = json.loads(content, object_pairs_hook=partial(_object, where))
    except DamagedFile:
        raise
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno if line is None else line}"
        problem = f"{error.msg.removesuffix(' at')} at column {error.colno}"
        is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(content.rstrip())
        cure = "; the file seems to be cut off: write it again" if is_cut else ""
        raise DamagedFile(f"{where}: not JSON: {problem}{cure}") from error
    except RecursionError as error:
        raise DamagedFile(f"{where}: not JSON that can be read: it is nested too deep") from error
    except ValueError as error:  # Python reads no integer of more than some thousand digits
        raise DamagedFile(f"{where}: not JSON that can be read: a whole number of too many digits") from error
    return value
