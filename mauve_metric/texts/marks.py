"""Marks recorded while texts are read: how many are wrapped in something, and the words they open with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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

    def __add__(self, other: Marks) -> Marks:
        """Of both sets together."""
        return Marks.of_all([self, other])

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


class MarksSeen:
    """Collect the marks of texts while they are read."""

    def __init__(self) -> None:
        self._wrapped = dict.fromkeys(WRAPPING, 0)
        self._openings: Counter[tuple[str, ...]] = Counter()
        self._texts = 0

    def note(self, text: str) -> None:
        """Record the marks of one text, those inside of its reasoning and special tokens too."""
        self._texts += 1
        for name in _INNER:
            inner = WRAPPING[name](text)
            if inner != text:
                self._wrapped[name] += 1
                text = inner
        for name, shows in SHOWN.items():
            if shows(text):
                self._wrapped[name] += 1
        self._openings[first_words(text)] += 1

    def marks(self) -> Marks:
        """Marks recorded so far."""
        return Marks(dict(self._wrapped), dict(self._openings), self._texts)


def first_words(text: str) -> tuple[str, ...]:
    """The words at the beginning of a text, at most six, after case folding, without punctuation.

    >>> first_words("**Sure!** Here's a story about an old king.")
    ('sure', "here's", 'a', 'story', 'about', 'an')
    """
    return tuple(_WORD.findall(text[:_LOOKED_AT].casefold())[:LONGEST_OPENING])
