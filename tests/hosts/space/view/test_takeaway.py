"""The picture of a result that is sent around: what it says, and that nothing in it is markup."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
from samples import HOSTILE

from mauve_metric import compare, compute_mauve
from mauve_metric.hosts.space.session import bars
from mauve_metric.hosts.space.view.takeaway import card_svg
from mauve_metric.report.wording.verdict_sentence import headline
from mauve_metric.runtime.plain_text import digits
from mauve_metric.uncertainty.score_warnings import ScoreWarning


def words_of(svg: str) -> str:
    """The words of a card, which is XML without anything but shapes and words."""
    root = ElementTree.fromstring(svg)
    assert {part.tag.split("}")[1] for part in root.iter()} == {"svg", "rect", "circle", "text"}
    return " ".join(part.text or "" for part in root.iter() if part.tag.endswith("text"))


def test_a_card_says_answer_score_bars_and_caveat_and_holds_no_markup() -> None:
    rng = np.random.default_rng(0)
    human, near, far = (rng.normal(shift, size=(120, 3)) for shift in (0, 0.5, 4))
    result = compute_mauve(p_features=human, q_features=far, num_buckets=8)
    warned = replace(
        result, warnings=(ScoreWarning("few_texts", "a caveat", {}), ScoreWarning("at_floor", "worse", {}))
    )
    said = words_of(card_svg(warned))
    assert headline(result) in said and f"closeness {result.closeness:.3f}" in said and bars.scale() in said
    assert "120 model texts against 120 human texts. Caveat: worse." in said  # the severe one comes first
    assert f"this model: closeness {digits(result.closeness, '.3f')}" in said
    assert bars.DOUBT in words_of(card_svg(replace(result, verdict="no verdict", verdict_reason="too_few")))
    compared = compare(p_features=human, models={HOSTILE[0]: near, HOSTILE[6]: far}, num_buckets=8)
    assert "<script>" in words_of(card_svg(compared)) and "\x00" not in card_svg(compared)
