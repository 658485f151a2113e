"""Conversations as prompts: checks, a tokenizer's chat template, and the ends of the answer."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, cast

from mauve_metric.apps.generation.writing_state import random_states_kept
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.model_state import settings_kept

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

Message = dict[str, object]
Conversation = list[Message]

ROLES = ("system", "developer", "user", "assistant", "tool")
ASKING = ("user", "tool")  # roles whose messages the assistant answers
PROBE = "Harbour"  # text that no template changes
_COLUMNS = ("prompt", "messages")
_OPENED = re.compile(r"(?:<think(?:ing)?>|<reasoning>|\[THINK\]|◁think▷)\s*$")


# --- checks of conversations --------------------------------------------------------------------------------------


def conversations_in(name: str, data: Iterable[object], text_field: str | None = None) -> list[Conversation] | None:
    """The checked conversations among prompts; None if prompts are texts.

    Args:
        name: the argument's name, for errors. data: prompts in any form; not an iterator, which would be used up.
        text_field: the column of a dataset; None: "prompt" or "messages".

    Raises:
        TypeError, ValueError: a conversation is not what it should be, or texts are among conversations.
    """
    items = _items(data, text_field)
    if items is None or not any(isinstance(prompt, (list, tuple, Mapping)) for prompt in items):
        return None
    if all(isinstance(prompt, Mapping) and "role" in prompt for prompt in items):
        raise TypeError(f"{name} must be a list of conversations, got the messages of one: put it into a list")
    return [_check_conversation(f"{name}, position {index}", prompt) for index, prompt in enumerate(items)]


def _items(data: Iterable[object], text_field: str | None) -> Sequence[object] | None:
    """The prompts as a list, where they may be conversations."""
    columns = getattr(data, "column_names", None)
    if columns is not None and hasattr(data, "features") and hasattr(data, "__getitem__"):
        column = text_field or next((name for name in _COLUMNS if name in columns), None)
        return None if column not in columns else list(data[column])
    listed = getattr(data, "to_pylist", None) or getattr(data, "tolist", None)  # of pyarrow, of pandas and numpy
    if listed is not None:
        values = listed()
        return values if isinstance(values, list) else None
    if isinstance(data, (str, bytes, Mapping)) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        return None
    return list(data)


def _check_conversation(where: str, prompt: object) -> Conversation:
    """A conversation that the assistant is to go on with."""
    if not isinstance(prompt, (list, tuple)):
        raise TypeError(f"{where}: expected a conversation, as the others are, got {type(prompt).__name__}")
    if not prompt:
        raise ValueError(f"{where}: a conversation must have at least one message, got none")
    messages = [_message(f"{where}, message {number}", message) for number, message in enumerate(prompt)]
    if messages[-1]["role"] not in ASKING:
        raise ValueError(
            f"{where}: the last message must be from the user (or a tool), so that the model answers it, got one "
            f"from the {messages[-1]['role']}"
        )
    return messages


def _message(where: str, message: object) -> Message:
    """A message with its role and its text; keys without a value, as the rows of a dataset have them, are left out."""
    if not isinstance(message, Mapping) or "role" not in message:
        raise TypeError(f"{where}: expected a dict with role and content, got {shown(message)}")
    filled: Message = {str(key): value for key, value in message.items() if value is not None}
    role = filled.get("role")
    if role not in ROLES:
        raise ValueError(f"{where}: role must be one of {', '.join(ROLES)}, got {shown(role, 40)}")
    if "tool_calls" not in filled and text_of(filled) is None:
        raise TypeError(f"{where}: content must be a text, got {shown(message.get('content'))}")
    return filled


def text_of(message: Mapping[str, object]) -> str | None:
    """The text of a message, whose content may be a list of parts; None if it has none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, (list, tuple)) else ()
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type", "text") == "text"]
    strings = [text for text in texts if isinstance(text, str)]
    return "\n".join(strings) if strings and len(strings) == len(parts) else None


def as_conversation(text: str) -> Conversation:
    """Make a plain prompt a user's message."""
    return [{"role": "user", "content": text}]


# --- the template -------------------------------------------------------------------------------------------------


def has_template(tokenizer: PreTrainedTokenizerBase | None) -> bool:
    """Return whether a tokenizer has a chat template."""
    return bool(getattr(tokenizer, "chat_template", None))


def rendered(
    tokenizer: PreTrainedTokenizerBase, conversation: Conversation, where: str = "prompts", *, opened: bool = True
) -> str:
    """A conversation as the text that the model reads, with the opening of the assistant's turn.

    Raises:
        ValueError: the tokenizer has no template, or its template does not take the conversation.
    """
    if not has_template(tokenizer):
        raise ValueError(
            f"{where} must be texts for a tokenizer without a chat template, got a conversation: set "
            "tokenizer.chat_template, or give a generate_fn that takes conversations"
        )
    try:
        messages = cast("list[dict[str, str]]", conversation)  # as its type says, though contents may be parts
        return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=opened))
    except Exception as error:  # a template is a program, and can raise anything
        raise ValueError(f"{where}: the tokenizer's chat template does not take the conversation: {error}") from error


def opened_reasoning(text: str) -> str:
    """Return the tag that a template puts before the answer to make the model reason: `<think>`, or nothing.

    >>> opened_reasoning("<|assistant|>\\n<think>\\n"), opened_reasoning("<|assistant|>\\n<think>\\n\\n</think>\\n")
    ('<think>\\n', '')
    """
    match = _OPENED.search(text)
    return match.group() if match else ""


def turn_ends(tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """The token with which the template ends what the assistant says; empty where it has none."""
    answered: Conversation = [*as_conversation(PROBE), {"role": "assistant", "content": PROBE}]
    try:
        tail = rendered(tokenizer, answered, opened=False).rpartition(PROBE)[2].strip()
    except ValueError:
        return ()
    with settings_kept(tokenizer):
        ids = tokenizer(tail, add_special_tokens=False, padding=False)["input_ids"] if tail else []
    special = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
    return tuple(int(token) for token in ids[:1] if token in special)


def template_entry(tokenizer: PreTrainedTokenizerBase) -> str:
    """Signature entry of a chat template: a hash of its rendering of one conversation."""
    text = rendered(tokenizer, as_conversation(PROBE))
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


# --- conversations in training data -------------------------------------------------------------------------------


def first_row(dataset: object) -> object:
    """The first row of a dataset; None of a stream, which would lose it, of an empty one, and of one that fails."""
    if not isinstance(dataset, Sized) or not hasattr(dataset, "__getitem__") or not len(dataset):
        return None
    try:
        with random_states_kept():
            row: object = dataset[0]
    except Exception as error:  # the user's dataset: the training reports its errors
        logger.debug("the first row of the training data cannot be read: %r", error)
        return None
    return row


def is_conversational(row: object, tokenizer: PreTrainedTokenizerBase) -> bool:
    """Return whether a training row is a conversation: as messages, or as tokens that open an assistant's turn."""
    if not isinstance(row, Mapping):
        return False
    for value in row.values():
        items = value if isinstance(value, (list, tuple)) else ()
        roles = [isinstance(turn, Mapping) and ("role" in turn or {"from", "value"} <= set(turn)) for turn in items]
        if roles and all(roles):
            return True
    ids = row.get("input_ids")
    listed = getattr(ids, "tolist", None)  # of a tensor or an array
    ids = ids if listed is None else listed()
    if not isinstance(ids, (list, tuple)) or not all(isinstance(token, int) for token in ids):
        return False
    # the first line of what opens the assistant's turn, or, in a template without that, of what opens the user's
    question = as_conversation(PROBE)
    whole, before = rendered(tokenizer, question), rendered(tokenizer, question, opened=False)
    opened = whole.removeprefix(before).strip() if whole.startswith(before) else ""
    opening = (opened or before.partition(PROBE)[0].strip()).partition("\n")[0]
    return bool(opening) and opening in str(tokenizer.decode(list(ids), clean_up_tokenization_spaces=False))
