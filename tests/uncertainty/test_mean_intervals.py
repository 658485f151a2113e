"""Intervals of means against scipy's, and by simulation where texts come in groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from mauve_metric.arrays import Floats, Integers
from mauve_metric.uncertainty.mean_intervals import _third, difference_interval, mean_interval, wilson_interval


def test_against_scipy() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.normal(0, 1, 12), rng.normal(0.5, 3, 18)
    welch = stats.ttest_ind(p, q, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(difference_interval(p, q, 0.9), welch, rtol=1e-12)
    np.testing.assert_allclose(mean_interval(p, 0.95), stats.ttest_1samp(p, 0).confidence_interval(0.95), rtol=1e-12)
    same = difference_interval(p, q, 0.9, range(12), range(100, 118))  # every text a prompt of its own
    np.testing.assert_allclose(same, welch, rtol=1e-12)
    paired = stats.ttest_rel(p, q[:12]).confidence_interval(0.95)
    np.testing.assert_allclose(difference_interval(p, q[:12], 0.95, range(12), range(12)), paired, rtol=1e-12)
    twice = difference_interval(np.repeat(p, 2), q[:12], 0.95, np.repeat(np.arange(12), 2), range(12))
    np.testing.assert_allclose(twice, paired, rtol=1e-12)  # copies of a text say nothing new


@pytest.mark.slow
def test_skewed_values_have_an_interval_that_holds() -> None:
    """Lengths of texts are about lognormal; Welch's interval holds in 92 % of draws here."""
    rng, held, before, times = np.random.default_rng(0), 0, 0, 2000
    for _ in range(times):
        p, q = rng.lognormal(size=100), rng.lognormal(size=1000)
        interval = difference_interval(p, q, 0.95)
        welch = stats.ttest_ind(p, q, equal_var=False).confidence_interval(0.95)
        assert interval is not None and interval[0] <= welch.low + 1e-9 and interval[1] >= welch.high - 1e-9
        held, before = held + (interval[0] < 0 < interval[1]), before + (welch.low < 0 < welch.high)
    assert held / times > 0.944 - 4 * (0.944 * 0.056 / times) ** 0.5
    assert held - before > 0.01 * times


def test_the_third_cumulant_of_a_mean_is_scipys_without_bias() -> None:
    values = np.random.default_rng(0).lognormal(size=60)
    for some, is_skewed in ((values, True), (values[:20], True), (values[:19], False)):  # fewer tell nothing
        expected = stats.kstat(some, 3) / len(some) ** 2 if is_skewed else 0.0
        assert _third((some - some.mean()) / len(some)) == pytest.approx(expected, rel=1e-9)


def test_groups_of_one_size_count_by_their_means() -> None:
    values, players = np.random.default_rng(0).normal(size=30), np.repeat(np.arange(6), 5)
    expected = stats.ttest_1samp(values.reshape(6, 5).mean(axis=1), 0).confidence_interval(0.95)
    np.testing.assert_allclose(mean_interval(values, 0.95, players.tolist()), expected, rtol=1e-12)
    assert mean_interval(np.array([1.0, 2.0]), 0.95, ["a", "a"]) is None


def test_too_few_and_constant() -> None:
    assert mean_interval(np.ones(1), 0.95) is None
    assert difference_interval(np.ones(3), np.ones(1), 0.95) is None
    assert difference_interval(np.ones(4), np.zeros(4), 0.95, [1, 1, 1, 1], [1, 2, 3, 4]) is None
    assert difference_interval(np.full(4, 3.0), np.zeros(4), 0.95) == (3.0, 3.0)


def shares(hits: int, total: int) -> Floats:
    return np.repeat([1.0, 0.0], [hits, total - hits])


@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_shares_against_newcombes_table(p: tuple[int, int], q: tuple[int, int], expected: tuple[float, float]) -> None:
    # Newcombe 1998, Statistics in Medicine 17, Table II, method 10
    assert difference_interval(shares(*p), shares(*q), 0.95) == pytest.approx(expected, abs=6e-5)
    wilson = stats.binomtest(*p).proportion_ci(0.95, method="wilson")
    np.testing.assert_allclose(mean_interval(shares(*p), 0.95), (wilson.low, wilson.high), atol=1e-12)


@pytest.mark.more
def test_coverage_of_rare_shares_alone_and_by_prompt() -> None:
    rng, level = np.random.default_rng(2), 0.95
    hits = {"alone": 0, "welch": 0, "prompts": 0}
    prompts = np.repeat(np.arange(60), 4)
    for _ in range(400):
        p, q = (rng.random(300) < share for share in (0.005, 0.02))
        low, high = difference_interval(p.astype(float), q.astype(float), level) or (1, -1)
        hits["alone"] += low <= -0.015 <= high
        welch = stats.ttest_ind(p.astype(float), q.astype(float), equal_var=False).confidence_interval(level)
        hits["welch"] += welch.low <= -0.015 <= welch.high
        loops = rng.random(60) < 0.1  # of a prompt on both sides, whose answers mostly loop then
        p, q = ((rng.random(240) < 0.01 + 0.8 * loops[prompts]).astype(float) for _ in range(2))
        low, high = difference_interval(p, q, level, prompts, prompts) or (1, -1)
        hits["prompts"] += low <= 0 <= high
    assert hits["alone"] / 400 > 0.95 - 4 * 0.011 and hits["prompts"] / 400 > 0.95 - 4 * 0.011
    assert hits["welch"] < hits["alone"]


def test_coverage_with_texts_in_groups() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(15), 4)
    hits = plain = 0
    for _ in range(400):
        p, q = (rng.normal(size=15)[groups] + 0.3 * rng.normal(size=60) for _ in range(2))
        low, high = difference_interval(p, q, 0.95, groups.tolist(), groups.tolist()) or (1, -1)
        hits += low <= 0 <= high
        low, high = difference_interval(p, q, 0.95) or (1, -1)
        plain += low <= 0 <= high
    assert hits / 400 > 0.95 - 4 * 0.011  # the standard error of a share of .95
    assert plain / 400 < 0.8  # what the groups are for: about .65, with a standard error of .024


def test_shares_of_pairs_that_agree_have_a_shorter_interval() -> None:
    """The method of Newcombe (1998) for pairs takes off what two shares have in common."""
    p = shares(30, 60)
    q = np.concatenate([shares(28, 30), shares(1, 30)])  # of the same 60 prompts, on which most pairs agree
    alone, paired = difference_interval(p, q, 0.95), difference_interval(p, q, 0.95, range(60), range(60))
    assert alone is not None and paired is not None
    assert paired[1] - paired[0] < 0.6 * (alone[1] - alone[0])
    (p_low, p_high), (q_low, q_high) = (mean_interval(side, 0.95, range(60)) for side in (p, q))
    p_share, q_share, correlation = p.mean(), q.mean(), np.corrcoef(p, q)[0, 1]
    reach = [
        (a**2 - 2 * correlation * a * b + b**2) ** 0.5
        for a, b in ((p_share - p_low, q_high - q_share), (p_high - p_share, q_share - q_low))
    ]
    difference = p_share - q_share
    assert paired == pytest.approx((difference - reach[0], difference + reach[1]), rel=1e-9)
    opposed = difference_interval(p, 1 - q, 0.95, range(60), range(60))
    assert opposed is not None and opposed[1] - opposed[0] > 1.2 * (alone[1] - alone[0])


def hall(ratio: float, skewness: float) -> float:
    """Hall's cubic (1992), which makes Student's ratio symmetric."""
    return ratio + skewness * ratio**2 / 3 + skewness**2 * ratio**3 / 27 + skewness / 6


@pytest.mark.parametrize("groups", [None, np.arange(40)])
def test_ends_of_skewed_values_are_where_halls_cubic_reaches_the_quantile(groups: Integers | None) -> None:
    values = np.random.default_rng(3).lognormal(size=40)
    error = stats.sem(values)
    skewness = stats.kstat(values, 3) / 40**2 / error**3
    reach = stats.t.ppf(0.95, 39)
    low, high = (optimize.brentq(lambda x, end=end: hall(x, skewness) - end, -9, 9) for end in (reach, -reach))
    assert low < reach and -high > reach  # skewed to the right: the upper end is the farther one
    found = mean_interval(values, 0.9, groups)
    assert found == pytest.approx((values.mean() - reach * error, values.mean() - high * error), rel=1e-9)
    mirrored = mean_interval(-values, 0.9, groups)
    assert mirrored == pytest.approx((-found[1], -found[0]), rel=1e-9)
    against = difference_interval(np.zeros(2), values, 0.9, None, groups)
    assert against == pytest.approx(mirrored, rel=1e-9)


def test_two_values_a_side_have_an_interval() -> None:
    p, q = np.array([1.0, 4.0]), np.array([2.0, 2.5])
    welch = stats.ttest_ind(p, q, equal_var=False).confidence_interval(0.95)
    np.testing.assert_allclose(difference_interval(p, q, 0.95), welch, rtol=1e-12)
    paired = stats.ttest_rel(p, q).confidence_interval(0.95)
    np.testing.assert_allclose(difference_interval(p, q, 0.95, [5, 6], [5, 6]), paired, rtol=1e-12)
    for groups in ([1, 1], [1, 2]), ([1, 2], [1, 1]):
        assert difference_interval(p, q, 0.95, *groups) is None  # one group on a side
    assert mean_interval(np.array([1.0, 0.0]), 0.95) is not None is not mean_interval(p, 0.95)
    assert difference_interval(p[:1], q, 0.95) is difference_interval(p, q[:1], 0.95) is None


def test_pairs_of_equal_values_have_no_width() -> None:
    values = np.array([1.0, 2.0, 4.0])
    assert difference_interval(values, values, 0.95, range(3), range(3)) == (0, 0)


@pytest.mark.parametrize("q_groups", [np.repeat(np.arange(10), 2), None])
def test_a_share_that_does_not_vary_has_no_correlation_with_another(q_groups: Integers | None) -> None:
    """And texts of two equal answers each count as one fewer than there are groups."""
    groups = np.repeat(np.arange(10), 2)
    hits = (np.arange(20) % 20 < 12).astype(float)
    low, high = mean_interval(hits, 0.95, groups)
    assert (low, high) == pytest.approx(wilson_interval(0.6, 9, stats.t.ppf(0.975, 9)))
    never = mean_interval(np.zeros(20), 0.95, q_groups)[1]
    found = difference_interval(hits, np.zeros(20), 0.95, groups, q_groups)
    assert found == pytest.approx((0.6 - np.hypot(0.6 - low, never), high))


def test_groups_that_are_on_one_side_alone_count_beside_shared_ones() -> None:
    """Each moves one mean: the squares of all add up to the variance, with the degrees of freedom of all groups."""
    p, q = np.random.default_rng(4).normal(size=(2, 8))
    p_groups, q_groups = np.arange(8), np.array([0, 1, 2, 3, 9, 9, 8, 8])
    moved = np.zeros(10)
    np.add.at(moved, p_groups, (p - p.mean()) / 8)
    np.subtract.at(moved, q_groups, (q - q.mean()) / 8)
    reach = stats.t.ppf(0.975, 9) * (moved @ moved * 10 / 9) ** 0.5
    difference = p.mean() - q.mean()
    expected = np.array([difference - reach, difference + reach])
    np.testing.assert_allclose(difference_interval(p, q, 0.95, p_groups, q_groups), expected, rtol=1e-12)
    np.testing.assert_allclose(difference_interval(q, p, 0.95, q_groups, p_groups), -expected[::-1], rtol=1e-12)


def test_a_share_without_any_hit_has_as_many_texts_as_groups() -> None:
    groups = np.repeat(np.arange(10), 2)
    found = mean_interval(np.zeros(20), 0.95, groups)
    assert found == pytest.approx(wilson_interval(0.0, 10, stats.t.ppf(0.975, 9))) and found[0] == 0
    full = mean_interval(np.ones(20), 0.95, groups)
    assert full == pytest.approx((1 - found[1], 1))
