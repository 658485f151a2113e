"""Counts of labels and their shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mauve_metric.clustering.histograms import Histograms, count_labels, too_many_singles


def test_count_labels() -> None:
    histograms = count_labels(np.array([0, 0, 3]), np.array([1, 1]), 5)
    assert histograms.p_counts.tolist() == [2, 0, 0, 1, 0]
    assert histograms.q_counts.tolist() == [0, 2, 0, 0, 0]


def test_histograms_are_equal_to_themselves_alone() -> None:
    first, second = (count_labels(np.array([0, 1]), np.array([1, 1]), 2) for _ in range(2))
    assert first == first and first not in [second] and first in {first: 1}


def test_singles_are_too_many_beyond_seven_quarters_of_the_root() -> None:
    assert not too_many_singles(np.repeat([1, 2, 0], [7, 9, 5])) and too_many_singles(np.repeat([1, 2, 0], [8, 8, 5]))


def test_probabilities() -> None:
    histograms = Histograms(np.array([3, 1, 0]), np.array([0, 2, 0]))
    p, q = histograms.probabilities()
    assert p.tolist() == [0.75, 0.25, 0] and q.tolist() == [0, 1, 0]
    p, q = histograms.probabilities(smoothing=0.5)
    np.testing.assert_allclose(p, np.array([3.5, 1.5, 0.5]) / 5.5, rtol=1e-15)
    np.testing.assert_allclose(q, np.array([0.5, 2.5, 0.5]) / 3.5, rtol=1e-15)


def test_histograms_take_any_integers() -> None:
    histograms = Histograms(np.array([1, 2], dtype=np.uint8), [3, 4])  # type: ignore[arg-type]
    assert histograms.p_counts.dtype == histograms.q_counts.dtype == np.int64


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([1.5, 2], [1, 2], "p_counts must be a vector of non-negative integers"),
        ([1, 2], [2, -1], "q_counts must be a vector of non-negative integers"),
        ([0, 0], [1, 2], "p_counts must be .* with a positive sum"),
        ([[1, 2]], [1, 2], "p_counts must be a vector"),
        ([1, 2], [], "q_counts must be a vector"),
        ([1, 2], [1, 2, 3], "p_counts and q_counts must have the same length, got 2 and 3"),
        ([True, False], [1, 2], "p_counts must be a vector of non-negative integers"),
    ],
)
def test_histogram_errors(p: object, q: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Histograms(p, q)  # type: ignore[arg-type]


@pytest.mark.parametrize("smoothing", [-4, float("nan"), float("inf"), "1", None])
def test_what_cannot_be_added_to_counts_is_refused(smoothing: Any) -> None:
    with pytest.raises(ValueError, match=r"^smoothing must be a number in \[0, inf\), got "):
        Histograms(np.array([3, 1]), np.array([0, 2])).probabilities(smoothing)
