"""The file in which a finished clustering of many rows is kept, and from which another call goes on."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.clustering.projection import Projection
from mauve_metric.runtime.errors import NotWritten
from mauve_metric.runtime.outputs import written_whole

logger = logging.getLogger(__name__)

CHECKPOINT_FILE = "clustering.npz"
_NAMES = ("key", "content", "mean", "directions", "centres", "sizes")  # its arrays, whose checksums zip files hold


class Clustering(NamedTuple):
    """Content of a checkpoint: the projection of rows, and the centres of each run, (k, r) each."""

    projection: Projection
    centres: Sequence[NDArray[np.float32]]


def save_clustering(file: Path, key: str, content: str, clustering: Clustering) -> None:
    """Write the clustering of the rows with the hash `content`, whole or, with a warning, not at all."""
    mean, directions = clustering.projection
    sizes = np.array([len(centres) for centres in clustering.centres])
    arrays = (key, content, mean, directions, np.concatenate(clustering.centres), sizes)
    stored: dict[str, Any] = dict(zip(_NAMES, arrays, strict=True))
    try:
        with written_whole(file) as temporary, temporary.open("wb") as target:
            np.savez(target, **stored)
    except OSError as error:
        logger.warning("the clustering is not kept: %s", error)


def load_clustering(file: Path, key: str) -> tuple[Clustering, str] | None:
    """The clustering of rows of this shape with these settings (`key`), and the hash of those rows; else None.

    Raises:
        ValueError: the file is a sound one of other arrays, which must not be replaced.
    """
    if not file.is_file():
        return None
    try:
        with np.load(file, allow_pickle=False) as stored:
            is_checkpoint = not set(_NAMES).isdisjoint(stored)
            arrays = [stored[name] for name in _NAMES if is_checkpoint]
    except Exception:  # a truncated or changed file can raise anything
        logger.warning("the checkpoint %s is damaged or of another version: it is replaced", file)
        return None
    if not is_checkpoint:
        raise NotWritten(
            f"{str(file)!r} is a numpy file of something else, which a checkpoint would replace: give another folder"
        )
    found_key, content, mean, directions, centres, sizes = arrays
    if str(found_key) != key:
        warn_of_other(file)
        return None
    runs = np.split(centres, np.cumsum(sizes)[:-1])
    return Clustering(Projection(mean, directions), runs), str(content)


def warn_of_other(file: Path) -> None:
    """Warn that the checkpoint belongs to other rows or settings."""
    logger.warning("the checkpoint %s belongs to other data or settings: it is replaced", file)
