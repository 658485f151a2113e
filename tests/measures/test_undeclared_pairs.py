"""Texts of two sets that belong together are found, and independent sets are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.measures import undeclared_pairs
from mauve_metric.measures.undeclared_pairs import _neighbours, find_pairs, standardised


def correlated(rng: np.random.Generator, n: int, d: int, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two sets that share a part, in one order."""
    common = rng.normal(size=(n, d))
    one, two = (np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(n, d)) for _ in range(2))
    return one, two


@pytest.mark.parametrize(("n", "d", "correlation"), [(100, 200, 0.5), (300, 200, 0.3), (300, 20, 0.8)])
def test_pairs_are_found_in_shuffled_rows_and_are_the_true_ones(n: int, d: int, correlation: float) -> None:
    rng = np.random.default_rng(0)
    p, q = correlated(rng, n, d, correlation)
    order = rng.permutation(n)
    pairs = find_pairs(*standardised(p, q[order]))
    assert len(pairs) > n / 4
    true = np.mean(order[pairs[:, 1]] == pairs[:, 0])
    assert true > 0.85  # at most 5 % are chance by construction; of 75 pairs four standard errors are 10 % more
    swapped = find_pairs(*standardised(q[order], p))
    assert np.mean(order[swapped[:, 0]] == swapped[:, 1]) > 0.85


def test_independent_sets_have_no_pairs() -> None:
    """Chance is about 3 in 2000, so that two of 30 are too many."""
    rng = np.random.default_rng(1)
    shapes = [(100, 100, 5), (100, 300, 50), (300, 100, 200)]
    found = [
        len(find_pairs(*standardised(rng.normal(size=(n, d)), rng.normal(shift, 1, size=(m, d))))) > 0
        for n, m, d in shapes
        for shift in (0.0, 0.3)
        for _ in range(5)
    ]
    assert sum(found) <= 1


@pytest.mark.parametrize(("pairs", "near", "found"), [(64, 7, 0), (66, 7, 7), (64, 8, 8)])
def test_mutual_neighbours_must_be_three_standard_errors_more_than_chance(
    pairs: int, near: int, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 rows, where half of the splits' have one: 64 are 2.8 errors more, 66 are 3.2.

    Seven pairs that are nearer than any of the splits are too few to count as near copies: twice one per cent of 64
    are 1.28, and four roots of that and two more are 7.8.
    """
    rows, numbers = np.eye(200, dtype=np.float32), np.arange(100)
    cosines = np.r_[np.full(near, 0.99), np.full(pairs - near, 0.5), np.zeros(100 - pairs)].astype(np.float32)[:, None]
    p, q = rows[:100], cosines * rows[:100] + np.sqrt(1 - cosines**2) * rows[100:]
    by_chance = numbers, numbers % 2 == 0, np.full(100, 2.0)
    monkeypatch.setattr(undeclared_pairs, "_split", lambda *_: by_chance)
    np.testing.assert_array_equal(find_pairs(p, q), np.stack([numbers[:found]] * 2, axis=1))


@pytest.mark.parametrize(("pairs", "share"), [(80, 1 - 0.3 / 0.5), (40, 1.0)])  # of those by chance
def test_the_share_of_pairs_by_chance_is_that_of_the_rows_without_a_partner(
    pairs: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """80 of 100 rows have a mutual neighbour, half of the rest by chance: 20 % of 1 - .3/.5, so .2 of the .8.

    Of 40 all are. The pairs at the least gap are kept.
    """
    rows, numbers, shares = np.eye(200, dtype=np.float32), np.arange(100), []
    cosines = np.r_[np.full(pairs, 0.9), np.zeros(100 - pairs)].astype(np.float32)[:, None]
    monkeypatch.setattr(undeclared_pairs, "_split", lambda *_: (numbers, numbers % 2 == 0, np.full(100, 2.0)))
    monkeypatch.setattr(undeclared_pairs, "_least_gap", lambda *numbers: shares.append(numbers[2]) or numbers[1].min())
    found = find_pairs(rows[:100], cosines * rows[:100] + np.sqrt(1 - cosines**2) * rows[100:])
    assert shares == pytest.approx([share * 0.5 / (pairs / 100)]) and len(found) == pairs
    monkeypatch.setattr(undeclared_pairs, "_split", lambda *_: (numbers, numbers >= 0, np.full(100, 2.0)))
    find_pairs(rows[:100], cosines * rows[:100] + np.sqrt(1 - cosines**2) * rows[100:])
    assert shares[1:] == [1.0]  # where all rows of the splits have a neighbour


@pytest.mark.parametrize(("n_p", "n_q"), [(120, 80), (80, 120)])
def test_pairs_of_sets_of_unequal_size_are_in_the_order_of_p(n_p: int, n_q: int) -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(120, 40))
    p, q = rows[:n_p], (rows + 0.1 * rng.normal(size=rows.shape))[rng.permutation(n_q)]
    order = np.linalg.norm(q[:, None] - p[None], axis=2).argmin(axis=1)  # the row of P for each of Q
    pairs = find_pairs(*standardised(p, q))
    assert len(pairs) >= 76 and (np.diff(pairs[:, 0]) > 0).all()
    assert np.mean(order[pairs[:, 1]] == pairs[:, 0]) > 0.95


def test_the_least_gap_leaves_one_pair_of_twenty_to_chance() -> None:
    """A loop over the percentiles of the observed gaps."""
    rng = np.random.default_rng(6)
    for by_chance, shift in ((0.3, 0.5), (0.9, 0.1), (0.04, 0.0), (0.0, 0.0), (0.9, 0.0)):
        chance, observed = np.sort(1 + rng.exponential(size=80)), 1 + shift + rng.exponential(1.5, size=60)
        expected = np.inf
        for gap in sorted(np.percentile(observed, range(101)), reverse=True):
            if by_chance * np.mean(chance >= gap) <= 0.05 * np.mean(observed >= gap):
                expected = gap
        assert undeclared_pairs._least_gap(chance, observed, by_chance) == pytest.approx(expected, rel=1e-12)
    assert undeclared_pairs._least_gap(np.array([]), np.array([1.0, 2.0]), 0.04) == 1.0
    assert undeclared_pairs._least_gap(np.array([]), np.array([1.0, 2.0]), 0.06) == np.inf
    assert undeclared_pairs._least_gap(np.array([3.0]), np.array([1.0, 2.0]), 0.9) == np.inf
    assert undeclared_pairs._least_gap(np.array([1.0, 1.5]), np.array([1.0, 2.0]), 0.9) == pytest.approx(1.51)


@pytest.mark.parametrize(("n", "share", "size"), [(40, 0.3, 12), (40, 0.01, 1), (10, 0.25, 2)])
def test_a_split_is_of_two_random_parts(n: int, share: float, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undeclared_pairs, "_MOST_SPLIT", 5)
    rows = np.random.default_rng(7).normal(size=(n, 4)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    order = np.random.default_rng(8).permutation(n)
    expected = _neighbours(rows[order[:size]], rows[order[size:]], np.arange(min(size, 5)))
    for found, one in zip(undeclared_pairs._split(rows, share, np.random.default_rng(8)), expected, strict=True):
        np.testing.assert_array_equal(found, one)


def test_blocks_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = standardised(*np.random.default_rng(9).normal(size=(2, 20, 4)))
    expected = undeclared_pairs._two_nearest(p, q)
    monkeypatch.setattr(undeclared_pairs, "_BLOCK", 7 * 20)
    found = undeclared_pairs._two_nearest(p, q)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1:], expected[1:], atol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_rows_are_standardised_over_both_sets_and_of_length_one(dtype: type) -> None:
    rng = np.random.default_rng(10)
    p, q = ((10 * rng.normal(size=(n, 5)) + [0, 7, -9, 3, 3]).astype(dtype) for n in (12, 7))
    p[:, 4], q[:, 4] = 3, 3
    rows = np.concatenate([p, q]).astype(np.float64)
    middle = rows.mean(axis=0)
    rows[:, :4] = (rows - middle)[:, :4] / rows.std(axis=0)[:4]
    rows[:, 4] = 0
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = standardised(p, q)
    assert [side.shape for side in found] == [(12, 5), (7, 5)] and found[0].dtype == np.float32
    np.testing.assert_allclose(np.concatenate(found), rows, atol=1e-5)
    if dtype == np.float64:
        for scale in (np.float64(1e200), np.array([1, 1e-200, 1e200, 1, 1e-200])):
            np.testing.assert_allclose(np.concatenate(standardised(scale * p, scale * q)), rows, atol=1e-5)
        negative = [-1e200 * np.abs(side) for side in (p, q)]
        expected = standardised(*(-np.abs(side) for side in (p, q)))
        np.testing.assert_allclose(np.concatenate(standardised(*negative)), np.concatenate(expected), atol=1e-5)
    assert not np.concatenate(standardised(p[:1], p[:1])).any()


def test_five_hundred_rows_and_125_of_each_of_eight_splits_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    tested, find = [], undeclared_pairs._neighbours

    def spy(*options: np.ndarray) -> tuple[np.ndarray, ...]:
        tested.append((len(options[0]), len(options[1]), len(options[2])))
        return find(*options)

    monkeypatch.setattr(undeclared_pairs, "_neighbours", spy)
    rng = np.random.default_rng(11)
    assert len(find_pairs(*standardised(rng.normal(size=(900, 3)), rng.normal(size=(600, 3))))) == 0
    assert tested[0] == (600, 900, 500)
    assert sorted(tested[1:]) == [(240, 360, 125)] * 4 + [(360, 540, 125)] * 4


def test_one_pair_of_four_is_none_where_the_splits_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of Q are near the first of P: a quarter has a mutual neighbour, one standard error more than none."""
    monkeypatch.setattr(undeclared_pairs, "_split", lambda *_: (np.arange(4), np.zeros(4, dtype=bool), np.full(4, 2.0)))
    rows = np.eye(8, dtype=np.float32)
    p, q = rows[:4], np.float32(0.8) * rows[:1] + np.float32(0.6) * rows[4:]
    assert _neighbours(p, q, np.arange(4))[1].tolist() == [True, False, False, False]
    assert find_pairs(p, q).shape == (0, 2)


def test_a_row_without_a_next_neighbour_has_the_farthest() -> None:
    rows = np.eye(3, dtype=np.float32)
    nearest, best, second = undeclared_pairs._two_nearest(rows[:2], -rows[:1])
    assert (nearest.tolist(), best.tolist(), second.tolist()) == ([0, 0], [-1, 0], [-1, -1])


def test_a_tenth_of_near_copies_is_found_without_pairs_by_chance() -> None:
    rng = np.random.default_rng(2)
    p, q = rng.normal(size=(2, 300, 100))
    q[:30] = p[:30] + 0.1 * rng.normal(size=(30, 100))
    pairs = find_pairs(*standardised(p, q))
    assert {(row, row) for row in range(30)} <= set(map(tuple, pairs.tolist()))
    assert len(pairs) <= 36  # two expected by chance, at most


def test_mutual_neighbours_are_those_of_all_distances() -> None:
    rng = np.random.default_rng(3)
    p, q = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in rng.normal(size=(2, 50, 4)))
    distances = np.linalg.norm(p[:, None] - q[None], axis=2)
    nearest = distances.argmin(axis=1)
    expected = np.flatnonzero(distances[:, nearest].argmin(axis=0) == np.arange(50))
    of_each, mutual, gap = _neighbours(p.astype(np.float32), q.astype(np.float32), np.arange(50))
    np.testing.assert_array_equal(of_each, nearest)
    np.testing.assert_array_equal(np.flatnonzero(mutual), expected)
    i = expected[0]
    j = nearest[i]
    second = min(np.sort(distances[i])[1], np.sort(distances[:, j])[1])
    assert gap[i] == pytest.approx(second / distances[i, j], rel=1e-3)  # float32


def test_copies_are_at_the_least_distance() -> None:
    rows = np.eye(3, dtype=np.float32)
    nearest, mutual, gap = _neighbours(rows, rows, np.arange(3))
    assert nearest.tolist() == [0, 1, 2] and mutual.all()
    assert gap == pytest.approx(np.full(3, 2**0.5 / 1e-3), rel=1e-4)  # float32


def test_rows_of_a_single_column_have_length_one() -> None:
    p, q = np.array([[0.1], [0.3], [-4.0]]), np.array([[0.2], [0.9]])
    signs = np.sign(np.concatenate([p, q]) - np.concatenate([p, q]).mean())
    np.testing.assert_allclose(np.concatenate(standardised(p, q)), signs, rtol=1e-6)
    assert len(np.unique(signs)) == 2


def test_offsets_scales_and_constant_columns_have_no_part_in_it() -> None:
    rng = np.random.default_rng(4)
    p, q = correlated(rng, 100, 50, 0.7)
    expected = find_pairs(*standardised(p, q))
    scale, offset = rng.uniform(0.1, 100, size=50), rng.normal(size=50) * 1000
    more = [np.hstack([rows * scale + offset, np.ones((100, 1)), np.zeros((100, 1))]) for rows in (p, q)]
    np.testing.assert_array_equal(find_pairs(*standardised(*more)), expected)
