"""MAUVE without buckets on sets whose distance is known: two Gaussians on a line."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.distances.density_ratios import ESTIMATORS, estimate_mauve
from mauve_metric.apps.describing.distances.without_buckets import mauve_without_buckets
from mauve_metric.clustering.projection import project

ROWS = {"neighbours": "mauve_neighbours", "classifier": "mauve_logistic", "gaussian": "mauve_gaussian"}


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
def test_each_is_the_estimate_on_projected_rows_and_sees_a_shift(estimator: str) -> None:
    rng = np.random.default_rng(0)
    p, near, far = (rng.normal(shift, 1, size=(300, 6)) for shift in (0, 0.1, 1.5))
    close, apart = (mauve_without_buckets(p, q, estimator=estimator) for q in (near, far))
    assert apart.value < 0.7 < close.value <= 1
    assert close.ci is None and close.p_value is None  # never a number of something else
    rows = np.asarray(project(np.concatenate([near, p]), seed=25), dtype=np.float64)
    assert close.value == estimate_mauve(rows[300:], rows[:300], estimator)
    assert MEASURES[ROWS[estimator]].compute(p, near, seed=25, level=0.9) == close


def test_too_few_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(8, 3))
    with pytest.raises(ValueError, match="rows"):
        mauve_without_buckets(rows[:1], rows[1:], estimator="gaussian")
