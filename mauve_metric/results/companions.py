"""The company of MAUVE: every measure that `describe` shows beside it, one row each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from mauve_metric.arrays import Floats
from mauve_metric.measures.discriminators import (
    bag_of_words_accuracy,
    bag_of_words_auc,
    discriminator_accuracy,
    discriminator_auc,
)
from mauve_metric.measures.estimate import Estimate

Group = Literal["lexical", "distance", "buckets", "language-model", "discriminator", "duplication"]
Needs = Literal[
    "tokens",  # of one set: f(list of token lists) → number, or one number a text
    "texts",  # of one set: f(list of str) → number, or one number a text
    "features",  # of one set: f((n, d) array) → number
    "likelihoods",  # of one set under a language model: f(Likelihoods) → number, or one number a text
    "prompts",  # of one set with several texts a prompt: f(list of token lists, prompt of each) → number a prompt
    "both texts",  # f(human texts, model texts, seed=…, level=…) → Estimate or number
    "both features",  # f(human features, model features, seed=…, level=…) → Estimate or number
    "both histograms",  # f(Histograms, level=…) → Estimate
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
    # language-model
    # discriminator
    "discriminator_auc": Companion(
        title="Discriminator AUC",
        group="discriminator",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Lopez-Paz & Oquab 2017",
        meaning="how often a classifier on the features ranks a model's text above a human one; 0.5: it cannot tell",
        needs="both features",
        compute=discriminator_auc,
    ),
    "discriminator_accuracy": Companion(
        title="Discriminator accuracy",
        group="discriminator",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Lopez-Paz & Oquab 2017",
        meaning="share of unseen texts that a classifier on the features puts on the right side; 0.5: it cannot tell",
        needs="both features",
        compute=discriminator_accuracy,
        cheap=False,
    ),
    "discriminator_words_auc": Companion(
        title="Bag-of-words AUC",
        group="discriminator",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Ippolito 2021",
        meaning="how often a classifier on word counts ranks a model's text above a human one; 0.5: it cannot tell",
        needs="both texts",
        compute=bag_of_words_auc,
        cheap=False,
    ),
    "discriminator_words_accuracy": Companion(
        title="Bag-of-words accuracy",
        group="discriminator",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Ippolito 2021",
        meaning="share of unseen texts that a classifier on word counts puts on the right side; 0.5: it cannot tell",
        needs="both texts",
        compute=bag_of_words_accuracy,
        cheap=False,
    ),
    # duplication
}
