"""The integer sphere against enumeration and Jacobi's formula, the sorting rule against brute force."""

from __future__ import annotations

from itertools import product
from math import isqrt

import numpy as np
import pytest

from mauve_metric.quantize.lattice import nearest_points, num_points, points


def enumerated(squared_radius: int) -> list[tuple[int, ...]]:
    """Every point, from the lexicographically largest downwards."""
    largest = isqrt(squared_radius)
    every = product(range(largest, -largest - 1, -1), repeat=4)
    return [point for point in every if sum(entry**2 for entry in point) == squared_radius]


# The numbers of points of 20, 25, 30 and 50 are those of Sablayrolles et al. 2019.
@pytest.mark.parametrize(("squared_radius", "count"), [(1, 8), (20, 144), (25, 248), (30, 576), (50, 744), (64, 24)])
def test_the_points_are_all_there(squared_radius: int, count: int) -> None:
    found = points(squared_radius)
    assert num_points(squared_radius) == len(found) == count
    assert [tuple(point) for point in found.tolist()] == enumerated(squared_radius)


def test_the_sphere_of_mauve_has_the_kinds_of_points_that_are_published() -> None:
    kinds = np.sort(np.abs(points(50)))[:, ::-1]
    found, sizes = np.unique(kinds, axis=0, return_counts=True)
    expected = {(7, 1, 0, 0): 48, (6, 3, 2, 1): 384, (5, 5, 0, 0): 24, (5, 4, 3, 0): 192, (4, 4, 3, 3): 96}
    assert dict(zip(map(tuple, found.tolist()), sizes.tolist(), strict=True)) == expected


def adversarial(squared_radius: int) -> dict[str, np.ndarray]:
    """Vectors whose products with the points are exact in float64, so that ties are ties, and random ones."""
    rng = np.random.default_rng(squared_radius)
    every = points(squared_radius)
    return {
        "random": rng.normal(size=(3000, 4)).astype(np.float32),
        "small integers": rng.integers(-3, 4, size=(3000, 4)).astype(np.float32),
        "zeros of both signs, equal entries": np.array(list(product([-1, -0.5, -0.0, 0.0, 0.5, 1], repeat=4))),
        "the points": every,
        "half way": every[:-1] + every[1:],
        "half way between any": every[rng.integers(len(every), size=2000)] + every[rng.integers(len(every), size=2000)],
        "tiny and huge": rng.choice([-1024, -(2.0**-30), 0.0, 2.0**-30, 1.0, 1024], size=(1000, 4)),
    }


@pytest.mark.parametrize("squared_radius", [1, 20, 25, 30, 50, 96])
def test_the_sorting_rule_is_brute_force(squared_radius: int) -> None:
    every = points(squared_radius)
    for name, vectors in adversarial(squared_radius).items():
        expected = (vectors.astype(np.float64) @ every.T).argmax(axis=1)  # numpy takes the first of equal ones
        assert nearest_points(vectors, squared_radius).tolist() == expected.tolist(), name


def test_the_length_of_a_vector_does_not_matter() -> None:
    vectors = np.random.default_rng(0).normal(size=(100, 4))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    distances = np.linalg.norm(vectors[:, None] / lengths[:, None] - points(50) / np.sqrt(50), axis=2)
    assert nearest_points(1024 * vectors).tolist() == nearest_points(vectors).tolist() == distances.argmin(1).tolist()


def test_a_point_is_nearest_to_itself_and_no_vectors_have_no_points() -> None:
    assert nearest_points(points(50)).tolist() == list(range(744))
    assert nearest_points(np.zeros((0, 4))).shape == (0,)


def test_what_is_no_vector_is_named() -> None:
    with pytest.raises(ValueError, match=r"vectors must have shape \(n, 4\), got \(2, 3\)"):
        nearest_points(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="vectors must be finite"):
        nearest_points(np.array([[1, 2, 3, np.nan]]))
    with pytest.raises(ValueError, match="squared_radius must be at least 1, got 0"):
        points(0)
