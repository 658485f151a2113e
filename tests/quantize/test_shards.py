"""Buckets of shards: what one pass over all rows gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mauve_metric.features.rows import ArrayRows
from mauve_metric.quantize.blocks import Clustering
from mauve_metric.quantize.projection import fit_projection
from mauve_metric.quantize.shards import ShardLabels, StoredRows, labels_of

ROWS = np.random.default_rng(0).normal(size=(2500, 6)).astype(np.float32)


def test_counts_of_shards_add_up_to_those_of_a_naive_search(tmp_path: Path) -> None:
    projection = fit_projection(ArrayRows(ROWS), 0.9)
    projected = projection.apply_all(ArrayRows(ROWS)).astype(np.float64)
    centres = np.stack([projected[:300], projected[300:600]]).astype(np.float32)  # more than a byte can number
    nearest = [np.linalg.norm(projected[:, None] - run[None], axis=2).argmin(axis=1) for run in centres]
    work = ShardLabels(tmp_path, Clustering(projection, centres))
    shards = [StoredRows(ArrayRows(part), f"shard{index}") for index, part in enumerate(np.split(ROWS, [700, 701]))]
    counts = sum(work.counts(shard) for shard in shards[::-1])
    assert np.array_equal(counts, [np.bincount(labels, minlength=300) for labels in nearest])
    assert np.array_equal(np.concatenate([work(shard) for shard in shards], axis=1), nearest)
    assert labels_of(ArrayRows(ROWS), work.clustering).dtype == np.uint16


def test_other_centres_have_other_files(tmp_path: Path) -> None:
    projection = fit_projection(ArrayRows(ROWS), 0.9)
    shard = StoredRows(ArrayRows(ROWS), "shard")
    for seed in (1, 2):
        centres = np.random.default_rng(seed).normal(size=(1, 4, projection.directions.shape[1])).astype(np.float32)
        expected = labels_of(shard.rows, Clustering(projection, centres))
        assert np.array_equal(ShardLabels(tmp_path, Clustering(projection, centres))(shard), expected)
    assert len(list(tmp_path.glob("labels/shard-*.npz"))) == 2
