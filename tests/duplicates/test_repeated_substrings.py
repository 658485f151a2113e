"""Repeated passages against sets of windows by brute force."""

from __future__ import annotations

import random
from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pytest

from mauve_metric.duplicates.repeated_substrings import Span, copied_tokens, repeated_spans, repeated_substrings


def corpus(seed: int, count: int = 8, letters: int = 3) -> list[list[int]]:
    rng = random.Random(seed)
    texts = [[rng.randrange(letters) for _ in range(rng.randrange(25))] for _ in range(count)]
    texts[0] = texts[-1][3:] + texts[0]
    return texts


def windows_of(text: list[int], length: int) -> list[tuple[int, ...]]:
    return [tuple(text[start : start + length]) for start in range(len(text) - length + 1)]


def naive_marks(texts: list[list[int]], wanted: set[tuple[int, ...]], length: int) -> list[list[bool]]:
    marks = [[False] * len(text) for text in texts]
    for text, mark in zip(texts, marks, strict=True):
        for start, window in enumerate(windows_of(text, length)):
            if window in wanted:
                mark[start : start + length] = [True] * length
    return marks


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 8, 13])
def test_repeated_as_by_brute_force(length: int) -> None:
    for seed in range(12):
        texts = corpus(seed)
        counts = Counter(window for text in texts for window in windows_of(text, length))
        marks = naive_marks(texts, {window for window, times in counts.items() if times > 1}, length)
        spans = repeated_spans(texts, length)
        found = [[False] * len(text) for text in texts]
        for span in spans:
            found[span.text][span.start : span.end] = [True] * (span.end - span.start)
        assert found == marks
        assert all(one.text != two.text or one.end < two.start for one, two in pairwise(spans))
        if max(map(len, texts)) >= length:
            assert repeated_substrings(texts, length) == pytest.approx(np.mean(list(chain.from_iterable(marks))))


@pytest.mark.parametrize("length", [1, 3, 8])
def test_copied_as_by_brute_force(length: int) -> None:
    for seed in range(12):
        human, model = corpus(seed), corpus(seed + 100)
        wanted = {window for text in human for window in windows_of(text, length)}
        marks = naive_marks(model, wanted, length)
        copied, lengths = copied_tokens(
            *([" ".join(map(str, text)) for text in side] for side in (human, model)), length
        )
        assert copied.tolist() == [sum(mark) for mark in marks]
        assert lengths.tolist() == [len(text) for text in model]


def test_many_different_tokens() -> None:
    """More than the 65 536 that fit into two bytes."""
    text = list(range(70_000))
    assert repeated_spans([text, text[69_000:], text[:5]], 50) == [Span(0, 69_000, 70_000), Span(1, 0, 1000)]


def test_banana() -> None:
    """The word has "ana" twice, and so "na"."""
    assert repeated_spans([list("banana")], 3) == [Span(0, 1, 6)]
    assert repeated_spans([list("banana")], 4) == []
    assert repeated_substrings([list("banana")], 2) == pytest.approx(5 / 6)


def test_windows_end_with_their_text() -> None:
    assert repeated_spans([list("abc"), list("def"), list("ab"), list("cdef")], 4) == []
    assert repeated_spans([list("abab"), [], list("abab")], 4) == [Span(0, 0, 4), Span(2, 0, 4)]  # neighbours


def test_texts_that_are_too_short_are_said() -> None:
    with pytest.raises(ValueError, match="passages of 50 tokens need texts that long: the longest one has 3"):
        repeated_substrings([[1, 2, 3]])
    with pytest.raises(ValueError, match="the longest one has 2"):
        copied_tokens(["a " * 60], ["a b"])
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        repeated_spans([[1]], 0)
    assert repeated_spans([[1, 2]]) == repeated_spans([]) == []
