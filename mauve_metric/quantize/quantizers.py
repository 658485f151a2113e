"""Quantizers by name, as in `MauveConfig.quantizer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from mauve_metric.arrays import FeatureRows, Integers
from mauve_metric.measures.cross_fitting import auto_learned_buckets, buckets_of_ranks, cross_fit, same_rows
from mauve_metric.options import MauveConfig, RunOptions, config_fields, options_of_quantizer, split_options
from mauve_metric.quantize import drmm, kmeans, lattice
from mauve_metric.quantize.histograms import Advance, Quantized, auto_num_buckets
from mauve_metric.runtime.checks import wrong
from mauve_metric.runtime.errors import TooManyBuckets, WrongOption
from mauve_metric.runtime.tensors import ProjectedRows, as_array, is_tensor

MOST_CELLS = 100_000  # each takes a few numbers in every histogram, interval and resampling


class StackedSets(NamedTuple):
    """Origin of stacked rows: the number of the set of each, 0 for P's, and its group if it has one, (n,)."""

    set_of: Integers
    groups: Integers | None = None


class Quantizer(NamedTuple):
    """One way from rows to buckets.

    label: (rows, sets, config, seed, advance) → the bucket of each row. The rows are those of all sets, stacked: an
        array (n, d), or a tensor, which is worked on where it is. sets: where they come from, of use only to a
        quantizer that learns to tell the sets apart. advance: to be called with steps done and in all, or None.
    on: "projected" rows, or the "features" themselves, float32 or float64.
    in_blocks: whether features that do not fit in memory are labelled too, from `FeatureRows`.
    cells: (config, n) → the number of buckets of sets of which the smallest has n texts.
    """

    label: Callable[[ProjectedRows, StackedSets, MauveConfig, int, Advance | None], Quantized]
    on: Literal["projected", "features"]
    cells: Callable[[MauveConfig, int], int]
    in_blocks: bool = True


def _kmeans(
    rows: ProjectedRows, sets: StackedSets, config: MauveConfig, seed: int, advance: Advance | None
) -> Quantized:
    options = options_of_quantizer(config, "kmeans")
    return Quantized(kmeans.kmeans(rows, int(config.num_buckets), seed=seed, **options))


def _kmeans_cells(config: MauveConfig, n: int) -> int:
    return auto_num_buckets(n, n) if config.num_buckets == "auto" else config.num_buckets


def _drmm(rows: ProjectedRows, sets: StackedSets, config: MauveConfig, seed: int, advance: Advance | None) -> Quantized:
    shape = config.drmm_layers, config.drmm_components
    training = drmm.PAPER if config.drmm_preset == "paper" else drmm.SHORT
    return drmm.drmm(rows, *shape, config.drmm_steps, seed, advance, training)


def _drmm_cells(config: MauveConfig, n: int) -> int:
    """K^L; `ValueError` for more than histograms are made of."""
    cells = int(config.drmm_components**config.drmm_layers)
    if cells > MOST_CELLS:
        power = f"{config.drmm_components}^{config.drmm_layers}"
        raise WrongOption(f"drmm_components to the power of drmm_layers must be at most {MOST_CELLS}, got {power}")
    return cells


def _lattice(
    rows: ProjectedRows, sets: StackedSets, config: MauveConfig, seed: int, advance: Advance | None
) -> Quantized:
    training = config.lattice_epochs, config.lattice_hidden, config.lattice_spread
    paper = config.lattice_preset == "paper"
    return lattice.lattice(rows, config.lattice_squared_radius, *training, seed, advance, paper)


def _lattice_cells(config: MauveConfig, n: int) -> int:
    return lattice.num_points(config.lattice_squared_radius)


def _classifier(
    rows: ProjectedRows | FeatureRows, sets: StackedSets, config: MauveConfig, seed: int, advance: Advance | None
) -> Quantized:
    """Buckets of a cross-fitted classifier's scores, from the most human to the most model-like."""
    given = as_array(rows) if is_tensor(rows) else rows
    fitted = cross_fit(given, sets.set_of > 0, same_rows(given, sets.groups), seed=seed)
    return Quantized(buckets_of_ranks(fitted.ranks, int(config.num_buckets)))


def _classifier_cells(config: MauveConfig, n: int) -> int:
    return auto_learned_buckets(n) if config.num_buckets == "auto" else config.num_buckets


QUANTIZERS: dict[str, Quantizer] = {
    "kmeans": Quantizer(_kmeans, "projected", _kmeans_cells),
    "drmm": Quantizer(_drmm, "features", _drmm_cells, in_blocks=False),
    "lattice": Quantizer(_lattice, "features", _lattice_cells, in_blocks=False),
    "classifier": Quantizer(_classifier, "features", _classifier_cells),
}


def scoring_options(given: Mapping[str, object], verb: str = "") -> tuple[MauveConfig, RunOptions]:
    """`split_options`, and a check that the quantizer makes the number of buckets.

    Raises:
        TypeError, ValueError: an option is wrong, or two contradict each other.
    """
    config, run = split_options(given, verb)
    num_buckets_of(config)
    return config, run


def training_of(config: MauveConfig, n: int) -> dict[str, Any]:
    """The options of the training that a preset sets, for n texts in all sets: of those that have their defaults.

    >>> training_of(MauveConfig(drmm_preset="paper", lattice_preset="paper", lattice_hidden=32), 600)
    {'lattice_epochs': 200, 'drmm_steps': 12000}
    >>> [training_of(MauveConfig(), n)["lattice_epochs"] for n in (1000, 5000, 50_000)]
    [50, 20, 10]
    """
    found: dict[str, Any] = {"lattice_epochs": min(max(10, 100_000 // n), 50)}  # about 1600 batches
    if config.drmm_preset == "paper":
        found["drmm_steps"] = drmm.STEPS_A_TEXT * n
    if config.lattice_preset == "paper":
        found |= {"lattice_epochs": lattice.PAPER_EPOCHS, "lattice_hidden": lattice.PAPER_HIDDEN}
    return {name: value for name, value in found.items() if getattr(config, name) == config_fields()[name].default}


def num_buckets_of(config: MauveConfig, *sizes: int) -> int:
    """Number of buckets for sets of these sizes; without sizes only the options are checked.

    Raises:
        ValueError: a number of buckets was asked for that the quantizer does not make.

    >>> num_buckets_of(MauveConfig(), 300, 200), num_buckets_of(MauveConfig(quantizer="drmm"), 300, 200)
    (20, 1000)
    """
    cells = QUANTIZERS[config.quantizer].cells(config, min(sizes, default=1))
    if config.num_buckets not in ("auto", cells):
        known = f"'auto' or left out with quantizer={config.quantizer!r}, which makes {cells}"
        raise wrong("num_buckets", known, config.num_buckets)
    if config.quantizer == "kmeans" and sizes and cells > sum(sizes):
        which = "both" if len(sizes) == 2 else "all"
        most = f"at most the number of texts of {which} sets, {' + '.join(map(str, sizes))}"
        raise wrong("num_buckets", most, cells, TooManyBuckets)
    return cells
