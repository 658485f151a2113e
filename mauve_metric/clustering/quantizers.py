"""Quantizers by name, as in `MauveConfig.quantizer`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from mauve_metric.arrays import FeatureRows, Integers
from mauve_metric.clustering import drmm, kmeans, lattice
from mauve_metric.clustering.histograms import Advance, Quantized
from mauve_metric.clustering.num_buckets import auto_learned_buckets, auto_num_buckets
from mauve_metric.measures.cross_fitting import buckets_of_ranks, cross_fit, same_rows
from mauve_metric.options import (
    MauveConfig,
    ResolvedConfig,
    RunOptions,
    config_fields,
    name_ignored,
    options_of_quantizer,
    split_options,
)
from mauve_metric.runtime.checks import wrong
from mauve_metric.runtime.errors import TooManyBuckets, WrongOption
from mauve_metric.runtime.tensors import ProjectedRows, as_array, is_tensor

MOST_CELLS = 100_000  # each takes a few numbers in every histogram, interval and resampling


class StackedSets(NamedTuple):
    """For each stacked row, (n,): its set index (0 = P), and its group code; None: each row is alone."""

    set_of: Integers
    groups: Integers | None = None

    def take(self, numbers: Integers) -> StackedSets:
        """The same of the rows with these numbers, in this order."""
        return StackedSets(self.set_of[numbers], None if self.groups is None else self.groups[numbers])


Label: TypeAlias = Callable[[ProjectedRows, StackedSets, ResolvedConfig, int, Advance | None], Quantized]
LabelBlocks: TypeAlias = Callable[[FeatureRows, StackedSets, ResolvedConfig, int, Advance | None], Quantized]


class Quantizer(NamedTuple):
    """One way from rows to buckets.

    label: (rows, sets, config, seed, advance) → the bucket of each row. The rows are those of all sets, stacked: an
        array (n, d), or a tensor, which is worked on where it is. sets: where they come from, of use only to a
        quantizer that learns to tell the sets apart. advance: to be called with steps done and in all, or None.
    on: "projected" rows, or the "features" themselves, float32 or float64.
    cells: (config, n) → the number of buckets of sets of which the smallest has n texts.
    by_content: `label` for rows in their order by content, whose clusterings need not be those of the literature.
    in_blocks: `label` for "features" that do not fit in memory; None: they are an error.
    in_one_format: whether features in several number formats are rounded to the shortest (`row_blocks.in_one_format`).
    """

    label: Label
    on: Literal["projected", "features"]
    cells: Callable[[MauveConfig, int], int]
    by_content: Label | None = None
    in_blocks: LabelBlocks | None = None
    in_one_format: bool = False


def _kmeans(
    rows: ProjectedRows,
    sets: StackedSets,
    config: ResolvedConfig,
    seed: int,
    advance: Advance | None,
    plus_plus: bool = False,
) -> Quantized:
    options = options_of_quantizer(config, "kmeans")
    return Quantized(kmeans.kmeans(rows, config.num_buckets, seed=seed, plus_plus=plus_plus, **options))


def _kmeans_cells(config: MauveConfig, n: int) -> int:
    return auto_num_buckets(n, n) if config.num_buckets == "auto" else config.num_buckets


def _drmm(
    rows: ProjectedRows, sets: StackedSets, config: ResolvedConfig, seed: int, advance: Advance | None
) -> Quantized:
    training = drmm.PAPER if config.drmm_preset == "paper" else drmm.SHORT
    return drmm.drmm(rows, config.drmm_layers, config.drmm_components, config.drmm_steps, seed, advance, training)


def _drmm_shape(config: MauveConfig, n: int) -> tuple[int, int]:
    """L and K: those given, of a paper's preset those of the paper, else for about ten texts a bucket."""
    usual: tuple[int | None, int | None] = (None, None)
    if config.drmm_preset == "paper":
        usual = drmm.PAPER_LAYERS, drmm.PAPER_COMPONENTS
    layers = usual[0] if config.drmm_layers == "auto" else config.drmm_layers
    components = usual[1] if config.drmm_components == "auto" else config.drmm_components
    return drmm.shape_near(_wanted_cells(config, "drmm", n), layers, components)


def _wanted_cells(config: MauveConfig, quantizer: str, n: int) -> int:
    """The number of buckets that is given for a quantizer, else about a tenth of the smaller set's n texts."""
    num_buckets = config.num_buckets if config.quantizer == quantizer else "auto"
    return min(auto_num_buckets(n, n) if num_buckets == "auto" else num_buckets, MOST_CELLS)


def _drmm_cells(config: MauveConfig, n: int) -> int:
    """K^L; `ValueError` for more than histograms are made of."""
    layers, components = _drmm_shape(config, n)
    if components**layers > MOST_CELLS:
        power = f"{components}^{layers}"
        raise WrongOption(f"drmm_components to the power of drmm_layers must be at most {MOST_CELLS}, got {power}")
    return int(components**layers)


def _lattice(
    rows: ProjectedRows, sets: StackedSets, config: ResolvedConfig, seed: int, advance: Advance | None
) -> Quantized:
    training = config.lattice_epochs, config.lattice_hidden, config.lattice_spread
    paper = config.lattice_preset == "paper"
    return lattice.lattice(rows, config.lattice_squared_radius, *training, seed, advance, paper)


def _lattice_squared_radius(config: MauveConfig, n: int) -> int:
    """The one given, of the paper's preset that of the paper, else for about ten texts a bucket."""
    if config.lattice_squared_radius != "auto":
        return config.lattice_squared_radius
    if config.lattice_preset == "paper":
        return lattice.PAPER_SQUARED_RADIUS
    return lattice.squared_radius_near(_wanted_cells(config, "lattice", n))


def _lattice_cells(config: MauveConfig, n: int) -> int:
    return lattice.num_points(_lattice_squared_radius(config, n))


def _classifier(
    rows: ProjectedRows | FeatureRows, sets: StackedSets, config: ResolvedConfig, seed: int, advance: Advance | None
) -> Quantized:
    """Buckets of a cross-fitted classifier's scores, from the most human to the most model-like."""
    features = as_array(rows) if is_tensor(rows) else rows
    fitted = cross_fit(features, sets.set_of > 0, same_rows(features, sets.groups), seed=seed, stacked=True)
    return Quantized(buckets_of_ranks(fitted.ranks, config.num_buckets))


def _classifier_cells(config: MauveConfig, n: int) -> int:
    return auto_learned_buckets(n) if config.num_buckets == "auto" else config.num_buckets


QUANTIZERS: dict[str, Quantizer] = {
    "kmeans": Quantizer(_kmeans, "projected", _kmeans_cells, by_content=partial(_kmeans, plus_plus=True)),
    "drmm": Quantizer(_drmm, "features", _drmm_cells),
    "lattice": Quantizer(_lattice, "features", _lattice_cells),
    "classifier": Quantizer(_classifier, "features", _classifier_cells, in_blocks=_classifier, in_one_format=True),
}


def scoring_options(keywords: Mapping[str, object], verb: str = "") -> tuple[MauveConfig, RunOptions]:
    """`split_options`, a check that the quantizer makes the number of buckets, and a warning of options of another one.

    Raises:
        TypeError, ValueError: an option is wrong, or two contradict each other.
    """
    config, run = split_options(keywords, verb)
    num_buckets_of(config)
    if verb != "robustness":  # which varies the quantizer
        read = (None, "kmeans", config.quantizer)  # closeness has groups by k-means
        others = [name for name, option in config_fields().items() if option.metadata["of"] not in read]
        name_ignored(f"quantizer {config.quantizer}", {name: keywords[name] for name in others if name in keywords})
    return config, run


def quantizer_options(config: MauveConfig, *sizes: int) -> dict[str, Any]:
    """The values of options of quantizers that are "auto", from the sizes of the sets or a preset.

    >>> quantizer_options(MauveConfig(drmm_preset="paper", lattice_preset="paper", lattice_hidden=256), 300, 300)
    ... # doctest: +NORMALIZE_WHITESPACE
    {'kmeans_num_redo': 5, 'drmm_layers': 3, 'drmm_components': 10, 'drmm_steps': 12000,
     'lattice_squared_radius': 50, 'lattice_epochs': 200}
    >>> [quantizer_options(MauveConfig(), n, n)["lattice_epochs"] for n in (500, 2500, 25_000)]
    [50, 20, 10]
    """
    n = sum(sizes)
    layers, components = _drmm_shape(config, min(sizes))
    of_paper = config.lattice_preset == "paper"
    options: dict[str, Any] = {
        "kmeans_num_redo": config_fields()["kmeans_num_redo"].metadata["usual"],
        "drmm_layers": layers,
        "drmm_components": components,
        "drmm_steps": drmm.STEPS_A_TEXT * n if config.drmm_preset == "paper" else drmm.SHORT_STEPS,
        "lattice_squared_radius": _lattice_squared_radius(config, min(sizes)),
        "lattice_epochs": lattice.PAPER_EPOCHS if of_paper else min(max(10, 100_000 // n), 50),  # about 1600 batches
        "lattice_hidden": lattice.PAPER_HIDDEN if of_paper else lattice.SHORT_HIDDEN,
    }
    return {name: value for name, value in options.items() if getattr(config, name) == "auto"}


def num_buckets_of(config: MauveConfig, *sizes: int) -> int:
    """Number of buckets for sets of these sizes; without sizes only options that do not depend on them are checked.

    Raises:
        ValueError: a number of buckets was asked for that the quantizer does not make.

    >>> [num_buckets_of(MauveConfig(quantizer=name), 300, 200) for name in ("kmeans", "drmm", "lattice")]
    [20, 16, 24]
    >>> num_buckets_of(MauveConfig(quantizer="drmm", drmm_preset="paper"), 300, 200)
    1000
    """
    cells = QUANTIZERS[config.quantizer].cells(config, min(sizes, default=1))
    if config.num_buckets not in ("auto", cells):
        expected = f"'auto' or left out with quantizer={config.quantizer!r}, which makes {cells}"
        raise wrong("num_buckets", expected, config.num_buckets)
    if config.quantizer == "kmeans" and sizes and cells > sum(sizes):
        which = "both" if len(sizes) == 2 else "all"
        most = f"at most the number of texts of {which} sets, {' + '.join(map(str, sizes))}"
        raise wrong("num_buckets", most, cells, TooManyBuckets)
    return cells
