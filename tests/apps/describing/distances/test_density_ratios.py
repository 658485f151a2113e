"""Scores without buckets against Gaussians whose MAUVE and frontier integral are known, and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.neighbors import NearestNeighbors

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.distances.density_ratios import (
    ESTIMATORS,
    classifier_log_ratios,
    estimate_mauve,
    frontier_of_ratios,
    gaussian_log_ratios,
    mauve_of_ratios,
    mauve_without_buckets,
    neighbour_log_ratios,
)
from mauve_metric.clustering.projection import project
from mauve_metric.measures.frontier import frontier, mauve_floor

Floats = NDArray[np.float64]

# N(0, 1) against N(shift, scale²), computed apart: MAUVE c=5
GAUSSIANS = [
    (0.5, 1.0, 0.95124065),
    (1.0, 1.0, 0.63158737),
    (2.0, 1.0, 0.10492862),
    (0.0, 2.0, 0.69785674),
    (1.0, 2.0, 0.55271554),
]


def sides(n: int, d: int, shift: float, scale: float, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows of N(0, 1), those of Q shifted and scaled in the first column."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, n, d))
    q[:, 0] = q[:, 0] * scale + shift
    return p, q


# --- the arithmetic -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shift", "scale", "mauve"), GAUSSIANS)
def test_true_ratios_give_the_true_scores(shift: float, scale: float, mauve: float) -> None:
    quantiles = (np.arange(20_000) + 0.5) / 20_000
    p, q = norm.ppf(quantiles), norm.ppf(quantiles, shift, scale)
    at_p, at_q = (norm.logpdf(x) - norm.logpdf(x, shift, scale) for x in (p, q))
    # 200 trapezoids of a curve of length below 2: about 2/200² times its curvature; quantiles cut the tails at 1e-5
    assert mauve_of_ratios((at_p, at_q)) == pytest.approx(mauve, abs=2e-4)


def test_histograms_as_points_give_the_frontier() -> None:
    """Each bucket's log p/q as often as it has texts: the frontier of the histograms, exactly."""
    p, q, lam = np.array([5, 3, 2]), np.array([2, 3, 5]), np.array([0.1, 0.4, 0.9])
    t = np.log(p / q)
    found = frontier_of_ratios((np.repeat(t, p), np.repeat(t, q)), lam)
    for one, other in zip(found, frontier(p / 10, q / 10, lam), strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_frontier_is_one() -> None:
    """Whatever the ratios, both errors are at least 0, one rises and the other falls."""
    rng = np.random.default_rng(0)
    lam = np.linspace(0.01, 0.99, 50)
    for spread in (0.1, 3.0, 50.0):
        one, two = frontier_of_ratios((*(spread * rng.normal(size=(2, 40))),), lam)
        assert (one >= 0).all() and (two >= 0).all()
        assert (np.diff(one) >= 0).all() and (np.diff(two) <= 0).all()


# --- the estimators -------------------------------------------------------------------------------------------------

# How far an estimator may be off at 1000 rows a set. The sampling error of MAUVE itself is about .04 in the middle
# (1 dimension: its delta method), that of the integral .015; the rest is bias, measured in benchmarks/estimators.py.
ALLOWED = {"gaussian": 0.10, "classifier": 0.10, "neighbours": 0.12}


@pytest.mark.more
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(("shift", "scale", "mauve"), GAUSSIANS)
def test_gaussian_truths(name: str, shift: float, scale: float, mauve: float) -> None:
    assert estimate_mauve(*sides(1000, 2, shift, scale), name) == pytest.approx(mauve, abs=ALLOWED[name])


@pytest.mark.parametrize("name", ["gaussian", "classifier"])
def test_many_dimensions_with_a_shift(name: str) -> None:
    found = estimate_mauve(*sides(1000, 64, 1.0, 1.0, seed=1), name)
    # buckets and neighbours are off by .3 here; the classifier by .12 to .16, as the folds fall
    assert found == pytest.approx(0.63158737, abs=0.2)


@pytest.mark.more
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("d", [2, 20])
def test_equal_sets_and_sets_far_apart(name: str, d: int) -> None:
    p, q = sides(300, d, 0.0, 1.0)
    same, copy, far = (estimate_mauve(p, other, name) for other in (q, p, q + 50))
    assert same > 0.97 and copy > 0.97
    # k neighbours of one side say no more than log p/q = log(2k + 1)
    assert far < 0.02
    assert mauve_floor() <= far <= same <= 1


@pytest.mark.parametrize("name", ESTIMATORS)
def test_two_runs_are_equal_to_the_bit(name: str) -> None:
    p, q = sides(150, 5, 0.7, 1.0)
    one, other = (ESTIMATORS[name](p, q, seed=3) for _ in range(2))
    assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


@pytest.mark.more
@pytest.mark.parametrize("name", ESTIMATORS)
def test_swapping_unequal_sets_changes_little(name: str) -> None:
    p, q = sides(600, 3, 1.0, 1.0)
    p = p[:250]
    there, back = estimate_mauve(p, q, name), estimate_mauve(q, p, name)
    # only folds, splits and drawn points differ: up to .04 is what they change
    assert there == pytest.approx(back, abs=0.06)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_constant_rows(name: str) -> None:
    assert estimate_mauve(np.ones((60, 3)), np.ones((60, 3)), name) > 0.97  # neighbours are any rows


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "least"), [("neighbours", 2), ("classifier", 5), ("gaussian", 10)])
def test_invalid_features_are_refused(name: str, least: int) -> None:
    good = np.random.default_rng(0).normal(size=(least, 3))
    estimate_mauve(good, good + 1, name)
    with pytest.raises(ValueError, match=rf"q must have at least {least} rows of features, got .* \(1, 3\)"):
        estimate_mauve(good, good[:1], name)
    with pytest.raises(ValueError, match="p and q must have rows of one length, got 3 and 2"):
        estimate_mauve(good, good[:, :2], name)
    with pytest.raises(ValueError, match="p must hold finite numbers"):
        estimate_mauve(np.where(good == good[0, 0], np.nan, good), good, name)


def test_unknown_names_and_numbers() -> None:
    rows = np.zeros((4, 1))
    with pytest.raises(ValueError, match="estimator must be one of neighbours, classifier, gaussian, got 'kernel'"):
        estimate_mauve(rows, rows, "kernel")
    for k in (0, 8):
        with pytest.raises(ValueError, match=f"k must be from 1 to 7, one less than all rows, got {k}"):
            neighbour_log_ratios(rows, rows, k)


# --- neighbours -----------------------------------------------------------------------------------------------------


def test_neighbours_against_brute_force() -> None:
    p, q = sides(60, 4, 0.5, 1.0)
    q, k, rows = q[:45], 7, np.concatenate([p, q[:45]])
    near = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(rows).kneighbors(return_distance=False)
    of_p = (near < 60).sum(axis=1)
    at_p, at_q = neighbour_log_ratios(p, q, k)
    t = np.log((of_p + 0.5) / (k - of_p + 0.5))
    assert at_p == pytest.approx(t[:60] + np.log(45 / 59), rel=1e-12)
    assert at_q == pytest.approx(t[60:] + np.log(44 / 60), rel=1e-12)


def test_neighbours_of_copies() -> None:
    """A point with many copies is not its own neighbour."""
    p, q = np.zeros((6, 2)), np.ones((6, 2))
    at_p, at_q = neighbour_log_ratios(p, q, k=5)
    assert at_p == pytest.approx(np.full(6, np.log(5.5 / 0.5) + np.log(6 / 5)), rel=1e-12)
    assert at_q == pytest.approx(-at_p, rel=1e-12)


# --- the classifier -------------------------------------------------------------------------------------------------


def test_log_odds_of_shifted_and_scaled_normal_rows() -> None:
    p, q = sides(4000, 2, 0.5, 1.5)
    at_p, at_q = classifier_log_ratios(p, q)
    for rows, t in ((p, at_p), (q, at_q)):
        truth = norm.logpdf(rows[:, 0]) - norm.logpdf(rows[:, 0], 0.5, 1.5)
        # standard errors of five parameters of 6400 rows are about 1/sqrt(6400), times a row of length 2
        assert np.sqrt(np.mean(np.square(t - truth))) < 4 * 2 / np.sqrt(6400)


def test_copies_of_a_point_do_not_give_it_away() -> None:
    rng = np.random.default_rng(3)
    p, q = (np.repeat(rng.normal(size=(40, 60)), 5, axis=0) for _ in "pq")
    at_p, at_q = classifier_log_ratios(p, q)
    # chance, of 40 points a side: .5 with a standard error of .08; with copies in other folds all are known
    assert (at_p > 0).mean() < 0.82 and (at_q < 0).mean() < 0.82


def test_classifier_has_not_seen_the_points() -> None:
    """Far more columns than rows, and nothing to find: held-out ratios are no better than chance."""
    p, q = np.random.default_rng(2).normal(size=(2, 40, 200))
    at_p, at_q = classifier_log_ratios(p, q)
    assert (at_p > 0).mean() < 0.75 and (at_q < 0).mean() < 0.75
    assert np.abs(at_p).max() <= np.log(80) + 1e-12


# --- Gaussians ------------------------------------------------------------------------------------------------------


def test_gaussian_sees_one_direction_among_many() -> None:
    p, q = sides(1000, 30, 0.0, 3.0)
    at_p, _ = gaussian_log_ratios(p, q)
    # KL(p‖q) of N(0, 1) and N(0, 9): log 3 + 1/18 - ½ = .654; .05 is four errors of a variance at 1000 rows
    assert at_p.mean() == pytest.approx(np.log(3) + 1 / 18 - 0.5, abs=0.07)


ROWS = {"neighbours": "mauve_neighbours", "classifier": "mauve_logistic", "gaussian": "mauve_gaussian"}


@pytest.mark.more
@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
def test_each_is_the_estimate_on_projected_rows_and_sees_a_shift(estimator: str) -> None:
    rng = np.random.default_rng(0)
    p, near, far = (rng.normal(shift, 1, size=(300, 6)) for shift in (0, 0.1, 1.5))
    close, apart = (mauve_without_buckets(p, q, estimator=estimator) for q in (near, far))
    assert apart.value < 0.7 < close.value <= 1
    assert close.ci is None and close.p_value is None  # never a number of something else
    rows = np.asarray(project(np.concatenate([near, p]), seed=25), dtype=np.float64)
    assert close.value == estimate_mauve(rows[300:], rows[:300], estimator)
    assert MEASURES[ROWS[estimator]].compute(p, near, seed=25, level=0.9) == close


def test_too_few_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 3))
    with pytest.raises(ValueError, match="rows"):
        mauve_without_buckets(rows[:1], rows[1:], estimator="gaussian")
