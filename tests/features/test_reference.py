"""Features that are kept: whole, with the identity of their model, without the texts, and never mixed with others."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import texts_of

from mauve_metric import Reference, compute_mauve
from mauve_metric.config import MauveConfig
from mauve_metric.features import reference_files
from mauve_metric.hosts import cli
from mauve_metric.results.result import MauveResult

SMALL: dict[str, Any] = {"num_buckets": 4, "knn": False, "num_runs": 1, "kmeans_num_redo": 1}
FORMATS = ["npz", "npy", "parquet"]


HUMAN, MODEL = texts_of(30, 0), texts_of(25, 1)


@pytest.fixture
def human(tiny_gpt2: str) -> Reference:
    return Reference.from_texts(HUMAN, featurize_model_name=tiny_gpt2)


def assert_same(found: Reference, expected: Reference) -> None:
    """Every bit and every fact."""
    assert found.features.dtype == expected.features.dtype and found.features.shape == expected.features.shape
    assert found.features.tobytes() == expected.features.tobytes()
    assert found.identity == expected.identity
    assert (found.truncated, found.dropped, len(found)) == (expected.truncated, expected.dropped, len(expected))
    for name in ("lengths", "text_hashes", "opening_hashes"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)


def codes(result: MauveResult) -> list[str]:
    return [warning.code for warning in result.warnings]


# --- what it holds ------------------------------------------------------------------------------------------------


def test_from_texts(tiny_gpt2: str) -> None:
    found = Reference.from_texts(
        ["ships " * 20, " ", *HUMAN], featurize_model_name=tiny_gpt2, max_text_length=15, empty_texts="drop"
    )
    assert len(found) == 31 and found.features.shape == (31, 32) and found.features.dtype == np.float32
    assert found.dropped == 1 and found.truncated >= 1 and not found.from_file
    assert found.lengths is not None and found.lengths[0] == 15 == found.lengths.max()
    assert found.identity is not None
    assert dict(found.identity) | {"revision": "", "tokenizer": ""} == {
        "model": tiny_gpt2, "pooling": "last", "max_text_length": "15", "dtype": "float32", "revision": "",
        "tokenizer": "",
    }  # fmt: skip
    assert len(found.identity["revision"]) == 64 and len(found.identity["tokenizer"]) == 12


def test_an_option_of_both_sets_is_refused(tiny_gpt2: str) -> None:
    with pytest.raises(ValueError, match=r"match_lengths='truncate' needs both sets"):
        Reference.from_texts(HUMAN, featurize_model_name=tiny_gpt2, match_lengths="truncate")
    with pytest.raises(TypeError, match=r"unknown option 'poolin' \(did you mean 'pooling'\?\)"):
        Reference.from_texts(HUMAN, featurize_model_name=tiny_gpt2, poolin="mean")


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ending", FORMATS)
def test_round_trip(tiny_gpt2: str, tmp_path: Path, ending: str, dtype: str) -> None:
    made = Reference.from_texts(
        ["", *HUMAN], featurize_model_name=tiny_gpt2, dtype=dtype, max_text_length=12, empty_texts="drop"
    )
    assert made.truncated > 0
    path = made.save(tmp_path / f"human.{ending}")
    assert path == tmp_path / f"human.{ending}"
    loaded = Reference.load(str(path))
    assert_same(loaded, made)
    assert loaded.from_file
    sidecar = [f"human.{ending}.json"] if ending == "npy" else []
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == sorted([path.name, *sidecar])


FULL_DISK = """
import resource, sys
import numpy as np
from mauve_metric import Reference
features = Reference(np.random.default_rng(0).normal(size=(30, 8)))
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


@pytest.mark.parametrize("ending", FORMATS)
def test_round_trip_of_bare_features(tmp_path: Path, ending: str) -> None:
    rows = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32))
    path = Reference(rows).save(tmp_path / f"rows.{ending.upper()}")
    loaded = Reference.load(path)
    np.testing.assert_array_equal(loaded.features, rows)
    assert loaded.identity is None and loaded.lengths is None and loaded.text_hashes is None


def test_npy_is_a_plain_array_in_input_order(human: Reference, tiny_gpt2: str, tmp_path: Path) -> None:
    array = np.load(human.save(tmp_path / "human.npy"))
    assert array.dtype == np.float32 and array.shape == (30, 32)
    for index in (0, 7, 29):
        alone = Reference.from_texts([HUMAN[index]], featurize_model_name=tiny_gpt2, cache=False).features[0]
        # rounding of float32 is 6e-8; two layers of sums over 32 to 128 terms lose two digits of that
        np.testing.assert_allclose(array[index], alone, atol=1e-5 * np.linalg.norm(alone))
    meta = json.loads((tmp_path / "human.npy.json").read_text())
    assert meta["identity"]["model"] == tiny_gpt2 and len(meta["lengths"]) == 30


def test_parquet_opens_elsewhere(human: Reference, tmp_path: Path) -> None:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(human.save(tmp_path / "human.parquet"))
    assert table.column_names == ["features"] and table.num_rows == 30
    assert str(table.schema.field("features").type).startswith("fixed_size_list<")
    np.testing.assert_array_equal(np.array(table["features"].to_pylist(), dtype=np.float32), human.features)
    assert json.loads(table.schema.metadata[b"mauve_metric"])["identity"]["pooling"] == "last"


@pytest.mark.parametrize("ending", FORMATS)
def test_no_text_in_the_files(tiny_gpt2: str, tmp_path: Path, ending: str) -> None:
    secret = "Wilhelmina counts harbourmasters"
    Reference.from_texts([secret, *HUMAN], featurize_model_name=tiny_gpt2).save(tmp_path / f"human.{ending}")
    files = [path for path in tmp_path.iterdir() if path.is_file()]
    for content in (path.read_bytes() for path in files):
        for word in (*secret.split(), "quick"):
            assert word.encode() not in content and word.encode("utf-16-le") not in content


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("before", [True, False])
def test_a_file_appears_whole_or_not_at_all(
    human: Reference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, before: bool
) -> None:
    import pyarrow.parquet

    path = tmp_path / f"human.{ending}"
    if before:
        Reference(human.features[:3]).save(path)
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


def test_an_unknown_ending_is_refused(human: Reference, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"written to \.npz, \.npy or \.parquet, got '.*human\.csv'"):
        human.save(tmp_path / "human.csv")
    with pytest.raises(FileNotFoundError, match=r"there is no file '.*none\.npz'"):
        Reference.load(tmp_path / "none.npz")


@pytest.mark.parametrize("ending", FORMATS)
def test_a_damaged_file_is_refused(human: Reference, tmp_path: Path, ending: str) -> None:
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
            Reference.load(path)
            pytest.fail(f"{name} was read")


def _pickled_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return file.getvalue()


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_flipped_byte_is_refused_or_without_consequence(human: Reference, tmp_path: Path, ending: str) -> None:
    path = human.save(tmp_path / f"human.{ending}")
    content = path.read_bytes()
    rng = random.Random(0)
    for place in [rng.randrange(len(content)) for _ in range(60)]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            loaded = Reference.load(path)
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
        ('{"format": "mauve_metric features 1"}', "is damaged: what stands beside"),
    ],
)
def test_a_damaged_sidecar_is_refused(human: Reference, tmp_path: Path, meta: str, message: str) -> None:
    path = human.save(tmp_path / "human.npy")
    (tmp_path / "human.npy.json").write_text(meta)
    with pytest.raises(ValueError, match=message):
        Reference.load(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("lengths", "ten"), ("lengths", [-1.5, "a"]), ("text_hashes", [-1] * 30), ("identity", 3), ("truncated", None),
     ("lengths", [1, 2]), ("lengths", [[1]] * 30), ("opening_hashes", [2**70] * 30)],
)  # fmt: skip
def test_a_sidecar_with_a_wrong_value_is_refused(human: Reference, tmp_path: Path, key: str, value: Any) -> None:
    path = human.save(tmp_path / "human.npy")
    sidecar = tmp_path / "human.npy.json"
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {key: value}))
    with pytest.raises(ValueError, match=r"human\.npy.* is damaged"):
        Reference.load(path)


def test_a_sidecar_of_other_features_is_refused(human: Reference, tmp_path: Path) -> None:
    path = human.save(tmp_path / "human.npy")
    np.save(path, human.features[:10])
    with pytest.raises(ValueError, match=r"is damaged: 10 features and 30 lengths$"):
        Reference.load(path)


def test_numpy_files_from_elsewhere(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 3))
    np.save(tmp_path / "a.npy", rows)
    np.savez(tmp_path / "one.npz", whatever=rows)
    np.savez(tmp_path / "two.npz", features=rows, other=rows[:2])
    np.savez(tmp_path / "unclear.npz", a=rows, b=rows)
    for name in ("a.npy", "one.npz", "two.npz"):
        loaded = Reference.load(tmp_path / name)
        np.testing.assert_array_equal(loaded.features, rows)
        assert loaded.identity is None
    with pytest.raises(ValueError, match=r"must hold one array or one called 'features', it holds a, b"):
        Reference.load(tmp_path / "unclear.npz")


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
        np.testing.assert_array_equal(Reference.load(path).features, rows)
    bad: dict[str, tuple[dict[str, Any], str]] = {
        "unequal": ({"features": [[1.0], [2.0, 3.0, 4.0]]}, "row 1: .* one length, got 3 numbers after rows of 1$"),
        "missing": ({"features": [[1.0], None]}, "row 1: expected a list of numbers in 'features', got none$"),
        "numbers": ({"features": [1.0, 2.0]}, "lists of numbers, got double"),
        "words": ({"features": [["a"], ["b"]]}, "lists of numbers, got list<"),
        "texts": ({"text": ["a", "b"]}, "column 'text' must hold lists of numbers, got string$"),
        "none": ({"features": pyarrow.array([], pyarrow.list_(pyarrow.float32()))}, r"at least 1, got \(0, 0\)$"),
    }
    for columns, message in bad.values():
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        with pytest.raises(ValueError, match=message):
            Reference.load(path)
    pyarrow.parquet.write_table(pyarrow.table({"features": [[1.0, None], [2.0, 3.0]]}), path)
    with pytest.raises(ValueError, match=r"row 0: a number is missing in 'features'$"):
        Reference.load(path)


def test_without_pyarrow(tmp_path: Path, human: Reference, monkeypatch: pytest.MonkeyPatch) -> None:
    path = human.save(tmp_path / "human.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for action in (
        lambda: Reference.load(path),
        lambda: human.save(path),
        lambda: reference_files.is_feature_parquet(path),
    ):
        with pytest.raises(ImportError, match="pip install pyarrow"):
            action()
    (tmp_path / "a.txt").write_text("ships\n")
    assert not reference_files.is_feature_parquet(tmp_path / "a.txt")
    human.save(tmp_path / "human.npz")


# --- scores -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [None, *FORMATS])
def test_the_score_is_that_of_the_texts(tiny_gpt2: str, tmp_path: Path, human: Reference, ending: str | None) -> None:
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    expected = compute_mauve(p_text=HUMAN, q_text=MODEL, **options)
    kept = human if ending is None else Reference.load(human.save(tmp_path / f"human.{ending}"))
    if ending is not None:  # a file chooses no model
        with pytest.raises(ValueError, match=r"name the model .*: pass featurize_model_name="):
            compute_mauve(p=kept, q_text=MODEL, **SMALL)
    for found in (
        compute_mauve(p=human, q_text=MODEL, **SMALL),  # the model is the reference's
        compute_mauve(p=kept, q_text=MODEL, **options),
        compute_mauve(p=kept, q=Reference.from_texts(MODEL, featurize_model_name=tiny_gpt2), **SMALL),
    ):
        assert found.mauve == expected.mauve and found.signature == expected.signature
        assert codes(found) == codes(expected)
        assert found.to_dict() == expected.to_dict()
    swapped = compute_mauve(q=kept, p_text=MODEL, **options)
    np.testing.assert_array_equal(
        swapped.divergence_curve, compute_mauve(p_text=MODEL, q_text=HUMAN, **options).divergence_curve
    )


def test_texts_follow_the_reference(tiny_gpt2: str) -> None:
    own = {"featurize_model_name": tiny_gpt2, "pooling": "mean", "dtype": "float64", "max_text_length": 7}
    kept = Reference.from_texts(HUMAN, **own)
    found = compute_mauve(p=kept, q_text=MODEL, **SMALL)
    assert found.to_dict() == compute_mauve(p_text=HUMAN, q_text=MODEL, **own, **SMALL).to_dict()
    assert "pooling:mean" in found.signature and "dtype:float64" in found.signature
    assert "max_text_length:7|" in found.signature
    ids = [[1, 2, 3], [4, 5]] * 5
    tokens = compute_mauve(p=kept, q_tokens=ids, **SMALL)
    assert tokens.mauve == compute_mauve(p_text=HUMAN, q_tokens=ids, **own, **SMALL).mauve


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"pooling": "mean"}, "pooling last and mean"),
        ({"dtype": "float64"}, "dtype float32 and float64"),
        ({"max_text_length": 9}, "max_text_length 96 and 9"),
        ({"featurize_model_name": "tiny_roberta"}, "revision .* and .*, tokenizer .* and "),
    ],
)
def test_features_of_two_kinds_are_not_mixed(
    human: Reference, request: pytest.FixtureRequest, options: dict[str, Any], difference: str
) -> None:
    if "featurize_model_name" in options:
        options = {"featurize_model_name": request.getfixturevalue(options["featurize_model_name"])}
    message = f"the two sets were featurized differently .*: {difference}"
    with pytest.raises(ValueError, match=message):
        compute_mauve(p=human, q_text=MODEL, **options, **SMALL)
    assert human.identity is not None
    other = Reference.from_texts(MODEL, **{"featurize_model_name": human.identity["model"], **options})
    with pytest.raises(ValueError, match=message):
        compute_mauve(p=human, q=other, **SMALL)


def test_features_of_two_functions_are_not_mixed() -> None:
    human = Reference.from_texts(HUMAN, featurize_model_name=_letters)
    assert human.identity is not None and human.identity["model"].endswith("_letters")
    with pytest.raises(ValueError, match=r"featurized differently .*_letters.*_vowels"):
        compute_mauve(p=human, q_text=MODEL, featurize_model_name=_vowels, **SMALL)
    found = compute_mauve(p=human, q_text=MODEL, featurize_model_name=_letters, **SMALL)
    assert found.mauve == compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=_letters, **SMALL).mauve


def _letters(texts: list[str]) -> NDArray[np.float64]:
    return np.array([[text.count(letter) for letter in "abcde"] for text in texts], dtype=np.float64)


def _vowels(texts: list[str]) -> NDArray[np.float64]:
    return np.array([[text.count(letter) for letter in "aeiou"] for text in texts], dtype=np.float64)


def test_facts_of_the_reference_reach_the_result(tiny_gpt2: str, tmp_path: Path) -> None:
    made = Reference.from_texts(
        ["", *HUMAN, HUMAN[0]], featurize_model_name=tiny_gpt2, max_text_length=9, empty_texts="drop"
    )
    kept = Reference.load(made.save(tmp_path / "human.parquet"))
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    found = compute_mauve(p=kept, q_text=[HUMAN[3], *MODEL], **options)
    assert (found.p_dropped, found.p_truncated) == (1, made.truncated) and found.p_truncated > 0
    assert {"dropped_texts", "duplicates_within", "duplicates_between", "truncated_texts"} <= set(codes(found))


def test_features_from_a_file_without_identity_are_a_warning(tiny_gpt2: str, human: Reference, tmp_path: Path) -> None:
    path = human.save(tmp_path / "human.npy")
    options = {"featurize_model_name": tiny_gpt2, **SMALL}
    assert "features_without_identity" not in codes(compute_mauve(p=Reference.load(path), q_text=MODEL, **options))
    (tmp_path / "human.npy.json").unlink()
    unknown = Reference.load(path)
    found = compute_mauve(p=unknown, q=human, **SMALL)
    (warning,) = (warning for warning in found.warnings if warning.code == "features_without_identity")
    assert "human features" in warning.message and warning.numbers == {"sets": ["human"]}
    both = compute_mauve(p=unknown, q=unknown, **SMALL)
    (warning,) = (warning for warning in both.warnings if warning.code == "features_without_identity")
    assert warning.numbers == {"sets": ["human", "model"]}
    # arrays are the caller's own
    raw = compute_mauve(p_features=human.features, q_features=human.features, **SMALL)
    assert "features_without_identity" not in codes(raw)
    assert compute_mauve(p=Reference(human.features), q=Reference(human.features), **SMALL).warnings == raw.warnings


def test_shell_ships_features_without_texts(tiny_gpt2: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    human, model = tmp_path / "human.jsonl", tmp_path / "model.jsonl"
    for path, texts in ((human, HUMAN), (model, MODEL)):
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    name, small = ["--featurize-model-name", tiny_gpt2], ["--num-buckets", "4", "--no-cache", "--json", "--quiet"]
    assert cli.main(["score", str(human), str(model), *name, *small]) == 0
    expected = json.loads(capsys.readouterr().out)
    for ending in FORMATS:
        shipped = tmp_path / f"human.{ending}"
        assert cli.main(["featurize", str(human), "-o", str(shipped), *name]) == 0
        assert capsys.readouterr().out == ""
        assert cli.main(["score", str(shipped), str(model), *name, *small]) == 0
        assert json.loads(capsys.readouterr().out) == expected
    (tmp_path / "human.npy.json").unlink()
    assert cli.main(["score", str(tmp_path / "human.npy"), str(model), *name, *small]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mauve"] == expected["mauve"]
    assert "features_without_identity" in [warning["code"] for warning in found["warnings"]]
    assert cli.main(["score", str(tmp_path / "human.npz"), str(model), *name, "--pooling", "mean", *small]) == 1
    assert "featurized differently" in capsys.readouterr().err
    assert cli.main(["score", str(tmp_path / "human.npz"), str(model), *small]) == 1
    assert "pass featurize_model_name=" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["human.npz", np.ones((3, 2)), {"features": np.ones((3, 2))}])
def test_what_is_no_reference_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"p must be a mauve_metric\.Reference, got"):
        compute_mauve(p=value, q_features=np.ones((3, 2)))


def test_broken_features_in_a_reference_are_refused() -> None:
    rows = np.ones((4, 2))
    rows[2, 1] = np.nan
    with pytest.raises(ValueError, match="must be finite: 1 rows hold NaN or infinity, the first is row 2"):
        compute_mauve(p=Reference(rows), q_features=np.ones((4, 2)))


def test_defaults_are_those_of_the_config(human: Reference) -> None:
    assert human.identity is not None
    assert human.identity["dtype"] == MauveConfig().dtype


# --- files that are not what they seem ----------------------------------------------------------------------------


def test_a_sidecar_is_not_believed_for_other_features(human: Reference, tmp_path: Path) -> None:
    path = human.save(tmp_path / "human.npy")
    np.save(path, human.features)  # the same numbers: it still fits
    assert Reference.load(path).identity == human.identity
    np.save(path, np.asfortranarray(human.features.astype(np.float64)))
    assert Reference.load(path).identity == human.identity
    np.save(path, human.features[::-1])
    with pytest.raises(ValueError, match=r"human\.npy\.json was written for other features than .*human\.npy holds"):
        Reference.load(path)


def test_a_sidecar_is_not_believed_for_other_features_in_blocks(
    human: Reference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_files, "LAZY_BYTES", 100)
    path = human.save(tmp_path / "human.npy")
    assert Reference.load(path).identity == human.identity
    np.save(path, human.features + 1)
    with pytest.raises(ValueError, match="was written for other features"):
        Reference.load(path)


def test_a_sidecar_of_an_older_version_is_believed_with_a_word(
    human: Reference, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, sidecar = human.save(tmp_path / "human.npy"), tmp_path / "human.npy.json"
    meta = json.loads(sidecar.read_text())
    del meta["features_hash"], meta["checksum"]
    sidecar.write_text(json.dumps(meta))
    assert Reference.load(path).identity == human.identity
    (record,) = caplog.records
    assert "does not say for which features it was written" in record.getMessage()
    assert str(sidecar) in record.getMessage()


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ({"revision": "1"}, "must name its model, got {'revision': '1'}"),
        ({}, "must name its model, got {}"),
        ({"model": 3}, "must map names to texts"),
        (["model"], "must map names to texts"),
        ({"model": "x", "max_text_length": "long"}, "must have a number as max_text_length, got 'long'"),
    ],
)
def test_an_identity_that_names_no_model_is_refused(identity: Any, message: str, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match=f"^the identity of p {message}"):
        compute_mauve(p=Reference(rows, identity=identity), q_features=rows, **SMALL)
    path = Reference(rows, identity={"model": "x"}).save(tmp_path / "human.npy")
    sidecar = tmp_path / "human.npy.json"
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"identity": identity}))
    with pytest.raises(ValueError, match=message):
        Reference.load(path)


def test_members_of_an_npz_that_nobody_asked_for_are_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 3))
    np.savez(tmp_path / "human.npz", other=np.zeros(1000), features=rows)
    read = []
    inner = np.lib.npyio.NpzFile.__getitem__

    def noted(self: Any, name: str) -> Any:
        read.append(name)
        return inner(self, name)

    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", noted)
    np.testing.assert_array_equal(Reference.load(tmp_path / "human.npz").features, rows)
    assert read == ["features"]


def test_a_member_of_an_npz_that_claims_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "human.npz"
    with zipfile.ZipFile(path, "w") as file, file.open("features.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f4", "fortran_order": False, "shape": (10**10, 1100)})
    with pytest.raises(ValueError, match=r"44000000000128 bytes expected, it ends before, at 128$"):
        Reference.load(path)


@pytest.mark.parametrize("shape", [(0, 8), (8, 0), (3,)])
@pytest.mark.parametrize("ending", FORMATS)
def test_files_without_a_row_or_a_column_are_neither_written_nor_read(
    tmp_path: Path, ending: str, shape: tuple[int, ...]
) -> None:
    path = tmp_path / f"human.{ending}"
    with pytest.raises(ValueError, match="features must have shape"):
        Reference(np.zeros(shape)).save(path)
    assert list(tmp_path.iterdir()) == []
    if ending != "parquet":
        {"npy": np.save, "npz": np.savez}[ending](path, np.zeros(shape))
        with pytest.raises(
            ValueError, match=r"human\.np[yz] must hold numbers of shape \(n, d\) with n and d at least 1"
        ):
            Reference.load(path)


BAD_COLUMNS: dict[str, tuple[Any, str]] = {
    "ragged": ([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], "row 1: .* must have one length, got 1 numbers after rows of 2$"),
    "booleans": ([[True, False]] * 9, "must hold lists of numbers, got list<.*bool>$"),
    "numbers": ([1.0, 2.0, 3.0], "must hold lists of numbers, got double$"),
    "texts": (["a", "b", "c"], "must hold lists of numbers, got string$"),
    "structs": ([{"a": 1.0}] * 3, "must hold lists of numbers, got struct<a: double>$"),
    "a missing row": ([[1.0, 2.0], None, [1.0, 3.0]], "row 1: expected a list of numbers in 'features', got none$"),
    "a missing number": ([[1.0, 2.0], [None, 2.0]], "row 1: a number is missing in 'features'$"),
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
        lambda: Reference.load(path),
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
    with pytest.raises(ValueError, match=r"row 5000: .* got 1 numbers after rows of 2$"):
        Reference.load(path)
    pyarrow.parquet.write_table(pyarrow.table([rows, rows], names=["features", "features"]), path)
    with pytest.raises(ValueError, match="must have one column 'features', it has 2"):
        Reference.load(path)


def test_every_door_minds_the_checksums_of_pages(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = np.random.default_rng(0).normal(size=(60, 8))
    path = tmp_path / "human.parquet"
    table = pyarrow.table({"features": rows.tolist()})
    pyarrow.parquet.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    np.testing.assert_array_equal(Reference.load(path).features, rows)
    content = bytearray(path.read_bytes())
    content[content.index(rows[5].tobytes()) + 7] ^= 0x40  # one bit of one number
    path.write_bytes(content)
    for door in (lambda: Reference.load(path), lambda: compute_mauve(p_features=path, q_features=rows)):
        with pytest.raises(ValueError, match=r"human\.parquet is not a parquet file, or is damaged"):
            door()


# --- what a file may choose ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["/anywhere/model", "~/model", "nobody/no-model", "gpt2", "module.function"])
def test_a_file_chooses_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    asked: list[str] = []
    monkeypatch.setattr("mauve_metric.features.reference.load_encoder", lambda name, **options: asked.append(name))
    rows = np.random.default_rng(0).normal(size=(30, 4))
    path = Reference(rows, {"model": model, "pooling": "mean", "dtype": "float32"}).save(tmp_path / "human.npz")
    for side in ({"p": Reference.load(path), "q_text": MODEL}, {"p_text": HUMAN, "q": Reference.load(path)}):
        with pytest.raises(ValueError, match=f"pass featurize_model_name='{model}'"):
            compute_mauve(**side, **SMALL)  # type: ignore[arg-type]
    assert asked == []
    assert compute_mauve(p=Reference.load(path), q=Reference.load(path), **SMALL).mauve == 1  # nothing to load


def test_a_file_of_a_built_in_featurizer_is_followed(minilm: str, tmp_path: Path) -> None:
    path = Reference.from_texts(HUMAN, featurize_model_name=minilm, max_text_length=8).save(tmp_path / "human.npz")
    found = compute_mauve(p=Reference.load(path), q_text=MODEL, **SMALL)
    assert (
        found.mauve == compute_mauve(p=Reference.load(path), q_text=MODEL, featurize_model_name=minilm, **SMALL).mauve
    )
    assert "minilm" in found.signature


def test_a_header_that_ends_in_the_middle_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "cut.npy"
    np.save(path, np.zeros((3, 2)))
    path.write_bytes(path.read_bytes().replace(b"(3, 2)", b"(3, 2 ", 1))
    with pytest.raises(ValueError, match=r"cut\.npy is not a numpy file of numbers"):
        Reference.load(path)
