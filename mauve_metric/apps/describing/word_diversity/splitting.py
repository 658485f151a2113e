"""Texts as words: as they are written, or between blanks."""

from __future__ import annotations

import re

from mauve_metric.apps.lexical.tokens import UNSPACED

_SPACED = re.compile(rf"(?!\s){UNSPACED.pattern}|(?:(?!{UNSPACED.pattern})\S)+")
_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*|[^\w\s]|_+")


def split_words(text: str) -> list[str]:
    """Words as they are written, with their case, and each mark of punctuation by itself.

    >>> split_words("Don't panic: 3.5 km, said he.")
    ["Don't", 'panic', ':', '3.5', 'km', ',', 'said', 'he', '.']
    """
    return _WORD.findall(text)


def spaced_tokens(text: str) -> list[str]:
    """Split a text at blanks, and scripts without blanks into characters.

    >>> spaced_tokens("A cat,  a 黑猫")
    ['A', 'cat,', 'a', '黑', '猫']
    """
    return (text if text.isascii() else UNSPACED.sub(r" \g<0> ", text)).split()


def spaced_places(text: str) -> list[tuple[int, int]]:
    """The start and the end of each of the `spaced_tokens` of a text.

    >>> spaced_places("A cat,  猫")
    [(0, 1), (2, 6), (8, 9)]
    """
    return [match.span() for match in _SPACED.finditer(text)]
