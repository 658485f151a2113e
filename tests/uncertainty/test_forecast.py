"""The forecasts against the textbook's formula, draws, and by design."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from mauve_metric import compare
from mauve_metric.uncertainty.forecast import detectable_difference, texts_to_decide
from mauve_metric.uncertainty.intervals import local_form_inverse


def test_smallest_difference_is_the_textbook_formula() -> None:
    normal = NormalDist()
    assert detectable_difference(0.02) == pytest.approx(0.02 * (normal.inv_cdf(0.975) + normal.inv_cdf(0.8)))


def test_a_value_in_the_middle_or_a_wide_interval_needs_more_texts() -> None:
    """On the scale of the shift of two normal sets: a narrower interval, or a value farther from the bound, decides."""
    lows = [texts_to_decide(0.99, low, 0.9, 200) for low in (0.6, 0.7, 0.8, 0.88)]
    assert None not in lows and lows == sorted(lows, reverse=True) and len({*lows}) == 4
    levels = [texts_to_decide(0.99, 0.8, bound, 200) for bound in (0.97, 0.95, 0.9, 0.8)]
    assert None not in levels and levels == sorted(levels, reverse=True)
    sizes = [texts_to_decide(0.99, 0.8, 0.9, n) for n in (200, 400)]
    assert sizes[1] == pytest.approx(2 * sizes[0], abs=1)
    assert texts_to_decide(0.95, 0.95, 0.9, 200) is None  # no error is known
    assert texts_to_decide(0.95, 0.8, 0.9, 200, level=1e-17) is None
    assert texts_to_decide(0.99, 0.93, 0.9, 200, level=0.5) is not None
    assert texts_to_decide(0.5, 0.0, 0.9, 200) == texts_to_decide(0.5, 1e-3, 0.9, 200)  # a score of 0 has no scale
    assert min(level for level in lows if level is not None) > 200


@pytest.mark.parametrize(("value", "low", "bound", "n"), [(0.985, 0.86, 0.9, 300), (0.999, 0.9, 0.9, 300)])
def test_four_of_five_draws_decide_at_the_size_that_is_named(value: float, low: float, bound: float, n: int) -> None:
    """By drawing truth and estimate on the scale where they are normal; of 20 000 five standard errors are .014."""
    rng = np.random.default_rng(0)
    at, end, most = (local_form_inverse(score) for score in (value, low, bound))
    error, normal = (end - at) / 1.96, NormalDist()
    texts = texts_to_decide(value, low, bound, n)
    assert texts is not None
    below = normal.cdf(-at / error)
    draws = (below + (1 - below) * rng.random(20_000)).tolist()
    truths = np.array([at + error * normal.inv_cdf(draw) for draw in draws])
    for size, least, most_decided in ((texts, 0.786, 0.83), (texts / 1.3, 0.6, 0.786)):
        then = error * math.sqrt(n / size)
        found = truths + then * rng.normal(size=20_000)
        decided = np.mean((found + 1.96 * then < most) | (found - 1.96 * then > 0))
        assert least < decided < most_decided


@pytest.mark.slow
def test_compare_forecasts_fewer_texts_for_aligned_rows() -> None:
    rng = np.random.default_rng(1)
    human, prompts = rng.normal(size=(400, 6)), rng.normal(size=(400, 6))
    models = {"a": prompts + 0.4, "b": prompts + 0.5 + 0.05 * rng.normal(size=(400, 6))}
    rows = {name: np.arange(400) for name in models}
    unpaired, paired = [compare(p_features=human, models=models, num_runs=1, q_groups=found) for found in (None, rows)]
    assert unpaired.texts_needed is not None and paired.texts_needed is not None
    assert paired.texts_needed < unpaired.texts_needed
