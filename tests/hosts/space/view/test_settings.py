"""Links to the page with settings, or with the first screen of a result."""

from __future__ import annotations

import html
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr
import numpy as np
import pytest
from visitors import LIMITS, give, press, visitor

from mauve_metric import compute_mauve
from mauve_metric.hosts.space.session.scoring import Encoders
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.markup import in_controls
from mauve_metric.hosts.space.view.settings import (
    control_values,
    panel_controls,
    panel_names,
    read_shared,
    shared_value,
)
from mauve_metric.options import split_options
from mauve_metric.report.wording.verdict_sentence import headline


def settings(**more: Any) -> list[object]:
    """Featurizer, `PLAY`, the panel and other featurizers, as `press` gives them."""
    panel = (more.get(name) for name in panel_names())
    return [more.get("featurizer", "ngrams"), *more.get("play", (5, 4, 7, 0.95)), *panel, more.get("others", [])]


def test_a_link_holds_the_settings_and_names_what_it_cannot_set(desk: Handlers) -> None:
    query = desk.link(settings(play=(2, 0, 3, 0.9), knn=False, match_lengths="truncate"))
    assert dict(parse_qsl(query)) == {
        "mauve_scaling_factor": "2", "seed": "3", "confidence_level": "0.9", "knn": "False", "match_lengths": "truncate"
    }  # fmt: skip
    query = dict(parse_qsl(query)) | {"<b>": "red", "num_buckets": "many", "__theme": "dark"}
    shown = desk.arrive(query, "", "", "a")
    said = html.unescape(str(shown["link_problems"]))
    assert "“<b>”, which is no setting" in said
    assert "num_buckets" in said and "theme" not in said and "<b>" not in str(shown.pop("link_problems"))
    set_by_link = {"mauve_scaling_factor": 2, "seed": 3, "confidence_level": 0.9, "knn": False}
    assert shown.pop("key") and shown == control_values(set_by_link | {"match_lengths": "truncate"}, ["ngrams"])


def test_a_link_holds_verdict_and_closeness() -> None:
    rng = np.random.default_rng(0)
    human, far = (rng.normal(shift, size=(120, 3)) for shift in (0, 4))
    one = compute_mauve(p_features=human, q_features=far, num_buckets=8)
    both = replace(one, by_featurizer={"minilm": one, "ngrams": one, "server:m": one})
    offered = ["minilm", "ngrams", "org/name", "server:m"]
    shared = read_shared(shared_value(both, offered), offered)
    assert (shared.n_p, shared.n_q, shared.answer) == (120, 120, headline(both))
    assert shared.closeness == pytest.approx(both.closeness, abs=1e-5)
    assert shared.ends == pytest.approx(both.closeness_ci, abs=1e-5)
    named = both.with_reference_name("release 1.2")
    assert shared._replace(reference_name="release 1.2").answer == headline(named)
    query = {"shared": shared_value(both, offered), "reference_name": "release 1.2"}
    shown = Handlers(LIMITS, offered, Encoders()).arrive(query, "", "", "a")
    assert "DIFFERENT from release 1.2" in shown["score"] and "other release 1.2 texts" in shown["score"]
    for verdict, reason in (("undecided", None), ("no verdict", "undeclared_prompts"), ("like human", None)):
        other = replace(both, verdict=verdict, verdict_reason=reason)  # type: ignore[arg-type]
        assert read_shared(shared_value(other, offered), offered).answer == headline(other)
    unknown = read_shared(shared_value(replace(both, closeness=None, closeness_ci=None), offered), offered)
    assert unknown.closeness is None and unknown.ends is None
    with pytest.raises(ValueError, match="a link holds results of minilm alone: send the files"):
        shared_value(both, ["minilm"])


@pytest.mark.parametrize(
    "value",
    ["", "9,9", "9,9,5,,,,,0,0,0,0;other", "9,9,5,,,,,0,0,0,0;minilm,minilm", "9,9,5,,,,,4,0,0,0;minilm",
     "9,9,5,,,,,0,99,0,0;minilm", "9,9,5,,,,,0,0,9,0;minilm", "9,9,100001,,,,,0,0,0,0;minilm",
     "9,9,5,6,7,,,0,0,0,0;minilm",
     "9,9,,6,7,,,0,0,0,0;minilm", "9,9,5,,,,,0,0,0,0;<b>", "9,9,5;minilm"],
)  # fmt: skip
def test_what_no_result_says_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="the link's shared result"):
        read_shared(value, ["minilm"])


def test_what_the_page_cannot_take_is_not_offered() -> None:
    with pytest.raises(ValueError, match="strip must be") as error:
        split_options({"strip": "titles"})
    assert "prompts" not in in_controls(str(error.value))
    with gr.Blocks() as app:
        panel_controls()
    (strip,) = (block for block in app.blocks.values() if block.elem_id == "strip")
    assert "unicode" in strip.info and "prompts" not in strip.info


@pytest.mark.usefixtures("undrawn")
def test_a_link_s_result_stands_alone_and_belongs_to_one_result(desk: Handlers, tmp_path: Path) -> None:
    give(desk, tmp_path)
    assert press(desk)["shared_link"]["visible"] is False  # a link that was made of an earlier result
    key = visitor(desk).key
    shown = desk.arrive({"shared": "77,88,50000,40000,60000,,,1,0,1,1;ngrams"}, key, "yes", "b")
    assert "88 model texts against 77" in str(shown["score"]) and shown["status"] == ""
    assert "Shared result" in str(shown["about"]) and shown["result"]["visible"] is False  # type: ignore[index]
    assert desk.arrive({}, key, "yes", "c")["result"]["visible"]  # type: ignore[index]
