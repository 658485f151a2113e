"""The one way from features of several sets to buckets: find dependent texts, resolve the options, cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mauve_metric.arrays import Integers
from mauve_metric.clustering.partition import Partition, partition_sets
from mauve_metric.clustering.quantizers import num_buckets_of, quantizer_options
from mauve_metric.features.dependence import paired, with_dependence
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.options import MauveConfig, ResolvedConfig, RunOptions

KNN_AUTO_ROWS = 10_000  # rows per side up to which nearest neighbours take at most two seconds
FEW_TEXTS_FOR_RUNS = 1000  # below, the seed of the clustering moves the score almost as much as sampling does
RUNS_OF_FEW_TEXTS = 5


@dataclass(frozen=True)
class Clustered:
    """Sets in buckets, the human one first: with the groups of texts that are not independent, and without "auto"."""

    sides: Sequence[FeatureSet]
    config: ResolvedConfig
    partition: Partition

    @property
    def groups(self) -> list[Integers | None]:
        """The codes of the groups of the texts of each set."""
        return [side.groups for side in self.sides]

    def pair(self, number: int) -> tuple[FeatureSet, FeatureSet]:
        """The human side and that of the model with this number, from 1, with the groups of their own comparison."""
        return paired(self.sides[0], self.sides[number])


def cluster(
    sides: Sequence[FeatureSet],
    config: MauveConfig,
    run: RunOptions | None = None,
    *,
    clusterings: int | None = None,
    every_row: bool = False,
) -> Clustered:
    """Put the texts of several sets in buckets.

    Args:
        sides: the human one first, of one featurizer. config: may hold "auto". run: has the device and the checkpoint.
        clusterings, every_row: see `partition_sets`.
    """
    sides = with_dependence(sides, config.seed, independent=config.independent)
    resolved = resolve_config(config, *map(len, sides))
    partition = partition_sets(
        [side.features for side in sides],
        resolved,
        run,
        clusterings=clusterings,
        every_row=every_row,
        groups=[side.groups for side in sides],
        keys=[side.row_keys() for side in sides],
    )
    return Clustered(sides, resolved, partition)


def resolve_config(config: MauveConfig, *sizes: int) -> ResolvedConfig:
    """Replace every "auto" and preset in the config by its value for sets of these sizes, P's first."""
    smaller = min(sizes)
    runs = (RUNS_OF_FEW_TEXTS if smaller < FEW_TEXTS_FOR_RUNS else 1) if config.num_runs == "auto" else config.num_runs
    knn = max(sizes) <= KNN_AUTO_ROWS and smaller > config.knn_k if config.knn == "auto" else config.knn
    resolved = {"num_buckets": num_buckets_of(config, *sizes), "num_runs": runs, "knn": knn}
    resolved |= quantizer_options(config, *sizes)
    auto = {name for name in resolved if getattr(config, name) == "auto"} | getattr(config, "auto", set())
    return ResolvedConfig(**vars(config) | resolved | {"auto": frozenset(auto)})
