"""The compression ratio against Python's gzip."""

from __future__ import annotations

import gzip

import pytest
from samples import HOSTILE, texts_of

from mauve_metric.lexical.compression import compression_ratio


@pytest.mark.parametrize("texts", [texts_of(300), ["a"], HOSTILE, ["", "é", "", "語" * 500]])
def test_it_is_the_ratio_of_gzip(texts: list[str]) -> None:
    data = " ".join(texts).encode()
    assert compression_ratio(texts) == len(data) / len(gzip.compress(data, 9))


def test_empty_texts_have_none() -> None:
    for texts in ([], ["", ""]):
        with pytest.raises(ValueError, match="needs a text that is not empty, got"):
            compression_ratio(texts)


def test_half_a_surrogate_is_counted_too() -> None:
    assert compression_ratio(["\ud800"]) > 0
