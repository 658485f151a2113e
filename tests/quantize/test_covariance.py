"""The projection with scikit-learn's rounding, on flat spectra, where directions are least certain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mauve_metric import compute_mauve
from mauve_metric.arrays import Rows
from mauve_metric.features.rows import ArrayRows
from mauve_metric.quantize.covariance import is_scikit_learns_choice
from mauve_metric.quantize.kmeans import kmeans
from mauve_metric.quantize.projection import fit_projection, project


def noise(n: int, d: int, seed: int, decay: float = 0.0, offset: float = 0.0) -> Rows:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) + offset * rng.normal(size=d)
    return np.asarray(rows, dtype=np.float32)


def by_scikit_learn(features: Rows, share: float = 0.9, fitted: slice = slice(None)) -> tuple[Rows, str]:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import normalize

    unit = normalize(features)
    pca = PCA().fit(unit[fitted])
    kept = int(np.argmax(np.cumsum(pca.explained_variance_ratio_) >= share)) + 1
    return np.ascontiguousarray(pca.transform(unit)[:, :kept]), pca._fit_svd_solver


@pytest.mark.parametrize(
    ("n", "d", "decay", "offset"),
    [
        (4000, 96, 0.0, 0.0),
        (960, 96, 0.0, 3.0),
        (3840, 384, 0.02, 0.0),
        (640, 64, 0.0, 1.0),
        (3000, 30, 0.01, 0.0),
        (40, 4, 0.0, 0.0),
    ],
)
def test_many_rows_of_few_columns_are_projected_as_by_scikit_learn_to_the_bit(
    n: int, d: int, decay: float, offset: float
) -> None:
    features = noise(n, d, n + d, decay, offset)
    expected, solver = by_scikit_learn(features)
    assert solver == "covariance_eigh"
    np.testing.assert_array_equal(project(features), expected)


@pytest.mark.parametrize(("n", "d"), [(4000, 96), (959, 96), (960, 96), (700, 64), (639, 64), (1200, 1001)])
def test_labels_of_flat_spectra_are_those_of_scikit_learns_rows(n: int, d: int) -> None:
    features = noise(n, d, seed=n)
    expected, _ = by_scikit_learn(features)
    np.testing.assert_array_equal(kmeans(project(features), 20, 2), kmeans(expected, 20, 2))


@pytest.mark.parametrize(("n", "d"), [(960, 96), (959, 96), (10, 1), (9, 1), (1200, 1001)])
def test_the_rule_is_scikit_learns(n: int, d: int) -> None:
    _, solver = by_scikit_learn(noise(n, d, seed=0))
    assert is_scikit_learns_choice(n, d) == (solver == "covariance_eigh")


def test_a_sample_decides_by_its_own_size() -> None:
    features = noise(1000, 20, seed=1)
    assert is_scikit_learns_choice(1000, 20, 200) and not is_scikit_learns_choice(1000, 20, 199)
    drawn = np.random.RandomState(25 + 5).choice(1000, size=300, replace=False)
    expected, _ = by_scikit_learn(features, fitted=drawn)
    np.testing.assert_array_equal(project(features, pca_max_data=300), expected)


def test_a_million_rows_of_many_columns_stay_in_blocks() -> None:
    assert not is_scikit_learns_choice(1_000_000, 384) and is_scikit_learns_choice(600_000, 384)


def test_rows_that_float32_cannot_square_are_scaled_all_the_same() -> None:
    features = noise(400, 10, seed=2)
    scaled = features * np.where(np.arange(400) % 2, 1e-25, 1e25)[:, None].astype(np.float32)
    exact = project(features.astype(np.float64))
    np.testing.assert_allclose(project(scaled), exact, rtol=0, atol=2e-6)  # float32, relative to length 1


@pytest.mark.parametrize("scale", [2.0**-149, 2.0**-80, 2.0**100])
def test_rows_that_float32_cannot_square_are_projected_as_in_float64(scale: float) -> None:
    features = np.random.default_rng(5).integers(-3, 4, size=(60, 3)) * scale
    assert np.array_equal(features, features.astype(np.float32).astype(np.float64))
    assert np.array_equal(project(features.astype(np.float32)), project(features))


def test_rows_that_all_but_agree_are_told_apart_in_float64() -> None:
    rng = np.random.default_rng(3)
    features = (1 + 1e-4 * rng.normal(size=(500, 8))).astype(np.float32)
    np.testing.assert_array_equal(project(features), fit_projection(ArrayRows(features)).apply(features))
    assert project(np.ones((500, 8), dtype=np.float32)).tolist() == [[0.0]] * 500


def test_equal_rows_stay_equal() -> None:
    features = noise(2000, 96, seed=4)
    features[1500:1600] = features[:100]
    projected = project(features)
    np.testing.assert_array_equal(projected[1500:1600], projected[:100])


@pytest.mark.parametrize("seed", range(4))
def test_isotropic_noise_has_the_score_of_mauve_text(seed: int) -> None:
    """Against faiss after one step of k-means: in many, a processor's last bits move a text, and that text all centres.
    After all steps, against the same k-means on scikit-learn's rows."""
    mauve = pytest.importorskip("mauve")
    rng = np.random.default_rng(seed)
    p, q = (rng.normal(size=(n, 96)).astype(np.float32) for n in (1000, 3000))
    sides = {"p_features": p, "q_features": q, "num_buckets": 50, "kmeans_num_redo": 1, "kmeans_max_iter": 1}
    theirs = mauve.compute_mauve(**sides, verbose=False).mauve
    assert compute_mauve(**sides, knn=False).mauve == pytest.approx(theirs, abs=1e-12)
    found = compute_mauve(p_features=p, q_features=q, num_buckets=50, kmeans_num_redo=2, knn=False)
    expected, _ = by_scikit_learn(np.concatenate([q, p]))
    np.testing.assert_array_equal(np.concatenate([found.q_labels, found.p_labels]), kmeans(expected, 50, 2))


def test_a_file_has_the_score_of_its_array(tmp_path: Path) -> None:
    p, q = noise(700, 30, seed=5), noise(600, 30, seed=6)
    np.save(tmp_path / "p.npy", p)
    of_array = compute_mauve(p_features=p, q_features=q, num_buckets=20, knn=False)
    of_file = compute_mauve(p_features=tmp_path / "p.npy", q_features=q, num_buckets=20, knn=False)
    np.testing.assert_array_equal(of_file.p_labels, of_array.p_labels)
    assert of_file.mauve == of_array.mauve
