"""Anything that can be handed in: a documented error that names it, or a result that holds what it promises."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from samples import texts_of, write_jsonl
from strategies import ANYTHING

from mauve_metric import FeatureSet, MauveConfig, MauveResult, compare, compute_mauve, describe, explain, read_texts
from mauve_metric.apps.describing.duplicates.repeated_substrings import cut_repeated
from mauve_metric.apps.describing.memorisation import memorisation, prompted_memorisation
from mauve_metric.features.array_files import feature_rows
from mauve_metric.hosts.cli.main import main
from mauve_metric.hosts.space.view.settings import read_shared
from mauve_metric.hosts.space.view.takeaway import card_svg
from mauve_metric.options import RunOptions
from mauve_metric.results.signature import format_signature, format_value, signature_texts

PLAIN = np.random.default_rng(0).normal(size=(12, 3))
OPTIONS: dict[str, Any] = {"num_buckets": 3, "num_runs": 1, "knn_k": 2}
UNIT = ("mauve", "mauve_star", "mauve_exact", "frontier_integral", "frontier_integral_star", "precision", "recall")


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doors")


def check(result: MauveResult) -> None:
    """Check the promise of every result: numbers that are finite and in range, and a dict that is fit for JSON."""
    for name in UNIT:
        value = getattr(result, name)
        assert value is None or 0 <= value <= 1, name
    for hist in (result.p_hist, result.q_hist):
        assert math.isclose(hist.sum(), 1, abs_tol=1e-12) and (hist >= 0).all()
    if result.mauve_debiased_ci is not None:
        low, high = result.mauve_debiased_ci
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
        assert "p_features" in found or (found.startswith("knn_k") and len(laid) <= OPTIONS["knn_k"]), found
        return
    assert isinstance(expected, MauveResult)
    assert found.to_dict() | {"signature": ""} == expected.to_dict() | {"signature": ""}


@pytest.mark.more
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


@pytest.mark.more
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


@pytest.mark.more
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


@pytest.mark.more
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


# --- labels -------------------------------------------------------------------------------------------------------

LABELS = st.lists(
    st.one_of(st.sampled_from(["a", "b", 1, "1", 1.0, True, None, "", " ", math.nan, 1e308]), ANYTHING),
    min_size=len(PLAIN),
    max_size=len(PLAIN),
)
MANY = st.sampled_from([["a"] * 12, ["a", "b"] * 6, ["a"] * 11 + ["b"], [1] * 12, ["1"] * 12])
GIVEN_LABELS = st.one_of(
    st.fixed_dictionaries({"human": st.one_of(MANY, LABELS)}, optional={"m": st.one_of(MANY, LABELS)}), ANYTHING
)


@pytest.mark.parametrize("verb", ["compare", "describe", "explain"])
@given(by=st.one_of(GIVEN_LABELS, st.dictionaries(st.sampled_from(["human", "m", "model", "", 0]), ANYTHING)))
def test_any_labels(verb: str, by: Any) -> None:
    if isinstance(by, dict) and "m" in by and verb == "explain":
        by = {"model" if name == "m" else name: labels for name, labels in by.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if verb == "explain":
                result: Any = explain(p_features=PLAIN, q_features=PLAIN + 1, by=by, **OPTIONS)
            elif verb == "compare":
                result = compare(p_features=PLAIN, models={"m": PLAIN + 1}, by=by, **OPTIONS)
            else:
                result = describe(p_features=PLAIN, models={"m": PLAIN + 1}, by=by, measures="precision", **OPTIONS)
    except (TypeError, ValueError) as error:
        assert "by" in str(error) and len(str(error)) < 400, error
        return
    json.dumps(result.to_dict(), allow_nan=False)
    assert str(result)
    if verb == "explain" and isinstance(by, dict):
        named = sum(label is not None and bool(str(label).strip()) for label in by["human"])
        assert sum(count for bucket in result.buckets for count, _ in bucket.composition.values()) == named


# --- links, cards and signatures ----------------------------------------------------------------------------------

LINK = "120,90;minilm,s,81234,80000,99999,5,,;ngrams,u,,,,,,"
LINKS = st.one_of(
    st.text(),
    st.from_regex(r"[0-9]{1,9},[0-9]{1,9}(;(minilm|ngrams),[snuwx](,[0-9]{0,6}){6}){1,3}", fullmatch=True),
    CHANGES.map(lambda changes: changed(LINK.encode(), changes).decode("utf-8", "replace")),
)


@given(value=LINKS)
def test_any_link(value: str) -> None:
    try:
        shared = read_shared(value, ["minilm", "ngrams"])
    except ValueError as error:
        assert str(error).startswith("the link's shared result")
        return
    assert shared.answer and (shared.closeness is None or 0 <= shared.closeness <= 1)
    for mark in (mark for bar in shared.bars for mark in bar.marks):
        low, high = mark.ends or (mark.value, mark.value)
        assert 0 <= low <= mark.value <= high <= 1


@given(names=st.lists(st.text(min_size=1), min_size=2, max_size=3, unique=True))
@pytest.mark.slow
def test_any_name_on_a_card(names: list[str]) -> None:
    try:
        found = compare(p_features=PLAIN, models=dict.fromkeys(names, PLAIN + 1), **OPTIONS)
    except (TypeError, ValueError) as error:
        assert "model" in str(error)
        return
    parts = {part.tag.split("}")[1] for part in ElementTree.fromstring(card_svg(found)).iter()}
    assert parts <= {"svg", "rect", "circle", "text"}


@given(entries=st.dictionaries(st.text(), ANYTHING))
def test_any_entries_of_a_signature(entries: dict[str, object]) -> None:
    signature = format_signature(entries)
    assert signature.isprintable() or "\u200c" in signature or "\u200d" in signature
    keys = [part.partition(":")[0] for part in signature.split("|")]
    if len({*keys}) == len(keys):
        written = [format_value(value) for value in entries.values()]
        assert [*signature_texts(signature).values()] == (written if entries else [""])


ENTRY = st.tuples(
    st.sampled_from(
        [item.name for item in dataclasses.fields(MauveConfig)] + ["design", "n_p", "p_digest", "mauve", ""]
    ),
    ANYTHING,
)
BEFORE = st.one_of(
    st.lists(ENTRY, max_size=3).map(
        lambda entries: {"signature": format_signature({"num_buckets": 2, **dict(entries)})}
    ),
    st.tuples(st.lists(ENTRY, max_size=2), ANYTHING).map(lambda given: {**dict(given[0]), "signature": given[1]}),
    ANYTHING,
)


@given(before=BEFORE, changes=st.one_of(st.just([]), CHANGES))
def test_any_result_to_reproduce(before: object, changes: list[tuple[str, int, bytes]], folder: Path) -> None:
    sides = [write_jsonl(folder / f"{name}.jsonl", texts_of(12, seed=seed)) for name, seed in (("p", 0), ("q", 1))]
    path = folder / "before.json"
    path.write_bytes(changed(json.dumps(before, default=repr).encode(), changes))
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = main(["reproduce", str(path), *sides, "--json", "--quiet"])
    if status in (0, 3):
        assert {"differences", "result"} == {*json.loads(out.getvalue())}
    else:
        assert status == 1 and out.getvalue() == "" and 0 < len(err.getvalue()) < 600, err.getvalue()


# --- passages -----------------------------------------------------------------------------------------------------

SOME_TEXTS = st.lists(
    st.one_of(st.text(max_size=12), st.lists(st.sampled_from(["a", "b", "c", "永远", "\u200d", " "])).map(" ".join)),
    max_size=5,
)


@given(texts=SOME_TEXTS, against=SOME_TEXTS, length=st.integers(-1, 4), keep_first=st.booleans())
def test_any_passages_to_cut(texts: list[str], against: list[str], length: int, keep_first: bool) -> None:
    try:
        found = cut_repeated(texts, length, against, keep_first)
    except ValueError as error:
        assert "length" in str(error) and length < 1
        return
    assert len(found.texts) == len(texts) and str(found)
    for before, after in zip(texts, found.texts, strict=True):
        rest = iter(before)
        assert all(mark in rest for mark in after)  # nothing is added, and the order stays


@given(texts=SOME_TEXTS, others=SOME_TEXTS, length=st.integers(-1, 4))
def test_any_texts_to_look_for_in_others(texts: list[str], others: list[str], length: int) -> None:
    with contextlib.suppress(ValueError):
        prompted = prompted_memorisation(texts, others)
        assert ((prompted.similarities >= 0) & (prompted.similarities <= 1)).all() and len(texts) == len(others)
        assert all(low <= share <= high for share, (low, high) in zip(prompted.shares, prompted.intervals, strict=True))
    try:
        found = memorisation(texts, others, length)
    except ValueError as error:
        assert any(name in str(error) for name in ("length", "corpus", "passages", "texts")), error
        return
    assert 0 <= found.rate <= 1 and ((found.shares >= 0) & (found.shares <= 1)).all()
    assert found.corpus_texts == len(others)
