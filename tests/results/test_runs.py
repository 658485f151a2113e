"""Means of several runs of one model, against the formula and on data whose runs differ."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t

from mauve_metric import compare
from mauve_metric.results.runs import difference_of_runs, mean_of_runs, names_of_runs, summarize_runs
from mauve_metric.uncertainty.intervals import Estimate


@pytest.mark.more
def test_the_interval_has_the_errors_of_runs_and_of_texts() -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(size=(200, 5))
    models = {f"m{run}": rng.normal(0.5 + 0.1 * run, 1, size=(200, 5)) for run in range(3)}
    compared = compare(models=models, p_features=human).with_runs({"m": [*models]})
    results = [compared.models[name] for name in models]
    scores = np.array([result.closeness for result in results], dtype=float)
    ends = np.array([result.closeness_ci for result in results], dtype=float)
    summary = compared.runs["m"]
    assert summary.closeness == pytest.approx(scores.mean())
    assert summary.deviation == pytest.approx(scores.std(ddof=1))
    assert summary.mauve == pytest.approx(np.mean([compared.own[name].mauve for name in models]))
    between = t.ppf(0.975, 2) ** 2 * scores.var(ddof=1) / 3
    assert summary.ci is not None
    assert summary.ci[0] == pytest.approx(
        max(scores.mean() - np.sqrt(between + ((scores - ends[:, 0]) ** 2).mean()), 0)
    )
    assert f"m, 3 runs: closeness {summary.closeness:.3f}" in str(compared)
    assert compared.to_dict()["runs"]["m"]["runs"] == [*models]
    assert "if these did not average out" in compared.to_markdown()
    with pytest.raises(ValueError, match="runs must name models of the comparison, 'm0', 'm1', 'm2', got 'x'"):
        compared.with_runs({"m": ["m0", "x"]})
    with pytest.raises(ValueError, match="runs must name each run once, got 'm0' twice"):
        compared.with_runs({"m": ["m0", "m1"], "n": ["m0", "m2"]})
    with pytest.raises(ValueError, match=r"runs\['m'\] must name two runs or more, got 1"):
        compared.with_runs({"m": ["m0"]})
    for wrong in ({"m": "m0"}, ["m0", "m1"], {"m": None}):  # a text is no list of its letters
        with pytest.raises(TypeError, match="runs must be a dict from names of models to lists of names, got "):
            compared.with_runs(wrong)  # type: ignore[arg-type]


def test_runs_without_an_interval_have_a_mean_without_one() -> None:
    rng = np.random.default_rng(0)
    models = {name: rng.normal(size=(60, 3)) for name in "ab"}
    results = compare(models=models, p_features=rng.normal(size=(60, 3))).models
    without = {name: replace(result, closeness_ci=None) for name, result in results.items()}
    summary = summarize_runs(without, dict.fromkeys(models, 0.5), 0.95)
    assert summary.ci is None and summary.closeness is not None and summary.mauve == 0.5


def test_names_that_occur_once_stay() -> None:
    assert names_of_runs(["a", "b"]) == (["a", "b"], {})


def pairs_of(scores: dict[str, float], error: float) -> dict[tuple[str, str], Estimate]:
    """The differences of every two runs, whose own error is that of two samples of model texts."""
    width = t.ppf(0.975, np.inf) * error
    return {
        (a, b): Estimate(scores[a] - scores[b], error, (scores[a] - scores[b] - width, scores[a] - scores[b] + width))
        for a, b in combinations(scores, 2)
    }


def test_a_difference_of_means_has_the_spread_of_runs_and_the_error_within() -> None:
    scores = {"a1": 0.5, "a2": 0.6, "a3": 0.7, "b1": 0.3, "b2": 0.5}
    found = difference_of_runs(pairs_of(scores, 0.05), ["a1", "a2", "a3"], ["b1", "b2"], 0.95)
    # human texts of no weight: a pair of runs varies by 2 e² everywhere, the difference of means by e²/3 + e²/2
    within = 0.05**2 / 2 * (1 / 3 + 1 / 2)
    between = (0.01 / 3, 0.02 / 2)
    half = np.sqrt(
        t.ppf(0.975, 2) ** 2 * between[0] + t.ppf(0.975, 1) ** 2 * between[1] + t.ppf(0.975, np.inf) ** 2 * within
    )
    freedom = (sum(between) + within) ** 2 / (between[0] ** 2 / 2 + between[1] ** 2)
    assert found.value == pytest.approx(0.2)
    assert found.stderr == pytest.approx(np.sqrt(sum(between) + within))
    assert found.ci == pytest.approx((max(0.2 - half, -1), min(0.2 + half, 1)))
    assert found.p_value == pytest.approx(2 * t.sf(t.ppf(0.975, freedom) * 0.2 / half, freedom))
    swapped = difference_of_runs(pairs_of(scores, 0.05), ["b1", "b2"], ["a1", "a2", "a3"], 0.95)
    assert swapped.value == pytest.approx(-0.2) and swapped.p_value == pytest.approx(found.p_value)


def test_shared_human_texts_stay_in_a_difference_of_means() -> None:
    scores = dict.fromkeys(("a1", "a2", "b1", "b2"), 0.5)
    pairs = pairs_of(scores, 0.05)  # the runs of one model share all errors: only those between the models are left
    pairs |= {pair: Estimate(0.0, 0.0, (0.0, 0.0)) for pair in (("a1", "a2"), ("b1", "b2"))}
    found = difference_of_runs(pairs, ["a1", "a2"], ["b1", "b2"], 0.95)
    assert found.stderr == pytest.approx(0.05) and found.p_value == 1.0


@pytest.mark.more
@pytest.mark.parametrize("runs", [2, 3, 5])
def test_intervals_of_differences_of_means_cover_the_truth(runs: int) -> None:
    """True differences of models; training moves each run by .05, texts by .04, human texts each model by .03."""
    rng, repeats = np.random.default_rng(0), 500
    names = [[f"{model}{run}" for run in range(runs)] for model in "ab"]
    covered = differs = 0
    for _ in range(repeats):
        scores = 0.5 + rng.normal(0, 0.05, (2, runs)) + rng.normal(0, 0.04, (2, runs)) + rng.normal(0, 0.03, (2, 1))
        values = dict(zip([*names[0], *names[1]], scores.ravel().tolist(), strict=True))
        pairs = pairs_of(values, np.sqrt(2 * (0.04**2 + 0.03**2)))
        same = pairs_of(values, np.sqrt(2) * 0.04)
        pairs |= {pair: same[pair] for of_model in names for pair in combinations(of_model, 2)}
        found = difference_of_runs(pairs, *names, 0.95)
        covered += found.ci[0] <= 0 <= found.ci[1]
        differs += found.p_value < 0.05
    # .95 with four standard errors of 500 draws below
    assert covered / repeats >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / repeats)
    assert differs == repeats - covered


def test_the_mean_of_one_run_is_that_run() -> None:
    estimate = Estimate(0.5, 0.1, (0.3, 0.7))
    assert mean_of_runs([estimate], 0.95) is estimate
    mean = mean_of_runs([estimate, estimate], 0.95)  # no deviation: the runs' own error is left
    assert mean.ci == pytest.approx(estimate.ci) and mean.freedom == np.inf


@pytest.mark.slow
def test_models_with_runs_are_ranked_by_their_means() -> None:
    rng = np.random.default_rng(0)
    shifts = {"far1": 2.0, "far2": 2.1, "near1": 0.4, "near2": 0.5, "alone": 1.0}
    models = {name: rng.normal(shift, 1, size=(200, 5)) for name, shift in shifts.items()}
    compared = compare(models=models, p_features=rng.normal(size=(200, 5)))
    averaged = compared.with_runs({"far": ["far1", "far2"], "near": ["near1", "near2"]})
    assert averaged.runs_ranking == ("near", "far")
    (pair,) = averaged.runs_differences
    assert (pair.a, pair.b) == ("near", "far")
    means = [np.mean([compared.models[f"{name}{run}"].closeness for run in (1, 2)]) for name in ("near", "far")]
    assert pair.difference == pytest.approx(means[0] - means[1])
    assert pair.ci is not None and pair.ci[0] < pair.difference < pair.ci[1] and pair.p_value is not None
    assert "By the mean closeness over runs, " in str(averaged) and "near - far +" in str(averaged)
    assert "Differences of means over runs" in averaged.to_markdown()
    assert averaged.to_dict()["runs_differences"][0]["a"] == "near"
    assert "near,far,+" not in averaged.to_csv("runs_differences") and "near,far" in averaged.to_csv("runs_differences")
    without = replace(
        compared, differences=tuple(replace(pair, ci=None, p_value=None) for pair in compared.differences)
    )
    (pair,) = without.with_runs({"far": ["far1", "far2"], "near": ["near1", "near2"]}).runs_differences
    assert pair.difference == pytest.approx(means[0] - means[1]) and pair.ci is None and pair.p_value is None
