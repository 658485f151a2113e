"""Features that do not fit in memory → buckets: one pass for the projection, one for a sample, one for the buckets.

The clustering is that of `kmeans.fit_and_assign`: above 256 rows a bucket it is fitted on a random subset of that size
anyway, so that the result is the in-memory one.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, FeatureRows, Integers
from mauve_metric.features.rows import ArrayRows
from mauve_metric.quantize import kmeans
from mauve_metric.quantize.nearest_centres import assign
from mauve_metric.quantize.projection import Projection, fit_projection

logger = logging.getLogger(__name__)

Watch = Callable[[str, Iterable[Array], int], Iterator[Array]]

CHECKPOINT_FILE = "clustering.npz"


class WatchedRows:
    """Rows whose passes are shown by a progress bar, each under its own title."""

    def __init__(self, rows: FeatureRows, watch: Watch) -> None:
        self.rows, self.watch, self.shape = rows, watch, rows.shape
        self.title = ""

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        return self.watch(self.title, self.rows.blocks(), self.shape[0])

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return self.rows.take(numbers)


def unwatched(title: str, blocks: Iterable[Array], rows: int) -> Iterator[Array]:
    """No progress bar."""
    return iter(blocks)


def label_rows(
    rows: FeatureRows,
    *,
    num_buckets: int,
    explained_variance: float,
    pca_max_data: int,
    num_redo: int,
    max_iter: int,
    seed: int,
    num_runs: int = 1,
    checkpoint: Path | None = None,
    watch: Watch = unwatched,
) -> tuple[list[Integers], Projection]:
    """The bucket of each row, (n,), for each of `num_runs` seeds, and the projection.

    Args:
        rows: both sets stacked, (n, d).
        num_buckets, explained_variance, pca_max_data, num_redo, max_iter, seed, num_runs: as in `MauveConfig`.
        checkpoint: a folder in which the finished clustering is kept; a later call with the same data and settings
            goes on from there.
        watch: wraps each pass over the rows, for a progress bar.
    """
    settings = {
        "num_buckets": num_buckets,
        "explained_variance": explained_variance,
        "pca_max_data": pca_max_data,
        "num_redo": num_redo,
        "max_iter": max_iter,
        "seed": seed,
        "num_runs": num_runs,
    }
    watched = WatchedRows(rows, watch)
    key = "" if checkpoint is None else _key(rows, settings)
    loaded = None if checkpoint is None else _load(checkpoint, key)
    if loaded is None:
        watched.title = "projection"
        projection = fit_projection(watched, explained_variance, pca_max_data, seed)
        fits = []
        for run_seed in range(seed + 2, seed + 2 + num_runs):
            sample = projection.apply_all(
                ArrayRows(rows.take(kmeans.sample_numbers(rows.shape[0], num_buckets, run_seed)))
            )
            fits.append(kmeans.fit(sample, num_buckets, num_redo, max_iter, run_seed))
        centres = np.stack(fits)
        if checkpoint is not None:
            _save(checkpoint, key, projection, centres)
    else:
        projection, centres = loaded
        logger.info("the clustering is taken from %s", checkpoint)
    watched.title = "buckets"
    parts: list[list[Integers]] = [[] for _ in range(num_runs)]
    for block in watched.blocks():
        projected = projection.apply(block)
        for part, run_centres in zip(parts, centres, strict=True):
            part.append(assign(projected, run_centres))
    return [np.concatenate(part) for part in parts], projection


def _key(rows: FeatureRows, settings: Mapping[str, float]) -> str:
    """A hash of the settings, the shape and some rows, to recognise the same job."""
    numbers = np.unique(np.linspace(0, rows.shape[0] - 1, 64).astype(np.int64))
    digest = hashlib.sha256(json.dumps([*rows.shape, dict(settings)], sort_keys=True).encode())
    digest.update(np.ascontiguousarray(rows.take(numbers)).tobytes())
    return digest.hexdigest()


def _save(folder: Path, key: str, projection: Projection, centres: Array) -> None:
    """Write the clustering whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{CHECKPOINT_FILE}.part"
    try:
        with temporary.open("wb") as file:
            np.savez(file, key=np.array(key), centres=centres, **projection._asdict())
        temporary.replace(folder / CHECKPOINT_FILE)
    finally:
        temporary.unlink(missing_ok=True)


def _load(folder: Path, key: str) -> tuple[Projection, NDArray[np.float32]] | None:
    """The clustering of the same job, or None."""
    path = folder / CHECKPOINT_FILE
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        if str(stored["key"]) != key:
            logger.warning("the checkpoint in %s belongs to other data or settings: it is replaced", folder)
            return None
        projection = Projection(stored["mean"], stored["directions"], float(stored["variance"]))
        return projection, stored["centres"]
