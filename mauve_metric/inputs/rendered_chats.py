"""Conversations that a chat template rendered as one text: the marks before each turn, and the last turn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_ROLE = r"(?:system|developer|user|assistant|model|tool)"
SPECIAL_TOKENS = re.compile(
    rf"<\|(?:im_start|start)\|>[ \t]*(?:{_ROLE}\b)?\n?"
    rf"|<\|start_of_role\|>[ \t]*{_ROLE}?[ \t]*<\|end_of_role\|>"
    rf"|\[\|(?:{_ROLE}|endofturn)\|\]"
    r"|\A\s*<answer>|</answer>\s*\Z"
    rf"|<\|start_header_id\|>[ \t]*{_ROLE}?[ \t]*<\|end_header_id\|>\n*"
    rf"|<start_of_turn>(?:{_ROLE}\b)?\n?"
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
_ANSWERING = {"assistant", "model", "chatbot", "/inst", "response"}
_PREAMBLE = re.compile(
    r"\s*(?:(?:<s>|<\|begin_of_text\|>)\s*)?(?:Below is an instruction|A chat between|\[SYSTEM_PROMPT\])"
)


def last_turn(text: str) -> str:
    """The last turn of the assistant in a conversation that a template of `CHATS` rendered; other texts as they are.

    >>> last_turn("<|im_start|>user\\nHi.<|im_end|>\\n<|im_start|>assistant\\nYes.<|im_end|>")
    'Yes.'
    >>> last_turn("[INST] Hi. [/INST] Yes.</s>"), last_turn("Yes. [INST] Hi. [/INST] No.")
    ('Yes.', 'Yes. [INST] Hi. [/INST] No.')
    """
    turn = _last_turn(text)
    return text if turn is None else SPECIAL_TOKENS.sub("", turn[1]).strip()


def _last_turn(text: str) -> tuple[str, str] | None:
    """The template of a rendered conversation, and its last turn; None where a text begins with no other's turn."""
    for name, mark in CHATS.items() if any(sign in text for sign in ("<", "[", "###", "USER:", "\n\nHuman:")) else ():
        turns = list(mark.finditer(text))
        answers = [row for row, turn in enumerate(turns) if turn["role"].lower() in _ANSWERING]
        if answers and answers[0] > 0:
            before = text[: turns[0].start()]
            if SPECIAL_TOKENS.sub("", before).strip() and not _PREAMBLE.match(before):
                continue
            ends = [turn.start() for turn in turns] + [len(text)]
            return name, text[turns[answers[-1]].end() : ends[answers[-1] + 1]]
    return None


def chat_template(texts: Sequence[str]) -> str | None:
    """The template that rendered most of some texts; None where they are no conversations."""
    templates = [turn[0] for text in texts if (turn := _last_turn(text)) is not None]
    return max(templates, key=templates.count) if 2 * len(templates) > len(texts) else None
