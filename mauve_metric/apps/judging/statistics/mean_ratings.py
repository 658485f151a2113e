"""Mean ratings of models, with errors that allow for annotators and items.

Pure functions of ratings: one number, one model, and what it has in common with other ratings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers

_NOTHING = 1e-12  # a variance below this part of the pooled one is due to rounding


class RatingErrors(NamedTuple):
    """Covariances of the models' means, and the units that they are estimated from.

    covariances: (m, m) each; the variance of a combination of means is the largest that one of them gives.
    units: the smallest number of annotators, items or ratings; Student's quantile has one degree of freedom less.
    """

    covariances: list[Floats]
    units: int


def mean_ratings(values: Floats, models: Integers, count: int) -> Floats:
    """The mean rating of each model, (m,).

    Args:
        values: ratings, (n,). models: the number of the model of each, (n,), each of 0 to count - 1 at least once.

    >>> mean_ratings(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), 2).tolist()
    [2.0, 5.0]
    """
    means: Floats = np.bincount(models, values, count) / np.bincount(models, minlength=count)
    return means


def rating_errors(values: Floats, models: Integers, count: int, clusters: Sequence[Integers] = ()) -> RatingErrors:
    """Covariances of the means over other ratings, and over other annotators and other items.

    With the residuals e of the ratings, each times √(n/(n - 1))/n for the n ratings of its model, summed within each
    unit u of a way of clustering to s_u (m,): C = U/(U - 1) Σ_u s_u s_uᵀ, without the factor for single ratings, whose
    C is then the usual squared error of each mean. Where ratings of a model are all equal it is that of the ratings of
    all models. Annotators and items cross, so that a rating is in a
    cluster of both: C_annotators + C_items - C_both (Cameron, Gelbach and Miller 2011), where "both" are the ratings of
    one annotator for one item. Each of the three and that of single ratings is among the covariances too, since the
    difference can be too small, or negative, in few units.

    Args:
        values: ratings, (n,). models: of each, (n,), 0 to count - 1.
        clusters: the annotator, and the item, of each rating, (n,) each; a way of fewer than two units is left out.

    Raises:
        ValueError: fewer than two ratings.

    Cameron, Gelbach and Miller 2011, Eq. 2.11.

    >>> errors = rating_errors(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1]), 2)
    >>> errors.covariances[0].round(3).tolist(), errors.units
    ([[1.0, 0.0], [0.0, 1.0]], 4)
    """
    if len(values) < 2:
        raise ValueError(f"rating_errors needs at least two ratings, got {len(values)}")
    number = np.bincount(models, minlength=count)
    residuals = (values - mean_ratings(values, models, count)[models]) / np.sqrt(number * np.maximum(number - 1, 1))[
        models
    ]
    ways = [np.unique(codes, return_inverse=True)[1] for codes in clusters]
    ways = [codes for codes in ways if codes.max() > 0]
    single = _clustered(residuals, models, count, np.arange(len(values)))
    pooled = (single.diagonal() * number * (number - 1)).sum() / max((number - 1).sum(), 1)
    equal = (single.diagonal() < _NOTHING * pooled) & (number > 1)
    single[equal, equal] = pooled / number[equal]
    factors = [(codes.max() + 1) / codes.max() for codes in ways]
    each = [factor * _clustered(residuals, models, count, codes) for factor, codes in zip(factors, ways, strict=True)]
    covariances = [single, *each]
    if len(ways) == 2:
        both = np.unique(ways[0] * (ways[1].max() + 1) + ways[1], return_inverse=True)[1]
        covariances.append(covariances[1] + covariances[2] - _clustered(residuals, models, count, both))
    units = min((int(codes.max()) + 1 for codes in ways), default=len(values))
    return RatingErrors(covariances, units)


def _clustered(residuals: Floats, models: Integers, count: int, codes: Integers) -> Floats:
    """Σ_u s_u s_uᵀ of the sums of residuals within each unit and model, (m, m)."""
    from scipy.sparse import csr_array

    sums = csr_array((residuals, (codes, models)), shape=(int(codes.max()) + 1, count))
    covariance: Floats = (sums.T @ sums).toarray()
    return covariance
