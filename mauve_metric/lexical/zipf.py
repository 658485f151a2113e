"""Zipf exponent: the slope of token frequency over rank; and how few different tokens make up most of a set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mauve_metric.lexical.ngrams import ngram_counts
from mauve_metric.lexical.tokens import Tokens

TOP_RANKS = 5000
_STEPS = 15  # of the logarithm of the rank, where ranks are thinned


def types_of_mass(texts: Sequence[Tokens], mass: float = 0.8) -> float:
    """Number of the most frequent different tokens that make up a share `mass` of all tokens.

    Ippolito et al. 2020, §6: sampling from truncated distributions needs fewer than people do.

    Args:
        texts: tokens of each text. mass: the share, in (0, 1].

    Returns:
        At least 1; the closer to the human texts' value the better. It grows with the number of texts.

    Raises:
        TypeError: a text is a string. ValueError: mass out of range, or no token.

    >>> types_of_mass([["a"] * 5 + ["b"] * 3 + ["c"] * 2])
    2.0
    """
    if not 0 < mass <= 1:
        raise ValueError(f"mass must be above 0 and at most 1, got {mass}")
    frequencies = np.sort(ngram_counts(texts, 1).frequencies)[::-1]
    if not len(frequencies):
        raise ValueError("types_of_mass needs at least one token, got none")
    reached = np.cumsum(frequencies) >= mass * frequencies.sum() * (1 - 1e-12)
    return float(reached.argmax() + 1)


def zipf_coefficient(texts: Sequence[Tokens], ranks: int | None = TOP_RANKS, thinned: bool = False) -> float:
    """Minus the least-squares slope of log frequency on log rank; human text is near 1 (Holtzman et al. 2020, §5.2).

    The most frequent token has rank 1. A steeper fall (higher) is less diverse, so the closer to the human texts' value
    the better. Holtzman et al. take all ranks (`ranks=None`). The tables of Pillutla et al. 2021 come from thinned
    ranks: 1 to one below `ranks` or the vocabulary, of which the first stays for each different value of
    round(15 ln rank) / 15, and this value is the abscissa, so that the many rare tokens do not rule the line.

    Args:
        texts: tokens of each text.
        ranks: how many of the most frequent tokens count, at least 2; None for all.
        thinned: the rule of Pillutla et al.

    Returns:
        At least 0: frequencies do not rise with the rank. It moves with the number of texts.

    Raises:
        TypeError: a text is a string.
        ValueError: ranks below 2, or too few different tokens for a line.

    >>> round(zipf_coefficient([["a"] * 60 + ["b"] * 30 + ["c"] * 20 + ["d"] * 15]), 6)
    1.0
    """
    if ranks is not None and ranks < 2:
        raise ValueError(f"ranks must be at least 2 or None, got {ranks}")
    frequencies = np.sort(ngram_counts(texts, 1).frequencies)[::-1][:ranks]
    if len(frequencies) < (3 if thinned else 2):
        raise ValueError(
            f"zipf_coefficient needs at least {3 if thinned else 2} different tokens, got {len(frequencies)}"
        )
    x = np.log(np.arange(1, len(frequencies) + 1))
    if thinned:
        x, kept = np.unique(np.round(x[:-1] * _STEPS) / _STEPS, return_index=True)
        frequencies = frequencies[kept]
    y = np.log(frequencies)
    x = x - x.mean()
    return max(float(-(x @ (y - y.mean())) / (x @ x)), 0.0)
