"""The company of MAUVE: every measure that `describe` shows beside it, one row each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from mauve_metric.arrays import Floats
from mauve_metric.measures.estimate import Estimate
from mauve_metric.uncertainty import divergence_intervals

Group = Literal["lexical", "distance", "buckets", "language-model", "discriminator", "duplication"]
Needs = Literal[
    "tokens",  # of one set: f(list of token lists) → number, or one number a text
    "texts",  # of one set: f(list of str) → number, or one number a text
    "features",  # of one set: f((n, d) array) → number
    "likelihoods",  # of one set under a language model: f(Likelihoods) → number, or one number a text
    "prompts",  # of one set with several texts a prompt: f(list of token lists, prompt of each) → number a prompt
    "both texts",  # f(human texts, model texts, seed=…, level=…) → Estimate or number
    "both features",  # f(human features, model features, seed=…, level=…) → Estimate or number
    "both histograms",  # f(human counts, model counts, level=…) → Estimate; texts in each of k common buckets
    "both likelihoods",  # f(human Likelihoods, model Likelihoods, seed=…, level=…) → Estimate or number
]


class Companion(NamedTuple):
    """One row of the table of measures.

    better: "higher" or "lower"; "human": the closer to the human texts' value the better. low, high: the range; None
    where there is no bound. needs: what `compute` takes. A number a text becomes their mean, with an interval from a
    bootstrap over texts; a plain number has none. cheap: computed unless groups are named. sizes_matter: it moves with
    the number of texts, so that only sets of one size compare.
    """

    title: str
    group: Group
    better: Literal["higher", "lower", "human"]
    low: float | None
    high: float | None
    paper: str
    meaning: str
    needs: Needs
    compute: Callable[..., float | Floats | Estimate]
    cheap: bool = True
    sizes_matter: bool = False


COMPANIONS: dict[str, Companion] = {
    # lexical
    # distance
    # buckets
    "kl_forward": Companion(
        "KL(human‖model)",
        "buckets",
        "lower",
        0,
        None,
        "Pimentel et al. 2023",
        "how unlikely human texts are for the model, in nats, debiased with ½ a text a bucket",
        "both histograms",
        divergence_intervals.kl_forward,
        sizes_matter=True,
    ),
    "kl_backward": Companion(
        "KL(model‖human)",
        "buckets",
        "lower",
        0,
        None,
        "Pimentel et al. 2023",
        "how unlikely the model's texts are among human ones, in nats, debiased with ½ a text a bucket",
        "both histograms",
        divergence_intervals.kl_backward,
        sizes_matter=True,
    ),
    "kl_exponentiated": Companion(
        "exp(-KL/10)",
        "buckets",
        "higher",
        0,
        1,
        "Pimentel et al. 2023",
        "the forward KL brought to one scale with MAUVE",
        "both histograms",
        divergence_intervals.kl_exponentiated,
        sizes_matter=True,
    ),
    "chi_square": Companion(
        "χ² divergence",
        "buckets",
        "lower",
        0,
        None,
        "Pillutla et al. 2023",
        "Σ(p-q)²/q, debiased with a text a bucket; led by the buckets that the model hardly fills",
        "both histograms",
        divergence_intervals.chi_square,
        sizes_matter=True,
    ),
    "hellinger": Companion(
        "squared Hellinger",
        "buckets",
        "lower",
        0,
        2,
        "Pillutla et al. 2023",
        "Σ(√p-√q)², debiased",
        "both histograms",
        divergence_intervals.hellinger,
    ),
    "total_variation": Companion(
        "total variation",
        "buckets",
        "lower",
        0,
        1,
        "Pillutla et al. 2023",
        "share of texts that one set has too many of; bias of sampling mostly taken off",
        "both histograms",
        divergence_intervals.total_variation,
        sizes_matter=True,
    ),
    "le_cam": Companion(
        "Le Cam",
        "buckets",
        "lower",
        0,
        1,
        "Pillutla et al. 2023",
        "½Σ(p-q)²/(p+q), debiased",
        "both histograms",
        divergence_intervals.le_cam,
    ),
    "jensen_shannon_debiased": Companion(
        "Jensen–Shannon, debiased",
        "buckets",
        "lower",
        0,
        0.6931471805599453,
        "Lin 1991",
        "divergence from the even mixture, in nats, without the bias of sampling",
        "both histograms",
        divergence_intervals.jensen_shannon,
    ),
    "frontier_integral_debiased": Companion(
        "frontier int., debiased",
        "buckets",
        "lower",
        0,
        1,
        "Liu et al. 2021",
        "average divergence along the frontier, without the bias of sampling",
        "both histograms",
        divergence_intervals.frontier_integral,
    ),
    # language-model
    # discriminator
    # duplication
}
