"""MAUVE by other estimators than the histograms of k-means."""

from __future__ import annotations

from functools import partial

from mauve_metric.catalogue.row import Measure
from mauve_metric.quantize.without_buckets import mauve_without_buckets

_PAPER = "Pillutla et al. 2023"

ESTIMATORS: dict[str, Measure] = {
    f"mauve_{name}": Measure(
        title=f"MAUVE by {shown}",
        group="estimators",
        better="higher",
        low=0.0,
        high=1.0,
        paper=_PAPER,
        meaning=meaning,
        needs="both features",
        compute=partial(mauve_without_buckets, estimator=name),
        cheap=False,
        trap="compares with itself only, not with MAUVE of buckets; there is no interval",
    )
    for name, shown, meaning in (
        ("neighbours", "neighbours", "from the sides of each text's nearest neighbours; too high in many dimensions"),
        (
            "classifier",
            "a classifier",
            "from a cross-fitted logistic regression; blind to all but mean and variance",
        ),
        ("gaussian", "Gaussians", "from two Gaussians fitted to the features; needs the fewest texts, and is as blind"),
    )
}
