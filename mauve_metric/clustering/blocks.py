"""Features that do not fit in memory → buckets: one pass for the projection, one for a sample, one for the buckets.

The clustering is that of `kmeans.kmeans`: above 256 rows a bucket it is fitted on a random subset of that size
anyway, so that the result is the in-memory one.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Array, FeatureRows, Integers, Rows
from mauve_metric.clustering import kmeans
from mauve_metric.clustering.checkpoint import (
    CHECKPOINT_FILE,
    Clustering,
    load_clustering,
    save_clustering,
    warn_of_other,
)
from mauve_metric.clustering.nearest_centres import assign
from mauve_metric.clustering.projection import Projection, fit_projection
from mauve_metric.features.array_files import is_sequential
from mauve_metric.features.row_blocks import ArrayRows, OrderedRows
from mauve_metric.options import ResolvedConfig, options_of_quantizer, options_of_stage
from mauve_metric.runtime.outputs import check_can_be_written, make_folder

logger = logging.getLogger(__name__)

Watch = Callable[[str, Iterable[Array], int], Iterator[Array]]


class Run(NamedTuple):
    """One clustering: the numbers of the rows that it is fitted to, in their order, its options, seed and start."""

    order: Integers
    config: ResolvedConfig
    seed: int
    plus_plus: bool | int


class WatchedRows:
    """Rows whose passes are shown by a progress bar, each under the title that was set before.

    With `hashed`, each pass that comes to its end leaves the hash of what it read, which `content` returns.
    """

    def __init__(self, rows: FeatureRows, watch: Watch, hashed: bool) -> None:
        self.rows, self.watch, self.hashed, self.shape = rows, watch, hashed, rows.shape
        self.title = ""
        self._digest: str | None = None

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        self._digest, content = None, RowHash()
        for block in self.watch(self.title, self.rows.blocks(), self.shape[0]):
            if self.hashed:
                content.update(block)
            yield block
        self._digest = content.hexdigest()

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return self.rows.take(numbers)

    def content(self) -> str:
        """The hash of all rows, as the last pass read them; they are read now if no pass came to its end."""
        if not self.hashed:
            raise RuntimeError("rows that are not hashed have no hash of their content")
        if self._digest is None:
            self.title = "reading"
            for _ in self.blocks():
                pass
        return str(self._digest)


class RowHash:
    """The hash of rows that come in blocks, with their type of number."""

    def __init__(self) -> None:
        self._hash, self._dtype = hashlib.sha256(), ""

    def update(self, block: Array) -> None:
        """Add the next rows."""
        if block.dtype.str != self._dtype:
            self._dtype = block.dtype.str
            self._hash.update(self._dtype.encode())
        self._hash.update(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)

    def hexdigest(self) -> str:
        """The hash of all rows so far."""
        return self._hash.hexdigest()


def unwatched(title: str, blocks: Iterable[Array], rows: int) -> Iterator[Array]:
    """No progress bar."""
    return iter(blocks)


def label_rows(
    rows: FeatureRows,
    config: ResolvedConfig,
    runs: Sequence[Run] = (),
    checkpoint: Path | None = None,
    watch: Watch = unwatched,
) -> tuple[list[Integers], Clustering]:
    """The bucket of each row, (n,), for the run of the literature and those by content, and what gave them.

    Args:
        rows: both sets stacked, (n, d).
        runs: those by content.
        checkpoint: a folder in which the finished clustering is kept; a later call with the same data and settings
            goes on from there. All that is read is hashed, so that the clustering of other data is never used.
        watch: wraps each pass over the rows, for a progress bar.

    Raises:
        ValueError: the rows changed between two passes; the checkpoint is another numpy file.
        OSError: there can be no folder of that name.
    """
    watched = WatchedRows(rows, watch, hashed=checkpoint is not None)
    if checkpoint is None:
        made = _fit(watched, config, runs)
        return _labels(watched, made), made
    file = checkpoint / CHECKPOINT_FILE
    settings = [options_of_stage(run_config, "quantize") for run_config in (config, *(run.config for run in runs))]
    fits = [[hashlib.sha256(run.order.tobytes()).hexdigest(), run.seed, int(run.plus_plus)] for run in runs]
    key = json.dumps([*map(int, rows.shape), fits, settings], sort_keys=True)
    if (stored := load_clustering(file, key)) is not None:
        loaded, content = stored
        labels = _labels(watched, loaded)
        if watched.content() == content:
            logger.info("the clustering is taken from %s", file)
            return labels, loaded
        warn_of_other(file)
    make_folder(file.parent)
    check_can_be_written(file)  # before the work
    made = _fit(watched, config, runs)
    content = watched.content()
    save_clustering(file, key, content, made)
    labels = _labels(watched, made)
    if watched.content() != content:
        file.unlink(missing_ok=True)
        raise ValueError("features must stay as they are while they are read: two passes gave different rows")
    return labels, made


def _fit(rows: WatchedRows, config: ResolvedConfig, runs: Sequence[Run]) -> Clustering:
    """The projection, from one pass, and the centres of every run, from a sample each."""
    rows.title = "projection"
    projection = fit_projection(rows, config.kmeans_explained_var, config.pca_max_data, config.seed)
    return fit_centres(rows.rows, projection, config, runs)


def fit_centres(
    rows: FeatureRows, projection: Projection, config: ResolvedConfig, runs: Sequence[Run] = ()
) -> Clustering:
    """The centres of every run, each from a sample of the rows: all, or 256 a bucket at random; see `label_rows`."""
    fits = []
    for run in (Run(np.arange(rows.shape[0]), config, config.seed + 2, plus_plus=False), *runs):
        numbers = kmeans.sample_numbers(len(run.order), run.config.num_buckets, run.seed)
        sample = projected(rows, projection, run.order[numbers])
        options = options_of_quantizer(run.config, "kmeans")
        fits.append(kmeans.fit(sample, run.config.num_buckets, seed=run.seed, plus_plus=run.plus_plus, **options))
    return Clustering(projection, fits)


def projected(rows: FeatureRows, projection: Projection, numbers: Integers) -> Rows:
    """The projected rows with these numbers, read a block at a time, but all at once where each reading is a pass."""
    chosen = OrderedRows(rows, numbers)
    return projection.apply_all(ArrayRows(rows.take(numbers)) if is_sequential(rows) else chosen)


def _labels(rows: WatchedRows, clustering: Clustering) -> list[Integers]:
    """The bucket of each row, (n,), for each run, from one pass."""
    rows.title = "buckets"
    parts: list[list[Integers]] = [[] for _ in clustering.centres]
    for block in rows.blocks():
        projected = clustering.projection.apply(block)
        for part, centres in zip(parts, clustering.centres, strict=True):
            part.append(assign(projected, centres))
    return [np.concatenate(part) for part in parts]
