"""Scores of two halves of the human texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric import HumanBaseline, compute_mauve, human_baseline
from mauve_metric.hosts.cli.main import main
from mauve_metric.measures.frontier import mauve_floor

pytestmark = pytest.mark.more


def human(n: int = 160) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, 6))


@pytest.fixture(scope="module", autouse=True)
def short_forecasts() -> None:
    """Forecasts with all of their draws."""


@pytest.fixture(scope="module")
def found() -> HumanBaseline:
    return human_baseline(p_features=human(), splits=4, seed=3)


@pytest.mark.slow
def test_the_halves_score_as_compute_mauve_does(found: HumanBaseline) -> None:
    rng, rows, scores = np.random.default_rng(3), human(), []
    for _ in range(4):
        order = rng.permutation(160)
        result = compute_mauve(rows[order[:80]], rows[order[80:]], seed=3, num_runs=1, knn=False)
        scores.append((result.mauve, result.mauve_debiased))
    mauve, debiased = np.array(scores).T
    halves = found.halves
    assert (halves.texts, halves.num_buckets, halves.pairs, halves.source) == (80, 8, 4, "split")
    assert halves.mauve.mean == pytest.approx(mauve.mean()) and halves.mauve.std == pytest.approx(mauve.std(ddof=1))
    assert halves.mauve.low == pytest.approx(np.quantile(mauve, 0.05))
    assert halves.mauve_debiased.mean == pytest.approx(debiased.mean())


def test_sizes_floor_and_forecasts(found: HumanBaseline) -> None:
    assert [(item.texts, item.source) for item in found.sizes] == [
        (20, "split"),
        (40, "split"),
        (80, "split"),
        (160, "forecast"),
    ]
    assert found.floor == mauve_floor(5.0)
    assert 0.9 < found.sizes[-1].mauve.mean < 1
    needed = {item.difference: item for item in found.needed}
    for key in ("from_human", "between"):
        numbers = [getattr(needed[difference], key) for difference in (0.01, 0.02, 0.05)]
        assert numbers == sorted(numbers, reverse=True) and numbers[-1] > 100


@pytest.mark.slow
@pytest.mark.parametrize(("k", "parts"), [(2, [20, 40, 80]), (60, [40, 80])])
def test_any_number_of_buckets_has_its_sizes_and_its_models(k: int, parts: list[int]) -> None:
    """A part too small for k is left out; forecasts rise on two buckets too, where models hardly depart by chance."""
    found = human_baseline(p_features=human(), splits=2, num_buckets=k)
    assert [item.texts for item in found.sizes] == [*parts, 160]
    for key in ("from_human", "between"):
        first, second, third = (getattr(item, key) for item in found.needed)
        assert first > 1.3 * second > 1.5 * third


@pytest.mark.slow
def test_a_forecast_is_what_equal_sets_of_that_size_score() -> None:
    """Sets drawn from the same population, which human_baseline never saw, on the same number of buckets."""
    rng = np.random.default_rng(5)
    scores = [compute_mauve(*rng.normal(size=(2, 160, 6)), knn=False, num_runs=1).mauve for _ in range(20)]
    forecast = human_baseline(p_features=human(), splits=2).sizes[-1].mauve
    error = np.hypot(forecast.std, np.std(scores)) / np.sqrt(20)
    assert abs(forecast.mean - np.mean(scores)) < 4 * error + 0.01  # .01: of one histogram in place of the population


def test_every_form(found: HumanBaseline) -> None:
    held = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert held["texts"] == 160 and len(held["sizes"]) == 4 and len(held["needed"]) == 3
    assert "Two halves of your own human texts, 80 each on 8 buckets, score" in str(found)
    assert found.to_csv().count("\n") == 5 and found.to_csv("needed").count("\n") == 4
    assert "| 0.01 |" in found.to_markdown() and found.to_latex().count("tabular") == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p_features": human(39)}, "at least 40 texts, for two halves of 20, got 39"),
        ({"p_features": human(), "splits": 1}, "splits must be an integer from 2 to 10000, got 1"),
        ({}, "must be given"),
        ({"p_features": human(40), "p_groups": [0] * 30 + [1] * 5 + [2] * 5}, "must have at least 2 prompts .*, got 1"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        human_baseline(**options)


@pytest.mark.slow
def test_halves_of_texts_that_share_prompts_share_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten answers to each of forty prompts, far apart: halves of other prompts are other texts, and score less."""
    rng, prompts = np.random.default_rng(0), np.repeat(np.arange(40), 10)
    rows = 3 * rng.normal(size=(40, 6))[prompts] + rng.normal(size=(400, 6))
    mixed = human_baseline(p_features=rows, splits=2)
    apart = human_baseline(p_features=rows, p_groups=prompts.tolist(), splits=2)
    assert (mixed.prompts, apart.prompts, apart.needed) == (None, 40, ())
    assert all(sets.source == "split" for sets in apart.sizes) and apart.halves.texts == 200
    assert apart.halves.mauve.mean < mixed.halves.mauve.mean - 0.3
    assert "share none of the 40 prompts" in str(apart) and "no model can be expected" not in str(apart)
    with (tmp_path / "human.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"text": f"{p} {n} words of a story", "topic": f"t{p}"}) + "\n" for n, p in enumerate(prompts)
        )
    options = ["--featurizer", "ngrams", "--prompt-field", "topic", "--splits", "2", "--no-cache"]
    assert main(["baseline", str(tmp_path / "human.jsonl"), *options]) == 0
    assert "share none of the 40 prompts" in capsys.readouterr().out
