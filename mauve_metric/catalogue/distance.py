"""Distances of features."""

from __future__ import annotations

from functools import partial

from mauve_metric.catalogue.row import Measure
from mauve_metric.measures.clipped import clipped_coverage, clipped_density
from mauve_metric.measures.copying import authenticity, data_copying
from mauve_metric.measures.frechet import frechet_distance, frechet_infinity
from mauve_metric.measures.mmd import mmd, mmd_gaussian
from mauve_metric.measures.sliced_wasserstein import sliced_wasserstein
from mauve_metric.measures.vendi import vendi_score

_row = partial(Measure, group="distance", better="lower", low=0, high=None, needs="both features")
_of_size = partial(_row, sizes_matter=True)
_clipped = partial(_row, better="higher", high=1, paper="Salvy et al. 2025", formula="clipped-density-and-coverage")
_kernel = partial(_row, low=None, formula="kernel-distance", designed=True)

DISTANCE: dict[str, Measure] = {
    "mmd": _kernel(
        title="MMD² (KID kernel)",
        paper="Bińkowski et al. 2018",
        meaning="kernel distance of the features, unbiased, with a permutation test; about 0 if equal",
        trap="often below 0 for equal sets; its scale is that of the featurizer",
        compute=mmd,
    ),
    "mmd_gaussian": _kernel(
        title="MMD² (Gaussian)",
        high=2,
        paper="Gretton et al. 2012",
        meaning="the same with a Gaussian kernel as wide as the median distance; about 0 if equal",
        trap="the width of the kernel comes from the sets: other pairs of sets have another scale",
        compute=mmd_gaussian,
    ),
    "frechet_distance": _of_size(
        title="Fréchet distance",
        paper="Heusel et al. 2017",
        meaning="of Gaussians fitted to the features; too high for few texts",
        trap="compare sets of one size, or take `frechet_infinity`",
        formula="distance-of-gaussians",
        compute=lambda p, q, seed, level: frechet_distance(p, q),
        cheap=False,
        in_result=True,
    ),
    "frechet_infinity": _row(
        title="Fréchet distance, n → ∞",
        low=None,
        paper="Chong and Forsyth 2020",
        meaning="the same extrapolated to infinitely many texts; about 0 if equal",
        trap="still too high below two texts a dimension; may be below 0, and has no interval",
        formula="distance-of-gaussians",
        compute=lambda p, q, seed, level: frechet_infinity(p, q, seed=seed),
        cheap=False,
    ),
    "sliced_wasserstein": _of_size(
        title="sliced Wasserstein-2²",
        paper="Bonneel et al. 2015",
        meaning="how far the features have to move along random directions; too high for few texts",
        trap="above 0 for equal sets; its scale is that of the featurizer",
        formula="sliced-wasserstein-distance",
        compute=lambda p, q, seed, level: sliced_wasserstein(p, q, seed=seed),
    ),
    "clipped_density": _clipped(
        title="clipped density",
        meaning="quality: share of model texts like human ones, whatever the outliers",
        trap="quality alone: one good text many times over has a high one",
        compute=lambda p, q, seed, level: clipped_density(p, q),
    ),
    "clipped_coverage": _clipped(
        title="clipped coverage",
        meaning="coverage: share of good model texts that would cover the human ones as well",
        trap="coverage alone: bad texts beside the good ones do not lower it",
        compute=lambda p, q, seed, level: clipped_coverage(p, q),
    ),
    "vendi": _of_size(
        title="Vendi score",
        better="human",
        low=1,
        paper="Friedman and Dieng 2023",
        meaning="diversity: how many unlike texts the set is worth",
        trap="noise has the highest: variety, not quality",
        formula="vendi-score",
        needs="features",
        compute=vendi_score,
    ),
    "authenticity": _row(
        title="authenticity",
        better="higher",
        high=1,
        paper="Alaa et al. 2022",
        meaning="share of model texts that are no near copies of a training text",
        trap="new human texts have less than 1 too: read it beside theirs",
        formula="copies-of-training-texts",
        needs="three features",
        compute=authenticity,
    ),
    "copying": _of_size(
        title="data copying C_T",
        better="human",
        low=None,
        paper="Meehan et al. 2020",
        meaning="below 0: nearer to the training texts than human texts are; about 0 if not copied",
        trap="copies of a few texts drown among many new ones",
        formula="copies-of-training-texts",
        needs="three features",
        compute=data_copying,
    ),
}
