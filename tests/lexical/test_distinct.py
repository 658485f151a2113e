"""Distinct n-grams, entropy and lengths against naive counts and closed forms."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from mauve_metric.lexical.distinct import (
    distinct_n,
    distinct_n_once,
    distinct_n_per_text,
    distinct_of_prompts,
    entropy_n,
    entropy_of_prompts,
    lengths,
    mean_length,
)


def random_texts(count: int, vocabulary: int, longest: int, seed: int = 0) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(vocabulary) for _ in range(rng.randint(0, longest))] for _ in range(count)]


def grams(tokens: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_each_is_its_definition(n: int) -> None:
    texts = random_texts(40, 4, 12, seed=n)
    counts = Counter(gram for tokens in texts for gram in grams(tokens, n))
    total = counts.total()
    assert distinct_n(texts, n) == len(counts) / total
    assert distinct_n_once(texts, n) == sum(times == 1 for times in counts.values()) / total
    entropy = -math.fsum(times / total * math.log(times / total) for times in counts.values())
    assert entropy_n(texts, n) == pytest.approx(entropy, abs=1e-12)
    by_hand = [len(set(grams(tokens, n))) / max(len(tokens), 1) for tokens in texts]
    np.testing.assert_allclose(distinct_n_per_text(texts, n), by_hand, atol=1e-15)


def test_groups_are_taken_together() -> None:
    texts = random_texts(30, 3, 8)
    groups = [index % 7 for index in range(30)]
    by_hand, entropies = [], []
    for group in range(7):
        own = [tokens for tokens, other in zip(texts, groups, strict=True) if other == group]
        by_hand.append(len({gram for tokens in own for gram in grams(tokens, 2)}) / sum(map(len, own)))
        counts = Counter(gram for tokens in own for gram in grams(tokens, 2))
        shares = [times / counts.total() for times in counts.values()]
        entropies.append(-math.fsum(share * math.log(share) for share in shares))
    np.testing.assert_allclose(distinct_of_prompts(texts, groups, 2), by_hand, atol=1e-15)
    np.testing.assert_allclose(entropy_of_prompts(texts, groups, 2), entropies, atol=1e-12)
    with pytest.raises(ValueError, match="groups must be one for each of the 30 texts, got 2"):
        distinct_n_per_text(texts, 2, [1, 2])


def test_the_entropy_of_equally_frequent_tokens_is_the_logarithm_of_their_number() -> None:
    assert entropy_n([list(range(50))] * 3, 1) == pytest.approx(math.log(50), abs=1e-12)
    assert entropy_n([[1, 1, 1]], 2) == 0
    with pytest.raises(ValueError, match="at least n = 4 tokens, got 2 shorter ones"):
        entropy_n([[1, 2], [3]], 4)


def test_texts_without_tokens_and_no_texts() -> None:
    assert distinct_n_per_text([[], [1]], 1).tolist() == [0, 1]
    assert distinct_n([], 2) == distinct_n_once([[]], 2) == 0
    assert lengths([]).shape == (0,)
    assert lengths([[], [5, 5]]).tolist() == [0, 2]
    assert mean_length([]) == 0


@pytest.mark.parametrize("measure", [distinct_n, distinct_n_once, distinct_n_per_text, entropy_n])
def test_strings_and_wrong_n_are_refused(measure: object) -> None:
    assert callable(measure)
    with pytest.raises(TypeError, match="texts must be lists of tokens, got 'a b' as number 1: split it first"):
        measure([["a"], "a b"])
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        measure([["a"]], n=0)
