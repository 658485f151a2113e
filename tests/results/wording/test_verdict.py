"""Verdict, p-value, interval, headline and classifier never contradict each other."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.results.plain_text import rounded_up
from mauve_metric.results.wording.verdict import (
    FEWEST_TEXTS,
    LIFTED,
    WITHHELD,
    auc_words,
    chance_words,
    classifier_p_value,
    finding,
    learned_sentence,
    permutations,
    smallest_shown,
    texts_needed,
    told_apart,
    verdict,
    withheld,
)
from mauve_metric.results.wording.words import headline
from mauve_metric.uncertainty import forecast
from mauve_metric.uncertainty.score_warnings import ScoreWarning
from mauve_metric.uncertainty.warning_guide import ADVICE

APART = "The two sets differ by more than chance"
UNSEEN = "These texts do not show a difference between the two sets"
NONE = "No verdict: "
FEW = "There are too few texts to say whether the two sets differ"


def normal(n: int, seed: int, shift: float = 0.0) -> np.ndarray:
    return shift + np.random.default_rng(seed).normal(size=(n, 4))


@pytest.fixture(scope="module")
def result() -> MauveResult:
    return compute_mauve(p_features=normal(60, 0), q_features=normal(60, 1, 0.3), num_runs=1, num_buckets=6)


def check(result: MauveResult) -> str:
    """The verdict, after all that is said of a result was held against the rest."""
    words, first = verdict(result), headline(result)
    said = [start for start in (APART, UNSEEN, NONE, FEW) if words.startswith(start)]
    assert len(said) == 1 and words.endswith(".") and "  " not in words
    tested = result.p_value is not None
    if said == [NONE]:
        assert finding(result) == "withheld" and withheld(result) in words
        return words
    assert chance_words(result) in words and (" permutation" in words) == tested
    assert said == [FEW] or "on the features given" in words
    assert ("in 8 of 10 cases" in words) == (said == [UNSEEN])
    if result.mauve_ci is None:
        assert "(" not in first.reading and f"{result.mauve:.4f}" == first.number and (tested or said == [FEW])
        return words
    low, high = re.findall(r"[<>]?([01]\.\d+)", first.reading)[:2]
    number = float(first.number.strip("<>"))  # a number just off an end of its range is shown as ">0.999"
    assert float(low) - 1e-3 <= number <= float(high) and "as in the literature" in first.beside
    assert (float(high) == 1) == (result.mauve_ci[1] == 1)  # what is printed as 1 is 1
    decisive = result.p_value is not None and permutations(result) >= 19
    if decisive:
        assert (said == [APART]) == (result.p_value <= 0.05)
        assert ("do not tell by how much" in words) == (said == [APART] and not below(result))
    else:
        assert (said == [APART]) == below(result)
    assert ("The interval ends below 1, but" in words) == (said != [APART] and result.mauve_ci[1] < 1)
    assert (finding(result) == "not shown") == (said == [UNSEEN] and result.mauve_ci[0] >= 0.9 and float(high) == 1)
    return words


def below(result: MauveResult) -> bool:
    assert result.mauve_ci is not None
    return result.mauve_ci[1] < 1 and result.mauve < result.mauve_ceiling - 1.959964 * result.mauve_ceiling_std


INTERVALS = [
    None,
    (0.3, 0.5, 0.8),
    (0.3, 0.7, 1.0),
    (0.3, 1.0, 1.0),
    (0.95, 0.99, 0.9999954),
    (0.95, 1.0, 1.0),
    (1, 1, 1),
]
TESTS = [(0, None), (199, 0.005), (199, 0.05), (199, 0.055), (199, 1.0), (9, 0.1), (19, 0.05), (1, 0.5)]


@pytest.mark.parametrize(("ends", "test"), list(itertools.product(INTERVALS, TESTS)))
def test_words_agree_with_the_numbers(
    result: MauveResult, ends: tuple[float, float, float] | None, test: tuple[int, float | None]
) -> None:
    low, value, high = ends or (None, None, None)
    entries = {**result.signature_entries, "permutations": test[0]}
    ci = None if low is None or high is None else (float(low), float(high))
    found = replace(result, mauve_debiased=value, mauve_ci=ci, p_value=test[1], signature_entries=entries)
    found = replace(found, auc=None, auc_p_value=None, mauve_classifier=None, mauve_classifier_ci=None)
    for mauve, neighbours in itertools.product((0.5, 0.97), (True, False)):
        shown = check(replace(found, mauve=mauve, **({} if neighbours else {"precision": None, "recall": None})))
        assert "weaker side" not in shown or ("k-NN" in shown) == neighbours


REAL = {
    "copies": (normal(60, 0), normal(60, 0), None),
    "equal sets": (normal(300, 0), normal(300, 1), None),
    "few texts": (normal(12, 0), normal(12, 1, 0.6), NONE),
    "far apart": (normal(60, 0), normal(60, 1, 5.0), APART),
    "one text": (normal(1, 0), normal(30, 1), NONE),
    "one and one": (normal(1, 0), normal(1, 1), NONE),
}


@pytest.mark.parametrize("tests", [0, 99])
@pytest.mark.parametrize("name", REAL)
def test_words_of_real_sets(name: str, tests: int) -> None:
    human, model, wanted = REAL[name]
    few = {"num_buckets": min(5, len(human)), "num_runs": 1, "kmeans_num_redo": 1}
    found = compute_mauve(p_features=human, q_features=model, permutations=tests, knn=len(human) > 60, **few)
    words = check(found)
    assert wanted is None or tests or words.startswith(wanted)
    if name == "copies":
        assert words.startswith((UNSEEN, NONE)) and headline(found).number == "1.000"


def test_forecast_of_one_result_comes_true() -> None:
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(20))
    q = forecast.at_score(p, rng.dirichlet(np.ones(20)), 0.95)
    needed = forecast.texts_to_tell(p * 1e6, q * 1e6, 0.95, 100)
    assert needed is not None
    told = []
    for _ in range(200):
        drawn = forecast.jackknife.debiased_frontier(rng.multinomial(needed, p), rng.multinomial(needed, q))
        told.append(forecast.intervals.estimate_scores(drawn)[0].ci[1] < 1)
    # 0.8 was asked for. The forecast looks at 24 draws a size, which have an error of .08, the share of 200 one of .03:
    # four of both together leave room for .46 to 1; a size that is off by a factor of two would be outside.
    assert 0.46 < np.mean(told) < 1
    assert forecast.texts_to_tell(p * 1e6, q * 1e6, 0.99, 100) > 2 * needed
    assert forecast.texts_to_tell(p * 1e6, q * 1e6, 1.0, 100) is None


def test_a_forecast_is_given_only_of_more_texts(result: MauveResult) -> None:
    looks_near = replace(result, mauve_debiased=0.97, mauve_ci=(0.7, 1.0))
    assert f"takes about {rounded_up(texts_needed(looks_near) or 0)} texts a set" in verdict(looks_near)
    looks_far = replace(result, mauve_debiased=0.05, mauve_ci=(0.01, 1.0))
    assert texts_needed(replace(result, mauve_debiased=1.0)) is None
    needed = texts_needed(looks_far)
    assert needed is None or needed > 60


@pytest.mark.parametrize("ends", [(0.3, 0.5, 0.8), (0.95, 1.0, 1.0)])
@pytest.mark.parametrize("code", [*WITHHELD, *LIFTED])
def test_a_warning_that_contradicts_the_number_withholds_the_verdict(
    result: MauveResult, code: str, ends: tuple[float, float, float]
) -> None:
    low, value, high = ends
    warned = (ScoreWarning(code, "message", {}),)
    found = replace(result, mauve=0.5, mauve_debiased=value, mauve_ci=(low, high), warnings=warned)
    kept = code in LIFTED and high < 1  # what lifts a score does not make two sets differ
    assert (verdict(found).startswith(APART), finding(found) == "shown") == (kept, kept)
    assert kept or (verdict(found) == f"No verdict: {(WITHHELD | LIFTED)[code]}." and "8 of 10" not in verdict(found))


def test_every_code_that_withholds_a_verdict_is_one_of_a_warning() -> None:
    assert {*WITHHELD, *LIFTED} <= {*ADVICE}


def test_few_texts_have_no_verdict() -> None:
    few = compute_mauve(p_features=normal(FEWEST_TEXTS - 1, 0), q_features=normal(60, 1, 5.0), num_buckets=2)
    assert verdict(few).startswith("No verdict: 19 texts are too few")


def test_the_smallest_difference_that_would_have_shown_shows_in_eight_of_ten_cases() -> None:
    rng, n = np.random.default_rng(0), 300
    p = rng.dirichlet(np.full(20, 3.0))
    equal = [forecast.jackknife.debiased_frontier(rng.multinomial(n, p), rng.multinomial(n, p)) for _ in range(20)]
    errors = [forecast.intervals.estimate_scores(one)[1].stderr for one in equal]
    score = forecast.score_told_from_one(float(np.median(errors)), n, n)
    q = forecast.at_score(p, rng.dirichlet(np.ones(20)), score)
    drawn = (forecast.jackknife.debiased_frontier(rng.multinomial(n, p), rng.multinomial(n, q)) for _ in range(200))
    told = np.mean([forecast.intervals.estimate_scores(one)[0].ci[1] < 1 for one in drawn])
    # the formula is of χ² statistics: .73 to .93 in simulations of 40 to 2000 texts; four standard errors are .11
    assert 0.62 < told <= 1
    far = forecast.score_told_from_one(float(np.median(errors)), n, n, level=0.999)
    assert far < score < forecast.score_told_from_one(float(np.median(errors)) / 2, 4 * n, 4 * n) < 1


def test_the_verdict_says_the_smallest_difference(result: MauveResult) -> None:
    unseen = replace(result, mauve=0.99, mauve_debiased=1.0, mauve_ci=(0.95, 1.0))
    seen = smallest_shown(unseen)
    assert seen is not None and f"; one of {seen:.2g} or more would have shown in 8 of 10 cases." in verdict(unseen)
    assert smallest_shown(replace(unseen, frontier_integral_stderr=None)) is None


def test_declared_prompts_do_not_withhold_the_verdict(result: MauveResult) -> None:
    warned = (ScoreWarning("shared_prompts", "message", {}),)
    unseen = replace(result, mauve=0.99, mauve_debiased=1.0, mauve_ci=(0.95, 1.0), warnings=warned)
    assert finding(unseen) == "withheld"
    declared = replace(unseen, design="aligned", p_prompts=60, q_prompts=60)
    assert verdict(declared).startswith(UNSEEN) and finding(declared) == finding(replace(unseen, warnings=()))


@pytest.fixture(scope="module")
def matched() -> MauveResult:
    """Sets of the same topics, which the buckets of k-means do not tell apart and a classifier does."""
    rng = np.random.default_rng(0)
    topics = np.repeat(10 * rng.normal(size=(20, 10)), 15, axis=0)
    p, q = (topics + rng.normal(size=(300, 10)) for _ in "pq")
    style = np.stack([rng.normal(size=300), rng.normal(size=300) + 2.5], axis=0)
    sides = [np.column_stack([rows, more]) for rows, more in zip((p, q), style, strict=True)]
    found = compute_mauve(p_features=sides[0], q_features=sides[1], num_runs=1)
    return replace(found, warnings=(), mauve_debiased=1.0, mauve_ci=(0.99, 1.0))


def test_a_difference_that_only_the_classifier_detects_is_reported(matched: MauveResult) -> None:
    assert matched.mauve > matched.mauve_ceiling - 3 * matched.mauve_ceiling_std
    assert finding(replace(matched, mauve_debiased=None, mauve_ci=None)) == "shown"
    assert told_apart(matched) == (False, True) and finding(matched) == "shown"
    words = verdict(matched)
    assert words.startswith("The two sets differ by more than chance")
    assert f"a classifier tells them apart ({auc_words(matched)})" in words
    assert learned_sentence(matched) in " ".join(matched.document().terminal().split())


def test_shared_prompts_do_not_withhold_what_a_classifier_sees_anyhow(matched: MauveResult) -> None:
    shared = replace(matched, warnings=(ScoreWarning("shared_prompts", "prompts", {}),))
    assert finding(shared) == "shown"
    unseen = replace(shared, auc=0.5, auc_p_value=0.5)
    assert finding(unseen) == "withheld" and verdict(unseen).startswith("No verdict")


def test_not_told_apart_takes_both(matched: MauveResult) -> None:
    alike = replace(matched, auc=0.52, auc_ci=(0.46, 0.58), auc_p_value=0.3, mauve_classifier_ci=(0.95, 1.0))
    assert finding(alike) == "not shown"
    assert "nor does a classifier (AUC 0.520 (0.46 to 0.58), p = 0.3)" in verdict(alike)
    assert finding(replace(alike, mauve_classifier_ci=(0.6, 1.0))) == "undecided"
    # an AUC below one half is no difference, whatever its p-value
    assert classifier_p_value(replace(matched, auc=0.4, auc_p_value=0.001)) == 1
    assert classifier_p_value(replace(matched, auc=None)) is None


@pytest.mark.parametrize(
    ("by_permutations", "by_classifier", "found"),
    [
        (0.005, 0.5, (True, False)),
        (0.5, 0.005, (False, True)),
        (0.03, 0.03, (False, False)),  # each below the level, none below half of it
        (0.02, 0.04, (True, True)),  # the second at the whole level, since the first is rejected
        (None, 0.03, (False, False)),
        (None, 0.02, (False, True)),
    ],
)
def test_two_tests_have_one_level(
    matched: MauveResult, by_permutations: float | None, by_classifier: float, found: tuple[bool, bool]
) -> None:
    entries = {**matched.signature_entries, "permutations": 199}
    result = replace(matched, p_value=by_permutations, auc_p_value=by_classifier, signature_entries=entries)
    assert told_apart(result) == found and (finding(result) == "shown") == any(found)
    said = "with Holm's correction for two tests" in verdict(result)
    assert said == (not any(found) and by_classifier == 0.03)
    alone = replace(result, auc=None, auc_p_value=None)
    assert told_apart(alone) == ((by_permutations or 1.0) <= 0.05, None)
