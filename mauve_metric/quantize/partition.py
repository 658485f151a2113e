"""Features of several sets → the buckets of their texts, on one common partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Labels
from mauve_metric.config import MauveConfig
from mauve_metric.features import rows
from mauve_metric.features.reference import Reference
from mauve_metric.features.rows import ArrayRows, ConcatenatedRows, as_rows
from mauve_metric.options import RunOptions
from mauve_metric.quantize import blocks, kmeans, projection
from mauve_metric.runtime import tensors
from mauve_metric.runtime.progress import watch_blocks


@dataclass(frozen=True)
class CommonPartition:
    """What the features of P, the first set, and of the models were projected and clustered to.

    rows: projected, one array (n_i, r) a set. labels: for each clustering one array (n_i,) of buckets a set.
    """

    rows: Sequence[NDArray[np.float32]]
    labels: Sequence[Sequence[NDArray[np.int64]]]


def common_partition(
    p: Reference, models: Sequence[Reference], config: MauveConfig, *, two: bool = False
) -> CommonPartition:
    """Project and cluster all sets together.

    Args:
        p, models: checked sides. config: without "auto".
        two: at least two clusterings, as explanations need them.
    """
    p_first = config.row_order == "pq"
    ordered = [p, *models] if p_first else [*models, p]
    projected = project_together([side.features for side in ordered], config)
    runs = cluster_runs(projected, config)
    if two and len(runs) == 1:
        runs.append(cluster(projected, config, 1))
    return CommonPartition(_by_set(projected, ordered, p_first), [_by_set(labels, ordered, p_first) for labels in runs])


def _by_set(values: NDArray[Any], ordered: Sequence[Reference], p_first: bool) -> list[NDArray[Any]]:
    """Stacked values as one array for each set, P's first."""
    parts = np.split(values, np.cumsum([len(side) for side in ordered])[:-1])
    return parts if p_first else [parts[-1], *parts[:-1]]


KNN_MOST_ROWS = 20_000  # above, so many random rows a side, drawn by the seed; the time grows with the square


class ProjectedPair(NamedTuple):
    """The projected rows of both sides in the configured order, and how to take them apart again."""

    projected: Any
    num_first: int
    p_first: bool

    def split(self, values: Any) -> tuple[Any, Any]:
        """The part of P and the part of Q."""
        first, second = values[: self.num_first], values[self.num_first :]
        return (first, second) if self.p_first else (second, first)


def project_pair(p: Reference, q: Reference, config: MauveConfig, device: Any = None) -> ProjectedPair:
    """The rows of both sides, projected together; on a torch device if one is given."""
    p_first = config.row_order == "pq"
    first, second = (p.features, q.features) if p_first else (q.features, p.features)
    if device is None:
        return ProjectedPair(project_together([first, second], config), first.shape[0], p_first)
    rows = tensors.stacked([first, second], device)
    projected = projection.project(rows, config.kmeans_explained_var, config.pca_max_data, config.seed)
    return ProjectedPair(projected, first.shape[0], p_first)


def label_large(
    p: Reference, q: Reference, config: MauveConfig, run: RunOptions
) -> tuple[list[tuple[Labels, Labels]], tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """The buckets of every run, and the projected rows that nearest neighbours are looked for among, (0, r) if none."""
    p_first = config.row_order == "pq"
    ordered = [rows.as_rows(side.features) for side in ((p, q) if p_first else (q, p))]
    labels, projection = blocks.label_rows(
        ConcatenatedRows(ordered),
        num_buckets=int(config.num_buckets),
        explained_variance=config.kmeans_explained_var,
        pca_max_data=config.pca_max_data,
        num_redo=config.kmeans_num_redo,
        max_iter=config.kmeans_max_iter,
        seed=config.seed,
        num_runs=int(config.num_runs),
        checkpoint=None if run.checkpoint is None else Path(run.checkpoint),
        watch=watch_blocks if run.verbose else blocks.unwatched,
    )
    n_first = ordered[0].shape[0]
    split = [(item[:n_first], item[n_first:]) for item in labels]
    runs = split if p_first else [(second, first) for first, second in split]
    most = KNN_MOST_ROWS if config.knn else 0
    some = (ArrayRows(rows.some_rows(side.features, most, config.seed)) for side in (p, q))
    p_rows, q_rows = map(projection.apply_all, some)
    return runs, (p_rows, q_rows)


def project_together(sets: Sequence[Any], config: MauveConfig) -> NDArray[np.float32]:
    """The rows of all sets, stacked in this order and projected: arrays (n_i, d) → (Σ n_i, r)."""
    rows = ConcatenatedRows([as_rows(features) for features in sets])
    projected: NDArray[np.float32] = projection.project(
        rows, config.kmeans_explained_var, config.pca_max_data, config.seed
    )
    return projected


def cluster(projected: Any, config: MauveConfig, offset: int = 0) -> Labels:
    """The bucket of each row; `offset` is added to the seed."""
    return kmeans.kmeans(
        projected, int(config.num_buckets), config.kmeans_num_redo, config.kmeans_max_iter, config.seed + offset
    )


def cluster_runs(projected: Any, config: MauveConfig) -> list[Labels]:
    """The bucket of each row for `num_runs` seeds, one after the other."""
    return [cluster(projected, config, offset) for offset in range(int(config.num_runs))]
