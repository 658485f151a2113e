"""The joint verdict on models depends on the pairs that each featurizer tells apart."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from mauve_metric import Comparison, compare
from mauve_metric.results.numbers import Difference
from mauve_metric.results.wording.joint_comparison import joint_comparison, pairs_of
from mauve_metric.results.wording.joint_verdict import joint_verdict
from mauve_metric.uncertainty import blind_spots

CHANCE = "Between equal sets, one of 2 featurizers shows a difference in up to 10.0 % of all cases."


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
            f"ahead of b, which X does not tell apart. {CHANCE}",
        ),
        (
            "a>b a>c b=c",
            "b>a a>c b=c",
            "Both featurizers agree on 2 of 3 pairs: they put a ahead of c; they do not tell apart b and c. They do "
            "not agree on the other: X puts a ahead of b and Y puts b ahead of a, which contradict each other. "
            f"{CHANCE}",
        ),
        (
            "a=b",
            "b>a",
            f"The featurizers do not agree: Y puts b ahead of a, which X does not tell apart. {CHANCE}",
        ),
    ],
)  # fmt: skip
def test_the_words(base: Comparison, x: str, y: str, words: str) -> None:
    assert joint_comparison({"X": of(base, x), "Y": of(base, y)}) == words


def test_three_featurizers(base: Comparison) -> None:
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
