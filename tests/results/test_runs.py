"""Means of several runs of one model, against the formula and on data whose runs differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from mauve_metric import compare
from mauve_metric.results.runs import names_of_runs, summarize_runs


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
    with pytest.raises(ValueError, match="two runs or more, got 1"):
        compared.with_runs({"m": ["m0"]})


def test_runs_without_an_interval_have_a_mean_without_one() -> None:
    rng = np.random.default_rng(0)
    models = {name: rng.normal(size=(60, 3)) for name in "ab"}
    results = compare(models=models, p_features=rng.normal(size=(60, 3))).models
    without = {name: replace(result, closeness_ci=None) for name, result in results.items()}
    assert summarize_runs(without, 0.95).ci is None and summarize_runs(without, 0.95).closeness is not None


def test_names_that_occur_once_stay() -> None:
    assert names_of_runs(["a", "b"]) == (["a", "b"], {})
