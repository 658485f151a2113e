"""Projection against scikit-learn's PCA, histograms, buckets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.quantize.histograms import Histograms, auto_num_buckets, count_labels
from mauve_metric.quantize.kmeans import kmeans
from mauve_metric.quantize.projection import project, unit_rows

Floats = NDArray[np.float64]


def rows(n: int, d: int, seed: int, decay: float = 0.05) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) + rng.normal(size=d))


# --- unit rows ----------------------------------------------------------------------------------------------------


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


# --- buckets ------------------------------------------------------------------------------------------------------


def test_kmeans_finds_separate_groups() -> None:
    rng = np.random.default_rng(7)
    centres = np.array([[0, 0], [10, 0], [0, 10]])
    truth = rng.integers(0, 3, size=90)
    labels = kmeans((centres[truth] + 0.1 * rng.normal(size=(90, 2))).astype(np.float32), 3)
    assert labels.shape == (90,) and labels.dtype == np.int64
    assert sorted(len(set(labels[truth == group])) for group in range(3)) == [1, 1, 1]
    assert set(labels) == {0, 1, 2}


def test_kmeans_labels_are_nearest_centres_and_repeatable() -> None:
    data = rows(300, 4, seed=8).astype(np.float32)
    labels = kmeans(data, 6, seed=3)
    np.testing.assert_array_equal(labels, kmeans(data, 6, seed=3))
    assert not np.array_equal(labels, kmeans(data, 6, seed=4))
    centres = np.stack([data[labels == bucket].mean(axis=0) for bucket in range(6)])
    nearest = np.argmin(((data[:, None] - centres) ** 2).sum(axis=2), axis=1)
    # at Lloyd's fixed point every row is nearest to the mean of its own bucket; 500 iterations reach it
    assert (nearest == labels).mean() == 1


def test_kmeans_of_constant_rows_is_one_bucket() -> None:
    assert set(kmeans(np.zeros((30, 2), dtype=np.float32), 3)) == {0}


def test_kmeans_with_as_many_buckets_as_rows() -> None:
    data = np.arange(6, dtype=np.float32)[:, None]
    assert sorted(kmeans(data, 6)) == [0, 1, 2, 3, 4, 5]


def test_kmeans_errors() -> None:
    with pytest.raises(ValueError, match="num_buckets must be at most the number of texts of both sets, 3, got 4"):
        kmeans(np.zeros((3, 2), dtype=np.float32), 4)


@pytest.mark.parametrize(
    ("n_p", "n_q", "expected"),
    [(1, 1, 2), (24, 24, 2), (25, 500, 2), (26, 500, 3), (35, 40, 4), (45, 45, 4), (500, 5000, 50), (5000, 5000, 500)],
)
def test_auto_num_buckets(n_p: int, n_q: int, expected: int) -> None:
    assert auto_num_buckets(n_p, n_q) == auto_num_buckets(n_q, n_p) == expected  # round half to even


# --- histograms ---------------------------------------------------------------------------------------------------


def test_count_labels() -> None:
    histograms = count_labels(np.array([0, 0, 3]), np.array([1, 1]), 5)
    assert histograms.p_counts.tolist() == [2, 0, 0, 1, 0]
    assert histograms.q_counts.tolist() == [0, 2, 0, 0, 0]


def test_probabilities() -> None:
    histograms = Histograms(np.array([3, 1, 0]), np.array([0, 2, 0]))
    p, q = histograms.probabilities()
    assert p.tolist() == [0.75, 0.25, 0] and q.tolist() == [0, 1, 0]
    p, q = histograms.probabilities(smoothing=0.5)
    np.testing.assert_allclose(p, np.array([3.5, 1.5, 0.5]) / 5.5, rtol=1e-15)
    np.testing.assert_allclose(q, np.array([0.5, 2.5, 0.5]) / 3.5, rtol=1e-15)


def test_histograms_take_any_integers() -> None:
    histograms = Histograms(np.array([1, 2], dtype=np.uint8), [3, 4])  # type: ignore[arg-type]
    assert histograms.p_counts.dtype == histograms.q_counts.dtype == np.int64


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([1.5, 2], [1, 2], "p_counts must be a vector of non-negative integers"),
        ([1, 2], [1, -2], "q_counts must be a vector of non-negative integers"),
        ([0, 0], [1, 2], "p_counts must be .* with a positive sum"),
        ([[1, 2]], [1, 2], "p_counts must be a vector"),
        ([1, 2], [], "q_counts must be a vector"),
        ([1, 2], [1, 2, 3], "p_counts and q_counts must have the same length, got 2 and 3"),
        ([True, False], [1, 2], "p_counts must be a vector of non-negative integers"),
    ],
)
def test_histogram_errors(p: object, q: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Histograms(p, q)  # type: ignore[arg-type]
