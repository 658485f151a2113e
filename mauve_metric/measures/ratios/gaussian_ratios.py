"""log p/q of two Gaussians fitted to two sets, at points drawn from them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Floats
from mauve_metric.measures.ratios.density_ratios import LogRatios, check_rows

DRAWS = 20_000  # points of each Gaussian: the scores' own error is about .003
_ROWS_A_COLUMN = 10  # principal components are at most a tenth of the rows
_SPLITS = 19  # random splits that determine which ratio of variances is noise


class _Fit(NamedTuple):
    """Independent coordinates that tell both Gaussians apart: mean of P (that of Q is 0), variances, (r,) each."""

    shift: Floats
    p_variance: Floats
    q_variance: Floats


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
    >>> t = gaussian_log_ratios(rng.normal(size=(400, 2)), rng.normal(size=(400, 2)) + [1, 0])
    >>> bool(0.3 < t.p.mean() < 0.7)  # KL of N(0, 1) and N(1, 1): ½
    True
    """
    p, q = check_rows(p, q, _ROWS_A_COLUMN)
    rng = np.random.default_rng(seed)
    fit = _fit_both(p, q, rng)
    p_points = fit.shift + np.sqrt(fit.p_variance) * rng.normal(size=(DRAWS, len(fit.shift)))
    q_points = np.sqrt(fit.q_variance) * rng.normal(size=(DRAWS, len(fit.shift)))
    return LogRatios(_log_ratio(fit, p_points), _log_ratio(fit, q_points))


def _log_ratio(fit: _Fit, points: Floats) -> Floats:
    squares = np.square(points) / fit.q_variance - np.square(points - fit.shift) / fit.p_variance
    total: Floats = (squares + np.log(fit.q_variance / fit.p_variance)).sum(axis=1) / 2
    return total


def _fit_both(p: Floats, q: Floats, rng: np.random.Generator) -> _Fit:
    p, q = _components(p, q)
    n_p, n_q, r = len(p), len(q), p.shape[1]
    n = n_p + n_q
    if r == 0:
        return _Fit(np.zeros(1), np.ones(1), np.ones(1))
    means = p.mean(axis=0), q.mean(axis=0)
    rows = np.concatenate([p - means[0], q - means[1]])
    white = _whitening(rows, n - 2)
    rows, shift = rows @ white, (means[0] - means[1]) @ white
    shares, directions = np.linalg.eigh(rows[:n_p].T @ rows[:n_p] / (n_p - 1))
    shift = shift @ directions
    raw = float(shift @ shift)
    distance = raw * max(n - r - 3, 0) / (n - 2) - r * (1 / n_p + 1 / n_q)
    shift = shift * math.sqrt(max(distance, 0.0) / raw) if raw > 0 else shift
    low, high = _noise(rows, n_p, rng)
    kept = (shares < low) | (shares > high)
    least = 1 / n  # of a variance: a side that does not move in a direction
    p_variance = np.maximum(shares[kept], least)
    q_variance = np.maximum((n - 2 - (n_p - 1) * shares[kept]) / (n_q - 1), least)
    rest = float(np.linalg.norm(shift[~kept]))
    return _Fit(np.append(shift[kept], rest), np.append(p_variance, 1.0), np.append(q_variance, 1.0))


def _components(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Both on the principal components of the pool, at most one for ten rows; none for rows that are all equal."""
    rows = np.concatenate([p, q])
    rows = rows - rows.mean(axis=0)
    rows = rows / max(float(np.abs(rows).max()), np.finfo(np.float64).tiny)
    variances, directions = np.linalg.eigh(rows.T @ rows)
    order = np.argsort(variances)[::-1][: max(1, len(rows) // _ROWS_A_COLUMN)]
    order = order[variances[order] > max(variances[order[0]], 0.0) * 1e-10]
    rows = rows @ directions[:, order]
    return rows[: len(p)], rows[len(p) :]


def _whitening(rows: Floats, freedom: int) -> Floats:
    """The matrix that gives centred rows the covariance 1, (r, r'); directions without variance are left out."""
    variances, directions = np.linalg.eigh(rows.T @ rows / freedom)
    moving = variances > variances[-1] * 1e-10
    white: Floats = directions[:, moving] / np.sqrt(variances[moving])
    return white


def _noise(rows: Floats, n_p: int, rng: np.random.Generator) -> tuple[float, float]:
    """The smallest and the largest variance, over all directions, of n_p rows taken at random."""
    low, high = np.inf, -np.inf
    for _ in range(_SPLITS):
        some = rows[rng.permutation(len(rows))[:n_p]]
        shares = np.linalg.eigvalsh(some.T @ some / (n_p - 1))
        low, high = min(low, float(shares[0])), max(high, float(shares[-1]))
    return low, high
