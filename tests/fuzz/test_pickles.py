"""Pickled objects, which run code when they are read, through the doors of Python: none is made."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from mauve_metric import (
    FeatureSet,
    compare_pairs,
    compute_mauve,
    describe,
    explain,
    rank_by_preferences,
    read_texts,
    score_boundary_guesses,
    score_sharded,
)

TEXTS = [f"the ship number {number} left the harbour" for number in range(30)]
NGRAMS: dict[str, Any] = {"featurize_model_name": "ngrams", "num_runs": 1}
ENDINGS = (
    ".npy",
    ".npz",
    ".txt",
    ".jsonl",
    ".json",
    ".csv",
    ".tsv",
    ".parquet",
    ".arrow",
    ".xlsx",
    ".gz",
    ".zip",
    ".pkl",
    ".pt",
)
DOORS: dict[str, Callable[[Path], object]] = {
    "FeatureSet.load": FeatureSet.load,
    "read_texts": read_texts,
    "compute_mauve of texts": lambda path: compute_mauve(p_text=TEXTS, q_text=path, **NGRAMS),
    "compute_mauve of features": lambda path: compute_mauve(p_features=np.eye(30), q_features=path, num_runs=1),
    "explain": lambda path: explain(p_text=path, q_text=TEXTS, **NGRAMS),
    "describe of training texts": lambda path: describe(TEXTS, {"m": TEXTS[::-1]}, training=path, **NGRAMS),
    "rank_by_preferences": rank_by_preferences,
    "score_boundary_guesses": score_boundary_guesses,
    "score_sharded": lambda path: score_sharded(path, path, folder=path.parent / "out", **NGRAMS),
    "compare_pairs": lambda path: compare_pairs(cast("Any", path), cast("Any", path)),
}


class Hostile:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("it-was-run",)


@pytest.mark.parametrize("door", DOORS)
def test_no_pickled_object_is_made(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    objects = np.array([Hostile()] * 20, dtype=object)
    paths = []
    for ending in ENDINGS:
        paths.append(tmp_path / f"plain{ending}")
        paths[-1].write_bytes(pickle.dumps([Hostile()] * 20))
    np.save(tmp_path / "array.npy", objects)
    np.savez(tmp_path / "array.npz", features=objects, meta=objects)
    for path in (*paths, tmp_path / "array.npy", tmp_path / "array.npz"):
        with pytest.raises((TypeError, ValueError, OSError)):
            DOORS[door](path)
    assert not Path("it-was-run").exists()
