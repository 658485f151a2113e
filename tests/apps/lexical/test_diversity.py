"""Distinct n-grams, repetition and lengths against naive counts."""

from __future__ import annotations

import random

import pytest

from mauve_metric.apps.lexical.diversity import (
    MAX_PHRASE_OF_MAUVE,
    distinct_n,
    ends_repeating,
    mean_length,
    repetition,
)


def naive_repetition(tokens: list[int], longest: int) -> bool:
    """The definition, word for word: compare slices of the end."""
    copies = {}
    for n in range(1, longest + 1):
        count = 0
        while (count + 1) * n <= len(tokens) and tokens[
            len(tokens) - (count + 1) * n : len(tokens) - count * n
        ] == tokens[len(tokens) - n :]:
            count += 1
        copies[n] = count
    most = max(copies.values())
    smallest = min(n for n, count in copies.items() if count == most)
    return most > 1 and (smallest >= 3 or most > 50)


def test_repetition_is_its_definition() -> None:
    rng = random.Random(0)
    found = 0
    for _ in range(400):
        phrase = [rng.randrange(4) for _ in range(rng.randint(1, 6))]
        tokens = [rng.randrange(4) for _ in range(rng.randint(0, 5))] + phrase * rng.choice([1, 2, 3, 60])
        assert repetition([tokens], max_phrase=9) == naive_repetition(tokens, 9), tokens
        found += naive_repetition(tokens, 9)
    assert 50 < found < 350  # both cases were met


def test_repetition_by_hand() -> None:
    assert repetition([list("abab")]) == 0  # a phrase of two letters, twice
    assert repetition([list("abcabc")]) == 1
    assert repetition([list("x" * 50)]) == 0
    assert repetition([list("x" * 51)]) == 1
    assert repetition([list("xyzxyz"), list("xyz"), [], list("ab")]) == 0.25
    assert repetition([]) == 0


def test_distinct_pools_the_texts() -> None:
    assert distinct_n([[1, 2, 3, 4]], n=4) == 1
    assert distinct_n([[1, 2, 3, 4]] * 5, n=4) == 1 / 5
    assert distinct_n([[1, 2], [2, 1], [3]], n=2) == 1  # the text of one token has no bigram
    assert distinct_n([[1, 2]], n=3) == 0
    assert distinct_n([[1, 1, 2]], n=1) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        distinct_n([[1]], n=0)


def test_mean_length() -> None:
    assert mean_length([[1, 2], [], [1]]) == 1
    assert mean_length([]) == 0


def test_the_two_published_lengths_of_a_phrase() -> None:
    """A phrase of 100 tokens, twice, is found up to 500 tokens and not up to 90."""
    texts = [[*range(100)] * 2, [*range(90)] * 2, [1]]
    assert ends_repeating(texts).tolist() == [0, 1, 0]
    assert ends_repeating(texts, MAX_PHRASE_OF_MAUVE).tolist() == [1, 1, 0]
    with pytest.raises(ValueError, match="max_phrase must be at least 1, got 0"):
        ends_repeating(texts, 0)
