"""Known formats of other tools: the fields of a record that hold the human text and the model's."""

from __future__ import annotations

import ast
import contextlib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mauve_metric.runtime.checks import check_archive
from mauve_metric.runtime.errors import EmptyTexts, NoSuchField, SeveralTexts, one_line
from mauve_metric.runtime.optional_imports import import_inspect_log
from mauve_metric.texts.records import Record, has_field, text_at, value_at

_UNREAD = {"store", "attachments", "events"}  # large, and never a text


def inspect_records(path: Path) -> list[Record]:
    """The samples of a log, `.eval` or `.json`, as their fields, in the order in which the run scores them.

    Raises:
        ImportError: Inspect is not installed. ValueError: it cannot read the file.
    """
    log = import_inspect_log()
    try:
        if zipfile.is_zipfile(path):
            check_archive(path)
        read = log.read_eval_log(str(path), exclude_fields=_UNREAD)
    except Exception as error:  # a zip, JSON or pydantic error
        raise ValueError(f"{path} is not a log that Inspect can read: {one_line(error)}") from error
    if read.status != "success":
        raise ValueError(f"{path} is the log of a run that did not succeed (status {read.status!r}): run it again")
    found = []
    for sample in sorted(read.samples or (), key=lambda sample: (*sample_order(sample.id), sample.epoch)):
        where = f"{path}, sample {sample.id!r}, epoch {sample.epoch}"
        if sample.error is not None:
            raise ValueError(f"{where}: the sample ended with an error: {sample.error.message:.200}")
        found.append(Record(sample.model_dump(mode="json"), where))
    return found


def sample_order(sample_id: int | str | None) -> tuple[bool, int | str]:
    """The key by which samples are sorted: a log has them in another order than the run, and rows count for k-means."""
    return isinstance(sample_id, str), 0 if sample_id is None else sample_id


class Column(NamedTuple):
    """A field, and how its text is read from a record and this field; errors call the record by its place."""

    field: str
    read: Callable[[Record, str], str] = text_at


class Format(NamedTuple):
    """The output format of one tool.

    name: in the signature. title: for people. fits: whether a record looks like one. prediction: the model's text.
    reference: the human one; None if such a file holds one side only. key: the field by which rows of several models
    are matched; None if there is none. unique: whether a key has one row only. document: the field that is equal
    where two rows of one key belong together. group: the field whose values divide the rows into runs of the same
    documents, one of which is chosen.
    """

    name: str
    title: str
    fits: Callable[[Mapping[str, object]], bool]
    prediction: Column
    reference: Column | None = None
    key: str | None = None
    unique: bool = False
    document: str | None = None
    group: str | None = None


def _has(*fields: str) -> Callable[[Mapping[str, object]], bool]:
    return lambda record: all(field in record for field in fields)


def _harness_completion(record: Record, path: str) -> str:
    """The response in `filtered_resps`, a list with one entry for each request; a filter may keep a list of each.

    >>> _harness_completion(Record({"filtered_resps": ["Once."]}, "line 1"), "filtered_resps")
    'Once.'
    """
    value = value_at(record, path)
    while isinstance(value, list) and len(value) == 1:
        path, value = f"{path}.0", value[0]
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return text_at(record, path)
    if not value:
        raise EmptyTexts(f"{record.where}: 'filtered_resps' is empty: expected the model's text")
    if _is_likelihood(value) or all(map(_is_likelihood, value)):
        raise ValueError(
            f"{record.where}: 'filtered_resps' holds likelihoods of choices and no text: this is not a task in which "
            "the model writes, and MAUVE is not for it"
        )
    inner = ".0" if isinstance(value[0], list) else ""
    raise SeveralTexts(
        f"{record.where}: 'filtered_resps' holds {len(value)} responses: choose one with prediction_field, such as "
        f"{path}.0{inner}"
    )


def _is_likelihood(value: object) -> bool:
    """Return whether a response is a log-likelihood and whether it is greedy, both written as texts."""
    return isinstance(value, list) and len(value) == 2 and value[1] in ("True", "False")


def _harness_target(record: Record, field: str) -> str:
    """The gold text, which the harness writes with `str`, lists too: one text in a list is that text.

    >>> _harness_target(Record({"target": "['Once.']"}, "line 1"), "target")
    'Once.'
    """
    text = text_at(record, field)
    found: object = None
    if text.startswith("[") and text.endswith("]"):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            found = ast.literal_eval(text)
    if not isinstance(found, list) or not found or not all(isinstance(entry, str) for entry in found):
        return text
    return _only_target(record, found)


def _only_target(record: Record, targets: Sequence[str]) -> str:
    if len(targets) != 1:
        raise ValueError(
            f"{record.where}: 'target' holds {len(targets)} gold texts: name the field with the one human text by "
            "reference_field, such as doc.story"
        )
    return targets[0]


def _inspect_target(record: Record, field: str) -> str:
    value = value_at(record, field)
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return _only_target(record, value)
    return text_at(record, field)


def _last_answer(record: Record, field: str) -> str:
    """The last turn of the assistant in a conversation; a text is itself."""
    turns = value_at(record, field)
    if isinstance(turns, str):
        return turns
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        raise ValueError(f"{record.where}: expected a list of messages in {field!r}, got {type(turns).__name__}")
    answers = [number for number, turn in enumerate(turns) if turn.get("role") == "assistant"]
    if not answers:
        raise ValueError(f"{record.where}: no message in {field!r} has the role 'assistant'")
    return _content(record, f"{field}.{answers[-1]}.content")


def _content(record: Record, path: str) -> str:
    """A message's text: a string, nothing, or parts of which those of text are joined."""
    value = value_at(record, path)
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(part, Mapping) for part in value):
        return "".join(text_at(Record(part, record.where), "text") for part in value if part.get("type") == "text")
    return text_at(record, path)


def _only_choice(record: Record, field: str) -> str:
    """The text of the one choice in an answer of an OpenAI-compatible server."""
    failed = isinstance(record.value, Mapping) and record.value.get("error")
    if failed:
        raise ValueError(f"{record.where}: the request failed: {failed!r:.200}")
    choices = value_at(record, field)
    if not isinstance(choices, list) or not choices:
        raise ValueError(f"{record.where}: expected a list of choices in {field!r}, got {choices!r:.60}")
    text = "message.content" if has_field(record, f"{field}.0.message") else "text"
    if len(choices) > 1:
        raise SeveralTexts(
            f"{record.where}: {field!r} holds {len(choices)} answers: choose one with prediction_field, such as "
            f"{field}.0.{text}"
        )
    return _content(record, f"{field}.0.{text}")


INSPECT = Format(
    "inspect",
    "a log of Inspect",
    _has("id", "epoch", "target", "output"),
    Column("output.completion"),
    Column("target", _inspect_target),
    key="id",
    unique=True,
    group="epoch",
)
FORMATS = (
    Format(
        "lm_eval",
        "samples of lm-evaluation-harness",
        _has("doc_id", "target", "filtered_resps"),
        Column("filtered_resps", _harness_completion),
        Column("target", _harness_target),
        key="doc_id",
        unique=True,
        document="doc_hash",
        group="filter",
    ),
    Format(
        "llamafactory",
        "predictions of LlamaFactory",
        _has("label", "predict"),
        Column("predict"),
        Column("label"),
        key="prompt",
    ),
    Format(
        "openai_batch",
        "answers of an OpenAI batch",
        _has("custom_id", "response"),
        Column("response.body.choices", _only_choice),
        key="custom_id",
        unique=True,
    ),
    Format("openai", "answers of an OpenAI-compatible server", _has("choices"), Column("choices", _only_choice)),
    Format(
        "chat",
        "conversations",
        lambda record: isinstance(record.get("messages"), list),
        Column("messages", _last_answer),
    ),
    Format(
        "prompt_completion",
        "prompts and completions",
        _has("prompt", "completion"),
        Column("completion", _last_answer),
        key="prompt",
    ),
)


def format_of(record: Record) -> Format | None:
    """The one known format that a record has; None for a text, and for fields of no known format.

    A field "text" is the text, even beside a conversation.

    Raises:
        ValueError: it could be of several.
    """
    if not isinstance(record.value, Mapping):
        return None
    fitting = [known for known in FORMATS if known.fits(record.value)]
    text = ["text"] if "text" in record.value else []
    if text and all(known.reference is None for known in fitting):
        return None
    fields = [known.prediction.field for known in fitting] + text
    if len(fields) > 1:
        raise NoSuchField(
            f"{record.where} could be {' or '.join(known.title for known in fitting)}: say which field holds the "
            f"texts with text_field, or with reference_field and prediction_field: {', '.join(map(repr, fields))}"
        )
    return fitting[0] if fitting else None
