"""Texts that end in a phrase said over and over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.lexical.tokens import Tokens, number_tokens
from mauve_metric.runtime.checks import check_least

MAX_PHRASE = 90  # tokens of the longest phrase whose repetition is looked for (Holtzman et al. 2020)
MAX_PHRASE_OF_MAUVE = 500  # the same in the experiments of Pillutla et al. 2021
_MANY_COPIES = 50  # of a phrase of one or two tokens; fewer are no degeneration ("very, very")


def repetition(texts: Sequence[Tokens], max_phrase: int = MAX_PHRASE) -> float:
    """Share of texts that end in a phrase said over and over: the mean of `ends_repeating`; 0 without texts.

    >>> repetition([["I", "do", "not", "I", "do", "not"], ["no", "no"]])
    0.5
    """
    return float(ends_repeating(texts, max_phrase).mean()) if texts else 0.0


def ends_repeating(texts: Sequence[Tokens], max_phrase: int = MAX_PHRASE) -> Floats:
    """1 for each text that ends in a phrase said over and over, else 0; lower is better (Holtzman et al. 2020, §5).

    With R_n the number of copies in a row of the last n tokens at the end, and n* the smallest n of the largest R_n, a
    text counts if R_n* > 1 and n* >= 3, or R_n* > 50. Holtzman et al. look for phrases of at most 90 tokens, Pillutla
    et al. 2021 of at most 500. A token that ends every text hides the repetition before it: strip it first.

    Args:
        texts: tokens of each text.
        max_phrase: tokens of the longest phrase to look for, at least 1.

    Returns:
        Zeros and ones, shape (n,).

    Raises:
        TypeError: a text is a string.
        ValueError: max_phrase below 1.

    >>> ends_repeating([["I", "do", "not", "I", "do", "not"], ["no", "no"]])
    array([1., 0.])
    """
    check_least("max_phrase", max_phrase)
    return np.array([_ends_repeating(tokens, max_phrase) for tokens in number_tokens(texts)], dtype=np.float64)


def _ends_repeating(tokens: Sequence[int], max_phrase: int) -> bool:
    best, length = 1, 0
    for n in range(1, min(max_phrase, len(tokens) // 2) + 1):
        copies = _copies_at_end(tokens, n)
        if copies > best:
            best, length = copies, n
    return best > 1 and (length >= 3 or best > _MANY_COPIES)


def _copies_at_end(tokens: Sequence[int], n: int) -> int:
    """Number of times in a row that the last n tokens occur at the end."""
    run = n  # the end repeats with period n as far as each token equals the one n places later
    while run < len(tokens) and tokens[-run - 1] == tokens[-run - 1 + n]:
        run += 1
    return run // n
