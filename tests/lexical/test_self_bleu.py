"""Self-BLEU against NLTK, self-repetition against its definition."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from mauve_metric.lexical.self_bleu import bleu_against_others, self_bleu, self_repetition


def random_texts(seed: int, vocabulary: int, longest: int, count: int = 25) -> list[list[str]]:
    """Texts of words of which few are frequent, some empty, some twice, one of a word that no other has."""
    rng = random.Random(seed)
    texts = [
        [str(min(int(rng.paretovariate(0.8)), vocabulary)) for _ in range(rng.randint(0, longest))]
        for _ in range(count)
    ]
    return [*texts, texts[3], texts[4][:-1], ["alone"], ["1"]]


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
