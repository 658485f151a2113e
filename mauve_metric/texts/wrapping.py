"""Wrappings that models put around their texts: reasoning, special tokens, Markdown, the prompt again, blanks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mauve_metric.runtime.errors import WrongOption

_THINK = "think|thinking|thought|reasoning|seed:think"
_TAG = re.compile(
    rf"<(?P<a>/?)(?P<A>{_THINK})>|\[(?P<b>/?)(?P<B>THINK)\]|◁(?P<c>/?)(?P<C>think)▷"
    r"|<\|(?P<d>begin|end)_of_(?P<D>thought)\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w{0,40})[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_ASSISTANT = re.compile(r"<\|start\|>\s*assistant\s*\Z")
_BARE_ANALYSIS, _BARE_FINAL = "analysis", "assistantfinal"  # channels whose special tokens the decoder left out
_ROLE = r"(?:system|developer|user|assistant|model|tool)"
_SPECIAL = re.compile(
    rf"<\|(?:im_start|start)\|>[ \t]*(?:{_ROLE}\b)?\n?"
    rf"|<\|start_header_id\|>[ \t]*{_ROLE}?[ \t]*<\|end_header_id\|>\n*"
    rf"|<start_of_turn>(?:{_ROLE}\b)?\n?"
    r"|<\|[\w.:/@-]{1,64}\|>|<｜[\w▁.:/@-]{1,64}｜>"
    r"|</?s>|<(?:pad|eos|bos|unk|cls|sep|mask|end_of_turn|extra_id_\d{1,4}|unused\d{1,4})>"
    r"|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]|\[(?:PAD|CLS|SEP|MASK|UNK)\]"
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n?", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))+(?:[ \t]+\"[^\"\n]*\")?\)")
_MARKDOWN_SEEN = re.compile(r"^(?:```|~~~| {0,3}#{1,6}[ \t]+\S)|\*\*[^\s*][^*\n]*\*\*|\]\(http", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_EMPHASIS = (  # the inner one of `**a *b* c**` goes first, so that everything is looked for twice
    re.compile(r"(?<![\w*])(\*{1,3})(?![\s*])([^*\n]+)(?<!\s)\1(?![\w*])"),
    re.compile(r"(?<![\w_])(_{1,3})(?![\s_])([^_\n]+)(?<!\s)\1(?![\w_])"),
)
_KEY = 12  # characters that prompts are looked up by


def without_reasoning(text: str) -> str:
    """A text without what a model thought before it: `<think>…</think>` and the like, harmony's other channels.

    Before an end without a beginning everything is reasoning (the beginning was in the prompt), after a beginning
    without an end too: then the text itself never came.

    >>> [without_reasoning(text) for text in ("<think>Hm.</think> Yes.", "Hm.</think> Yes.", "<think>Hm.")]
    ['Yes.', 'Yes.', '']
    """
    if "<|channel|>" in text:
        text = _final_channel(text)
    elif text.startswith(_BARE_ANALYSIS) and _BARE_FINAL in text:
        text = text.rpartition(_BARE_FINAL)[2].strip()
    if "<" not in text and "[" not in text and "◁" not in text:
        return text
    kept: list[str] = []
    inside, start, found = "", 0, False
    for match in _TAG.finditer(text):
        kind, name = next((key, value.lower()) for key, value in match.groupdict().items() if value and key.isupper())
        closing, name = match[kind.lower()] in ("/", "end"), f"{kind}{name}"
        if not inside and not closing:
            kept.append(text[start : match.start()])
            inside, found = name, True
        elif closing and inside in ("", name):
            if not inside:
                kept.clear()
            inside, start, found = "", match.end(), True
    if not found:
        return text
    return "".join([*kept, "" if inside else text[start:]]).strip()


def _final_channel(text: str) -> str:
    """Return the final channel of a text in OpenAI's harmony format, with the text before its first channel."""
    kept: list[str] = []
    for number, match in enumerate(_CHANNEL.finditer(text)):
        if number == 0:
            kept.append(_ASSISTANT.sub("", text[: match.start()]))
        if match[1] == "final":
            end = _CHANNEL_END.search(text, match.end())
            kept.append(text[match.end() : end.start() if end else len(text)])
    return "".join(kept).strip() if kept else text


def without_special_tokens(text: str) -> str:
    """A text without tokens that mark its beginning, its end and whose turn it is, and without the turn's role.

    >>> without_special_tokens("<|im_start|>assistant\\nYes.<|im_end|>"), without_special_tokens("[INST] a </s>")
    ('Yes.', 'a')
    """
    if "<" not in text and "[" not in text:
        return text
    found, times = _SPECIAL.subn("", text)
    return found.strip() if times else text


def without_markdown(text: str) -> str:
    """A text without the marks of Markdown: fences, headings, emphasis, links; what they mark stays.

    >>> without_markdown("# One\\n**Two** [three](https://x.org) `4`")
    'One\\nTwo three 4'
    """
    if not any(mark in text for mark in ("#", "*", "_", "`", "](", "~~~")):
        return text
    parts = _FENCE.split(text) if "```" in text or "~~~" in text else [text]  # outside and inside in turn
    found = "".join(part if number % 2 else _without_inline(part) for number, part in enumerate(parts))
    return text if found == text else found.strip()


def shows_markdown(text: str) -> bool:
    """Return whether a text has a fence, a heading, bold words or a link: marks that plain prose rarely has.

    >>> shows_markdown("## A plan"), shows_markdown("2 * 3 * 4 in snake_case_names #1")
    (True, False)
    """
    return ("**" in text or "#" in text or "```" in text or "](http" in text or "~~~" in text) and (
        _MARKDOWN_SEEN.search(text) is not None
    )


def _without_inline(text: str) -> str:
    if "#" in text:
        text = _HEADING.sub("", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "`" in text:
        text = _CODE.sub(r"\1", text)
    for mark, pattern in zip("*_", _EMPHASIS, strict=True):
        if mark in text:
            text = pattern.sub(r"\2", pattern.sub(r"\2", text))
    return text


def without_outer_blanks(text: str) -> str:
    """A text without blanks at its ends and at the ends of its lines.

    >>> without_outer_blanks(" One  \\ntwo \\n")
    'One\\ntwo'
    """
    text = text.strip()
    if " \n" in text or "\t\n" in text:
        text = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return text


def without_line_breaks(text: str) -> str:
    """A text on one line: each run of white space becomes one blank.

    >>> without_line_breaks("One  two.\\n\\nThree. ")
    'One two. Three.'
    """
    return " ".join(text.split())


def shows_outer_blanks(text: str) -> bool:
    """Return whether a text begins or ends with a blank.

    >>> shows_outer_blanks("One "), shows_outer_blanks("One \\ntwo")
    (True, False)
    """
    return text[:1].isspace() or text[-1:].isspace()


class PromptEcho:
    """Takes from a text the longest of given prompts that it begins with; blanks before it do not count.

    >>> PromptEcho(["Once upon", "Once upon a time"])("Once upon a time there was a king.")
    'there was a king.'
    """

    def __init__(self, prompts: Iterable[str]) -> None:
        found = {prompt.strip() for prompt in prompts} - {""}
        self._short = sorted((prompt for prompt in found if len(prompt) < _KEY), key=len, reverse=True)
        self._long: dict[str, list[str]] = {}
        for prompt in sorted(found, key=len, reverse=True):
            if len(prompt) >= _KEY:
                self._long.setdefault(prompt[:_KEY], []).append(prompt)
        self.digest = hashlib.sha256("\0".join(sorted(found)).encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def __call__(self, text: str) -> str:
        """The text behind the prompt."""
        start = text.lstrip()
        for prompts in (self._long.get(start[:_KEY], ()), self._short):
            for prompt in prompts:
                if start.startswith(prompt):
                    return start[len(prompt) :].strip()
        return text


WRAPPING: Mapping[str, Callable[[str], str]] = {  # each by the name that `strip` has for it, in the order of their use
    "reasoning": without_reasoning,
    "special_tokens": without_special_tokens,
    "markdown": without_markdown,
    "whitespace": without_outer_blanks,
    "line_breaks": without_line_breaks,
}

SHOWN: Mapping[str, Callable[[str], bool]] = {  # where a rule takes long, or changes what any prose may hold
    "markdown": shows_markdown,
    "whitespace": shows_outer_blanks,
}


class Stripping:
    """Takes wrapping off texts, and counts the texts that each rule changed.

    Args:
        rules: names of `WRAPPING` and "prompts", joined by commas; "no" for none.
        prompts: whose copies are taken off.

    Attributes:
        changed: how many texts each rule changed so far.

    Raises:
        ValueError: "prompts" is among the rules, and there are none.

    >>> stripping = Stripping("reasoning")
    >>> stripping.of("<think>Hm.</think>Yes."), stripping.changed
    ('Yes.', {'reasoning': 1})
    """

    def __init__(self, rules: str = "no", prompts: Sequence[str] | None = None) -> None:
        wanted = [] if rules == "no" else rules.split(",")
        if "prompts" in wanted and not prompts:
            raise WrongOption(f"strip={rules!r} needs the prompts (--prompts): texts, or the name of their file")
        self.echo = PromptEcho(prompts or ()) if "prompts" in wanted else None
        self._rules: list[tuple[str, Callable[[str], str]]] = []
        for name, rule in WRAPPING.items():
            if self.echo is not None and name == "markdown":  # the prompt may hold some
                self._rules.append(("prompts", self.echo))
            if name in wanted:
                self._rules.append((name, rule))
        self.changed = {name: 0 for name, _ in self._rules}

    def of(self, text: str) -> str:
        """A text without its wrapping."""
        for name, rule in self._rules:
            found = rule(text)
            if found != text:
                self.changed[name] += 1
                text = found
        return text

    def each(self, texts: Iterable[str]) -> Iterator[str]:
        """Texts without their wrapping, one after the other."""
        return map(self.of, texts) if self._rules else iter(texts)

    def identity(self) -> dict[str, str]:
        """Identity entry of features of such texts: empty where nothing is removed."""
        if not self._rules:
            return {}
        found = {"strip": ",".join(name for name, _ in self._rules)}
        return found if self.echo is None else found | {"prompts": self.echo.digest}
