"""Rows of length one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.quantize.projection import unit_rows

Floats = NDArray[np.float64]


def rows(n: int, d: int, seed: int, decay: float = 0.05) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) + rng.normal(size=d))


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [(np.float32, 1.0), (np.float32, 1e30), (np.float32, 1e-30)]
    + [(np.float64, scale) for scale in (1.0, 1e30, 1e300, 1e-30, 1e-300)],
)
def test_unit_rows(dtype: type, scale: float) -> None:
    features = rows(20, 7, seed=0)
    scaled = (features * scale).astype(dtype)
    unit = unit_rows(scaled)
    assert unit.dtype == np.float64
    expected = features / np.linalg.norm(features, axis=1, keepdims=True)
    # relative rounding of the input's dtype, once for the scaling and once for the cast
    precision = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(unit, expected, rtol=precision, atol=precision)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-15 * 7)


def test_unit_rows_of_zeros_and_mixed_magnitudes() -> None:
    features = np.array([[0.0, 0.0], [1e300, 1e300], [3e-320, 4e-320], [-2, 0]])
    unit = unit_rows(features)
    assert unit[0].tolist() == [0, 0] and unit[3].tolist() == [-1, 0]
    np.testing.assert_allclose(unit[1], np.sqrt(0.5), rtol=1e-15)
    np.testing.assert_allclose(unit[2], [0.6, 0.8], rtol=1e-3)  # subnormals: 3e-320 is 6072 steps of 5e-324


def test_unit_rows_of_integers_leave_the_input_alone() -> None:
    features = np.array([[3, 4], [0, 5]], dtype=np.int8)
    features.setflags(write=False)
    np.testing.assert_allclose(unit_rows(features), [[0.6, 0.8], [0, 1]], rtol=1e-15)
    double = np.array([[3.0, 4.0]])
    unit_rows(double)
    assert double.tolist() == [[3, 4]]
