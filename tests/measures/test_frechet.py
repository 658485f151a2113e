"""Fréchet distance against closed forms and a matrix square root."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg

from mauve_metric.measures.frechet import frechet_distance

Floats = NDArray[np.float64]


def rows(seed: int, n: int, d: int, decay: float = 0.0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) @ rng.normal(size=(d, d))


def by_square_root(p: Floats, q: Floats) -> float:
    """‖μ_P - μ_Q‖² + tr(Σ_P + Σ_Q - 2(Σ_P^½ Σ_Q Σ_P^½)^½), the form in which every matrix is symmetric."""
    sigma_p, sigma_q = np.cov(p.T), np.cov(q.T)
    root = linalg.sqrtm(sigma_p)
    common = np.trace(linalg.sqrtm(root @ sigma_q @ root).real)
    return float(np.square(p.mean(axis=0) - q.mean(axis=0)).sum() + np.trace(sigma_p) + np.trace(sigma_q) - 2 * common)


def by_eigenvalues(p: Floats, q: Floats) -> float:
    """The same with tr (Σ_P Σ_Q)^½ as the sum of the roots of the eigenvalues, for singular covariances too."""
    sigma_p, sigma_q = np.cov(p.T), np.cov(q.T)
    values, vectors = np.linalg.eigh(sigma_p)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    common = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ sigma_q @ root), 0)).sum()
    return float(np.square(p.mean(axis=0) - q.mean(axis=0)).sum() + np.trace(sigma_p + sigma_q) - 2 * common)


@pytest.mark.parametrize(("n", "d"), [(50, 3), (10, 30), (400, 60)])
def test_equal_sets_are_at_distance_zero(n: int, d: int) -> None:
    p = rows(0, n, d)
    # traces of order d² = 3600 at most cancel: 1e-15 of that, times d for the sums
    assert 0 <= frechet_distance(p, p) < 1e-9
    assert 0 <= frechet_distance(p, p[::-1]) < 1e-9


@pytest.mark.parametrize(("n", "d"), [(50, 3), (10, 30)])
def test_a_shift_costs_its_squared_length(n: int, d: int) -> None:
    p, shift = rows(1, n, d), np.arange(d) / 7
    assert frechet_distance(p, p + shift) == pytest.approx(float(shift @ shift), rel=1e-9)  # as above


def test_one_dimension() -> None:
    p, q = rows(2, 40, 1), 3 * rows(3, 70, 1) + 1
    expected = (p.mean() - q.mean()) ** 2 + (p.std(ddof=1) - q.std(ddof=1)) ** 2
    assert frechet_distance(p, q) == pytest.approx(float(expected), rel=1e-12)  # a handful of float64 operations


def test_scaled_sets() -> None:
    p = rows(4, 60, 5)
    centred = p - p.mean(axis=0)
    # Σ_Q = 9 Σ_P and no shift: tr Σ_P · (1 - 3)²
    expected = 4 * float(np.trace(np.cov(p.T)))
    assert frechet_distance(centred, 3 * centred) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("n_p", "n_q", "d"), [(200, 300, 10), (80, 90, 40)])
def test_equal_to_the_matrix_square_root(n_p: int, n_q: int, d: int) -> None:
    p, q = rows(5, n_p, d), rows(6, n_q, d) + 0.5
    # sqrtm loses about half the digits of the smallest eigenvalues, which are 1e-3 of the largest here
    assert frechet_distance(p, q) == pytest.approx(by_square_root(p, q), rel=1e-7)


@pytest.mark.parametrize(("n_p", "n_q", "d"), [(10, 12, 40), (5, 200, 30), (2, 2, 7)])
def test_fewer_rows_than_columns(n_p: int, n_q: int, d: int) -> None:
    p, q = rows(7, n_p, d), rows(8, n_q, d) + 0.5
    # eigenvalues that are 0 come out as 1e-16 of the largest, so that their roots are 1e-8 of its root, d times
    scale = float(np.trace(np.cov(p.T)) + np.trace(np.cov(q.T)))
    assert frechet_distance(p, q) == pytest.approx(by_eigenvalues(p, q), rel=0, abs=1e-8 * d * scale)
    root = linalg.sqrtm(np.cov(p.T) + 1e-10 * np.eye(d))  # singular matrices have no root that sqrtm finds
    common = np.trace(linalg.sqrtm(root @ np.cov(q.T) @ root + 1e-12 * np.eye(d)).real)
    shift = float(np.square(p.mean(axis=0) - q.mean(axis=0)).sum())
    # roots of the added 1e-10 and 1e-12 on d directions, against root eigenvalues of about √scale
    assert frechet_distance(p, q) == pytest.approx(shift + scale - 2 * common, rel=0, abs=1e-4 * scale)


def test_rotation_swap_and_units() -> None:
    p, q = rows(9, 60, 8), rows(10, 50, 8) + 1
    rotation = np.linalg.qr(np.random.default_rng(11).normal(size=(8, 8)))[0]
    expected = frechet_distance(p, q)
    for found in (
        frechet_distance(p @ rotation, q @ rotation),
        frechet_distance(q, p),
        frechet_distance(1000 * p, 1000 * q) / 1e6,
        frechet_distance(p + 100, q + 100),
    ):
        assert found == pytest.approx(expected, rel=1e-10)  # float64 with coordinates a hundred times as large


def test_float32_rows() -> None:
    p, q = (side.astype(np.float32) for side in (rows(12, 40, 6), rows(13, 40, 6) + 1))
    assert frechet_distance(p, q) == frechet_distance(p.astype(np.float64), q.astype(np.float64))


@pytest.mark.parametrize(("n_p", "n_q", "named"), [(1, 5, "p"), (5, 1, "q")])
def test_one_row_has_no_covariance(n_p: int, n_q: int, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named} must have at least 2 rows for a covariance, got 1"):
        frechet_distance(rows(14, n_p, 3), rows(15, n_q, 3))


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_large_and_small_features_do_not_overflow_on_the_way(factor: float) -> None:
    p, q = rows(16, 40, 4), rows(17, 40, 4) + 1
    # squares of entries up to 1e151 fit into float64 once; a handful of operations on them
    assert frechet_distance(p * factor, q * factor) == pytest.approx(frechet_distance(p, q) * factor**2, rel=1e-10)


@pytest.mark.filterwarnings("error")
def test_a_distance_beyond_every_number_is_an_error_that_names_the_features() -> None:
    p = rows(18, 40, 4)
    with pytest.raises(ValueError, match=r"^frechet_distance .* features as large as 2\^"):
        frechet_distance(p * 1e154, (p + 5) * 1e154)
