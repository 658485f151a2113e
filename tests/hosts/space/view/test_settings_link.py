"""Settings in the address of the page."""

from __future__ import annotations

import html
from typing import Any
from urllib.parse import parse_qsl

from mauve_metric.hosts.space.view.controls import panel_names
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.settings_link import control_values


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
