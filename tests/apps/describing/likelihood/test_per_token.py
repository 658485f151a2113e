"""Measures of tokens' probabilities against closed forms, naive loops and published values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from mauve_metric.apps.describing.likelihood.per_token import (
    epsilon_log_probabilities,
    mean_by_text,
    perplexity_by_text,
    rank_counts,
    repeated_choices,
    token_jensen_shannon,
)


def ragged(seed: int, texts: int = 40, longest: int = 30) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, np.concatenate([[0], np.cumsum(rng.integers(1, longest, size=texts))])


def perplexity(logs: np.ndarray, more: int = 0) -> float:
    """Of one text, with more tokens than the predicted ones."""
    return float(perplexity_by_text(logs, np.array([0, len(logs)]), np.array([more]))[0])


def epsilon_perplexity(logs: np.ndarray, vocabulary: int, *epsilon: float) -> float:
    return perplexity(epsilon_log_probabilities(logs, vocabulary, *epsilon))


# --- perplexities -------------------------------------------------------------------------------------------------


def test_perplexity_is_one_over_the_geometric_mean() -> None:
    p = np.random.default_rng(0).random(50)
    expected = math.prod(1 / value for value in p) ** (1 / 50)
    assert perplexity(np.log(p)) == pytest.approx(expected, rel=1e-12)
    assert perplexity(np.log(p), 10) == pytest.approx(expected ** (50 / 60), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0, 1e-7, 1e-5, 0.1, 3.0])
def test_epsilon_perplexity_of_a_uniform_model_is_the_vocabulary(epsilon: float) -> None:
    assert epsilon_perplexity(np.full(5, -math.log(321)), 321, epsilon) == pytest.approx(321, rel=1e-12)


def test_epsilon_perplexity_of_impossible_tokens() -> None:
    assert epsilon_perplexity(np.array([-np.inf]), 10, 0.5) == pytest.approx(1 / (0.5 / 6))
    assert epsilon_perplexity(np.array([-np.inf]), 10, 0) == math.inf


def test_default_epsilon_gives_the_published_value() -> None:
    """Pillutla et al. 2021, greedy GPT-2 XL: sparsemax score .496, ε-perplexity 497.696.

    Greedy decoding puts all on one token, so that its sparsemax score is the share p that is right, and ε-perplexity
    is (1 + ε·V)/((1 + ε)^p·ε^(1 - p)). p is known to .0005, and so the value to a share of .0005·log(1/ε) = .0058.
    """
    right = np.array([0.0] * 496 + [-np.inf] * 504)
    assert epsilon_perplexity(right, 50257) == pytest.approx(497.696, rel=0.0058)
    for other in (1e-4, 1e-6):  # the nearest that the code tries are off by a fourth
        assert epsilon_perplexity(right, 50257, other) != pytest.approx(497.696, rel=0.2)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, math.inf])
def test_epsilon_out_of_range(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be a number of at least 0, got"):
        epsilon_perplexity(np.array([-1.0]), 10, epsilon)


def test_no_predicted_token_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no predicted token"):
        perplexity(np.empty(0))


# --- token by token -----------------------------------------------------------------------------------------------


def test_jensen_shannon_is_scipys() -> None:
    p = np.random.default_rng(1).dirichlet(np.full(6, 0.3), size=20)
    expected = [jensenshannon(row, np.eye(6)[2]) ** 2 for row in p]
    np.testing.assert_allclose(token_jensen_shannon(np.log(p[:, 2])), expected, atol=1e-12)
    np.testing.assert_array_equal(token_jensen_shannon(np.array([0.0, -np.inf, -800.0])), [0, np.log(2), np.log(2)])


@pytest.mark.parametrize("window", [1, 3, 64])
def test_repeated_choices_equal_a_loop(window: int) -> None:
    rng, offsets = ragged(2)
    ids, choices = rng.integers(0, 12, size=(2, offsets[-1]))
    first = rng.integers(-1, 12, size=len(offsets) - 1)
    expected = []
    for text, (begin, end) in enumerate(itertools.pairwise(offsets)):
        seen = [first[text]]
        for token, choice in zip(ids[begin:end], choices[begin:end], strict=True):
            expected.append(float(choice in seen[-window:]))
            seen.append(token)
    assert 0 < np.mean(expected) < 1
    np.testing.assert_array_equal(repeated_choices(choices, ids, offsets, first, window), expected)


def test_an_empty_window_is_refused() -> None:
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        repeated_choices(np.array([1]), np.array([1]), np.array([0, 1]), np.array([1]), 0)


# --- ranks --------------------------------------------------------------------------------------------------------


def test_ranks_on_the_border_of_a_bin() -> None:
    for number, ranks in enumerate(({1}, {2, 5}, {6, 100}, {101, 50257})):
        for rank in ranks:
            counts = rank_counts(np.array([rank]), np.array([0, 1]))
            assert counts.tolist() == [[int(number == other) for other in range(4)]], rank


def test_rank_counts_are_a_text_s_own() -> None:
    rng, offsets = ragged(3)
    ranks = rng.integers(1, 300, size=offsets[-1])
    counts = rank_counts(ranks, offsets, (1, 5, 100))
    for text, (begin, end) in enumerate(itertools.pairwise(offsets)):
        own = ranks[begin:end]
        assert counts[text].tolist() == [
            (own == 1).sum(), ((own > 1) & (own <= 5)).sum(), ((own > 5) & (own <= 100)).sum(), (own > 100).sum()
        ]  # fmt: skip


# --- numbers a text -----------------------------------------------------------------------------------------------


def test_numbers_a_text_have_the_measure_as_their_mean() -> None:
    rng, offsets = ragged(4)
    logs = np.log(rng.random(offsets[-1]))
    none = np.zeros(len(offsets) - 1, dtype=int)
    assert mean_by_text(logs, offsets).mean() == pytest.approx(logs.mean(), rel=1e-12)
    assert perplexity_by_text(logs, offsets, none).mean() == pytest.approx(math.exp(-logs.mean()), rel=1e-12)
    expected = math.exp(-logs.sum() / (len(logs) + 40))
    assert perplexity_by_text(logs, offsets, none + 1).mean() == pytest.approx(expected, rel=1e-12)


def test_scatter_of_numbers_a_text_is_the_error_of_the_measure() -> None:
    """Texts whose tokens hang together, and long ones more surprising: a bootstrap of tokens would be far off."""
    rng, texts, found = np.random.default_rng(5), 150, []
    for _ in range(600):
        lengths = rng.integers(2, 60, size=texts)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        level = rng.normal(-2 - lengths / 60, 0.5)
        logs = np.repeat(level, lengths) + rng.normal(0, 0.3, size=offsets[-1])
        pairs = [mean_by_text(logs, offsets), perplexity_by_text(logs, offsets, np.zeros(texts, dtype=int))]
        found.append([(numbers.mean(), numbers.std() / np.sqrt(texts)) for numbers in pairs])
    values, errors = np.moveaxis(np.array(found), 2, 0)
    # a standard deviation of 600 draws is known to 1/√1200 = 3 %; three times that, and 1 % for n = 150
    np.testing.assert_allclose(errors.mean(axis=0), values.std(axis=0), rtol=0.1)
