"""Texts as words, numbers or sentences with the gaps between them; changes of some of these pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from mauve_metric.apps.lexical.tokens import UNSPACED
from mauve_metric.arrays import Integers
from mauve_metric.runtime.checks import check_number
from mauve_metric.runtime.plain_text import is_blank

MOST = 0.9  # of a text's words, or of the texts, that the strongest change takes away: all of them would leave none
_CHARACTERS = UNSPACED.pattern[1:-1]
_WORD = re.compile(rf"[{_CHARACTERS}]|[^\s{_CHARACTERS}]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[]*[^\Wa-z_])|(?<=[。！？])|\s*\n\s*")

Perturb: TypeAlias = Callable[..., list[str]]  # of texts, a strength and a seed


@dataclass
class Pieces:
    """A text in pieces, which can be replaced, or left out by an empty one.

    gaps: the text before each piece and after the last; one more than there are pieces.
    """

    pieces: list[str]
    gaps: list[str]

    def __len__(self) -> int:
        return len(self.pieces)

    def joined(self) -> str:
        """The text again; the gap before a piece that is left out goes with it."""
        kept = [(gap, piece) for gap, piece in zip(self.gaps, self.pieces, strict=False) if piece]
        if not kept:
            return self.gaps[-1]
        return self.gaps[0] + kept[0][1] + "".join(gap + piece for gap, piece in kept[1:]) + self.gaps[-1]


def words_in(text: str) -> Pieces:
    """Pieces between blanks; in scripts without blanks each character.

    >>> words_in("A cat,  a 黑猫.")
    Pieces(pieces=['A', 'cat,', 'a', '黑', '猫', '.'], gaps=['', ' ', '  ', ' ', '', '', ''])
    """
    return _split(text, [match.span() for match in _WORD.finditer(text)])


def numbers_in(text: str) -> Pieces:
    """Numbers, with their commas and points.

    >>> numbers_in("3 of 1,000.").pieces
    ['3', '1,000']
    """
    return _split(text, [match.span() for match in _NUMBER.finditer(text)])


def sentences_in(text: str) -> Pieces:
    """Sentences and lines, as far as punctuation and capital letters tell.

    >>> sentences_in("He ran. She did too, e.g. today!").pieces
    ['He ran.', 'She did too, e.g. today!']
    """
    between = list(_BETWEEN_SENTENCES.finditer(text))
    starts = [0, *(match.end() for match in between)]
    ends = [*(match.start() + len(_closing_marks(match[0])) for match in between), len(text)]
    spans = [_without_blanks(text, start, end) for start, end in zip(starts, ends, strict=True)]
    return _split(text, [(start, end) for start, end in spans if start < end])


def _closing_marks(between: str) -> str:
    """The quotation marks and brackets at the beginning of what is between two sentences, which belong to the first."""
    return between[: len(between) - len(between.lstrip("\"'”’»)]"))]


def _without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of a part of a text without the blanks around it; of blanks alone, the end and the start."""
    part = text[start:end]
    return end - len(part.lstrip()), start + len(part.rstrip())


def _split(text: str, spans: Sequence[tuple[int, int]]) -> Pieces:
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    return Pieces([text[start:end] for start, end in spans], gaps)


def generator(seed: int, number: int = 0) -> np.random.Generator:
    """The random numbers of one text: the same for every strength, so that a stronger change touches the same more."""
    return np.random.default_rng((seed, number))


def amount(count: int, strength: float) -> int:
    """Number of pieces that a strength changes, rounded.

    >>> amount(10, 0.25), amount(1, 0.5), amount(3, 0.0)
    (3, 1, 0)
    """
    return int(strength * count + 0.5)


def touched(count: int, strength: float, rng: np.random.Generator) -> Integers:
    """Indices of the pieces to change, in random order; those of a lower strength come first."""
    return rng.permutation(count)[: amount(count, strength)]


def check_strength(strength: float) -> float:
    """A strength as it was given; an error unless it is a number from 0 to 1."""
    return check_number("strength", strength, "[0, 1]")


def draws(count: int, strength: float, rng: np.random.Generator, size: int) -> Iterator[tuple[int, int]]:
    """The pieces to change of so many, each with a random number below `size`."""
    places, drawn = touched(count, strength, rng), rng.integers(max(size, 1), size=count)
    return zip(places.tolist(), drawn[places].tolist(), strict=True)


def change_in(split: Callable[[str], Pieces], change: Callable[[Pieces, float, np.random.Generator], None]) -> Perturb:
    """Turn a function that changes the pieces of one text, in place, into a function of texts.

    split: from a text to its pieces. A text that would become empty stays as it is.
    """

    def perturb(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
        if check_strength(strength) == 0:
            return list(texts)
        perturbed = []
        for number, text in enumerate(texts):
            pieces = split(text)
            change(pieces, strength, generator(seed, number))
            new = pieces.joined()
            perturbed.append(text if is_blank(new) else new)
        return perturbed

    return perturb


change_words = partial(change_in, words_in)
change_numbers = partial(change_in, numbers_in)
change_sentences = partial(change_in, sentences_in)
