"""Buckets of texts: what a quantizer gives, and counts of it, the input of all histogram scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Counts, Floats, Integers, Labels
from mauve_metric.measures.groups import GroupCounts, count_groups
from mauve_metric.runtime.checks import check_number

Advance = Callable[[int, int | None], None]  # called with the steps done and those in all
MOST_SINGLES = 1.75  # buckets with a single text, over the root of the filled ones: beyond, no interval is wide enough


class Quantized(NamedTuple):
    """The bucket of each row, (n,), in 0 … cells - 1; and a problem with them as a half-sentence, or None."""

    labels: Labels
    problem: str | None = None


@dataclass(frozen=True, eq=False)  # arrays have no equality that is one truth value
class Histograms:
    """Number of texts of P and of Q in each bucket; all histogram scores follow from it. Equal to itself alone.

    Attributes:
        p_counts, q_counts: integers, shape (num_buckets,).
        groups: the texts of each group (prompt) in each bucket; None: every text is independent of all others.
    """

    p_counts: NDArray[np.int64]
    q_counts: NDArray[np.int64]
    groups: GroupCounts | None = None

    def __post_init__(self) -> None:
        for name in ("p_counts", "q_counts"):
            counts = np.asarray(getattr(self, name))
            if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 0).any() or counts.sum() == 0:
                raise ValueError(
                    f"{name} must be a vector of non-negative integers with a positive sum, got {counts!r}"
                )
            object.__setattr__(self, name, counts.astype(np.int64))
        if len(self.p_counts) != len(self.q_counts):
            raise ValueError(
                f"p_counts and q_counts must have the same length, got {len(self.p_counts)} and {len(self.q_counts)}"
            )

    def probabilities(self, smoothing: float = 0.0) -> tuple[Floats, Floats]:
        """Both histograms with `smoothing` added to every count: ½ is Krichevsky–Trofimov (Liu et al. 2021, §4).

        Raises:
            WrongOption: `smoothing` is no number of at least 0.

        >>> Histograms(np.array([3, 1]), np.array([0, 2])).probabilities(0.5)[1]
        array([0.16666667, 0.83333333])
        """
        smoothing = check_number("smoothing", smoothing, "[0, inf)")
        p, q = self.p_counts + smoothing, self.q_counts + smoothing
        return p / p.sum(), q / q.sum()


def count_labels(
    p_labels: Labels,
    q_labels: Labels,
    num_buckets: int,
    p_groups: Integers | None = None,
    q_groups: Integers | None = None,
) -> Histograms:
    """Count bucket numbers (n_p,) and (n_q,) in 0 … num_buckets - 1; groups: see `measures.groups.count_groups`."""
    return Histograms(
        np.bincount(p_labels, minlength=num_buckets).astype(np.int64),
        np.bincount(q_labels, minlength=num_buckets).astype(np.int64),
        count_groups(p_labels, q_labels, p_groups, q_groups, num_buckets),
    )


def too_many_singles(totals: Counts) -> bool:
    """Return whether so many buckets hold a single text that debiasing leaves more bias than an interval is wide.

    Args:
        totals: texts of both sides in each bucket, (k,).

    >>> too_many_singles(np.array([1, 1, 1, 1, 3])), too_many_singles(np.array([1, 1, 1, 3, 3]))
    (True, False)
    """
    return int((totals == 1).sum()) > MOST_SINGLES * math.sqrt((totals > 0).sum())


def ratio(some: int, others: int) -> float:
    """The larger of two numbers over the smaller one.

    >>> ratio(16, 20), ratio(25, 20)
    (1.25, 1.25)
    """
    return max(some, others) / min(some, others)
