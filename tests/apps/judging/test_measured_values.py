"""What measures can be read from; directions and plain files are tested in `test_preferences`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric import rank_by_preferences
from mauve_metric.apps.judging.measured_values import given_measures, read_measures
from mauve_metric.runtime.errors import WrongOption

RATINGS = [{"model": name, "score": value} for name, value in zip("abcde", (5, 4, 3, 2, 1), strict=True)]


def test_the_judgements_of_others_are_measures_in_their_direction(tmp_path: Path) -> None:
    path = tmp_path / "others.json"
    others = rank_by_preferences([*RATINGS, {"model": "human", "score": 9}], better={"score": "lower"})
    path.write_text(json.dumps(others.to_dict()), encoding="utf-8")
    measured = read_measures(path)["score"]
    assert measured.reading == "lower" and measured.values == dict(zip("abcde", (5, 4, 3, 2, 1), strict=True))


def test_numbers_by_model_are_measures_and_a_word_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "published.json"
    path.write_text('{"a": {"bt": 1}, "b": {"bt": 2}, "human": {"bt": 9}}', encoding="utf-8")
    assert read_measures(path)["bt"].values == {"a": 1.0, "b": 2.0}
    path.write_text('{"a": {"bt": "high"}}', encoding="utf-8")
    with pytest.raises(ValueError, match="expected a number at 'a', 'bt', got 'high'"):
        read_measures(path)


@pytest.mark.parametrize("wrong", ["0.9", True, float("nan"), 10**400, [1]])
@pytest.mark.parametrize("content", ['{"models": {"a": {"mauve": %s}}}', '{"models": {"a": {"mauve": {"value": %s}}}}'])
def test_what_is_no_number_in_the_place_of_a_score_is_refused(content: str, wrong: object, tmp_path: Path) -> None:
    path = tmp_path / "compared.json"
    path.write_text(content % json.dumps(wrong), encoding="utf-8")
    with pytest.raises(ValueError, match=r"compared\.json: expected a number at 'a', 'mauve', got "):
        read_measures(path)


@pytest.mark.parametrize("wrong", ["0.9", True, float("inf"), 10**400, [1]])
def test_measures_of_the_caller_are_numbers(wrong: Any) -> None:
    assert given_measures({"bt": {"a": np.float32(1), "b": float("nan")}})["bt"].values == {"a": 1.0, "b": None}
    pandas = pytest.importorskip("pandas")
    assert given_measures({"bt": {"a": pandas.NA}})["bt"].values == {"a": None}
    with pytest.raises(WrongOption, match=r"measures\['bt'\]\['a'\] must be a number in \(-inf, inf\), got "):
        given_measures({"bt": {"a": wrong}})


def test_a_human_row_turns_scores_of_people_unless_they_are_said_to_be_higher(tmp_path: Path) -> None:
    path = tmp_path / "published.json"
    values = {"a": 50, "b": 40, "c": 30, "d": 20, "e": 10, "human": 25}  # people are not the best
    path.write_text(json.dumps({name: {"bt": value} for name, value in values.items()}), encoding="utf-8")
    assert rank_by_preferences(RATINGS, path).questions["score"].agreement[0].correlation < 0
    said = rank_by_preferences(RATINGS, path, better={"bt": "higher"})
    assert said.questions["score"].agreement[0].correlation == 1.0 and "better_bt:higher" in said.signature
    for better, message in (({"bt": "best"}, "of bt must be higher, lower or human"), ({"x": "lower"}, "must name a")):
        with pytest.raises(ValueError, match=message):
            rank_by_preferences(RATINGS, path, better=better)
