"""Repeated passages against sets of windows by brute force."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
import pytest

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.duplicates.near_duplicates import near_duplicates, near_duplicates_across
from mauve_metric.apps.describing.duplicates.repeated_substrings import (
    Span,
    copied_substrings,
    copied_tokens,
    cut_repeated,
    repeated_substrings,
)
from mauve_metric.apps.describing.memorisation import prompted_memorisation
from mauve_metric.apps.describing.word_diversity.splitting import spaced_places, spaced_tokens


def repeated_spans(texts: Sequence[Sequence[object]], length: int = 50) -> list[Span]:
    """The passages of which each window of `length` tokens occurs at another place of the set too."""
    return cut_repeated([" ".join(map(str, text)) for text in texts], length, keep_first=False).spans


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


def texts_of(seed: int, count: int = 12) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice("abc") for _ in range(rng.randrange(25))) for _ in range(count)]


def naive(texts: list[str], length: int, keep_first: bool, whole: int = 0) -> tuple[list[str], list[int]]:
    """The texts after the first `whole` without repeats, and their longest repeats."""
    words = [text.split() for text in texts]

    def windows(size: int) -> list[tuple[int, int]]:
        return [(text, start) for text, own in enumerate(words) for start in range(len(own) - size + 1)]

    def content(place: tuple[int, int], size: int) -> tuple[str, ...]:
        return tuple(words[place[0]][place[1] : place[1] + size])

    cut: set[tuple[int, int]] = set()
    for place in windows(length):
        others = [
            other for other in windows(length) if other != place and content(other, length) == content(place, length)
        ]
        if any(other < place or not keep_first for other in others):
            cut |= {(place[0], place[1] + step) for step in range(length)}
    longest = [0] * len(texts)
    for size in range(1, 26):
        known = [content(place, size) for place in windows(size)]
        for place in windows(size):
            if known.count(content(place, size)) > 1:
                longest[place[0]] = size
    left = [" ".join(w for at, w in enumerate(own) if (text, at) not in cut) for text, own in enumerate(words)]
    return left[whole:], longest[whole:]


@pytest.mark.parametrize("keep_first", [True, False])
def test_what_is_left_is_what_the_definition_leaves(keep_first: bool) -> None:
    for seed in range(6):
        texts = texts_of(seed)
        for length in (1, 4, 7):
            found = cut_repeated(texts, length, keep_first=keep_first)
            left, longest = naive(texts, length, keep_first)
            assert [text.strip() for text in found.texts] == left
            assert found.longest.tolist() == longest
            assert found.texts_with_repeat(length) == sum(size >= length for size in longest)
            assert found.tokens - sum(end - start for _, start, end in found.spans) == len(" ".join(left).split())
        whole = cut_repeated(texts[5:], 4, against=texts[:5], keep_first=keep_first)
        assert [text.strip() for text in whole.texts] == naive(texts, 4, keep_first, whole=5)[0]


def test_text_around_a_cut_stays_as_it_is() -> None:
    found = cut_repeated(["One  two\nthree four,  five", "0 two three  four,\tsix\n", "黑猫白 x", "y 黑猫白"], length=3)
    assert found.texts == ["One  two\nthree four,  five", "0 six\n", "黑猫白 x", "y "]
    assert "cut 6 of 18 tokens in 2 passages of 2 of 4 texts" in str(found)
    assert cut_repeated([], length=3).texts == [] and "none of 10 tokens" in str(cut_repeated(["", "a"], length=3))
    assert cut_repeated(["a a a"], length=10**30).texts == ["a a a"]
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        cut_repeated(["a"], length=0)


def test_places_are_those_of_the_tokens() -> None:
    for text in ("A cat,  a 黑猫", " \u3000x\u00a0y\x1cz \n", "ไทย x", "", "don't\tstop"):
        assert [text[start:end] for start, end in spaced_places(text)] == spaced_tokens(text)


def distance(one: list[str], other: list[str]) -> int:
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, right in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]


def test_continuations_are_as_like_as_their_edit_distance_says() -> None:
    ones, others = texts_of(1, 40), texts_of(2, 40)
    found = prompted_memorisation(ones, others)
    for one, other, similarity in zip(map(str.split, ones), map(str.split, others), found.similarities, strict=True):
        assert similarity == pytest.approx(1 - distance(one, other) / max(len(one), len(other), 1))
    for above, share, (low, high) in zip(found.thresholds, found.shares, found.intervals, strict=True):
        assert share == (found.similarities > above + 1e-9).mean() and 0 <= low <= share <= high <= 1
    with pytest.raises(ValueError, match="truths must hold one text for each of 1 continuations, got 2"):
        prompted_memorisation(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="continuations holds no texts"):
        prompted_memorisation([], [])


def draws(count: int, seed: int, words: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(map(str, rng.integers(5000, size=words))) for _ in range(count)]


def test_near_duplicates_across_by_hand() -> None:
    human = draws(20, 0)
    model = [human[3], human[5] + " and more", *draws(6, 1)]
    found = near_duplicates_across(human, model)
    assert found.value == 2 / 8
    assert found.ci is not None
    for end in found.ci:  # Wilson's: where the distance to the share is z standard errors of the end itself
        assert abs(end - 0.25) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / 8), abs=1e-6)
    none = near_duplicates_across(human, draws(20, 2))
    assert none.value == 0 and none.ci is not None
    assert none.ci[0] == 0 and 0.1 < none.ci[1] < 0.2  # three in twenty may have been missed
    assert near_duplicates_across(human, human).ci == pytest.approx((1 - none.ci[1], 1))
    with pytest.raises(ValueError, match="model holds no texts"):
        near_duplicates_across(human, [])


def test_copied_substrings_by_hand() -> None:
    human = draws(20, 0)
    model = [*human[:12], *draws(12, 1)]
    found = copied_substrings(human, model)
    assert found.value == 0.5
    assert found.ci is not None and found.ci[0] < 0.5 < found.ci[1]
    assert found == copied_substrings(human, model) != copied_substrings(human, model, seed=1)
    assert copied_substrings(human, model, level=0.5).ci[1] < found.ci[1]  # type: ignore[index]
    assert copied_substrings(human, model[3:]).ci is None  # nine copies are few
    inside = " ".join(["own"] * 30 + human[0].split()[5:57] + ["words"] * 18)
    assert copied_substrings(human, [inside]).value == 0.52


@pytest.mark.more
def test_the_interval_holds_as_often_as_it_says() -> None:
    """Of 60 at 80 % hold 48 on average, with a standard error of √(60 · .8 · .2) = 3.1; four of those are allowed."""
    human, rng = draws(1, 0), np.random.default_rng(0)
    sides = (human[0], draws(1, 1)[0])
    held = 0
    for _ in range(60):
        low, high = copied_substrings(human, [sides[int(own)] for own in rng.random(60) > 0.4], level=0.8).ci or (1, 0)
        held += low <= 0.4 <= high
    assert 36 <= held < 60


def test_directions() -> None:
    """An equal model, one that copies, one that collapsed to a few texts, and one that says noise."""
    human, equal, noisy = draws(60, 0), draws(60, 1), draws(60, 2)
    collapsed = (equal[:3] * 20)[:60]
    for name, measure in (("near", near_duplicates_across), ("copied", copied_substrings)):
        values = [measure(human, model).value for model in (equal, human[:30] + equal[:30], human, collapsed, noisy)]
        assert values == [0, 0.5, 1, 0, 0], name
    for model, share in ((equal, 0), (human, 0), (collapsed, 1), (noisy, 0)):
        assert near_duplicates(model) == repeated_substrings([text.split() for text in model]) == share
    rows = {name: row.better for name, row in MEASURES.items() if row.group == "duplication"}
    assert rows == {
        "near_duplicates": "human",
        "near_duplicates_across": "lower",
        "repeated_substrings": "human",
        "copied_substrings": "lower",
    }
