"""Nearest-neighbour scores against a naive float64 loop, prdc, closed forms, and points made to tie or nearly tie."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from math import prod
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mauve_metric import compute_mauve
from mauve_metric.clustering import projection
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.measures import knn_precision_recall
from mauve_metric.measures.knn_precision_recall import (
    ROUNDING,
    SupportScores,
    ball_counts,
    scores_of_halves,
    support_scores,
)
from mauve_metric.runtime import tensors

Floats = NDArray[np.float64]


def squared_distances(a: Floats, b: Floats) -> list[list[float]]:
    """One pair of points at a time."""
    return [[float(np.square(np.asarray(x, dtype=np.float64) - y).sum()) for y in b] for x in a]


class Distances(NamedTuple):
    """Squared distances within two sets, and between them."""

    p: list[list[float]]
    q: list[list[float]]
    between: list[list[float]]

    @classmethod
    def of(cls, p: Floats, q: Floats) -> Distances:
        return cls(squared_distances(p, p), squared_distances(q, q), squared_distances(p, q))


def naive(p: Floats, q: Floats, k: int, strict: bool, distances: Distances | None = None) -> SupportScores:
    """One pair of points at a time, as the definitions read."""
    found = distances or Distances.of(p, q)

    def radii(within: list[list[float]]) -> list[float]:
        return [sorted(row[:i] + row[i + 1 :])[k - 1] for i, row in enumerate(within)]

    def inside(distance: float, radius: float) -> bool:
        return distance < radius if strict else distance <= radius

    p_radii, q_radii, table = radii(found.p), radii(found.q), found.between
    in_p = np.array([[inside(table[i][j], p_radii[i]) for j in range(len(q))] for i in range(len(p))])
    in_q = np.array([[inside(table[i][j], q_radii[j]) for j in range(len(q))] for i in range(len(p))])
    return SupportScores(
        precision=float(in_p.any(axis=0).mean()),
        recall=float(in_q.any(axis=1).mean()),
        density=float(in_p.sum() / (k * len(q))),
        coverage=float(in_p.any(axis=1).mean()),
    )


def random_pair(seed: int, n_p: int = 60, n_q: int = 45, d: int = 5, shift: float = 0.5) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_p, d)), rng.normal(shift, 1, size=(n_q, d))


def lattice(seed: int) -> tuple[Floats, Floats]:
    """Whole-number points: many equal distances, many copies, all exact in float64."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, size=(70, 3)).astype(float), rng.integers(1, 6, size=(50, 3)).astype(float)


def far_lattice(seed: int) -> tuple[Floats, Floats]:
    """The lattice with half of the points at 10⁶: float32 cannot tell neighbours apart, the mean is not a float."""
    p, q = lattice(seed)
    p[::2] += 1e6
    q[::3] += 1e6
    return p, q


def farther_lattice(seed: int) -> tuple[Floats, Floats]:
    """The lattice at 10⁹, whose squares float64 cannot hold."""
    p, q = lattice(seed)
    return p + 1e9, q + 1e9


def near_ties(seed: int) -> tuple[Floats, Floats]:
    """Distances that differ by a few units of the float64 rounding of the coordinates, far below float32's."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(90, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points = directions * (1 + rng.integers(-3, 4, size=(90, 1)) * 1e-12)
    points[::10] *= 1e-9  # a cluster at the centre, to which all others are about equally far
    return points[:50], points[50:]


def outlier(seed: int) -> tuple[Floats, Floats]:
    p, q = random_pair(seed)
    p[0] *= 1e7
    return p, q


def tiny(seed: int) -> tuple[Floats, Floats]:
    p, q = random_pair(seed)
    return p * 1e-30, q * 1e-30  # the squares are below float32's range


def huge(seed: int) -> tuple[Floats, Floats]:
    p, q = random_pair(seed)
    return p * 1e30, q * 1e30  # the squares are above float32's range


def few_distinct(seed: int) -> tuple[Floats, Floats]:
    """Rows that occur once, k times or often, on both sides."""
    rng = np.random.default_rng(seed)
    distinct = rng.normal(size=(20, 4))
    chosen = rng.choice(20, size=110, p=rng.dirichlet(np.full(20, 0.5)))
    return distinct[chosen[:60]], distinct[chosen[60:]]


def systematic(seed: int) -> tuple[Floats, Floats]:
    """Rows along one diagonal in 3000 dimensions, where rounding errors of a dot product all point the same way."""
    rng = np.random.default_rng(seed)
    along = 1 + 1e-4 * rng.random(size=(40, 1))
    rows = along * np.ones(3000) * np.where(rng.random(40) < 0.5, -1, 1)[:, None]
    return rows[:22], rows[22:]


@pytest.mark.parametrize(
    "make", [random_pair, lattice, far_lattice, near_ties, outlier, tiny, huge, few_distinct, systematic]
)
def test_equal_to_the_naive_loop(make: Callable[[int], tuple[Floats, Floats]]) -> None:
    for seed in range(2):
        p, q = make(seed)
        distances = Distances.of(p, q)
        for k, strict in itertools.product((1, 4, 9), (False, True)):
            expected = naive(p, q, k, strict, distances)
            # both count the same pairs; only the last division may round differently
            assert support_scores(p, q, k, strict) == pytest.approx(expected, rel=0, abs=1e-12)


def test_float32_rows_are_taken_as_they_are() -> None:
    p, q = (side.astype(np.float32) for side in random_pair(0))
    assert support_scores(p, q) == pytest.approx(naive(p, q, 4, False), rel=0, abs=1e-12)


@pytest.mark.more
@pytest.mark.parametrize("d", [2, 40, 700])
@pytest.mark.parametrize(("n_p", "n_q"), [(300, 300), (250, 400)])
def test_equal_to_prdc_without_ties(d: int, n_p: int, n_q: int) -> None:
    prdc = pytest.importorskip("prdc")
    p, q = random_pair(d, n_p, n_q, d, shift=1 / d)
    for k in (1, 5):
        # prdc's nearest_k leaves the point itself out and counts strictly inside, as here
        expected = prdc.compute_prdc(real_features=p, fake_features=q, nearest_k=k)
        found = support_scores(p, q, k, strict=True)._asdict()
        assert found == pytest.approx({name: float(value) for name, value in expected.items()}, rel=0, abs=1e-12)


def test_points_that_all_have_more_than_k_copies() -> None:
    points = np.repeat(np.random.default_rng(1).normal(size=(12, 6)), 6, axis=0)
    assert support_scores(points, points, k=4, strict=True) == (0, 0, 0, 0)  # every ball has radius 0
    # each model text lies in the balls of the 6 human copies of it: density 6/4
    assert support_scores(points, points, k=4) == (1, 1, 1.5, 1)


def test_all_points_equal() -> None:
    points = np.full((7, 3), 0.1)
    assert support_scores(points, points[:5], k=4) == (1, 1, 7 / 4, 1)
    assert support_scores(points, points[:5] + 1, k=4) == (0, 0, 0, 0)


@pytest.mark.parametrize("k", [1, 4, 7])
def test_a_copy_of_the_set(k: int) -> None:
    p, _ = random_pair(2)
    # each ball holds the point itself, k - 1 neighbours, and the k-th on its edge
    assert support_scores(p, p.copy(), k) == pytest.approx((1, 1, (k + 1) / k, 1), rel=0, abs=1e-12)
    assert support_scores(p, p.copy(), k, strict=True) == pytest.approx((1, 1, 1, 1), rel=0, abs=1e-12)


def test_the_smallest_sets() -> None:
    p, q = random_pair(3, n_p=5, n_q=5)
    assert support_scores(p, q, k=4) == pytest.approx(naive(p, q, 4, False), rel=0, abs=1e-12)


def test_negative_zero_is_zero() -> None:
    p = np.array([[0.0], [-0.0], [0.0], [3.0]])
    assert support_scores(p, p, k=1) == naive(p, p, 1, False)


def test_rotation_translation_scaling_and_order_do_not_matter() -> None:
    p, q = random_pair(4, 200, 150, 8)
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(8, 8)))[0]
    order = np.random.default_rng(6).permutation(200)
    expected = support_scores(p, q)
    # no two of 10⁵ distances are within rounding of each other for these seeds: the same pairs are counted
    assert support_scores(p @ rotation, q @ rotation) == expected
    assert support_scores(p + 1000, q + 1000) == expected
    assert support_scores(p * 1e-3, q * 1e-3) == expected
    assert support_scores(p[order], q) == expected


def test_swapping_the_sets_swaps_precision_and_recall() -> None:
    p, q = random_pair(7, 80, 120)
    one, other = support_scores(p, q), support_scores(q, p)
    assert (one.precision, one.recall) == (other.recall, other.precision)


def test_not_decreasing_in_k() -> None:
    p, q = random_pair(8, 100, 100, shift=1.5)
    scores = [support_scores(p, q, k) for k in range(1, 30, 3)]
    for name in ("precision", "recall", "coverage"):
        values = [getattr(score, name) for score in scores]
        assert values == sorted(values) and values[0] < values[-1]


@pytest.mark.parametrize(("n_p", "n_q", "k"), [(60, 90, 4), (200, 200, 5)])
def test_expected_values_for_one_distribution(n_p: int, n_q: int, k: int) -> None:
    """E density = 1, E coverage = 1 - Π (N - i)/(M + N - i) over i = 1..k, for any continuous distribution."""
    repeats = 200
    rng = np.random.default_rng(9)
    scores = np.array([support_scores(rng.normal(size=(n_p, 3)), rng.normal(size=(n_q, 3)), k) for _ in range(repeats)])
    expected = 1 - prod((n_p - i) / (n_q + n_p - i) for i in range(1, k + 1))
    # four standard errors of the mean of 200 independent repeats, from their own spread
    error = 4 * scores.std(axis=0, ddof=1) / np.sqrt(repeats)
    assert abs(scores[:, 2].mean() - 1) < error[2]
    assert abs(scores[:, 3].mean() - expected) < error[3]
    assert abs(scores[:, 0].mean() - scores[:, 1].mean()) < 0.1  # neither set is the wider one


@pytest.mark.parametrize("make", [random_pair, lattice, few_distinct, far_lattice])
def test_blocks_do_not_matter(make: Callable[[int], tuple[Floats, Floats]], monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = make(10)
    expected = [support_scores(p, q, k) for k in (1, 4)]
    for elements in (1, 100, 700):
        monkeypatch.setattr(knn_precision_recall, "_BLOCK_ELEMENTS", elements)
        monkeypatch.setattr(knn_precision_recall, "_STEP_ELEMENTS", elements)
        # sums over blocks may round differently
        assert [support_scores(p, q, k) for k in (1, 4)] == [pytest.approx(e, rel=0, abs=1e-12) for e in expected]


@pytest.mark.parametrize("make", [random_pair, near_ties, outlier, systematic])
def test_the_bound_on_rounding_holds(make: Callable[[int], tuple[Floats, Floats]]) -> None:
    p, q = make(11)
    mean = np.concatenate([p, q]).mean(axis=0)
    a, b = (knn_precision_recall._points(side, mean, 1.0) for side in (p, q))
    for one, other in ((a, b), (a, a)):
        exact = np.square((one.rows[:, None] - other.rows[None]).astype(np.longdouble)).sum(axis=2)
        error = np.abs(knn_precision_recall._squared_distances(one, other) - exact)
        assert (error <= knn_precision_recall._slack(one.length, other.length, p.shape[1])[:, None]).all()
        assert (error <= knn_precision_recall._slack(other.length, one.length, p.shape[1])[None]).all()


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knn_precision_recall, "_BLOCK_ELEMENTS", 300_000)
    monkeypatch.setattr(knn_precision_recall, "_STEP_ELEMENTS", 100_000)
    p, q = random_pair(12, 3000, 3000, 8)
    tracemalloc.start()
    support_scores(p, q)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # all distances in float32 would be 36 MB; a block with its temporaries is about 3 MB, the points in four forms 1
    assert peak < 12e6


def test_arguments_are_not_changed() -> None:
    p, q = random_pair(13)
    before = p.copy(), q.copy()
    support_scores(p, q)
    assert np.array_equal(p, before[0]) and np.array_equal(q, before[1])


@pytest.mark.parametrize(("n_p", "n_q", "named"), [(4, 9, "p"), (9, 4, "q")])
def test_too_few_rows(n_p: int, n_q: int, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named} must have more than k=4 rows for nearest neighbours, got 4"):
        support_scores(np.zeros((n_p, 2)), np.zeros((n_q, 2)), k=4)


@pytest.mark.parametrize("k", [1, 4, 60])
def test_radii_among_many_nearly_equal_rows(k: int) -> None:
    """Distances that float32 cannot tell apart are decided in float64, however many there are."""
    rng = np.random.default_rng(k)
    rows = rng.normal(size=(400, 6))
    rows[:300] = rows[0] + 1e-9 * rng.normal(size=(300, 6))
    exact = np.square(rows[:, None] - rows[None]).sum(axis=2)
    mean, unit = knn_precision_recall._frame(rows, rows)
    found = knn_precision_recall._squared_radii(knn_precision_recall._points(rows, mean, unit), k, unit)
    assert found == pytest.approx(np.sort(exact, axis=1)[:, k], rel=1e-14)  # sums of six squares


def copied_texts(seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Features of texts of which many occur on both sides, and some more than k times."""
    rng = np.random.default_rng(seed)
    distinct = rng.normal(size=(50, 24)) + 2
    return tuple(distinct[rng.integers(0, 50, size=n)].astype(np.float32) for n in (70, 60))  # type: ignore[return-value]


def support_of(p: NDArray[np.float32], q: NDArray[np.float32]) -> tuple[float | None, ...]:
    result = compute_mauve(p_features=p, q_features=q, num_buckets=5, num_runs=1, knn=True)
    return result.precision, result.recall, result.density, result.coverage


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_ties_do_not_depend_on_the_last_digits(seed: int) -> None:
    p, q = copied_texts(seed)
    expected = support_of(p, q)
    distinct = np.unique(np.concatenate([p, q]), axis=0).astype(np.float64)
    assert expected == pytest.approx(naive_of_copies(p, q, distinct), abs=1e-12)
    for trial in range(1):
        rng = np.random.default_rng(trial)
        noisy = [side * (1 + rng.uniform(-2e-7, 2e-7, side.shape)).astype(np.float32) for side in (p, q)]
        assert support_of(*noisy) == pytest.approx(expected, abs=1e-12)
        scaled = [side * rng.uniform(0.1, 7, (len(side), 1)).astype(np.float32) for side in (p, q)]
        assert support_of(*scaled) == pytest.approx(expected, abs=1e-12)
        shuffled = [side[rng.permutation(len(side))] for side in (p, q)]
        assert support_of(*shuffled) == pytest.approx(expected, abs=1e-12)


def naive_of_copies(p: NDArray[np.float32], q: NDArray[np.float32], distinct: Floats) -> SupportScores:
    """The naive loop on rows that are copies to the last bit: one projected row for each distinct one."""
    fitted = projection.fit_projection(ArrayRows(np.concatenate([q, p])))
    projected = fitted.apply(distinct).astype(np.float64)
    p_rows, q_rows = (
        projected[[int(np.flatnonzero((distinct == row).all(axis=1))[0]) for row in side.astype(np.float64)]]
        for side in (p, q)
    )
    return naive(p_rows, q_rows, 4, False)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_ties_do_not_depend_on_threads_and_blocks(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = copied_texts(7)
    expected = support_of(p, q)
    with threadpool_limits(threads):
        for elements in (1, 333, 4000):
            monkeypatch.setattr(knn_precision_recall, "_BLOCK_ELEMENTS", elements)
            monkeypatch.setattr(knn_precision_recall, "_STEP_ELEMENTS", elements)
            assert support_of(p, q) == pytest.approx(expected, abs=1e-12)


def test_the_tolerance_moves_the_edge() -> None:
    p = np.arange(6.0)[:, None]
    # with k = 1 every human ball has radius 1: 5.99 and 6.0 are inside, 6.00005 with a tolerance, 6.1 never
    q = np.array([[5.99], [6.0], [6.00005], [6.1]])
    assert support_scores(p, q, k=1).precision == 0.5
    assert support_scores(p, q, k=1, tolerance=1e-4).precision == 0.75
    assert support_scores(p, q, k=1, strict=True).precision == 0.25
    assert support_scores(p, q, k=1, strict=True, tolerance=1e-4).precision == 0.25
    assert support_scores(p, q, k=1, strict=True, tolerance=2.0**-14).precision == 0.25


@pytest.mark.more
@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("columns", [1, 16])
def test_an_offset_common_to_all_rows_does_not_matter(columns: int, on_device: bool) -> None:
    """At 1e3 all rows point the same way already: what is left of the offset at 1e7 is rounding."""
    rng, offset = np.random.default_rng(0), np.zeros(16)
    offset[:columns] = 1.0
    p, q = rng.normal(size=(400, 16)), 1.3 * rng.normal(size=(400, 16)) + 0.3
    if on_device:
        torch = pytest.importorskip("torch")
        found = [
            knn_precision_recall.support_scores_on_device(
                *(torch.from_numpy(rows) for rows in (p * size, q * size)), 4, knn_precision_recall.ROUNDING
            )
            for size in (1.0, 1e-7)
        ]
    else:
        found = [support_of(p + size * offset, q + size * offset) for size in (1e3, 1e5, 1e7)]
    for other in found[1:]:  # one text of 400 is .0025
        assert other == pytest.approx(found[0], abs=0.011)


def test_blocks_smaller_than_k(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = random_pair(15, 51, 5)
    expected = naive(rows, rows[:5], 4, False)
    for tile in (1, 3, 7, 64):
        monkeypatch.setattr(knn_precision_recall, "_BLOCK_ELEMENTS", tile**2)
        assert support_scores(rows, rows[:5], 4) == pytest.approx(expected, rel=0, abs=1e-12)


def test_radii_are_cut_to_the_median_of_an_odd_number() -> None:
    p = np.array([[0.0], [1.0], [3.0], [7.0], [12.0]])  # radii 1, 1, 2, 4, 5 for k = 1
    around, inside = ball_counts(p, np.array([[4.9], [5.1], [9.1], [14.0]]), 1, at_most_median=True)
    assert (around.tolist(), inside.tolist()) == ([1, 1, 0, 1], [0, 0, 1, 1, 1])
    assert ball_counts(p, np.array([[16.5]]), 1)[0].tolist() == [1]  # and are not cut unless it is asked for


def test_radii_are_cut_to_the_median_of_an_even_number() -> None:
    p = np.array([[0.0], [1.0], [3.0], [6.0]])  # radii 1, 1, 2, 3 for k = 1: the median is 1.5
    around, inside = ball_counts(p, np.array([[4.4], [4.6]]), 1, at_most_median=True)
    assert (around.tolist(), inside.tolist()) == ([1, 1], [0, 0, 1, 1])


@pytest.mark.parametrize("n", [9, 10])
def test_radii_are_cut_to_the_median_of_all_distances(n: int) -> None:
    p, q = np.random.default_rng(0).normal(size=(n, 3)), np.random.default_rng(1).normal(size=(500, 3))
    radii = np.sort(np.linalg.norm(p[:, None] - p, axis=2), axis=1)[:, 2]
    within = np.linalg.norm(q[:, None] - p, axis=2) <= np.minimum(radii, np.median(radii))
    around, inside = ball_counts(p, q, 2, at_most_median=True)
    assert (around.tolist(), inside.tolist()) == (within.sum(axis=1).tolist(), within.sum(axis=0).tolist())


def test_counts_need_more_rows_than_neighbours() -> None:
    p = np.random.default_rng(0).normal(size=(4, 2))
    with pytest.raises(ValueError, match="more than k=4 rows for nearest neighbours, got 4"):
        ball_counts(p, p, 4)
    assert ball_counts(p, p, 3)[0].min() >= 1


def test_an_edge_moves_by_the_tolerance_at_any_radius() -> None:
    squared = np.array([0.25, 4.0])
    assert knn_precision_recall._moved_edge(squared, 0.5) == pytest.approx([1.0, 6.25])
    assert knn_precision_recall._moved_edge(squared, -0.75) == pytest.approx([0.0, 1.5625])


def test_the_tolerance_of_counts_is_bounded_by_the_spread() -> None:
    p, q = random_pair(60, 50, 6)
    expected = ball_counts(p, q, 3)
    found = ball_counts(p * 1e-6, q * 1e-6, 3, tolerance=1.0)
    assert [side.tolist() for side in found] == [side.tolist() for side in expected]


def test_rows_are_centred_and_scaled_by_their_farthest_coordinate() -> None:
    p, q = np.array([[0.0, 0.0], [2.0, 4.0]]), np.array([[4.0, -10.0]])
    for sides, sign in (((p, q), 1), ((q, p), 1), ((-p, -q), -1)):
        mean, unit = knn_precision_recall._frame(*sides)
        assert (mean.tolist(), unit) == ([sign * 2.0, sign * -2.0], 8.0)  # of 8
    assert knn_precision_recall._frame(p, q + 0.5)[1] == 4.0  # of 7.67
    mean, unit = knn_precision_recall._frame(q, q)
    assert (mean.tolist(), unit) == ([4.0, -10.0], 1.0)
    assert knn_precision_recall._frame(1e-3 * p, 1e-3 * q)[1] == 2.0**-7


def test_equal_rows_are_inside_of_balls_without_a_radius() -> None:
    points = np.full((7, 3), 0.5)  # all at their mean, to the last digit
    assert support_scores(points, points[:5], k=4) == (1, 1, 7 / 4, 1)
    assert [counts.tolist() for counts in ball_counts(points, points[:2], 4)] == [[7] * 2, [2] * 7]
    assert (knn_precision_recall._slack(np.zeros(2), np.zeros(2), 3) > 0).all()


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize(("share", "is_inside"), [(0.98, True), (1.02, False)])
def test_the_tolerance_is_at_most_a_share_of_the_spread(share: float, is_inside: bool, on_device: bool) -> None:
    """On a line in 64 dimensions, from 0 to 5 with balls of radius 1, a point beyond the edge and others to weigh."""
    along = np.ones(64) / 8
    p, others = np.arange(6.0), np.array([6.0, -9.0, -9.0, -30.0])
    for _ in range(20):  # the point moves the spread a little
        bound = 2.0**-14 * np.concatenate([p, others]).std()
        others[0] = 6 + share * bound
    rows, more = p[:, None] * along, others[:, None] * along
    expected = 0.25 if is_inside else 0.0
    if on_device:
        torch = pytest.importorskip("torch")
        sides = torch.from_numpy(rows), torch.from_numpy(more)
        assert knn_precision_recall.support_scores_on_device(*sides, 1, 1.0).precision == expected
        assert knn_precision_recall.support_scores_on_device(*sides[::-1], 1, 1.0).recall == expected
        assert knn_precision_recall.support_scores_on_device(*sides, 1).precision == 0  # no tolerance
        return
    assert support_scores(rows, more, 1, tolerance=1.0).precision == expected
    assert support_scores(more, rows, 1, tolerance=1.0).recall == expected
    assert ball_counts(rows, more, 1, tolerance=1.0)[0].tolist() == [int(is_inside), 0, 0, 0]
    halves = [np.arange(10) < 6]
    assert scores_of_halves(np.concatenate([rows, more]), halves, 1, tolerance=1.0)[0, 0] == expected
    assert scores_of_halves(np.concatenate([rows, more]), halves, 1)[0, 0] == 0  # no tolerance
    assert support_scores(rows, more, 1).precision == ball_counts(rows, more, 1)[0].max() == 0


def test_the_number_of_neighbours_is_at_least_one() -> None:
    p = np.random.default_rng(16).normal(size=(9, 2))
    with pytest.raises(ValueError, match="k must be"):
        ball_counts(p, p, 0)


def test_blocks_and_tolerance_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    p, q = random_pair(61, 50, 6)
    on_device = [torch.from_numpy(np.asarray(rows, dtype=np.float64)) for rows in (p, q)]
    monkeypatch.setattr(tensors, "steps", lambda n, width: (slice(start, start + 7) for start in range(0, n, 7)))
    found = knn_precision_recall.support_scores_on_device(*on_device, 3)
    assert found == pytest.approx(support_scores(np.asarray(p, np.float64), np.asarray(q, np.float64), 3))
    edge = torch.arange(6.0)[:, None], torch.tensor([[5.99], [6.0], [6.00005], [6.1], [-1.00005]], dtype=torch.float64)
    assert knn_precision_recall.support_scores_on_device(*edge, 1, 1e-4).precision == 0.8


@pytest.mark.parametrize("make", [lattice, far_lattice, farther_lattice])
def test_points_on_the_edge_are_inside_on_a_device(make: Callable[[int], tuple[Floats, Floats]]) -> None:
    torch = pytest.importorskip("torch")
    p, q = make(17)
    for k in (1, 4):
        found = knn_precision_recall.support_scores_on_device(torch.from_numpy(p), torch.from_numpy(q), k)
        assert found == pytest.approx(naive(p, q, k, False), rel=0, abs=1e-12)
        assert naive(p, q, k, True).recall < found.recall


def test_distances_of_float32_rows_are_those_of_float64() -> None:
    a, b = (side.astype(np.float32) for side in random_pair(18))
    i, j = np.arange(40), np.arange(40)[::-1]
    found = knn_precision_recall._exact(a, b, i, j)
    expected = np.square(a[i].astype(np.float64) - b[j]).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_halves_of_rows_with_copies_have_the_scores_of_two_sets() -> None:
    rng = np.random.default_rng(0)
    for rows in (rng.normal(size=(90, 5)).astype(np.float32), rng.integers(0, 3, (90, 3)).astype(np.float32)):
        rows[40:60] = rows[:20]
        halves = [rng.permutation(90) < 45 for _ in range(3)]
        expected = [support_scores(rows[half], rows[~half], tolerance=ROUNDING)[:2] for half in halves]
        np.testing.assert_array_equal(scores_of_halves(rows, halves, 4, ROUNDING), expected)
