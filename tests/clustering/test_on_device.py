"""The torch path on CPU tensors, and on a GPU where there is one, against the numpy path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import FeatureSet, compare, compute_mauve, explain
from mauve_metric.clustering import kmeans, on_device, projection
from mauve_metric.measures import knn_precision_recall
from mauve_metric.runtime import tensors
from mauve_metric.runtime.tensors import TensorRows

torch = pytest.importorskip("torch")
Array = NDArray[Any]

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")],
    ),
]


def samples(n: int = 600, d: int = 40, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    scale = np.arange(1, d + 1) ** -0.5
    human, model = (rng.normal(size=(size, d)) * scale + shift for size, shift in ((n, 0.3), (n - 100, 0.5)))
    return human.astype(np.float32), model.astype(np.float32)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "BLOCK_NUMBERS", 5000)


def on(device: str, rows: Array) -> Any:
    return torch.from_numpy(rows).to(device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"explained_variance": 1.0}, {"pca_max_data": 300}])
def test_projection(device: str, options: dict[str, Any], small_blocks: None) -> None:
    rows = np.concatenate(samples())
    expected = projection.project(rows, **options)
    found = projection.project(on(device, rows), **options)
    assert found.device.type == device and found.dtype == torch.float32
    np.testing.assert_allclose(found.cpu().numpy(), expected, atol=2e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_projection_of_few_constant_and_extreme_rows(device: str) -> None:
    few = samples(130, 200)[1]
    expected = projection.project(few)
    np.testing.assert_allclose(projection.project(on(device, few)).cpu().numpy(), expected, atol=2e-6)
    assert projection.project(on(device, few), explained_variance=1.0).shape == (30, 30)
    constant = projection.project(on(device, np.ones((5, 3))))
    assert constant.shape == (5, 1) and not constant.any()
    extreme = np.array([[0.0, 0.0], [1e300, 1e300], [3e-320, 4e-320], [-2, 0]])
    unit = on_device.unit_tensor(on("cpu", extreme)).numpy()  # a GPU may flush subnormals to zero
    np.testing.assert_allclose(unit, projection.unit_rows(extreme), rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_each_step_is_that_of_numpy(device: str, small_blocks: None) -> None:
    human, _ = samples()
    rows, wide, labels = on(device, human), human.astype(np.float64), np.arange(600) ** 2 % 7
    sums = on_device.bucket_sums(rows, labels, 9)
    assert sums.dtype == np.float64
    np.testing.assert_allclose(sums, [wide[labels == bucket].sum(axis=0) for bucket in range(9)], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(on_device.inner(rows, np.array([3, 500])), wide[[3, 500]] @ wide.T, rtol=1e-5, atol=1e-5)
    scaled = on_device.scaled_rows(rows, "drmm")
    centred = wide - wide.mean(axis=0)
    np.testing.assert_allclose(scaled.cpu().numpy(), centred / np.sqrt((centred**2).mean()), rtol=1e-5, atol=1e-5)
    search, centres = on_device.DeviceCentres(rows), human[:11] + np.float32(0.01)
    distances = np.square(wide[:, None] - centres).sum(axis=2)
    np.testing.assert_array_equal(search.start(centres[None]), distances.argmin(axis=1)[None])
    assert search.cost(0) == pytest.approx(distances.min(axis=1).sum() - np.square(wide).sum(), rel=1e-5)
    near = np.eye(40)[0] + 1e-7 * wide  # little is lost where all rows point about the same way
    unit = projection.unit_rows(near)
    expected = np.linalg.svd(unit - unit.mean(axis=0))[1] ** 2
    found = on_device.principal_axes(on(device, near))[1]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * expected[0])
    for some in (human, human[:30]):
        unit = projection.unit_rows(some)
        mean, variances, directions = on_device.principal_axes(on(device, some))
        np.testing.assert_allclose(mean, unit.mean(axis=0), rtol=1e-9, atol=1e-12)
        expected = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)[1] ** 2
        np.testing.assert_allclose(variances, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(directions.T @ directions, np.eye(len(variances)), atol=1e-9)
        found = on_device.apply(mean, directions, on(device, some)).cpu().numpy()
        np.testing.assert_allclose((found.astype(np.float64) ** 2).sum(axis=0), variances, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("k", [20, 3])
def test_kmeans(device: str, k: int, small_blocks: None) -> None:
    projected = projection.project(np.concatenate(samples()))  # with k = 3 the centres are fitted on 768 rows of 1100
    expected = kmeans.kmeans(projected, k)
    found = kmeans.kmeans(on(device, projected), k)
    assert isinstance(found, np.ndarray) and found.dtype == np.int64
    assert (found == expected).mean() > 0.998


@pytest.mark.parametrize("device", DEVICES)
def test_kmeans_with_empty_buckets_ties_and_constant_rows(device: str) -> None:
    kinds = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    rows = np.repeat(kinds, 20, axis=0)
    labels = kmeans.kmeans(on(device, rows), 12)  # fewer kinds than buckets
    assert [len(set(labels[20 * kind : 20 * kind + 20])) for kind in range(6)] == [1] * 6
    some = np.concatenate([rows, np.random.default_rng(1).normal(size=(80, 4)).astype(np.float32)])
    np.testing.assert_array_equal(kmeans.kmeans(on(device, some), 30), kmeans.kmeans(some, 30))
    assert set(kmeans.kmeans(on(device, np.zeros((30, 2), dtype=np.float32)), 3)) == {0}


@pytest.mark.parametrize("device", DEVICES)
def test_support_scores(device: str, small_blocks: None) -> None:
    human, model = samples()
    model[:50] = human[:50]  # copies across the sets, on the edge of balls
    model[60:70] = model[60]  # and within one
    for k in (1, 4):
        expected = knn_precision_recall.support_scores(human, model, k=k)
        found = knn_precision_recall.support_scores_on_device(on(device, human), on(device, model), k)
        assert found == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("options", [{}, {"num_runs": 1, "row_order": "pq", "permutations": 99}])
def test_scores_on_a_device_agree_with_the_cpu(device: str, options: dict[str, Any]) -> None:
    human, model = samples()
    expected = compute_mauve(p_features=human, q_features=model, **options).to_dict()
    ways: list[dict[str, Any]] = [{"p_features": human, "q_features": model, "score_device": device}]
    if device == "cuda":
        ways.append({"p_features": on(device, human), "q_features": on(device, model)})
        ways.append({"p_features": on(device, human), "q_features": model})
    ways.append({side: FeatureSet(TensorRows(side, on(device, rows))) for side, rows in (("p", human), ("q", model))})
    for way in ways:
        found = compute_mauve(**way, **options).to_dict()
        for name, value in expected.items():
            if isinstance(value, float) and name != "p_value":
                assert found[name] == pytest.approx(value, abs=1e-3), name
        assert found["p_value"] == pytest.approx(expected["p_value"], abs=0.1)


@pytest.mark.more
def test_frechet_distance_and_warnings_of_tensors() -> None:
    human, _ = samples()
    expected = compute_mauve(p_features=human, q_features=human, frechet_distance=True, num_runs=1)
    rows = FeatureSet(TensorRows("p_features", torch.from_numpy(human)))
    found = compute_mauve(p=rows, q=rows, frechet_distance=True, num_runs=1)
    assert found.frechet_distance == pytest.approx(expected.frechet_distance, abs=1e-6)
    assert [warning.code for warning in found.warnings] == [warning.code for warning in expected.warnings]


@pytest.mark.more
def test_tensors_that_are_not_on_a_gpu_are_arrays() -> None:
    human, model = samples()
    expected = compute_mauve(p_features=human, q_features=model, num_runs=1).mauve
    given = {"p_features": torch.from_numpy(human), "q_features": torch.from_numpy(model)}
    assert compute_mauve(**given, num_runs=1).mauve == expected
    low = torch.from_numpy(human).bfloat16()  # which numpy does not have
    half = compute_mauve(p_features=low, q_features=model, num_runs=1)
    assert half.mauve == pytest.approx(expected, abs=0.1)
    blocks = iter([human[:300], human[300:]])
    read_in_blocks = compute_mauve(p_features=blocks, q_features=model, score_device="cpu", num_runs=1)
    assert read_in_blocks.mauve == pytest.approx(expected, abs=1e-3)


def test_large_sets_find_neighbours_among_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    monkeypatch.setattr("mauve_metric.clustering.partition.KNN_MOST_ROWS", 200)
    expected = compute_mauve(p_features=human, q_features=model, knn=True, num_runs=1)
    found = compute_mauve(p_features=human, q_features=model, knn=True, num_runs=1, score_device="cpu")
    assert (found.precision, found.recall) == pytest.approx((expected.precision, expected.recall), abs=1e-3)


def test_precision_of_products_is_kept() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with tensors.full_precision():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize(
    ("tensor", "error", "message"),
    [
        (torch.ones(3), ValueError, r"p_features must have shape \(n, d\) with n and d at least 1, got \(3,\)"),
        (torch.ones(0, 3), ValueError, r"got \(0, 3\)"),
        (torch.ones(2, 3, dtype=torch.int32), TypeError, "p_features must be an array of numbers, got dtype torch.int"),
        (torch.tensor([[1.0], [torch.nan]]), ValueError, "p_features must be finite: 1 row .* the first is row 1"),
    ],
)
def test_bad_tensors(tensor: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TensorRows("p_features", tensor)


@pytest.mark.parametrize("device", ["toaster", "cuda:99", "meta:x"])
def test_bad_devices(device: Any) -> None:
    human, model = samples()
    with pytest.raises(ValueError, match=r"score_device must be (a device that torch|the name of a torch)"):
        compute_mauve(p_features=human, q_features=model, score_device=device)


@pytest.mark.more
@pytest.mark.parametrize("device", DEVICES)
def test_comparisons_and_explanations_run_on_a_device(device: str) -> None:
    human, model = samples()
    models = {"a": model, "b": model + np.float32(0.1)}
    expected = compare(p_features=human, models=models, buckets=2, num_runs=1)
    found = compare(p_features=human, models=models, buckets=2, num_runs=1, score_device=device)
    assert found.ranking == expected.ranking
    for name in models:
        assert found.models[name].mauve == pytest.approx(expected.models[name].mauve, abs=1e-3)
        assert found.own[name].mauve == pytest.approx(expected.own[name].mauve, abs=1e-3)
        assert found.models[name].precision == pytest.approx(expected.models[name].precision, abs=5e-3)
    assert found.explanations.keys() == models.keys()
    told = explain(p_features=on(device, human), q_features=on(device, model), score_device=device, num_runs=1)
    here = explain(p_features=human, q_features=model, num_runs=1)
    np.testing.assert_allclose(told.contributions, here.contributions, atol=1e-3)
