"""Texts of two sets that belong together are found, and independent sets are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.measures import shared_prompts
from mauve_metric.measures.shared_prompts import _neighbours, find_pairs, standardised


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


@pytest.mark.parametrize(("pairs", "found"), [(64, 0), (66, 7)])
def test_mutual_neighbours_must_be_three_standard_errors_more_than_chance(
    pairs: int, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 rows, where half of the splits' have one: 64 are 2.8 errors more, 66 are 3.2.

    Seven pairs are nearer than any of the splits, too few to count as near copies.
    """
    rows, numbers = np.eye(200, dtype=np.float32), np.arange(100)
    cosines = np.r_[np.full(7, 0.99), np.full(pairs - 7, 0.5), np.zeros(100 - pairs)].astype(np.float32)[:, None]
    p, q = rows[:100], cosines * rows[:100] + np.sqrt(1 - cosines**2) * rows[100:]
    by_chance = numbers, numbers % 2 == 0, np.full(100, 2.0)
    monkeypatch.setattr(shared_prompts, "_split", lambda *_: by_chance)
    np.testing.assert_array_equal(find_pairs(p, q), np.stack([numbers[:found]] * 2, axis=1))


def test_the_share_of_pairs_by_chance_is_that_of_the_rows_without_a_partner(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 of 100 rows have a mutual neighbour, half of the rest by chance: 20 % of 1 - .3/.5, so .2 of the .8."""
    rows, numbers, shares = np.eye(200, dtype=np.float32), np.arange(100), []
    cosines = np.r_[np.full(80, 0.9), np.zeros(20)].astype(np.float32)[:, None]
    monkeypatch.setattr(shared_prompts, "_split", lambda *_: (numbers, numbers % 2 == 0, np.full(100, 2.0)))
    monkeypatch.setattr(shared_prompts, "_least_gap", lambda *numbers: shares.append(numbers[2]) or 0.0)
    find_pairs(rows[:100], cosines * rows[:100] + np.sqrt(1 - cosines**2) * rows[100:])
    assert shares == pytest.approx([(1 - 0.3 / 0.5) * 0.5 / 0.8])


def test_a_row_without_a_next_neighbour_has_the_farthest() -> None:
    rows = np.eye(3, dtype=np.float32)
    nearest, best, second = shared_prompts._two_nearest(rows[:2], -rows[:1])
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


def test_offsets_scales_and_constant_columns_have_no_part_in_it() -> None:
    rng = np.random.default_rng(4)
    p, q = correlated(rng, 100, 50, 0.7)
    expected = find_pairs(*standardised(p, q))
    scale, offset = rng.uniform(0.1, 100, size=50), rng.normal(size=50) * 1000
    more = [np.hstack([rows * scale + offset, np.ones((100, 1)), np.zeros((100, 1))]) for rows in (p, q)]
    np.testing.assert_array_equal(find_pairs(*standardised(*more)), expected)
