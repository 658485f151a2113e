"""The table of all measures, by name, in the order of tables: those of buckets here, the others beside this file."""

from __future__ import annotations

from functools import partial

from mauve_metric.apps.describing.catalogue.of_features import DISCRIMINATOR, DISTANCE, ESTIMATORS
from mauve_metric.apps.describing.catalogue.of_texts import DUPLICATION, LANGUAGE_MODEL, LEXICAL
from mauve_metric.apps.describing.distances import divergence_intervals
from mauve_metric.measures.measure import BOTH_HISTOGRAMS, Measure
from mauve_metric.results.scores import REGISTRY, SCORES

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
    "frontier_integral_debiased": SCORES["frontier_integral_debiased"]._replace(
        inputs=BOTH_HISTOGRAMS, compute=divergence_intervals.frontier_integral
    ),
    "kl_forward": _of_size(
        title="KL(human‖model)",
        paper="Pimentel et al. 2023",
        meaning="how unlikely human texts are for the model, in nats, debiased with ½ a text a bucket",
        trap="buckets without a model text decide it: it is of buckets smoothed by ½ a text; the truth may be infinite",
        compute=divergence_intervals.kl_forward,
    ),
    "kl_backward": _of_size(
        title="KL(model‖human)",
        paper="Pimentel et al. 2023",
        meaning="how unlikely the model's texts are among human ones, in nats, debiased with ½ a text a bucket",
        trap="buckets without a human text decide it: it is of buckets smoothed by ½ a text; the truth may be infinite",
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

_SCORE = {name: row for name, row in SCORES.items() if row.group == "score"}
GROUPS = (_SCORE, LEXICAL, DISTANCE, BUCKETS, ESTIMATORS, LANGUAGE_MODEL, DISCRIMINATOR, DUPLICATION)
MEASURES: dict[str, Measure] = {name: row for group in GROUPS for name, row in group.items()}
REGISTRY.update(MEASURES)
