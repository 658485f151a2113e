"""No public function changes what it is given: arrays, lists and files have the content of before."""

from __future__ import annotations

import copy
import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import ngrams, texts_of, write_jsonl

import mauve_metric
from mauve_metric import FeatureSet

FAST: dict[str, Any] = {"num_buckets": 4, "num_runs": 1, "kmeans_num_redo": 1}
BY_TEXT: dict[str, Any] = {**FAST, "featurize_model_name": ngrams, "cache": False}


def inputs(folder: Path) -> dict[str, Any]:
    """Two sides in every form, and an output folder that is none of them."""
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {"out": folder / "out"}
    for number, name in enumerate("pq"):
        texts, rows = texts_of(30, seed=number), rng.normal(size=(30, 3)) + number
        given |= {f"{name}_texts": texts, f"{name}_rows": rows, f"{name}_reference": FeatureSet(rows.copy())}
        given |= {f"{name}_float32": rows.astype(np.float32), f"{name}_file": folder / f"{name}.npy"}
        given[f"{name}_shards"] = folder / name
        np.save(folder / f"{name}.npy", rows)
        given[f"{name}_shards"].mkdir()
        write_jsonl(folder / name / "0.jsonl", texts)
    return given


def digest(given: dict[str, Any], folder: Path) -> str:
    """A hash of all that is given, and of the files."""
    found = hashlib.sha256(pickle.dumps({name: value for name, value in given.items() if name != "out"}))
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and given["out"] not in path.parents):
        found.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return found.hexdigest()


CALLS: dict[str, Callable[[Any], object]] = {
    "compute_mauve of rows": lambda g: mauve_metric.compute_mauve(
        p_features=g["p_rows"], q_features=g["q_rows"], frechet_distance=True, permutations=5, **FAST
    ),
    "compute_mauve of float32": lambda g: mauve_metric.compute_mauve(
        p_features=g["p_float32"], q_features=g["q_float32"], **FAST
    ),
    "compute_mauve of texts": lambda g: mauve_metric.compute_mauve(
        p_text=g["p_texts"], q_text=g["q_texts"], strip="reasoning", **BY_TEXT
    ),
    "compute_mauve of files": lambda g: mauve_metric.compute_mauve(
        p_features=g["p_file"], q_features=g["q_file"], checkpoint=g["out"], **FAST
    ),
    "compare": lambda g: mauve_metric.compare(p=g["p_reference"], models={"q": g["q_reference"]}, **FAST),
    "explain": lambda g: mauve_metric.explain(p_text=g["p_texts"], q_text=g["q_texts"], **BY_TEXT),
    "describe": lambda g: mauve_metric.describe(
        p_text=g["p_texts"], models={"q": g["q_texts"]}, measures="lexical,score", **BY_TEXT
    ),
    "featurize": lambda g: mauve_metric.featurize(g["p_texts"], featurize_model_name=ngrams, cache=False).save(
        g["out"].with_suffix(".npz")
    ),
    "score_sharded": lambda g: mauve_metric.score_sharded(
        g["p_shards"], g["q_shards"], g["out"], featurize_model_name=ngrams, **FAST
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_leaves_what_it_is_given(name: str, tmp_path: Path) -> None:
    given = inputs(tmp_path)
    before, kept = digest(given, tmp_path), copy.deepcopy(given)
    CALLS[name](given)
    given["out"].with_suffix(".npz").unlink(missing_ok=True)
    assert digest(given, tmp_path) == before
    np.testing.assert_array_equal(given["p_rows"], kept["p_rows"])


def test_a_checkpoint_never_replaces_other_arrays(tmp_path: Path) -> None:
    features = tmp_path / "clustering.npz"
    np.savez(features, features=np.random.default_rng(0).normal(size=(30, 3)))
    before = features.read_bytes()
    given = inputs(tmp_path)
    with pytest.raises(ValueError, match=r"clustering\.npz' is a numpy file of something else"):
        mauve_metric.compute_mauve(p_features=given["p_file"], q_features=given["q_file"], checkpoint=tmp_path, **FAST)
    assert features.read_bytes() == before
