"""Differences of two models' scores against simulations and Zou and Donner's interval."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import rel_entr

from mauve_metric.measures.groups import count_groups
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty import intervals
from mauve_metric.uncertainty.closeness import Bound, joint_covariance
from mauve_metric.uncertainty.differences import difference_of, effect_covariance
from mauve_metric.uncertainty.jackknife import WEIGHTS, area_and_slopes, debiased_frontier, monotone

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def test_difference_is_zou_and_donner() -> None:
    a, b = intervals.Estimate(0.8, 0.03, (0.7, 0.85)), intervals.Estimate(0.6, 0.04, (0.5, 0.72))
    found = intervals.estimate_difference(a, b, 0.3)
    low = 0.2 - (0.1**2 + 0.12**2 - 2 * 0.3 * 0.1 * 0.12) ** 0.5
    high = 0.2 + (0.05**2 + 0.1**2 - 2 * 0.3 * 0.05 * 0.1) ** 0.5
    assert found.ci == pytest.approx((low, high), abs=1e-12)
    mirrored = intervals.estimate_difference(b, a, 0.3)
    assert mirrored.ci == pytest.approx((-high, -low), abs=1e-12) and mirrored.p_value == found.p_value
    normal = NormalDist()
    assert found.p_value == pytest.approx(2 * normal.cdf(-normal.inv_cdf(0.975) * 0.2 / (0.2 - low)), abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_p_value_and_interval_agree(level: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, y = rng.uniform(0.3, 0.9, 2)
        ends = rng.uniform(0.01, 0.1, 4)
        a, b = (
            intervals.Estimate(x, 0.01, (x - ends[0], x + ends[1])),
            intervals.Estimate(y, 0.01, (y - ends[2], y + ends[3])),
        )
        found = intervals.estimate_difference(a, b, rng.uniform(-1, 1), level)
        assert (found.p_value < 1 - level) == (found.ci[0] > 0 or found.ci[1] < 0)


def test_an_upper_end_cut_off_at_one_is_not_certainty() -> None:
    sure, wide = intervals.Estimate(1.0, 0.0, (1.0, 1.0)), intervals.Estimate(0.99, 0.03, (0.9, 1.0))
    found = intervals.estimate_difference(sure, wide, 0.0)
    assert found.p_value == pytest.approx(2 * NormalDist().cdf(-0.01 / 0.03), abs=1e-12)
    assert intervals.estimate_difference(sure, sure, 0.0).p_value == 1
    assert 0 < intervals.estimate_difference(sure, intervals.Estimate(0.9, 0.0, (0.9, 0.9)), 0.0).p_value < 1e-9


def test_a_difference_is_within_1_and_one_of_0_has_its_larger_error() -> None:
    high, low = intervals.Estimate(0.95, 0.2, (0.5, 1.0)), intervals.Estimate(0.02, 0.2, (0.01, 0.5))
    assert intervals.estimate_difference(high, low, 0.0).ci[1] == 1
    assert intervals.estimate_difference(low, high, 0.0).ci[0] == -1
    a, b = intervals.Estimate(0.8, 0.03, (0.7, 0.81)), intervals.Estimate(0.8, 0.03, (0.79, 0.9))
    for one, other in ((a, b), (b, a)):
        found = intervals.estimate_difference(one, other, 0.0)
        assert found.p_value == 1 and found.value == 0
        assert found.stderr == pytest.approx(max(-found.ci[0], found.ci[1]) / NormalDist().inv_cdf(0.975))


def equal_models(k: int, shift: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """P and a Q at some distance from it."""
    p = rng.dirichlet(np.full(k, 5.0))
    q = p * np.exp(shift * rng.normal(size=k))
    return p, q / q.sum()


def scored(labels: list[Labels], aligned: bool = False) -> tuple[list[intervals.Estimate], Floats]:
    """The scores of models against the first set, and their covariance."""
    numbers, config = np.arange(len(labels[0])), MauveConfig()
    codes = (numbers, len(numbers) + numbers) if aligned else None
    bounds = [Bound("groups", [(labels[0], side)], codes) for side in labels[1:]]
    estimates = [found for bound in bounds if (found := bound.estimates(config).mauve) is not None]
    return estimates, joint_covariance(bounds, estimates, config.mauve_scaling_factor)


def spread(covariance: Floats) -> float:
    """Variance of the difference of two scores."""
    return float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])


@pytest.mark.slow
@pytest.mark.parametrize(("aligned", "shift"), [(False, 0.8), (True, 0.8)])
def test_errors_are_those_of_repeated_samples(aligned: bool, shift: float) -> None:
    """The shared human texts, and shared rows of aligned models, against the spread of 150 draws."""
    k, n, repeats = 12, 200, 150
    rng = np.random.default_rng(0)
    p, q = equal_models(k, shift, rng)
    values, variances, between = [], [], []
    for _ in range(repeats):
        rows = rng.choice(k, n, p=q)  # aligned: half of the rows fall into one bucket in both models
        shared = rng.random(n) < (0.5 if aligned else 0.0)
        labels = [rng.choice(k, n, p=p), rows, np.where(shared, rows, rng.choice(k, n, p=q))]
        estimates, covariance = scored(labels, aligned)
        values.append([estimate.value for estimate in estimates])
        variances.append(covariance[0, 0])
        between.append(spread(covariance))
    seen = np.cov(np.array(values), rowvar=False)
    # a delete-one variance is the true one at least, and twice that at most (Efron and Stein 1981); a variance from 150
    # draws errs by √(2/150) = 12 %, four of those
    for found, true in ((variances, seen[0, 0]), (between, spread(seen))):
        assert 0.52 * true < np.mean(found) < 2 * 1.48 * true
    assert np.mean(between) < 1.7 * np.mean(variances)  # less than 2: the scores share the human texts


@pytest.mark.slow
def test_intervals_cover_and_are_narrower_than_unpaired_ones() -> None:
    k, n, repeats = 20, 300, 80
    rng = np.random.default_rng(1)
    p, q = equal_models(k, 0.5, rng)
    covered, narrower = 0, 0.0
    for _ in range(repeats):
        labels = [rng.choice(k, n, p=p), rng.choice(k, n, p=q), rng.choice(k, n, p=q)]
        estimates, covariance = scored(labels)
        found = difference_of(estimates, covariance, 0, 1)
        plain = intervals.estimate_difference(*estimates, 0.0)
        covered += found.ci[0] <= 0 <= found.ci[1]
        narrower += (found.ci[1] - found.ci[0]) / (plain.ci[1] - plain.ci[0]) / repeats
    # 95 % of 80 with a standard deviation of 1.9, less four of them
    assert covered >= 0.95 * repeats - 4 * 1.9
    assert narrower < 0.95


def test_pairing_helps_only_where_rows_go_together() -> None:
    rng = np.random.default_rng(0)
    human, one = (rng.integers(0, 20, size=2000) for _ in range(2))
    one[:1000] //= 2  # a model that differs from P
    same, other = one.copy(), rng.permutation(one)
    same[::10] = rng.integers(0, 20, size=200)
    effects = [
        spread(scored([human, one, second], aligned=True)[1]) / spread(scored([human, one, second])[1])
        for second in (same, other)
    ]
    assert effects[0] < 0.45 and effects[1] == pytest.approx(1.0, abs=0.2)


K, TEXTS = 4, 40


def of_prompts(prompts: Labels, rng: np.random.Generator) -> Labels:
    """Buckets that depend on the prompt in half of the texts."""
    return np.where(rng.random(len(prompts)) < 0.5, prompts % K, rng.integers(K, size=len(prompts)))


def costs(weights: Floats, p: Labels, q: Labels) -> float:
    """The sum of both divergences along the mixtures, each times its weight."""
    p_share, q_share = (np.bincount(side, minlength=K) / len(side) for side in (p, q))
    mixtures = WEIGHTS[:, None] * p_share + (1 - WEIGHTS[:, None]) * q_share
    both = [rel_entr(side, mixtures).sum(axis=1) for side in (q_share, p_share)]
    return float((weights * np.array(both)).sum())


@pytest.mark.parametrize(
    "prompts",
    [
        None,
        (np.arange(TEXTS), [np.arange(TEXTS)] * 2),  # a text of each set answers a prompt
        (np.arange(TEXTS) // 2, [np.arange(TEXTS) // 2, 100 + np.arange(TEXTS)]),  # the second model has its own
        (100 + np.arange(TEXTS) // 2, [np.arange(TEXTS) // 4] * 2),  # both share some that P has not
    ],
)
def test_the_covariance_is_that_of_leaving_out_each_text_or_prompt(prompts: tuple[Labels, list[Labels]] | None) -> None:
    """To first order in the divergences, as for the error of one score."""
    rng = np.random.default_rng(5)
    of_p, of_models = prompts or (np.arange(TEXTS), [TEXTS + np.arange(TEXTS), 2 * TEXTS + np.arange(TEXTS)])
    human, models = of_prompts(of_p, rng), [of_prompts(own, rng) for own in of_models]
    every = np.unique(np.concatenate([of_p, *of_models]))
    changes, frontiers = np.zeros((2, len(every))), []
    for number, (labels, own) in enumerate(zip(models, of_models, strict=True)):
        groups = None if prompts is None else count_groups(human, labels, of_p, own, K)
        frontiers.append(debiased_frontier(*(np.bincount(side, minlength=K) for side in (human, labels)), groups))
        _, slopes = area_and_slopes(*monotone(frontiers[-1]), 5.0)
        joined = bool(np.isin(own, of_p).any())
        for stratum in [np.union1d(of_p, own)] if joined else [np.unique(of_p), np.unique(own)]:
            left = [costs(slopes, human[of_p != one], labels[own != one]) for one in stratum]
            size = len(stratum)
            factor = ((size - 1) / size) ** (1 if prompts is None else 0.5)
            changes[number, np.searchsorted(every, stratum)] = factor * (np.array(left) - np.mean(left))
    codes = None if prompts is None else [(of_p, own) for own in of_models]
    pairs = [(human, labels) for labels in models]
    found = effect_covariance(frontiers, pairs, 5.0, codes)
    assert found == pytest.approx(changes @ changes.T, rel=1e-6)
    for frontier, variance in zip(frontiers, np.diag(found), strict=True):
        assert variance == pytest.approx(intervals.estimate_scores(frontier)[0].stderr ** 2, rel=1e-9)


def test_groups_of_one_text_are_texts_alone() -> None:
    """Whatever their codes are: negative ones are of no prompt, and equal ones of two models mean nothing."""
    rng, numbers = np.random.default_rng(6), np.arange(TEXTS)
    human, models = rng.integers(K, size=TEXTS), rng.integers(K, size=(2, 50))
    frontiers = [debiased_frontier(np.bincount(human), np.bincount(labels)) for labels in models]
    pairs = [(human, labels) for labels in models]
    expected = effect_covariance(frontiers, pairs, 5.0)
    assert expected[0, 1] > 0
    declared = numbers[::-1], TEXTS + np.arange(50)
    for codes in (
        [None, None],
        [None, declared],
        [declared, (declared[0], 900 + np.arange(50))],
        [(numbers, -1 - np.arange(50)), (numbers, -50 + np.arange(50))],
    ):
        assert effect_covariance(frontiers, pairs, 5.0, codes) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("variances", "between", "correlation"),
    [((4.0, 9.0), 3.0, 0.5), ((4.0, 9.0), 6.1, 1.0), ((4.0, 9.0), -6.1, -1.0), ((0.0, 9.0), 0.0, 0.0)],
)
def test_a_difference_has_the_correlation_of_its_scores(
    variances: tuple[float, float], between: float, correlation: float
) -> None:
    """At most 1, of covariances that rounding or sampling made larger; none of scores without an error."""
    a, b = intervals.Estimate(0.8, 0.03, (0.7, 0.85)), intervals.Estimate(0.6, 0.04, (0.5, 0.72))
    covariance = 1e-4 * np.array([[variances[0], 0, between], [0, 1, 0], [between, 0, variances[1]]])
    expected = intervals.estimate_difference(a, b, correlation, 0.9)
    found = difference_of({0: a, 2: b}, covariance, 0, 2, 0.9)
    assert found.ci == pytest.approx(expected.ci, abs=1e-9) and found.p_value == pytest.approx(expected.p_value)
