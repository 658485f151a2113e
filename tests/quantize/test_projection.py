"""Projection against scikit-learn's PCA."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.quantize.projection import project, unit_rows

Floats = NDArray[np.float64]


def rows(n: int, d: int, seed: int, decay: float = 0.05) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) + rng.normal(size=d))


# --- projection ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d", "share"),
    [(200, 12, 0.9), (200, 12, 0.5), (40, 100, 0.9), (12, 300, 0.99), (30, 30, 0.9), (2, 5, 0.9), (500, 1, 0.9)],
)
def test_project_equals_scikit_learn(n: int, d: int, share: float) -> None:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import normalize

    features = rows(n, d, seed=n + d)
    if d == 1:
        features[: n // 2] *= -1
        features[:3] *= [[-1], [1], [-1]]
    unit = normalize(features)
    pca = PCA().fit(unit)
    kept = int(np.argmax(np.cumsum(pca.explained_variance_ratio_) >= share)) + 1
    expected = pca.transform(unit)[:, :kept]
    found = project(features, share)
    assert found.dtype == np.float32 and found.shape == expected.shape
    signs = np.sign((found * expected).sum(axis=0))
    # float32 output of numbers below 2; components are separated well enough that nothing else shows
    np.testing.assert_allclose(found * signs, expected, rtol=0, atol=4e-7)


def test_project_keeps_distances_with_every_component() -> None:
    for n, d in ((50, 6), (10, 40)):
        features = rows(n, d, seed=3)
        unit, found = unit_rows(features), project(features, 1.0).astype(np.float64)
        before = np.linalg.norm(unit[:, None] - unit[None], axis=2)
        after = np.linalg.norm(found[:, None] - found[None], axis=2)
        # a rotation, rounded to float32 (6e-8 for each of up to 40 coordinates below 1)
        np.testing.assert_allclose(after, before, rtol=0, atol=2 * 6e-8 * np.sqrt(40))


def test_project_is_invariant_to_row_scale_and_rotation() -> None:
    rng = np.random.default_rng(4)
    features = rows(60, 9, seed=5)
    scaled = features * rng.uniform(1e-20, 1e20, size=(60, 1))
    rotation = np.linalg.qr(rng.normal(size=(9, 9)))[0]
    reference = project(features)
    for variant in (project(scaled), project(features @ rotation)):
        signs = np.sign((variant * reference).sum(axis=0))
        np.testing.assert_allclose(variant * signs, reference, rtol=0, atol=4e-7)  # float32 output


def test_project_fits_on_a_sample_drawn_with_the_seed() -> None:
    features = rows(100, 5, seed=6, decay=0)
    all_rows, sample = project(features, 0.8), project(features, 0.8, pca_max_data=10, seed=1)
    assert sample.shape[0] == 100
    assert sample.shape != all_rows.shape or not np.allclose(sample, all_rows, atol=1e-3)
    np.testing.assert_array_equal(sample, project(features, 0.8, pca_max_data=10, seed=1))
    assert not np.array_equal(sample, project(features, 0.8, pca_max_data=10, seed=2))
    np.testing.assert_array_equal(project(features, 0.8), project(features, 0.8, pca_max_data=100))
    np.testing.assert_array_equal(project(features, 0.8), project(features, 0.8, pca_max_data=10**9))


@pytest.mark.parametrize("features", [np.zeros((5, 3)), np.full((5, 3), 2.5), np.full((5, 3), 1 / 3), np.ones((4, 1))])
def test_project_of_constant_features_is_one_zero_column(features: Floats) -> None:
    assert project(features).tolist() == [[0.0]] * len(features)


def test_project_sees_small_differences() -> None:
    # directions 1e-6 apart are different (float32 features differ by 6e-8), and stay so
    features = np.array([[1, 0], [1, 1e-6]] * 5)
    found = project(features)
    assert abs(found[0, 0] - found[1, 0]) == pytest.approx(1e-6, rel=1e-5)
