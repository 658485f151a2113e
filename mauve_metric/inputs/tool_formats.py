"""Known formats of other tools: the fields of a record that hold the human text and the model's, and rendered chats."""

from __future__ import annotations

import ast
import contextlib
import math
import re
import reprlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeGuard

from mauve_metric.inputs.records import Record, Rows, has_field, is_placeholder, value_at
from mauve_metric.runtime.checks import check_archive, shown
from mauve_metric.runtime.errors import EmptyTexts, NoSuchField, NotTexts, SeveralTexts, short_message
from mauve_metric.runtime.optional_imports import import_inspect_log
from mauve_metric.runtime.plain_text import is_blank

_UNREAD = {"store", "attachments", "events"}  # large, and never a text


def inspect_rows(path: Path) -> Rows:
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
        raise ValueError(f"{path} is not a log that Inspect can read: {short_message(error)}") from error
    if read.status != "success":
        raise ValueError(f"{path} is the log of a run that did not succeed (status {read.status!r}): run it again")
    values, places = [], []
    for sample in sorted(read.samples or (), key=lambda sample: (*sample_order(sample.id), sample.epoch)):
        places.append(f"{sample.id!r}, epoch {sample.epoch}")
        if sample.error is not None:
            raise ValueError(
                f"{path}, sample {places[-1]}: the sample ended with an error: {sample.error.message:.200}"
            )
        values.append(sample.model_dump(mode="json"))
    return Rows(str(path), values, "sample", places)


def sample_order(sample_id: int | str | None) -> tuple[bool, int | str]:
    """The key by which samples are sorted: a log has them in another order than the run, and rows count for k-means."""
    return isinstance(sample_id, str), 0 if sample_id is None else sample_id


class FailedRequest(EmptyTexts):
    """A record with the error of a request in the place of a text."""


_ANSWERING = {"assistant", "gpt", "chatgpt", "model", "bot", "chatbot", "ai"}  # roles of the model's turns
_INNER = (
    "content",
    "message",
    "parts",
    "text",
    "value",
    "generated_text",
    *("output", "answer", "generation", "outputs", "results", "outputText", "choices", "candidates", "response"),
)  # of a turn, a part or an answer
_FEWEST_TOKENS = 8  # in a list of numbers or of single words that is one text, and no list of answers


def is_conversation(value: object) -> TypeGuard[list[object]]:
    """Return whether a value is a list of turns."""
    turns = value if isinstance(value, list) else ()
    return any(isinstance(turn, Mapping) and _role(turn) is not None for turn in turns)


def _last_answer(turns: Sequence[object]) -> int | None:
    """The number of the last turn of a conversation by a model; None without one."""
    answers = [row for row, turn in enumerate(turns) if isinstance(turn, Mapping) and _role(turn) in _ANSWERING]
    return answers[-1] if answers else None


def _role(turn: Mapping[str, object]) -> str | None:
    role = turn.get("role", turn.get("from"))
    return role.lower() if isinstance(role, str) else None


def text_in(record: Record, path: str, side: str = "prediction") -> str:
    """The text at a field or path: itself, the only one of a list, the last answer of a conversation, an answer's text.

    A missing value, null or a word such as "nan", is an empty text.

    Args:
        record: with its place. path: of the field. side: whose text it is, for errors.

    Raises:
        ValueError: there is no text, or are several; or the request that should have been answered failed.

    >>> text_in(Record({"choices": [{"message": {"content": "Once."}}]}, "line 1"), "choices")
    'Once.'
    """
    try:
        return _text(value_at(record, path), record, path, side)
    except (NoSuchField, NotTexts, EmptyTexts):
        failure = failure_of(record.value)
        if failure is None:
            raise
        raise FailedRequest(f"{record.where}: the request failed: {failure}") from None


def _text(value: object, record: Record, path: str, side: str) -> str:
    if value is None or isinstance(value, str):
        return value if value and not is_placeholder(value) else ""
    if isinstance(value, float) and math.isnan(value):  # which Python writes for a missing cell of pandas
        return ""
    if is_conversation(value):
        answer = _last_answer(value)
        return "" if answer is None else _text(value[answer], record, f"{path}.{answer}", side)
    if isinstance(value, Mapping):
        inner = next((key for key in _INNER if key in value), None)
        if inner is None and value and all(str(key).isdecimal() for key in value):
            return _only(list(value.values()), record, path, side, list(map(str, value)))
        if inner is not None:
            return _text(value[inner], record, f"{path}.{inner}", side)
    if isinstance(value, list):
        return _only(value, record, path, side, [str(index) for index in range(len(value))])
    raise NotTexts(
        f"{record.where}: expected a text in {path!r}, got {type(value).__name__}: {reprlib.repr(value):.60}"
    )


def _only(values: list[object], record: Record, path: str, side: str, places: Sequence[str]) -> str:
    """The text of the only entry, or of the parts of one answer."""
    parts = [value for value in values if isinstance(value, Mapping)]
    if (
        parts
        and len(parts) == len(values)
        and (path.endswith((".content", ".parts")) or all("type" in part for part in parts))
    ):
        texts = [
            part for part in parts if part.get("type", "text") in ("text", "output_text") and not part.get("thought")
        ]
        return "".join(_text(part.get("text"), record, f"{path}.text", side) for part in texts)
    if not values:
        raise EmptyTexts(f"{record.where}: {path!r} is empty: expected a text")
    if _is_likelihood(values) or all(map(_is_likelihood, values)):
        raise ValueError(
            f"{record.where}: {path!r} holds likelihoods of choices and no text: this is not a task in which the model "
            "writes, and MAUVE is not for it"
        )
    if len(values) >= _FEWEST_TOKENS and all(isinstance(value, int) for value in values):
        raise NotTexts(f"{record.where}: {path!r} holds {len(values)} numbers, as token ids are: decode them to texts")
    if len(values) >= _FEWEST_TOKENS and all(isinstance(value, str) and len(value.split()) < 2 for value in values):
        raise NotTexts(f"{record.where}: {path!r} holds {len(values)} single words: join them to one text a row")
    if len(values) > 1:
        raise SeveralTexts(
            f"{record.where}: {path!r} holds {len(values)} answers: choose one with {side}_field, such as "
            f"{path}.{places[0]}"
        )
    return _text(values[0], record, f"{path}.{places[0]}", side)


def _is_likelihood(value: object) -> bool:
    """Return whether a response is a log-likelihood and whether it is greedy, both written as texts."""
    return isinstance(value, list) and len(value) == 2 and value[1] in ("True", "False")


def failure_of(value: object) -> str | None:
    """The error that a server answered in the place of a text; None without one."""
    if not isinstance(value, Mapping):
        return None
    status = value.get("status_code")
    error = (
        value.get("error")
        or failure_of(value.get("response"))
        or failure_of(value.get("body"))
        or failure_of(value.get("result"))
        or (value["type"] if value.get("type") in ("expired", "canceled", "errored") else None)
        or _refusal(value)
    )
    if error is None and not (isinstance(status, int) and status >= 400):
        return None
    said = [f"status {status}"] if isinstance(status, int) and status >= 400 else []
    return ": ".join([*said, *([error if isinstance(error, str) else reprlib.repr(error)] if error else [])])[:200]


def _refusal(value: Mapping[str, object]) -> str | None:
    """The reason for which Gemini wrote no answer, such as SAFETY."""
    feedback, answers = value.get("promptFeedback"), value.get("candidates")
    blocked = feedback.get("blockReason") if isinstance(feedback, Mapping) else None
    first = answers[0] if isinstance(answers, list) and answers else {}
    finished = first.get("finishReason") if isinstance(first, Mapping) and "content" not in first else None
    return str(blocked or finished) if blocked or finished else None


def plain_text(record: Record) -> str:
    """The text of a record that is one; empty for null and what stands for a missing text."""
    if isinstance(record.value, Mapping):
        raise NotTexts(f"{record.where}: expected a text, as the first record is, got an object of fields")
    if record.value is not None and not isinstance(record.value, str):
        raise NotTexts(f"{record.where}: expected a text, got {type(record.value).__name__}: {shown(record.value)}")
    return "" if record.value is None or is_placeholder(record.value) else record.value


def text_or_reason(record: Record, field: str | None, side: str = "prediction") -> tuple[str, str | None]:
    """The text of a record; where it is missing an empty one, with words for why: the one rule for all readers.

    Raises:
        ValueError: there is something else than a text.
    """
    try:
        text = plain_text(record) if field is None else text_in(record, field, side)
        text.encode()
    except FailedRequest as error:
        return "", f"is missing: {str(error).removeprefix(f'{record.where}: ')}"
    except UnicodeEncodeError:
        return "", "holds half of a surrogate pair, which is no character"
    return text, _why_empty(record, field) if is_blank(text) else None


def _why_empty(record: Record, field: str | None) -> str:
    value = record.value if field is None else value_at(record, field)
    if calls_tool(record):
        return "calls a tool and says nothing"
    if value is None:
        return "is null, a missing value"
    if is_conversation(value) and _last_answer(value) is None:
        return "has no message with the role 'assistant'"
    if not isinstance(value, float) and not (isinstance(value, str) and value.strip()):
        return "is empty"
    return f"is {shown(value)}, {'invisible characters' if is_blank(str(value)) else 'a missing value'}"


def calls_tool(record: Record) -> bool:
    """Return whether the last turn in a record calls a tool."""
    values: list[object] = [record.value]
    for value in values:
        if isinstance(value, Mapping):
            if value.get("tool_calls") or value.get("type") in ("tool_use", "tool_call", "function_call"):
                return True
            values += value.values()
        elif isinstance(value, list):
            values += value[-1:]
    return False


class Format(NamedTuple):
    """The output format of one tool: paths of its fields in a record.

    name: in the signature. title: for people. needs: paths that a record of it has. prediction: of the model's text.
    reference: of the human one; None if such a file holds one side only. prompt: of what was answered. key: of the
    value by which rows of several models are matched; None if there is none. unique: whether a key has one row only.
    document: of the value that is equal where two rows of one key belong together. group: of the value that divides the
    rows into runs, one of which is chosen. common: other files have these fields too, beside a field of texts.
    lacks: the reason why such a file has no texts to score.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    prediction: str | None = None
    reference: str | None = None
    prompt: str | None = None
    key: str | None = None
    unique: bool = False
    document: str | None = None
    group: str | None = None
    common: bool = False
    lacks: str = ""

    def fits(self, record: Record) -> bool:
        """Return whether a record has the fields, and turns where turns are meant."""
        for path in self.needs:
            if not has_field(record, path):
                return False
        value = value_at(record, self.needs[-1])
        return (self.name != "chat" or is_conversation(value)) and (self.name != "ollama_stream" or value is False)


INSPECT = Format(
    "inspect",
    "log of Inspect",
    ("id", "epoch", "target", "output"),
    "output.completion",
    "target",
    key="id",
    unique=True,
    group="epoch",
)
_REQUESTS = "the requests of a batch, without answers: give the file of its results"
_FRAGMENTS = "the fragments of a streamed answer: ask with stream=false, or join them to one text a record"
TOOL_FORMATS = (
    Format(
        "lm_eval",
        "samples of lm-evaluation-harness",
        ("doc_id", "target", "filtered_resps"),
        "filtered_resps",
        "target",
        key="doc_id",
        unique=True,
        document="doc_hash",
        group="filter",
    ),
    Format("llamafactory", "predictions of LlamaFactory", ("label", "predict"), "predict", "label", key="prompt"),
    Format(
        "openai_batch",
        "results of an OpenAI batch",
        ("custom_id", "response.body.output"),
        "response.body.output",
        key="custom_id",
        unique=True,
    ),
    Format(
        "openai_batch",
        "results of an OpenAI batch",
        ("custom_id", "response"),
        "response.body.choices",
        key="custom_id",
        unique=True,
    ),
    Format(
        "anthropic_batch",
        "results of an Anthropic batch",
        ("custom_id", "result.type"),
        "result.message",
        key="custom_id",
        unique=True,
    ),
    Format("batch_requests", "requests of a batch", ("custom_id", "body"), lacks=_REQUESTS),
    Format("batch_requests", "requests of a batch", ("custom_id", "params"), lacks=_REQUESTS),
    Format("ollama_stream", "fragments of Ollama", ("model", "created_at", "done"), lacks=_FRAGMENTS),
    Format("gemini", "answers of Gemini", ("response.candidates",), "response.candidates", key="key"),
    Format("gemini", "answers of Gemini", ("candidates.0.content",), "candidates"),
    Format("bedrock", "results of a Bedrock batch", ("modelInput", "modelOutput"), "modelOutput", key="recordId"),
    Format(
        "helm",
        "HELM",
        ("instance.input", "result.completions"),
        "result.completions",
        "instance.references",
        "request.prompt",
        "instance.id",
    ),
    Format(
        "alpaca_eval",
        "AlpacaEval",
        ("instruction", "output", "generator"),
        "output",
        prompt="instruction",
        key="instruction",
    ),
    Format(
        "mt_bench", "MT-bench, first turn", ("question_id", "choices.0.turns.0"), "choices.0.turns.0", key="question_id"
    ),
    Format("openai", "answers of an OpenAI-compatible server", ("choices",), "choices", common=True),
    Format(
        "real_toxicity_prompts",
        "RealToxicityPrompts",
        ("prompt.text", "continuation.text"),
        None,
        "continuation.text",
        "prompt.text",
    ),
    Format(
        "simctg",
        "SimCTG",
        ("prefix_text", "generated_result", "reference_text"),
        "generated_result",
        "reference_text",
        "prefix_text",
    ),
    Format(
        "hc3", "HC3", ("human_answers", "chatgpt_answers"), "chatgpt_answers", "human_answers", "question", "question"
    ),
    Format("m4", "M4", ("human_text", "machine_text"), "machine_text", "human_text", "prompt", "prompt"),
    Format("raid", "RAID", ("generation", "source_id", "attack"), "generation", prompt="prompt", group="model"),
    Format("detectgpt", "DetectGPT", ("original", "sampled"), "sampled", "original"),
    Format("vllm", "vLLM", ("prompt", "outputs.0.text"), "outputs", prompt="prompt", key="prompt"),
    Format(
        "ultrachat", "UltraChat", ("prompt_id", "messages"), "messages", prompt="prompt", key="prompt_id", common=True
    ),
    Format("chat", "conversations", ("messages",), "messages", common=True),
    Format("chat", "conversations of ShareGPT", ("conversations",), "conversations", common=True),
    Format("chat", "conversations", ("conversation",), "conversation", common=True),
    Format("ultrachat", "UltraChat, first answer", ("id", "data.1"), "data.1", prompt="data.0", key="id", common=True),
    Format(
        "prompt_completion",
        "prompts and completions",
        ("prompt", "completion"),
        "completion",
        prompt="prompt",
        key="prompt",
        common=True,
    ),
)


def format_of(record: Record) -> Format | None:
    """The known format that a record has; None for a text, and for fields of no known format."""
    for tool in TOOL_FORMATS if isinstance(record.value, Mapping) else ():
        if tool.fits(record):
            return tool
    return None


def harness_target(text: str, record: Record) -> str:
    """The gold text, which lm-evaluation-harness writes with `str`, lists too: one text in a list is that text.

    >>> harness_target("['Once.']", Record({}, "line 1"))
    'Once.'
    """
    targets: object = None
    if text.startswith("[") and text.endswith("]"):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            targets = ast.literal_eval(text)
    if not isinstance(targets, list) or not targets or not all(isinstance(entry, str) for entry in targets):
        return text
    if len(targets) > 1:
        raise SeveralTexts(
            f"{record.where}: 'target' holds {len(targets)} gold texts: name the field with the one human text by "
            "reference_field, such as doc.story"
        )
    return str(targets[0])


# Conversations that a chat template rendered as one text: the marks before each turn, and the last turn.
_ROLES = r"(?:system|developer|user|assistant|model|tool)"
SPECIAL_TOKENS = re.compile(
    rf"<\|(?:im_start|start)\|>[ \t]*(?:{_ROLES}\b)?\n?"
    rf"|<\|start_of_role\|>[ \t]*{_ROLES}?[ \t]*<\|end_of_role\|>"
    rf"|\[\|(?:{_ROLES}|endofturn)\|\]"
    r"|\A\s*<answer>|</answer>\s*\Z"
    rf"|<\|start_header_id\|>[ \t]*{_ROLES}?[ \t]*<\|end_header_id\|>\n*"
    rf"|<start_of_turn>(?:{_ROLES}\b)?\n?"
    r"|<\|[\w.:/@-]{1,64}\|>|<｜[\w▁.:/@-]{1,64}｜>"
    r"|</?s>|<(?:pad|eos|bos|unk|cls|sep|mask|end_of_turn|extra_id_\d{1,4}|unused\d{1,4})>"
    r"|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]|\[(?:PAD|CLS|SEP|MASK|UNK|BOS|EOS)\]"
)
# Templates by which a conversation is rendered as one text: the mark before a turn, with its role.
CHATS: Mapping[str, re.Pattern[str]] = {
    "ChatML": re.compile(r"<\|im_start\|>[ \t]*(?P<role>\w+)[^\n<]{0,40}\n?"),
    "Llama 3": re.compile(r"<\|start_header_id\|>\s*(?P<role>\w+)\s*<\|end_header_id\|>\n*"),
    "Llama 4": re.compile(r"<\|header_start\|>\s*(?P<role>\w+)\s*<\|header_end\|>\n*"),
    "Gemma": re.compile(r"<start_of_turn>\s*(?P<role>\w+)\n?"),
    "Granite": re.compile(r"<\|start_of_role\|>\s*(?P<role>\w+)[^<]{0,40}<\|end_of_role\|>"),
    "Phi": re.compile(r"<\|(?P<role>system|user|assistant)\|>\n?"),
    "EXAONE": re.compile(r"\[\|(?P<role>system|user|assistant)\|\]"),
    "Command R": re.compile(r"<\|START_OF_TURN_TOKEN\|><\|(?P<role>SYSTEM|USER|CHATBOT)_TOKEN\|>"),
    "DeepSeek": re.compile(r"<｜(?P<role>User|Assistant)｜>"),
    "Llama 2": re.compile(r"\[(?P<role>/?INST)\]"),
    "Alpaca": re.compile(
        r"^#{2,3} ?(?P<role>Instruction|Input|User|Human|Response|Assistant)[ \t]*:[ \t]*\n*", re.MULTILINE
    ),
    "HH": re.compile(r"\n\n(?P<role>Human|Assistant): ?"),
    "Vicuna": re.compile(r"(?:\A|(?<=[\s>]))(?P<role>USER|ASSISTANT): ?"),
}
_SIGNS = re.compile(r"[<\[]|###|USER:|\n\nHuman:")  # without one a text is no conversation
_ANSWERING_TURNS = {"assistant", "model", "chatbot", "/inst", "response"}
_PREAMBLE = re.compile(
    r"\s*(?:(?:<s>|<\|begin_of_text\|>)\s*)?(?:Below is an instruction|A chat between|\[SYSTEM_PROMPT\])"
)


def last_turn(text: str) -> tuple[str, str] | None:
    """The template of `CHATS` that rendered a conversation, and the last turn of the assistant in it.

    None for other texts, and for those that begin with no other's turn.

    >>> last_turn("<|im_start|>user\\nHi.<|im_end|>\\n<|im_start|>assistant\\nYes.<|im_end|>")
    ('ChatML', 'Yes.')
    >>> last_turn("[INST] Hi. [/INST] Yes.</s>"), last_turn("Yes. [INST] Hi. [/INST] No.")
    (('Llama 2', 'Yes.'), None)
    """
    for name, mark in CHATS.items() if _SIGNS.search(text) else ():
        turns = list(mark.finditer(text))
        answers = [row for row, turn in enumerate(turns) if turn["role"].lower() in _ANSWERING_TURNS]
        if answers and answers[0] > 0:
            before = text[: turns[0].start()]
            if SPECIAL_TOKENS.sub("", before).strip() and not _PREAMBLE.match(before):
                continue
            end = turns[answers[-1] + 1].start() if answers[-1] + 1 < len(turns) else len(text)
            return name, SPECIAL_TOKENS.sub("", text[turns[answers[-1]].end() : end]).strip()
    return None


def chat_template(texts: Sequence[str]) -> str | None:
    """The template that rendered most of some texts; None where they are no conversations."""
    templates = [turn[0] for text in texts if (turn := last_turn(text)) is not None]
    return max(templates, key=templates.count) if 2 * len(templates) > len(texts) else None
