"""Features read in blocks give the result of the same features in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import Reference, compare, compute_mauve, explain
from mauve_metric.features import reference_files, rows
from mauve_metric.features.row_files import NpyRows, take_from_blocks
from mauve_metric.features.rows import ArrayRows, ConcatenatedRows
from mauve_metric.quantize.blocks import CHECKPOINT_FILE

Array = NDArray[Any]
OPTIONS: dict[str, Any] = {"num_buckets": 6, "num_runs": 1}
D = 12


def samples() -> tuple[Array, Array]:
    """More rows than the 256 a bucket that the clustering is fitted on, so that the subset counts."""
    rng = np.random.default_rng(0)
    scale = np.arange(1, D + 1) ** -0.5
    human, model = (rng.normal(size=(n, D)) * scale + shift for n, shift in ((1100, 0.0), (900, 0.2)))
    return human.astype(np.float32), model.astype(np.float32)


def npy(rows: Array, folder: Path) -> Any:
    np.save(folder / "rows.npy", rows)
    return folder / "rows.npy"


def npy_name(rows: Array, folder: Path) -> Any:
    return str(npy(rows, folder))


def memory_map(rows: Array, folder: Path) -> Any:
    return np.load(npy(rows, folder), mmap_mode="r")


def part_of_a_map(rows: Array, folder: Path) -> Any:
    np.save(folder / "rows.npy", np.concatenate([rows, rows]))
    return np.load(folder / "rows.npy", mmap_mode="r")[len(rows) :]


def shards(rows: Array, folder: Path) -> Any:
    for number, part in enumerate(np.array_split(rows, 3)):
        np.save(folder / f"{number}.npy", part)
    return folder


def parquet(rows: Array, folder: Path) -> Any:
    return Reference(rows).save(folder / "rows.parquet")


def parquet_shards(rows: Array, folder: Path) -> Any:
    for number, part in enumerate(np.array_split(rows, 3)):
        Reference(part).save(folder / f"{number}.parquet")
    return folder


def dataset(rows: Array, folder: Path) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"features": rows.tolist()}).with_format("numpy")


def blocks(rows: Array, folder: Path) -> Any:
    return iter(np.array_split(rows, 7))


FORMS = [npy, npy_name, memory_map, part_of_a_map, shards, parquet, parquet_shards, dataset, blocks]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK_ROWS", 128)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_form_gives_the_score_of_the_array(form: Callable[[Array, Path], Any], tmp_path: Path) -> None:
    human, model = samples()
    expected = compute_mauve(p_features=human, q_features=model, **OPTIONS)
    found = compute_mauve(p_features=form(human, tmp_path), q_features=model, **OPTIONS)
    # Blocks change the last bits of the projection: a row on the border of two buckets may go either way, and one
    # row of 900 moves the score by less than 1e-3.
    assert found.mauve == pytest.approx(expected.mauve, abs=1e-3)
    assert (found.p_labels == expected.p_labels).mean() > 0.998
    assert (found.n_p, found.n_q) == (1100, 900)


def test_large_arrays_take_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    for order in ("qp", "pq"):
        expected = compute_mauve(p_features=human, q_features=model, row_order=order, **OPTIONS)
        monkeypatch.setattr(rows, "MOST_NUMBERS_AT_ONCE", 100)
        found = compute_mauve(p_features=human, q_features=model, row_order=order, **OPTIONS)
        monkeypatch.undo()
        assert found.mauve == pytest.approx(expected.mauve, abs=1e-3)
        # All rows fit among the nearest-neighbour rows: the scores are those of the same projected rows.
        assert found.precision == pytest.approx(expected.precision, abs=2e-3)
        assert found.recall == pytest.approx(expected.recall, abs=2e-3)


def test_several_runs_and_a_test_of_large_features(monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    monkeypatch.setattr(rows, "MOST_NUMBERS_AT_ONCE", 100)
    out = compute_mauve(p_features=human, q_features=model, num_buckets=6, num_runs=3, permutations=99)
    assert len(out.mauve_runs) == 3
    assert out.mauve_runs[0] == out.mauve
    assert out.p_value == 0.01  # shifted by .2 of each deviation: none of 99 splits comes near


def test_nearest_neighbours_of_many_rows_are_looked_for_among_some(monkeypatch: pytest.MonkeyPatch) -> None:

    human, model = samples()
    exact = compute_mauve(p_features=human, q_features=model, knn=True, **OPTIONS)
    monkeypatch.setattr("mauve_metric.quantize.partition.KNN_MOST_ROWS", 500)
    some = compute_mauve(p_features=human, q_features=model, knn=True, **OPTIONS)
    again = compute_mauve(p_features=human, q_features=model, knn=True, **OPTIONS)
    assert some.precision == again.precision
    assert some.precision is not None
    assert exact.precision is not None
    # Shares of 500 and 900 rows: five standard deviations of a share are 5·√(.25/500) = .11.
    assert abs(some.precision - exact.precision) < 0.11


def test_a_finished_clustering_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    monkeypatch.setattr(rows, "MOST_NUMBERS_AT_ONCE", 100)
    options = OPTIONS | {"checkpoint": tmp_path / "kept", "knn": False}

    def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("mauve_metric.quantize.blocks.assign", killed)
        compute_mauve(p_features=human, q_features=model, **options)
    assert [file.name for file in (tmp_path / "kept").iterdir()] == [CHECKPOINT_FILE]
    with monkeypatch.context() as patch:
        patch.setattr("mauve_metric.quantize.kmeans.fit", killed)  # must not be needed
        resumed = compute_mauve(p_features=human, q_features=model, **options)
    assert resumed.mauve == compute_mauve(p_features=human, q_features=model, **OPTIONS, knn=False).mauve


def test_a_checkpoint_of_another_job_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    human, model = samples()
    monkeypatch.setattr(rows, "MOST_NUMBERS_AT_ONCE", 100)
    compute_mauve(p_features=human, q_features=model, **OPTIONS, checkpoint=tmp_path)
    other = compute_mauve(p_features=human, q_features=model, num_buckets=5, num_runs=1, checkpoint=tmp_path)
    assert "belongs to other data or settings" in caplog.text
    assert other.mauve == compute_mauve(p_features=human, q_features=model, num_buckets=5, num_runs=1).mauve


def test_large_feature_files_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    path = Reference(human).save(tmp_path / "human.npy")
    expected = compute_mauve(p=Reference.load(path), q_features=model, **OPTIONS)
    monkeypatch.setattr(reference_files, "LAZY_BYTES", 100)
    lazy = Reference.load(path)
    assert not isinstance(lazy.features, np.ndarray)
    assert len(lazy) == len(human)
    assert compute_mauve(p=lazy, q_features=model, **OPTIONS).mauve == pytest.approx(expected.mauve, abs=1e-3)


def test_bad_rows_are_named(tmp_path: Path) -> None:
    human, model = samples()
    human[700, 3] = np.nan
    with pytest.raises(ValueError, match="p_features must be finite: row 700 holds NaN"):
        compute_mauve(p_features=npy(human, tmp_path), q_features=model)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "none.npy", "there is no file"),
        (lambda folder: folder, "holds no .npy or .parquet"),
        (lambda folder: npy(np.zeros(5), folder), "must hold numbers of shape"),
        (lambda folder: npy(np.asfortranarray(np.ones((5, 4))), folder), "in C order"),
        (lambda folder: iter([np.ones((3, 2)), np.ones((3, 4))]), "block 1 must be numbers"),
        (lambda folder: iter([]), "at least one row"),
    ],
)
def test_what_cannot_be_read_is_an_error(make: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        compute_mauve(p_features=make(tmp_path), q_features=samples()[1])


def test_a_truncated_file_is_an_error(tmp_path: Path) -> None:
    path = npy(samples()[0], tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="it ends before"):
        compute_mauve(p_features=path, q_features=samples()[1])


def test_rows_by_number(tmp_path: Path) -> None:
    rows = np.arange(600.0).reshape(300, 2)
    numbers = np.array([299, 0, 150, 150, 7])
    joined = ConcatenatedRows([ArrayRows(rows[:100]), NpyRows.of_file(npy(rows[100:], tmp_path))])
    for found in (joined.take(numbers), take_from_blocks(ArrayRows(rows).blocks(), numbers)):
        np.testing.assert_array_equal(found, rows[numbers])
    np.testing.assert_array_equal(np.concatenate(list(joined.blocks())), rows)


def test_blocks_of_an_iterator_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    human, model = samples()
    compute_mauve(p_features=blocks(human, tmp_path), q_features=model, **OPTIONS)
    assert list(tmp_path.iterdir()) == []


def mapped(rows: Array, name: str, folder: Path) -> Array:
    """Features as a memory map, which is read in blocks."""
    np.save(folder / f"{name}.npy", rows)
    found: Array = np.load(folder / f"{name}.npy", mmap_mode="r")
    return found


def test_models_are_compared_in_blocks_as_in_memory(tmp_path: Path) -> None:
    human, model = samples()
    models = {"a": model, "b": model + np.float32(0.1), "c": model}
    expected = compare(p_features=human, models=models, knn=False, **OPTIONS)
    in_blocks = {name: mapped(rows, name, tmp_path) for name, rows in models.items()}
    options = OPTIONS | {"checkpoint": tmp_path / "kept", "knn": False}
    for _ in range(2):  # the second time from the checkpoint
        found = compare(p_features=blocks(human, tmp_path), models=in_blocks, **options)
        assert [warning.code for warning in found.warnings] == [warning.code for warning in expected.warnings]
        assert "equal_models" in [warning.code for warning in found.warnings]
        for name in models:
            assert found.models[name].mauve == pytest.approx(expected.models[name].mauve, abs=1e-3)
            assert found.own[name].mauve == pytest.approx(expected.own[name].mauve, abs=1e-3)
    kept = sorted(path.parent.name for path in (tmp_path / "kept").rglob(CHECKPOINT_FILE))
    assert kept == ["common", "model-1", "model-2", "model-3"]  # none replaces another one's clustering


def test_explanations_need_every_row(tmp_path: Path) -> None:
    human, model = samples()
    message = "features must be in memory to be explained"
    with pytest.raises(ValueError, match=message):
        explain(p_features=blocks(human, tmp_path), q_features=model)
    with pytest.raises(ValueError, match=message):
        compare(p_features=human, models={"a": mapped(model, "a", tmp_path)}, buckets=1)


def test_lazy_features_are_saved_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    human, _ = samples()
    path = Reference(human).save(tmp_path / "human.npy")
    monkeypatch.setattr(reference_files, "LAZY_BYTES", 100)
    copy = Reference.load(path).save(tmp_path / "copy.npz")
    np.testing.assert_array_equal(Reference.load(copy).features, human)
