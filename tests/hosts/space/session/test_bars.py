"""The line of closeness and its words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mauve_metric import compute_mauve
from mauve_metric.hosts.space.session.bars import Bar, marks_of


def test_a_result_has_a_mark_for_each_score_that_is_known() -> None:
    rng = np.random.default_rng(0)
    result = compute_mauve(p_features=rng.normal(size=(120, 3)), q_features=rng.normal(4, size=(120, 3)), num_buckets=4)
    marks = {mark.name: mark for mark in marks_of(result)}
    assert [*marks] == ["closeness", "by groups", "by classifier"]
    assert marks["by groups"].value == result.mauve_debiased and marks["closeness"].ends == result.closeness_ci
    assert all(mark.is_possible for mark in marks.values())
    assert not marks["closeness"]._replace(value=1.5).is_possible
    assert "by classifier" not in {mark.name for mark in marks_of(replace(result, mauve_classifier=None))}


def test_the_bar_is_also_in_words() -> None:
    words = Bar.of("near", 0.25, (0.2, 0.5)).words
    assert words == "From 0, nothing in common, to 1, other people's texts. near: closeness 0.250 (0.200 to 0.500)."
    assert Bar.of("near", None, None).words.endswith("near: unknown.")
