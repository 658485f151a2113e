"""Warnings about wrappings and openings that only one set has."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.texts.fingerprints import Marks, TextHashes
from mauve_metric.uncertainty.wrapping_warnings import wrapping_warnings

PLAIN = [f"{word} {number} is about {word}" for number in range(100) for word in ("Rain", "Snow", "Wind", "Sun", "Ice")]


def bare(marks: Marks | None, stripped: dict[str, int] | None = None, size: int = 500) -> FeatureSet:
    return FeatureSet(np.zeros((size, 2)), marks=marks, stripped=stripped or {})


def side(texts: list[str]) -> FeatureSet:
    seen = TextHashes()
    assert list(seen.watch(texts)) == texts
    return bare(seen.marks(), size=len(texts))


def some(start: str, count: int) -> list[str]:
    """`PLAIN`, so many texts of which have a beginning of their own."""
    return [f"{start}{text}" if number < count else text for number, text in enumerate(PLAIN)]


@pytest.mark.parametrize(
    ("start", "kind"),
    [("<think>Hm.</think>", "reasoning"), ("<s>", "special_tokens"), ("# A\n", "markdown")],
)
def test_wrapping_of_one_set_is_named_with_its_remedy(start: str, kind: str) -> None:
    for p, q, human, model in ((PLAIN, some(start, 30), 0, 30), (some(start, 30), PLAIN, 30, 0)):
        (warning,) = wrapping_warnings(side(p), side(q))
        assert warning.code == "wrapping_in_one_set" and f"strip={kind!r}" in warning.message and warning.severe
        assert f"{human} of 500 human and {model} of 500 model texts show " in warning.message
        assert warning.numbers == {"kind": kind, "p_texts": human, "q_texts": model, "n_p": 500, "n_q": 500}
    assert not [*wrapping_warnings(side(PLAIN), side(some(start, 5)))]  # 1 %
    assert not [*wrapping_warnings(side(some(start, 5)), side(some(start, 30)))]  # both have it
    assert not [*wrapping_warnings(bare(None), side(some(start, 30)))]  # nothing is known of features


def test_blanks_of_one_set_are_said_when_they_are_many() -> None:
    (warning,) = wrapping_warnings(side(PLAIN), side(some(" ", 51)))
    assert warning.code == "blanks_in_one_set" and "strip='whitespace'" in warning.message and not warning.severe
    assert not [*wrapping_warnings(side(PLAIN), side(some("\n", 50)))]  # 10 %


def test_openings_of_one_set_are_shown() -> None:
    (warning,) = wrapping_warnings(side(some("+ ", 0)), side(some("Sure, here is a story: ", 26)))
    assert warning.code == "opening_in_one_set"
    assert "of 500 model texts many begin" in warning.message and "“sure here is a story” (26)" in warning.message
    assert warning.numbers == {"set": "model", "texts": 500, "openings": {"sure here is a story": 26}}
    (warning,) = wrapping_warnings(side(some("The New York ", 100)), side(PLAIN))
    assert warning.numbers["set"] == "human" and list(warning.numbers["openings"]) == ["the new york"]
    assert not [*wrapping_warnings(side(PLAIN), side(some("Sure, here is ", 25)))]  # 5 %
    assert not [*wrapping_warnings(side(some("Sure, here is ", 3)), side(some("Sure, here is ", 100)))]  # .6 %
    assert len([*wrapping_warnings(side(some("Sure, here is ", 2)), side(some("Sure, here is ", 100)))]) == 1  # .4 %


def test_openings_that_differ_are_shown_by_their_common_words() -> None:
    texts = [f"Sure, here {('is', 'are')[number % 2]} {number} {text}" for number, text in enumerate(PLAIN)]
    (warning,) = wrapping_warnings(side(PLAIN), side(texts))
    assert warning.numbers["openings"] == {"sure here": 500}


def test_what_was_taken_off_is_said_above_one_in_a_hundred() -> None:
    few, many = bare(None, {"reasoning": 5}), bare(None, {"reasoning": 6, "markdown": 500, "whitespace": 1})
    (warning,) = wrapping_warnings(few, many)
    assert warning.code == "stripped_texts" and not warning.severe
    assert "the model texts (reasoning off 6, markdown off 500 of 500)" in warning.message
    assert warning.numbers == {"set": "model", "texts": 500, "reasoning": 6, "markdown": 500}
