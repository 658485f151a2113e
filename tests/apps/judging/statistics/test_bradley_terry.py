"""Bradley–Terry scores against closed forms and the published iteration."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from samples import ROOT

from mauve_metric.apps.judging.judgement_tables import open_table
from mauve_metric.apps.judging.statistics.bradley_terry import (
    bradley_terry,
    half_width,
    joined_units,
    score_covariance,
    settle_ties,
    unit_wins,
)


def random_wins(seed: int, models: int = 6, judgements: int = 300) -> np.ndarray:
    rng = np.random.default_rng(seed)
    wins = rng.multinomial(judgements, np.full(models * models, 1 / models**2)).reshape(models, models)
    return np.asarray(wins * (1 - np.eye(models)))


def draws(seed: int, n: int, annotators: int, spread: float) -> tuple[np.ndarray, ...]:
    """Judgements by annotators who differ: models, outcomes, and who judged."""
    rng = np.random.default_rng(seed)
    tastes = np.array([0.5, 0.0, -0.5]) + rng.normal(0, spread, (annotators, 3))
    first = rng.integers(0, 3, n)
    second, who = (first + rng.integers(1, 3, n)) % 3, rng.integers(0, annotators, n)
    chance = 1 / (1 + np.exp(tastes[who, second] - tastes[who, first]))
    return first, second, (rng.random(n) < chance).astype(float), who


def table_of(units: np.ndarray, models: int) -> np.ndarray:
    return np.asarray(units.sum(axis=0)).reshape(models, models)


# --- scores -------------------------------------------------------------------------------------------------------


def test_two_models_have_the_log_of_their_odds() -> None:
    assert bradley_terry([[0, 7], [3, 0]]) == pytest.approx([50 * math.log(7 / 3), -50 * math.log(7 / 3)], abs=1e-9)


def test_scores_are_those_of_the_papers_iteration() -> None:
    wins, u = random_wins(7), np.zeros(6)
    total = wins + wins.T
    for _ in range(5000):
        strength = np.exp(u)
        shares = total / (strength[:, None] + strength[None, :])
        u = np.log(wins.sum(axis=1)) - np.log(shares.sum(axis=1))
        u -= u.mean()
    assert bradley_terry(wins) == pytest.approx(100 * u, abs=1e-8)


@pytest.mark.parametrize("question", ["human-like", "interesting", "sensible"])
def test_published_scores_come_out_of_the_wins_that_they_predict(question: str) -> None:
    lines = open_table("published", ROOT / "examples/published/human_judgement.csv").lines
    published = np.array([float(line.value[question]) for line in lines])
    assert published.sum() == pytest.approx(0, abs=0.0011)  # rounded to three digits
    wins = 360 / (1 + np.exp((published[None, :] - published[:, None]) / 100))
    assert bradley_terry(wins) == pytest.approx(published - published.mean(), abs=1e-6)


def test_lopsided_wins_converge() -> None:
    wins = np.array([[0, 1e6, 0], [1, 0, 1e6], [0, 1, 0]])
    step = 100 * math.log(1e6)  # a chain: each pair by itself
    assert bradley_terry(wins) == pytest.approx([step, 0, -step], abs=1e-6)


def test_the_diagonal_and_the_input_are_left_alone() -> None:
    wins = random_wins(1)
    filled = wins + 5 * np.eye(6)
    before = filled.copy()
    assert (bradley_terry(filled) == bradley_terry(wins)).all()
    assert (filled == before).all()


def test_pseudo_wins_keep_an_unbeaten_model_finite() -> None:
    expected = 50 * math.log(2.5 / 0.5)
    assert bradley_terry([[0, 2], [0, 0]], pseudo_wins=0.5) == pytest.approx([expected, -expected], abs=1e-9)


def test_the_fit_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "choix", None)
    with pytest.raises(ImportError, match=r"pip install 'mauve_metric\[preferences\]'"):
        bradley_terry([[0, 2], [1, 0]])


@pytest.mark.parametrize(
    ("wins", "said"),
    [
        ([[0, 2, 0], [1, 0, 0], [0, 0, 0]], "no judgement compares 'a' and 'b' with 'c'"),
        ([[0, 2, 3], [1, 0, 4], [0, 0, 0]], "'a' and 'b' never lost to 'c'"),
        ([[0, 1, 0], [0, 0, 1], [0, 0, 0]], "'a' never lost to 'b' and 'c'"),
        ([[0, -1, 0], [0, 0, 1], [0, 0, 0]], "at least 0"),
        ([[0, math.nan, 0], [0, 0, 1], [0, 0, 0]], "finite"),
        ([[0, 1, 0], [0, 0, 1]], "square"),
    ],
)
def test_wins_without_finite_scores_are_refused_by_name(wins: list[list[float]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        bradley_terry(wins, names=["a", "b", "c"])


# --- errors -------------------------------------------------------------------------------------------------------


def test_fisher_covariance_of_two_models_is_that_of_a_share() -> None:
    first, second = np.zeros(10, dtype=int), np.ones(10, dtype=int)
    units = unit_wins(first, second, np.array([1.0] * 7 + [0.0] * 3), 2)
    covariance = score_covariance(units, bradley_terry(table_of(units, 2)), errors="fisher")
    of_difference = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert of_difference == pytest.approx(100**2 / (10 * 0.7 * 0.3), rel=1e-9)
    assert covariance.sum(axis=1) == pytest.approx([0, 0], abs=1e-9)


def test_fisher_covariance_is_the_inverse_of_the_curvature() -> None:
    first, second, outcome, _ = draws(3, 200, 10, 0.0)
    units = unit_wins(first, second, outcome, 3)
    scores = bradley_terry(table_of(units, 3))

    def likelihood(w: np.ndarray) -> float:
        gap = (w[first] - w[second]) / 100
        return float(np.sum(outcome * gap - np.log1p(np.exp(gap))))

    h, unit = 0.5, np.eye(3)
    curvature = np.array(
        [
            [
                (
                    likelihood(scores + h * (unit[i] + unit[j]))
                    - likelihood(scores + h * (unit[i] - unit[j]))
                    - likelihood(scores - h * (unit[i] - unit[j]))
                    + likelihood(scores - h * (unit[i] + unit[j]))
                )
                / (4 * h * h)
                for j in range(3)
            ]
            for i in range(3)
        ]
    )
    found = score_covariance(units, scores, errors="fisher")
    assert found == pytest.approx(np.linalg.pinv(-curvature, rcond=1e-4), rel=1e-3)  # differences of width 0.5


def test_robust_covariance_is_a_sum_over_annotators() -> None:
    first, second, outcome, who = draws(4, 120, 6, 0.8)
    units = joined_units(unit_wins(first, second, outcome, 3), who)
    scores = bradley_terry(table_of(units, 3))
    slopes = np.zeros((6, 3))
    for i, j, won, judge in zip(first, second, outcome, who, strict=True):
        surprise = won - 1 / (1 + math.exp((scores[j] - scores[i]) / 100))
        slopes[judge, i] += surprise
        slopes[judge, j] -= surprise
    bread = score_covariance(units, scores, errors="fisher") / 100**2
    expected = 100**2 * 6 / 5 * bread @ slopes.T @ slopes @ bread
    assert score_covariance(units, scores) == pytest.approx(expected, rel=1e-9)


@pytest.mark.more
def test_intervals_hold_the_truth_where_annotators_differ() -> None:
    def hits(errors: str, repeats: int = 100) -> float:
        found = []
        for seed in range(repeats):
            first, second, outcome, who = draws(seed, 300, 12, 1.0)
            units = joined_units(unit_wins(first, second, outcome, 3), who)
            scores = bradley_terry(table_of(units, 3))
            covariance = score_covariance(units, scores, errors=errors)  # type: ignore[arg-type]
            width = half_width(np.diag(covariance), 12 if errors == "robust" else None)
            found.append(np.abs(scores - truth) <= width)
        return float(np.mean(found))

    first, second, outcome, _ = draws(999, 100_000, 3000, 1.0)
    truth = bradley_terry(table_of(unit_wins(first, second, outcome, 3), 3))
    # a hundred times three that depend on each other: a standard error of .022 at most, four of them below .95
    assert hits("robust") > 0.86
    assert hits("fisher") < 0.82


def test_a_single_unit_has_no_robust_error() -> None:
    units = unit_wins(np.array([0, 1]), np.array([1, 0]), np.array([1.0, 1.0]), 2)
    with pytest.raises(ValueError, match="at least two"):
        score_covariance(joined_units(units, ["x", "x"]), [0.0, 0.0])


# --- ties ---------------------------------------------------------------------------------------------------------


def test_ties_are_halved_drawn_or_dropped() -> None:
    outcome = np.array([1.0, 0.5, 0.0] * 400)
    half, all_count = settle_ties(outcome, "half")
    assert (half == outcome).all() and all_count.all()
    drawn, all_count = settle_ties(outcome, "random", seed=1)
    assert set(drawn.tolist()) == {0.0, 1.0} and all_count.all()
    assert (drawn[outcome != 0.5] == outcome[outcome != 0.5]).all()
    assert abs(drawn[outcome == 0.5].mean() - 0.5) < 0.1  # four standard errors of 400 coins
    assert (settle_ties(outcome, "random", seed=1)[0] == drawn).all()
    _, counted = settle_ties(outcome, "drop")
    assert (counted == (outcome != 0.5)).all()
    with pytest.raises(ValueError, match="ties must be one of half, random, drop, got 'A'"):
        settle_ties(outcome, "A")  # type: ignore[arg-type]
