"""Tails against the complementary error function, and where that underflows."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import t

from mauve_metric.measures import p_values
from mauve_metric.runtime.plain_text import p_words
from mauve_metric.uncertainty.gap_buckets import noise_p_values
from mauve_metric.uncertainty.intervals import Estimate, estimate_difference


@pytest.mark.parametrize("z", [-3.0, -0.5, 0.0, 1.0, 5.0, 20.0])
def test_tails_are_those_of_the_error_function(z: float) -> None:
    assert p_values.upper_tail(z) == pytest.approx(math.erfc(z / math.sqrt(2)) / 2, rel=1e-10)
    assert p_values.two_sided(z) == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-10)


@pytest.mark.parametrize("freedom", [1, 3, 9.5, 200])
def test_tails_of_students_t_are_those_of_its_density(freedom: float) -> None:
    for z in (-2.5, 0.0, 0.5, 4.0):
        inside = 2 * quad(t(freedom).pdf, 0, abs(z), epsabs=1e-12)[0]
        assert p_values.two_sided(z, freedom) == pytest.approx(1 - inside, rel=1e-7)
    assert p_values.two_sided(math.inf, freedom) == p_values.SMALLEST > 0


@pytest.mark.parametrize("z", [39.0, 1e3, 1e200, math.inf])
def test_no_tail_is_zero(z: float) -> None:
    for p_value in (p_values.upper_tail(z), p_values.two_sided(z), p_values.two_sided(-z)):
        assert 0 < p_value < 1e-300 and json.loads(json.dumps(p_value)) == p_value
        assert p_words(p_value) == "p < 0.0001"


@pytest.mark.parametrize("error", [1e-3, 1e-30, 0.0])
def test_no_difference_has_the_p_value_zero(error: float) -> None:
    a, b = (Estimate(value, error, (value - 2 * error, value + 2 * error)) for value in (0.9, 0.1))
    assert 0 < estimate_difference(a, b, 0.0).p_value < 1e-300


def test_no_bucket_has_the_p_value_zero() -> None:
    found = noise_p_values(np.array([3000, 0, 5]), np.array([0, 3000, 5]))
    assert (found > 0).all() and found[:2].max() < 1e-300


def test_a_corrected_p_value_is_at_most_1() -> None:
    assert p_values.holm([0.9, 0.6]).tolist() == [1.0, 1.0]
