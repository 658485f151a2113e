"""The table of all measures, by name, in the order of tables: MAUVE and its kin here, the others beside this file."""

from __future__ import annotations

from functools import partial

from mauve_metric.catalogue.of_features import DISCRIMINATOR, DISTANCE, ESTIMATORS
from mauve_metric.catalogue.of_texts import DUPLICATION, LANGUAGE_MODEL, LEXICAL
from mauve_metric.catalogue.row import BOTH_HISTOGRAMS, BOTH_SHARES, RESULT, Measure
from mauve_metric.measures.frontier import jensen_shannon
from mauve_metric.uncertainty import divergence_intervals

_row = partial(
    Measure, group="score", inputs=RESULT, in_result=True, better="higher", low=0, high=1, paper="Pillutla et al. 2021"
)
_debiased = partial(_row, formula="the-bias-of-sampling")
_smoothed = partial(_row, formula="smoothing")
_prd = partial(_row, paper="Sajjadi et al. 2018", formula="precision-and-recall-curves")
_neighbours = partial(_row, formula="nearest-neighbours")

SCORE: dict[str, Measure] = {
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
        inputs=BOTH_HISTOGRAMS,
        compute=divergence_intervals.frontier_integral,
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
}

_divergence = partial(
    Measure,
    group="buckets",
    paper="Pillutla et al. 2023",
    inputs=BOTH_HISTOGRAMS,
    formula="other-divergences-of-the-buckets",
    better="lower",
    low=0,
    high=None,
)
_of_size = partial(_divergence, sizes_matter=True)

BUCKETS: dict[str, Measure] = {
    "kl_forward": _of_size(
        title="KL(human‖model)",
        paper="Pimentel et al. 2023",
        meaning="how unlikely human texts are for the model, in nats, debiased with ½ a text a bucket",
        trap="buckets without a model text decide it; half a text there keeps it finite",
        compute=divergence_intervals.kl_forward,
    ),
    "kl_backward": _of_size(
        title="KL(model‖human)",
        paper="Pimentel et al. 2023",
        meaning="how unlikely the model's texts are among human ones, in nats, debiased with ½ a text a bucket",
        trap="buckets without a human text decide it; half a text there keeps it finite",
        compute=divergence_intervals.kl_backward,
    ),
    "kl_exponentiated": _of_size(
        title="exp(-KL/10)",
        better="higher",
        high=1,
        paper="Pimentel et al. 2023",
        meaning="the forward KL brought to one scale with MAUVE",
        trap="high for weak models as well: a KL of 1 nat still has .90",
        compute=divergence_intervals.kl_exponentiated,
    ),
    "chi_square": _of_size(
        title="χ² divergence",
        meaning="Σ(p-q)²/q, debiased with a text a bucket",
        trap="a single bucket with next to no model text can make all of it",
        compute=divergence_intervals.chi_square,
    ),
    "hellinger": _divergence(
        title="squared Hellinger",
        high=2,
        meaning="Σ(√p-√q)², debiased",
        trap="without the factor ½ that some books have: it ends at 2",
        compute=divergence_intervals.hellinger,
    ),
    "total_variation": _of_size(
        title="total variation",
        high=1,
        meaning="share of texts that one set has too many of",
        trap="the bias of sampling is mostly taken off: equal sets stay a little above 0",
        compute=divergence_intervals.total_variation,
    ),
    "le_cam": _divergence(
        title="Le Cam",
        high=1,
        meaning="½Σ(p-q)²/(p+q), debiased",
        trap="grows with the square of small differences: near sets all look alike",
        compute=divergence_intervals.le_cam,
    ),
    "jensen_shannon_debiased": _divergence(
        title="Jensen–Shannon, debiased",
        high=0.6931471805599453,
        paper="Lin 1991",
        meaning="divergence from the even mixture, in nats, without the bias of sampling",
        trap="in nats: divide by ln 2 for bits",
        compute=divergence_intervals.jensen_shannon,
    ),
}

GROUPS = (SCORE, LEXICAL, DISTANCE, BUCKETS, ESTIMATORS, LANGUAGE_MODEL, DISCRIMINATOR, DUPLICATION)
MEASURES: dict[str, Measure] = {name: row for group in GROUPS for name, row in group.items()}
SCORES = {name: row for name, row in MEASURES.items() if row.in_result}
