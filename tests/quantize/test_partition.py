"""One partition of several sets: forms of the rows, seeds of repeated runs, sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mauve_metric import compute_mauve
from mauve_metric.arrays import Rows
from mauve_metric.config import MauveConfig
from mauve_metric.options import RunOptions
from mauve_metric.quantize import partition
from mauve_metric.quantize.partition import partition_sets

DRMM: dict[str, Any] = {
    "quantizer": "drmm", "drmm_layers": 2, "drmm_components": 3, "drmm_steps": 150, "num_runs": 1
}  # fmt: skip


def sets(n: int = 90, shift: float = 1.0, d: int = 5) -> tuple[Rows, Rows]:
    rng = np.random.default_rng(n)
    rows = rng.normal(size=(2, n, d)).astype(np.float32)
    rows[1, :, 0] += shift
    return rows[0], rows[1]


def test_runs_have_seeds_of_their_own() -> None:
    p, q = sets()
    found = compute_mauve(p_features=p, q_features=q, **(DRMM | {"num_runs": 3}))
    alone = [compute_mauve(p_features=p, q_features=q, seed=seed, **DRMM).mauve for seed in (25, 26, 27)]
    assert found.mauve_runs.tolist() == alone and len(set(alone)) > 1 and found.mauve_std > 0


def test_files_are_read_as_a_whole_and_refused_where_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p, q = sets()
    np.save(tmp_path / "p.npy", p)
    read = compute_mauve(p_features=tmp_path / "p.npy", q_features=q, **DRMM)
    assert read.mauve == compute_mauve(p_features=p, q_features=q, **DRMM).mauve
    monkeypatch.setattr(partition, "MOST_NUMBERS_AT_ONCE", 899)
    message = "quantizer='drmm' does not work in blocks, and reads at most 899 numbers in all sets together, got 900"
    with pytest.raises(ValueError, match=message):
        compute_mauve(p_features=tmp_path / "p.npy", q_features=q, **DRMM)
    compute_mauve(p_features=p, q_features=q, **DRMM)  # what is in memory is


def test_tensors_stay_tensors() -> None:
    p, q = sets()
    config = MauveConfig(**(DRMM | {"num_buckets": 9}))
    plain = partition_sets([p, q], config)
    there = partition_sets([p, q], config, RunOptions(score_device="cpu"))
    assert isinstance(there.stacked, torch.Tensor) and there.stacked.shape == (180, 5)
    for one, two in zip(plain.labels[0], there.labels[0], strict=True):
        assert np.array_equal(one, two)
    assert all(
        np.array_equal(one, two)
        for one, two in zip(plain.labels_of_shuffled_rows(config), there.labels_of_shuffled_rows(config), strict=True)
    )
