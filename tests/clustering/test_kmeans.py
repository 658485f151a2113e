"""k-means: separate groups, nearest centres, few rows, bad numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.clustering import kmeans as kmeans_module
from mauve_metric.clustering import nearest_centres
from mauve_metric.clustering.kmeans import _split, _spread_start, _start, kmeans, sample_numbers
from mauve_metric.clustering.num_buckets import auto_num_buckets

torch = pytest.importorskip("torch")
Floats = NDArray[np.float64]


def rows(n: int, d: int, seed: int, decay: float = 0.05) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) + rng.normal(size=d))


def test_kmeans_finds_separate_groups() -> None:
    rng = np.random.default_rng(7)
    centres = np.array([[0, 0], [10, 0], [0, 10]])
    truth = rng.integers(0, 3, size=90)
    labels = kmeans((centres[truth] + 0.1 * rng.normal(size=(90, 2))).astype(np.float32), 3)
    assert labels.shape == (90,) and labels.dtype == np.int64
    assert sorted(len(set(labels[truth == group])) for group in range(3)) == [1, 1, 1]
    assert set(labels) == {0, 1, 2}


def test_kmeans_labels_are_nearest_centres_and_repeatable() -> None:
    data = rows(300, 4, seed=8).astype(np.float32)
    labels = kmeans(data, 6, seed=3)
    np.testing.assert_array_equal(labels, kmeans(data, 6, seed=3))
    assert not np.array_equal(labels, kmeans(data, 6, seed=4))
    centres = np.stack([data[labels == bucket].mean(axis=0) for bucket in range(6)])
    nearest = np.argmin(((data[:, None] - centres) ** 2).sum(axis=2), axis=1)
    # at Lloyd's fixed point every row is nearest to the mean of its own bucket; 500 iterations reach it
    assert (nearest == labels).mean() == 1


def test_kmeans_of_constant_rows_is_one_bucket() -> None:
    for entry in (0, 1, 0.3):
        assert set(kmeans(np.full((30, 2), entry, dtype=np.float32), 3)) == {0}


def test_rows_of_any_number_and_layout_have_the_buckets_of_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """By bounds too, which read them from memory."""
    monkeypatch.setattr(nearest_centres, "_WORTH_BOUNDS", 0)
    data = rows(300, 4, seed=8).astype(np.float32)
    for same in (data.astype(np.float64), np.asfortranarray(data), np.asfortranarray(data.astype(np.float64))):
        np.testing.assert_array_equal(kmeans(same, 6), kmeans(data, 6))


def test_kmeans_with_as_many_buckets_as_rows() -> None:
    data = np.arange(6, dtype=np.float32)[:, None]
    assert sorted(kmeans(data, 6)) == [0, 1, 2, 3, 4, 5]


def test_kmeans_errors() -> None:
    with pytest.raises(ValueError, match="num_buckets must be at most the number of texts of both sets, 3, got 4"):
        kmeans(np.zeros((3, 2), dtype=np.float32), 4)


@pytest.mark.parametrize(
    ("n_p", "n_q", "expected"),
    [(1, 1, 2), (24, 24, 2), (25, 500, 2), (26, 500, 3), (35, 40, 4), (45, 45, 4), (500, 5000, 50), (5000, 5000, 500)],
)
def test_auto_num_buckets(n_p: int, n_q: int, expected: int) -> None:
    assert auto_num_buckets(n_p, n_q) == auto_num_buckets(n_q, n_p) == expected  # round half to even


def _cost(data: Floats, labels: NDArray[np.int64]) -> float:
    """The sum of squared distances of all rows to the mean of their bucket."""
    return sum(float(((data[labels == one] - data[labels == one].mean(axis=0)) ** 2).sum()) for one in set(labels))


@pytest.mark.parametrize("plus_plus", [False, True])
def test_the_best_of_the_restarts_is_taken(plus_plus: bool) -> None:
    """Restart r is the first one of the seed that is r steps of faiss's further on."""
    rng = np.random.default_rng(5)
    data = (rng.normal(size=(12, 3))[rng.integers(0, 12, size=240)] * 6 + rng.normal(size=(240, 3))).astype(np.float32)
    better = 0
    for seed in range(4):
        best = _cost(data, kmeans(data, 12, num_redo=6, seed=seed, plus_plus=plus_plus))
        first = _cost(data, kmeans(data, 12, num_redo=1, seed=seed, plus_plus=plus_plus))
        assert best <= first * (1 + 1e-5)  # rounding of float32
        better += best < first * (1 - 1e-3)
        if not plus_plus:
            each = [_cost(data, kmeans(data, 12, num_redo=1, seed=seed + r * 15_486_557)) for r in range(6)]
            assert best == pytest.approx(min(each), rel=1e-5) and max(each) > 1.01 * min(each)
    assert better >= 1


@pytest.mark.parametrize("with_tensors", [False, True])
def test_starts_that_are_drawn_together_find_the_kinds_that_single_draws_find(
    with_tensors: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 kinds, far apart: a random start misses a third of them, and greedy k-means++ with 7 rows a draw few."""
    rng = np.random.default_rng(6)
    kind_of = rng.permutation(np.repeat(np.arange(200), 10))
    data = (50 * rng.normal(size=(200, 8))[kind_of] + rng.normal(size=(2000, 8))).astype(np.float32)
    monkeypatch.setattr(kmeans_module, "_MOST_PRODUCTS", 0)
    numbers = kmeans_module._spread_start(torch.from_numpy(data) if with_tensors else data, 200, 0, 1, draws=7)
    assert len(set(numbers)) == 200
    assert len(set(kind_of[numbers])) > 180  # of 40 starts none found fewer than 195


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_are_centres_are_not_drawn_again(seed: int) -> None:
    close = 0.1 * np.random.default_rng(seed).normal(size=(12, 20)).astype(np.float32)
    starts = _spread_start(close, 12, 0, seed, 1)
    assert sorted(starts) == list(range(12)) and starts[0] == _start(close, 1, 0, seed)[0]


@pytest.mark.parametrize("shares", [[0.0, 0.5, 0.5], [0.9, 0.0, 0.0, 0.1, 0.0], [0.0] * 40 + [0.01] * 100])
def test_empty_buckets_take_half_of_those_that_single_draws_choose(shares: list[float]) -> None:
    n = 2000
    counts = (np.array(shares) * n).astype(np.float32)
    centres = np.random.default_rng(0).normal(size=(len(counts), 3)).astype(np.float32)
    drawn, expected, moved = np.random.RandomState(1234), counts.copy(), centres.copy()
    shift = np.float32([1 / 1024, -1 / 1024, 1 / 1024])  # faiss's
    for empty in np.flatnonzero(counts == 0):
        bucket = 0
        while np.float32(drawn.randint(0, 2**32, dtype=np.uint32)) / np.float32(2**32 - 1) >= (expected[bucket] - 1) / (
            n - len(counts)
        ):
            bucket = (bucket + 1) % len(counts)
        expected[empty] = expected[bucket] / 2
        expected[bucket] -= expected[empty]
        moved[empty], moved[bucket] = moved[bucket] * (1 + shift), moved[bucket] * (1 - shift)
    _split(centres, counts, n)
    assert counts.tolist() == expected.tolist()
    np.testing.assert_array_equal(centres, moved)


def test_equal_rows_are_one_kind_whatever_the_sign_of_their_zeros() -> None:
    assert kmeans_module._kinds(np.array([[0, 1], [-0.0, 1], [1, 0], [1, -0.0], [0, 0]], dtype=np.float32)) == 3
    assert kmeans_module._kinds(np.array([[1e-9], [2e-9]], dtype=np.float32)) == 2


def test_centres_are_fitted_on_all_rows_or_on_256_for_each_in_faiss_order() -> None:
    assert sample_numbers(768, 3, 9).tolist() == list(range(768))
    found = sample_numbers(769, 3, 9)
    assert found.tolist() == kmeans_module._random_order(769, 9)[:768].tolist() and found.dtype == np.int64


@pytest.mark.parametrize(("k", "draws"), [(20, 4), (60, 6)])
def test_k_means_plus_plus_draws_more_rows_for_more_centres(k: int, draws: int) -> None:
    """2 + log k, rounded down; other numbers give other starts."""
    data = rows(300, 4, seed=9).astype(np.float32)
    found, same, *others = (
        kmeans_module.fit(data, k, 1, 1, 5, plus_plus) for plus_plus in (True, draws, draws - 1, draws + 1)
    )
    np.testing.assert_array_equal(found, same)
    assert not any(np.array_equal(found, other) for other in others)


@pytest.mark.parametrize(("n", "k", "restart"), [(50, 7, 0), (50, 7, 2), (2600, 3, 1), (2600, 510, 1)])
def test_each_next_centre_leaves_the_least_of_those_that_were_drawn(n: int, k: int, restart: int) -> None:
    """By one loop over rows, as published; of 2500 rows, or of five for each centre where these are more."""
    data = rows(n, 3, seed=n).astype(np.float32)
    sample = kmeans_module._random_order(n, 4 + 1 + restart * 15_486_557)[: max(2500, 5 * k)]
    wide, rng, chosen = data[sample].astype(np.float64), np.random.default_rng([4, restart]), [0]
    nearest = np.square(wide - wide[0]).sum(axis=1)
    while len(chosen) < min(k, 12):
        sums = np.cumsum(nearest)
        drawn = np.searchsorted(sums, rng.random(3) * sums[-1])
        left = [np.minimum(nearest, np.square(wide - wide[place]).sum(axis=1)) for place in drawn]
        best = int(np.argmin([of_place.sum() for of_place in left]))
        chosen.append(int(drawn[best]))
        nearest = left[best]
    assert _spread_start(data, k, restart, 4, 3)[:12].tolist() == sample[chosen].tolist()


def test_starts_are_drawn_one_by_one_where_all_distances_of_the_sample_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    data, starts = rows(50, 3, seed=1).astype(np.float32), {}
    for most in (2500, 2499, 100, 0, 2**24):
        monkeypatch.setattr(kmeans_module, "_MOST_PRODUCTS", most)
        starts[most] = _spread_start(data, 40, 0, 1, 3).tolist()
    assert starts[2500] == starts[2**24] != starts[0] == starts[2499] == starts[100]


@pytest.mark.parametrize("with_tensors", [False, True])
def test_means_that_follow_the_rows_are_those_of_all_rows(with_tensors: bool) -> None:
    """As single rows move, two exchange their buckets, one bucket is left by all, and is filled again."""
    data, rng = rows(60, 3, seed=2).astype(np.float32), np.random.default_rng(3)
    runs = 1 if with_tensors else 2
    labels = rng.permuted(np.tile(np.arange(60) % 4, (runs, 1)), axis=1)
    means = kmeans_module._Means(torch.from_numpy(data) if with_tensors else data, runs, 4)
    before = np.zeros((runs, 4, 3), dtype=np.float32)
    for change in ("none", "one", "exchange", "none", "leave", "fill"):
        labels = labels.copy()
        one, other = np.flatnonzero(labels[0] == 0)[:1], np.flatnonzero(labels[0] == 3)
        if change == "one":
            labels[0, one] = 1
        elif change == "exchange":
            labels[0, one], labels[0, other[:1]] = 3, 0
        elif change == "leave":
            labels[0, other] = 2
        elif change == "fill":
            labels[0, :5] = 3
        updated, was_split = means.update(labels, before)
        assert was_split.tolist() == [change == "leave", False][:runs]
        for run in range(runs):
            for bucket in range(4):
                if not was_split[run]:
                    expected = data[labels[run] == bucket].mean(axis=0)
                    np.testing.assert_allclose(updated[run, bucket], expected, rtol=1e-5, atol=1e-6)
        if was_split[0]:  # the empty one has half of another
            shift = np.float32([1 / 1024, -1 / 1024, 1 / 1024])
            whole = np.stack([data[labels[0] == bucket].mean(axis=0) for bucket in range(3)])
            halves = np.abs(updated[0, 3] - whole * (1 + shift)).max(axis=1)
            assert np.count_nonzero(halves < 1e-5) == 1
        before = updated


def test_the_largest_bucket_is_split_where_there_are_as_many_buckets_as_rows() -> None:
    centres, counts = np.arange(5, dtype=np.float32)[:, None], np.float32([0, 0, 0, 3, 2])
    _split(centres, counts, 5)
    assert counts.tolist() == [0.75, 1, 0.75, 1.5, 1]
    np.testing.assert_allclose(centres[:, 0], [3, 4, 3, 3, 4], rtol=2.5 / 1024)


class _Circling:
    """Each row in turn has bucket 1 alone, as rounding errors may decide between rows that are nearly equal."""

    def __init__(self, data: Floats) -> None:
        self.rows, self.steps = data, 0

    def start(self, centres: Floats) -> NDArray[np.int64]:
        return self.labels(0)[None]

    def follow(self, centres: Floats, moved: NDArray[np.bool_]) -> NDArray[np.int64]:
        self.steps += 1
        return self.labels(self.steps)[None]

    def labels(self, step: int) -> NDArray[np.int64]:
        return np.roll(np.arange(len(self.rows)) == 0, step).astype(np.int64)

    def cost(self, run: int) -> float:
        return 0.0


@pytest.mark.parametrize("period", [2, 3, 7, 40])
@pytest.mark.parametrize("max_iter", [1, 2, 3, 20, *range(60, 67), 500])
def test_a_run_that_goes_in_circles_ends_as_after_all_iterations(period: int, max_iter: int) -> None:
    data = rows(period, 3, seed=5).astype(np.float32)
    search = _Circling(data)
    (end,) = kmeans_module._lloyd(search, data[None, :2], max_iter)
    np.testing.assert_array_equal(end.labels, search.labels(max_iter))
    before = search.labels(max_iter - 1)
    expected = [data[before == bucket].mean(axis=0) for bucket in (0, 1)]
    np.testing.assert_allclose(end.centres, expected, rtol=1e-5, atol=1e-6)
    assert search.steps <= min(max_iter, 64 + 2 * period)
