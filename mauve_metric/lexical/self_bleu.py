"""Overlap of each text with the other texts of its set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.lexical.ngrams import NgramCounts, ngram_counts, starts_run
from mauve_metric.lexical.tokens import Tokens, number_tokens
from mauve_metric.runtime.checks import check_least

_NO_MATCH = 0.1  # in place of a numerator of 0: smoothing method 1 of Chen & Cherry 2014, as in NLTK


def self_bleu(texts: Sequence[Tokens], n: int = 4) -> float:
    """Mean BLEU of the texts, each against all others as its references (Zhu et al. 2018, §3.4).

    In [0, 1]: 1 if every text (of at least n tokens) has a twin, lower is more diverse. It rises with the number of
    texts, so only sets of one size compare; a mean of dependent parts, it has no bootstrap interval. All
    texts are scored against all others, in time linear in the tokens, where the usual implementations draw a sample.

    Args:
        texts: tokens of each text, at least 2 texts.
        n: longest n-grams; those of 1 to n tokens have equal weight.

    Raises:
        TypeError: a text is a string.
        ValueError: fewer than 2 texts, or n below 1.

    >>> self_bleu([["so", "we", "beat", "on"], ["so", "we", "beat", "on"]])
    1.0
    """
    return float(bleu_against_others(texts, n).mean())


def bleu_against_others(texts: Sequence[Tokens], n: int = 4) -> Floats:
    """BLEU of each text with all others as its references, equal to NLTK's `sentence_bleu` with smoothing method 1.

    The geometric mean of the clipped precisions of 1- to n-grams (a precision without a match has 0.1 as numerator, one
    without n-grams 1 as denominator), times exp(1 - r / length) where the closest reference's length r is not below
    the text's; of two at one distance the shorter. 0 without a token that another text has. An n-gram is clipped at the
    most that another text has of it: the largest count of all, unless it is this text's alone, then the second largest.

    Args:
        texts: tokens of each text, at least 2 texts.
        n: longest n-grams.

    Returns:
        Scores in [0, 1], shape (n,); lower is further from the others.

    Raises:
        TypeError: a text is a string.
        ValueError: fewer than 2 texts, or n below 1.

    >>> bleu_against_others([["a"], ["a"]]).round(6)  # the value of one known token: .1 to the power of 3/4
    array([0.177828, 0.177828])
    """
    check_least("n", n)
    if len(texts) < 2:
        raise ValueError(f"self_bleu compares each text with the others and needs at least 2 texts, got {len(texts)}")
    tokens = number_tokens(texts)
    logarithms, known = np.zeros(len(texts)), np.zeros(len(texts), dtype=bool)
    for order in range(1, n + 1):
        counts = ngram_counts(tokens, order)
        matches = counts.per_text(np.minimum(counts.times, _most_elsewhere(counts)))
        known = matches > 0 if order == 1 else known
        possible = np.maximum(tokens.lengths - order + 1, 1)
        logarithms += np.log(np.where(matches > 0, matches, _NO_MATCH) / possible)
    return np.where(known, _brevity(tokens.lengths) * np.exp(logarithms / n), 0.0)


def self_repetition(texts: Sequence[Tokens], n: int = 4) -> float:
    """Mean over texts of log(1 + Σ over its different n-grams of the number of other texts with the n-gram).

    At least 0, without bound; lower is more diverse, 0 if no two texts share an n-gram (Salkar et al. 2022; Shaib et
    al. 2024, §3). It rises with the number of texts and with their length.

    Args:
        texts: tokens of each text, at least 2 texts.
        n: tokens of an n-gram, at least 1.

    Raises:
        TypeError: a text is a string.
        ValueError: fewer than 2 texts, or n below 1.

    >>> round(self_repetition([["a", "b", "c"], ["a", "b"], ["d", "e"]], n=2), 4)  # log 2, log 2, log 1
    0.4621
    """
    if len(texts) < 2:
        raise ValueError(f"self_repetition compares texts with each other and needs at least 2, got {len(texts)}")
    counts = ngram_counts(texts, n)
    return float(np.log1p(counts.per_text(counts.texts_with[counts.gram] - 1)).mean())


def _most_elsewhere(counts: NgramCounts) -> Integers:
    """The largest count of each entry's n-gram in a text other than the entry's, (e,)."""
    if not len(counts.gram):
        return counts.times
    first = np.flatnonzero(starts_run(counts.gram))
    is_most = counts.times == np.maximum.reduceat(counts.times, first)[counts.gram]
    alone = is_most & (np.add.reduceat(is_most.astype(np.int64), first)[counts.gram] == 1)
    most = np.maximum.reduceat(counts.times, first)[counts.gram]
    second = np.maximum.reduceat(np.where(is_most, 0, counts.times), first)[counts.gram]
    return np.where(alone, second, most)


def _brevity(lengths: Integers) -> Floats:
    """The factor for texts that are shorter than the closest other, (n,)."""
    order = np.argsort(lengths, kind="stable")
    ranked = lengths[order].astype(np.float64)
    below = np.concatenate([[-np.inf], ranked[:-1]])
    above = np.concatenate([ranked[1:], [np.inf]])
    closest = np.empty(len(lengths))
    closest[order] = np.where(ranked - below <= above - ranked, below, above)
    factor = np.exp(np.minimum(1 - closest / np.maximum(lengths, 1), 0))
    return np.where(lengths > 0, factor, 0.0)
