"""log p/q at a point from a classifier that has not seen it."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.measures.density_ratios import LogRatios, check_rows

FOLDS = 5
_PENALTIES = np.geomspace(1.0, 1e-5, 6)  # ½·penalty·‖w‖² beside the mean logarithmic loss, strongest first
_MOST_STEPS = 1000


def classifier_log_ratios(p: Array, q: Array, seed: int = 25) -> LogRatios:
    """log p/q at every row of both sets by a logistic regression on the other folds (Pillutla et al. 2023).

    t = logit η - log(n_P/n_Q), η the probability of P given the standardised columns and their squares, numbers of rows
    those of the training folds. The ridge penalty is the one with the smallest held-out loss. |t| is cut at the
    logarithm of the rows trained on: they cannot tell larger odds.

    Args:
        p, q: rows, shapes (n_p, d) and (n_q, d), at least 5 each. seed: of the folds.

    Raises:
        ValueError: other shapes, fewer rows.

    >>> rng = np.random.default_rng(0)
    >>> t = classifier_log_ratios(rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 1)
    >>> bool(t.p.mean() > 0.5 and t.q.mean() < -0.5)
    True
    """
    p, q = check_rows(p, q, FOLDS)
    rows, sides = np.concatenate([p, q]), np.repeat([1.0, 0.0], [len(p), len(q)])
    rng = np.random.default_rng(seed)
    fold = np.concatenate([rng.permutation(np.arange(len(side)) % FOLDS) for side in (p, q)])
    logits = np.empty((len(_PENALTIES), len(rows)))
    converged = np.ones(len(_PENALTIES), dtype=bool)
    for number in range(FOLDS):
        held = fold == number
        logits[:, held], done = _fold_logits(rows[~held], sides[~held], rows[held])
        converged &= done
    losses = np.logaddexp(0, np.where(sides == 1, -logits, logits))
    losses = losses[:, sides == 1].mean(axis=1) + losses[:, sides == 0].mean(axis=1)
    best = int(losses.argmin())
    return _cut(logits[best], sides, fold, bool(converged[best]))


def _cut(logits: Floats, sides: Floats, fold: Integers, converged: bool) -> LogRatios:
    """Logits less the odds of the sides among the rows that each was trained on."""
    totals = np.array([[(sides[fold != number] == side).sum() for side in (1, 0)] for number in range(FOLDS)])
    t = logits - np.log(totals[:, 0] / totals[:, 1])[fold]
    bound = np.log(totals.sum(axis=1))[fold]
    t = np.clip(t, -bound, bound)
    return LogRatios(t[sides == 1], t[sides == 0], converged)


def _fold_logits(rows: Floats, sides: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Logits of held-out rows under each penalty, (penalties, n), and whether each fit came to its end."""
    from scipy.optimize import minimize

    columns, held_columns = _columns(rows, rows), _columns(rows, held)
    start, logits, done = np.zeros(columns.shape[1] + 1), [], []
    start[-1] = np.log(sides.sum() / (len(sides) - sides.sum()))

    def loss(parameters: Floats, penalty: float) -> tuple[float, Floats]:
        """Mean logarithmic loss with its ridge, and the gradient."""
        weights, scores = parameters[:-1], columns @ parameters[:-1] + parameters[-1]
        value = float((np.logaddexp(0, scores) - sides * scores).mean() + penalty / 2 * weights @ weights)
        residual = (1 / (1 + np.exp(-np.clip(scores, -500, 500))) - sides) / len(sides)
        return value, np.append(residual @ columns + penalty * weights, residual.sum())

    for penalty in _PENALTIES:
        found = minimize(
            loss, start, (penalty,), jac=True, method="L-BFGS-B", options={"maxiter": _MOST_STEPS, "gtol": 1e-5}
        )
        start = found.x
        logits.append(held_columns @ start[:-1] + start[-1])
        done.append(bool(found.success))
    return np.stack(logits), np.array(done)


def _columns(rows: Floats, of: Floats) -> Floats:
    """Columns of `of` by mean and standard deviation of `rows`, and their squares likewise, (n, 2d)."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    scale[scale == 0] = 1
    plain, seen = (of - mean) / scale, (rows - mean) / scale
    spread = np.square(seen).std(axis=0)
    spread[spread == 0] = 1
    return np.hstack([plain, (np.square(plain) - np.square(seen).mean(axis=0)) / spread])
