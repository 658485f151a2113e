"""Measures from the probabilities of tokens: perplexities, sparsemax score, first choices, ranks.

Arrays of all predicted tokens of a set, text after text, (T,); `offsets` (n + 1,) says where each of its n texts begins
and the last one ends. Every text has at least one.
"""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.runtime.checks import check_least

EPSILON = 1e-5
WINDOW = 64  # tokens that are looked back on for rep-ℓ and wrep-ℓ (Welleck et al. 2020 also give 16, 32 and 128)
RANK_EDGES = (1, 5, 100)  # the highest rank of each bin but the last (Ippolito 2021, §3.4, who calls them GLTR's)


def epsilon_log_probabilities(log_probabilities: Floats, vocabulary_size: int, epsilon: float = EPSILON) -> Floats:
    """log((p + ε)/(1 + ε·V)) of each token, (T,): finite where a truncated model gives p = 0.

    Their perplexity is the ε-perplexity, in [1, ∞), lower is better for human text (Martins et al. 2020, §4.3). The
    published values for MAUVE's models follow with ε = 10⁻⁵, the default. 0: the plain perplexity.

    Args:
        log_probabilities: natural, (T,). vocabulary_size: V. epsilon: what each probability is raised by.

    Raises:
        ValueError: epsilon below 0 or not finite.

    >>> np.exp(-epsilon_log_probabilities(np.log([1 / 8, 1 / 8]), 8, epsilon=0.1)).round(6).tolist()
    [8.0, 8.0]
    """
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be a number of at least 0, got {epsilon}")
    if epsilon == 0:
        return log_probabilities
    smoothed: Floats = np.log(np.exp(log_probabilities) + epsilon) - np.log1p(epsilon * vocabulary_size)
    return smoothed


def token_jensen_shannon(log_probabilities: Floats) -> Floats:
    """Jensen–Shannon divergence of a model's distribution and the token that came, of each token, (T,).

    log 2 + p/2·log p - (1 + p)/2·log(1 + p) with p the token's probability, in [0, log 2], lower is better for human
    text (Martins et al. 2020, §4.3).

    >>> token_jensen_shannon(np.array([0.0, -np.inf])).round(4).tolist()
    [0.0, 0.6931]
    """
    p = np.exp(log_probabilities)
    p_log_p = np.multiply(p, log_probabilities, out=np.zeros_like(p), where=p > 0)
    divergences: Floats = np.clip(np.log(2) + p_log_p / 2 - (1 + p) / 2 * np.log1p(p), 0.0, np.log(2))
    return divergences


def repeated_choices(
    most_likely: Integers, token_ids: Integers, offsets: Integers, first_ids: Integers, window: int = WINDOW
) -> Floats:
    """1 where the model's first choice is among the `window` tokens before the predicted one, else 0, (T,).

    Their mean is rep-ℓ (Welleck et al. 2020, §6), in [0, 1]; times 1 where the choice is not the token that came, it is
    wrep-ℓ.

    Args:
        most_likely: id of the first choice for each token, (T,). token_ids: of the predicted tokens, (T,).
        offsets: of the texts, (n + 1,). first_ids: the token before each text's first predicted token, (n,); negative
            for nothing. window: ℓ.

    Raises:
        ValueError: window below 1.

    >>> repeated_choices(np.array([7, 5, 6]), np.array([6, 7, 8]), np.array([0, 3]), np.array([5])).tolist()
    [0.0, 1.0, 1.0]
    """
    check_least("window", window)
    texts = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    begins = offsets[:-1] + np.arange(len(offsets) - 1)  # of each text, its first token counted
    places = np.arange(len(token_ids)) + texts + 1
    size = len(token_ids) + len(begins)
    stream = np.empty(size, dtype=np.int64)
    stream[begins], stream[places] = first_ids, token_ids
    keys = np.sort(stream * size + np.arange(size))  # by token, then by place
    last = keys[np.maximum(np.searchsorted(keys, most_likely * size + places) - 1, 0)]  # the nearest place before
    said: Floats = (
        (last // size == most_likely)
        & (last % size < places)
        & (last % size >= np.maximum(places - window, begins[texts]))
    ).astype(np.float64)
    return said


def rank_counts(ranks: Integers, offsets: Integers, edges: tuple[int, ...] = RANK_EDGES) -> Integers:
    """Number of tokens of each text with their rank in each bin, (n, bins).

    Args:
        ranks: 1 for a token that no other is more likely than, (T,). offsets: of the texts.
        edges: the highest rank of each bin but the last.

    >>> rank_counts(np.array([1, 3, 200]), np.array([0, 2, 3]), (1, 5, 100)).tolist()
    [[1, 1, 0, 0], [0, 0, 0, 1]]
    """
    texts, bins = len(offsets) - 1, len(edges) + 1
    cells = np.repeat(np.arange(texts) * bins, np.diff(offsets)) + np.searchsorted(edges, ranks)
    return np.bincount(cells, minlength=texts * bins).reshape(texts, bins).astype(np.int64)


def sums_by_text(values: Floats, offsets: Integers) -> Floats:
    """The sum of the tokens' values in each text, (n,)."""
    sums: Floats = np.add.reduceat(values, offsets[:-1])
    return sums


def mean_by_text(values: Floats, offsets: Integers) -> Floats:
    """One number a text, (n,), whose mean is the mean of all tokens, and whose scatter is the error of that.

    With S_i and T_i a text's sum and tokens and m = ΣS/ΣT: m + (S_i - m·T_i)·n/ΣT. Long texts weigh more in a mean of
    tokens, which the mean of the texts' means would not be; linearised like this (Särndal et al. 1992, §5.6) a ratio is
    a mean over texts, and a bootstrap of that is honest.

    >>> mean_by_text(np.array([1.0, 0.0, 0.0, 1.0, 1.0]), np.array([0, 2, 5])).mean().round(6).tolist()
    0.6
    """
    _check_some(values)
    mean, texts = values.mean(), len(offsets) - 1
    numbers: Floats = mean + (sums_by_text(values, offsets) - mean * np.diff(offsets)) * texts / len(values)
    return numbers


def perplexity_by_text(log_probabilities: Floats, offsets: Integers, without_probability: Integers) -> Floats:
    """One number a text, (n,), whose mean is the perplexity of all tokens, and whose scatter is the error of that.

    The perplexity is exp(-Σ log R(x_t | x_<t) / T): how surprised a model R is by each token, in [1, ∞); the human
    value is best (Holtzman et al. 2020, §4; Pillutla et al. 2021, §4). `mean_by_text` carried through the exponential:
    v - v·(m_i - m) with v = exp(-m).

    Args:
        log_probabilities: natural, (T,). offsets: of the texts.
        without_probability: tokens of each text that T counts besides the predicted ones, (n,): the experiment code of
            MAUVE divides by all tokens, though the first of each text has no probability, which gives a little less.

    Raises:
        ValueError: there is no token.

    >>> logs, offsets = np.log([0.25, 0.25, 0.25]), np.array([0, 3])
    >>> [perplexity_by_text(logs, offsets, np.array([more])).round(4).tolist() for more in (0, 1)]
    [[4.0], [2.8284]]
    """
    _check_some(log_probabilities)
    tokens = np.diff(offsets) + without_probability
    if np.isneginf(log_probabilities).any():  # under a decoder that never takes a token
        return np.full(len(tokens), np.inf)
    sums = sums_by_text(log_probabilities, offsets)
    mean = sums.sum() / tokens.sum()
    numbers: Floats = np.exp(-mean) * (1 - (sums - mean * tokens) * len(tokens) / tokens.sum())
    return numbers


def _check_some(values: Floats) -> None:
    if not len(values):
        raise ValueError("there is no predicted token")
