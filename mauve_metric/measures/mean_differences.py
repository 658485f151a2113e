"""Mean differences of two sets, column by column, without the noise of columns that do not differ."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Array, Floats

_ALL_ALIKE = 9  # times as likely as a variance of few columns: each variance of all columns
_OF_ALL = (1 / 16, 1 / 4, 1.0, 4.0, 16.0, 64.0)
_OF_FEW, _OF_MOST = 32.0, (0.0, 0.5, 4.0)
_LARGEST_SQUARE = 160.0  # of a t statistic; float32 holds the exponential of half of it


def without_noise(delta: Floats, variances: Floats) -> Floats:
    """Shrink the mean differences of columns towards 0 where they may be noise, (d, m) → (d, m).

    Empirical Bayes (Greenshtein and Park 2009): the t statistics have the variance 1 + v in all columns, or another one
    in a few. The mean of the posterior over several v, as a share of the difference, is divided by the largest share,
    so that nothing changes where all columns differ alike: a classifier's direction is then that of δ.

    Args:
        delta: differences of columns of variance 1. variances: of the noise of all columns, (m,).

    >>> one_large = np.array([9.0, *np.ones(40)])[:, None]
    >>> without_noise(one_large, np.ones(1))[:2, 0].round(2).tolist()
    [9.0, 0.08]
    >>> without_noise(one_large[1:], np.ones(1))[:2, 0].tolist()
    [1.0, 1.0]
    """
    squares = np.minimum(np.square(delta) / variances, _LARGEST_SQUARE).astype(np.float32)
    d, total = len(squares), squares.sum(axis=0, dtype=np.float64)
    kept: list[Array] = [np.full((1, 1), v / (1 + v)) for v in _OF_ALL]
    evidence = [np.log(_ALL_ALIKE) + (v / (1 + v) * total - d * np.log1p(v)) / 2 for v in _OF_ALL]
    few = _OF_FEW / (1 + _OF_FEW)
    for v in _OF_MOST:
        most = v / (1 + v)
        ratio = np.sqrt((1 + v) / (1 + _OF_FEW)) * np.exp((few - most) / 2 * squares)
        for share in (1 / (d + 1), 0.1):
            odds = 1 + share / (1 - share) * ratio
            kept.append(few - (few - most) / odds)
            of_others = d * np.log1p(-share) + (most * total - d * np.log1p(v)) / 2
            evidence.append(of_others + np.log(odds).sum(axis=0, dtype=np.float64))
    weights = np.exp(evidence - np.max(evidence, axis=0))
    shares = np.zeros(squares.shape)
    for weight, kept_shares in zip(weights, kept, strict=True):
        shares += weight * kept_shares
    shrunk: Floats = delta * (shares / shares.max(axis=0))
    return shrunk
