"""N-grams counted in arrays against a Counter for each text."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from mauve_metric.apps.lexical.ngrams import ngram_counts, word_counts
from mauve_metric.apps.lexical.tokens import number_tokens


@pytest.mark.parametrize("n", [1, 2, 4, 9, 40])
def test_every_count_is_that_of_a_counter(n: int) -> None:
    """With n = 40 and 50 words, the key of an n-gram would not fit into 64 bits."""
    rng = random.Random(n)
    words = [f"word{index}" for index in range(50)]
    phrase = [rng.choice(words) for _ in range(45)]
    texts = [[*rng.choices(words, k=rng.randint(0, 30)), *phrase * rng.randint(0, 2)] for _ in range(30)]
    counts = ngram_counts(texts, n)
    found: dict[int, Counter[int]] = {index: Counter() for index in range(30)}
    for gram, text, times in zip(counts.gram.tolist(), counts.text.tolist(), counts.times.tolist(), strict=True):
        found[text][gram] = times
    named: dict[tuple[str, ...], int] = {}
    for index, tokens in enumerate(texts):
        own = Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))
        assert sorted(own.values()) == sorted(found[index].values())
        named.update(dict.fromkeys(own, 0))
    assert counts.num_grams == len(named)
    everywhere = Counter(tuple(tokens[start : start + n]) for tokens in texts for start in range(len(tokens) - n + 1))
    assert sorted(counts.frequencies.tolist()) == sorted(everywhere.values())


def test_numbered_tokens_are_texts_too() -> None:
    texts = [["a", "b"], [], ["b", "c", "b"]]
    numbered = number_tokens(texts)
    assert list(numbered) == [[0, 1], [], [1, 2, 1]]
    assert numbered[1:] == [[], [1, 2, 1]] and numbered[-1] == [1, 2, 1]
    assert len(numbered) == 3 and number_tokens(numbered) is numbered
    assert ngram_counts(numbered, 2).num_grams == ngram_counts(texts, 2).num_grams == 3


def test_word_counts_are_scikit_learns() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["a b a c", "c c", "", "b a"]
    oracle = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+").fit_transform(texts).toarray()
    found = word_counts([text.split() for text in texts], n=2).toarray()
    assert sorted(map(tuple, found.T)) == sorted(map(tuple, oracle.T))
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        word_counts([["a"]], n=0)
