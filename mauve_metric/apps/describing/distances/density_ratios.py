"""MAUVE from estimated density ratios, without buckets.

log p/q is estimated at points of P and of Q by nearest neighbours, by a classifier or by two Gaussians; means over the
points give the frontier and its area.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.apps.describing.distances.checked_sets import check_sets
from mauve_metric.arrays import Array, Floats, MeasuredValue
from mauve_metric.clustering.projection import project
from mauve_metric.measures.cross_fitting import FOLDS, assign_folds, same_rows
from mauve_metric.measures.frontier import as_frontier, curve_area, curve_through, mauve_floor
from mauve_metric.runtime.checks import check_known
from mauve_metric.runtime.optional_imports import import_faiss
from mauve_metric.runtime.threads import one_blas_thread

_WEIGHTS = np.linspace(0, 1, 202)[1:-1]  # mixture weights λ of the area
_MOST_LOG = 700.0  # of p/q: its exponential is a number
_BLOCK_ROWS = 4096  # searched at once
_JITTER = 1e-4  # of the largest entry: above the rounding of distances, below what matters
_STRENGTHS = np.geomspace(1.0, 1e5, 6)  # times one over the number of rows: C
DRAWS = 20_000  # points of each Gaussian: the scores' own error is about .003
_ROWS_A_COLUMN = 10  # principal components are at most a tenth of the rows
_SPLITS = 19  # random splits that determine which ratio of variances is noise
LogRatios = tuple[Floats, Floats]  # log p(x)/q(x) at points x drawn from P, (m,), and from Q, (m',)


def frontier_of_ratios(ratios: LogRatios, weights: ArrayLike) -> tuple[Floats, Floats]:
    """KL(q‖r_λ) and KL(p‖r_λ) as means over points, at least 0, the first rising in λ, the second falling, (m,) each.

    K_P(λ) = -mean_P log(λ + (1-λ)e^(-t)) and K_Q(λ) = -mean_Q log(λe^t + 1-λ) with t = log p/q. weights: rising, inside
    (0, 1).

    >>> kl_q, kl_p = frontier_of_ratios((np.array([np.log(4)]), np.array([-np.log(4)])), [0.5])
    >>> kl_q.round(6).tolist(), kl_p.round(6).tolist()
    ([0.470004], [0.470004])
    """
    lam, (at_p, at_q) = np.asarray(weights, dtype=np.float64), ratios
    to_q, to_p = (np.exp(np.clip(t, -_MOST_LOG, _MOST_LOG)) for t in (at_q, -at_p))
    kl_q = np.array([-np.log(weight * to_q + (1 - weight)).mean() for weight in lam])
    kl_p = np.array([-np.log(weight + (1 - weight) * to_p).mean() for weight in lam])
    return as_frontier(kl_q, kl_p)


def mauve_of_ratios(ratios: LogRatios, scaling_factor: float = 5.0) -> float:
    """MAUVE of log p/q at points of both sides, in [floor, 1], higher is better (Pillutla et al. 2023).

    There is no bias to take off, no interval and no bucket to explain.

    Args:
        ratios: of one of `ESTIMATORS`. scaling_factor: c > 0.

    >>> mauve_of_ratios((np.zeros(5), np.zeros(5)))
    1.0
    """
    area = curve_area(curve_through(*frontier_of_ratios(ratios, _WEIGHTS), scaling_factor))
    return max(area, mauve_floor(scaling_factor))


def neighbour_log_ratios(p: Array, q: Array, k: int | None = None, seed: int = 25) -> LogRatios:
    """log p/q at every row of both sets from its k nearest others in the pool (Pillutla et al. 2023).

    t = log((a_P + ½)/(a_Q + ½)) + log(n'_Q/n'_P) with a_P, a_Q neighbours of either side and n' the rows of a side
    without the point itself. It has no error that falls with n in many dimensions, where neighbours are far away.

    Args:
        p, q: rows, shapes (n_p, d) and (n_q, d), at least 2 each. k: neighbours; None for √(n_p + n_q), rounded.
        seed: of a ten-thousandth of noise that decides between copies of a row, so that these favour neither side.

    Raises:
        ValueError: other shapes, one row, k outside 1 … n_p + n_q - 1.

    >>> of_p, of_q = neighbour_log_ratios(np.zeros((3, 1)), np.ones((3, 1)), k=2)
    >>> of_p.round(3).tolist()
    [2.015, 2.015, 2.015]
    """
    p, q = _check_rows(p, q, 2)
    n_p, n = len(p), len(p) + len(q)
    k = min(round(math.sqrt(n)), n - 1) if k is None else k
    if not 1 <= k < n:
        raise ValueError(f"k must be from 1 to {n - 1}, one less than all rows, got {k}")
    rows = np.concatenate([p, q])
    centred = rows - rows.mean(axis=0)
    centred = centred / max(float(np.abs(centred).max()), np.finfo(np.float64).tiny)
    centred = (centred + _JITTER * np.random.default_rng(seed).normal(size=rows.shape)).astype(np.float32)
    index = import_faiss().IndexFlatL2(rows.shape[1])
    index.add(centred)
    of_p = np.empty(n, dtype=np.int64)
    for start in range(0, n, _BLOCK_ROWS):
        numbers = index.search(centred[start : start + _BLOCK_ROWS], k + 1)[1]
        is_itself = numbers == np.arange(start, start + len(numbers))[:, None]
        is_itself[~is_itself.any(axis=1), -1] = True  # not among them by rounding: one of the others less
        of_p[start : start + len(numbers)] = ((numbers < n_p) & ~is_itself).sum(axis=1)
    side = np.arange(n) < n_p
    others = np.log(n - n_p - ~side) - np.log(n_p - side)
    t: Floats = np.log(of_p + 0.5) - np.log(k - of_p + 0.5) + others
    return t[:n_p], t[n_p:]


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
    >>> of_p, of_q = classifier_log_ratios(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 1)
    >>> bool(of_p.mean() > 0.5 and of_q.mean() < -0.5)
    True
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    p, q = _check_rows(p, q, FOLDS)
    rows, is_p = np.concatenate([p, q]), np.repeat([True, False], [len(p), len(q)])
    groups = same_rows(rows)
    if min(len(np.unique(groups[is_p == side])) for side in (False, True)) < FOLDS:
        groups = np.arange(len(rows))  # nearly all rows are equal
    split = PredefinedSplit(assign_folds(groups, ~is_p, seed))
    squared = FunctionTransformer(lambda columns: np.hstack([columns, np.square(columns)]))
    weights = np.where(is_p, 1 / len(p), 1 / len(q))

    log_odds = []
    with one_blas_thread():  # ten times as fast: the products are small
        for strength in _STRENGTHS:
            classifier = LogisticRegression(C=strength / len(rows), class_weight="balanced", max_iter=1000)
            model = make_pipeline(StandardScaler(), squared, StandardScaler(), classifier)
            log_odds.append(cross_val_predict(model, rows, is_p, cv=split, method="decision_function"))

    def loss(odds: Array) -> float:
        return float(log_loss(is_p, 1 / (1 + np.exp(-np.clip(odds, -30, 30))), sample_weight=weights))

    bound = np.log(len(rows))
    t = np.clip(min(log_odds, key=loss), -bound, bound)
    return t[is_p], t[~is_p]


def gaussian_log_ratios(p: Array, q: Array, seed: int = 25) -> LogRatios:
    """log p/q of the Gaussians fitted to two sets, at 20 000 points drawn from each (Pillutla et al. 2023).

    On the principal components of the pool, at most one for ten rows, both are Gaussian with a common covariance W,
    except in those directions in which the ratio of P's variance to W is beyond that of every one of 19 random splits;
    the squared distance of the means is taken without its bias, d²·(n-r-3)/(n-2) - r·(1/n_P + 1/n_Q), n = n_P + n_Q,
    r components. Otherwise noise in r²/2 covariances would look like a difference. Wrong where sets are not Gaussian.

    Args:
        p, q: rows, shapes (n_p, d) and (n_q, d), at least 10 each. seed: of the splits and points.

    Raises:
        ValueError: other shapes, fewer rows.

    >>> rng = np.random.default_rng(0)
    >>> at_p, at_q = gaussian_log_ratios(rng.normal(size=(400, 2)), rng.normal(size=(400, 2)) + [1, 0])
    >>> bool(0.3 < at_p.mean() < 0.7)  # KL of N(0, 1) and N(1, 1): ½
    True
    """
    p, q = _check_rows(p, q, _ROWS_A_COLUMN)
    rng = np.random.default_rng(seed)
    shift, p_variance, q_variance = _fit_both(p, q, rng)
    p_points = shift + np.sqrt(p_variance) * rng.normal(size=(DRAWS, len(shift)))
    q_points = np.sqrt(q_variance) * rng.normal(size=(DRAWS, len(shift)))
    ratios = []
    for points in (p_points, q_points):
        squares = np.square(points) / q_variance - np.square(points - shift) / p_variance
        ratios.append((squares + np.log(q_variance / p_variance)).sum(axis=1) / 2)
    return ratios[0], ratios[1]


def _fit_both(p: Floats, q: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Independent coordinates that tell both Gaussians apart: mean of P (that of Q is 0), variances, (r,) each."""
    n_p, n_q, n = len(p), len(q), len(p) + len(q)
    rows = np.concatenate([p, q])  # on the principal components, at most one for ten rows; none if all are equal
    rows = rows - rows.mean(axis=0)
    rows = rows / max(float(np.abs(rows).max()), np.finfo(np.float64).tiny)
    variances, directions = np.linalg.eigh(rows.T @ rows)
    order = np.argsort(variances)[::-1][: max(1, n // _ROWS_A_COLUMN)]
    order = order[variances[order] > max(variances[order[0]], 0.0) * 1e-10]
    rows, r = rows @ directions[:, order], len(order)
    if r == 0:
        return np.zeros(1), np.ones(1), np.ones(1)
    means = rows[:n_p].mean(axis=0), rows[n_p:].mean(axis=0)
    rows = np.concatenate([rows[:n_p] - means[0], rows[n_p:] - means[1]])
    variances, directions = np.linalg.eigh(rows.T @ rows / (n - 2))
    moving = variances > variances[-1] * 1e-10
    white = directions[:, moving] / np.sqrt(variances[moving])
    rows, shift = rows @ white, (means[0] - means[1]) @ white
    shares, directions = np.linalg.eigh(rows[:n_p].T @ rows[:n_p] / (n_p - 1))
    shift = shift @ directions
    raw = float(shift @ shift)
    distance = raw * max(n - r - 3, 0) / (n - 2) - r * (1 / n_p + 1 / n_q)
    shift = shift * math.sqrt(max(distance, 0.0) / raw) if raw > 0 else shift
    splits = (rows[rng.permutation(n)[:n_p]] for _ in range(_SPLITS))
    noise = np.array([np.linalg.eigvalsh(some.T @ some / (n_p - 1)) for some in splits])
    kept = (shares < noise.min()) | (shares > noise.max())
    least = 1 / n  # of a variance: a side that does not move in a direction
    p_variance = np.maximum(shares[kept], least)
    q_variance = np.maximum((n - 2 - (n_p - 1) * shares[kept]) / (n_q - 1), least)
    rest = float(np.linalg.norm(shift[~kept]))
    return np.append(shift[kept], rest), np.append(p_variance, 1.0), np.append(q_variance, 1.0)


def _check_rows(p: Array, q: Array, least: int) -> tuple[Floats, Floats]:
    """Both sets as float64 rows of one width, at least `least` each.

    Raises:
        ValueError: other shapes, fewer rows, entries that are no finite numbers.
    """
    sides = {name: np.asarray(side, dtype=np.float64) for name, side in (("p", p), ("q", q))}
    check_sets(sides, least)
    for name, side in sides.items():
        if not np.isfinite(side).all():
            raise ValueError(f"{name} must hold finite numbers, got some that are not")
    return sides["p"], sides["q"]


ESTIMATORS: dict[str, Callable[..., LogRatios]] = {
    "neighbours": neighbour_log_ratios,
    "classifier": classifier_log_ratios,
    "gaussian": gaussian_log_ratios,
}


def estimate_mauve(p: Array, q: Array, estimator: str, scaling_factor: float = 5.0, seed: int = 25) -> float:
    """MAUVE without buckets (Pillutla et al. 2023): see the estimator for how.

    Args:
        p, q: rows, shapes (n_p, d) and (n_q, d). estimator: of `ESTIMATORS`. scaling_factor: c. seed: of what is drawn.

    Raises:
        ValueError: an unknown estimator, or rows that it cannot work with.

    >>> rows = np.random.default_rng(0).normal(size=(100, 2))
    >>> estimate_mauve(rows, rows + 100, "neighbours") < 0.01
    True
    """
    check_known("estimator", estimator, ESTIMATORS)
    return mauve_of_ratios(ESTIMATORS[estimator](p, q, seed=seed), scaling_factor)


def mauve_without_buckets(
    p: Array, q: Array, *, estimator: str, seed: int = 25, level: float = 0.95, scaling_factor: float = 5.0
) -> MeasuredValue:
    """MAUVE by an estimate of log p/q in place of histograms; in [floor, 1], higher is better (Pillutla et al. 2023).

    The rows are projected as for buckets. There is no interval, ceiling or p-value: none is known that holds.

    Args:
        p, q: features of the human texts and of the model's, (n_p, d) and (n_q, d).
        estimator: "neighbours", "classifier" or "gaussian", see `estimate_mauve`.
        seed: of what is drawn. level: not used; there is no interval. scaling_factor: c.

    Raises:
        ValueError: too few rows for the estimator, or one that is not known.

    >>> rows = np.random.default_rng(0).normal(size=(200, 4))
    >>> mauve_without_buckets(rows[:100], rows[100:], estimator="gaussian").value > 0.9
    True
    """
    rows = np.asarray(project(np.concatenate([q, p]), seed=seed), dtype=np.float64)
    return MeasuredValue(estimate_mauve(rows[len(q) :], rows[: len(q)], estimator, scaling_factor, seed))
