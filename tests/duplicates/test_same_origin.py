"""Groups of texts that are copies or answers to one prompt, against a search through the graph."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.duplicates.same_origin import same_origin, texts_of_one_origin
from mauve_metric.lexical.ngrams import word_counts


def test_groups_are_the_components() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 25, size=(2, 40)).tolist()
    linked = np.array([[any(c[i] == c[j] for c in columns) for j in range(40)] for i in range(40)])
    reached = np.linalg.matrix_power(linked.astype(float), 40) > 0
    groups = same_origin(*columns)
    assert 1 < len(set(groups)) < 25
    assert np.array_equal(groups[:, None] == groups[None, :], reached)


def test_texts_of_one_prompt() -> None:
    opening = "one two three four five six seven eight"
    others = [f"text {index}" for index in range(40)]
    texts = [f"{opening} nine", f"{opening.upper()}\n ten", *others]
    assert texts_of_one_origin(texts)[:3].tolist() == [0, 0, 1]
    assert texts_of_one_origin(texts, prompts=range(42))[:2].tolist() == [0, 1]
    boilerplate = [f"{opening} {index}" for index in range(10)]  # a fifth of all: a manner of writing
    assert len(set(texts_of_one_origin([*boilerplate, *others]))) == 50
    with pytest.raises(ValueError, match="one entry a text, got 1 for 42"):
        texts_of_one_origin(texts, prompts=["a"])


def test_word_counts_are_scikit_learns() -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    texts = ["a b a c", "c c", "", "b a"]
    oracle = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+").fit_transform(texts).toarray()
    found = word_counts([text.split() for text in texts], n=2).toarray()
    assert sorted(map(tuple, found.T)) == sorted(map(tuple, oracle.T))
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        word_counts([["a"]], n=0)
