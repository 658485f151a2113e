"""The example on the page when it opens."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pytest
from visitors import LIMITS, visitor

from mauve_metric import FeatureSet
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.scoring import Encoders, Scored
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.layout import choices_part
from mauve_metric.hosts.space.view.settings import panel_names
from mauve_metric.report.wording.verdict_sentence import headline


def settings(**more: Any) -> list[object]:
    """Featurizer, `PLAY`, the panel and other featurizers, as `press` gives them."""
    panel = (more.get(name) for name in panel_names())
    return [more.get("featurizer", "ngrams"), *more.get("play", (5, 4, 7, 0.95)), *panel, more.get("others", [])]


@pytest.mark.slow
def test_the_example_is_what_its_texts_give(minilm: str) -> None:
    desk = Handlers(Limits(), [minilm], Encoders())
    assert desk.arrive({}, "", "", "a") == {
        "link_problems": "",
        "key": visitor(desk).key,
    }  # the page opens without a result
    seen = desk.see_example(visitor(desk))
    shown = desk.example.shown()
    assert shown is not None
    (result,) = shown.scored.results.values()
    about = html.unescape(seen["about"])
    assert headline(result) in html.unescape(seen["score"]) and "600 passages" in about
    assert isinstance(shown.scored, Scored)
    evaluation = shown.scored.evaluation
    for number in (0, 1):  # the stored rows are those of the texts
        fresh = FeatureSet.from_texts((evaluation.texts[number] or [])[:4], featurize_model_name=minilm, cache=False)
        np.testing.assert_allclose(evaluation.declared[number].features[:4], fresh.features, atol=1e-4)
    played = desk.replay([2, 0, 25, 0.95], visitor(desk))
    assert "An example" in str(played["about"])
    assert desk.stale([False, *settings(featurizer=minilm, play=(2, 0, 25, 0.95))], visitor(desk)) == ""
    desk.take_paste("one\ntwo", visitor(desk))
    changed = desk.stale([False, *settings(featurizer=minilm, play=(2, 0, 25, 0.95))], visitor(desk))
    assert "still the example" in changed


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_an_example_is_compared_without_the_model_and_seen_by_every_visitor(minilm: str) -> None:
    desk = Handlers(Limits(), ["minilm"], Encoders())
    desk.take_example("greedy decoding", visitor(desk))
    desk.encoders.get = None  # type: ignore[method-assign,assignment]  # what loads a model
    values = ["", "", False, *settings(featurizer="minilm", play=(5, 0, 25, 0.95))]
    desk.compare(values, ("", ""), visitor(desk), lambda *_, **__: None)
    shown = desk.sessions.get("a").shown
    assert shown is not None and shown.scored.results["greedy decoding"].closeness < 0.1
    for name in ("b", "c"):  # what gradio does to the values of one visitor reaches no other
        seen = desk.see_example(visitor(desk, name))
        assert "An example" in seen["about"] and seen["bucket"].pop("value") is not None
        assert "still the example" in desk.stale(
            [False, *settings(featurizer="minilm", play=(5, 0, 3, 0.95))], visitor(desk, name)
        )


def test_no_example_where_it_could_not_be_run(desk: Handlers) -> None:
    import gradio as gr

    assert desk.example.shown() is None and not desk.example.offered
    assert Handlers(LIMITS, ["minilm"], Encoders()).example.shown() is None
    with pytest.raises(gr.Error, match="the example cannot be shown here"):
        desk.see_example(visitor(desk))


def test_the_example_has_the_featurizers_that_the_page_presets(desk: Handlers) -> None:
    import gradio as gr

    models = ["minilm", "ngrams"]
    with gr.Blocks() as page:
        choices_part(models)
    (others,) = (block for block in page.blocks.values() if block.elem_id == "featurizers")
    example = Handlers(Limits(), models, Encoders()).example
    assert example.options["featurizers"] == tuple(others.value) == ("ngrams",)
    assert "featurizers" not in desk.example.options
