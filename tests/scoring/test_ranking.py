"""The order of models, and forecasts of their differences."""

from __future__ import annotations

from dataclasses import replace

import pytest
from samples import HUMAN_FEATURES, MODEL_FEATURES

from mauve_metric import Comparison, compare
from mauve_metric.options import MauveConfig
from mauve_metric.scoring.ranking import _forecasts
from mauve_metric.uncertainty.forecast import LEAST_TEXTS, MOST_TEXTS


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(p_features=HUMAN_FEATURES, models=MODEL_FEATURES, num_runs=2)


@pytest.mark.parametrize("stderr", [1e-12, 0.01, 0.4, 5.0])
@pytest.mark.parametrize("difference", [0.0, 1e-12, 1e-4, 0.2, 1.0])
def test_forecasts_near_their_ends_are_numbers_of_texts(
    comparison: Comparison, stderr: float, difference: float
) -> None:
    pair = replace(comparison.differences[0], difference=difference, stderr=stderr)
    smallest, needed = _forecasts([pair], comparison.models, MauveConfig())
    assert smallest is not None and 0 < smallest <= 1
    assert needed is None or LEAST_TEXTS <= needed <= MOST_TEXTS
    if difference == 0:
        assert needed is None
    elif difference >= 0.2:
        assert needed is not None
