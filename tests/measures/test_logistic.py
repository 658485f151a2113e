"""Logistic regression against scikit-learn, and its cross-fitted scores by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauve_metric.measures import discriminators, logistic


def two_sides(seed: int, n_p: int, n_q: int, d: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    return rng.normal(size=(n_p, d)) @ mixing, rng.normal(size=(n_q, d)) @ mixing + shift


@pytest.mark.parametrize("strength", [1e-5, 1e-3, 0.1, 1.0])
def test_logistic_regression_is_scikit_learns(strength: float) -> None:
    p, q = two_sides(0, 120, 80, 6, 0.5)
    rows, truth = np.concatenate([p, q]) + 100, np.arange(200) >= 120
    oracle = LogisticRegression(C=strength, class_weight="balanced", tol=1e-10, max_iter=10_000)
    expected = make_pipeline(StandardScaler(), oracle).fit(rows, truth).decision_function(rows)
    # both stop near a minimum of curvature 1/C and more: odds to about the gradient that is left, 1e-6 a row
    np.testing.assert_allclose(logistic.fit_logistic(rows, truth, strength)(rows), expected, atol=2e-4)


def test_sparse_counts_are_not_standardised() -> None:
    from scipy.sparse import csr_array

    counts = np.random.default_rng(0).poisson(0.4, size=(90, 30)).astype(float)
    truth = np.arange(90) % 3 == 0
    oracle = LogisticRegression(C=0.1, class_weight="balanced", tol=1e-10, max_iter=10_000).fit(counts, truth)
    found = logistic.fit_logistic(csr_array(counts), truth, 0.1)
    np.testing.assert_allclose(found.weights, oracle.coef_[0], atol=1e-4)


def test_cross_fitting_and_the_choice_of_the_penalty_by_hand() -> None:
    p, q = two_sides(1, 90, 60, 8, 0.4)
    rows, truth = np.concatenate([p, q]), np.arange(150) >= 90
    held_out = discriminators.discriminate(p, q, seed=3).held_out
    # scikit-learn on our folds: in each, the strength of the least log loss over the other folds
    expected = np.zeros(150)
    for fold in range(5):
        seen = held_out.fold_of != fold
        losses = []
        for strength in logistic.STRENGTHS:
            model = make_pipeline(
                StandardScaler(), LogisticRegression(C=strength, class_weight="balanced", tol=1e-6, max_iter=1000)
            )
            odds = cross_val_predict(
                model,
                rows[seen],
                truth[seen],
                groups=held_out.fold_of[seen],
                cv=LeaveOneGroupOut(),
                method="decision_function",
            )
            side = truth[seen]
            loss = np.logaddexp(0, np.where(side, -odds, odds))
            losses.append(loss[side].mean() + loss[~side].mean())
        model.set_params(logisticregression__C=logistic.STRENGTHS[int(np.argmin(losses))])
        expected[~seen] = model.fit(rows[seen], truth[seen]).decision_function(rows[~seen])
    np.testing.assert_allclose(held_out.scores, expected, atol=1e-3)
