"""The points of an integer sphere in four dimensions, and the nearest of them to a vector."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement
from math import isqrt
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers, Labels
from mauve_metric.runtime.checks import check_least
from mauve_metric.runtime.errors import NotFinite

DIMENSIONS = 4
_BLOCK = 2**16  # vectors processed at once


class Sphere(NamedTuple):
    """An integer sphere.

    points: (m, 4), in falling lexicographic order. patterns: (a, 4), the kinds of points: their absolute entries,
    rising. keys: one number for each point, falling as the points do.
    """

    points: Integers
    patterns: Integers
    keys: Integers


def num_points(squared_radius: int) -> int:
    """Number of points of four integers with this sum of squares, by Jacobi: 8 Σ d over its divisors d, but 4 ∤ d.

    >>> [num_points(r2) for r2 in (20, 25, 30, 50)]
    [144, 248, 576, 744]
    """
    return 8 * sum(d for d in range(1, squared_radius + 1) if squared_radius % d == 0 and d % 4)


def points(squared_radius: int) -> Integers:
    """The points u of four integers with ‖u‖² = squared_radius, (m, 4), from the lexicographically largest downwards.

    >>> points(1)[:5].tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, -1]]
    """
    return sphere(squared_radius).points.copy()


@lru_cache(maxsize=8)
def sphere(squared_radius: int) -> Sphere:
    """The points, their kinds and their keys; `ValueError` for a squared radius that is not at least 1."""
    check_least("squared_radius", squared_radius)
    entries = range(isqrt(squared_radius) + 1)
    triples = combinations_with_replacement(entries, DIMENSIONS - 1)
    patterns = np.array(
        [
            (*triple, isqrt(rest))
            for triple in triples
            if (rest := squared_radius - sum(entry**2 for entry in triple)) >= triple[-1] ** 2
            and isqrt(rest) ** 2 == rest
        ]
    )
    orders = np.array(list(np.ndindex(*(DIMENSIONS,) * DIMENSIONS)))
    orders = orders[(np.sort(orders) == np.arange(DIMENSIONS)).all(axis=1)]
    signs = 1 - 2 * np.array(list(np.ndindex(*(2,) * DIMENSIONS)))
    every = (patterns[:, orders][:, :, None] * signs).reshape(-1, DIMENSIONS)
    found = np.unique(every, axis=0)[::-1]
    return Sphere(found, patterns, _keys(found, squared_radius))


def _keys(found: Integers, squared_radius: int) -> Integers:
    """A number for each point (…, 4) that is larger for a lexicographically larger one: (…,)."""
    base = 2 * isqrt(squared_radius) + 1
    keys: Integers = (found + base // 2) @ (base ** np.arange(DIMENSIONS)[::-1])
    return keys


def nearest_points(vectors: Array, squared_radius: int = 50) -> Labels:
    """The number, in `points`, of the point with the largest inner product with each vector: the nearest in direction.

    A vector's largest entry, sign aside, belongs to the point's largest, its second to the second, and so on: so each
    kind of points has one candidate, and the best of these is taken. Among points that are equally near the first is.

    Args:
        vectors: (n, 4), of any length; of zeros, every point is equally near.

    Returns:
        Shape (n,), in 0 … num_points(squared_radius) - 1.

    Raises:
        ValueError: vectors that are not (n, 4), or not finite.

    Sablayrolles et al. 2019, "Spreading vectors for similarity search", section 3.4.

    >>> points(50)[nearest_points(np.array([[0.9, 0.0, -0.2, 0.0], [-0.5, 0.5, 0.5, 0.5]]))].tolist()
    [[7, 0, -1, 0], [-3, 4, 4, 3]]
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[1] != DIMENSIONS:
        raise ValueError(f"vectors must have shape (n, {DIMENSIONS}), got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise NotFinite.of("vectors", "must be finite, got NaN or infinity")
    labels = [_nearest(vectors[start : start + _BLOCK], squared_radius) for start in range(0, len(vectors), _BLOCK)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *labels])


def _nearest(vectors: Floats, squared_radius: int) -> Labels:
    """The same for a block of vectors."""
    found = sphere(squared_radius)
    negative, size = vectors < 0, np.abs(vectors)
    place = np.arange(DIMENSIONS)
    ties = np.where(negative, place, 2 * DIMENSIONS - place)  # equal entries: the lexicographically largest point
    ranks = np.argsort(np.lexsort((ties, size)), axis=1)
    products = np.sort(size) @ found.patterns.T
    candidates = np.where(negative[:, None], -1, 1) * found.patterns[:, ranks].swapaxes(0, 1)
    numbers = np.searchsorted(-found.keys, -_keys(candidates, squared_radius))
    best = products == products.max(axis=1, keepdims=True)
    labels: Labels = np.where(best, numbers, len(found.points)).min(axis=1)
    return labels
