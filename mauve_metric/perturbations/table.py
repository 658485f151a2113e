"""Known errors to insert into human texts, by name; a featurizer should detect them.

Each is a pure function of texts, a strength from 0 (nothing changes) to 1 and a seed; a stronger change touches what a
weaker one does, and more. The kinds are those of He et al. 2023 (*On the blind spots of model-based evaluation metrics
for text generation*, section 4) that need no model, and some that users meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.lexical.ngrams import word_counts, words_and_marks
from mauve_metric.perturbations import kinds
from mauve_metric.perturbations.kinds import Perturb
from mauve_metric.perturbations.pieces import MOST, amount, check_strength, generator

_TOPIC_WORDS = 2000  # most that are used to find the topics


class Perturbation(NamedTuple):
    """A known error.

    perturb: gives texts the error. said: its name in a sentence.
    """

    perturb: Perturb
    said: str


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
    kept = np.sort(common[np.argsort(-texts_with[common], kind="stable")[:_TOPIC_WORDS]])
    if not len(kept):
        return np.zeros(len(texts))
    weighted = np.log1p(counts[:, kept].toarray()) * np.log(len(texts) / texts_with[kept])
    weighted /= np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-12)
    left, sizes, right = np.linalg.svd(weighted - weighted.mean(axis=0), full_matrices=False)
    heaviest = np.argmax(np.abs(right[0]) > (1 - 1e-6) * np.abs(right[0]).max())  # the first of words that weigh alike
    axis: Floats = left[:, 0] * sizes[0] * np.sign(right[0, heaviest])
    return axis


PERTURBATIONS: dict[str, Perturbation] = {
    "truncated": Perturbation(kinds.truncated, "missing ends"),
    "words_swapped": Perturbation(kinds.words_swapped, "neighbouring words swapped"),
    "words_shuffled": Perturbation(kinds.words_shuffled, "words shuffled"),
    "sentences_swapped": Perturbation(kinds.sentences_swapped, "neighbouring sentences swapped"),
    "sentences_shuffled": Perturbation(kinds.sentences_shuffled, "sentences shuffled"),
    "phrase_repeated": Perturbation(kinds.phrase_repeated, "the last phrase repeated"),
    "noise_early": Perturbation(partial(kinds.noise, third=0), "wrong words at the start"),
    "noise_middle": Perturbation(partial(kinds.noise, third=1), "wrong words in the middle"),
    "noise_late": Perturbation(partial(kinds.noise, third=2), "wrong words at the end"),
    "lower_case": Perturbation(kinds.lower_case, "missing capitals"),
    "function_words_removed": Perturbation(kinds.function_words_removed, "missing function words"),
    "typos": Perturbation(kinds.typos, "typos"),
    "numbers_changed": Perturbation(kinds.numbers_changed, "wrong numbers"),
    "names_changed": Perturbation(kinds.names_changed, "wrong names"),
    "unrelated_sentences": Perturbation(kinds.unrelated_sentences, "unrelated sentences"),
    "boilerplate_opening": Perturbation(kinds.boilerplate_opening, "an assistant's openings"),
    "texts_duplicated": Perturbation(texts_duplicated, "duplicated texts"),
    "topic_dropped": Perturbation(topic_dropped, "a missing topic"),
    "languages_mixed": Perturbation(kinds.languages_mixed, "sentences in other languages"),
    "markup_left_over": Perturbation(kinds.markup_left_over, "left-over markup and code"),
}
