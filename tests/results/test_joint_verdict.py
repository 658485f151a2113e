"""The joint verdict follows from what each featurizer finds, and names who sees what others do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.results.joint_verdict import featurizer_columns, featurizer_rows, joint_verdict
from mauve_metric.results.verdict import finding, verdict
from mauve_metric.uncertainty import blind_spots

CHANCE = "Where there is none, one of 3 featurizers sees a difference in up to 15.0 % of all cases."


@pytest.fixture(scope="module")
def each() -> dict[str, MauveResult]:
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(40, 4)), rng.normal(0.2, 1, size=(40, 4))
    result = compute_mauve(p_features=p, q_features=q, num_runs=1, num_buckets=4)
    intervals = {"apart": (0.1, 0.3), "alike": (0.95, 1.0), "undecided": (0.4, 1.0)}
    return {said: replace(result, mauve=0.2, mauve_ceiling=0.9, mauve_ci=ci) for said, ci in intervals.items()}


def test_a_finding_is_the_verdict_in_a_word(each: dict[str, MauveResult]) -> None:
    starts = {"apart": "The two sets differ", "alike": "As far as", "undecided": "There are not enough"}
    for said, result in each.items():
        assert finding(result) == said and verdict(result).startswith(starts[said])
    alone = replace(each["alike"], mauve_ci=None)
    assert finding(alone) == "undecided" and verdict(alone).startswith("There are too few")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("apart apart apart", "All 3 featurizers see a difference between the two sets."),
        ("alike alike alike", "As far as these texts can tell, the two sets are alike to all 3 featurizers."),
        (
            "alike undecided alike",
            "No featurizer sees a difference: to A and C the two sets are alike; with B there are too few texts to "
            "tell.",
        ),
        (
            "undecided undecided undecided",
            "No featurizer sees a difference: with A, B and C there are too few texts to tell.",
        ),
        (
            "alike apart undecided",
            "The featurizers do not agree on a difference: B sees one that A does not see; with C there are too few "
            f"texts to tell. {CHANCE}",
        ),
        (
            "apart alike alike",
            f"The featurizers do not agree on a difference: A sees one that B and C do not see. {CHANCE}",
        ),
        (
            "apart apart alike",
            f"The featurizers do not agree on a difference: A and B see one that C does not see. {CHANCE}",
        ),
    ],
)  # fmt: skip
def test_the_words(each: dict[str, MauveResult], said: str, words: str) -> None:
    assert joint_verdict(dict(zip("ABC", (each[word] for word in said.split()), strict=True))) == words


def test_one_featurizer_has_no_joint_verdict(each: dict[str, MauveResult]) -> None:
    assert joint_verdict({}) == joint_verdict({"A": each["apart"]}) == ""


def test_blind_spots_of_those_that_see_nothing_are_named(each: dict[str, MauveResult]) -> None:
    measured = next(run["encoder"] for run in blind_spots.measured() if run["featurizer"] == "minilm")
    entries = {**each["alike"].signature_entries, **measured}
    minilm = replace(each["alike"], signature_entries=entries)
    words = joint_verdict({"minilm": minilm, "other": each["apart"]})
    assert "minilm was measured not to see: " in words and "wrong numbers" in words
    seen = joint_verdict({"minilm": replace(each["apart"], signature_entries=entries), "other": each["alike"]})
    assert "was measured" not in seen


def test_a_row_holds_what_its_featurizer_found(each: dict[str, MauveResult]) -> None:
    rows = featurizer_rows(each)
    assert [row["featurizer"] for row in rows] == [row["finding"] for row in rows] == [*each]
    assert [(row["low"], row["high"]) for row in rows] == [result.mauve_ci for result in each.values()]
    assert "p_value" not in [column.key for column in featurizer_columns(each)]
    tested = {name: replace(result, p_value=0.5) for name, result in each.items()}
    assert "p_value" in [column.key for column in featurizer_columns(tested)]
