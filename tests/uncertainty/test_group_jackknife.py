"""The delete-one-group jackknife against leaving groups out one by one, and against the formulas of pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mauve_metric.arrays import Floats, Integers
from mauve_metric.measures.frontier import frontier_integral, frontier_integral_terms
from mauve_metric.measures.groups import GroupCounts, count_groups
from mauve_metric.uncertainty.group_jackknife import group_jackknife, t_quantile
from mauve_metric.uncertainty.jackknife import debiased_frontier, delete_one_variance, jackknifed

K = 5
Drawn = tuple[Integers, Integers, Integers, Integers]  # labels of P and Q, groups of P and Q


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

    whole, bias, variance = score(p_labels, q_labels), 0.0, 0.0
    both = np.intersect1d(p_groups, q_groups)
    strata = [np.union1d(p_groups, q_groups)] if len(both) else [np.unique(p_groups), np.unique(q_groups)]
    for stratum in strata:
        left = np.array([score(p_labels[p_groups != one], q_labels[q_groups != one]) for one in stratum])
        number = len(stratum)
        bias += (number - 1) * (left.mean() - whole)
        variance += (number - 1) / number * float(((left - left.mean()) ** 2).sum())
    value, effects = group_jackknife(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts, groups)
    of_groups = effects.of(np.array(1.0))
    # sums of some fifty numbers below 1, scaled by up to 60: rounding stays below 1e-12
    assert float(value) == pytest.approx(whole - bias, rel=0, abs=1e-12)
    assert float(of_groups @ of_groups) == pytest.approx(variance, rel=1e-9, abs=1e-15)


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

    of_groups = effects.of(np.array(1.0))
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
    weights = np.ones((2, len(one.type_one)))
    # the two variances differ by 1 - 1/n of either side
    assert delete_one_variance(found, weights) == pytest.approx(delete_one_variance(one, weights), rel=0.03)


def test_welch_freedom_and_quantiles() -> None:
    p_counts, q_counts, groups = counted(drawn("one side"))
    _, effects = group_jackknife(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts, groups)
    of_groups = effects.of(np.array(1.0))
    assert 8 <= effects.freedom(of_groups) <= 8 + 39
    p_counts, q_counts, groups = counted(drawn("aligned"))
    _, effects = group_jackknife(lambda p, q: frontier_integral_terms(p, q), p_counts, q_counts, groups)
    assert effects.freedom(effects.of(np.array(1.0))) == pytest.approx(29)
    assert t_quantile(0.95, math.inf) == pytest.approx(1.959964, abs=1e-6)


def test_one_group_on_a_side_has_no_error() -> None:
    found = np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([0, 0, 0]), np.array([1, 2, 3])
    with pytest.raises(ValueError, match="at least 2 groups on each side, got 1 and 3"):
        debiased_frontier(*counted(found))
