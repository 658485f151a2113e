"""The joint verdict follows from what each featurizer finds, and names who sees what others do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.results.wording.joint_verdict import featurizers_table, joint_verdict
from mauve_metric.results.wording.verdict import finding, verdict
from mauve_metric.uncertainty import blind_spots

CHANCE = "Between equal sets, one of 3 featurizers shows a difference in up to 15.0 % of all cases."


@pytest.fixture(scope="module")
def each() -> dict[str, MauveResult]:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(40, 4)), rng.normal(0.2, 1, size=(40, 4))
    result = compute_mauve(p_features=p, q_features=q, num_runs=1, num_buckets=4)
    result = replace(result, auc=None, auc_p_value=None, mauve_classifier=None, mauve_classifier_ci=None, warnings=())
    intervals = {"shown": (0.1, 0.3), "unseen": (0.95, 1.0), "undecided": (0.4, 1.0)}
    return {said: replace(result, mauve=0.2, mauve_ceiling=0.9, mauve_ci=ci) for said, ci in intervals.items()}


def test_a_finding_is_the_verdict_in_a_word(each: dict[str, MauveResult]) -> None:
    starts = {"shown": "The two sets differ", "unseen": "These texts do not", "undecided": "These texts do not"}
    for said, result in each.items():
        assert finding(result) == said.replace("unseen", "not shown") and verdict(result).startswith(starts[said])
    alone = replace(each["unseen"], mauve_ci=None)
    assert finding(alone) == "undecided" and verdict(alone).startswith("There are too few")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("shown shown shown", "All 3 featurizers show a difference between the two sets."),
        ("unseen unseen unseen", "No featurizer shows a difference: with A, B and C these texts do not show one."),
        (
            "unseen undecided unseen",
            "No featurizer shows a difference: with A and C these texts do not show one; with B there are too few "
            "texts to tell.",
        ),
        (
            "undecided undecided undecided",
            "No featurizer shows a difference: with A, B and C there are too few texts to tell.",
        ),
        (
            "unseen shown undecided",
            "The featurizers do not agree on a difference: B shows one that A does not show; with C there are too few "
            f"texts to tell. {CHANCE}",
        ),
        (
            "shown unseen unseen",
            f"The featurizers do not agree on a difference: A shows one that B and C do not show. {CHANCE}",
        ),
        (
            "shown shown unseen",
            f"The featurizers do not agree on a difference: A and B show one that C does not show. {CHANCE}",
        ),
    ],
)  # fmt: skip
def test_the_words(each: dict[str, MauveResult], said: str, words: str) -> None:
    assert joint_verdict(dict(zip("ABC", (each[word] for word in said.split()), strict=True))) == words


def test_one_featurizer_has_no_joint_verdict(each: dict[str, MauveResult]) -> None:
    assert joint_verdict({}) == joint_verdict({"A": each["shown"]}) == ""


def test_blind_spots_of_those_that_see_nothing_are_named(each: dict[str, MauveResult]) -> None:
    measured = next(run["encoder"] for run in blind_spots.measured() if run["featurizer"] == "minilm")
    entries = {**each["unseen"].signature_entries, **measured}
    minilm = replace(each["unseen"], signature_entries=entries)
    words = joint_verdict({"minilm": minilm, "other": each["shown"]})
    assert "minilm was measured not to see: " in words and "words shuffled" in words
    seen = joint_verdict({"minilm": replace(each["shown"], signature_entries=entries), "other": each["unseen"]})
    assert "was measured" not in seen


def test_a_row_holds_what_its_featurizer_found(each: dict[str, MauveResult]) -> None:
    rows = featurizers_table(each).rows
    assert [row["featurizer"] for row in rows] == [*each]
    assert [row["finding"] for row in rows] == ["shown", "not shown", "undecided"]
    assert [(row["low"], row["high"]) for row in rows] == [result.mauve_ci for result in each.values()]
    assert "p_value" not in [column.key for column in featurizers_table(each).columns]
    tested = {name: replace(result, p_value=0.5) for name, result in each.items()}
    assert "p_value" in [column.key for column in featurizers_table(tested).columns]
