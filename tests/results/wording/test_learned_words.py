"""The classifier in the headline and the verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.results.wording.learned_words import auc_words, classifier_p_value, learned_sentence
from mauve_metric.results.wording.verdict import finding, told_apart, verdict
from mauve_metric.uncertainty.score_warnings import ScoreWarning


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
