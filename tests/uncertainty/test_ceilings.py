"""The ceiling of equal sets and the permutation test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import compute_mauve
from mauve_metric.measures import frontier
from mauve_metric.measures.groups import count_groups
from mauve_metric.uncertainty import ceilings, intervals

Floats = NDArray[np.float64]

Counts = NDArray[np.int64]


def population(k: int, shift: float) -> tuple[Floats, Floats]:
    """P uneven, each share of Q that of P times e^(shift · normal)."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(k, 5.0))
    q = p * np.exp(shift * rng.normal(size=k))
    return p, q / q.sum()


@pytest.mark.parametrize(("k", "n_p", "n_q"), [(50, 500, 500), (100, 1000, 1000), (100, 3000, 1000), (20, 200, 800)])
def test_ceiling_is_the_local_form(k: int, n_p: int, n_q: int) -> None:
    p = population(k, 0.0)[0]
    rng = np.random.default_rng(5)
    p_counts, q_counts = rng.multinomial(n_p, p), rng.multinomial(n_q, p)
    expected = intervals.local_form(5 * (k - 1) * (1 / n_p + 1 / n_q) / 2)
    # the local form is of second order and too high by about .003 at ten texts a bucket (.966 against .963); the mean
    # of 40 draws has a standard error of .002 at 500 texts
    found = float(ceilings.null_scores(p_counts, q_counts).mean())
    assert found == pytest.approx(expected, rel=0, abs=0.01)
    assert found == float(ceilings.null_scores(p_counts, q_counts).mean())
    again = [
        frontier.curve_area(frontier.divergence_curve(rng.multinomial(n_p, p) / n_p, rng.multinomial(n_q, p) / n_q))
        for _ in range(40)
    ]
    assert found == pytest.approx(float(np.mean(again)), rel=0, abs=0.01)


def test_draws_with_buckets_alike_are_scored_as_one_by_one() -> None:
    p_counts, q_counts = np.array([3, 9, 0, 4, 3]), np.array([1, 8, 5, 7, 1])
    splits = ceilings._random_splits(p_counts, q_counts, ceilings.CEILING_DRAWS, np.random.default_rng(25))
    alone = [frontier.curve_area(frontier.divergence_curve(p, q, 5.0, 5)) for p, q in zip(*splits, strict=True)]
    assert ceilings.null_scores(p_counts, q_counts, num_points=5).tolist() == alone


def test_null_curves_are_means_over_the_draws_of_the_ceiling() -> None:
    p_counts, q_counts = np.array([3, 9, 0, 4, 3]), np.array([1, 8, 5, 7, 1])
    splits = ceilings._random_splits(p_counts, q_counts, ceilings.CEILING_DRAWS, np.random.default_rng(25))
    divergence, precision_recall = ceilings.null_curves(p_counts, q_counts, num_points=5)
    alone = [frontier.divergence_curve(p, q, 5.0, 5) for p, q in zip(*splits, strict=True)]
    np.testing.assert_allclose(divergence, np.mean(alone, axis=0), atol=1e-12)
    # 51 slopes at equal angles inside of 0° and 90°
    angles = np.degrees(np.arctan2(precision_recall[:, 1], precision_recall[:, 0]))
    np.testing.assert_allclose(angles, np.arange(1, 52) * 90 / 52, rtol=1e-9)
    # at slope 1 precision is recall: one minus the total variation
    at_one = precision_recall[np.argmin(np.abs(precision_recall[:, 0] - precision_recall[:, 1]))]
    variation = np.abs(splits[0] - splits[1]).sum(axis=1).mean() / 2
    np.testing.assert_allclose(at_one, 1 - variation, atol=1e-12)
    assert (np.diff(precision_recall[:, 1]) >= 0).all() and (np.diff(precision_recall[:, 0]) <= 1e-12).all()


def test_ceiling_of_one_bucket_is_one() -> None:
    assert (ceilings.null_scores(np.array([5]), np.array([7])) == 1).all()


@pytest.mark.parametrize("points", [2, 25])
def test_ceiling_is_on_the_grid_of_the_score(points: int) -> None:
    sides, k, n = features(15, 500, 500, 0.0), 50, 500
    result = compute_mauve(**sides, num_buckets=k, num_runs=1, knn=False, divergence_curve_discretization_size=points)
    pooled, rng = np.concatenate([result.p_labels, result.q_labels]), np.random.default_rng(0)
    splits = (np.split(rng.permutation(pooled), 2) for _ in range(40))
    scores = [
        frontier.curve_area(
            frontier.divergence_curve(*(np.bincount(half, minlength=k) / n for half in split), num_points=points)
        )
        for split in splits
    ]
    # both are means of 40 scores with a standard deviation of .03 at most: they differ by .007 or so; with 2 weights
    # instead of 25 scores are .05 lower
    assert result.mauve_ceiling == pytest.approx(float(np.mean(scores)), rel=0, abs=0.02)


def labels(rng: np.random.Generator, p: Floats, n: int) -> Counts:
    return rng.choice(len(p), size=n, p=p).astype(np.int64)


def shared_prompts(rng: np.random.Generator, n: int, k: int, drift: float) -> tuple[Counts, Counts]:
    """Both texts of a pair in the prompt's bucket four times out of five; the model's drift into bucket 0."""
    prompts = rng.integers(k, size=n)
    sides = [np.where(rng.random(n) < 0.8, prompts, rng.integers(k, size=n)) for _ in range(2)]
    sides[1] = np.where(rng.random(n) < drift, 0, sides[1])
    return sides[0].astype(np.int64), sides[1].astype(np.int64)


def p_values(make: Callable[[np.random.Generator], tuple[Counts, Counts]], k: int, paired: bool, n: int) -> Floats:
    rng, found = np.random.default_rng(6), []
    for seed in range(n):
        one, other = make(rng)
        rows = np.arange(len(one))
        groups = count_groups(one, other, rows, rows, k) if paired else None
        found.append(ceilings.permutation_test(one, other, k, 99, groups, seed))
    return np.array(found)


@pytest.mark.more
@pytest.mark.parametrize("paired", [False, True])
def test_p_values_are_uniform_when_nothing_differs(paired: bool) -> None:
    p = population(20, 0.0)[0]
    found = p_values(lambda rng: (labels(rng, p, 150), labels(rng, p, 150)), 20, paired, 300)
    # binomial of 300 at each level, four standard deviations; p is a multiple of 1/100
    for level in (0.05, 0.2, 0.5, 0.8):
        assert abs((found <= level + 1e-12).mean() - level) < 4 * math.sqrt(level * (1 - level) / 300)


def test_p_value_of_different_sets_is_small() -> None:
    p, q = population(20, 0.7)
    rng = np.random.default_rng(7)
    assert ceilings.permutation_test(labels(rng, p, 500), labels(rng, q, 500), 20) == 1 / 1000
    assert ceilings.permutation_test(np.arange(30) % 2, np.full(20, 2), 3, 99) == 1 / 100


@pytest.mark.parametrize("first_of_q", [0, 4, 10])
def test_signs_are_those_of_the_groups_deviations_from_their_side(first_of_q: int) -> None:
    """Of groups on both sides and on one; no text is in the last bucket."""
    rng, k = np.random.default_rng(4), 6
    drawn = [rng.integers(most, size=size) for most, size in ((4, 60), (4, 80), (10, 60), (10, 80))]
    drawn[0][drawn[2] == 0] = 4  # a bucket of one group alone: the other sign leaves less than nothing
    drawn[2][1] = 40  # a group of one text
    drawn[3] += first_of_q
    groups = count_groups(drawn[0], drawn[1], drawn[2], drawn[3], k)
    assert groups is not None
    pooled = np.bincount(np.r_[drawn[0], drawn[1]], minlength=k) / 140
    found, signs = (
        ceilings._flip_signs(groups, k, 30, np.random.default_rng(5)),
        np.random.default_rng(5),
    )
    least = 0.0
    for side in range(2):
        labels_of, codes = drawn[side], drawn[2 + side]
        number, share = len(np.unique(codes)), np.bincount(labels_of, minlength=k) / len(codes)
        for shares in found[side]:
            sign = signs.integers(0, 2, len(groups.codes)) * 2.0 - 1
            expected = pooled.copy()
            for number_of_group, group in enumerate(groups.codes):
                of_group = labels_of[codes == group]
                deviation = np.bincount(of_group, minlength=k) - len(of_group) * share
                expected += np.sqrt(number / (number - 1)) * sign[number_of_group] * deviation / len(codes)
            least = min(least, expected.min())
            expected = np.maximum(expected, 0)
            np.testing.assert_allclose(shares, expected / expected.sum(), atol=1e-12)
    assert least < 0


@pytest.mark.parametrize(("number", "moves"), [(1, [0.0]), (2, [-math.sqrt(2) / 10, 0.0, math.sqrt(2) / 10])])
def test_signs_of_one_and_of_two_groups_allow_for_their_number(number: int, moves: list[float]) -> None:
    """Six texts of the first prompt and four of the second are in the first bucket, of ten each."""
    p, q = np.repeat([0, 1, 0, 1], [6, 4, 4, 6]), np.arange(40) % 2
    groups = count_groups(p, q, np.arange(20) * number // 20, 10 + q, 2)
    assert groups is not None
    found, _ = ceilings._flip_signs(groups, 2, 40, np.random.default_rng(0))
    assert np.unique(found[:, 0].round(9)) == pytest.approx([0.5 + move for move in moves], abs=1e-8)


@pytest.mark.parametrize(
    ("p_sizes", "q_sizes", "are_whole"),
    [
        ([10] * 6, [11] * 5, True),
        ([11] * 5, [10] * 6, True),
        ([10] * 8, [10] * 4, True),
        ([8] * 6, [10] * 6, False),  # a quarter more, and more than half of their squares
        ([1, 5] * 3, [3, 3] * 3, False),  # of one mean size, and of another spread
        ([1, 1, 3] * 2, [1, 3, 3] * 2, False),
        ([5] * 4, [2, 6] * 2, True),  # a quarter more, and as much of their squares
    ],
)
def test_groups_of_one_side_change_sides_as_a_whole_where_both_have_like_sizes(
    p_sizes: list[int], q_sizes: list[int], are_whole: bool
) -> None:
    """Each group has a bucket of its own, and an empty one is left."""
    k = len(p_sizes) + len(q_sizes)
    labels = np.repeat(np.arange(k), p_sizes + q_sizes)
    p, q = np.split(labels, [sum(p_sizes)])
    groups = count_groups(p, q, p, q, k + 1)
    assert groups is not None
    sides = ceilings._grouped_splits(groups, k + 1, 20, np.random.default_rng(3))
    on_p, on_q = (side > 0 for side in sides)
    assert bool((on_p[:, :k] ^ on_q[:, :k]).all()) is are_whole
    for side in sides:
        assert side.sum(axis=1) == pytest.approx(1) and (side[:, k] == 0).all() and len(np.unique(side, axis=0)) > 10
    if are_whole:
        assert (on_p.sum(axis=1) == len(p_sizes)).all()


def test_p_value_of_equal_counts_is_one() -> None:
    one = np.repeat(np.arange(5), 8)
    assert ceilings.permutation_test(one, one, 5, 99) == 1
    many = np.repeat(one, 1000)  # which are permuted in parts
    assert ceilings.permutation_test(many, many, 5, 99) == 1
    rows = np.arange(len(one))
    assert ceilings.permutation_test(one, one, 5, 99, count_groups(one, one, rows, rows, 5)) == 1


@pytest.mark.more
def test_pairs_are_right_where_prompts_are_shared() -> None:
    k, n = 20, 200
    # shared prompts make the sets more alike than two samples: only the paired test keeps its level
    paired = p_values(lambda rng: shared_prompts(rng, n, k, 0.0), k, True, 300)
    assert abs((paired <= 0.05 + 1e-12).mean() - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 300)
    assert (p_values(lambda rng: shared_prompts(rng, n, k, 0.0), k, False, 100) <= 0.05).mean() < 0.02
    # and it sees what the other does not (the standard error of a difference of two shares of 60 is at most .09)
    paired = p_values(lambda rng: shared_prompts(rng, n, k, 0.06), k, True, 60)
    loose = p_values(lambda rng: shared_prompts(rng, n, k, 0.06), k, False, 60)
    assert (paired <= 0.05).mean() > (loose <= 0.05).mean() + 0.3


def test_pairs_need_equal_sizes() -> None:
    with pytest.raises(
        ValueError, match=r"aligned=True needs sets of equal size, .*, got p_features 12, q_features 10: .*q_groups"
    ):
        compute_mauve(
            p_features=np.eye(12), q_features=np.eye(12)[:10], num_buckets=2, permutations=9, aligned=True, num_runs=1
        )


def test_random_splits_have_the_right_margins() -> None:
    p_counts, q_counts = np.array([9, 0, 5, 1, 0]), np.array([3, 4, 8, 0, 0])
    p, q = ceilings._random_splits(p_counts, q_counts, 4000, np.random.default_rng(8))
    pooled = p_counts + q_counts
    assert p.shape == q.shape == (4000, 5)
    assert (p >= 0).all() and (q >= 0).all()
    # counts over sizes and back: a few units of rounding of numbers below 20
    assert p * 15 + q * 15 == pytest.approx(np.broadcast_to(pooled, p.shape), abs=1e-12)
    assert p.sum(axis=1) == pytest.approx(np.ones(4000), abs=1e-12)
    # hypergeometric mean and variance; four standard errors over 4000 draws
    mean = pooled / 30
    variance = mean * (1 - mean) / 15 * (30 - 15) / (30 - 1)
    assert (np.abs(p.mean(axis=0) - mean) <= 4 * np.sqrt(variance / 4000)).all()
    assert p.var(axis=0) == pytest.approx(variance, rel=0.15, abs=1e-12)  # 4·√(2/4000) = .09, more for skewed ones


def swapped_pairs(one: Counts, other: Counts, k: int, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    groups = count_groups(one, other, np.arange(len(one)), np.arange(len(one)), k)
    assert groups is not None
    return ceilings._grouped_splits(groups, k, draws, rng)


def enumerated(p_labels: Counts, q_labels: Counts, p_groups: Counts, q_groups: Counts, k: int) -> float:
    """The share of all divisions that the design allows whose frontier integral is as large."""
    labels, groups = np.concatenate([p_labels, q_labels]), np.concatenate([p_groups, q_groups])
    is_p = np.arange(len(labels)) < len(p_labels)
    mixed = [code for code in np.unique(groups) if 0 < is_p[groups == code].sum() < (groups == code).sum()]
    alone = [code for code in np.unique(groups) if code not in mixed]
    ways = []
    for code in mixed:
        rows = np.flatnonzero(groups == code)
        ways.append([frozenset(some) for some in itertools.combinations(rows, int(is_p[rows].sum()))])
    whole = sum(bool(is_p[groups == code].all()) for code in alone)
    chosen = [frozenset(np.flatnonzero(np.isin(groups, some))) for some in itertools.combinations(alone, whole)]
    values = []
    for parts in itertools.product(*ways, chosen):
        first = np.isin(np.arange(len(labels)), list(frozenset().union(*parts)))
        sides = [np.bincount(labels[own], minlength=k) / own.sum() for own in (first, ~first)]
        values.append(frontier.frontier_integral(*sides))
    sides = [np.bincount(side, minlength=k) / len(side) for side in (p_labels, q_labels)]
    return float(np.mean(np.array(values) >= frontier.frontier_integral(*sides) - 1e-12))


@pytest.mark.parametrize(
    ("p_groups", "q_groups"),
    [
        (range(7), range(7)),  # 128 swaps
        ([0, 0, 1, 1, 2, 2, 2], [0, 0, 1, 1, 2, 2, 2]),  # 6 · 6 · 20 divisions within prompts
        ([0, 0, 1, 1, 2, 2, 3], [4, 4, 5, 5, 6, 6, 7]),  # 70 exchanges of whole groups
        ([0, 1, 2, 2, 3, 3, 9], [0, 1, 4, 4, 5, 5, 9]),  # some of each
    ],
)
def test_p_value_is_the_share_of_all_divisions(p_groups: Any, q_groups: Any) -> None:
    k, rng = 3, np.random.default_rng(12)
    p_groups, q_groups = np.array(p_groups), np.array(q_groups)
    for _ in range(2):
        p_labels, q_labels = rng.integers(k, size=7), rng.integers(k, size=7)
        groups = count_groups(p_labels, q_labels, p_groups, q_groups, k)
        found = ceilings.permutation_test(p_labels, q_labels, k, 3000, groups, seed=1)
        share = enumerated(p_labels, q_labels, p_groups, q_groups, k)
        # a share of 3000 draws, four standard errors; the real division is one more of them
        assert abs(found - share) < 4 * math.sqrt(share * (1 - share) / 3000) + 1 / 3000


def test_swapped_pairs_have_the_right_margins() -> None:
    rng = np.random.default_rng(9)
    one, other = rng.integers(4, size=50), rng.integers(4, size=50)
    p, q = swapped_pairs(one, other, 4, 2000, rng)
    pooled = np.bincount(one, minlength=4) + np.bincount(other, minlength=4)
    assert (p + q) * 50 == pytest.approx(np.broadcast_to(pooled, p.shape), abs=1e-12)
    # each text is in P half of the time: at most 100 coins of sd ½, so a share of sd ≤ 5/50, over 2000 draws
    assert (np.abs(p.mean(axis=0) - pooled / 100) < 4 * 0.1 / math.sqrt(2000)).all()
    # pairs of equal labels never move
    alike, _ = swapped_pairs(one, one, 4, 20, rng)
    assert (alike == np.bincount(one, minlength=4) / 50).all()


def features(seed: int, n_p: int, n_q: int, shift: float = 0.4) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {"p_features": rng.normal(size=(n_p, 6)), "q_features": rng.normal(size=(n_q, 6)) + shift}


@pytest.mark.more
def test_permutation_test_of_features() -> None:
    assert compute_mauve(**features(14, 100, 100, 0.0), num_runs=1, knn=False).p_value is None
    same = compute_mauve(**features(14, 100, 100, 0.0), num_runs=1, knn=False, permutations=199)
    different = compute_mauve(**features(14, 100, 100, 1.0), num_runs=1, knn=False, permutations=199)
    assert same.p_value is not None and same.p_value > 0.001 and same.p_value != different.p_value
    assert different.p_value == 1 / 200
