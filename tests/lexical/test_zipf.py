"""The Zipf coefficient on frequencies that follow a law, and its published variants against numpy's fit of a line."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mauve_metric.lexical.zipf import types_of_mass, zipf_coefficient


def texts_of(frequencies: list[int]) -> list[list[int]]:
    return [[token] * times for token, times in enumerate(frequencies)]


@pytest.mark.parametrize("s", [0.5, 1.0, 1.7])
@pytest.mark.parametrize("thinned", [False, True])
def test_a_power_law_has_its_exponent(s: float, thinned: bool) -> None:
    """Rounding 10⁵ / rank^s to an integer changes its logarithm by at most ½·10⁻⁵·100^1.7 ≈ 0.013 at the last of the
    ranks, the abscissa of thinned ranks by at most 1/30 over a line 4 long: below 0.02 s in the slope."""
    texts = texts_of([round(1e5 / rank**s) for rank in range(1, 101)])
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
        assert types_of_mass(texts_of(frequencies), mass) == types
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
