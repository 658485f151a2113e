"""The first sentence of a result: what the features can tell, and why there is no verdict."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compare, compute_mauve
from mauve_metric.results.wording.answer import (
    answer,
    bar_words,
    bars,
    comparison_answer,
    comparison_bars,
    reasons_why,
    reliable,
)
from mauve_metric.uncertainty.score_warnings import ScoreWarning


def rows(seed: int, shift: float = 0.0, n: int = 120) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, size=(n, 3))


def score(shift: float, n: int = 120) -> MauveResult:
    return compute_mauve(p_features=rows(0, 0.0, n), q_features=rows(1, shift, n), num_buckets=4, verbose=False)


@pytest.fixture(scope="module")
def apart() -> MauveResult:
    return score(4.0)


@pytest.fixture(scope="module")
def close() -> MauveResult:
    return replace(score(0.0), mauve_debiased=1.0, mauve_ci=(0.95, 1.0), mauve_classifier_ci=(0.95, 1.0), auc_p_value=1)


def warned(result: MauveResult, code: str) -> MauveResult:
    return replace(result, warnings=(ScoreWarning(code, "m", {}),))


def test_the_answer_is_what_was_found_and_without_a_verdict_the_reason(apart: MauveResult, close: MauveResult) -> None:
    assert answer(apart) == "These features can tell this model's texts from people's."
    assert answer(close) == "These features cannot tell this model's texts from people's."
    wide = replace(close, mauve_ci=(0.3, 1.0))
    assert re.match(r"These features cannot reliably tell .*: 120 texts are too few", answer(wide))
    assert answer(warned(close, "above_ceiling")).startswith("No verdict: the score is above")
    assert answer(score(4.0, n=12)).startswith("Cannot tell reliably: 12 texts a set are too few")
    few = {"n_p": 99}
    assert answer(replace(apart, **few)).startswith(
        "Cannot tell reliably: 99 texts a set are too few; give at least 100."
    )
    assert answer(replace(apart, **few)).endswith("So far the two sets look different.")
    assert answer(replace(close, **few)).endswith("give at least 100.")
    assert "Besides, the score is above" in answer(replace(warned(close, "above_ceiling"), **few))
    doubtful = replace(apart, **few), replace(apart, mauve_ci=None), warned(apart, "shared_prompts")
    assert reliable(apart) and not any(map(reliable, doubtful))
    shared = answer(warned(apart, "shared_prompts"))
    assert shared.startswith("Do not trust the score: the two sets share prompts")
    assert shared.endswith("Even so, these features can tell this model's texts from people's.")


def test_featurizers_that_disagree_are_the_headline(apart: MauveResult, close: MauveResult) -> None:
    both = replace(close, by_featurizer={"minilm": close, "ngrams": apart})
    said = "The featurizers disagree: ngrams can tell this model's texts from people's; minilm cannot."
    assert answer(both) == said
    assert [bar.label for bar in bars(both)] == [
        "this model, seen by minilm (what texts are about)",
        "this model, seen by ngrams (grammar, spelling and layout)",
    ]
    lifted = warned(close, "above_ceiling")
    none = answer(replace(close, by_featurizer={"minilm": lifted, "ngrams": apart}))
    assert "minilm there is no verdict, since the score is above" in none
    alike = replace(apart, by_featurizer={"minilm": apart, "ngrams": apart})
    assert answer(alike) == answer(apart) and reasons_why(both) == reasons_why(alike) == ""


def test_a_difference_that_only_a_test_finds_is_said_to_be_small(apart: MauveResult) -> None:
    small = "A test finds the difference; it is too small for the bars to show."
    near = replace(apart, mauve_ci=(0.93, 1.0), mauve_classifier_ci=(0.93, 0.9999), p_value=0.001)
    assert answer(near) == answer(apart) and small in reasons_why(near) and small not in reasons_why(apart)
    assert small not in reasons_why(replace(near, mauve_ci=(0.93, 0.99)))


def test_a_comparison_names_the_closest_and_has_a_bar_a_model() -> None:
    models = {"far": rows(1, 4.0), "near": rows(2, 0.5)}
    found = compare(p_features=rows(0), models=models, num_buckets=4)
    closest = "By content and by style, near is closest to people's texts."
    assert comparison_answer(found) == closest
    few = {name: replace(result, n_q=20) for name, result in found.models.items()}
    reliably = "Cannot rank reliably: 20 texts a set are too few; give at least 100."
    assert comparison_answer(replace(found, models=few)) == f"{reliably} {closest}"
    shown = comparison_bars(found)
    assert [bar.label for bar in shown] == ["near", "far"]
    assert [bar.marks[0].value for bar in shown] == [found.models[name].mauve_debiased for name in ("near", "far")]
    assert bar_words(shown).startswith("From 0, nothing in common, to 1, other people's texts. near: content ")
    (pair,) = found.differences
    other = replace(found, ranking=("far", "near"), differences=(replace(pair, a="far", b="near"),))
    disputed = comparison_answer(replace(found, by_featurizer={"minilm": found, "ngrams": other}))
    assert disputed == "The featurizers disagree: minilm finds near closest; ngrams finds far closest."
