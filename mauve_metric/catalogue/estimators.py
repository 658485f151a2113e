"""MAUVE by other estimators than the histograms of k-means."""

from __future__ import annotations

from functools import partial

from mauve_metric.catalogue.row import Measure
from mauve_metric.quantize.without_buckets import mauve_without_buckets

_row = partial(
    Measure,
    group="estimators",
    better="higher",
    low=0.0,
    high=1.0,
    paper="Pillutla et al. 2023",
    trap="compares with itself only, not with MAUVE of buckets; no interval",
    formula="mauve-without-buckets",
    needs="both features",
    cheap=False,
)

ESTIMATORS: dict[str, Measure] = {
    "mauve_neighbours": _row(
        title="MAUVE by neighbours",
        meaning="from the sides of each text's nearest neighbours; too high in many dimensions",
        compute=partial(mauve_without_buckets, estimator="neighbours"),
    ),
    "mauve_logistic": _row(
        title="MAUVE by a classifier",
        meaning="from a cross-fitted logistic regression; blind to all but mean and variance",
        compute=partial(mauve_without_buckets, estimator="classifier"),
    ),
    "mauve_gaussian": _row(
        title="MAUVE by Gaussians",
        meaning="from two Gaussians fitted to the features; needs the fewest texts, and is as blind",
        compute=partial(mauve_without_buckets, estimator="gaussian"),
    ),
}
