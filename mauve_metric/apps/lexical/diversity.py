"""Diversity of a set of texts: different n-grams, token frequencies, repetition, compression; length of texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mauve_metric.apps.lexical.ngrams import ngram_counts
from mauve_metric.apps.lexical.tokens import Tokens, number_tokens
from mauve_metric.arrays import Floats
from mauve_metric.runtime.checks import check_least

MAX_PHRASE = 90  # tokens of the longest phrase whose repetition is looked for (Holtzman et al. 2020)
MAX_PHRASE_OF_MAUVE = 500  # the same in the experiments of Pillutla et al. 2021
_MANY_COPIES = 50  # of a phrase of one or two tokens; fewer are no degeneration ("very, very")


def distinct_n(texts: Sequence[Tokens], n: int = 4) -> float:
    """Distinct n-grams over all n-grams of the texts pooled; in [0, 1], higher is more diverse.

    Texts shorter than n add none; without any n-gram the share is 0. It falls with the number of texts, so only sets
    of one size compare (Pillutla et al. 2021, with n = 4).

    Args:
        texts: tokens of each text.
        n: tokens of an n-gram, at least 1.

    Raises:
        TypeError: a text is a string.
        ValueError: n below 1.

    >>> distinct_n([["a", "b", "a", "b"]], n=2)
    0.6666666666666666
    """
    counts = ngram_counts(texts, n)
    total = int(counts.times.sum())
    return counts.num_grams / total if total else 0.0


def lengths(texts: Sequence[Tokens]) -> Floats:
    """Number of tokens of each text, shape (n,); the closer its mean to that of human texts the better.

    >>> lengths([["a", "b"], ["a"]])
    array([2., 1.])
    """
    return number_tokens(texts).lengths.astype(np.float64)


def mean_length(texts: Sequence[Tokens]) -> float:
    """Mean number of tokens; 0 without texts.

    >>> mean_length([["a", "b"], ["a"]])
    1.5
    """
    return float(lengths(texts).mean()) if texts else 0.0


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
    repeats = np.zeros(len(texts))
    for number, tokens in enumerate(number_tokens(texts)):
        best, length = 1, 0
        for n in range(1, min(max_phrase, len(tokens) // 2) + 1):
            run = n  # the end repeats with period n as far as each token equals the one n places later
            while run < len(tokens) and tokens[-run - 1] == tokens[-run - 1 + n]:
                run += 1
            if run // n > best:
                best, length = run // n, n
        repeats[number] = best > 1 and (length >= 3 or best > _MANY_COPIES)
    return repeats
