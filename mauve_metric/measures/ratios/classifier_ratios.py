"""log p/q at a point from a classifier that has not seen it."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Array
from mauve_metric.measures.cross_fitting import FOLDS, assign_folds, same_rows
from mauve_metric.measures.ratios.density_ratios import LogRatios, check_rows

_STRENGTHS = np.geomspace(1.0, 1e5, 6)  # times one over the number of rows: C


def classifier_log_ratios(p: Array, q: Array, seed: int = 25) -> LogRatios:
    """log p/q at every row of both sets by a logistic regression on the other folds (Pillutla et al. 2023).

    scikit-learn's, on standardised columns and their squares, both sides weighing the same: t is its log odds of P. C
    is the one with the least held-out loss. |t| is cut at the logarithm of the number of rows, which cannot tell larger
    odds. Folds are those of `cross_fit`, copies in one. Its discriminant with calibrated scores errs more where the
    sets differ in variance: a score of .80 in place of .72 where MAUVE is .70 (64 columns, 5000 + 5000 rows).

    Args:
        p, q: rows, shapes (n_p, d) and (n_q, d), at least 5 each. seed: of the folds.

    Raises:
        ValueError: other shapes, fewer rows.

    >>> rng = np.random.default_rng(0)
    >>> t = classifier_log_ratios(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 1)
    >>> bool(t.p.mean() > 0.5 and t.q.mean() < -0.5)
    True
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    p, q = check_rows(p, q, FOLDS)
    rows, is_p = np.concatenate([p, q]), np.repeat([True, False], [len(p), len(q)])
    groups = same_rows(rows)
    if min(len(np.unique(groups[is_p == side])) for side in (False, True)) < FOLDS:
        groups = np.arange(len(rows))  # nearly all rows are equal
    split = PredefinedSplit(assign_folds(groups, ~is_p, seed))
    squared = FunctionTransformer(lambda columns: np.hstack([columns, np.square(columns)]))
    weights = np.where(is_p, 1 / len(p), 1 / len(q))

    def odds_of(strength: float) -> Array:
        classifier = LogisticRegression(C=strength / len(rows), class_weight="balanced", max_iter=1000)
        model = make_pipeline(StandardScaler(), squared, StandardScaler(), classifier)
        return np.asarray(cross_val_predict(model, rows, is_p, cv=split, method="decision_function"))

    def loss(odds: Array) -> float:
        return float(log_loss(is_p, 1 / (1 + np.exp(-np.clip(odds, -30, 30))), sample_weight=weights))

    bound = np.log(len(rows))
    t = np.clip(min(map(odds_of, _STRENGTHS), key=loss), -bound, bound)
    return LogRatios(t[is_p], t[~is_p])
