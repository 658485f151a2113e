"""Self-BLEU against NLTK, self-repetition against its definition."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.apps.describing.word_diversity.self_bleu import (
    bleu_against_others,
    prompt_distinct,
    prompt_diversity,
    self_bleu,
    self_repetition,
    vendi_ngrams,
)


def random_texts(seed: int, vocabulary: int, longest: int, count: int = 25) -> list[list[str]]:
    """Texts of words of which few are frequent, some empty, some twice, one of a word that no other has."""
    rng = random.Random(seed)
    texts = [
        [str(min(int(rng.paretovariate(0.8)), vocabulary)) for _ in range(rng.randint(0, longest))]
        for _ in range(count)
    ]
    return [*texts, texts[3], texts[4][:-1], ["alone"], ["1"]]


@pytest.mark.more
@pytest.mark.parametrize("n", [1, 2, 4, 5])
@pytest.mark.parametrize(("vocabulary", "longest"), [(3, 6), (30, 12), (1000, 60)])
def test_every_score_is_that_of_nltk(n: int, vocabulary: int, longest: int) -> None:
    bleu = pytest.importorskip("nltk.translate.bleu_score")
    texts = random_texts(n, vocabulary, longest)
    theirs = [
        bleu.sentence_bleu(
            texts[:index] + texts[index + 1 :],
            tokens,
            weights=(1 / n,) * n,
            smoothing_function=bleu.SmoothingFunction().method1,
        )
        for index, tokens in enumerate(texts)
    ]
    assert 0 < np.mean(theirs) < 1
    np.testing.assert_allclose(bleu_against_others(texts, n), theirs, atol=1e-12, rtol=0)
    assert self_bleu(texts, n) == pytest.approx(np.mean(theirs), abs=1e-12)


def test_by_hand() -> None:
    assert self_bleu([list("abcd")] * 3) == 1
    assert self_bleu([list("abcd"), list("efgh")]) == 0
    assert bleu_against_others([["a"], ["a", "b"]])[0] == pytest.approx(0.1**0.75 * math.exp(-1), abs=1e-12)
    assert bleu_against_others([["a"], ["b"], ["a"]])[0] == pytest.approx(0.1**0.75, abs=1e-12)
    # clipped at the most that another text has: 2 of the 3 "a", but 3 of them where another has 3
    assert bleu_against_others([list("aaa"), list("aab")], 1)[0] == pytest.approx(2 / 3, abs=1e-12)
    assert bleu_against_others([list("aaa"), list("aaa"), list("aab")], 1)[0] == pytest.approx(1, abs=1e-12)
    assert bleu_against_others([[], ["a"]]).tolist() == [0, 0]
    with pytest.raises(ValueError, match="needs at least 2 texts, got 1"):
        self_bleu([["a", "b"]])
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        self_bleu([["a"], ["a"]], 0)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_self_repetition_is_its_definition(n: int) -> None:
    texts = random_texts(9, 5, 10)
    own = [{tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)} for tokens in texts]
    sums = [
        sum(gram in other for gram in grams for place, other in enumerate(own) if place != index)
        for index, grams in enumerate(own)
    ]
    assert sum(sums) > 0
    assert self_repetition(texts, n) == pytest.approx(np.mean([math.log(1 + found) for found in sums]), abs=1e-12)
    with pytest.raises(ValueError, match="needs at least 2, got 0"):
        self_repetition([], n)


def texts_of_five_letters(seed: int, count: int = 24) -> list[list[str]]:
    rng = random.Random(seed)
    return [[rng.choice("abcde") for _ in range(rng.randint(0, 9))] for _ in range(count)]


def kernel(texts: list[list[str]], longest: int = 4) -> NDArray[np.float64]:
    """The mean of the cosines of two texts' n-grams; a text shorter than n has itself as its only one."""
    found = np.zeros((len(texts), len(texts)))
    for n in range(1, longest + 1):
        counts = [
            Counter(tuple(tokens[start : start + n]) for start in range(max(len(tokens) - n + 1, 1)))
            for tokens in texts
        ]
        norms = [math.sqrt(sum(times**2 for times in own.values())) for own in counts]
        for i, one in enumerate(counts):
            for j, two in enumerate(counts):
                found[i, j] += sum(times * two[gram] for gram, times in one.items()) / (norms[i] * norms[j]) / longest
    return found


@pytest.mark.parametrize("n", [1, 2, 4])
def test_vendi_is_its_definition(n: int) -> None:
    texts = texts_of_five_letters(n)
    eigenvalues = np.linalg.eigvalsh(kernel(texts, n) / len(texts)).clip(1e-300)
    expected = math.exp(-(eigenvalues * np.log(eigenvalues)).sum())
    assert 1 < expected < 24
    assert vendi_ngrams(texts, n) == pytest.approx(expected, rel=1e-9)


def test_vendi_counts_groups() -> None:
    assert vendi_ngrams([["so", "it", "goes"]] * 7) == pytest.approx(1, abs=1e-9)
    assert vendi_ngrams([["a"]] * 7) == pytest.approx(1, abs=1e-9)  # shorter than the longest n-gram
    assert vendi_ngrams([[], []]) == pytest.approx(1, abs=1e-9)
    assert vendi_ngrams([[str(index)] * 5 for index in range(600)]) == pytest.approx(600, rel=1e-9)
    assert vendi_ngrams([[str(index % 3)] * 5 for index in range(30)]) == pytest.approx(3, rel=1e-9)
    with pytest.raises(ValueError, match="needs at least 1 text, got none"):
        vendi_ngrams([])
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        vendi_ngrams([["a"]], 0)


def test_vendi_is_that_of_its_authors() -> None:
    vendi = pytest.importorskip("vendi_score.vendi")
    texts = [tokens * 2 for tokens in texts_of_five_letters(5) if len(tokens) >= 4]
    assert vendi_ngrams(texts) == pytest.approx(vendi.score_K(kernel(texts)), rel=1e-9)


def test_diversity_is_that_of_the_pairs_of_a_prompt() -> None:
    texts = texts_of_five_letters(2, 40)
    prompts = [f"prompt {index * index % 11}" for index in range(39)] + ["alone"]
    similar = kernel(texts)
    diversity, distinct = [], []
    for prompt in dict.fromkeys(prompts[:-1]):
        own = [index for index, other in enumerate(prompts) if other == prompt]
        pairs = [1 - similar[i, j] for i in own for j in own if i < j]
        diversity.append(np.mean(pairs))
        distinct.append(len({tuple(texts[index]) for index in own}) / len(own))
    np.testing.assert_allclose(prompt_diversity(texts, prompts), diversity, atol=1e-12)
    np.testing.assert_allclose(prompt_distinct(texts, prompts), distinct, atol=1e-15)


@pytest.mark.parametrize("measure", [prompt_diversity, prompt_distinct])
def test_too_few_prompts_and_prompts_of_one_text_are_refused(measure: object) -> None:
    assert callable(measure)
    with pytest.raises(ValueError, match="prompts must be one for each of the 2 texts, got 1"):
        measure([["a"], ["b"]], ["p"])
    with pytest.raises(ValueError, match="prompts must have one with several texts, got 2 prompts with one text each"):
        measure([["a"], ["b"]], ["p", "q"])
    with pytest.raises(ValueError, match="one with several texts, got 0 prompts"):
        measure([], [])
