"""The table of all scores of a result: name, direction, range, paper, meaning, function."""

from __future__ import annotations

from functools import partial

from mauve_metric.measures.frechet import frechet_distance
from mauve_metric.measures.frontier import jensen_shannon
from mauve_metric.measures.measure import BOTH_FEATURES, BOTH_SHARES, RESULT, Measure

_row = partial(
    Measure, group="score", inputs=RESULT, in_result=True, better="higher", low=0, high=1, paper="Pillutla et al. 2021"
)
_debiased = partial(_row, formula="the-bias-of-sampling")
_smoothed = partial(_row, formula="smoothing")
_prd = partial(_row, paper="Sajjadi et al. 2018", formula="precision-and-recall-curves")
_neighbours = partial(_row, formula="nearest-neighbours")

SCORES: dict[str, Measure] = {
    "closeness": _row(
        title="closeness",
        meaning="debiased MAUVE by the sharpest partition at hand; 1: like other human texts",
        trap="differences that no featurizer sees stay hidden, and trivial ones such as layout count in full",
        formula="closeness",
    ),
    "mauve": _row(
        title="MAUVE",
        meaning="area under the divergence curve on the literature's grid",
        trap="equal sets score about .96 at ten texts a bucket, not 1; compares only at one n, k, c and featurizer",
        formula="mauve",
    ),
    "mauve_debiased": _debiased(
        title="by groups",
        meaning="debiased MAUVE, exact area, on groups of similar texts",
        trap="coarse buckets still hide differences",
    ),
    "mauve_finer": _debiased(
        title="by finer groups",
        meaning="debiased MAUVE, exact area, on groups of two or three texts a side, from 50 texts on",
        trap="with few texts its interval is wide",
    ),
    "mauve_classifier": _row(
        title="by classifier",
        meaning="debiased MAUVE by what separates the sets best",
        trap="sees trivial differences first: line breaks or length alone can bring it to the floor",
        formula="learned-buckets",
    ),
    "auc": _row(
        title="classifier AUC",
        better="lower",
        paper="Lopez-Paz & Oquab 2017",
        meaning="how often a model's text scores above a human one; 0.5: not told apart",
        trap="below .5 is no difference: with few texts held-out scores lean to the wrong side",
        formula="learned-buckets",
    ),
    "mauve_star": _smoothed(
        title="MAUVE*",
        paper="Pillutla et al. 2023",
        meaning="MAUVE of histograms smoothed by half a text a bucket",
        trap="moves with the number of buckets, empty ones too, and lifts low scores most",
    ),
    "mauve_exact": _row(
        title="MAUVE, exact area",
        meaning="MAUVE with every mixture weight, no grid",
        trap="differs from `mauve` by up to .001: not the digits that the literature prints",
        formula="the-exact-area",
    ),
    "frontier_integral": _row(
        title="frontier integral",
        better="lower",
        paper="Liu et al. 2021",
        meaning="average divergence along the frontier",
        trap="equal sets have about .03 at ten texts a bucket, not 0",
        formula="frontier-integral-and-mid-point",
    ),
    "frontier_integral_debiased": _debiased(
        title="frontier int., debiased",
        group="buckets",
        better="lower",
        paper="Liu et al. 2021",
        meaning="average divergence along the frontier, without the bias of sampling",
        trap="0 does not mean equal: what is left is clipped there",
    ),
    "frontier_integral_star": _smoothed(
        title="frontier integral*",
        better="lower",
        paper="Liu et al. 2021",
        meaning="frontier integral of smoothed histograms",
        trap="moves with the number of buckets, empty ones too",
    ),
    "jensen_shannon": _row(
        title="Jensen–Shannon",
        better="lower",
        high=0.6931471805599453,
        paper="Lin 1991",
        meaning="divergence from the even mixture, in nats",
        trap="equal sets have about .025 at ten texts a bucket; SciPy's distance is its square root",
        formula="frontier-integral-and-mid-point",
        inputs=BOTH_SHARES,
        compute=jensen_shannon,
    ),
    "precision": _neighbours(
        title="precision (k-NN)",
        paper="Kynkäänniemi et al. 2019",
        meaning="quality: model texts like human ones",
        trap="an outlying human text has a large ball, in which every model text counts as good",
    ),
    "recall": _neighbours(
        title="recall (k-NN)",
        paper="Kynkäänniemi et al. 2019",
        meaning="coverage: human texts like the model's",
        trap="outlying model texts have large balls: noise can lift it",
    ),
    "density": _neighbours(
        title="density (k-NN)",
        high=None,
        paper="Naeem et al. 2020",
        meaning="quality, counting neighbours; about 1 if equal",
        trap="no share: it exceeds 1 where model texts crowd around typical human ones",
    ),
    "coverage": _neighbours(
        title="coverage (k-NN)",
        paper="Naeem et al. 2020",
        meaning="coverage: human texts with a model text close by",
        trap="equal sets have about .94 at k = 4, not 1",
    ),
    "prd_precision": _prd(
        title="PRD precision (F 1/8)",
        meaning="quality, from the buckets",
        trap="a few texts that a model repeats fill buckets of their own, and it looks bad on both sides",
    ),
    "prd_recall": _prd(
        title="PRD recall (F 8)",
        meaning="coverage, from the buckets",
        trap="as for `prd_precision`; only the nearest neighbours then say which side fails",
    ),
    "prd_area": _prd(
        title="PRD area",
        meaning="area under the exact precision-recall curve",
        trap="mixes both sides again: it does not say which one fails",
    ),
    "frechet_distance": Measure(
        title="Fréchet distance",
        group="distance",
        better="lower",
        low=0,
        high=None,
        paper="Heusel et al. 2017",
        meaning="of Gaussians fitted to the features; too high for few texts",
        trap="compare sets of one size, or take `frechet_infinity`",
        formula="distance-of-gaussians",
        inputs=BOTH_FEATURES,
        sizes_matter=True,
        compute=lambda p, q, seed, level: frechet_distance(p, q),
        cheap=False,
        in_result=True,
    ),
}
REGISTRY: dict[str, Measure] = dict(SCORES)  # an app that has measures adds their rows when it is loaded
