"""A result's file, opened again on the page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from samples import HUMAN, ngrams, write_jsonl
from visitors import LIMITS, archived, give, press, spec, visitor

from mauve_metric import MauveResult, compare
from mauve_metric.hosts.space.session.opened_result import read_result
from mauve_metric.hosts.space.session.scoring import Encoders
from mauve_metric.hosts.space.view import takeaway
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.measures.groups import SHARED
from mauve_metric.results.comparison import Comparison

gr = pytest.importorskip("gradio")


def letters(texts: list[str]) -> np.ndarray:
    """A second featurizer without a model."""
    return np.array([[text.count(letter) for letter in "aeiorst "] for text in texts], dtype=float)


@pytest.fixture
def offering_two(desk: Handlers) -> Handlers:
    """A page that offers two featurizers."""
    return Handlers(LIMITS, ["ngrams", "letters"], Encoders({"ngrams": ngrams, "letters": letters}))


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
def test_a_result_file_is_opened_again_without_texts(
    offering_two: Handlers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, several: bool
) -> None:
    desk = offering_two
    monkeypatch.setattr(takeaway, "save_chart", lambda chart, path: path.write_text("drawn"))  # other tests draw
    monkeypatch.setattr(Comparison, "save_report", lambda scored, path, measures: path.write_text("a report") and path)
    give(desk, tmp_path)
    if several:
        desk.add_files([write_jsonl(tmp_path / "loud.jsonl", [text.upper() for text in HUMAN])], visitor(desk))
    made = press(desk, others=["letters"])
    copy = tmp_path / "kept.json"
    copy.write_bytes(archived(desk)["mauve.json"])
    shown = desk.open_result(str(copy), visitor(desk, "b"))
    assert shown["score"] == made["score"]
    same = ("warnings", "tables", "signature")
    assert {name: shown[name] for name in same} == {name: made[name] for name in same}
    for name in ("divergence_curve", "precision_recall"):  # without the curves of two human sets that share prompts
        drawn = [spec(values[name])["layer"][0]["data"] for values in (shown, made)]
        assert drawn[0] == drawn[1]
    opened = visitor(desk, "b").shown
    assert opened is not None
    for result in opened.scored.results.values():
        assert (result.curve_band is None) == (result.design in SHARED)
    assert (
        "were only read" in shown["about"]
        and "without its texts" in shown["about"]
        and "texts are not in a result's file" in shown["bucket_texts"]
        and "(as the file says)" in shown["table"]
        and "(as the file says)" not in made["table"]
    )
    assert shown["text_map"] is None and shown["play_part"]["visible"] is False and not copy.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mauve": 0.99}, "its mauve is not what its own counts give"),
        ({"auc": 0.99}, "its auc is not what its own counts give"),
        ({"frontier_integral": 0.0}, "its frontier_integral is not what its own counts give"),
        ({"p_hist": [0.5, 0.5, 0.0, "x"]}, "not a file that “Download report and figures” wrote"),
        ({"n_p": None}, "n_p: Input should be a valid integer"),
        ({"signature": 3}, "not a file that"),
        ({"mauve_debiased": -5}, "its mauve_debiased must be a number in its range, got -5"),
        ({"closeness": 7}, "its closeness must be a number in its range, got 7"),
        ({"verdict": "perfect"}, "verdict: Input should be .*like human"),
        ({"mauve_debiased_ci": [-1.0, 1e308]}, r"scores and their intervals must be in \[0, 1\]"),
        ({"mauve_debiased_stderr": 10**400}, "mauve_debiased_stderr: "),
        ({"mauve_debiased_stderr": math.inf}, "mauve_debiased_stderr: Input should be a finite number"),
        ({"mauve_debiased_ci": [math.nan, 0.5]}, "finite number"),
        ({"normalised": dict.fromkeys(("mauve_classifier", "auc"), math.inf)}, "normalised: .*finite number"),
        ({"p_hist": [math.nan, 0.5, 0.5, 0.0]}, "p_hist must hold shares of n_p texts"),
        ({"num_buckets": 10**12}, "p_hist must hold 1000000000000 numbers"),
        (None, "an object is expected, got list"),
    ],
)
def test_another_json_is_refused_in_one_sentence(
    desk: Handlers, tmp_path: Path, expected: MauveResult, change: dict[str, object] | None, message: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([1] if change is None else expected.to_dict() | change), encoding="utf-8")
    with pytest.raises(gr.Error, match=message):
        desk.open_result(str(path), visitor(desk))
    assert not path.exists() and desk.sessions.get("a").shown is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: {"by_featurizer": {f"f{number}": one for number in range(9)}}, "at most 8 results here, got 9"),
        (lambda one: {"by_featurizer": {"f" * 201: one}}, "names may have at most 200 characters here, got 201"),
        (lambda one: {"by_featurizer": {"f": one | {"n_p": 4_000_000}}}, "at most 4000000 texts together here"),
        (lambda one: {"models": {"m" * 201: one}, "ranking": ["m"]}, "names may have at most 200 characters"),
        (
            lambda one: {"warnings": [{"code": "a", "message": "b", "numbers": {}}] * 101},
            "warnings: .* at most 100 items",
        ),
    ],
)
def test_files_that_would_take_much_memory_are_refused(
    expected: MauveResult, tmp_path: Path, change: Callable[[dict[str, object]], dict[str, object]], message: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(expected.to_dict() | change(expected.to_dict())), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_result(path, LIMITS)


def test_a_result_of_another_version_is_named_as_such(desk: Handlers, tmp_path: Path, expected: MauveResult) -> None:
    said = "written by mauve_metric 9.8, and this is "
    values = expected.to_dict() | {"signature": f"{expected.signature}|mauve_metric:9.8"}
    for changes in ({}, {"verdict": None}):
        path = tmp_path / "a.json"
        path.write_text(json.dumps(values | changes), encoding="utf-8")
        if changes:
            with pytest.raises(gr.Error, match=said):
                desk.open_result(str(path), visitor(desk))
        else:
            assert said in desk.open_result(str(path), visitor(desk))["about"]
            assert said in desk.arrive({}, visitor(desk).key, "", "a")["about"]


def test_a_smallest_difference_needs_two_models(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(2, 40, 3))
    one = compare(p_features=rows[0], models={"m": rows[1]}, num_buckets=4, num_runs=1)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(one.to_dict() | {"smallest_difference": 0.5}), encoding="utf-8")
    with pytest.raises(ValueError, match="smallest_difference needs two models"):
        read_result(path, LIMITS)


def test_the_comparisons_of_subgroups_are_opened_too(tmp_path: Path) -> None:
    human, model = np.random.default_rng(0).normal(size=(2, 40, 3))
    labels = ["a", "b"] * 20
    by = {"human": labels, "m": labels}
    made = compare(p_features=human, models={"m": model}, by=by, num_buckets=4, num_runs=1, knn=False)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(made.to_dict()), encoding="utf-8")
    opened = read_result(path, LIMITS).comparison
    assert opened is not None and json.loads(json.dumps(opened.to_dict())) == json.loads(path.read_text("utf-8"))
