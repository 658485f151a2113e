"""Repeated passages cut out of texts, and edit similarities, against loops by definition."""

from __future__ import annotations

import random

import pytest

from mauve_metric.duplicates.cut_substrings import cut_repeated
from mauve_metric.duplicates.memorisation import prompted_memorisation
from mauve_metric.lexical.tokens import spaced_places, spaced_tokens


def texts_of(seed: int, count: int = 12) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice("abc") for _ in range(rng.randrange(25))) for _ in range(count)]


def naive(texts: list[str], length: int, keep_first: bool, whole: int = 0) -> tuple[list[str], list[int]]:
    """What is left of the texts after the first `whole`, and their longest repeats."""
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
