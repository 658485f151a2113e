"""The smallest difference that sets would show against the textbook's formula, and by design."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from mauve_metric import compare
from mauve_metric.uncertainty.forecast import detectable_difference, score_told_from_one
from mauve_metric.uncertainty.intervals import local_form_inverse


def test_smallest_difference_is_the_textbook_formula() -> None:
    normal = NormalDist()
    assert detectable_difference(0.02) == pytest.approx(0.02 * (normal.inv_cdf(0.975) + normal.inv_cdf(0.8)))


def test_the_score_told_from_one_is_where_its_own_error_leaves_power() -> None:
    """A χ² statistic's error at the integral is that of equal sets, and two thirds of it for each set's size."""
    score, (error, n_p, n_q) = score_told_from_one(0.006, 300, 1200), (0.006, 300, 1200)
    integral = local_form_inverse(score) / (3 * 5.0)
    there = math.sqrt(error**2 + 2 / 3 * integral * (1 / n_p + 1 / n_q))
    assert integral == pytest.approx(detectable_difference(there))
    assert score_told_from_one(0.006, 1200, 300) == pytest.approx(score)


def test_compare_forecasts_fewer_texts_for_aligned_rows() -> None:
    rng = np.random.default_rng(1)
    human, prompts = rng.normal(size=(400, 6)), rng.normal(size=(400, 6))
    models = {"a": prompts + 0.4, "b": prompts + 0.5 + 0.05 * rng.normal(size=(400, 6))}
    rows = {name: np.arange(400) for name in models}
    unpaired, paired = [compare(p_features=human, models=models, num_runs=1, q_groups=found) for found in (None, rows)]
    assert unpaired.texts_needed is not None and paired.texts_needed is not None
    assert paired.texts_needed < unpaired.texts_needed
