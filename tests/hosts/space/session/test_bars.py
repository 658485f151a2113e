"""Bars of results and comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compare, compute_mauve
from mauve_metric.hosts.space.session.bars import bar_words, bars, comparison_bars


def rows(seed: int, shift: float = 0.0, n: int = 120) -> np.ndarray:
    return np.random.default_rng(seed).normal(shift, size=(n, 3))


@pytest.fixture(scope="module")
def result() -> MauveResult:
    return compute_mauve(p_features=rows(0), q_features=rows(1, 4.0), num_buckets=4, verbose=False)


def test_each_featurizer_has_a_bar(result: MauveResult) -> None:
    both = replace(result, by_featurizer={"minilm": result, "ngrams": result})
    assert [bar.label for bar in bars(both)] == [
        "this model, seen by minilm (what texts are about)",
        "this model, seen by ngrams (grammar, spelling and layout)",
    ]
    assert [bar.label for bar in bars(result)] == ["this model"]
    assert [mark.value for mark in bars(result)[0].marks] == [result.mauve_debiased, result.mauve_classifier]


def test_a_comparison_has_a_bar_a_model() -> None:
    models = {"far": rows(1, 4.0), "near": rows(2, 0.5)}
    found = compare(p_features=rows(0), models=models, num_buckets=4)
    shown = comparison_bars(found)
    assert [bar.label for bar in shown] == ["near", "far"]
    assert [bar.marks[0].value for bar in shown] == [found.models[name].mauve_debiased for name in ("near", "far")]
    assert bar_words(shown).startswith("From 0, nothing in common, to 1, other people's texts. near: content ")
