"""Files of references: numpy's and parquet ones from elsewhere, and damaged ones."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import texts_of

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features import feature_files
from mauve_metric.features.array_files import NpyRows, feature_rows
from mauve_metric.features.row_blocks import BLOCK_ROWS
from mauve_metric.inputs.bytes_and_encodings import PACKED_ENDINGS
from mauve_metric.inputs.file_types import read_endings

FORMATS = ["npz", "npy", "parquet"]

HUMAN, MODEL = texts_of(30, 0), texts_of(25, 1)


@pytest.fixture
def human(tiny_gpt2: str) -> FeatureSet:
    return FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2)


def test_npy_is_a_plain_array_in_input_order(human: FeatureSet, tiny_gpt2: str, tmp_path: Path) -> None:
    array = np.load(human.save(tmp_path / "human.npy"))
    assert array.dtype == np.float32 and array.shape == (30, 32)
    for index in (0, 7, 29):
        alone = FeatureSet.from_texts([HUMAN[index]], featurize_model_name=tiny_gpt2, cache=False).features[0]
        # rounding of float32 is 6e-8; two layers of sums over 32 to 128 terms lose two digits of that
        np.testing.assert_allclose(array[index], alone, atol=1e-5 * np.linalg.norm(alone))
    meta = json.loads((tmp_path / "human.npy.json").read_text())
    assert meta["identity"]["model"] == tiny_gpt2 and len(meta["lengths"]) == 30


def test_parquet_opens_elsewhere(human: FeatureSet, tmp_path: Path) -> None:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(human.save(tmp_path / "human.parquet"))
    assert table.column_names == ["features"] and table.num_rows == 30
    assert str(table.schema.field("features").type).startswith("fixed_size_list<")
    np.testing.assert_array_equal(np.array(table["features"].to_pylist(), dtype=np.float32), human.features)
    assert json.loads(table.schema.metadata[b"mauve_metric"])["identity"]["pooling"] == "last"


@pytest.mark.parametrize("ending", FORMATS)
def test_no_text_in_the_files(tiny_gpt2: str, tmp_path: Path, ending: str) -> None:
    secret = "Wilhelmina counts harbourmasters"
    FeatureSet.from_texts([secret, *HUMAN], featurize_model_name=tiny_gpt2).save(tmp_path / f"human.{ending}")
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    for content in (path.read_bytes() for path in files):
        for word in (*secret.split(), "quick"):
            assert word.encode() not in content and word.encode("utf-16-le") not in content


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("before", [True, False])
def test_a_file_appears_whole_or_not_at_all(
    human: FeatureSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, before: bool
) -> None:
    import pyarrow.parquet

    path = tmp_path / f"human.{ending}"
    if before:
        FeatureSet(human.features[:3]).save(path)
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}

    def failing(target: Any, *_: Any, **__: Any) -> None:
        raise OSError("No space left on device")

    def half_written(write: Callable[..., None]) -> Callable[..., None]:
        def broken(*arguments: Any, **options: Any) -> None:
            write(*arguments, **options)
            raise OSError("No space left on device")

        return broken

    owner, name = {"npy": (np, "save"), "npz": (np, "savez"), "parquet": (pyarrow.parquet, "write_table")}[ending]
    for where, what, broken in (
        (owner, name, failing),
        (owner, name, half_written(getattr(owner, name))),
        (Path, "replace", failing),
    ):
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
            patch.setattr(where, what, broken)
            human.save(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == files


def test_an_unknown_ending_is_refused(human: FeatureSet, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"written to \.npz, \.npy or \.parquet, got '.*human\.csv'"):
        human.save(tmp_path / "human.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file '.*none\.npz'"):
        FeatureSet.load(tmp_path / "none.npz")


@pytest.mark.parametrize("ending", FORMATS)
def test_a_damaged_file_is_refused(human: FeatureSet, tmp_path: Path, ending: str) -> None:
    path = human.save(tmp_path / f"human.{ending}")
    content = path.read_bytes()
    damaged = {
        "empty": b"",
        "garbage": random.Random(0).randbytes(3000),
        "text": b"a text and no features\n" * 50,
        "short": content[: len(content) * 2 // 3],
        "shorter": content[:100],
        "without end": content[:-1],
        "pickle": _pickled_array(),
    }
    for name, broken in damaged.items():
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"human\.(npz|npy|parquet) is not a (numpy file of numbers|parquet file)"):
            FeatureSet.load(path)
            pytest.fail(f"{name} was read")


def _pickled_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_flipped_byte_is_refused_or_without_consequence(human: FeatureSet, tmp_path: Path, ending: str) -> None:
    path = human.save(tmp_path / f"human.{ending}")
    content = path.read_bytes()
    rng = random.Random(0)
    for place in [rng.randrange(len(content)) for _ in range(60)]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            loaded = FeatureSet.load(path)
        except ValueError as error:
            assert str(path) in str(error)
            continue
        np.testing.assert_array_equal(loaded.features, human.features)  # both formats carry checksums


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ("{", "is damaged"),
        ("[]", "expected a JSON object, got list"),
        ('{"format": "mauve_metric features 99"}', "unknown format 'mauve_metric features 99'"),
        ('{"format": "mauve_metric features 1"}', "is damaged: the facts about the features"),
    ],
)
def test_a_damaged_sidecar_is_refused(human: FeatureSet, tmp_path: Path, meta: str, message: str) -> None:
    path = human.save(tmp_path / "human.npy")
    (tmp_path / "human.npy.json").write_text(meta)
    with pytest.raises(ValueError, match=message):
        FeatureSet.load(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("lengths", "ten"), ("lengths", [-1.5, "a"]), ("text_hashes", [-1] * 30), ("identity", 3), ("truncated", None),
     ("lengths", [1, 2]), ("lengths", [[1]] * 30), ("opening_hashes", [2**70] * 30)],
)  # fmt: skip
def test_a_sidecar_with_a_wrong_value_is_refused(human: FeatureSet, tmp_path: Path, key: str, value: Any) -> None:
    path = human.save(tmp_path / "human.npy")
    sidecar = tmp_path / "human.npy.json"
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {key: value}))
    with pytest.raises(ValueError, match=r"human\.npy.* is damaged"):
        FeatureSet.load(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("lengths", -3), ("lengths", [-3] * 30), ("lengths", []), ("truncated", 31), ("truncated", -1), ("dropped", -1)],
)
def test_an_archive_with_a_wrong_value_is_refused(human: FeatureSet, tmp_path: Path, key: str, value: Any) -> None:
    with np.load(human.save(tmp_path / "human.npz")) as archive:
        arrays = dict(archive)
    arrays["meta"] = np.array(json.dumps(json.loads(str(arrays["meta"])) | {key: value}))
    np.savez(tmp_path / "changed.npz", **arrays)
    with pytest.raises(ValueError, match=r"changed\.npz is damaged: "):
        FeatureSet.load(tmp_path / "changed.npz")


def test_a_sidecar_of_other_features_is_refused(human: FeatureSet, tmp_path: Path) -> None:
    path = human.save(tmp_path / "human.npy")
    np.save(path, human.features[:10])
    with pytest.raises(ValueError, match=r"is damaged: 10 features and 30 lengths$"):
        FeatureSet.load(path)


def test_numpy_files_from_elsewhere(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 3))
    np.save(tmp_path / "a.npy", rows)
    np.savez(tmp_path / "one.npz", whatever=rows)
    np.savez(tmp_path / "two.npz", features=rows, other=rows[:2])
    np.savez(tmp_path / "unclear.npz", a=rows, b=rows)
    for name in ("a.npy", "one.npz", "two.npz"):
        loaded = FeatureSet.load(tmp_path / name)
        np.testing.assert_array_equal(loaded.features, rows)
        assert loaded.identity is None
    with pytest.raises(ValueError, match=r"must hold one array or one called 'features', it holds a, b"):
        FeatureSet.load(tmp_path / "unclear.npz")


def test_parquet_files_from_elsewhere(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "rows.parquet"
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    for kind in (
        pyarrow.list_(pyarrow.float64()),
        pyarrow.list_(pyarrow.float32(), 2),
        pyarrow.large_list(pyarrow.float64()),
    ):
        pyarrow.parquet.write_table(pyarrow.table({"features": pyarrow.array(rows, kind)}), path)
        np.testing.assert_array_equal(FeatureSet.load(path).features, rows)
    bad: dict[str, tuple[dict[str, Any], str]] = {
        "unequal": ({"features": [[1.0], [2.0, 3.0, 4.0]]}, "row 1: .* all of one length, got \\[2.0, 3.0, 4.0\\]$"),
        "missing": (
            {"features": [[1.0], None]},
            "row 1: the rows of .* must be lists of numbers, .* got None$",
        ),
        "numbers": ({"features": [1.0, 2.0]}, "lists of numbers, got double"),
        "words": ({"features": [["a"], ["b"]]}, "lists of numbers, got list<"),
        "texts": ({"text": ["a", "b"]}, "column 'text' must hold lists of numbers, got string; p_text and"),
        "none": ({"features": pyarrow.array([], pyarrow.list_(pyarrow.float32()))}, r"at least 1, got \(0, 0\)$"),
    }
    for columns, message in bad.values():
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        with pytest.raises(ValueError, match=message):
            FeatureSet.load(path)
    pyarrow.parquet.write_table(pyarrow.table({"features": [[1.0, None], [2.0, 3.0]]}), path)
    with pytest.raises(ValueError, match=r"row 0: the rows of 'features' must be lists .* got \[.*None.*\]$"):
        FeatureSet.load(path)


def test_without_pyarrow(tmp_path: Path, human: FeatureSet, monkeypatch: pytest.MonkeyPatch) -> None:
    path = human.save(tmp_path / "human.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for action in (
        lambda: FeatureSet.load(path),
        lambda: human.save(path),
        lambda: feature_files.is_feature_file(path),
    ):
        with pytest.raises(ImportError, match="pip install pyarrow"):
            action()
    (tmp_path / "a.txt").write_text("ships\n")
    assert not feature_files.is_feature_file(tmp_path / "a.txt")
    human.save(tmp_path / "human.npz")


def test_a_sidecar_is_not_believed_for_other_features(human: FeatureSet, tmp_path: Path) -> None:
    path = human.save(tmp_path / "human.npy")
    np.save(path, human.features)  # the same numbers: it still fits
    assert FeatureSet.load(path).identity == human.identity
    np.save(path, np.asfortranarray(human.features.astype(np.float64)))
    assert FeatureSet.load(path).identity == human.identity
    np.save(path, human.features[::-1])
    with pytest.raises(ValueError, match=r"human\.npy\.json was written for other features than .*human\.npy holds"):
        FeatureSet.load(path)


def test_a_sidecar_is_not_believed_for_other_features_in_blocks(
    human: FeatureSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_files, "LAZY_BYTES", 100)
    path = human.save(tmp_path / "human.npy")
    assert FeatureSet.load(path).identity == human.identity
    np.save(path, human.features + 1)
    with pytest.raises(ValueError, match="was written for other features"):
        FeatureSet.load(path)


def test_a_sidecar_of_an_older_version_is_believed_with_a_word(
    human: FeatureSet, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, sidecar = human.save(tmp_path / "human.npy"), tmp_path / "human.npy.json"
    meta = json.loads(sidecar.read_text())
    del meta["features_sha256"], meta["checksum"]
    sidecar.write_text(json.dumps(meta))
    assert FeatureSet.load(path).identity == human.identity
    (record,) = caplog.records
    assert "does not say for which features it was written" in record.getMessage()
    assert str(sidecar) in record.getMessage()


def test_other_members_of_an_npz_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    np.savez(tmp_path / "human.npz", other=np.zeros(1000), features=rows)
    read = []
    inner = np.lib.npyio.NpzFile.__getitem__

    def noted(self: Any, name: str) -> Any:
        read.append(name)
        return inner(self, name)

    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", noted)
    np.testing.assert_array_equal(FeatureSet.load(tmp_path / "human.npz").features, rows)
    assert read == ["features"]


def test_a_member_of_an_npz_that_claims_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "human.npz"
    with zipfile.ZipFile(path, "w") as file, file.open("features.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f4", "fortran_order": False, "shape": (10**10, 1100)})
    with pytest.raises(ValueError, match=r"44000000000128 bytes expected, it ends before, at 128$"):
        FeatureSet.load(path)


@pytest.mark.parametrize("shape", [(0, 8), (8, 0), (3,)])
@pytest.mark.parametrize("ending", FORMATS)
def test_files_without_a_row_or_a_column_are_neither_written_nor_read(
    tmp_path: Path, ending: str, shape: tuple[int, ...]
) -> None:
    path = tmp_path / f"human.{ending}"
    with pytest.raises(ValueError, match="features must have shape"):
        FeatureSet(np.zeros(shape)).save(path)
    assert list(tmp_path.iterdir()) == []
    if ending != "parquet":
        {"npy": np.save, "npz": np.savez}[ending](path, np.zeros(shape))
        with pytest.raises(
            ValueError, match=r"human\.np[yz] must hold numbers of shape \(n, d\) with n and d at least 1"
        ):
            FeatureSet.load(path)


BAD_COLUMNS: dict[str, tuple[Any, str]] = {
    "ragged": ([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], "row 1: .* all of one length, got \\[3.0\\]$"),
    "booleans": ([[True, False]] * 9, "must hold lists of numbers, got list<.*bool>$"),
    "numbers": ([1.0, 2.0, 3.0], "must hold lists of numbers, got double$"),
    "texts": (["a", "b", "c"], "must hold lists of numbers, got string; p_text and q_text take texts$"),
    "structs": ([{"a": 1.0}] * 3, "must hold lists of numbers, got struct<a: double>$"),
    "a missing row": (
        [[1.0, 2.0], None, [1.0, 3.0]],
        "row 1: the rows of .* must be lists of numbers, .* got None$",
    ),
    "a missing number": ([[1.0, 2.0], [None, 2.0]], "row 1: .* must be lists of numbers, .* got \\[None, 2.0\\]$"),
    "no row": ([], "must hold lists of numbers, got null$"),
    "no number": ([[], []], "must hold lists of numbers, got list<.*null>$"),
    "lists of lists": ([[[1.0]], [[2.0]]], "must hold lists of numbers, got list<.*list<.*double>>$"),
}


@pytest.mark.parametrize(("column", "message"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_every_door_refuses_the_same_parquet_files(column: Any, message: str, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "human.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"features": column}), path)
    rows = np.random.default_rng(0).normal(size=(9, 2))
    for door in (
        lambda: FeatureSet.load(path),
        lambda: compute_mauve(p_features=path, q_features=rows),
        lambda: compute_mauve(p_features=tmp_path, q_features=rows),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            door()
        assert str(path) in str(caught.value)


def test_rows_of_other_lengths_in_later_blocks_and_files_are_found(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "human.parquet"
    rows = [[1.0, 2.0]] * 5000
    pyarrow.parquet.write_table(pyarrow.table({"features": [*rows, [1.0]]}), path)
    with pytest.raises(ValueError, match=r"row 5000: .* all of one length, got \[1.0\]$"):
        FeatureSet.load(path)
    pyarrow.parquet.write_table(pyarrow.table([rows, rows], names=["features", "features"]), path)
    with pytest.raises(ValueError, match="must have one column 'features', it has 2"):
        FeatureSet.load(path)


def test_every_door_minds_the_checksums_of_pages(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = np.random.default_rng(0).normal(size=(60, 8))
    path = tmp_path / "human.parquet"
    table = pyarrow.table({"features": rows.tolist()})
    pyarrow.parquet.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    np.testing.assert_array_equal(FeatureSet.load(path).features, rows)
    content = bytearray(path.read_bytes())
    content[content.index(rows[5].tobytes()) + 7] ^= 0x40  # one bit of one number
    path.write_bytes(content)
    for door in (lambda: FeatureSet.load(path), lambda: compute_mauve(p_features=path, q_features=rows)):
        with pytest.raises(ValueError, match=r"human\.parquet is not a parquet file, or is damaged"):
            door()


def test_a_header_that_ends_in_the_middle_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "cut.npy"
    np.save(path, np.zeros((3, 2)))
    path.write_bytes(path.read_bytes().replace(b"(3, 2)", b"(3, 2 ", 1))
    with pytest.raises(ValueError, match=r"cut\.npy is not a numpy file of numbers"):
        FeatureSet.load(path)


@pytest.mark.parametrize("ending", sorted({*read_endings()} - {".parquet", *PACKED_ENDINGS}))
def test_a_file_of_texts_is_named_as_one(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"human{ending}"
    path.write_text("one\ntwo\n")
    for door in (
        lambda: FeatureSet.load(path),
        lambda: compute_mauve(p_features=str(path), q_features=np.ones((9, 2))),
    ):
        with pytest.raises(ValueError, match=r"holds texts, and features are needed here: .*p_text and q_text"):
            door()


FULL_DISK = """
import resource, sys
import numpy as np
from mauve_metric import FeatureSet
features = FeatureSet(np.random.default_rng(0).normal(size=(30, 8)))
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
try:
    features.save(sys.argv[1])
except OSError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_features_that_do_not_fit_on_the_disk_are_not_half_written(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    path = tmp_path / f"features.{ending}"
    path.write_text("what was there before")
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == f"'{path}' cannot be written: File too large\n"
    assert path.read_text() == "what was there before" and len(list(tmp_path.iterdir())) == 1


def test_a_file_that_is_cut_short_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, np.ones((3 * BLOCK_ROWS, 4)))
    rows = NpyRows.of_file(path)
    blocks = rows.blocks()
    next(blocks)
    os.truncate(path, 1000)
    with pytest.raises(OSError, match=r"rows\.npy became shorter while it was read"):
        list(blocks)
    with pytest.raises(OSError, match=r"rows\.npy was changed while it was read"):
        rows.take(np.array([2, 0]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_that_is_written_again_while_it_is_read_is_an_error(order: Any, tmp_path: Path) -> None:
    """Its passes would see two contents, and the score would be of neither."""
    path = tmp_path / "rows.npy"
    np.save(path, np.ones((3 * BLOCK_ROWS, 4), order=order))
    rows = NpyRows.of_file(path)
    assert len(list(rows.blocks())) == 3
    blocks = rows.blocks()
    next(blocks)
    time.sleep(0.01)  # file systems have a clock of some milliseconds
    np.save(path, np.zeros((3 * BLOCK_ROWS, 4), order=order))
    for read in (lambda: list(blocks), lambda: list(rows.blocks()), lambda: rows.take(np.array([1]))):
        with pytest.raises(OSError, match=r"rows\.npy was changed while it was read"):
            read()


@pytest.mark.parametrize("mode", ["r", "c", "r+"])
def test_a_map_whose_file_becomes_shorter_is_an_error_and_no_crash(mode: Any, tmp_path: Path) -> None:
    """The system ends a process that reads a page of a map that its file does not have any more."""
    path = tmp_path / "rows.npy"
    np.save(path, np.ones((3 * BLOCK_ROWS, 400)))
    mapped = np.load(path, mmap_mode=mode)
    rows = feature_rows("p", mapped)
    assert rows is not None
    blocks = rows.blocks()
    next(blocks)
    os.truncate(path, 1000)
    later = feature_rows("p", mapped)  # whose file is too short from the beginning
    assert later is not None
    for read in (lambda: list(blocks), lambda: rows.take(np.array([3 * BLOCK_ROWS - 1])), lambda: list(later.blocks())):
        with pytest.raises(OSError, match=r"rows\.npy became shorter while it was read"):
            read()


def test_a_map_whose_file_is_written_again_is_an_error(tmp_path: Path) -> None:
    path, content = tmp_path / "rows.npy", np.ones((3 * BLOCK_ROWS, 4))
    np.save(path, content)
    rows = feature_rows("p", np.load(path, mmap_mode="r"))
    assert rows is not None
    blocks = rows.blocks()
    next(blocks)
    time.sleep(0.01)  # file systems have a clock of some milliseconds
    with path.open("r+b") as file:
        np.save(file, content * 2)
    for read in (lambda: list(blocks), lambda: list(rows.blocks()), lambda: rows.take(np.array([1]))):
        with pytest.raises(OSError, match=r"rows\.npy was changed while it was read"):
            read()


def test_a_map_that_this_process_writes_to_or_whose_file_is_replaced_is_read(tmp_path: Path) -> None:
    path, content = tmp_path / "rows.npy", np.ones((3 * BLOCK_ROWS, 4))
    np.save(path, content)
    written = np.load(path, mmap_mode="r+")
    rows, mapped = feature_rows("p", written), feature_rows("q", np.load(path, mmap_mode="r"))
    assert rows is not None and mapped is not None
    np.save(tmp_path / "other.npy", content * 2)
    (tmp_path / "other.npy").replace(path)  # the map is of the file that had this name
    assert all((block == 1).all() for block in mapped.blocks())
    written[:] = 3
    written.flush()
    assert all((block == 3).all() for block in rows.blocks())


def test_a_parquet_file_that_is_written_again_between_two_passes_is_an_error(tmp_path: Path) -> None:
    path = FeatureSet(np.ones((300, 4))).save(tmp_path / "rows.parquet")
    rows = feature_rows("p", path)
    assert rows is not None and len(list(rows.blocks())) == 1
    time.sleep(0.01)  # file systems have a clock of some milliseconds
    FeatureSet(np.zeros((300, 4))).save(path)
    with pytest.raises(OSError, match=r"rows\.parquet was changed while it was read"):
        list(rows.blocks())


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_small_file_of_far_more_features_is_refused_before_it_is_read(tmp_path: Path, ending: str) -> None:
    rows = np.zeros((2**19 + 1, 128), dtype=np.float32)  # a little above 256 MiB
    path = tmp_path / f"packed.{ending}"
    if ending == "npz":
        np.savez_compressed(path, features=rows)
    else:
        import pyarrow
        import pyarrow.parquet as parquet

        column = pyarrow.FixedSizeListArray.from_arrays(rows.ravel(), 128)
        parquet.write_table(pyarrow.table({"features": column}), path, compression="zstd")
    with pytest.raises(ValueError, match="unpacks to more than 200 times its size"):
        FeatureSet.load(path)


def test_shards_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        np.save(tmp_path / f"part-{number}.npy", np.full((1, 2), number, np.float32))
    rows = feature_rows("p_features", tmp_path)
    assert rows is not None and np.concatenate([*rows.blocks()])[:, 0].tolist() == [1, 2, 10]
