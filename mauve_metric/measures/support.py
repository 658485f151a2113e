"""Precision, recall, density and coverage from nearest neighbours (Kynkäänniemi et al. 2019; Naeem et al. 2020).

Clipped density and coverage, which no outlier can inflate, are in units of good texts (Salvy et al. 2025).

A set's support is the union of balls around its points, each reaching to the k-th nearest other point of the set.
Distances are computed in blocks with float32 matrix products; every comparison that their rounding could decide is
made again in float64 on the rows as they came, so that the result is exact, ties included.

Rows that come out of a model are known to about 1e-6 of their length: the same text in another batch, with more
threads or on another processor has other last digits, and where texts occur twice these would decide who is on the
edge of a ball. Distances that differ by `tolerance` or less therefore count as equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers, Rows
from mauve_metric.runtime import tensors
from mauve_metric.runtime.checks import check_least, check_sets

if TYPE_CHECKING:
    import torch

ROUNDING = 2.0**-19  # between two copies of a row of length 1 in float32, at most, as models were seen to give them
_BLOCK_ELEMENTS = 2_500_000  # distances held at once, 10 MB: small enough for their memory to be used again
_GROUPS = 16  # of entries for each of k neighbours: two of these fall into one group in about one row of ten
_STEP_ELEMENTS = 500_000  # coordinates held at once in float64, 4 MB


class SupportScores(NamedTuple):
    """Precision, recall, coverage in [0, 1]; density at least 0 and about 1 for equal sets. Higher is better.

    precision: share of model texts inside the human support. recall: share of human texts inside the model's.
    density: human balls around a model text, over k. coverage: share of human balls that hold a model text.
    """

    precision: float
    recall: float
    density: float
    coverage: float


class _Points(NamedTuple):
    """The rows of one set. left @ other.rightᵀ are squared distances of the centred and scaled rows."""

    rows: Array  # (n, d), as they came
    left: Rows  # [-2x, 1, ‖x‖²] of the centred and scaled rows, (n, d + 2)
    right: Rows  # [x, ‖x‖², 1]
    length: Floats  # of the centred and scaled rows, (n,)


def support_scores(p: Array, q: Array, k: int = 4, strict: bool = False, tolerance: float = 0.0) -> SupportScores:
    """Precision, recall, density and coverage of the model's rows `q` against the human rows `p`.

    Args:
        p, q: projected features, shapes (n_p, r) and (n_q, r), finite.
        k: the neighbour that sets a ball's radius; the point itself does not count, its exact copies do.
        strict: a point on the edge is outside (as in the prdc package); by default it is inside.
        tolerance: a point is on the edge of a ball if its distance is the radius within this much, at least 0.

    Raises:
        ValueError: a set has k points or fewer.

    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> support_scores(rows, rows)
    SupportScores(precision=1.0, recall=1.0, density=1.25, coverage=1.0)
    """
    for name, side in (("p", p), ("q", q)):
        if len(side) <= k:
            raise ValueError(f"{name} must have more than k={k} rows for nearest neighbours, got {len(side)}")
    in_p_balls, filled = ball_counts(p, q, k, tolerance=tolerance, strict=strict)
    in_q_balls, _ = ball_counts(q, p, k, tolerance=tolerance, strict=strict)
    return SupportScores(
        precision=float((in_p_balls > 0).mean()),
        recall=float((in_q_balls > 0).mean()),
        density=float(in_p_balls.sum() / len(q) / k),
        coverage=float((filled > 0).mean()),
    )


def ball_counts(
    p: Array, rows: Array, k: int, at_most_median: bool = False, tolerance: float = 0.0, strict: bool = False
) -> tuple[Integers, Integers]:
    """Number of human balls around each of some rows, (n,), and number of the rows in each human ball, (n_p,).

    A ball reaches to the k-th nearest other point of `p`, its edge included unless `strict`.

    Args:
        p, rows: shapes (n_p, r) and (n, r), finite. k: the neighbour that sets a ball's radius.
        at_most_median: larger radii are cut to the median one. tolerance: see `support_scores`.

    Raises:
        ValueError: `p` has k points or fewer.

    >>> around, inside = ball_counts(np.array([[0.0], [1.0], [3.0]]), np.array([[0.5], [9.0]]), k=1)
    >>> around.tolist(), inside.tolist()
    ([2, 0], [1, 1, 0])
    """
    if len(p) <= k:
        raise ValueError(f"p must have more than k={k} rows for nearest neighbours, got {len(p)}")
    # the mean of all rows and the power of two below the largest coordinate about it, by which scaling rounds nothing
    mean = (p.sum(axis=0, dtype=np.float64) + rows.sum(axis=0, dtype=np.float64)) / (len(p) + len(rows))
    reach = max(float(np.abs(end - mean).max()) for side in (p, rows) for end in (side.min(axis=0), side.max(axis=0)))
    unit = 2.0 ** math.floor(math.log2(reach)) if reach > 0 else 1.0
    balls, points = _points(p, mean, unit), _points(rows, mean, unit)
    squared_radii = _squared_radii(balls, k)
    if at_most_median:
        ordered = np.sort(squared_radii)
        low, high = float(ordered[(len(p) - 1) // 2]), float(ordered[len(p) // 2])
        squared_radii = np.minimum(squared_radii, low if low == high else ((math.sqrt(low) + math.sqrt(high)) / 2) ** 2)
    radii, by = np.sqrt(squared_radii), -tolerance if strict else tolerance
    limits = np.where(radii + by > 0, squared_radii + by * (2 * radii + by), 0.0)  # of squared distances
    slack = _slack(balls.length, points.length, p.shape[1])
    least, most = ((limits / unit**2 + side * slack).astype(np.float32) for side in (-1, 1))
    around, inside = np.zeros(len(rows), dtype=np.int64), np.zeros(len(p), dtype=np.int64)
    for some in _steps(len(rows), _BLOCK_ELEMENTS // len(p)):
        squared = _squared_distances(points, some, balls)
        found = squared <= most
        i, j = np.divmod(np.flatnonzero(found & (squared >= least)), len(p))
        exact = _exact(rows[some], p, i, j)
        found[i, j] = exact < limits[j] if strict else exact <= limits[j]
        around[some] = found.sum(axis=1)
        inside += found.sum(axis=0)
    return around, inside


def _points(rows: Array, mean: Floats, unit: float) -> _Points:
    n, d = rows.shape
    length, left, right = np.empty(n), np.empty((n, d + 2), dtype=np.float32), np.empty((n, d + 2), dtype=np.float32)
    left[:, d] = right[:, d + 1] = 1
    for step in _steps(n, _STEP_ELEMENTS // d):
        centred = (rows[step] - mean) / unit
        squared = np.einsum("ij,ij->i", centred, centred)
        length[step] = np.sqrt(squared)
        right[step, :d] = centred
        right[step, d] = left[step, d + 1] = squared
        np.multiply(right[step, :d], np.float32(-2), out=left[step, :d])
    return _Points(rows, left, right, length)


def _steps(rows: int, size: int) -> Iterator[slice]:
    """Slices of `size` rows, at least one."""
    return (slice(start, start + max(1, size)) for start in range(0, rows, max(1, size)))


def _squared_distances(a: _Points, some: slice, b: _Points) -> Rows:
    """Squared distances of some centred and scaled rows to those of another set, off by at most `_slack`."""
    squared: Rows = a.left[some] @ b.right.T
    return squared


def _slack(lengths: Floats, others: Floats, d: int) -> Floats:
    """A bound on the rounding error of a row of float32 squared distances, for each row's length, (n,).

    With u = 2⁻²⁴ the inputs are off by a relative u each, and a sum of d + 2 products by (d + 2)·u times the sum of
    their sizes, in whatever order it is taken: (d + 6)·u·(‖a‖ + ‖b‖)² in all. What falls below float32's range comes
    to 10⁻³⁸ a product.
    """
    bound: Floats = np.square(lengths + others.max()) * ((d + 8) * 2.0**-24) + (d + 8) * 4e-38
    return bound


def _exact(a: Array, b: Array, i: Integers, j: Integers) -> Floats:
    """Squared distances of pairs as direct sums of squared differences, the same for the same two points."""
    squared = np.empty(len(i))
    for step in _steps(len(i), _STEP_ELEMENTS // a.shape[1]):
        difference = np.subtract(a[i[step]], b[j[step]], dtype=np.float64)
        squared[step] = np.square(difference, out=difference).sum(axis=1)
    return squared


def _squared_radii(points: _Points, k: int) -> Floats:
    """Squared distance from each point to its k-th nearest other point, exact, (n,)."""
    n, d = points.rows.shape
    radii, slack, groups = np.empty(n), _slack(points.length, points.length, d), min(_GROUPS * k, n)
    for some in _steps(n, _BLOCK_ELEMENTS // n):
        squared = _squared_distances(points, some, points)
        np.fill_diagonal(squared[:, some], np.inf)
        # k groups of entries each hold one as small as the k-th smallest of the minima of groups
        lowest = np.minimum.reduceat(squared, np.arange(groups) * n // groups, axis=1)
        most = np.partition(lowest, k - 1, axis=1)[:, k - 1] + 2 * slack[some]
        i, j = np.divmod(np.flatnonzero(squared <= most.astype(np.float32)[:, None]), n)
        exact = _exact(points.rows[some], points.rows, i, j)
        nearest_first = exact[np.lexsort((exact, i))]
        radii[some] = nearest_first[np.searchsorted(i, np.arange(len(squared))) + k - 1]
    return radii


def support_scores_on_device(p: torch.Tensor, q: torch.Tensor, k: int, tolerance: float = 0.0) -> SupportScores:
    """`support_scores` in torch, for rows that are on a device; a point on the edge is inside.

    Distances are sums of squared differences in float64, the same for the same two points at any position.
    """
    import torch

    p_radii, q_radii = _radii_on_device(p, k) + tolerance, _radii_on_device(q, k) + tolerance
    in_p_balls, in_q_balls = (torch.zeros(len(rows), dtype=torch.int64, device=p.device) for rows in (q, p))
    filled = torch.zeros(len(p), dtype=torch.bool, device=p.device)
    for some in tensors.steps(len(q), len(p)):
        distances = _distances_on_device(q[some], p)
        inside = distances <= p_radii
        in_p_balls[some] = inside.sum(dim=1)
        filled |= inside.any(dim=0)
        in_q_balls += (distances <= q_radii[some, None]).sum(dim=0)
    precision, recall = float((in_p_balls > 0).double().mean()), float((in_q_balls > 0).double().mean())
    density, coverage = float(in_p_balls.sum()) / (k * len(q)), float(filled.double().mean())
    return SupportScores(precision, recall, density, coverage)


def _radii_on_device(rows: torch.Tensor, k: int) -> torch.Tensor:
    """The distance of each row to its k-th nearest other row."""
    import torch

    radii = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
    for some in tensors.steps(len(rows), len(rows)):
        distances = _distances_on_device(rows[some], rows)
        own = torch.arange(len(distances), device=rows.device)
        distances[own, own + some.start] = torch.inf
        radii[some] = distances.topk(k, dim=1, largest=False).values[:, -1]
    return radii


def _distances_on_device(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    import torch

    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(one.to(torch.float64), other.to(torch.float64), compute_mode=mode)


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
    _check_clipped(p, q, k)
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
    _check_clipped(p, q, k)
    _, inside = ball_counts(p, q, k)
    expected = _expected_coverage(len(p), len(q), k)
    return int(np.searchsorted(expected, _clipped_mean(inside, k))) / len(q)


def _check_clipped(p: Array, q: Array, k: int) -> None:
    check_least("k", k)
    if len(p) <= k:
        raise ValueError(f"p must have more than k={k} rows for nearest neighbours, got {len(p)}")
    check_sets({"p": p, "q": q})


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
