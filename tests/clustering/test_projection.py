"""Rows of length one, their projection and their order against scikit-learn and numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import compute_mauve
from mauve_metric.arrays import Rows
from mauve_metric.clustering.kmeans import kmeans
from mauve_metric.clustering.projection import fit_projection, is_scikit_learns_choice, project, unit_rows
from mauve_metric.features.array_files import BlockwiseRows
from mauve_metric.features.row_blocks import ArrayRows, content_order

Floats = NDArray[np.float64]


def rows(n: int, d: int, seed: int, decay: float = 0.05) -> Floats:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) + rng.normal(size=d))


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


@pytest.mark.parametrize(("pairs", "kept"), [((9, 1), 1), ((8, 2), 2), ((45, 45, 10), 2), ((45, 44, 11), 3)])
def test_a_share_that_is_reached_but_for_rounding_is_reached(pairs: tuple[int, ...], kept: int) -> None:
    """Pairs of opposite rows along the axes, whose shares of the variance are those of their numbers."""
    half = np.repeat(np.eye(len(pairs)), pairs, axis=0)
    assert project(np.concatenate([half, -half]), 0.9).shape[1] == kept
    assert project(np.concatenate([half, -half]), 1.0).shape[1] == len(pairs)


def test_a_projection_does_not_depend_on_the_blocks() -> None:
    """Of which the second half points elsewhere, so that the first block's mean is far from that of all."""
    features = rows(300, 8, seed=7)
    features[150:] += 3 * rows(1, 8, seed=8)
    in_blocks = BlockwiseRows((300, 8), lambda: iter([features[:100], features[100:170], features[170:]]))
    whole, found = (fit_projection(some, 0.99) for some in (ArrayRows(features), in_blocks))
    np.testing.assert_allclose(found.mean, unit_rows(features).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.directions, whole.directions, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.apply_all(in_blocks), whole.apply(features), rtol=0, atol=2e-7)  # float32


def test_little_is_lost_where_all_rows_point_about_the_same_way() -> None:
    features = np.eye(8)[0] + 1e-7 * np.random.default_rng(9).normal(size=(200, 8))
    found = project(features, 1.0).astype(np.float64)[:, :7]  # the eighth direction is that of all rows
    products = found.T @ found
    expected = np.linalg.svd(unit_rows(features) - unit_rows(features).mean(axis=0))[1][:7] ** 2
    np.testing.assert_allclose(products / expected[0], np.diag(expected / expected[0]), rtol=0, atol=1e-4)


def test_few_rows_have_no_direction_beyond_their_differences() -> None:
    found = project(rows(10, 40, seed=3), 1.0)
    assert found.shape == (10, 10) and not found[:, 9].any() and (np.abs(found[:, :9]).max(axis=0) > 1e-3).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_half_of_the_variance_is_reached_by_one_of_two_equal_directions(kind: type) -> None:
    half = np.repeat(np.eye(2), 5, axis=0).astype(kind)
    assert project(np.concatenate([half, -half]), 0.5).shape[1] == 1
    assert project(np.repeat(noise(400, 6, seed=8).astype(kind), 2, axis=1), 1.0).shape[1] == 12  # six are copies


def test_project_sees_small_differences() -> None:
    # directions 1e-6 apart are different (float32 features differ by 6e-8), and stay so
    features = np.array([[1, 0], [1, 1e-6]] * 5)
    found = project(features)
    assert abs(found[0, 0] - found[1, 0]) == pytest.approx(1e-6, rel=1e-5)
    for d in (2, 300):  # a distance of 1e-13 is rounding, however many rows are added up
        near = np.zeros((100, d))
        near[:, 0], near[::2, 1] = 1, 1e-13
        assert not project(near).any()


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


def test_copies_of_columns_are_projected_as_by_scikit_learn() -> None:
    """Whose directions without variance have rounding for it, some of it negative."""
    features = np.repeat(noise(400, 20, seed=11), 2, axis=1)
    np.testing.assert_array_equal(project(features), by_scikit_learn(features)[0])


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
    assert is_scikit_learns_choice(2**20, 256) and not is_scikit_learns_choice(2**20 + 1, 256)
    assert is_scikit_learns_choice(10_000, 1000) and not is_scikit_learns_choice(10_010, 1001)


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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
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


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_equal_rows_lie_together_in_their_order(kind: type) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.integers(-2, 3, size=(200, 3)) * np.array([1e-3, 1.0, 1e4])).astype(kind)
    rows[::7] = -0.0
    order = content_order(rows)
    kinds = np.unique(rows + 0, axis=0, return_inverse=True)[1].ravel()[order]
    assert len(np.unique(kinds)) == 1 + np.count_nonzero(np.diff(kinds))
    assert all((np.diff(order[kinds == number]) > 0).all() for number in np.unique(kinds))
    parts = rows[:50], rows[50:]
    assert np.array_equal(content_order(*parts), order)


def test_another_order_of_the_rows_gives_the_same_sorted_rows() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(100, 5))
    other = rows[rng.permutation(100)][:, :]
    assert np.array_equal(rows[content_order(rows)], other[content_order(other)])
    near = rows * (1 + 1e-12)  # last bits move no row
    assert np.array_equal(content_order(near), content_order(rows))


def test_rows_that_are_not_contiguous_are_left_alone() -> None:
    rows = np.asfortranarray(np.random.default_rng(2).normal(size=(20, 4)))
    before = rows.copy()
    assert sorted(content_order(rows[::2]).tolist()) == list(range(10)) and np.array_equal(rows, before)
