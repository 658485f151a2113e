"""Bias and errors against jackknives one text or one group at a time; what a result takes from them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from mauve_metric import compute_mauve
from mauve_metric.arrays import Counts, Floats, Integers
from mauve_metric.measures.frontier import frontier, frontier_integral, frontier_integral_terms
from mauve_metric.measures.groups import GroupCounts, count_groups
from mauve_metric.uncertainty.intervals import estimate_scores
from mauve_metric.uncertainty.jackknife import (
    WEIGHTS,
    area_and_slopes,
    debiased_frontier,
    delete_one_variance,
    frontier_band,
    group_jackknife,
    hidden_overlap,
    jackknifed,
    monotone,
)

K = 5
Drawn = tuple[Integers, Integers, Integers, Integers]  # labels of P and Q, groups of P and Q

PAIRS = [
    ([5, 3, 0, 2], [1, 0, 4, 3]),
    ([7, 1, 1, 0, 0], [2, 2, 2, 2, 0]),
    ([1, 1], [2, 0]),
    ([4, 0], [0, 3]),
    ([12, 30, 8], [12, 30, 8]),
]


def population(k: int, shift: float) -> tuple[Floats, Floats]:
    """P uneven, each share of Q that of P times e^(shift · normal)."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(k, 5.0))
    q = p * np.exp(shift * rng.normal(size=k))
    return p, q / q.sum()


def kl(a: Floats, b: Floats) -> float:
    return sum(x * math.log(x / y) for x, y in zip(a, b, strict=True) if x > 0)


def divergences(p_counts: Counts, q_counts: Counts) -> Floats:
    """KL(q‖r_λ) and KL(p‖r_λ) for every λ, one bucket at a time, (2, m)."""
    p, q = p_counts / p_counts.sum(), q_counts / q_counts.sum()
    mixtures = [lam * p + (1 - lam) * q for lam in WEIGHTS]
    return np.array([[kl(q, r) for r in mixtures], [kl(p, r) for r in mixtures]])


def without_one(counts: Counts) -> list[Counts]:
    """The counts without each of the texts in turn."""
    found = []
    for bucket, count in enumerate(counts):
        for _ in range(count):
            left = counts.copy()
            left[bucket] -= 1
            found.append(left)
    return found


@pytest.mark.parametrize(("p_list", "q_list"), PAIRS)
def test_bias_is_removed_as_by_leaving_out_each_text(p_list: list[int], q_list: list[int]) -> None:
    p, q = np.array(p_list), np.array(q_list)
    full = divergences(p, q)
    without_p = np.mean([divergences(left, q) for left in without_one(p)], axis=0)
    without_q = np.mean([divergences(p, left) for left in without_one(q)], axis=0)
    expected = full + (p.sum() - 1) * (full - without_p) + (q.sum() - 1) * (full - without_q)
    found = debiased_frontier(p, q)
    # the divergences are O(1) with about 1e-15 of rounding, which the factors n - 1 < 50 multiply
    assert found.type_one == pytest.approx(expected[0], rel=0, abs=1e-11)
    assert found.type_two == pytest.approx(expected[1], rel=0, abs=1e-11)


@pytest.mark.parametrize(("p_list", "q_list"), PAIRS)
def test_bias_is_removed_bucket_by_bucket(p_list: list[int], q_list: list[int]) -> None:
    p_counts, q_counts = np.array(p_list), np.array(q_list)
    n_p, n_q = p_counts.sum(), q_counts.sum()

    def term(a: float, b: float, lam: float) -> float:
        """Contribution of a bucket with the shares a of P and b of Q to KL(p‖r_λ)."""
        return a * math.log(a / (lam * a + (1 - lam) * b)) if a > 0 else 0.0

    found = debiased_frontier(p_counts, q_counts)
    for m in (0, 37, 99):
        total = 0.0
        for x, y in zip(p_counts, q_counts, strict=True):
            a, b = x / n_p, y / n_q
            here = term(a, b, WEIGHTS[m])
            without = a * term((x - 1) / (n_p - 1), b, WEIGHTS[m]) if x else 0.0
            without += (1 - a) * term(x / (n_p - 1), b, WEIGHTS[m])
            other = b * term(a, (y - 1) / (n_q - 1), WEIGHTS[m]) if y else 0.0
            other += (1 - b) * term(a, y / (n_q - 1), WEIGHTS[m])
            total += here + (n_p - 1) * (here - without) + (n_q - 1) * (here - other)
        assert found.type_two[m] == pytest.approx(total, rel=0, abs=1e-11)  # as above


@pytest.mark.parametrize(("p_list", "q_list"), PAIRS)
def test_error_is_the_delete_one_error(p_list: list[int], q_list: list[int]) -> None:
    """The error of any weighted sum of the divergences, so of the frontier integral."""
    p, q = np.array(p_list), np.array(q_list)
    weights = np.stack([1 - WEIGHTS, WEIGHTS]) * 2 * (WEIGHTS[1] - WEIGHTS[0])
    expected = 0.0
    for values in (
        [float((weights * divergences(left, q)).sum()) for left in without_one(p)],
        [float((weights * divergences(p, left)).sum()) for left in without_one(q)],
    ):
        n = len(values)
        # the jackknife's (n-1)/n Σ(T₋ᵢ - mean)², times (n-1)/n: a variance of the mean with n below, not n - 1
        expected += (n - 1) ** 2 / n * float(np.var(values))
    found = estimate_scores(debiased_frontier(p, q))[1].stderr ** 2
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)  # differences of O(1) sums, squared


def test_swapping_the_sides_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    p, q = rng.multinomial(300, population(25, 1.0)[0]), rng.multinomial(200, population(25, 1.0)[1])
    forwards, backwards = debiased_frontier(p, q), debiased_frontier(q, p)
    assert forwards.type_one == pytest.approx(backwards.type_two[::-1], rel=0, abs=1e-11)  # as above
    for one, other in zip(estimate_scores(forwards), estimate_scores(backwards), strict=True):
        # the sums run in another order; the bisection is good to 1e-12 of a number of order 1
        assert other.value == pytest.approx(one.value, abs=1e-9)
        assert other.stderr == pytest.approx(one.stderr, abs=1e-9)
        assert other.ci == pytest.approx(one.ci, abs=1e-9)


def test_a_text_alone_has_no_error() -> None:
    with pytest.raises(ValueError, match="at least 2 texts on each side, got 1 and 3"):
        debiased_frontier(np.array([1, 0]), np.array([1, 2]))


# --- in a result --------------------------------------------------------------------------------------------------


def features(seed: int, n_p: int, n_q: int, shift: float = 0.4) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {"p_features": rng.normal(size=(n_p, 6)), "q_features": rng.normal(size=(n_q, 6)) + shift}


@pytest.mark.more
def test_runs_repeat_the_clustering_and_leave_the_score_alone() -> None:
    sides = features(10, 150, 130)
    one = compute_mauve(**sides, num_runs=1, knn=False)
    many = compute_mauve(**sides, num_runs=4, knn=False)
    assert one.mauve == many.mauve == many.mauve_runs[0] == one.mauve_runs[0]
    # means over clusterings of the rows sorted by content, of one and of four
    assert one.mauve_debiased is not None and many.mauve_debiased is not None and many.mauve_std is not None
    assert abs(one.mauve_debiased - many.mauve_debiased) < 4 * many.mauve_std
    assert (len(one.mauve_runs), len(many.mauve_runs)) == (1, 4)
    assert one.mauve_std is None and one.mauve_mean == one.mauve
    assert many.mauve_mean == pytest.approx(float(np.mean(many.mauve_runs)))
    assert many.mauve_std == pytest.approx(float(np.std(many.mauve_runs, ddof=1))) and many.mauve_std > 0
    assert (one.ci_scope, many.ci_scope) == ("for this partition", "over clusterings")
    for result in (one, many):
        assert (
            result.mauve_debiased_ci is not None
            and result.mauve_debiased_ci[0] < result.mauve_debiased < result.mauve_debiased_ci[1]
        )
    # the further runs are of the rows sorted by content: the order of the texts is nothing to them
    turned = {name: rows[::-1] for name, rows in sides.items()}
    again = compute_mauve(**turned, num_runs=4, knn=False)
    assert again.mauve_runs[1:] == pytest.approx(many.mauve_runs[1:], rel=0, abs=1e-9)
    assert len(set(many.mauve_runs.tolist())) > 1


@pytest.mark.more
@pytest.mark.parametrize(("n_p", "n_q", "runs"), [(60, 60, 5), (999, 1200, 5), (1000, 1000, 1)])
def test_default_number_of_runs(n_p: int, n_q: int, runs: int) -> None:
    result = compute_mauve(**features(11, n_p, n_q), num_buckets=4, kmeans_num_redo=1, knn=False)
    assert len(result.mauve_runs) == runs
    assert f"num_runs:{runs}|" in result.signature


@pytest.mark.parametrize(("n_p", "n_q"), [(1, 5), (5, 1), (1, 1)])
def test_one_text_has_a_score_but_no_error(n_p: int, n_q: int) -> None:
    result = compute_mauve(**features(13, n_p, n_q))
    for name in ("mauve", "frontier_integral"):
        assert [getattr(result, f"{name}_debiased{part}") for part in ("", "_stderr", "_ci")] == [None] * 3
    assert 0 <= result.mauve <= 1 and 0 <= result.mauve_ceiling <= 1
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["mauve_debiased_ci"] is None


def drawn(design: str, seed: int = 0) -> Drawn:
    rng = np.random.default_rng(seed)
    if design == "aligned":
        p_groups = q_groups = np.arange(30)
    elif design == "several":
        p_groups, q_groups = rng.integers(12, size=40), rng.integers(12, size=50)
    else:  # on one side alone
        p_groups, q_groups = np.arange(40), 100 + rng.integers(9, size=50)
    centres = rng.integers(K, size=200)
    sides = [
        np.where(rng.random(len(own)) < 0.6, centres[own], rng.integers(K, size=len(own)))
        for own in (p_groups, q_groups)
    ]
    return sides[0], sides[1], p_groups, q_groups


def counted(found: Drawn) -> tuple[Integers, Integers, GroupCounts]:
    groups = count_groups(*found, K)
    assert groups is not None
    return np.bincount(found[0], minlength=K), np.bincount(found[1], minlength=K), groups


@pytest.mark.parametrize("design", ["aligned", "several", "one side"])
def test_bias_and_error_are_those_of_leaving_groups_out(design: str) -> None:
    p_labels, q_labels, p_groups, q_groups = drawn(design)
    p_counts, q_counts, groups = counted((p_labels, q_labels, p_groups, q_groups))

    def score(p: Integers, q: Integers) -> float:
        p_share, q_share = (np.bincount(side, minlength=K) / len(side) for side in (p, q))
        return frontier_integral(p_share, q_share)

    whole, bias, variance, pseudo_values = score(p_labels, q_labels), 0.0, 0.0, []
    both = np.intersect1d(p_groups, q_groups)
    strata = [np.union1d(p_groups, q_groups)] if len(both) else [np.unique(p_groups), np.unique(q_groups)]
    for stratum in strata:
        left = np.array([score(p_labels[p_groups != one], q_labels[q_groups != one]) for one in stratum])
        number = len(stratum)
        bias += (number - 1) * (left.mean() - whole)
        variance += (number - 1) / number * float(((left - left.mean()) ** 2).sum())
        pseudo_values.append((number - 1) * left)
    value, effects = group_jackknife(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts, groups)
    of_groups = effects.weighted(np.array(1.0))
    # sums of some fifty numbers below 1, scaled by up to 60: rounding stays below 1e-12
    assert float(value) == pytest.approx(whole - bias, rel=0, abs=1e-12)
    assert float(of_groups @ of_groups) == pytest.approx(variance, rel=1e-9, abs=1e-15)
    # Welch's degrees of freedom, of scipy, and those of one sample
    freedom = stats.ttest_ind(*pseudo_values, equal_var=False).df if len(strata) > 1 else len(strata[0]) - 1
    assert effects.freedom(of_groups) == pytest.approx(freedom, rel=1e-9)
    assert effects.freedom(0 * of_groups) == min(len(stratum) for stratum in strata) - 1
    margin = stats.t.ppf(0.95, freedom) * math.sqrt(variance)
    assert effects.margin(np.array(1.0), 0.9) == pytest.approx(margin, rel=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_a_smoothed_sum_is_that_of_leaving_texts_or_groups_out(smoothing: float) -> None:
    rng = np.random.default_rng(3)
    p, q, p_groups, q_groups = (rng.integers(most, size=size) for most, size in ((3, 20), (3, 30), (6, 20), (6, 30)))

    def total(p_some: Integers, q_some: Integers) -> float:
        shares = [np.bincount(some, minlength=3) + smoothing for some in (p_some, q_some)]
        return float(frontier_integral_terms(*(counts / counts.sum() for counts in shares)).sum())

    counts = count_groups(p, q, p_groups, q_groups, 3)
    assert counts is not None
    sides = [np.bincount(some, minlength=3) for some in (p, q)]
    found, _ = group_jackknife(frontier_integral_terms, *sides, counts, smoothing)
    without = [total(p[p_groups != group], q[q_groups != group]) for group in range(6)]
    assert found == pytest.approx(6 * total(p, q) - 5 * np.mean(without), rel=1e-9)
    alone, _, _ = jackknifed(frontier_integral_terms, *sides, smoothing)
    without_p, without_q = (
        [total(np.delete(p, row), q) for row in range(20)],
        [total(p, np.delete(q, row)) for row in range(30)],
    )
    expected = total(p, q) * (1 + 19 + 29) - 19 * np.mean(without_p) - 29 * np.mean(without_q)
    assert alone.sum() == pytest.approx(expected, rel=1e-9)


def test_texts_of_one_side_give_the_binomial_jackknife() -> None:
    """Groups of one text each on one side: the independent numbers, but for 1 - 1/n in the variance."""
    found = drawn("several")
    p_labels, q_labels = found[0], found[1]
    p_counts, q_counts = (np.bincount(side, minlength=K) for side in (p_labels, q_labels))
    alone = np.arange(len(p_labels)), 1000 + np.arange(len(q_labels))
    assert count_groups(p_labels, q_labels, *alone, K) is None
    groups = GroupCounts(
        group=np.arange(90),
        bucket=np.concatenate([p_labels, q_labels]),
        p=np.repeat([1, 0], [40, 50]),
        q=np.repeat([0, 1], [40, 50]),
        p_sizes=np.repeat([1, 0], [40, 50]),
        q_sizes=np.repeat([0, 1], [40, 50]),
        codes=np.concatenate(alone),
    )
    value, effects = group_jackknife(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts, groups)
    expected, p_effect, q_effect = jackknifed(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts)
    assert float(value) == pytest.approx(float(expected.sum()), rel=0, abs=1e-12)

    def part(effect: Floats, counts: Integers) -> float:
        share, n = counts / counts.sum(), int(counts.sum())
        return float(share @ effect**2 - (share @ effect) ** 2) / n / (1 - 1 / n)

    of_groups = effects.weighted(np.array(1.0))
    assert float(of_groups @ of_groups) == pytest.approx(part(p_effect, p_counts) + part(q_effect, q_counts), rel=1e-9)


def test_aligned_pairs_follow_the_formula_of_the_differences() -> None:
    """The second-order formula with V_pq: its bias of the frontier integral near p = q is that of the jackknife."""
    rng = np.random.default_rng(1)
    n = 4000
    centres = rng.integers(K, size=n)
    sides = [np.where(rng.random(n) < 0.7, centres, rng.integers(K, size=n)) for _ in range(2)]
    found = sides[0], sides[1], np.arange(n), np.arange(n)
    p_counts, q_counts, groups = counted(found)
    value, _ = group_jackknife(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts, groups)
    p, q = p_counts / n, q_counts / n
    changes = np.eye(K)[sides[0]] - np.eye(K)[sides[1]]
    # frontier integral ≈ ⅓ Σ (p-q)²/(p+q), whose bias is ⅓ Σ Var(p-q)/(p+q)
    expected = float((changes.var(axis=0) / n / (p + q)).sum() / 3)
    assert frontier_integral(p, q) - float(value) == pytest.approx(expected, rel=0.02)  # third order: k/n
    independent = float(jackknifed(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts)[0].sum())
    assert frontier_integral(p, q) - independent > 1.5 * expected  # independence takes off too much


def test_copies_of_every_text_do_not_change_bias_or_error() -> None:
    p_labels, q_labels, _, _ = drawn("several")
    one = debiased_frontier(np.bincount(p_labels, minlength=K), np.bincount(q_labels, minlength=K))
    times = 3
    p, q = np.repeat(p_labels, times), np.repeat(q_labels, times)
    groups = np.repeat(np.arange(40), times), 1000 + np.repeat(np.arange(50), times)
    found = debiased_frontier(*counted((p, q, *groups)))
    assert found.type_one == pytest.approx(one.type_one, rel=0, abs=1e-12)
    assert found.type_two == pytest.approx(one.type_two, rel=0, abs=1e-12)
    weights = np.ones((2, len(one.type_one)))
    # the two variances differ by 1 - 1/n of either side
    assert delete_one_variance(found, weights) == pytest.approx(delete_one_variance(one, weights), rel=0.03)


def test_one_group_on_a_side_has_no_error() -> None:
    found = np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([1, 2, 3])
    with pytest.raises(ValueError, match="at least 2 groups on each side, got 1 and 3"):
        debiased_frontier(*counted(found))


def test_the_band_of_sets_without_a_common_bucket_reaches_the_curve_of_a_hidden_overlap() -> None:
    band = frontier_band(debiased_frontier(np.array([60, 0]), np.array([0, 80])), scaling_factor=2.0)
    p, q = hidden_overlap(60, 0.95)
    assert p[0] ** 60 == pytest.approx(0.025) and hidden_overlap(1, 0.95)[0].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(band.high, np.exp(-2.0 * np.stack(frontier(p, q, WEIGHTS))).T)
    assert (band.high > band.curve).all()


@pytest.mark.parametrize("design", ["alone", "aligned"])
def test_the_band_is_as_wide_as_the_error_of_each_point(design: str) -> None:
    """The cost of the weight λ, (1 - λ)·KL(q‖r) + λ·KL(p‖r), is moved by its error up and down."""
    p_counts, q_counts, groups = counted(drawn("aligned"))
    if design == "alone":
        found, z = debiased_frontier(20 * p_counts, 20 * q_counts), stats.norm.ppf(0.9)
    else:
        found, z = debiased_frontier(p_counts, q_counts, groups), stats.t.ppf(0.9, 29)
    band = frontier_band(found, 3.0, 0.8)
    costs = np.stack(monotone(found))
    unseen = np.stack(frontier(*hidden_overlap(found.independent, 0.8), WEIGHTS))
    for number in (4, 50, 90):
        weights = np.zeros((2, len(WEIGHTS)))
        weights[:, number] = 1 - WEIGHTS[number], WEIGHTS[number]
        margin = z * math.sqrt(delete_one_variance(found, weights))
        cost = costs[:, number]
        assert margin > 0 and band.curve[number] == pytest.approx(np.exp(-3 * cost), rel=1e-9)
        assert band.low[number] == pytest.approx(np.exp(-3 * (cost + margin)), rel=1e-9)
        least = np.maximum(np.minimum(cost - margin, unseen[:, number]), 0)
        assert band.high[number] == pytest.approx(np.exp(-3 * least), rel=1e-9)


def test_slopes_are_the_derivatives_of_the_area_under_the_curve() -> None:
    type_one, type_two = monotone(debiased_frontier(np.array([30, 20, 10]), np.array([10, 30, 20])))
    area, slopes = area_and_slopes(type_one, type_two, 5.0)
    step = 1e-6
    for number in (0, 40, 99):
        moved = step * (np.arange(len(WEIGHTS)) == number)
        one, other = (
            area_and_slopes(*sides, 5.0)[0] for sides in ((type_one + moved, type_two), (type_one, type_two + moved))
        )
        # of the order of 1/100, which a step of 1e-6 changes by as much
        assert slopes[:, number] == pytest.approx([(one - area) / step, (other - area) / step], rel=1e-4)
    assert (slopes < 0).all()
