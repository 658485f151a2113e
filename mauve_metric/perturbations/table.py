"""Known errors to insert into human texts, by name; a featurizer should detect them.

Each is a pure function of texts, a strength from 0 (nothing changes) to 1 and a seed; a stronger change touches what a
weaker one does, and more. The kinds are those of He et al. 2023 (*On the blind spots of model-based evaluation metrics
for text generation*, section 4) that need no model, and some that users meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mauve_metric.perturbations import sentences as perturbed_sentences
from mauve_metric.perturbations import sets as perturbed_sets
from mauve_metric.perturbations import words as perturbed_words

Perturb = Callable[[Sequence[str], float, int], list[str]]


class Perturbation(NamedTuple):
    """A known error.

    perturb: gives texts the error. said: its name in a sentence.
    """

    perturb: Perturb
    said: str


PERTURBATIONS: dict[str, Perturbation] = {
    "truncated": Perturbation(perturbed_words.truncated, "missing ends"),
    "words_swapped": Perturbation(perturbed_words.words_swapped, "neighbouring words swapped"),
    "words_shuffled": Perturbation(perturbed_words.words_shuffled, "words shuffled"),
    "sentences_swapped": Perturbation(perturbed_sentences.sentences_swapped, "neighbouring sentences swapped"),
    "sentences_shuffled": Perturbation(perturbed_sentences.sentences_shuffled, "sentences shuffled"),
    "phrase_repeated": Perturbation(perturbed_words.phrase_repeated, "the last phrase repeated"),
    "noise_early": Perturbation(perturbed_words.noise_early, "wrong words at the start"),
    "noise_middle": Perturbation(perturbed_words.noise_middle, "wrong words in the middle"),
    "noise_late": Perturbation(perturbed_words.noise_late, "wrong words at the end"),
    "lower_case": Perturbation(perturbed_words.lower_case, "missing capitals"),
    "function_words_removed": Perturbation(perturbed_words.function_words_removed, "missing function words"),
    "typos": Perturbation(perturbed_words.typos, "typos"),
    "numbers_changed": Perturbation(perturbed_words.numbers_changed, "wrong numbers"),
    "names_changed": Perturbation(perturbed_words.names_changed, "wrong names"),
    "unrelated_sentences": Perturbation(perturbed_sentences.unrelated_sentences, "unrelated sentences"),
    "boilerplate_opening": Perturbation(perturbed_words.boilerplate_opening, "an assistant's openings"),
    "texts_duplicated": Perturbation(perturbed_sets.texts_duplicated, "duplicated texts"),
    "topic_dropped": Perturbation(perturbed_sets.topic_dropped, "a missing topic"),
    "languages_mixed": Perturbation(perturbed_sentences.languages_mixed, "sentences in other languages"),
    "markup_left_over": Perturbation(perturbed_sentences.markup_left_over, "left-over markup and code"),
}
