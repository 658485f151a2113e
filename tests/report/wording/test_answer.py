"""Bars of results and comparisons, and the table of several featurizers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compare, compute_mauve
from mauve_metric.report.wording.answer import bar_words, bars, comparison_bars, featurizers_table


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


def test_a_row_holds_the_scores_of_its_featurizer(result: MauveResult) -> None:
    each = {"first": result, "second": replace(result, p_value=0.5)}
    table = featurizers_table(each)
    assert [row["featurizer"] for row in table.rows] == [*each]
    assert [(row["closeness"], row["low"], row["high"]) for row in table.rows] == [
        (one.closeness, *(one.closeness_ci or ())) for one in each.values()
    ]
    assert "p_value" in [column.key for column in table.columns]
    assert "p_value" not in [column.key for column in featurizers_table({"first": result}).columns]
