"""Links to the page with settings, or with the first screen of a result."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from mauve_metric import compute_mauve
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings import control_values, panel_names, read_shared, shared_value
from mauve_metric.results.first_screen import LEADS
from mauve_metric.results.wording import answer


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
    shown = desk.arrive(query)
    said = html.unescape(str(shown["link_problems"]))
    assert "“<b>”, which is no setting" in said
    assert "num_buckets" in said and "theme" not in said and "<b>" not in str(shown.pop("link_problems"))
    set_by_link = {"mauve_scaling_factor": 2, "seed": 3, "confidence_level": 0.9, "knn": False}
    assert shown == control_values(set_by_link | {"match_lengths": "truncate"}, ["ngrams"])


def test_a_link_holds_answer_and_bars_of_every_featurizer() -> None:
    rng = np.random.default_rng(0)
    human, far = (rng.normal(shift, size=(120, 3)) for shift in (0, 4))
    one = compute_mauve(p_features=human, q_features=far, num_buckets=8)
    both = replace(one, by_featurizer={"minilm": one, "ngrams": replace(one, mauve_ci=None, mauve_classifier=None)})
    offered = ["minilm", "ngrams", "org/name"]
    shared = read_shared(shared_value(both, offered), offered)
    assert (shared.n_p, shared.n_q, shared.answer) == (120, 120, f"{LEADS[both.verdict].format(n=120)}.")
    assert shared.closeness == pytest.approx(both.closeness, abs=1e-5)
    for bar, wanted in zip(shared.bars, answer.bars(both), strict=True):
        assert bar.label == wanted.label
        for mark, other in zip(bar.marks, wanted.marks, strict=True):
            assert mark.kind == other.kind and mark.value == pytest.approx(other.value, abs=1e-5)
            assert (mark.ends is None) == (other.ends is None)
    for word in LEADS:
        shared = read_shared(shared_value(replace(both, n_q=30, verdict=word), offered), offered)
        assert (shared.verdict, shared.answer) == (word, f"{LEADS[word].format(n=30)}.")
    with pytest.raises(ValueError, match="a link holds results of minilm alone: send the files"):
        shared_value(both, ["minilm"])


@pytest.mark.parametrize(
    "value",
    ["", "9,9", "9,9,5;minilm,1,,,,,", "9,9,100001,d;minilm,1,,,,,",
     "9,9,5,d;other,1,,,,,", "9,9,5,x;minilm,1,,,,,", "9,9,5,d;minilm,100001,,,,,",
     "9,9,5,d;minilm,5,6,7,,,", "9,9,5,d;minilm,1,,,,,;minilm,1,,,,,", "9,9,5,d;minilm,1,,,,,,2"],
)  # fmt: skip
def test_what_no_result_says_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="the link's shared result"):
        read_shared(value, ["minilm"])
