"""Log-ratios by a classifier: scikit-learn's regression, held-out points, fits that stop early."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from mauve_metric.measures import classifier_ratios
from mauve_metric.measures.classifier_ratios import classifier_log_ratios
from mauve_metric.measures.ratio_estimators import estimate_ratio_scores

Floats = NDArray[np.float64]


def sides(n: int, d: int, shift: float, scale: float, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows of N(0, 1), those of Q shifted and scaled in the first column."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(2, n, d))
    q[:, 0] = q[:, 0] * scale + shift
    return p, q


def test_regression_is_that_of_scikit_learn() -> None:
    rows, held = np.concatenate(sides(80, 3, 1.0, 1.5)), sides(10, 3, 1.0, 1.5, seed=5)[1]
    y = np.repeat([1.0, 0.0], 80)
    logits, done = classifier_ratios._fold_logits(rows, y, held)
    assert done.all()
    columns, held_columns = (classifier_ratios._columns(rows, some) for some in (rows, held))
    for penalty, found in zip(classifier_ratios._PENALTIES, logits, strict=True):
        model = LogisticRegression(C=1 / (len(y) * penalty), tol=1e-10, max_iter=10_000).fit(columns, y)
        # a gradient below 1e-5 over the least curvature; the weak penalties leave flat directions
        assert found == pytest.approx(model.decision_function(held_columns), abs=2e-2)


def test_classifier_has_not_seen_the_points() -> None:
    """Far more columns than rows, and nothing to find: held-out ratios are no better than chance."""
    p, q = np.random.default_rng(2).normal(size=(2, 40, 200))
    found = classifier_log_ratios(p, q)
    assert (found.p > 0).mean() < 0.75 and (found.q < 0).mean() < 0.75
    assert np.abs(found.p).max() <= np.log(64) + 1e-12


def test_a_fit_that_stops_early_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier_ratios, "_MOST_STEPS", 1)
    assert not estimate_ratio_scores(*sides(100, 3, 1.0, 1.0), "classifier").converged
