"""Rows that are kept by text: each text once, in its order, what was cut, and rows of one length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features.cache import FeatureCache
from mauve_metric.features.text_encoder import Keep, TextEncoder, rows_by_text


class Lengths(TextEncoder):
    """Two numbers or more a text; those with a "!" are cut; the last part comes first."""

    def __init__(self, width: int = 2) -> None:
        self.identity = {"model": "lengths", "server": "here"}
        self.width, self.asked = width, list[str]()

    def compute(self, texts: Sequence[str], keep: Keep) -> None:
        self.asked += texts
        for number in reversed(range(len(texts))):
            keep([number], np.full((1, self.width), len(texts[number]), np.float32), ["!" in texts[number]])


def test_each_text_is_asked_for_once_and_kept(tmp_path: Path) -> None:
    texts, counts = ["a", "bb!", "a", "ccc", "bb!"], list[int]()
    with FeatureCache(tmp_path) as store:
        rows, cut = rows_by_text(first := Lengths(), texts, store, lambda done, total: counts.append(done))
        assert rows[:, 0].tolist() == [1, 3, 1, 3, 3] and cut == 2
        assert first.asked == ["a", "bb!", "ccc"] and counts == [1, 3, 5]
        again = rows_by_text(second := Lengths(), [*texts, "dddd"], store, lambda done, total: counts.append(done))
        assert again[0][:, 0].tolist() == [1, 3, 1, 3, 3, 4] and again[1] == 2
        assert second.asked == ["dddd"] and counts[3:] == [6]


def test_rows_of_another_length_than_the_stored_ones_are_refused(tmp_path: Path) -> None:
    with FeatureCache(tmp_path) as store:
        rows_by_text(Lengths(), ["a"], store)
        with pytest.raises(ValueError, match=r"lengths must give rows of one length, got 2 and 3 numbers; .* clear it"):
            rows_by_text(Lengths(3), ["a", "b"], store)


def test_a_score_by_it_has_its_entries_and_its_prefix(tmp_path: Path) -> None:
    texts = [f"{'x' * (number % 9 + 1)} {number}" for number in range(60)]
    encoder = Lengths()
    encoder.text_prefix = "query: "
    out = compute_mauve(p_text=texts, q_text=texts, featurize_model_name=encoder, cache=tmp_path)
    assert "featurize_model_name:lengths|revision:unknown|server:here|text_prefix:query: |" in out.signature
    assert encoder.asked == [f"query: {text}" for text in texts]
    without = FeatureSet.from_texts(["a!"], featurize_model_name=encoder, text_prefix="", cache=tmp_path)
    assert encoder.asked[-1] == "a!" and without.truncated == 1 and without.identity == encoder.identity
