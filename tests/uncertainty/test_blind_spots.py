"""Measured blind spots of featurizers, and the warning about them."""

from __future__ import annotations

from typing import Any

import pytest

from mauve_metric.apps.studies.perturbations.text_errors import PERTURBATIONS
from mauve_metric.uncertainty import blind_spots as module
from mauve_metric.uncertainty.blind_spots import blind_spots, measured, seen_by
from mauve_metric.uncertainty.score_warnings import featurizer_warnings

ENCODER = {"revision": "a" * 12, "pooling": "mean", "dtype": "float32"}
IDENTITY = {**ENCODER, "model": "mine", "revision": "a" * 64}


def run(n: int, **seen: float | None) -> dict[str, Any]:
    return {
        "encoder": ENCODER,
        "n": n,
        "perturbations": {name: {"said": PERTURBATIONS[name].said, "smallest_seen": at} for name, at in seen.items()},
    }


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run(300, typos=None, words_shuffled=None, truncated=0.5), run(250, typos=1.0, words_shuffled=None)]
    monkeypatch.setattr(module, "measured", lambda: runs)


@pytest.mark.usefixtures("table")
def test_only_what_no_run_saw_is_a_blind_spot() -> None:
    assert blind_spots(IDENTITY) == ({"words_shuffled": "words shuffled"}, 250)
    for other in ({"revision": "b" * 64}, {"pooling": "cls"}, {"dtype": "float16"}):
        assert blind_spots(IDENTITY | other) is None
    assert blind_spots({"model": "mine"}) is None


def test_one_more_error_is_named_and_two_are_counted() -> None:
    errors = ["typos", "missing capitals", "wrong numbers", "words left out", "words doubled"]
    assert module.in_words(errors[:3]) == "typos, missing capitals or wrong numbers"
    assert module.in_words(errors[:4]) == "typos, missing capitals, wrong numbers or words left out"
    assert module.in_words(errors) == "typos, missing capitals, wrong numbers or 2 more errors"


@pytest.mark.parametrize(("digits", "is_known"), [(12, True), (11, False)])
def test_a_revision_is_known_by_its_first_twelve_digits(
    digits: int, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {**run(250, typos=None), "encoder": {**ENCODER, "revision": "a" * digits}}
    monkeypatch.setattr(module, "measured", lambda: [found])
    assert (blind_spots(IDENTITY) is not None) is is_known
    assert blind_spots({**IDENTITY, "revision": "a" * digits}) is not None


def test_a_note_names_only_errors_that_the_cure_sees() -> None:
    names = [run["featurizer"] for run in measured()]
    assert {"minilm", "ngrams"} <= set(names)
    for run in measured():
        unseen = blind_spots(run["encoder"])
        assert unseen is None or run["featurizer"] != "ngrams" or not seen_by("ngrams", [*unseen[0]])
    assert seen_by("ngrams", ["no_such_error"]) == []


@pytest.mark.usefixtures("table")
def test_the_warning_says_what_is_not_seen() -> None:
    (warning,) = featurizer_warnings(IDENTITY, None)
    assert warning.numbers == {"featurizer": "mine", "unseen": ["words_shuffled"], "n": 250}
    assert warning.message.endswith(
        "on 250 texts a side or more it did not see words shuffled (`mauve-metric stress-test` for yours)"
    )
    (general,) = featurizer_warnings({"model": "other"}, None)
    assert "did not see" not in general.message and general.numbers == {"featurizer": "other"}


def test_the_packaged_table_is_of_known_errors() -> None:
    assert measured(), "the package comes with a table"
    for found in measured():
        assert set(found["perturbations"]) <= set(PERTURBATIONS) and found["n"] >= 100
        for name, scores in found["perturbations"].items():
            assert scores["said"] == PERTURBATIONS[name].said
            (values,) = (scores[key] for key in ("closeness", "mauve_debiased") if key in scores)
            assert len(scores["strengths"]) == len(values)
            assert scores["smallest_seen"] in (None, *scores["strengths"])
