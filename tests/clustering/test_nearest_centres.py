"""The nearest centre by lower bounds against all distances in float64, and k-means on it against faiss."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.clustering import kmeans, nearest_centres
from mauve_metric.clustering.nearest_centres import AllCentres, BoundedCentres, assign
from mauve_metric.runtime import low_precision
from mauve_metric.runtime.optional_imports import import_faiss

Rows = NDArray[np.float32]
LowCentres = partial(BoundedCentres, low=True)  # bounds in bfloat16, as on a processor that has units for it


class OneOfThree(AllCentres):
    """All distances, of one run beside two others of which one has ended."""

    def start(self, centres: Rows) -> NDArray[np.int64]:
        (own,) = centres
        return super().start(np.stack([own[::-1], own, own + 1]))[1:2]

    def follow(self, centres: Rows, moved: NDArray[np.bool_]) -> NDArray[np.int64]:
        if len(centres) == 3:  # from `start`
            return super().follow(centres, moved)
        (own,) = centres
        some = np.stack([np.ones_like(moved[0]), moved[0], np.zeros_like(moved[0])])
        return super().follow(np.stack([own[::-1], own, own - 1]), some)[1:2]

    def cost(self, run: int) -> float:
        return super().cost(1)


def start(search: Any, centres: Rows) -> NDArray[np.int64]:
    """The nearest of new centres in one run, (k, r) → (n,)."""
    return np.asarray(search.start(centres[None])[0])


def follow(search: Any, centres: Rows, moved: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same after the centres with these numbers moved."""
    has_moved = np.zeros((1, len(centres)), dtype=bool)
    has_moved[0, moved] = True
    return np.asarray(search.follow(centres[None], has_moved)[0])


def rows(n: int, r: int, decay: float, seed: int = 0) -> Rows:
    """Columns of falling variance, as after PCA, around a few topics; decay 0: no column says more than another."""
    rng = np.random.default_rng(seed)
    topics = rng.normal(size=(12, r))[rng.integers(0, 12, size=n)]
    return np.asarray((rng.normal(size=(n, r)) + topics) * np.arange(1, r + 1) ** -decay, dtype=np.float32)


def faiss_labels(points: Rows, k: int, restarts: int, max_iter: int) -> NDArray[np.int64]:
    """The buckets of faiss itself."""
    options = {"update_index": True, "seed": 27, "min_points_per_centroid": 1}
    clustering = import_faiss().Kmeans(points.shape[1], k, niter=max_iter, nredo=restarts, **options)
    clustering.train(points)
    return np.asarray(clustering.index.search(points, 1)[1][:, 0])


def squared_distances(points: Rows, centres: Rows) -> NDArray[np.float64]:
    """All (n, k), in float64."""
    wide = points.astype(np.float64)
    return np.stack([np.square(wide - centre).sum(axis=1) for centre in centres.astype(np.float64)], axis=1)


def check_nearest(search: Any, centres: Rows, labels: NDArray[np.int64]) -> None:
    """Every row has the nearest centre, and the cost is theirs."""
    distances = squared_distances(search.rows, centres)
    mine = distances[np.arange(len(labels)), labels]
    np.testing.assert_allclose(mine, distances.min(axis=1), rtol=1e-4, atol=1e-5)
    assert (labels == distances.argmin(axis=1)).mean() > 0.999
    squares = np.square(search.rows.astype(np.float64)).sum()
    assert squares + search.cost(0) == pytest.approx(mine.sum(), rel=1e-5, abs=1e-6 * squares)


@pytest.mark.more
@pytest.mark.parametrize("way", [OneOfThree, BoundedCentres, LowCentres])
@pytest.mark.parametrize(
    ("n", "r", "k", "decay"),
    [
        (900, 200, 60, 0.5),  # bounds of 128 columns first, then of 64
        (900, 200, 60, 0.0),  # bounds that rule out little: all distances
        (700, 100, 40, 0.7),  # fewer columns than the first bounds have
        (300, 5, 20, 0.0),
        (40, 90, 40, 0.3),
        (50, 70, 1, 0.3),
    ],
)
def test_nearest_as_centres_move(way: Any, n: int, r: int, k: int, decay: float) -> None:
    points = rows(n, r, decay)
    rng = np.random.default_rng(1)
    centres = points[rng.permutation(n)[:k]].copy()
    search = way(points)
    check_nearest(search, centres, start(search, centres))
    for share in (1.0, 0.5, 0.1, 0.0):
        moved = np.sort(rng.permutation(k)[: round(share * k)])
        centres = centres.copy()
        centres[moved] += 0.3 * rows(len(moved), r, decay, seed=3)
        check_nearest(search, centres, follow(search, centres, moved))
    other = points[rng.permutation(n)[:k]].copy()
    check_nearest(search, other, start(search, other))


def test_bounds_leave_few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On columns that fall in variance most distances are never computed; what is computed decides all the same."""
    computed = []
    distances = nearest_centres._distances

    def counted(points: Rows, places: Any, *others: Any) -> Any:
        computed.append(len(places))
        return distances(points, places, *others)

    monkeypatch.setattr(nearest_centres, "_distances", counted)
    points = rows(3000, 300, 0.5)
    centres = points[::30].copy()
    search = BoundedCentres(points)
    check_nearest(search, centres, start(search, centres))
    moved = np.arange(0, 100, 2)
    centres[moved] *= np.float32(0.9)
    check_nearest(search, centres, follow(search, centres, moved))
    assert 2 * len(points) <= sum(computed) < 0.1 * 2 * len(points) * len(centres)


def test_parts_and_forgotten_bounds_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    points = rows(1000, 200, 0.5)
    first, moved = points[:50].copy(), np.arange(10)
    later = first.copy()
    later[moved] = points[60:70]
    whole = BoundedCentres(points)
    expected = [start(whole, first), follow(whole, later, moved)]
    monkeypatch.setattr(nearest_centres, "_PART_BYTES", 4 * 50 * 300)
    monkeypatch.setattr(nearest_centres, "_KEPT_BYTES", 0)
    parts = BoundedCentres(points)
    found = [start(parts, first), follow(parts, later, moved)]
    assert len(parts._parts) == 4 and parts._parts[0].bounds.size == 0
    np.testing.assert_array_equal(found, expected)
    assert parts.cost(0) == pytest.approx(whole.cost(0), rel=1e-6)
    np.testing.assert_array_equal(assign(points, later), expected[1])


@pytest.mark.parametrize("way", [OneOfThree, BoundedCentres, LowCentres])
def test_the_lowest_number_among_equal_centres(way: Any) -> None:
    points = rows(500, 200, 0.5)
    centres = np.repeat(points[:20], 2, axis=0)
    search = way(points)
    labels = start(search, centres)
    assert (labels % 2 == 0).all()
    # twins that moved together still tie; the first of three does not move
    centres = np.concatenate([centres[:1], centres[:1], centres[:1], centres[3:]])
    assert set(follow(search, centres, np.array([2]))[:1]) == {0}


def test_a_search_is_freed_when_it_is_not_used_any_more() -> None:
    rows = np.random.default_rng(0).normal(size=(600, 8)).astype(np.float32)
    gc.disable()  # which alone could free what refers to itself
    try:
        search = BoundedCentres(rows)
        search.start(rows[None, :20])
        freed = weakref.ref(search)
        del search
        assert freed() is None
    finally:
        gc.enable()


def test_equal_rows_have_equal_centres() -> None:
    """Wherever they stand: in another place of a block a product may round otherwise."""
    half = rows(1501, 300, 0.5)
    points = np.concatenate([half, half[::-1]])
    labels = start(BoundedCentres(points), half[:200].copy())
    np.testing.assert_array_equal(labels[:1501], labels[1501:][::-1])


@pytest.mark.parametrize(("n", "r", "k", "decay", "low"), [(6000, 300, 60, 0.5, False), (4000, 250, 100, 0.35, True)])
def test_labels_are_those_of_faiss(
    n: int, r: int, k: int, decay: float, low: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mauve_metric.runtime.low_precision.pays", lambda multiplications: low)
    points = rows(n, r, decay, seed=4)
    assert isinstance(nearest_centres.nearest_centres(points, k), BoundedCentres)
    ours = kmeans.kmeans(points, k, 3, 100, seed=25)
    np.testing.assert_array_equal(ours, faiss_labels(points, k, 3, 100))


@pytest.mark.parametrize(("n", "r", "k"), [(400, 30, 25), (90, 3, 30), (60, 2, 50)])
@pytest.mark.parametrize("max_iter", [1, 2, 3, 100])
def test_runs_in_step_give_what_each_gives_alone(
    n: int, r: int, k: int, max_iter: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Restarts together or one by one, however many iterations each takes; to their end, what faiss gives."""
    points = rows(n, r, 0.3, seed=2)
    if max_iter == 100:
        expected = faiss_labels(points, k, 4, max_iter)
        np.testing.assert_array_equal(kmeans.kmeans(points, k, 4, max_iter, seed=25), expected)
    together = kmeans.fit(points, k, 4, max_iter, seed=27)
    for at_once in (1, 3):
        monkeypatch.setattr(kmeans, "_MOST_DISTANCES", at_once * n * k)
        np.testing.assert_array_equal(kmeans.fit(points, k, 4, max_iter, seed=27), together)


@pytest.mark.parametrize(("n", "r", "k"), [(600, 20, 60), (3000, 100, 500)])
def test_only_starts_with_equal_centres_are_left_to_faiss(
    n: int, r: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = rows(n, r, 0.3, seed=2)
    twice = kmeans._start(points, k, 1, 27)[:2]
    points[twice[0]] = points[twice[1]]
    by_faiss = []
    original = kmeans._by_faiss

    def noted(search: Any, start: Rows, max_iter: int) -> Any:
        by_faiss.append(start)
        return original(search, start, max_iter)

    monkeypatch.setattr(kmeans, "_by_faiss", noted)
    np.testing.assert_array_equal(kmeans.kmeans(points, k, 4, 100, seed=25), faiss_labels(points, k, 4, 100))
    expected = [points[kmeans._start(points, k, restart, 27)] for restart in range(4)]
    tied = [start for start in expected if len(np.unique(start, axis=0)) < k]
    assert 0 < len(tied) < 4
    np.testing.assert_array_equal(by_faiss, tied)


@pytest.mark.parametrize("max_iter", [1, 3])
def test_as_many_iterations_as_those_of_faiss_give_its_centres(max_iter: int) -> None:
    points = rows(400, 30, 0.3, seed=2)
    start = points[::20].copy()
    (ours,), (longer,) = (kmeans._lloyd(AllCentres(points), start[None], count) for count in (max_iter, max_iter + 1))
    theirs = kmeans._by_faiss(AllCentres(points), start, max_iter)
    np.testing.assert_allclose(ours.centres, theirs.centres, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ours.labels, theirs.labels)
    assert (ours.iterations, ours.cost) == (
        max_iter,
        pytest.approx(theirs.cost, rel=1e-5),
    ) and theirs.iterations == max_iter
    assert np.abs(longer.centres - ours.centres).max() > 0.01


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_a_run_goes_on_while_splitting_copies_leaves_others_to_improve(seed: int) -> None:
    """Three centres are far from all rows; the largest bucket has copies of one row, and is split in vain."""
    others = np.random.default_rng(seed).normal(size=(60, 2)).astype(np.float32)
    points = np.concatenate([np.tile(np.float32([10, 1]), (150, 1)), others])
    start = np.float32([[10, 1], [0, 0], [1e3, 1e3], [-1e3, 1e3], [1e3, -1e3]])
    (ours,), theirs = (
        kmeans._lloyd(AllCentres(points), start[None], 100),
        kmeans._by_faiss(AllCentres(points), start, 100),
    )
    assert sorted(np.bincount(ours.labels)) == sorted(np.bincount(theirs.labels)) and 3 < ours.iterations < 100
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-6)


def test_a_run_that_splits_for_ever_ends_beside_others() -> None:
    """Of four starts with 20 centres for 12 kinds of rows each ends by itself."""
    kinds = rows(12, 6, 0.0)
    points = kinds[np.random.default_rng(9).integers(0, 12, size=300)] + np.float32(0)
    search = AllCentres(points)
    starts = np.stack([points[i : i + 20] for i in (0, 30, 60, 90)])
    ends = kmeans._lloyd(search, starts, 100)
    for start, end in zip(starts, ends, strict=True):
        (alone,) = kmeans._lloyd(search, start[None], 100)
        np.testing.assert_array_equal(end.centres, alone.centres)
        assert (end.cost, end.iterations) == (alone.cost, alone.iterations) and end.iterations < 100


@pytest.mark.parametrize("count", [1, 7, 200, 900, 70_000])
def test_sums_by_place_are_those_of_one_row_after_the_other(count: int) -> None:
    rng = np.random.default_rng(count)
    points, places, numbers = rows(500, 9, 0.0), rng.integers(0, count, size=800), rng.integers(0, 500, size=800)
    expected = np.zeros((count, 9), dtype=np.float32)
    for place, number in zip(places, numbers, strict=True):
        expected[place] += points[number]
    np.testing.assert_array_equal(kmeans._sums_by_place(points, numbers, places, count), expected)


def copies(n: int, r: int) -> Rows:
    """Rows of which most occur often."""
    return rows(n // 8, r, 0.5)[np.random.default_rng(5).integers(0, n // 8, size=n)]


def lattice(n: int, r: int) -> Rows:
    """Whole numbers: many centres are exactly as far."""
    return np.random.default_rng(6).integers(-1, 2, size=(n, r)).astype(np.float32)


def mixed_lengths(n: int, r: int) -> Rows:
    """Rows of lengths from 1e-30 to 10, most of them nothing beside the others."""
    return rows(n, r, 0.3) * np.float32(10) ** np.random.default_rng(7).integers(-30, 2, size=(n, 1)).astype(np.float32)


def shifted(n: int, r: int) -> Rows:
    """Rows that differ by less than bfloat16 can tell."""
    return np.float32(1) + np.float32(1e-4) * rows(n, r, 0.2)


@pytest.mark.parametrize("make", [copies, lattice, mixed_lengths, shifted])
def test_bounds_do_not_change_the_labels(make: Any) -> None:
    """By heads or in bfloat16, the labels are those of looking at every pair in float32, ties included."""
    points = make(700, 200)
    centres = points[np.random.default_rng(8).permutation(700)[:60]].copy()
    later, moved = centres.copy(), np.arange(0, 60, 3)
    later[moved] = points[100:120]
    found = []
    for low, many in ((False, 0.1), (True, 0.1), (False, -1.0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nearest_centres, "_MANY_PAIRS", many)
            search = BoundedCentres(points, low)
            if many < 0:  # no bound rules anything out
                patch.setattr(nearest_centres._Part, "_limits", lambda part, squares: np.full_like(part.own, 1e30))
            found.append((start(search, centres), follow(search, later, moved), search.cost(0)))
    for labels, after, cost in found[:2]:
        np.testing.assert_array_equal(labels, found[2][0])
        np.testing.assert_array_equal(after, found[2][1])
        assert cost == found[2][2]


@pytest.mark.parametrize("make", [lattice, shifted])
def test_clusterings_do_not_depend_on_the_bounds(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    points = make(2500, 300)
    expected = kmeans.kmeans(points, 160, 2, 100, seed=25)
    asked: list[float] = []

    def always(multiplications: float) -> bool:
        asked.append(multiplications)
        return True

    monkeypatch.setattr("mauve_metric.runtime.low_precision.pays", always)
    np.testing.assert_array_equal(kmeans.kmeans(points, 160, 2, 100, seed=25), expected)
    assert asked


@pytest.mark.parametrize("low", [False, True])
def test_bounds_are_those_of_heads_and_lengths_and_have_room_for_rounding(
    low: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times the rounding of a distance in float32, eight times in bfloat16, and what underflows."""
    points = rows(300, 200, 0.7)
    centres = points[:40] + np.float32(0.01)
    wide, ends = points.astype(np.float64), centres.astype(np.float64)
    squares = np.einsum("ij,ij->i", centres, centres)
    (part,) = parts_of(BoundedCentres(points, low), centres)
    assert (part.low is not None) == low
    for name in ("limit_bits", "bound_bits"):
        monkeypatch.setattr(low_precision, name, lambda numbers: numbers)
    error = 216 * 2.0**-24 * (np.linalg.norm(wide, axis=1).max() + np.linalg.norm(ends, axis=1).max()) ** 2
    assert part._error(squares) == pytest.approx(error, rel=1e-4)
    own = squared_distances(points, centres).min(axis=1)
    least, most = (8, own) if low else (3, own - np.square(wide).sum(axis=1))
    np.testing.assert_allclose(part._limits(squares) - most, least * error, rtol=0.1)
    shifted = part._as_bounds(part.own, np.arange(300), squares)
    np.testing.assert_allclose(most - shifted, 8 * error if low else 0, atol=0.3 * error)
    if not low:
        for width in (64, 128, 200):
            heads = squared_distances(points[:, :width], centres[:, :width])
            rest = [np.linalg.norm(some[:, width:], axis=1) for some in (wide, ends)]
            bounds = heads + np.square(rest[0][:, None] - rest[1]) - np.square(wide).sum(axis=1)[:, None]
            np.testing.assert_allclose(part._bounds(centres, squares, width).T, bounds, atol=error)
    nothing = np.zeros((300, 200), dtype=np.float32)
    (part,) = parts_of(BoundedCentres(nothing), nothing[:3])
    np.testing.assert_allclose(part._limits(np.zeros(3, dtype=np.float32)), 200e-36, rtol=1e-6)


def parts_of(search: BoundedCentres, centres: Rows) -> list[Any]:
    """The parts of a search that has started."""
    search.start(centres[None])
    return search._parts


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_lengths_that_float32_cannot_square(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are computed as they come, without bounds that would be infinite or nothing."""
    monkeypatch.setattr("mauve_metric.runtime.low_precision.pays", lambda multiplications: True)
    points = rows(2000, 200, 0.5) * np.float32(scale)
    search = nearest_centres.nearest_centres(points, 300)
    with np.errstate(over="ignore", invalid="ignore"):
        labels = start(search, points[:300].copy())
        np.testing.assert_array_equal(labels, start(AllCentres(points), points[:300].copy()))
