"""Closeness is the lowest of several upper bounds, and its interval holds after that choice."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from mauve_metric.clustering.histograms import Histograms, count_labels
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty import ceilings
from mauve_metric.uncertainty.closeness import Bound, _mean, closeness_of, debiased_estimates, joint_covariance
from mauve_metric.uncertainty.intervals import Estimate, debiased_scores
from mauve_metric.uncertainty.jackknife import frontier_of
from mauve_metric.uncertainty.learned_score import learned_score

CONFIG = MauveConfig()
EVEN = np.full(10, 0.1)
TILTED = np.array([0.19, 0.01] * 5)  # MAUVE .88 against an even histogram


def bound(rng: np.random.Generator, p: np.ndarray, q: np.ndarray, n: int = 400, p_value: float | None = None) -> Bound:
    """Texts drawn from two histograms; with a p-value those of a classifier."""
    labels = rng.choice(10, n, p=p), rng.choice(10, n, p=q)
    return Bound("groups" if p_value is None else "classifier", [labels], None, p_value)


def test_the_values_without_errors_are_those_of_mauve_and_of_the_integral() -> None:
    """Nine prompts have no error, and the means over the clusterings."""
    groups = np.repeat(np.arange(9), 5)
    runs = []
    for seed in range(2):
        labels = np.random.default_rng(seed).integers(4, size=(2, 45))
        runs.append(count_labels(*labels, 4, groups, groups))
    found = debiased_estimates(runs, CONFIG)
    scores = [debiased_scores(frontier_of(run), CONFIG.mauve_scaling_factor) for run in runs]
    assert found.problem == "there are only 9 prompts, and an error needs at least 10" and found.mauve is None
    means = [np.mean([score.mauve for score in scores]), np.mean([score.frontier_integral for score in scores])]
    assert found.values == pytest.approx(means, rel=1e-12)


def test_the_lowest_counts_and_each_interval_has_its_share_of_the_errors() -> None:
    rng = np.random.default_rng(0)
    bounds = [bound(rng, EVEN, EVEN), bound(rng, EVEN, TILTED, p_value=0.001)]
    found = closeness_of(bounds, CONFIG)
    halves = [item.estimates(MauveConfig(confidence_level=0.975)) for item in bounds]
    assert found is not None and found.ci is not None
    assert halves[1].values is not None and found.value == halves[1].values[0]
    assert found.value == min(item.values[0] for item in halves if item.values)
    lows, highs = zip(*(item.mauve.ci for item in halves if item.mauve), strict=True)
    assert found.ci == (min(lows), min(highs)) and found.shown == (1,)
    assert bounds[1].estimates(CONFIG) != halves[1]
    alone = closeness_of(bounds[1:], CONFIG)
    assert alone is not None and alone.ci == pytest.approx(bounds[1].estimates(CONFIG).mauve.ci, rel=0, abs=1e-12)


def test_a_test_shows_a_difference_and_withholds_one_that_only_an_interval_shows() -> None:
    rng = np.random.default_rng(1)
    unsure, sure = bound(rng, EVEN, TILTED, p_value=0.2), bound(rng, EVEN, EVEN, p_value=0.001)
    for item, shown in ((unsure, ()), (sure, (0,))):
        found = closeness_of([item], CONFIG)
        assert found is not None and found.shown == shown


def test_each_of_two_tests_has_its_half_of_the_errors() -> None:
    """At a p-value of .03 a difference is shown by one test alone, not by one of two."""
    rng = np.random.default_rng(3)
    by_test, other = bound(rng, EVEN, EVEN, p_value=0.03), bound(rng, EVEN, EVEN)
    for bounds, shown in (([by_test], (0,)), ([by_test, other], ())):
        found = closeness_of(bounds, CONFIG)
        assert found is not None and found.shown == shown


def test_the_score_of_equal_sets_is_left_at_the_level_of_the_interval() -> None:
    """The mean over clusterings against equal sets in the first of them."""
    rng = np.random.default_rng(4)
    labels = [(rng.choice(10, 400, p=EVEN), rng.choice(10, 400, p=0.8 * EVEN + 0.2 * TILTED)) for _ in range(2)]
    item = Bound("groups", labels, None)
    run = item.histograms[0]
    assert run.p_counts.tolist() == np.bincount(labels[0][0], minlength=10).tolist()
    equal = ceilings.null_scores(run.p_counts, run.q_counts, CONFIG.mauve_scaling_factor)
    area = statistics.fmean(curve_area(divergence_curve(*one.probabilities())) for one in item.histograms)
    deviations = (statistics.fmean(equal) - area) / statistics.stdev(equal)
    level = 2 * norm.cdf(deviations) - 1  # of both sides, by scipy
    assert 0.5 < level < 0.99999
    for just, below in ((level - 1e-6, True), (level + 1e-6, False)):
        assert item.is_below_equal_sets(MauveConfig(confidence_level=just)) is below


def test_sets_in_one_bucket_are_not_below_equal_sets() -> None:
    labels = np.zeros(40, dtype=np.int64)
    assert not Bound("groups", [(labels, labels)], None).is_below_equal_sets(CONFIG)


def test_a_classifier_that_errs_more_often_than_not_shows_nothing() -> None:
    rng = np.random.default_rng(5)
    learned = learned_score(rng.normal(size=(60, 3)), rng.normal(size=(60, 3)), None, CONFIG)
    assert learned is not None
    for auc, p_value in ((0.51, 0.001), (0.5, 1.0), (0.49, 1.0)):
        assert Bound.of_learned(learned._replace(auc=auc, auc_p_value=0.001), None).p_value == p_value


def test_the_p_value_is_the_least_of_the_tests_that_show_a_difference_times_their_number() -> None:
    rng = np.random.default_rng(8)
    tests = [bound(rng, EVEN, EVEN, p_value=p_value) for p_value in (0.004, 0.002, 0.6)]
    for bounds, expected in ((tests, 0.006), (tests[:1], 0.004), (tests[2:], None), ([bound(rng, EVEN, TILTED)], None)):
        found = closeness_of(bounds, CONFIG)
        assert found is not None and found.p_value == (expected if expected is None else pytest.approx(expected))


@pytest.mark.slow
def test_equal_sets_differ_in_few_cases_whatever_is_chosen() -> None:
    """Of 200 equal sets at most 2.5 % by the intervals' upper ends: 5 on average, 4 standard errors are 9 more."""
    rng = np.random.default_rng(2)
    found = [closeness_of([bound(rng, EVEN, EVEN, 300) for _ in range(3)], CONFIG) for _ in range(200)]
    assert sum(item is not None and bool(item.shown) for item in found) <= 14


def test_sets_that_are_too_alike_have_a_wider_interval() -> None:
    counts = np.full(20, 20)
    same = debiased_estimates([Histograms(counts, counts)], CONFIG)
    assert same.mauve is not None and same.mauve.value == 1
    assert same.mauve.ci[0] < 0.995 and same.mauve.ci[1] == 1  # with its own error alone it would begin at 1


def test_joined_buckets_keep_the_variance_that_they_had_before() -> None:
    (run,) = bound(np.random.default_rng(6), EVEN, TILTED).histograms
    own = debiased_estimates([run], CONFIG).frontier_integral
    assert own is not None
    for before, kept in ((0.5 * own.stderr**2, own.stderr**2), (4 * own.stderr**2, 4 * own.stderr**2)):
        found = debiased_estimates([run], CONFIG, before).frontier_integral
        assert found is not None and found.stderr**2 == pytest.approx(kept, rel=1e-9)


def test_pairs_that_a_classifier_tells_apart_without_an_error_count() -> None:
    """Whichever pair is left out, the score stays at its floor, 1 / 252: that is no lack of texts."""
    labels, pairs = np.zeros(40, dtype=np.int64), np.arange(40)
    apart = Bound("classifier", [(labels, labels + 1)], (pairs, pairs), 1e-9, 1.0)
    by_groups = Bound("groups", [(pairs % 4, pairs // 3 % 4)], (pairs, pairs))
    found = closeness_of([by_groups, apart], CONFIG)
    assert found is not None and found.ci is not None and 1 in found.shown
    assert found.value == pytest.approx(1 / 252, rel=0.01) and found.value < found.ci[1] < 0.1


def test_the_mean_over_clusterings_has_the_fewest_degrees_of_freedom() -> None:
    few, many = Estimate(0.4, 0.3, (0.1, 0.6), 9.0), Estimate(0.6, 0.4, (0.3, 0.8), 40.0)
    for runs in ([few, many], [many, few]):
        found = _mean(runs)
        assert found.freedom == 9 and found.ci == pytest.approx((0.2, 0.7))
        assert (found.value, found.stderr) == (pytest.approx(0.5), pytest.approx(0.125**0.5))


def test_learned_buckets_that_became_one_have_the_interval_of_those_before() -> None:
    """Each prompt then has all its texts in one bucket, as in those by groups, which have no other variance."""
    prompts = np.repeat(np.arange(20), 5)
    one, each = np.zeros_like(prompts), prompts % 4
    learned = Bound("classifier", [(one, one)], (prompts, prompts), 1.0, 0.5, spread=1e-4)
    by_groups = Bound("groups", [(each, each)], (prompts, prompts))
    found = closeness_of([by_groups, learned], CONFIG)
    assert found is not None and found.ci is not None and 0.9 < found.ci[0] < 0.999 and found.ci[1] == 1
    assert by_groups.estimates(CONFIG).mauve is None


def test_few_texts_have_a_value_without_an_interval() -> None:
    few = Bound("groups", [(np.array([0, 1, 0]), np.array([1, 1, 0]))], None)
    found = closeness_of([few], CONFIG)
    assert found is not None and found.ci is None
    score, _ = few.estimates(CONFIG).values or (None, None)
    assert found.value == score
    assert closeness_of([Bound("groups", [(np.array([0]), np.array([0]))], None)], CONFIG) is None
    assert closeness_of([], CONFIG) is None


def test_an_interval_shows_a_difference_where_no_test_contradicts_it() -> None:
    """One of two tests has half of the errors alone; a difference that the interval shows as well needs no half."""
    rng = np.random.default_rng(9)
    equal = bound(rng, EVEN, EVEN)
    for p_value, shown in ((None, (0,)), (0.03, (0,)), (0.06, ())):
        found = closeness_of([bound(rng, EVEN, TILTED, p_value=p_value), equal], CONFIG)
        assert found is not None and found.shown == shown and found.p_value is None


def test_a_p_value_at_the_level_shows_a_difference() -> None:
    """Of 9 permutations the least is 0.1, which is above 1 - 0.9 by rounding."""
    for p_value, shown in ((0.1, (0,)), (0.2, ())):
        item = bound(np.random.default_rng(10), EVEN, EVEN, p_value=p_value)
        found = closeness_of([item], MauveConfig(confidence_level=0.9))
        assert found is not None and found.shown == shown and found.p_value == (p_value if shown else None)


def test_copies_of_few_prompts_are_not_below_equal_sets() -> None:
    """Twenty texts of a prompt are in one bucket: as independent texts they would show a difference."""
    rng, prompts = np.random.default_rng(11), np.repeat(np.arange(40), 20)
    labels = [np.repeat(rng.integers(10, size=40), 20) for _ in "pq"]
    for codes, is_below in (((prompts, 40 + prompts), False), (None, True)):
        item = Bound("groups", [(labels[0], labels[1])], codes)
        assert item.is_below_equal_sets(CONFIG) is is_below
    one = np.zeros_like(prompts)  # a second clustering into one bucket, which has no equal sets below 1
    assert not Bound("groups", [*item.labels, (one, one)], (prompts, 40 + prompts)).is_below_equal_sets(CONFIG)


@pytest.mark.parametrize(
    ("p_prompts", "q_prompts", "problem"),
    [
        (1, 8, "the texts of a side are all of one prompt"),
        (8, 1, "the texts of a side are all of one prompt"),
        (2, 8, "there are only 2 prompts, and an error needs at least 10"),
    ],
)
def test_texts_of_one_prompt_have_no_debiased_score(p_prompts: int, q_prompts: int, problem: str) -> None:
    labels = np.arange(24) % 3
    codes = np.arange(24) % p_prompts, 100 + np.arange(24) % q_prompts
    found = debiased_estimates([count_labels(labels, labels, 3, *codes)], CONFIG)
    assert found.problem == problem and (found.values is None) is (min(p_prompts, q_prompts) == 1)


def test_two_texts_have_a_debiased_score() -> None:
    for texts in (1, 2):
        found = debiased_estimates([Histograms(np.array([texts, 0]), np.array([30, 20]))], CONFIG)
        assert (found.values is None) is (texts == 1) and found.mauve is None


def test_the_covariance_has_the_variances_of_the_intervals() -> None:
    """That of sampling is of the first clustering; the spread over clusterings adds to each variance alone."""
    rng = np.random.default_rng(12)
    human = [rng.integers(10, size=400) for _ in range(2)]
    models = [[rng.choice(10, 400, p=TILTED) for _ in range(2)] for _ in range(2)]
    bounds = [Bound("groups", [*zip(human, labels, strict=True)], None) for labels in models]
    found = [item.estimates(CONFIG).mauve for item in bounds]
    first = [replace(item, labels=item.labels[:1]) for item in bounds]
    alone = joint_covariance(first, [item.estimates(CONFIG).mauve for item in first], 5.0)
    covariance = joint_covariance(bounds, found, 5.0)
    assert covariance[0, 1] == covariance[1, 0] == pytest.approx(alone[0, 1], rel=1e-9) and alone[0, 1] > 0
    variances = [one.stderr**2 for one in found if one is not None]
    assert np.diag(covariance) == pytest.approx(np.maximum(variances, np.diag(alone)), rel=1e-9)
    assert (np.diag(covariance) > np.diag(alone)).any()
    without = joint_covariance(bounds, [None, found[1]], 5.0)
    assert without[0].tolist() == without[:, 0].tolist() == [0, 0] and without[1, 1] == covariance[1, 1]
    small = [one._replace(stderr=0.0) for one in found if one is not None]
    assert joint_covariance(bounds, small, 5.0) == pytest.approx(alone, rel=1e-9)
