"""Logistic regression with a penalty that held-out texts choose, on dense rows or sparse counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Rows: TypeAlias = Floats | csr_array

STRENGTHS = tuple(10.0**power for power in range(-5, 1))  # C: the penalty is |weights|²/2C beside the sum of losses
_PATIENCE = 2  # steps along the strengths on which the held-out loss may grow
_Map = Callable[[Floats], Floats]


class Logistic(NamedTuple):
    """A classifier: the log odds of a row being of the model are rows @ weights + intercept.

    weights: (d,). strength: C.
    """

    weights: Floats
    intercept: float
    strength: float

    def __call__(self, rows: Rows) -> Floats:
        """Log odds, (n,)."""
        odds: Floats = rows @ self.weights + self.intercept
        return odds


def fit_logistic(rows: Rows, is_model: NDArray[np.bool_], strength: float) -> Logistic:
    """The minimum of Σ wᵢ log(1 + exp(∓(xᵢβ + b))) + Σⱼ (sⱼβⱼ)²/2C, in which both sides weigh n/2.

    Dense rows are standardised: s is the deviation of each column, 1 where that is 0; counts are not: s = 1. The search
    (L-BFGS) runs in coordinates in which the Hessian is near the identity.

    Args:
        rows: (n, d). is_model: (n,). strength: C, above 0.

    >>> fit_logistic(np.array([[-1.0], [1.0]]), np.array([False, True]), 1.0)(np.array([[0.0]])).round(6).tolist()
    [0.0]
    """
    return _Problem(rows, is_model, _Moments.of(rows)).solve(strength)


def cross_fitted(rows: Rows, is_model: NDArray[np.bool_], fold_of: Integers) -> list[Logistic]:
    """One classifier for every fold, fitted to the other folds, with the C of the least loss among these.

    The C of fold k is judged on each other fold l by a classifier that has seen neither k nor l, so that one path along
    C serves both.

    Args:
        rows: (n, d). is_model: (n,). fold_of: from 0, three folds or more, (n,).
    """
    folds = range(int(fold_of.max()) + 1)
    data = _Folded(rows, is_model, fold_of, [_Moments.of(rows[fold_of == fold]) for fold in folds])
    losses = np.zeros((len(folds), len(STRENGTHS)))
    for one in folds:
        for two in folds[one + 1 :]:
            on_two, on_one = _path_losses(data.without(one, two), [data.only(two), data.only(one)])
            losses[one] += on_two
            losses[two] += on_one
    chosen = losses.argmin(axis=1)
    return [data.without(fold).solve(STRENGTHS[chosen[fold]]) for fold in folds]


def _path_losses(problem: _Problem, held_out: list[tuple[Rows, NDArray[np.bool_]]]) -> Floats:
    """Held-out losses along the strengths, (sets, strengths); where they only grow, the last one is kept."""
    losses = np.zeros((len(held_out), len(STRENGTHS)))
    found = None
    for index, strength in enumerate(STRENGTHS):
        found = problem.solve(strength, found, gradient=1e-4)
        losses[:, index:] = [[_loss(found(part), truth)] for part, truth in held_out]
        if index - int(losses[:, : index + 1].mean(axis=0).argmin()) >= _PATIENCE:
            break
    return losses


def _loss(odds: Floats, is_model: NDArray[np.bool_]) -> float:
    """Mean log loss, both sides weighing one half."""
    losses = np.logaddexp(0, np.where(is_model, -odds, odds))
    return float(losses @ _side_weights(is_model)) / len(odds)


def _side_weights(is_model: NDArray[np.bool_]) -> Floats:
    """n/2 for each side, equally among its texts, (n,)."""
    models = int(is_model.sum())
    n = len(is_model)
    return np.where(is_model, n / (2 * max(models, 1)), n / (2 * max(n - models, 1)))


class _Moments(NamedTuple):
    """Number, sum and squares of rows, which add up over folds; of counts only the squares of each column."""

    number: int
    total: Floats
    squares: Floats

    @classmethod
    def of(cls, rows: Rows) -> _Moments:
        """(d,) and (d, d); of counts (d,) and (d,)."""
        if isinstance(rows, np.ndarray):
            return cls(len(rows), rows.sum(axis=0), rows.T @ rows)
        return cls(rows.shape[0], np.zeros(rows.shape[1]), np.asarray(rows.multiply(rows).sum(axis=0)))


class _Folded(NamedTuple):
    """Rows in folds, with the moments of each."""

    rows: Rows
    is_model: NDArray[np.bool_]
    fold_of: Integers
    moments: list[_Moments]

    def without(self, *folds: int) -> _Problem:
        """All other folds."""
        seen = ~np.isin(self.fold_of, folds)
        kept = [moments for fold, moments in enumerate(self.moments) if fold not in folds]
        total = _Moments(*(sum(parts) for parts in zip(*kept, strict=True)))
        return _Problem(self.rows[seen], self.is_model[seen], total)

    def only(self, fold: int) -> tuple[Rows, NDArray[np.bool_]]:
        """The rows of a fold and their sides."""
        inside = self.fold_of == fold
        return self.rows[inside], self.is_model[inside]


class _Problem:
    """Rows to fit, with what does not depend on the strength of the penalty."""

    def __init__(self, rows: Rows, is_model: NDArray[np.bool_], moments: _Moments) -> None:
        self.rows, self.signs, self.side_weights = rows, np.where(is_model, 1.0, -1.0), _side_weights(is_model)
        self.mean = moments.total / moments.number
        self.curvature: Floats = moments.squares / 4
        self.scales = np.ones(len(self.mean))
        if self.curvature.ndim == 2:
            self.curvature -= np.multiply.outer(self.mean, self.mean) * (moments.number / 4)
            variances = 4 * np.diag(self.curvature) / moments.number
            varied = variances > 1e-12 * np.diag(moments.squares) / moments.number
            self.scales[varied] = np.sqrt(variances[varied])

    def solve(self, strength: float, start: Logistic | None = None, gradient: float = 1e-6) -> Logistic:
        """The minimum for one strength, to a largest entry of the gradient."""
        from scipy.optimize import minimize

        weights_of, gradient_of, coordinates_of = self._coordinates(1 / strength)
        penalty = np.square(self.scales) / strength
        n = len(self.signs)
        root = np.sqrt(n) / 2  # of the intercept's curvature

        def objective(point: Floats) -> tuple[float, Floats]:
            weights = weights_of(point[:-1])
            margins = self.signs * (self.rows @ weights + (point[-1] / root - self.mean @ weights))
            residuals = -self.side_weights * self.signs / (1 + np.exp(np.clip(margins, -500, 500)))
            slope = self.rows.T @ residuals - self.mean * residuals.sum() + penalty * weights
            value = self.side_weights @ np.logaddexp(0, -margins) + weights @ (penalty * weights) / 2
            return value / n, np.append(gradient_of(slope), residuals.sum() / root) / n

        origin = np.zeros(len(self.mean) + 1)
        if start is not None:
            origin[:-1] = coordinates_of(start.weights)
            origin[-1] = (start.intercept + self.mean @ start.weights) * root
        precision = {"maxiter": 500, "ftol": 100 * gradient**2, "gtol": gradient / root}
        found = minimize(objective, origin, jac=True, method="L-BFGS-B", options=precision)
        weights = weights_of(found.x[:-1])
        return Logistic(weights, float(found.x[-1] / root - self.mean @ weights), strength)

    def _coordinates(self, penalty: float) -> tuple[_Map, _Map, _Map]:
        """Weights from coordinates, the slope in them, and coordinates from weights."""
        from scipy.linalg import cholesky, solve_triangular

        if self.curvature.ndim == 1:
            roots = np.sqrt(self.curvature + penalty)
            return (lambda point: point / roots), (lambda slope: slope / roots), (lambda weights: weights * roots)
        hessian: Array = self.curvature.copy()
        hessian[np.diag_indices_from(hessian)] += penalty * np.square(self.scales)
        upper = cholesky(hessian, overwrite_a=True, check_finite=False)
        return (
            lambda point: solve_triangular(upper, point, check_finite=False),
            lambda slope: solve_triangular(upper, slope, trans="T", check_finite=False),
            lambda weights: upper @ weights,
        )
