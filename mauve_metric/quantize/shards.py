"""One file of features → its moments, and the buckets of its rows: the second and third pass of one machine among many.

What is computed is kept in the output folder, under a name that tells of which features it is, and not computed again.
"""

from __future__ import annotations

import hashlib
import logging
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Array, FeatureRows, Integers
from mauve_metric.quantize.blocks import Clustering
from mauve_metric.quantize.moments import Moments, moments_of
from mauve_metric.quantize.nearest_centres import assign
from mauve_metric.runtime.threads import fitting_threads
from mauve_metric.runtime.whole_files import written_whole

logger = logging.getLogger(__name__)

MOMENTS_FOLDER, LABELS_FOLDER = "moments", "labels"
_DAMAGE = (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile, zlib.error)
_NAME_CHARACTERS = 20  # of a hash


class StoredRows(NamedTuple):
    """The features of a shard on the disk, and their hash."""

    rows: FeatureRows
    content: str


class ShardMoments:
    """The moments of one shard after the other, kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / MOMENTS_FOLDER

    @fitting_threads()
    def __call__(self, shard: StoredRows) -> Moments:
        """The moments of a shard's rows; see `moments.moments_of`."""
        width = shard.rows.shape[1] + 1
        file = self.folder / f"{shard.content[:_NAME_CHARACTERS]}.npz"
        return Moments(_kept(file, (3, width, width), lambda: moments_of(shard.rows).products))


class ShardLabels:
    """The buckets of the rows of one shard after the other, kept in a folder."""

    def __init__(self, folder: Path, clustering: Clustering) -> None:
        self.folder, self.clustering = folder / LABELS_FOLDER, clustering
        self.key = clustering_key(clustering)

    @fitting_threads()
    def __call__(self, shard: StoredRows) -> Integers:
        """The bucket of each row for each clustering, (runs, n), as the shortest integers that hold it."""
        runs = len(self.clustering.centres)
        file = self.folder / f"{shard.content[:_NAME_CHARACTERS]}-{self.key}.npz"
        return _kept(file, (runs, shard.rows.shape[0]), lambda: labels_of(shard.rows, self.clustering))

    def counts(self, shard: StoredRows) -> Integers:
        """How many rows of a shard fall into each bucket, (runs, k); the sum over shards is the whole set's."""
        buckets = self.clustering.centres.shape[1]
        return np.stack([np.bincount(labels, minlength=buckets) for labels in self(shard)]).astype(np.int64)


def labels_of(rows: FeatureRows, clustering: Clustering) -> Integers:
    """The bucket of each row for each clustering, (runs, n), from one pass."""
    kind = np.min_scalar_type(clustering.centres.shape[1])
    labels = np.empty((len(clustering.centres), rows.shape[0]), dtype=kind)
    start = 0
    for block in rows.blocks():
        projected = clustering.projection.apply(block)
        for run, centres in enumerate(clustering.centres):
            labels[run, start : start + len(block)] = assign(projected, centres)
        start += len(block)
    return labels


def clustering_key(clustering: Clustering) -> str:
    """A hash of what decides the buckets."""
    digest = hashlib.sha256()
    for array in (clustering.projection.mean, clustering.projection.directions, clustering.centres):
        digest.update(f"{array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:_NAME_CHARACTERS]


def _kept(file: Path, shape: tuple[int, ...], make: Callable[[], Array]) -> Array:
    """An array from a file, if it is there, whole (a zip file knows its checksum) and of this shape; else made."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            array: Array = stored["array"]
        if array.shape == shape:
            return array
        logger.warning("%s is made again: it has another shape", file)
    except FileNotFoundError:
        logger.debug("%s is made", file)
    except _DAMAGE as error:
        logger.warning("%s is made again: it is damaged (%s)", file, error)
    array = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as temporary, temporary.open("wb") as target:
        np.savez(target, array=array)
    return array
