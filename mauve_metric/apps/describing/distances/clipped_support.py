"""Clipped density and coverage: shares of texts near those of the other set, whatever the outliers."""

from __future__ import annotations

import numpy as np

from mauve_metric.apps.describing.distances.checked_sets import check_sets
from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.knn_precision_recall import ball_counts


def clipped_density(p: Array, q: Array, *, k: int = 5) -> float:
    """The share of model texts that are as close to human ones as those are to each other (Salvy et al. 2025, §4).

    min(1, D(Q)/D(P)), D(Y) = mean over y of min(1, number of human balls that hold y / k). A ball reaches to the k-th
    nearest other human text, and no further than the median of these distances; for D(P) a text's own ball is left out.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d), finite; `p` more than k rows, `q` at least 1.
        k: neighbours.

    Returns:
        In [0, 1], higher is better; about 1 for equal sets, and about x if a share x of the rows of `q` is as those of
        `p` and the rest far away.

    Raises:
        ValueError: `p` has k rows or fewer, `q` none, or they have no common d.

    >>> rows = np.random.default_rng(0).normal(size=(60, 3))
    >>> clipped_density(rows, np.concatenate([rows[:45], rows[45:] + 100])) > 0.7
    True
    """
    check_sets({"p": p, "q": q})
    of_model, _ = ball_counts(p, q, k, at_most_median=True)
    of_human, _ = ball_counts(p, p, k, at_most_median=True)
    return min(_clipped_mean(of_model, k) / _clipped_mean(of_human - 1, k), 1.0)


def clipped_coverage(p: Array, q: Array, *, k: int = 5) -> float:
    """The share of model texts that it would take, all of them as human ones, to cover the human texts as well as
    these do (Salvy et al. 2025, §5).

    C = mean over human balls of min(1, number of model texts inside / k), a ball reaching to the k-th nearest other
    human text; the score is the smallest m/n_q whose expected C is no lower, if m rows of `q` are draws of the
    distribution of `p` and the rest is far away: E min(1, J/k), J beta-binomial with m trials, k and n_p - k.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d), finite; `p` more than k rows, `q` at least 1.
        k: neighbours.

    Returns:
        In [0, 1], higher is better; about 1 for equal sets.

    Raises:
        ValueError: `p` has k rows or fewer, `q` none, or they have no common d.

    >>> rows = np.random.default_rng(0).normal(size=(60, 3))
    >>> clipped_coverage(rows, rows), clipped_coverage(rows, rows + 100)
    (1.0, 0.0)
    """
    check_sets({"p": p, "q": q})
    _, inside = ball_counts(p, q, k)
    expected = _expected_coverage(len(p), len(q), k)
    return int(np.searchsorted(expected, _clipped_mean(inside, k))) / len(q)


def _clipped_mean(counts: Integers, k: int) -> float:
    """Mean of min(1, count/k)."""
    return float(np.minimum(counts, k).mean()) / k


def _expected_coverage(n: int, total: int, k: int) -> Floats:
    """The expected coverage by 0, 1, …, total - 1 draws of the balls' own distribution, rising.

    E min(1, J/k) = 1 - Σ_{j<k} (1 - j/k)·P(J = j).
    """
    from scipy.stats import betabinom

    draws = np.arange(total)[:, None]
    missing = np.arange(k)
    expected: Floats = 1 - betabinom.pmf(missing, draws, k, n - k) @ (1 - missing / k)
    expected[0] = 0.0
    return expected
