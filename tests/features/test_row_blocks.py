"""Features read in blocks give the result of the same features in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mauve_metric import FeatureSet, MauveResult, compare, compute_mauve, explain
from mauve_metric.clustering.checkpoint import CHECKPOINT_FILE
from mauve_metric.features import feature_files, row_blocks
from mauve_metric.features.array_files import BlockwiseRows, NpyRows, feature_rows
from mauve_metric.features.row_blocks import ArrayRows, ConcatenatedRows, all_rows, content_keys, copies, numbers_of
from mauve_metric.runtime.errors import NotFeatures

Array = NDArray[Any]
OPTIONS: dict[str, Any] = {"num_buckets": 4, "num_runs": 1}
D = 12


def samples() -> tuple[Array, Array]:
    """More rows than the 256 a bucket that the clustering is fitted on, so that the subset counts."""
    rng = np.random.default_rng(0)
    scale = np.arange(1, D + 1) ** -0.5
    human, model = (rng.normal(size=(n, D)) * scale + shift for n, shift in ((600, 0.0), (500, 0.2)))
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
    return FeatureSet(rows).save(folder / "rows.parquet")


def parquet_shards(rows: Array, folder: Path) -> Any:
    for number, part in enumerate(np.array_split(rows, 3)):
        FeatureSet(part).save(folder / f"{number}.parquet")
    return folder


def dataset(rows: Array, folder: Path) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"features": rows.tolist()}).with_format("numpy")


def blocks(rows: Array, folder: Path) -> Any:
    return iter(np.array_split(rows, 7))


FORMS = [npy, npy_name, memory_map, part_of_a_map, shards, parquet, parquet_shards, dataset, blocks]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 128)


@pytest.fixture(scope="module")
def expected() -> MauveResult:
    """The score of the arrays in memory."""
    human, model = samples()
    return compute_mauve(p_features=human, q_features=model, **OPTIONS)


@pytest.mark.more
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_form_gives_the_score_of_the_array(
    form: Callable[[Array, Path], Any], tmp_path: Path, expected: MauveResult
) -> None:
    human, model = samples()
    found = compute_mauve(p_features=form(human, tmp_path), q_features=model, **OPTIONS, knn=False)
    # Blocks change the last bits of the projection: a row on the border of two buckets may go either way, and one
    # row of 500 moves the score by less than 2e-3.
    assert found.mauve == pytest.approx(expected.mauve, abs=2e-3)
    assert (found.p_labels == expected.p_labels).mean() > 0.998
    assert (found.n_p, found.n_q) == (600, 500)


@pytest.mark.more
def test_large_arrays_take_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    for order in ("qp", "pq"):
        expected = compute_mauve(p_features=human, q_features=model, row_order=order, **OPTIONS)
        monkeypatch.setattr(row_blocks, "MOST_NUMBERS_AT_ONCE", 100)
        found = compute_mauve(p_features=human, q_features=model, row_order=order, **OPTIONS)
        monkeypatch.undo()
        assert found.mauve == pytest.approx(expected.mauve, abs=2e-3)
        # All rows fit among the nearest-neighbour rows: the scores are those of the same projected rows.
        assert found.precision == pytest.approx(expected.precision, abs=2e-3)
        assert found.recall == pytest.approx(expected.recall, abs=2e-3)


def test_several_runs_and_a_test_of_large_features(monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    monkeypatch.setattr(row_blocks, "MOST_NUMBERS_AT_ONCE", 100)
    out = compute_mauve(p_features=human, q_features=model, num_buckets=6, num_runs=3, permutations=99)
    assert len(out.mauve_runs) == 3
    assert out.mauve_runs[0] == out.mauve
    assert out.p_value == 0.01  # shifted by .2 of each deviation: none of 99 splits comes near


def test_nearest_neighbours_of_many_rows_are_looked_for_among_some(
    monkeypatch: pytest.MonkeyPatch, expected: MauveResult
) -> None:
    human, model = samples()
    monkeypatch.setattr("mauve_metric.clustering.partition.KNN_MOST_ROWS", 300)
    some = compute_mauve(p_features=human, q_features=model, knn=True, **OPTIONS)
    again = compute_mauve(p_features=human, q_features=model, knn=True, **OPTIONS)
    assert some.precision == again.precision
    assert some.precision is not None
    assert expected.precision is not None
    # Shares of 300 and 500 rows: five standard deviations of a share are 5·√(.25/300) = .14.
    assert abs(some.precision - expected.precision) < 0.14


def test_a_finished_clustering_is_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    human, model = samples()
    monkeypatch.setattr(row_blocks, "MOST_NUMBERS_AT_ONCE", 100)
    options = OPTIONS | {"checkpoint": tmp_path / "kept", "knn": False}

    def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("mauve_metric.clustering.blocks.assign", killed)
        compute_mauve(p_features=human, q_features=model, **options)
    assert [file.name for file in (tmp_path / "kept").iterdir()] == [CHECKPOINT_FILE]
    with monkeypatch.context() as patch:
        patch.setattr("mauve_metric.clustering.kmeans.fit", killed)  # must not be needed
        resumed = compute_mauve(p_features=human, q_features=model, **options)
    assert resumed.mauve == compute_mauve(p_features=human, q_features=model, **OPTIONS, knn=False).mauve


@pytest.mark.more
def test_a_checkpoint_of_another_job_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    human, model = samples()
    monkeypatch.setattr(row_blocks, "MOST_NUMBERS_AT_ONCE", 100)
    compute_mauve(p_features=human, q_features=model, **OPTIONS, checkpoint=tmp_path)
    other = compute_mauve(p_features=human, q_features=model, num_buckets=5, num_runs=1, checkpoint=tmp_path)
    assert "belongs to other data or settings" in caplog.text
    assert other.mauve == compute_mauve(p_features=human, q_features=model, num_buckets=5, num_runs=1).mauve


def test_large_feature_files_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: MauveResult
) -> None:
    human, model = samples()
    path = FeatureSet(human).save(tmp_path / "human.npy")
    monkeypatch.setattr(feature_files, "LAZY_BYTES", 100)
    lazy = FeatureSet.load(path)
    assert not isinstance(lazy.features, np.ndarray)
    assert len(lazy) == len(human)
    assert compute_mauve(p=lazy, q_features=model, **OPTIONS).mauve == pytest.approx(expected.mauve, abs=2e-3)


def test_bad_rows_are_named(tmp_path: Path) -> None:
    human, model = samples()
    human[500, 3] = np.nan
    with pytest.raises(ValueError, match="p_features must be finite: row 500 holds NaN"):
        compute_mauve(p_features=npy(human, tmp_path), q_features=model)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "none.npy", "p_features: there is no file '"),
        (lambda folder: folder / f"{'long' * 99}.npy", "p_features: there is no file '"),
        (lambda folder: folder, "holds no .npy or .parquet"),
        (lambda folder: npy(np.zeros(5), folder), "must hold numbers of shape"),
        (lambda folder: iter([np.ones((3, 2)), np.ones((3, 4))]), "block 1 must be numbers"),
        (lambda folder: iter([]), "at least one row"),
    ],
)
def test_what_cannot_be_read_is_an_error(make: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        compute_mauve(p_features=make(tmp_path), q_features=samples()[1])


def test_hidden_files_of_a_folder_are_no_features(tmp_path: Path) -> None:
    human, model = samples()
    npy(human, tmp_path)
    (tmp_path / "._1.npy").write_bytes(b"\0\5\26\7")  # as macOS writes beside each file
    assert compute_mauve(p_features=tmp_path, q_features=model).n_p == len(human)


def test_a_truncated_file_is_an_error(tmp_path: Path) -> None:
    path = npy(samples()[0], tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="it ends before"):
        compute_mauve(p_features=path, q_features=samples()[1])


def test_rows_by_number(tmp_path: Path) -> None:
    rows = np.arange(600.0).reshape(300, 2)
    numbers = np.array([299, 0, 150, 150, 7])
    joined = ConcatenatedRows([ArrayRows(rows[:100]), NpyRows.of_file(npy(rows[100:], tmp_path))])
    for found in (joined.take(numbers), BlockwiseRows(rows.shape, ArrayRows(rows).blocks).take(numbers)):
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


@pytest.mark.more
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
            assert found.models[name].mauve == pytest.approx(expected.models[name].mauve, abs=2e-3)
            assert found.own[name].mauve == pytest.approx(expected.own[name].mauve, abs=2e-3)
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
    path = FeatureSet(human).save(tmp_path / "human.npy")
    monkeypatch.setattr(feature_files, "LAZY_BYTES", 100)
    copy = FeatureSet.load(path).save(tmp_path / "copy.npz")
    np.testing.assert_array_equal(FeatureSet.load(copy).features, human)


# --- the numbers that are there, in whatever form ------------------------------------------------------------------


def score_of(features: Any, **options: Any) -> float:
    settings = OPTIONS | {"knn": False} | options
    return compute_mauve(p_features=features, q_features=samples()[1][:300, :8], **settings).mauve


def small() -> Array:
    return samples()[0][:300, :8]


def changed_map(rows: Array, folder: Path) -> tuple[Any, Array]:
    found = np.load(npy(rows * 3 - 1, folder), mmap_mode="c")
    found[:] = rows  # in memory alone: the file keeps what it had
    return found, rows


def replaced_file(rows: Array, folder: Path) -> tuple[Any, Array]:
    found = memory_map(rows, folder)
    np.save(folder / "other.npy", rows * 3 - 1)
    (folder / "other.npy").replace(folder / "rows.npy")
    return found, rows


def transposed(rows: Array, folder: Path) -> tuple[Any, Array]:
    wide = np.tile(rows, (1, 38))[:, :300] * np.linspace(1, 2, 300, dtype=np.float32)
    return np.load(npy(wide, folder), mmap_mode="r").T[:, :8], np.ascontiguousarray(wide.T[:, :8])


LAYOUTS: dict[str, Callable[[Array, Path], tuple[Any, Array]]] = {
    "a changed copy-on-write map": changed_map,
    "a map of a file that was replaced": replaced_file,
    "rows of a map from the end": lambda rows, folder: (memory_map(rows, folder)[::-1], rows[::-1].copy()),
    "columns of a map from the end": lambda rows, folder: (memory_map(rows, folder)[:, ::-1], rows[:, ::-1].copy()),
    "a transposed map": transposed,
    "a Fortran map": lambda rows, folder: (memory_map(np.asfortranarray(rows), folder), rows),
    "a Fortran file": lambda rows, folder: (npy(np.asfortranarray(rows), folder), rows),
    "a file of swapped bytes": lambda rows, folder: (npy(rows.astype(">f4"), folder), rows),
    "swapped bytes": lambda rows, folder: (rows.astype(rows.dtype.newbyteorder()), rows),
    "negative strides": lambda rows, folder: (rows[::-1, ::-1], rows[::-1, ::-1].copy()),
    "a file of long doubles": lambda rows, folder: (npy(rows.astype(np.longdouble), folder), rows),
    "a masked array without a mask": lambda rows, folder: (np.ma.masked_array(rows, mask=False), rows),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_gives_the_number_of_the_plain_array(
    layout: Callable[[Array, Path], tuple[Any, Array]], tmp_path: Path
) -> None:
    found, plain = layout(small(), tmp_path)
    assert score_of(found) == pytest.approx(score_of(plain), abs=4e-3)  # as above, with one row of 300


def test_blocks_keep_their_numbers_whatever_the_format_of_the_first() -> None:
    rows = small()
    parts = [(rows[:100] * 40).astype(np.int8), rows[100:120], rows[120:200].astype(">f8"), rows[200:]]
    whole = np.concatenate([part.astype(np.float64) for part in parts])
    found = feature_rows("p_features", iter(parts))
    assert found is not None and found.shape == whole.shape
    np.testing.assert_array_equal(all_rows(found), whole)
    np.testing.assert_array_equal(found.take(np.array([299, 3, 110, 3])), whole[[299, 3, 110, 3]])
    assert score_of(iter(parts)) == pytest.approx(score_of(whole), abs=4e-3)


def masked(rows: Array) -> Any:
    found = np.ma.masked_array(rows, mask=np.zeros_like(rows, dtype=bool))
    found.mask[3, 1] = True
    return found


@pytest.mark.parametrize(
    "form",
    [lambda rows: rows, list, lambda rows: iter([rows]), lambda rows: FeatureSet(rows)],
    ids=["array", "list of rows", "blocks", "FeatureSet"],
)
def test_masked_values_are_refused_with_the_way_out(form: Callable[[Any], Any]) -> None:
    features = form(masked(small()))
    name = "p" if isinstance(features, FeatureSet) else "p_features"
    with pytest.raises(ValueError, match=rf"^{name}.* holds masked values.*give the rows without one.*getmaskarray"):
        compute_mauve(**{name: features}, q_features=small())
    features = masked(small())
    assert 0 < score_of(features[~np.ma.getmaskarray(features).any(axis=1)].data) < 1


def header(folder: Path, shape: tuple[Any, ...], rows: int = 1000) -> Path:
    with (folder / "rows.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        file.write(b"0" * rows)
    return folder / "rows.npy"


def damaged_header(folder: Path) -> Path:
    path = npy(small(), folder)
    content = bytearray(path.read_bytes())
    content[20] ^= 0xFF
    path.write_bytes(content)
    return path


BAD_FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no row": (lambda folder: npy(np.zeros((0, 8)), folder), r"n and d at least 1, got float64 \(0, 8\)$"),
    "no column": (lambda folder: npy(np.zeros((8, 0)), folder), r"n and d at least 1, got float64 \(8, 0\)$"),
    "43 TiB": (
        lambda folder: header(folder, (10**10, 1100)),
        "44000000000128 bytes expected, it ends before, at 1128$",
    ),
    "a negative shape": (lambda folder: header(folder, (-3, 8)), "n and d at least 1"),
    "a shape of many digits": (lambda folder: header(folder, (10**60, 8)), "it ends before"),
    "a damaged header": (damaged_header, "is not a numpy file of numbers"),
    "no numbers": (lambda folder: npy(np.full((9, 8), "a"), folder), "numpy file of numbers: it holds <U1$"),
}


@pytest.mark.parametrize(("make", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_holds_no_features_is_refused_at_both_doors(
    make: Callable[[Path], Path], message: str, tmp_path: Path
) -> None:
    path = make(tmp_path)
    for door in (lambda: compute_mauve(p_features=path, q_features=small()), lambda: FeatureSet.load(path)):
        with pytest.raises(ValueError, match=message) as caught:
            door()
        assert str(path) in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.filterwarnings("error")
def test_long_doubles_beyond_float64_are_named(tmp_path: Path) -> None:
    rows = small().astype(np.longdouble)
    if np.finfo(np.longdouble).max <= np.finfo(np.float64).max:
        pytest.skip("long doubles are no longer than doubles here")
    rows[7, 2] = np.longdouble("1e4000")
    for features in (rows, npy(rows, tmp_path), iter([rows])):
        with pytest.raises(ValueError, match=r"p_features must be finite: .*row 7"):
            score_of(features)


def test_bad_rows_are_named_where_few_are_read(tmp_path: Path) -> None:
    rows = small()
    rows[:, 3] = np.nan
    with pytest.raises(ValueError, match=r"p_features must be finite: row \d+ holds NaN"):
        score_of(npy(rows, tmp_path), pca_max_data=20)


def test_what_is_no_features_at_all_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="p_features must name a file or folder of features, got ''"):
        score_of("")
    (tmp_path / "a.txt").write_text("ships\n")
    with (tmp_path / "a.txt").open() as file, pytest.raises(TypeError, match="p_features, block 0, must be an array"):
        score_of(file)


def test_pages_of_a_map_do_not_count_as_memory_after_they_were_read(tmp_path: Path) -> None:
    status = Path("/proc/self/smaps")
    if not status.exists():
        pytest.skip("the system does not say which pages are in memory")
    rows = np.ones((4000, 500), dtype=np.float32)
    found = feature_rows("p_features", memory_map(rows, tmp_path))
    assert found is not None
    for block in found.blocks():
        assert (block == 1).all()
    _, entry = status.read_text().split("rows.npy\n", 1)
    kilobytes = next(int(line.split()[1]) for line in entry.splitlines() if line.startswith("Rss:"))
    assert kilobytes < rows.nbytes / 1024 / 4


def test_copies_are_found_in_any_layout_and_number_format() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 30)).astype(np.float32) + 100
    near = rows.copy()
    near[:, 7] = np.nextafter(near[:, 7], np.float32(0))
    sets = [rows, np.asfortranarray(rows[::-1].astype(np.float64)), near]
    found = copies(sets, [content_keys(some) for some in sets])
    assert (found[:40] >= 0).all() and len(set(found[:40].tolist())) == 40
    assert found[40:80].tolist() == found[:40][::-1].tolist()
    assert (found[80:] < 0).all()


@pytest.mark.parametrize("form", ["pandas", "pyarrow"])
def test_a_column_of_rows_is_read_as_an_array(form: str) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    forms: dict[str, Callable[[], Any]] = {
        "pandas": lambda: pytest.importorskip("pandas").Series([*rows]),
        "pyarrow": lambda: pytest.importorskip("pyarrow").array([*rows]),
    }
    column = forms[form]()
    np.testing.assert_array_equal(numbers_of("p_features", column), rows)
    with pytest.raises(ValueError, match=r"p_features must be one array .*different lengths"):
        numbers_of("p_features", np.array([rows[0], rows[1, :2]], dtype=object))


def test_a_sparse_matrix_is_refused_with_the_way_out() -> None:
    with pytest.raises(NotFeatures, match=r"q_features must be a dense array, got csr_array: give its toarray\(\)"):
        compute_mauve(p_features=small(), q_features=csr_array(small()))
    with pytest.raises(NotFeatures, match="gives for p_text must be a dense array"):
        compute_mauve(
            p_text=["a", "b"],
            q_text=["a", "b"],
            featurize_model_name=lambda texts: csr_array(np.eye(len(texts))),
        )
