"""Wrappings that models put around their texts: reasoning, special tokens, markup, the prompt again, blanks."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import html
import json
import os
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from mauve_metric.inputs.records import Record
from mauve_metric.inputs.tool_formats import SPECIAL_TOKENS, last_turn, text_in
from mauve_metric.runtime.errors import WrongOption

SHORTEST_PROMPT = 8  # characters: shorter values of a field may be ids, or words that texts begin with by chance
ECHOED_SHARE = 0.01  # of the texts of a side that begin with a value of a field: then its values are prompts
_THINK = "think|thinking|thought|reasoning|seed:think"
_TAG = re.compile(
    rf"<(?P<a>/?)(?P<A>{_THINK})>|\[(?P<b>/?)(?P<B>THINK)\]|◁(?P<c>/?)(?P<C>think)▷"
    r"|<\|(?P<d>begin|end)_of_(?P<D>thought)\|>",
    re.IGNORECASE,
)
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?P<name>\w{0,40})[^<]{0,200}(?:<\|constrain\|>[^<]{0,200})?<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
_ASSISTANT = re.compile(r"<\|start\|>\s*assistant\s*\Z")
_BARE_ANALYSIS, _BARE_FINAL = "analysis", "assistantfinal"  # channels whose special tokens the decoder left out
_TURN = re.compile(r"\n[ \t]*(?:#{1,4} ?)?(?:Human|User|Assistant|Instruction|Input|Question)[ \t]*:", re.IGNORECASE)
_ANSWERED = re.compile(  # a prompt with the name of who asks before it, up to the name of who answers
    r"\A\s*(?:#{1,4} ?)?(?:Human|User|Instruction|Input|Question)[ \t]*:.*?"
    r"\n[ \t]*(?:#{1,4} ?)?(?:Assistant|AI|Model|Response|Answer|Output)[ \t]*:[ \t]*",
    re.IGNORECASE | re.DOTALL,
)
_WRITTEN = (  # marks of subwords, of hyphens and of line breaks in texts that were prepared for training
    (re.compile(r"@@ "), ""),
    (re.compile(r" @([-,.])@ "), r"\1"),
    (re.compile(r" ?<(?:newline|NEWLINE|NL|n|EOL|eol)> ?"), "\n"),
)
_LITERAL = ("b'", 'b"', "['", '["', "{'", '{"')  # beginnings of a text that Python or JSON wrote out
_PRINTED = [
    *range(0x21, 0x7F),
    *range(0xA1, 0xAD),
    *range(0xAE, 0x100),
]  # bytes that byte-level BPE writes as themselves
_BYTES = {chr(byte): byte for byte in _PRINTED}
_BYTES |= {chr(0x100 + rank): byte for rank, byte in enumerate(sorted({*range(0x100)} - {*_PRINTED}))}
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n?", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\((?:[^()\s]|\([^()\s]*\))+(?:[ \t]+\"[^\"\n]*\")?\)")
# a fence, a heading, bold words or a link: marks that plain prose rarely has
_MARKDOWN_SEEN = re.compile(r"^(?:```|~~~| {0,3}#{1,6}[ \t]+\S)|\*\*(?![\s*])[^*\n]+(?<!\s)\*\*|\]\(http", re.MULTILINE)
_STARS = re.compile(r"(?<![a-zA-Z0-9_*])(\*{1,3})(?![\s*])([^*\n]+)(?<!\s)\1(?![a-zA-Z0-9_*])")  # not of 2**3**4
_BOLD_BESIDE_A_WORD = re.compile(  # on one side, as in `**Note:**This`
    r"(?<![a-zA-Z0-9_*])\*\*(?![\s*])([^*\n]+)(?<=[\w:.!?,;)…])\*\*(?=\w)|(?<=\w)\*\*(?![\s*])([^*\n]+)(?<!\s)\*\*(?![\w*])"
)
_UNDERSCORES = re.compile(r"(?<![\w_])(_{1,3})(?![\s_])([^_\n]+)(?<!\s)\1(?![\w_])")
_HTML = re.compile(
    r"<!--.*?-->|<!doctype[^<>]*>|<(script|style|title)\b.*?</\1\s*>"
    r"|</?(?:a|b|blockquote|body|br|code|div|em|font|h[1-6]|head|hr|html|i|img|li|ol|p|pre|section|span|strong|sub|sup"
    r"|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]*)?/?>|&(?:[a-z]{2,8}|#\d{2,6}|#x[\da-f]{2,5});",
    re.IGNORECASE | re.DOTALL,
)
_TIMES_ESCAPED = 3  # `&amp;amp;lt;` of a text that several programs escaped
_ENDS_LINE = re.compile(r"<br\b|</(?:p|div|h[1-6]|li|tr|blockquote|pre)\b", re.IGNORECASE)
_INLINE = (  # marks, and what stays; the inner one of `**a *b* c**` goes first, so that everything is looked for twice
    (_HEADING, ""),
    (_LINK, r"\1"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    *[(_STARS, r"\2")] * 2,
    (_BOLD_BESIDE_A_WORD, r"\1\2"),
    *[(_UNDERSCORES, r"\2")] * 2,
)


def without_reasoning(text: str) -> str:
    """A text without what a model thought before it: `<think>…</think>` and the like, harmony's other channels.

    Before an end without a beginning everything is reasoning (the beginning was in the prompt), after a beginning
    without an end too: then the text itself never came.

    >>> [without_reasoning(text) for text in ("<think>Hm.</think> Yes.", "Hm.</think> Yes.", "<think>Hm.")]
    ['Yes.', 'Yes.', '']
    """
    if "<|channel|>" in text:
        channels = list(_CHANNEL.finditer(text))
        if channels:  # OpenAI's harmony format: its final channel, with the text before its first channel
            final = [channel["text"] for channel in channels if channel["name"] == "final"]
            text = "".join([_ASSISTANT.sub("", text[: channels[0].start()]), *final]).strip()
    elif text.startswith(_BARE_ANALYSIS) and _BARE_FINAL in text:
        text = text.rpartition(_BARE_FINAL)[2].strip()
    kept: list[str] = []
    inside, start, has_tags = "", 0, False
    for match in _TAG.finditer(text):
        kind, name = next((key, value.lower()) for key, value in match.groupdict().items() if value and key.isupper())
        closing, name = match[kind.lower()] in ("/", "end"), f"{kind}{name}"
        if not inside and not closing:
            kept.append(text[start : match.start()])
            inside, has_tags = name, True
        elif closing and inside in ("", name):
            if not inside:
                kept.clear()
            inside, start, has_tags = "", match.end(), True
    if not has_tags:
        return text
    return "".join([*kept, "" if inside else text[start:]]).strip()


def without_special_tokens(text: str) -> str:
    """A text without tokens that mark its beginning, its end and whose turn it is; of a conversation the last turn.

    >>> without_special_tokens("<|im_start|>assistant\\nYes.<|im_end|>"), without_special_tokens("[INST] a </s>")
    ('Yes.', 'a')
    """
    turn = last_turn(text)
    text = text if turn is None else turn[1]
    stripped, times = SPECIAL_TOKENS.subn("", text)
    return stripped.strip() if times else text


def without_next_turn(text: str) -> str:
    """A text without the turns that a model wrote on after its own, and without the turn that it answers.

    >>> without_next_turn("Yes.\\n\\nHuman: And now?"), without_next_turn("Human: Hi.")
    ('Yes.', 'Human: Hi.')
    >>> without_next_turn("User: Is it?\\nAssistant: Yes.\\nUser: Why?")
    'Yes.'
    """
    text = _ANSWERED.sub("", text, count=1)
    turn = _TURN.search(text)
    return text if turn is None or not text[: turn.start()].strip() else text[: turn.start()].rstrip()


def without_undecoded(text: str) -> str:
    """A text with blanks and line breaks in place of a tokenizer's marks (Ġ, Ċ, ▁) and of a written-out \\\\n.

    Of what Python or JSON wrote out around a text, the text stays.

    >>> [without_undecoded(text) for text in ("['A cat.']", '{"text": "A cat."}', "b'A cat.'", 'A \\\\"cat\\\\".')]
    ['A cat.', 'A cat.', 'A cat.', 'A "cat".']
    >>> without_undecoded("TheĠcat"), without_undecoded("The Ġcat Ġs at"), without_undecoded("▁The▁cat")
    ('The cat', 'The cat sat', 'The cat')
    >>> without_undecoded("The c@@ at<newline>s@@ at well @-@ fed")
    'The cat\\nsat well-fed'
    >>> without_undecoded('{"role": "assistant", "content": "A."}')
    'A.'
    """
    if "@" in text or "<" in text:
        for mark, meant in _WRITTEN:
            text = mark.sub(meant, text)
    if text.count("\u2581") > 1 or text.startswith("\u2581"):  # SentencePiece
        return (text.replace(" ", "") if " \u2581" in text else text).replace("\u2581", " ").strip()
    if "Ġ" in text or "Ċ" in text:
        pieces = text.replace(" ", "") if " Ġ" in text else text
        if all(mark in _BYTES for mark in pieces):
            with contextlib.suppress(UnicodeDecodeError):
                return bytes(_BYTES[mark] for mark in pieces).decode().strip()
    if text.startswith(_LITERAL):
        return _text_of_literal(text)
    if '\\"' in text and "\n" not in text:
        with contextlib.suppress(ValueError):
            return str(json.loads(f'"{text}"'))
    return text.replace("\\n", "\n") if "\\n" in text and "\n" not in text else text


def _text_of_literal(text: str) -> str:
    """The only text in a list or an object that was written out, or the text of bytes; else the text as it is."""
    for read in (json.loads, ast.literal_eval):
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = read(text)
            if isinstance(value, bytes):
                return value.decode()
            if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
                return only
            return text_in(Record({"": value}, ""), "")  # of a turn, a conversation, the answer of a server
    return text


def without_html(text: str) -> str:
    """A text without tags of HTML, and with the characters that its entities name; a block ends its line.

    >>> without_html("<p>Fish &amp; chips.</p><p>It&#39;s <b>hot</b>.</p>")
    "Fish & chips.\\nIt's hot."
    """
    if not _HTML.search(text):
        return text
    for _ in range(_TIMES_ESCAPED):
        text = _HTML.sub(_without_mark, text)
    return text.strip()


def _without_mark(mark: re.Match[str]) -> str:
    """The text in the place of an entity or a tag of HTML: its character, or the end of a line, or nothing."""
    if mark[0].startswith("&"):
        return html.unescape(mark[0])
    return "\n" if _ENDS_LINE.match(mark[0]) else ""


def without_markdown(text: str) -> str:
    """A text without the marks of Markdown: fences, headings, emphasis, links; what they mark stays.

    >>> without_markdown("# One\\n**Two** [three](https://x.org) `4`")
    'One\\nTwo three 4'
    """
    if not any(mark in text for mark in ("#", "*", "_", "`", "](", "~~~")):
        return text
    parts = _FENCE.split(text) if "```" in text or "~~~" in text else [text]  # outside and inside in turn
    for number in range(0, len(parts), 2):
        for pattern, content in _INLINE:
            parts[number] = pattern.sub(content, parts[number])
    stripped = "".join(parts)
    return text if stripped == text else stripped.strip()


def without_outer_blanks(text: str) -> str:
    """A text without blanks at its ends and at the ends of its lines.

    >>> without_outer_blanks(" One  \\ntwo \\n")
    'One\\ntwo'
    """
    return "\n".join(line.rstrip(" \t") for line in text.strip().split("\n"))


def without_line_breaks(text: str) -> str:
    """A text on one line: each run of white space becomes one blank.

    >>> without_line_breaks("One  two.\\n\\nThree. ")
    'One two. Three.'
    """
    return " ".join(text.split())


_NUMBERED = re.compile(r"\A\s*(?:\(?\d{1,5}[.):]|[-*•‣])[ \t]+(?=\S)")
_QUOTED = re.compile(r"\A\s*[\"“«„”‚‘'](.*)[\"”»“’'][.,]?\s*\Z", re.DOTALL)
_FIRST_QUOTE = re.compile('(\\s|\\A)?["“”«»„]')
_APART = re.compile(
    r"(?<=\S) +(?=(?:[.,;:!?%)\]}…]|n't\b|'(?:s|re|ve|ll|d|m)\b|'')(?:\s|$|[.,;:!?)\]\"'”’]))|(?<=[(\[{$£€`]) +(?=\S)"
)
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": '"', "''": '"'}
_BRACKET = re.compile(r"-[LR][RSC]B-|``|''")


def without_outer_quotes(text: str) -> str:
    """A text without quotation marks around all of it.

    >>> [without_outer_quotes(text) for text in ('"Once."', '"No," he said, "never."', '"He said "no" again."')]
    ['Once.', '"No," he said, "never."', 'He said "no" again.']
    """
    match = _QUOTED.fullmatch(text)
    if match is None:
        return text
    inner = _FIRST_QUOTE.search(match[1])  # opens a quotation inside, or closes the one that the text begins with
    return match[1].strip() if inner is None or inner[1] is not None else text


def without_blanks_at_marks(text: str) -> str:
    """A text without what a tokenizer for words put in: blanks around punctuation, names of brackets.

    >>> without_blanks_at_marks("Well , it is n't ( yet ) done ."), without_blanks_at_marks("-LRB- no -RRB-")
    ("Well, it isn't (yet) done.", '(no)')
    """
    if "-LRB-" in text or ("``" in text and "```" not in text):
        text = _BRACKET.sub(lambda mark: _BRACKETS.get(mark[0], mark[0]), text)
    return _APART.sub("", text)


_AS_TYPED = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "–": "-", "—": "--"})


def with_typed_quotes(text: str) -> str:
    """A text with quotation marks, apostrophes and dashes as a keyboard has them.

    >>> print(with_typed_quotes("“It’s late” – he said — “go.”"))
    "It's late" - he said -- "go."
    """
    return text.translate(_AS_TYPED)


_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))  # without joiners, which scripts and emoji need
_NORMALISED = re.compile(r"[^\s…]+")  # unusual blanks are layout of their own, and … is a mark of style


def with_usual_characters(text: str) -> str:
    """A text with the usual forms of its characters, NFKC of Unicode, and without invisible ones.

    >>> with_usual_characters("ﬁve cafe\u0301s, ４２ ＡＢ\u200bＣ…")
    'five cafés, 42 ABC…'
    """
    if text.isascii():
        return text
    return _NORMALISED.sub(lambda word: unicodedata.normalize("NFKC", word[0]), text.translate(_INVISIBLE))


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
        self._prompts = sorted({*map(str.strip, prompts)} - {""})
        self.digest = hashlib.sha256("\0".join(self._prompts).encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def __call__(self, text: str) -> str:
        """The text behind the prompt."""
        start = beginning = text.lstrip()
        while end := bisect_right(self._prompts, beginning):  # no prompt behind it begins the text
            prompt = self._prompts[end - 1]
            if start.startswith(prompt):
                return start[len(prompt) :].strip()
            beginning = os.path.commonprefix([start, prompt])  # noqa: RUF071  (of texts)
        return text


WRAPPING: Mapping[str, Callable[[str], str]] = {  # each by the name that `strip` has for it, in the order of their use
    "undecoded": without_undecoded,
    "reasoning": without_reasoning,
    "special_tokens": without_special_tokens,
    "next_turn": without_next_turn,
    "unicode": with_usual_characters,
    "html": without_html,
    "markdown": without_markdown,
    "list_numbers": partial(_NUMBERED.sub, ""),
    "outer_quotes": without_outer_quotes,
    "whitespace": without_outer_blanks,
    "line_breaks": without_line_breaks,
    "punctuation_blanks": without_blanks_at_marks,
    "quotes": with_typed_quotes,
    "capitals": str.lower,
}

SHOWN: Mapping[str, Callable[[str], object]] = {  # where a rule takes long, or changes what any prose may hold
    "html": _HTML.search,
    "markdown": _MARKDOWN_SEEN.search,
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
    >>> stripping.strip("<think>Hm.</think>Yes."), stripping.changed
    ('Yes.', {'reasoning': 1})
    """

    def __init__(self, rules: str = "no", prompts: Sequence[str] | None = None) -> None:
        wanted = [] if rules == "no" else rules.split(",")
        if "prompts" in wanted and not prompts:
            raise WrongOption(f"strip={rules!r} needs the prompts (--prompts): texts, or the name of their file")
        self.echo = PromptEcho(prompts or ()) if "prompts" in wanted else None
        self._rules: list[tuple[str, Callable[[str], str]]] = []
        for name, rule in WRAPPING.items():
            if self.echo is not None and name == "next_turn":  # the prompt may hold turns and marks
                self._rules.append(("prompts", self.echo))
            if name in wanted:
                self._rules.append((name, rule))
        self.changed = dict.fromkeys(dict(self._rules), 0)

    def strip(self, text: str) -> str:
        """A text without its wrapping."""
        for name, rule in self._rules:
            stripped = rule(text)
            if stripped != text:
                self.changed[name] += 1
                text = stripped
        return text

    def each(self, texts: Iterable[str]) -> Iterator[str]:
        """Texts without their wrapping, one after the other."""
        return map(self.strip, texts)

    def identity(self) -> dict[str, str]:
        """Identity entry of features of such texts: empty where nothing is removed."""
        if not self._rules:
            return {}
        entry = {"strip": ",".join(name for name, _ in self._rules)}
        return entry if self.echo is None else entry | {"prompts": self.echo.digest}


def field_prompts(fields: Iterable[Sequence[object]], sides: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Values of the fields with which more than one in a hundred texts of a side begin, in order, each once.

    Args:
        fields: the values of each field. sides: the texts of each side.

    >>> field_prompts([["Once upon a time", "In a far land"], ["id-0000001"]], [["In a far land it was cold.", "No."]])
    ('Once upon a time', 'In a far land')
    """
    echoed: dict[str, None] = {}
    texts = [*sides]
    for values in fields:
        prompts = dict.fromkeys(filter(None, map(as_prompt, values)))
        echo = PromptEcho(prompts)
        if prompts and any(count_echoes(echo, side) > ECHOED_SHARE * len(side) for side in texts):
            echoed |= prompts
    return tuple(echoed)


def as_prompt(value: object) -> str:
    """A value of a field as a prompt; empty for what is too short, and for no text.

    >>> as_prompt(" Once upon a time"), as_prompt("id-7"), as_prompt(12345678)
    ('Once upon a time', '', '')
    """
    text = value.strip() if isinstance(value, str) else ""
    return text if len(text) >= SHORTEST_PROMPT else ""


def count_echoes(echo: PromptEcho, texts: Iterable[object]) -> int:
    """Number of texts that begin with a prompt and go on after it."""
    return sum(left != text and bool(left) for text in texts if isinstance(text, str) for left in (echo(text),))


def known_prompts(*fields: Sequence[Hashable] | None) -> tuple[str, ...]:
    """The prompts among the values of fields that are known to hold these; None for a field that is missing."""
    return tuple(dict.fromkeys(text for values in fields for value in values or () if (text := as_prompt(value))))
