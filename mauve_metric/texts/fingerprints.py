"""Facts recorded while texts are read: hashes, wrappings and first words, and their format in numbers."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mauve_metric.texts.wrapping import SHOWN, WRAPPING

SHORTEST_OPENING, LONGEST_OPENING = 2, 6  # words
_INNER = ("reasoning", "special_tokens")  # which are taken off before the rest is looked at
RARE_SHARE = 0.005  # of texts: openings that fewer have are ignored
_LOOKED_AT = 64  # characters of a text that contain its first words
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Marks:
    """Wrappings and openings of the texts of one set.

    wrapped: how many texts show each kind of `wrapping.WRAPPING`. openings: how many texts begin with the same
    six words, or fewer where a text has no more; None if that is not known. texts: how many there are.
    """

    wrapped: Mapping[str, int]
    openings: Mapping[tuple[str, ...], int] | None = field(repr=False)
    texts: int

    @classmethod
    def of_all(cls, sets: Sequence[Marks]) -> Marks:
        """Add up the marks of sets."""
        wrapped: Counter[str] = Counter()
        openings: Counter[tuple[str, ...]] = Counter()
        for part in sets:
            wrapped.update(part.wrapped)
            openings.update(part.openings or {})
        known = all(part.openings is not None for part in sets)
        return cls(dict(wrapped), dict(openings) if known else None, sum(part.texts for part in sets))

    def free_of(self, rules: Sequence[str]) -> bool:
        """Return whether rules would change none of the texts, as far as known: of reasoning and special tokens."""
        return {*rules} <= {*_INNER} and not any(self.wrapped.get(name) for name in _INNER)

    @cached_property
    def common_openings(self) -> dict[tuple[str, ...], int]:
        """Number of texts with each opening of two to six words that at least `RARE_SHARE` of them have."""
        found: dict[tuple[str, ...], int] = {}
        left = dict(self.openings or {})
        for length in range(SHORTEST_OPENING, LONGEST_OPENING + 1):
            counts: Counter[tuple[str, ...]] = Counter()
            for words, times in left.items():
                if len(words) >= length:
                    counts[words[:length]] += times
            common = {words: times for words, times in counts.items() if times >= RARE_SHARE * self.texts}
            left = {words: times for words, times in left.items() if words[:length] in common}
            found |= common
        return found


def first_words(text: str) -> tuple[str, ...]:
    """The words at the beginning of a text, at most six, after case folding, without punctuation.

    >>> first_words("**Sure!** Here's a story about an old king.")
    ('sure', "here's", 'a', 'story', 'about', 'an')
    """
    return tuple(_WORD.findall(text[:_LOOKED_AT].casefold())[:LONGEST_OPENING])


_QUOTES = re.compile("[\"'`“”‘’«»„]")
_CAPITALS = re.compile("[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]")
_DASHES = re.compile("[–—]| - |--")
_MARKDOWN = re.compile(r"^\s*(?:[#>*+-]|\d+[.)])\s|\*\*|__|`|\]\(", re.MULTILINE)


class Format(NamedTuple):
    """One number of a text. what: its name in a sentence. cure: what takes the difference away, in words."""

    what: str
    cure: str
    of: Callable[[str], float]


def _rate(number: float, text: str) -> float:
    return number / max(len(text), 1)


def _kind(mark: str) -> float:
    """0 for a small letter or nothing, 1 for a capital, 2 for a digit, 3 for anything else."""
    return 1.0 if mark.isupper() else 2.0 if mark.isdigit() else 0.0 if mark.isalpha() or not mark else 3.0


_STRIP_LINES = "strip='line_breaks' (--strip line_breaks) makes each text one line"
_STRIP_OUTER = "strip='whitespace' (--strip whitespace) takes blanks off both ends"
_LENGTHS = "match_lengths='truncate' (--match-lengths truncate) cuts both sets to one length"
_TYPOGRAPHY = "write the marks of both sets in one way before they are scored"
_MARKS = "strip='markdown' (--strip markdown) takes it off"
_NONE = "none, it is how the model writes"
_ENDS = "cut both sets at the end of a sentence"

FORMATS: dict[str, Format] = {
    "length": Format("length", _LENGTHS, lambda text: float(len(text))),
    "line_breaks": Format("line breaks", _STRIP_LINES, lambda text: _rate(text.strip().count("\n"), text)),
    "double_blanks": Format("double blanks", _STRIP_LINES, lambda text: _rate(text.count("  "), text)),
    "outer_blanks": Format(
        "blanks at the ends", _STRIP_OUTER, lambda text: float(text[:1].isspace()) + 2.0 * text[-1:].isspace()
    ),
    "first_character": Format("first characters", _ENDS, lambda text: _kind(text.lstrip()[:1])),
    "last_character": Format(
        "last characters", _ENDS, lambda text: float(text.rstrip("\"'”’) \n\t")[-1:] in (".", "!", "?", "…"))
    ),
    "capitals": Format("capital letters", _TYPOGRAPHY, lambda text: _rate(len(_CAPITALS.findall(text)), text)),
    "quotes": Format("quotation marks", _TYPOGRAPHY, lambda text: _rate(len(_QUOTES.findall(text)), text)),
    "curly_quotes": Format("curly quotes", _TYPOGRAPHY, lambda text: _rate(sum(map(text.count, "“”‘’")), text)),
    "dashes": Format("dashes", _TYPOGRAPHY, lambda text: _rate(len(_DASHES.findall(text)), text)),
    "markdown": Format("Markdown", _MARKS, lambda text: _rate(len(_MARKDOWN.findall(text)), text)),
    "word_length": Format("characters a word", _NONE, lambda text: len(text) / max(len(text.split()), 1)),
}


def format_numbers(text: str) -> list[float]:
    """One number for each of `FORMATS`.

    >>> dict(zip(FORMATS, format_numbers("One\\ntwo.")))["line_breaks"]
    0.125
    """
    return [item.of(text) for item in FORMATS.values()]


OPENING_WORDS = 8  # texts with so many first words in common were written from one prompt


class TextHashes:
    """Collect hashes of texts and of their first words, their wrappings and format, while they are read."""

    def __init__(self) -> None:
        self.texts: list[int] = []
        self.openings: list[int] = []
        self.formats: list[list[float]] = []
        self._wrapped = dict.fromkeys(WRAPPING, 0)
        self._first_words: Counter[tuple[str, ...]] = Counter()

    def watch(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the same texts, and record each."""
        for text in texts:
            self.texts.append(_hash(text))
            self.formats.append(format_numbers(text))
            self.openings.append(_hash(" ".join(text.split(maxsplit=OPENING_WORDS)[:OPENING_WORDS])))
            inner = text  # without its reasoning and its special tokens
            for name in _INNER:
                outer, inner = inner, WRAPPING[name](inner)
                self._wrapped[name] += inner != outer
            for name, shows in SHOWN.items():
                self._wrapped[name] += shows(inner)
            self._first_words[first_words(inner)] += 1
            yield text

    def marks(self) -> Marks:
        """Marks recorded so far."""
        return Marks(dict(self._wrapped), dict(self._first_words), len(self.texts))

    def fields(self) -> dict[str, Any]:
        """The fields of `FeatureSet`: hashes, (n,) each, marks, and numbers of the format, (n, f)."""
        return {
            "text_hashes": np.array(self.texts, dtype=np.uint64),
            "opening_hashes": np.array(self.openings, dtype=np.uint64),
            "marks": self.marks(),
            "format_numbers": np.array(self.formats, dtype=np.float64).reshape(len(self.formats), len(FORMATS)),
        }


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
