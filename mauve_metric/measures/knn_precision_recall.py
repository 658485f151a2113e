"""Precision, recall, density and coverage from nearest neighbours (Kynkäänniemi et al. 2019; Naeem et al. 2020).

Clipped density and coverage, which no outlier can inflate, are in units of good texts (Salvy et al. 2025).

A set's support is the union of balls around its points, each reaching to the k-th nearest other point of the set.
Distances are computed in blocks with float32 matrix products; every comparison that their rounding could decide is
made again in float64 on the rows as they came, so that the result is exact, ties included. Copies of a row are
looked at once and counted as often as they occur.

Rows that come out of a model are known to about 1e-6 of their length: the same text in another batch, with more
threads or on another processor has other last digits, and where texts occur twice these would decide who is on the
edge of a ball. Distances that differ by `tolerance` or less therefore count as equal. Where all rows point almost the
same way, as with a large offset common to all of them, their distances are not much more than that: `tolerance` is then
bounded by a share of how far the rows are from their mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Bools, Floats, Integers, Rows
from mauve_metric.measures.nearest import smallest
from mauve_metric.runtime import tensors
from mauve_metric.runtime.checks import check_least

if TYPE_CHECKING:
    import torch

ROUNDING = 2.0**-19  # between two copies of a row of length 1 in float32, at most, as models were seen to give them
MOST_TOLERANCE = 2.0**-14  # of the rows' root mean square distance from their mean: in balls of 100 dimensions 0.6 %
_BLOCK_ELEMENTS = 2_500_000  # distances held at once, 10 MB: small enough for their memory to be used again
_SPARE = 4  # neighbours that are looked for beyond the k-th: rounding may change their order
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
    """The distinct rows of one set. left @ other.rightᵀ are squared distances."""

    rows: Array  # (m, d), as they came
    weights: Integers  # how often each occurs, (m,)
    left: Rows  # [-2x, 1, ‖x‖²] of the centred and scaled rows, (m, d + 2)
    right: Rows  # [x, ‖x‖², 1]
    length: Floats  # of the centred and scaled rows, (m,)
    places: Integers  # of each row of the set among the distinct ones, (n,)


def support_scores(p: Array, q: Array, k: int = 4, strict: bool = False, tolerance: float = 0.0) -> SupportScores:
    """Precision, recall, density and coverage of the model's rows `q` against the human rows `p`.

    Args:
        p, q: projected features, shapes (n_p, r) and (n_q, r), finite.
        k: the neighbour that sets a ball's radius; the point itself does not count, its exact copies do.
        strict: a point on the edge is outside (as in the prdc package); by default it is inside.
        tolerance: a point is on the edge of a ball if its distance is the radius within this much, at least 0; at most
            2^-14 of the root mean square distance of all rows from their mean counts.

    Raises:
        ValueError: a set has k points or fewer.

    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> support_scores(rows, rows)
    SupportScores(precision=1.0, recall=1.0, density=1.25, coverage=1.0)
    """
    for name, side in (("p", p), ("q", q)):
        if len(side) <= k:
            raise ValueError(f"{name} must have more than k={k} rows for nearest neighbours, got {len(side)}")
    mean, unit = _frame(p, q)
    p_points, q_points = _points(p, mean, unit), _points(q, mean, unit)
    tolerance = min(tolerance, MOST_TOLERANCE * _spread(p_points, q_points) * unit)
    p_radii, q_radii = (
        _moved_edge(_squared_radii(points, k, unit), -tolerance if strict else tolerance)
        for points in (p_points, q_points)
    )
    in_p_balls, in_p_ball, p_in_support = _counts(q_points, p_points, p_radii, unit, strict, q_radii)
    return SupportScores(
        precision=float((in_p_balls > 0) @ q_points.weights / len(q)),
        recall=float(p_in_support @ p_points.weights / len(p)),
        density=float(in_p_balls @ q_points.weights / len(q) / k),
        coverage=float((in_p_ball > 0) @ p_points.weights / len(p)),
    )


def scores_of_halves(rows: Array, halves: Sequence[Bools], k: int, tolerance: float = 0.0) -> Floats:
    """Precision and recall of the second half of some rows against the first, for each way to halve them, (h, 2).

    Args:
        rows: (n, r), finite. halves: masks of the first half, (n,) each. k, tolerance: see `support_scores`.

    >>> rows = np.random.default_rng(0).normal(size=(60, 2))
    >>> halves = [np.arange(60) < 30, np.arange(60) % 2 == 0]
    >>> scores = [list(support_scores(rows[half], rows[~half])[:2]) for half in halves]
    >>> scores_of_halves(rows, halves, 4).tolist() == scores
    True
    """
    mean, unit = _frame(rows, rows)
    points = _points(rows, mean, unit)
    tolerance = min(tolerance, MOST_TOLERANCE * _spread(points) * unit)
    squared, scores = _squared_distances(points, points), []
    for half in halves:
        times = [np.bincount(points.places[side], minlength=len(points.rows)) for side in (half, ~half)]
        numbers = [np.flatnonzero(of_side) for of_side in times]
        first, second = (
            _part(points, some)._replace(weights=of_side[some]) for some, of_side in zip(numbers, times, strict=True)
        )
        first_radii, second_radii = (
            _moved_edge(_squared_radii(side, k, unit, squared[some].take(some, axis=1)), tolerance)
            for side, some in ((first, numbers[0]), (second, numbers[1]))
        )
        across = squared[numbers[1]].take(numbers[0], axis=1)
        in_first, _, covered = _counts(second, first, first_radii, unit, reach=second_radii, squared=across)
        precision = (in_first > 0) @ second.weights / second.weights.sum()
        scores.append([precision, covered @ first.weights / first.weights.sum()])
    return np.array(scores)


def ball_counts(
    p: Array, rows: Array, k: int, at_most_median: bool = False, tolerance: float = 0.0
) -> tuple[Integers, Integers]:
    """Number of human balls around each of some rows, (n,), and number of the rows in each human ball, (n_p,).

    A ball reaches to the k-th nearest other point of `p`, its edge included.

    Args:
        p, rows: shapes (n_p, r) and (n, r), finite. k: the neighbour that sets a ball's radius.
        at_most_median: larger radii are cut to the median one. tolerance: see `support_scores`.

    Raises:
        ValueError: `p` has k points or fewer.

    >>> around, inside = ball_counts(np.array([[0.0], [1.0], [3.0]]), np.array([[0.5], [9.0]]), k=1)
    >>> around.tolist(), inside.tolist()
    ([2, 0], [1, 1, 0])
    """
    check_least("k", k)
    if len(p) <= k:
        raise ValueError(f"p must have more than k={k} rows for nearest neighbours, got {len(p)}")
    mean, unit = _frame(p, rows)
    balls, points = _points(p, mean, unit), _points(rows, mean, unit)
    radii = _squared_radii(balls, k, unit)
    if at_most_median:
        ordered = np.sort(np.repeat(radii, balls.weights))
        low, high = float(ordered[(len(p) - 1) // 2]), float(ordered[len(p) // 2])
        radii = np.minimum(radii, low if low == high else ((math.sqrt(low) + math.sqrt(high)) / 2) ** 2)
    radii = _moved_edge(radii, min(tolerance, MOST_TOLERANCE * _spread(balls, points) * unit))
    around, inside, _ = _counts(points, balls, radii, unit)
    return around[points.places], inside[balls.places]


def _counts(
    points: _Points,
    balls: _Points,
    radii: Floats,
    unit: float,
    strict: bool = False,
    reach: Floats | None = None,
    squared: Rows | None = None,
) -> tuple[Integers, Integers, Bools]:
    """Number of balls around each point, of points in each ball, and whether a ball's centre is in a point's ball.

    radii: squared, of the balls. reach: those of balls around the points, if they have some.
    squared: `_squared_distances` of points and balls, if they are there.
    """
    around, inside = (np.zeros(len(side.rows), dtype=np.int64) for side in (points, balls))
    covered = np.zeros(len(balls.rows), dtype=bool)
    size = max(1, _BLOCK_ELEMENTS // len(balls.rows))
    for start in range(0, len(points.rows), size):
        block = _part(points, slice(start, start + size))
        away = _squared_distances(block, balls) if squared is None else squared[start : start + size]
        i, j = _inside(away, block, balls, radii, unit, strict, by_row=False)
        np.add.at(around, i + start, balls.weights[j])
        np.add.at(inside, j, block.weights[i])
        if reach is not None:
            covered[_inside(away, block, balls, reach[start : start + size], unit, strict, by_row=True)[1]] = True
    return around, inside, covered


def _frame(p: Array, q: Array) -> tuple[Floats, float]:
    """The mean of all rows and the power of two below the largest coordinate about it; scaling by it rounds nothing."""
    mean = (p.sum(axis=0, dtype=np.float64) + q.sum(axis=0, dtype=np.float64)) / (len(p) + len(q))
    reach = max(float(np.abs(end - mean).max()) for side in (p, q) for end in (side.min(axis=0), side.max(axis=0)))
    return mean, 2.0 ** math.floor(math.log2(reach)) if reach > 0 else 1.0


def _spread(*sets: _Points) -> float:
    """The root mean square distance of all rows from their mean, scaled as they are."""
    squares = sum(float(np.square(points.length) @ points.weights) for points in sets)
    return math.sqrt(squares / sum(len(points.places) for points in sets))


def _points(rows: Array, mean: Floats, unit: float) -> _Points:
    rows = np.ascontiguousarray(rows) + np.float32(0)  # -0.0 becomes 0.0: equal rows have equal bytes
    as_bytes = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, places, weights = np.unique(as_bytes, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)  # of the rows without their copies, as they come
    rows, weights, places = rows[first[order]], weights[order], np.argsort(order)[places]
    m, d = rows.shape
    length = np.empty(m)
    left, right = np.empty((m, d + 2), dtype=np.float32), np.empty((m, d + 2), dtype=np.float32)
    left[:, d] = right[:, d + 1] = 1
    for step in _steps(m, d):
        centred = (rows[step] - mean) / unit
        squared = np.einsum("ij,ij->i", centred, centred)
        length[step] = np.sqrt(squared)
        right[step, :d] = centred
        right[step, d] = left[step, d + 1] = squared
        np.multiply(right[step, :d], np.float32(-2), out=left[step, :d])
    return _Points(rows, weights, left, right, length, places)


def _steps(rows: int, d: int) -> Iterator[slice]:
    """Slices of as many rows of d numbers as are worked on at once."""
    size = max(1, _STEP_ELEMENTS // d)
    return (slice(start, start + size) for start in range(0, rows, size))


def _part(points: _Points, rows: slice | Integers) -> _Points:
    return _Points(*(getattr(points, name)[rows] for name in _Points._fields))


def _squared_distances(a: _Points, b: _Points) -> Rows:
    """Squared distances of the centred and scaled rows, (m_a, m_b), off by at most `_slack`."""
    squared: Rows = a.left @ b.right.T
    return squared


def _slack(lengths: Floats, others: Floats, d: int) -> Floats:
    """A bound on the rounding error of a row of float32 squared distances, for each row's length, (m,).

    With u = 2⁻²⁴ the inputs are off by a relative u each, and a sum of d + 2 products by (d + 2)·u times the sum of
    their sizes, in whatever order it is taken: (d + 6)·u·(‖a‖ + ‖b‖)² in all. What falls below float32's range comes
    to 10⁻³⁸ a product.
    """
    bound: Floats = np.square(lengths + others.max()) * ((d + 8) * 2.0**-24) + (d + 8) * 4e-38
    return bound


def _moved_edge(squared: Floats, by: float) -> Floats:
    """(√squared + by)², and 0 where that would be the square of a negative radius; `squared` itself for by = 0."""
    radii = np.sqrt(squared)
    return np.where(radii + by > 0, squared + by * (2 * radii + by), 0.0)


def _inside(
    squared: Rows,
    a: _Points,
    b: _Points,
    radii: Floats,
    unit: float,
    strict: bool,
    by_row: bool,
) -> tuple[Integers, Integers]:
    """The pairs (i of a, j of b) whose distance is at most the radius of i (`by_row`) or of j."""
    d = a.rows.shape[1]
    limits = radii / unit**2
    slack = _slack(a.length, b.length, d) if by_row else _slack(b.length, a.length, d)
    largest = (limits + slack).astype(np.float32)
    near = np.flatnonzero(squared <= (largest[:, None] if by_row else largest))
    i, j = np.divmod(near, squared.shape[1])
    ball = i if by_row else j
    is_near = squared.ravel()[near] < (limits - slack)[ball]
    unsure = np.flatnonzero(~is_near)
    exact = _exact(a.rows, b.rows, i[unsure], j[unsure])
    is_near[unsure] = exact < radii[ball[unsure]] if strict else exact <= radii[ball[unsure]]
    return i[is_near], j[is_near]


def _exact(a: Array, b: Array, i: Integers, j: Integers) -> Floats:
    """Squared distances of pairs as direct sums of squared differences, the same for the same two points."""
    squared = np.empty(len(i))
    for step in _steps(len(i), a.shape[1]):
        difference = np.subtract(a[i[step]], b[j[step]], dtype=np.float64)
        squared[step] = np.square(difference, out=difference).sum(axis=1)
    return squared


def _squared_radii(points: _Points, k: int, unit: float, squared: Rows | None = None) -> Floats:
    """Squared distance from each distinct point to its k-th nearest other point, exact, (m,).

    Among the nearest by distances in float32, exact ones decide where rounding could. More are looked for where one
    that was left out could be nearer, short of its rounding. squared: `_squared_distances` of the points, (m, m), if
    they are there.
    """
    m, d = points.rows.shape
    slack = _slack(points.length, points.length, d)
    radii, left, number = np.zeros(m), np.arange(m), k + 1 + _SPARE  # the point itself is one of them
    size = max(1, _BLOCK_ELEMENTS // m)
    while len(left):
        number = min(number, m)
        nearest = []
        for start in range(0, len(left), size):
            some = left[start : start + size]
            nearest.append(smallest(points.left[some] @ points.right.T if squared is None else squared[some], number))
        near, about = (np.concatenate(parts) for parts in zip(*nearest, strict=True))
        kth = (np.cumsum(points.weights[near], axis=1) > k).argmax(axis=1)[:, None]
        distances = about.astype(np.float64)
        i, j = np.nonzero(np.abs(distances - np.take_along_axis(distances, kth, axis=1)) <= 2 * slack[left, None])
        distances[i, j] = _exact(points.rows, points.rows, left[i], near[i, j]) / unit**2
        order = np.argsort(distances, axis=1)
        reached = np.cumsum(points.weights[np.take_along_axis(near, order, axis=1)], axis=1) > k
        kth = np.take_along_axis(order, reached.argmax(axis=1)[:, None], axis=1)
        radii[left] = np.take_along_axis(distances, kth, axis=1)[:, 0] * unit**2
        is_sure = reached[:, -1] & (about[:, -1] - slack[left] >= radii[left] / unit**2)
        left = left[~is_sure] if number < m else left[:0]
        number *= 8
    return radii


def support_scores_on_device(p: torch.Tensor, q: torch.Tensor, k: int, tolerance: float = 0.0) -> SupportScores:
    """`support_scores` in torch, for rows that are on a device; a point on the edge is inside.

    Distances are sums of squared differences in float64, the same for the same two points at any position.
    """
    import torch

    spread = float(torch.cat([p, q]).to(torch.float64).var(dim=0, correction=0).sum().sqrt())
    tolerance = min(tolerance, MOST_TOLERANCE * spread)
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
        index = torch.arange(len(distances), device=rows.device)
        distances[index, index + some.start] = torch.inf
        radii[some] = distances.topk(k, dim=1, largest=False).values[:, -1]
    return radii


def _distances_on_device(rows: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    import torch

    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(rows.to(torch.float64), others.to(torch.float64), compute_mode=mode)
