"""Distinct n-grams, entropy and lengths against naive counts and closed forms."""

from __future__ import annotations

import gzip
import math
import random
from collections import Counter

import numpy as np
import pytest
from samples import HOSTILE, texts_of

from mauve_metric.apps.describing.word_diversity.token_statistics import (
    compression_ratio,
    distinct_n_once,
    distinct_n_per_text,
    distinct_of_prompts,
    entropy_n,
    entropy_of_prompts,
    entropy_per_text,
    repeated_ngrams,
    types_of_mass,
    unrepeated,
    zipf_coefficient,
)
from mauve_metric.apps.lexical.diversity import distinct_n, lengths, mean_length


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
    of_texts = [grams(tokens, n) for tokens in texts]
    by_hand = [len(set(own)) / len(own) if own else math.nan for own in of_texts]
    np.testing.assert_allclose(distinct_n_per_text(texts, n), by_hand, atol=1e-15)
    by_tokens = [
        len(set(own)) / len(tokens) if tokens else math.nan for own, tokens in zip(of_texts, texts, strict=True)
    ]
    np.testing.assert_allclose(distinct_n_per_text(texts, n, over="tokens"), by_tokens, atol=1e-15)
    repeated = 1 - sum(len(set(own)) for own in of_texts) / sum(map(len, of_texts))
    assert repeated_ngrams(texts, n).mean() == pytest.approx(repeated, abs=1e-12)


def test_diversity_is_the_product_and_its_scatter_is_its_error() -> None:
    texts = random_texts(300, 6, 20)
    numbers = unrepeated(texts)
    assert numbers.mean() == pytest.approx(math.prod(1 - repeated_ngrams(texts, n).mean() for n in (2, 3, 4)))
    rng = np.random.default_rng(0)
    draws = [unrepeated([texts[i] for i in rng.integers(0, 300, 300)]).mean() for _ in range(200)]
    # the error of a standard deviation of 200 draws is 5 %, and the linearisation leaves out terms of 1/300
    assert numbers.std() / math.sqrt(300) == pytest.approx(np.std(draws), rel=0.25)


def test_a_text_cut_short_is_as_diverse_and_the_entropy_is_that_of_its_tokens() -> None:
    texts = [list(range(length)) for length in (40, 400)]  # without any repetition
    assert distinct_n_per_text(texts, 4).tolist() == [1.0, 1.0]
    assert distinct_n_per_text(texts, 4, over="tokens").tolist() == [37 / 40, 397 / 400]
    assert entropy_per_text([*texts, [], [1, 1, 2]]) == pytest.approx(
        [math.log(40), math.log(400), math.nan, math.log(3) - 2 / 3 * math.log(2)], nan_ok=True
    )


def test_a_prompt_without_ngrams_is_left_out_by_itself() -> None:
    texts, prompts = [["a", "b"], ["b", "c"], ["Yes"]], ["x", "x", "y"]
    assert entropy_of_prompts(texts, prompts, 2) == pytest.approx([math.log(2), math.nan], nan_ok=True)
    assert distinct_of_prompts(texts, prompts, 2) == pytest.approx([1.0, math.nan], nan_ok=True)


def test_groups_are_taken_together() -> None:
    texts = random_texts(30, 3, 8)
    groups = [index % 7 for index in range(30)]
    by_hand, entropies = [], []
    for group in range(7):
        own = [tokens for tokens, other in zip(texts, groups, strict=True) if other == group]
        counts = Counter(gram for tokens in own for gram in grams(tokens, 2))
        by_hand.append(len(counts) / counts.total())
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
    assert distinct_n_per_text([[], [1]], 1) == pytest.approx([math.nan, 1], nan_ok=True)
    with pytest.raises(ValueError, match="rep-2 needs a text of at least 2 tokens, got 2 shorter ones"):
        repeated_ngrams([[1], []], 2)
    assert distinct_n([], 2) == distinct_n_once([[]], 2) == 0
    assert lengths([]).shape == (0,)
    assert lengths([[], [5, 5]]).tolist() == [0, 2]
    assert mean_length([]) == 0


@pytest.mark.parametrize("measure", [distinct_n, distinct_n_once, distinct_n_per_text, entropy_n, repeated_ngrams])
def test_strings_and_wrong_n_are_refused(measure: object) -> None:
    assert callable(measure)
    with pytest.raises(TypeError, match="texts must be lists of tokens, got 'a b' as number 1: split it first"):
        measure([["a"], "a b"])
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        measure([["a"]], n=0)


def texts_with(frequencies: list[int]) -> list[list[int]]:
    return [[token] * times for token, times in enumerate(frequencies)]


@pytest.mark.parametrize("s", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("thinned", [False, True])
def test_a_power_law_has_its_exponent(s: float, thinned: bool) -> None:
    """Rounding 10⁵ / rank^s to an integer changes its logarithm by at most ½·10⁻⁵·100^1.7 ≈ 0.013 at the last of the
    ranks, the abscissa of thinned ranks by at most 1/30 over a line 4 long: below 0.02 s in the slope."""
    texts = texts_with([round(1e5 / rank**s) for rank in range(1, 101)])
    assert zipf_coefficient(texts, thinned=thinned) == pytest.approx(s, abs=0.02 * s + 0.01 if thinned else 0.003)


def test_the_variants_are_their_definitions() -> None:
    rng = np.random.default_rng(0)
    tokens = np.minimum(rng.zipf(1.3, size=20_000), 10**6)
    texts = [part.tolist() for part in np.array_split(tokens, 50)]
    frequencies = np.sort(np.unique(tokens, return_counts=True)[1])[::-1]
    ranks = np.arange(1, len(frequencies) + 1)
    assert len(ranks) > 1000
    for most in (None, 300):
        slope = np.polyfit(np.log(ranks[:most]), np.log(frequencies[:most]), 1)[0]
        assert zipf_coefficient(texts, ranks=most) == pytest.approx(-slope, abs=1e-9)
    seen: dict[float, float] = {}
    for rank in range(1, 300):  # one below the 300 most frequent
        seen.setdefault(round(15 * math.log(rank)) / 15, math.log(frequencies[rank - 1]))
    slope = np.polyfit(list(seen), list(seen.values()), 1)[0]
    assert zipf_coefficient(texts, ranks=300, thinned=True) == pytest.approx(-slope, abs=1e-9)


def test_types_of_a_mass_are_counted_one_by_one() -> None:
    rng = np.random.default_rng(1)
    for mass in (0.1, 0.5, 0.8, 1.0):
        frequencies = [int(times) for times in rng.integers(1, 50, 40)]
        covered, types = 0, 0
        for times in sorted(frequencies, reverse=True):
            if covered >= mass * sum(frequencies):
                break
            covered, types = covered + times, types + 1
        assert types_of_mass(texts_with(frequencies), mass) == types
    assert types_of_mass([list(range(10))]) == 8
    for texts, mass, said in (([[]], 0.8, "at least one token"), ([[1]], 0.0, "mass must be above 0")):
        with pytest.raises(ValueError, match=said):
            types_of_mass(texts, mass)


def test_too_few_tokens_for_a_line() -> None:
    assert zipf_coefficient([[1, 2, 3]]) == 0
    for texts in ([], [[]], [[7, 7, 7]]):
        with pytest.raises(ValueError, match=r"needs at least 2 different tokens, got [01]$"):
            zipf_coefficient(texts)
    with pytest.raises(ValueError, match="needs at least 3 different tokens, got 2"):
        zipf_coefficient([[1, 2]], thinned=True)
    with pytest.raises(ValueError, match="ranks must be at least 2 or None, got 1"):
        zipf_coefficient([[1, 2]], ranks=1)


@pytest.mark.parametrize("texts", [texts_of(300), ["a"], HOSTILE, ["", "é", "", "語" * 500]])
def test_it_is_the_ratio_of_gzip(texts: list[str]) -> None:
    data = " ".join(texts).encode()
    assert compression_ratio(texts) == len(data) / len(gzip.compress(data, 9))


def test_empty_texts_have_none() -> None:
    for texts in ([], ["", ""]):
        with pytest.raises(ValueError, match="needs a text that is not empty, got"):
            compression_ratio(texts)


def test_half_a_surrogate_is_counted_too() -> None:
    assert compression_ratio(["\ud800"]) > 0
