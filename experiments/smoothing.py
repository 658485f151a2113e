"""Smoothed histograms: from counts of texts in buckets to probabilities, by the rules of Liu et al. 2021."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mauve_metric.arrays import Array, Counts, Floats
from mauve_metric.runtime.checks import check_known


def _good_turing(counts: Counts) -> Array:
    """The form of Orlitsky and Suresh 2015: buckets with the same count share what that count weighs.

    With φ_t buckets of t texts, those of t below the largest count weigh (φ_(t+1) + 1)(t + 1) in all if φ_(t+1) ≥ t,
    otherwise t·φ_t.
    """
    kinds, kind_of, how_many = np.unique(counts, return_inverse=True, return_counts=True)
    number = dict(zip(kinds.tolist(), how_many.tolist(), strict=True))
    weights = []
    for t, same in number.items():
        above = number.get(t + 1, 0)
        weights.append((above + 1) * (t + 1) / same if t < kinds[-1] and above >= t else float(t))
    return np.array(weights)[kind_of]


SMOOTHINGS: dict[str, Callable[[Counts], Array]] = {  # weights of the buckets
    "none": lambda counts: counts.astype(np.float64),
    "laplace": lambda counts: counts + 1.0,
    "krichevsky_trofimov": lambda counts: counts + 0.5,
    "braess_sauer": lambda counts: counts + np.select([counts == 0, counts == 1], [0.5, 1.0], 0.75),
    "good_turing": _good_turing,
}


def smoothed(counts: Counts, rule: str = "krichevsky_trofimov") -> Floats:
    """Probabilities of k buckets from the number of texts in each (Liu et al. 2021).

    "none": counts over their sum; "laplace": after 1 was added to each; "krichevsky_trofimov": ½, as in the `_star`
    scores; "braess_sauer": ½ to 0, 1 to 1, ¾ to more; "good_turing": the weight of t texts from the buckets of t + 1.

    Args:
        counts: shape (k,), at least one text; empty buckets count, so the result depends on k. rule: which.

    Returns:
        Shape (k,), of sum 1; positive everywhere but for "none".

    Raises:
        ValueError: an unknown rule, or counts that are no counts.

    >>> smoothed(np.array([3, 1, 0]), "braess_sauer").tolist()
    [0.6, 0.32, 0.08]
    """
    check_known("rule", rule, SMOOTHINGS)
    counts = np.asarray(counts)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 0).any() or counts.sum() == 0:
        raise ValueError(f"counts must be a vector of non-negative integers with a positive sum, got {counts!r}")
    weights = SMOOTHINGS[rule](counts)
    shares: Floats = weights / weights.sum()
    return shares
