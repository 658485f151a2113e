"""What each score is: its name for people, which direction is better, its range, its paper, what computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from mauve_metric.arrays import Array, Floats
from mauve_metric.measures.frechet import frechet_distance
from mauve_metric.measures.frontier import jensen_shannon


class Score(NamedTuple):
    """One row of the table of scores.

    better: "higher" or "lower". low, high: the range; None where there is no bound.
    of_histograms: what computes it from p and q, (k,) each. of_features: from the features of both sides, (n, d) each;
    where `MauveConfig` has a field of its name, only on request. Scores without either come out of `score.py`.
    trap: how it misleads.
    """

    title: str
    better: Literal["higher", "lower"]
    low: float | None
    high: float | None
    paper: str
    meaning: str
    of_histograms: Callable[[Floats, Floats], float] | None = None
    of_features: Callable[[Array, Array], float] | None = None
    trap: str = ""


_PILLUTLA = "Pillutla et al. 2021"
_LIU = "Liu et al. 2021"
_SAJJADI = "Sajjadi et al. 2018"
_KYNKAANNIEMI = "Kynkäänniemi et al. 2019"
_NAEEM = "Naeem et al. 2020"

SCORES: dict[str, Score] = {
    "mauve": Score(
        "MAUVE",
        "higher",
        0,
        1,
        _PILLUTLA,
        "area under the divergence curve on the literature's grid",
        trap="equal sets score about .96 at ten texts a bucket, not 1; it compares only at one n, k, c and featurizer",
    ),
    "mauve_debiased": Score(
        "MAUVE, debiased",
        "higher",
        0,
        1,
        _PILLUTLA,
        "exact area without the bias of sampling",
        trap="takes off the bias of sampling, not that of the buckets: coarse ones still hide differences",
    ),
    "mauve_classifier": Score(
        "MAUVE, learned buckets",
        "higher",
        0,
        1,
        _PILLUTLA,
        "debiased MAUVE by what separates the sets best",
        trap="sees trivial differences first: line breaks or length alone can bring it to the floor",
    ),
    "auc": Score(
        "classifier AUC",
        "lower",
        0,
        1,
        "Lopez-Paz & Oquab 2017",
        "how often a model's text scores above a human one; 0.5: not told apart",
        trap="below .5 is no difference: with few texts held-out scores lean to the wrong side",
    ),
    "mauve_star": Score(
        "MAUVE*",
        "higher",
        0,
        1,
        "Pillutla et al. 2023",
        "MAUVE of histograms smoothed by half a text a bucket",
        trap="moves with the number of buckets, empty ones too, and lifts low scores most",
    ),
    "mauve_exact": Score(
        "MAUVE, exact area",
        "higher",
        0,
        1,
        _PILLUTLA,
        "MAUVE with every mixture weight, no grid",
        trap="differs from `mauve` by up to .001: not the digits that the literature prints",
    ),
    "frontier_integral": Score(
        "frontier integral",
        "lower",
        0,
        1,
        _LIU,
        "average divergence along the frontier",
        trap="equal sets have about .03 at ten texts a bucket, not 0",
    ),
    "frontier_integral_debiased": Score(
        "frontier int., debiased",
        "lower",
        0,
        1,
        _LIU,
        "frontier integral without the bias of sampling",
        trap="0 does not mean equal: what is left after the bias is taken off is clipped there",
    ),
    "frontier_integral_star": Score(
        "frontier integral*",
        "lower",
        0,
        1,
        _LIU,
        "frontier integral of smoothed histograms",
        trap="moves with the number of buckets, empty ones too",
    ),
    "jensen_shannon": Score(
        "Jensen–Shannon",
        "lower",
        0,
        0.6931471805599453,
        "Lin 1991",
        "divergence from the even mixture, in nats",
        of_histograms=jensen_shannon,
        trap="in nats; equal sets have about .025 at ten texts a bucket; SciPy's distance is its square root",
    ),
    "precision": Score(
        "precision (k-NN)",
        "higher",
        0,
        1,
        _KYNKAANNIEMI,
        "quality: model texts like human ones",
        trap="an outlying human text has a large ball, and every model text in it counts as good",
    ),
    "recall": Score(
        "recall (k-NN)",
        "higher",
        0,
        1,
        _KYNKAANNIEMI,
        "coverage: human texts like the model's",
        trap="outlying model texts have large balls: noise can lift it",
    ),
    "density": Score(
        "density (k-NN)",
        "higher",
        0,
        None,
        _NAEEM,
        "quality, counting neighbours; about 1 if equal",
        trap="no share: it exceeds 1 where model texts crowd around typical human ones",
    ),
    "coverage": Score(
        "coverage (k-NN)",
        "higher",
        0,
        1,
        _NAEEM,
        "coverage: human texts with a model text close by",
        trap="equal sets have about .94 at k = 4, not 1",
    ),
    "prd_precision": Score(
        "PRD precision (F 1/8)",
        "higher",
        0,
        1,
        _SAJJADI,
        "quality, from the buckets",
        trap="a model that repeats a few texts gets buckets of its own for them, and looks bad on both sides",
    ),
    "prd_recall": Score(
        "PRD recall (F 8)",
        "higher",
        0,
        1,
        _SAJJADI,
        "coverage, from the buckets",
        trap="as for `prd_precision`; only the nearest neighbours then say which side fails",
    ),
    "prd_area": Score(
        "PRD area",
        "higher",
        0,
        1,
        _SAJJADI,
        "area under the exact precision-recall curve",
        trap="mixes both sides again: it does not say which one fails",
    ),
    "frechet_distance": Score(
        "Fréchet distance",
        "lower",
        0,
        None,
        "Heusel et al. 2017",
        "of Gaussians fitted to the features",
        of_features=frechet_distance,
        trap="far too high for few texts in many dimensions: compare sets of one size, or `frechet_infinity`",
    ),
}
