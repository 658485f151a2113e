"""Sets of human texts with known errors that no single text has: copies, and a topic that is missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.lexical.word_counts import word_counts, words_and_marks
from mauve_metric.perturbations.pieces import MOST, amount, check_strength, generator

_TOPIC_WORDS = 2000  # most that are used to find the topics


def texts_duplicated(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """Of the texts 0.9·strength give way to copies of the others, as many of each.

    >>> len(set(texts_duplicated([f"text {number}" for number in range(10)], 1)))
    1
    """
    replaced = min(amount(len(texts), MOST * check_strength(strength)), max(len(texts) - 1, 0))
    order = generator(seed).permutation(len(texts)).tolist()
    kept, found = order[replaced:], list(texts)
    for number, place in enumerate(order[:replaced]):
        found[place] = texts[kept[number % len(kept)]]
    return found


def topic_dropped(texts: Sequence[str], strength: float, seed: int = 25) -> list[str]:
    """The texts at one end of the main topic are left out, half of all at strength 1; the seed says which end.

    The main topic is the direction in which the tf-idf of the texts' words spreads most.

    >>> texts = ["ships sail the sea", "a ship on the sea", "the sea and ships sail", "cake with cream", "bake a cake"]
    >>> topic_dropped([*texts, "cream cake to bake"], 1)
    ['cake with cream', 'bake a cake', 'cream cake to bake']
    """
    missing = min(amount(len(texts), check_strength(strength) / 2), max(len(texts) - 1, 0))
    end = generator(seed).choice([-1.0, 1.0])
    left_out = set(np.argsort(end * topic_axis(texts), kind="stable")[:missing].tolist()) if missing else set()
    return [text for number, text in enumerate(texts) if number not in left_out]


def topic_axis(texts: Sequence[str]) -> Floats:
    """Position of each text along the direction of most variance of tf-idf, (n,), without words in most of them."""
    counts = word_counts([[word.lower() for word in words_and_marks(text) if word.isalpha()] for text in texts])
    texts_with = np.bincount(counts.indices, minlength=counts.shape[1])
    common = np.nonzero((texts_with > 1) & (2 * texts_with <= len(texts)))[0]
    words = np.sort(common[np.argsort(-texts_with[common], kind="stable")[:_TOPIC_WORDS]])
    if not len(words):
        return np.zeros(len(texts))
    weighted = np.log1p(counts[:, words].toarray()) * np.log(len(texts) / texts_with[words])
    weighted /= np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-12)
    left, sizes, right = np.linalg.svd(weighted - weighted.mean(axis=0), full_matrices=False)
    heaviest = np.argmax(np.abs(right[0]) > (1 - 1e-6) * np.abs(right[0]).max())  # the first of words that weigh alike
    axis: Floats = left[:, 0] * sizes[0] * np.sign(right[0, heaviest])
    return axis
