"""The ways from rows to buckets, by the names that `MauveConfig.quantizer` knows them under."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from mauve_metric.config import MauveConfig
from mauve_metric.quantize import kmeans
from mauve_metric.quantize.histograms import auto_num_buckets
from mauve_metric.quantize.quantized import Advance, Quantized
from mauve_metric.runtime.tensors import ProjectedRows


class Quantizer(NamedTuple):
    """One way from rows to buckets.

    label: (rows, config, seed, advance) → the bucket of each row. The rows are those of all sets, stacked: an array
        (n, d), or a tensor, which is worked on where it is. advance: to be called with steps done and in all, or None.
    on: "projected" rows, or the "features" themselves, float32 or float64.
    cells: (config, n) → the number of buckets of sets of which the smallest has n texts.
    """

    label: Callable[[ProjectedRows, MauveConfig, int, Advance | None], Quantized]
    on: Literal["projected", "features"]
    cells: Callable[[MauveConfig, int], int]


def _kmeans(rows: ProjectedRows, config: MauveConfig, seed: int, advance: Advance | None) -> Quantized:
    redo, iterations = config.kmeans_num_redo, config.kmeans_max_iter
    return Quantized(kmeans.kmeans(rows, int(config.num_buckets), redo, iterations, seed))


def _kmeans_cells(config: MauveConfig, n: int) -> int:
    return auto_num_buckets(n, n) if config.num_buckets == "auto" else config.num_buckets


QUANTIZERS: dict[str, Quantizer] = {
    "kmeans": Quantizer(_kmeans, "projected", _kmeans_cells),
}
