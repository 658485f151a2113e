"""The first sentence of a result follows from what each featurizer finds, and says why there is no verdict."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import Comparison, MauveResult, compare, compute_mauve
from mauve_metric.results.comparison import Difference
from mauve_metric.results.wording.answer import (
    answer,
    bar_words,
    bars,
    comparison_answer,
    comparison_bars,
    featurizers_table,
    joint_comparison,
    joint_verdict,
    pairs_of,
)
from mauve_metric.results.wording.verdict import finding, verdict
from mauve_metric.uncertainty import blind_spots
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
    assert answer(warned(close, "constant_features")).startswith("No verdict: all features")
    assert answer(score(4.0, n=12)).startswith("Cannot tell reliably: 12 texts a set are too few")
    few = {"n_p": 99}
    assert answer(replace(apart, **few)).startswith(
        "Cannot tell reliably: 99 texts a set are too few; give at least 100."
    )
    assert answer(replace(apart, **few)).endswith("So far the two sets look different.")
    assert answer(replace(close, **few)).endswith("give at least 100.")
    assert "Besides, all features" in answer(replace(warned(close, "constant_features"), **few))
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
    lifted = warned(close, "constant_features")
    none = answer(replace(close, by_featurizer={"minilm": lifted, "ngrams": apart}))
    assert "minilm there is no verdict, since all features" in none
    alike = replace(apart, by_featurizer={"minilm": apart, "ngrams": apart})
    assert answer(alike) == answer(apart)


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


CHANCE_OF_TWO = "Between equal sets, one of 2 featurizers shows a difference in up to 10.0 % of all cases."
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


@pytest.fixture(scope="module")
def base() -> Comparison:
    rng = np.random.default_rng(0)
    human, *models = (rng.normal(size=(20, 3)) for _ in range(4))
    return compare(p_features=human, models=dict(zip("abc", models, strict=True)), num_runs=1, num_buckets=2)


def of(base: Comparison, said: str, measured: str | None = None) -> Comparison:
    """One that says "a>b a=c": b is behind a and told apart from it, c is not; by a featurizer that was measured."""
    pairs = []
    for pair in said.split():
        a, b = re.split("[=>]", pair)
        pairs.append(Difference(a, b, 0.2, (0.1, 0.3), 0.01, ">" in pair, 0.05))
    found = replace(base, differences=tuple(pairs))
    if measured is None:
        return found
    identity = next(run["encoder"] for run in blind_spots.measured() if run["featurizer"] == measured)
    results = {
        name: replace(one, signature_entries={**one.signature_entries, **identity})
        for name, one in found.models.items()
    }
    return replace(found, models=results)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (
            "a>b a=c b>c",
            "a=c a>b b>c",
            "Both featurizers agree on every pair: they put a ahead of b, b ahead of c; they do not tell apart a and "
            "c.",
        ),
        ("a=b", "b=a", "Both featurizers agree: they do not tell apart a and b."),
        (
            "a>b a>c b=c",
            "c>b b=a c=a",
            "The featurizers do not agree: X puts a ahead of b, a ahead of c, which Y does not tell apart; Y puts c "
            f"ahead of b, which X does not tell apart. {CHANCE_OF_TWO}",
        ),
        (
            "a>b a>c b=c",
            "b>a a>c b=c",
            "Both featurizers agree on 2 of 3 pairs: they put a ahead of c; they do not tell apart b and c. They do "
            "not agree on the other: X puts a ahead of b and Y puts b ahead of a, which contradict each other. "
            f"{CHANCE_OF_TWO}",
        ),
        (
            "a=b",
            "b>a",
            f"The featurizers do not agree: Y puts b ahead of a, which X does not tell apart. {CHANCE_OF_TWO}",
        ),
    ],
)  # fmt: skip
def test_the_words_on_pairs(base: Comparison, x: str, y: str, words: str) -> None:
    assert joint_comparison({"X": of(base, x), "Y": of(base, y)}) == words


def test_three_featurizers_on_pairs(base: Comparison) -> None:
    said = joint_comparison({name: of(base, pair) for name, pair in (("X", "a>b"), ("Y", "a>b"), ("Z", "b=a"))})
    assert said.startswith("The featurizers do not agree: X and Y put a ahead of b, which Z does not tell apart. ")
    assert "one of 3 featurizers" in said
    alike = joint_comparison({name: of(base, "a=b") for name in "XYZ"})
    assert alike == "All 3 featurizers agree: they do not tell apart a and b."


def test_a_pair_is_one_however_it_is_ranked(base: Comparison) -> None:
    assert pairs_of({"X": of(base, "a>b"), "Y": of(base, "b>a")}) == {("a", "b"): {"X": "a", "Y": "b"}}


def test_blind_spots_of_those_that_see_less_are_named(base: Comparison) -> None:
    blind = of(base, "a=b", "minilm")
    said = joint_comparison({"minilm": blind, "other": of(base, "a>b")})
    assert "minilm was measured not to see: " in said and "other was measured" not in said
    assert "was measured" not in joint_comparison({"minilm": of(base, "a>b", "minilm"), "other": of(base, "a=b")})


def test_where_all_agree_what_none_of_them_sees_is_named(base: Comparison) -> None:
    both = {"minilm": of(base, "a>b", "minilm"), "ngrams": of(base, "a>b", "ngrams")}
    said = joint_comparison(both)
    assert "Errors that both were measured not to see: " in said and "sentences" in said
    assert "missing capitals" not in said  # which one of them sees
    assert "measured" not in joint_comparison({**both, "unknown": of(base, "a>b")})


def test_one_model_and_one_featurizer(base: Comparison) -> None:
    assert joint_comparison({}) == joint_comparison({"X": base}) == ""
    alone = replace(base, models={"a": base.models["a"]}, differences=())
    assert joint_comparison({"X": alone, "Y": alone}) == joint_verdict(dict.fromkeys("XY", base.models["a"])) != ""
