"""Anything that can be handed in: a documented error that names it, or a result that holds what it promises."""

from __future__ import annotations

import dataclasses
import json
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import ANYTHING

from mauve_metric import FeatureSet, MauveConfig, MauveResult, compute_mauve, read_texts
from mauve_metric.features.row_files import feature_rows
from mauve_metric.options import RunOptions

PLAIN = np.random.default_rng(0).normal(size=(12, 3))
OPTIONS: dict[str, Any] = {"num_buckets": 3, "num_runs": 1, "knn_k": 2}
UNIT = ("mauve", "mauve_star", "mauve_exact", "frontier_integral", "frontier_integral_star", "precision", "recall")


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doors")


def check(result: MauveResult) -> None:
    """What every result promises: numbers that are finite and in range, and a dict that is fit for JSON."""
    for name in UNIT:
        value = getattr(result, name)
        assert value is None or 0 <= value <= 1, name
    for hist in (result.p_hist, result.q_hist):
        assert math.isclose(hist.sum(), 1, abs_tol=1e-12) and (hist >= 0).all()
    if result.mauve_ci is not None:
        low, high = result.mauve_ci
        assert 0 <= low <= high <= 1
    json.dumps(result.to_dict(), allow_nan=False)


def scored(features: Any, **options: Any) -> MauveResult | str:
    """The checked result, or the message of a documented error, which is one sentence that names the argument."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning of numpy is a number that is not right
        try:
            result = compute_mauve(p_features=features, q_features=PLAIN, **(OPTIONS | options))
        except (TypeError, ValueError, OSError) as error:  # OSError: a text is taken for a path
            return str(error)
    check(result)
    return result


# --- arrays -------------------------------------------------------------------------------------------------------

DTYPES = st.one_of(
    hnp.floating_dtypes(),
    hnp.integer_dtypes(),
    hnp.unsigned_integer_dtypes(),
    hnp.boolean_dtypes(),
    hnp.complex_number_dtypes(),
    hnp.datetime64_dtypes(),
    hnp.unicode_string_dtypes(),
    hnp.byte_string_dtypes(),
)
SHAPES = st.one_of(
    st.tuples(st.integers(1, 14), st.just(3)), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9)
)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda array: array,
    "reversed": lambda array: array[::-1],
    "strided": lambda array: np.repeat(array, 2, axis=0)[::2],
    "Fortran": np.asfortranarray,
    "columns reversed": lambda array: array[:, ::-1],
    "swapped bytes": lambda array: array.astype(array.dtype.newbyteorder()),
    "list": lambda array: array.tolist(),
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
}


@given(array=hnp.arrays(DTYPES, SHAPES), layout=st.sampled_from(sorted(LAYOUTS)))
def test_any_array(array: Any, layout: str) -> None:
    try:
        laid = LAYOUTS[layout](array)
    except (IndexError, TypeError, ValueError):
        return  # the layout does not exist for this array
    found, expected = scored(laid), scored(np.ascontiguousarray(laid))
    if isinstance(found, str):
        assert "p_features" in found, found
        return
    assert isinstance(expected, MauveResult)
    assert found.to_dict() | {"signature": ""} == expected.to_dict() | {"signature": ""}


@given(
    array=hnp.arrays(np.float32, st.tuples(st.just(9), st.just(3)), elements=st.floats(-9, 9, width=32)),
    mode=st.sampled_from(["r", "c", "r+"]),
    view=st.sampled_from([np.s_[:], np.s_[::-1], np.s_[:, ::-1], np.s_[2:], np.s_[::2]]),
    change=st.booleans(),
)
def test_memory_maps_are_the_numbers_that_they_hold(
    array: Any, mode: Any, view: Any, change: bool, folder: Path
) -> None:
    path = folder / "mapped.npy"
    np.save(path, array)
    mapped = np.load(path, mmap_mode=mode)
    if change and mode == "c":
        mapped[0] += 1
    found, expected = scored(mapped[view]), scored(np.array(mapped[view]))
    assert found == expected if isinstance(found, str) else isinstance(expected, MauveResult)
    if isinstance(found, MauveResult) and isinstance(expected, MauveResult):
        assert found.to_dict() == expected.to_dict()


@given(
    arrays=st.lists(
        hnp.arrays(st.one_of(hnp.integer_dtypes(), hnp.floating_dtypes(endianness="<")), st.just((5, 3))),
        min_size=1,
        max_size=4,
    )
)
def test_blocks_are_the_numbers_that_they_hold(arrays: list[Any]) -> None:
    def blocks() -> Iterator[Any]:
        yield from arrays

    with np.errstate(all="ignore"):
        whole = np.concatenate([np.asarray(block, dtype=np.float64) for block in arrays])
    if isinstance(found := scored(blocks()), str):
        assert "p_features" in found
        return
    read = feature_rows("p_features", blocks())
    assert read is not None
    np.testing.assert_array_equal(np.concatenate([block.astype(np.float64) for block in read.blocks()]), whole)


# --- options ------------------------------------------------------------------------------------------------------

COSTLY = {"num_runs", "permutations", "divergence_curve_discretization_size", "kmeans_num_redo"}


@pytest.mark.parametrize("name", [item.name for item in dataclasses.fields(MauveConfig)])
@given(value=ANYTHING)
def test_any_value_of_a_field(name: str, value: Any) -> None:
    try:
        config = MauveConfig(**{name: value})
    except (TypeError, ValueError) as error:
        assert name in str(error) and len(str(error)) < 400
        return
    kept = getattr(config, name)
    if name in COSTLY and isinstance(kept, int) and kept > 20:
        return
    found = scored(PLAIN + 1, **{name: kept})
    assert isinstance(found, MauveResult) or name in found or "p_features" in found, found


@pytest.mark.parametrize("name", [item.name for item in dataclasses.fields(RunOptions)])
@given(value=ANYTHING)
def test_any_value_of_a_run_option(name: str, value: Any) -> None:
    try:
        RunOptions(**{name: value})
    except (TypeError, ValueError) as error:
        assert name in str(error) and len(str(error)) < 400


# --- files --------------------------------------------------------------------------------------------------------


def feature_files(folder: Path) -> dict[str, bytes]:
    """One good file of features in each format."""
    reference = FeatureSet(PLAIN.astype(np.float32), identity={"model": "a function"})
    found = {}
    for suffix in (".npy", ".npz", ".parquet"):
        path = reference.save(folder / f"good{suffix}")
        found[suffix] = path.read_bytes()
    return found


TEXTS = {
    ".jsonl": b'{"text": "one"}\n{"text": "two \\u00e4"}\n',
    ".json": b'[{"text": "one"}, "two"]',
    ".csv": b'id,text\n1,one\n2,"two, three"\n',
    ".tsv": b"id\ttext\n1\tone\n2\ttwo\n",
    ".txt": b"one\ntwo\n",
}
CHANGES = st.lists(
    st.tuples(st.sampled_from(["flip", "cut", "insert", "repeat"]), st.integers(0, 10**6), st.binary(max_size=8)),
    max_size=4,
)


def changed(data: bytes, changes: list[tuple[str, int, bytes]]) -> bytes:
    """Data with some bytes flipped, cut off, inserted or repeated."""
    for kind, number, extra in changes:
        place = number % (len(data) + 1)
        if kind == "flip" and place < len(data):
            data = data[:place] + bytes([data[place] ^ (1 << number % 8)]) + data[place + 1 :]
        elif kind == "cut":
            data = data[:place]
        elif kind == "insert":
            data = data[:place] + extra + data[place:]
        elif kind == "repeat":
            data = data[:place] + data[max(0, place - 9) :]
    return data


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet"])
@given(changes=CHANGES)
def test_any_file_of_features(suffix: str, changes: list[tuple[str, int, bytes]], folder: Path) -> None:
    good = feature_files(folder)[suffix]
    path = folder / f"damaged{suffix}"
    path.write_bytes(changed(good, changes))
    try:
        reference = FeatureSet.load(path)
        result = compute_mauve(p=reference, q_features=PLAIN, **OPTIONS)
    except (TypeError, ValueError, OSError) as error:
        assert "\n" not in str(error) and len(str(error)) < 600, error
        return
    check(result)


@pytest.mark.parametrize("suffix", sorted(TEXTS))
@given(changes=CHANGES, noise=st.binary(max_size=40), whole=st.booleans())
def test_any_file_of_texts(
    suffix: str, changes: list[tuple[str, int, bytes]], noise: bytes, whole: bool, folder: Path
) -> None:
    path = folder / f"texts{suffix}"
    path.write_bytes(noise if whole else changed(TEXTS[suffix], changes))
    try:
        texts = read_texts(path)
    except (TypeError, ValueError, OSError) as error:
        assert path.name in str(error) and len(str(error)) < 600, error
        return
    assert all(isinstance(text, str) for text in texts)
    "".join(texts).encode("utf-8")  # no half of a character
