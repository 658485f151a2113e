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
from prdc import compute_prdc
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from mauve_metric import compute_mauve
from mauve_metric.clustering import projection
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.measures import knn_precision_recall
from mauve_metric.measures.knn_precision_recall import (
    SupportScores,
    ball_counts,
    clipped_coverage,
    clipped_density,
    support_scores,
)

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


@pytest.mark.parametrize("seed", range(2))
def test_ties_do_not_depend_on_the_last_digits(seed: int) -> None:
    p, q = copied_texts(seed)
    expected = support_of(p, q)
    distinct = np.unique(np.concatenate([p, q]), axis=0).astype(np.float64)
    assert expected == pytest.approx(naive_of_copies(p, q, distinct), abs=1e-12)
    for trial in range(5):
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
    # with k = 1 every human ball has radius 1: 5.99 and 6.0 are inside, 6.001 with a tolerance, 6.1 never
    q = np.array([[5.99], [6.0], [6.001], [6.1]])
    assert support_scores(p, q, k=1).precision == 0.5
    assert support_scores(p, q, k=1, tolerance=0.01).precision == 0.75
    assert support_scores(p, q, k=1, strict=True).precision == 0.25
    assert support_scores(p, q, k=1, strict=True, tolerance=0.02).precision == 0


def test_blocks_smaller_than_k(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = random_pair(15, 51, 5)
    expected = naive(rows, rows[:5], 4, False)
    for tile in (1, 3, 7, 64):
        monkeypatch.setattr(knn_precision_recall, "_BLOCK_ELEMENTS", tile**2)
        assert support_scores(rows, rows[:5], 4) == pytest.approx(expected, rel=0, abs=1e-12)


Floats = NDArray[np.float64]


def rows(seed: int, n: int, d: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, d))


def radii(p: Floats, k: int) -> Floats:
    return np.array([np.sort(np.delete(row, i))[k - 1] for i, row in enumerate(cdist(p, p))])


def naive_density(p: Floats, q: Floats, k: int) -> float:
    reach = np.minimum(radii(p, k), np.median(radii(p, k)))
    model = np.minimum((cdist(q, p) <= reach).sum(axis=1) / k, 1).mean()
    human = np.minimum(((cdist(p, p) <= reach).sum(axis=1) - 1) / k, 1).mean()
    return min(float(model / human), 1.0)


def drawn_coverage(n: int, m: int, k: int, total: int, draws: int = 400) -> float:
    """Mean clipped coverage of m good rows among `total`, drawn on a line: it depends on ranks alone."""
    rng, found = np.random.default_rng(0), []
    for _ in range(draws):
        p, q = rng.uniform(size=(n, 1)), np.append(rng.uniform(size=m), np.full(total - m, 99.0))[:, None]
        found.append(np.minimum((cdist(p, q) <= radii(p, k)[:, None]).sum(axis=1) / k, 1).mean())
    return float(np.mean(found))


@pytest.mark.parametrize(("n", "m", "d", "k"), [(30, 40, 3, 5), (41, 12, 2, 1), (6, 9, 4, 5), (50, 50, 30, 4)])
def test_density_is_that_of_the_loop(n: int, m: int, d: int, k: int) -> None:
    p, q = rows(0, n, d), 1.2 * rows(1, m, d) + 0.2
    # counts, exact: one division
    assert clipped_density(p, q, k=k) == pytest.approx(naive_density(p, q, k), rel=1e-14)


@pytest.mark.parametrize(
    ("n", "m", "d", "k", "shift", "scale", "density", "coverage"),
    [
        # seqme 0.5.1, _compute_clipped_density and _compute_clipped_coverage in float64; it widens radii by 1e-8
        (60, 60, 3, 5, 0.0, 1.0, 0.946601924, 56 / 60),
        (60, 60, 3, 5, 0.7, 1.0, 0.815534021, 32 / 60),
        (50, 80, 8, 3, 0.0, 0.5, 1.0, 1.0),
        (80, 40, 2, 4, 0.5, 2.0, 0.578947368, 29 / 40),
        (300, 200, 4, 5, 0.0, 1.3, 0.648648654, 143 / 200),
    ],
)
def test_seqme_gives_the_same(
    n: int, m: int, d: int, k: int, shift: float, scale: float, density: float, coverage: float
) -> None:
    p, q = rows(0, n, d), rows(1, m, d) * scale + shift
    assert clipped_density(p, q, k=k) == pytest.approx(density, abs=1e-7)
    assert clipped_coverage(p, q, k=k) == pytest.approx(coverage, abs=1e-12)


@pytest.mark.parametrize(("n", "total", "k"), [(20, 15, 2), (12, 30, 3)])
def test_coverage_is_calibrated_by_the_expectation(n: int, total: int, k: int) -> None:
    from mauve_metric.measures.knn_precision_recall import _expected_coverage

    expected = _expected_coverage(n, total, k)
    for m in (0, 1, total // 2, total - 1):
        # means over 400 draws of numbers that scatter by less than 0.15: 4 · 0.15 / 20
        assert expected[m] == pytest.approx(drawn_coverage(n, m, k, total), abs=0.03)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("measure", [clipped_density, clipped_coverage])
def test_a_share_of_good_rows_is_the_score(measure: Callable[..., float], share: float) -> None:
    found = []
    for seed in range(10):
        p, q = rows(seed, 200, 4), rows(100 + seed, 200, 4)
        q[int(share * 200) :] += 50
        found.append(measure(p, q))
    # single scores scatter by about 0.05; at share 1 clipping at 1 takes some of it off
    assert np.mean(found) == pytest.approx(share, abs=0.06)


def test_an_outlier_inflates_density_and_not_the_clipped_one() -> None:
    p = np.concatenate([rows(2, 100, 2), np.full((4, 2), 30.0) + rows(3, 4, 2)])  # balls of human outliers reach far
    q = rows(4, 100, 2) + np.array([9.0, 9.0])  # nowhere near the human texts, but between them and the outliers
    density = compute_prdc(p, q, nearest_k=5)["density"]
    assert density > 0.5
    assert clipped_density(p, q) == 0.0
    many = np.concatenate([rows(5, 60, 2), np.zeros((40, 2))])  # copies in the middle of many balls
    assert compute_prdc(rows(6, 100, 2), many, nearest_k=5)["density"] > 1.1
    assert clipped_density(rows(6, 100, 2), many) <= 1.0


def test_without_clipping_the_counts_are_those_of_prdc() -> None:
    p, q = rows(7, 60, 3), rows(8, 50, 3) * 1.1
    around, inside = ball_counts(p, q, k=4)
    expected = compute_prdc(p, q, nearest_k=4)
    assert around.mean() / 4 == pytest.approx(expected["density"], rel=1e-14)
    assert (inside > 0).mean() == pytest.approx(expected["coverage"], rel=1e-14)


def test_copies_of_rows_count_as_often_as_they_occur() -> None:
    p = np.concatenate([rows(9, 20, 2), rows(9, 20, 2)[:7], rows(9, 20, 2)[:3]])
    q = np.concatenate([p[:15], p[:5], rows(10, 9, 2)])
    for k in (1, 2, 5):
        assert clipped_density(p, q, k=k) == pytest.approx(naive_density(p, q, k), rel=1e-14)
    same = np.ones((10, 2))
    assert clipped_density(same, same) == clipped_coverage(same, same) == 1.0


@pytest.mark.parametrize("measure", [clipped_density, clipped_coverage])
def test_rotation_place_and_units_do_not_matter(measure: Callable[..., float]) -> None:
    p, q = rows(11, 50, 4), rows(12, 60, 4) * 1.3
    turn = np.linalg.qr(rows(13, 4, 4))[0]
    expected = measure(p, q)
    assert 0 < expected < 1
    assert measure(p @ turn * 1e3 + 5, q @ turn * 1e3 + 5) == expected
    assert measure(p.astype(np.float32), q.astype(np.float32)) == expected


@pytest.mark.parametrize("measure", [clipped_density, clipped_coverage])
def test_what_cannot_be_computed_is_refused(measure: Callable[..., float]) -> None:
    p = rows(14, 6, 3)
    with pytest.raises(ValueError, match=r"^p must have more than k=5 rows for nearest neighbours, got 5"):
        measure(p[:5], p)
    with pytest.raises(ValueError, match=r"^q must have at least 1 row of features, got an array"):
        measure(p, p[:0])
    with pytest.raises(ValueError, match=r"^p and q must have rows of one length, got 3 and 2"):
        measure(p, p[:, :2])
    with pytest.raises(ValueError, match=r"^k must be at least 1, got 0"):
        measure(p, p, k=0)
