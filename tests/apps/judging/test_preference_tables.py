"""Tables of ratings; tables of pairs are in `test_judgement_tables`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mauve_metric.apps.judging.preference_tables import Question, Ratings, read_preferences

BY_MODEL = {
    "a": {"fluency": 2.5, "n_fluency": 40, "grammar": 2},
    "b": {"fluency": 1.5, "n_fluency": 41, "grammar": None},
}


def test_ratings_have_their_annotator_and_item_and_empty_cells_are_none() -> None:
    rows = [
        {"system": "a", "doc_id": "1", "rater": "x", "comment": "fine", "fluency": "2", "style": ""},
        {"system": "b", "doc_id": "1", "rater": "y", "comment": "4", "fluency": "3", "style": "5"},
    ]
    _, questions, _ = read_preferences(rows)
    assert questions == {
        "fluency": Ratings(["a", "b"], [2.0, 3.0], ["x", "y"], ["1", "1"]),
        "style": Ratings(["b"], [5.0], ["y"], ["1"], missing=1),
    }
    assert list(read_preferences(rows, answers=["style"])[1]) == ["style"]
    assert list(read_preferences([row | {"score": 1} for row in rows])[1]) == ["score"]


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".ndjson"])
def test_json_by_model_or_by_line_is_the_same_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    lines = "\n".join(json.dumps({"model": model} | values) for model, values in BY_MODEL.items())
    path.write_text(json.dumps(BY_MODEL) if ending == ".json" else lines, encoding="utf-8")
    _, questions, _ = read_preferences(path)
    assert {name: question._asdict()["values"] for name, question in questions.items()} == {
        "fluency": [2.5, 1.5],
        "grammar": [2.0],
    }


def test_columns_called_a_and_b_are_ratings_beside_a_model_and_a_pair_beside_an_answer() -> None:
    ratings = read_preferences([{"model": "x", "a": 1, "b": 2}])[1]
    assert list(ratings) == ["a", "b"]
    pair = read_preferences([{"name": "ann", "a": "x", "b": "y", "winner": "a"}])[1]
    assert isinstance(pair["winner"], Question)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"model": "a", "text": "x"}, "has models in column 'model' and no column of ratings"),
        ({"model": "", "score": 1}, "expected a model in column 'model'"),
        ({"model": "a", "score": "good"}, "expected a rating in column 'score', got 'good'"),
        ({"model": "a", "score": ""}, "has no rating in column 'score'"),
        ({"text": "a"}, "must have the columns 'winner' and 'loser', .* or 'model' and a column of ratings"),
    ],
)
def test_what_is_missing_is_named(row: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_preferences([row])


def test_groups_are_the_values_of_a_column() -> None:
    rows = [{"model": "a", "score": 1, "domain": "news"}, {"model": "a", "score": 2, "domain": ""}]
    assert read_preferences(rows, by="domain")[1]["score"].groups == ["news", "(none)"]
    with pytest.raises(ValueError, match="by must be a column of preferences, 'model', 'score', 'domain', got 'round'"):
        read_preferences(rows, by="round")


def test_json_without_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    path.write_text('["a", "b"]', encoding="utf-8")
    with pytest.raises(ValueError, match=r"people\.json must hold JSON objects, a judgement each, got 'a'"):
        read_preferences(path)
