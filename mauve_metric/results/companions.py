"""The company of MAUVE: every measure that `describe` shows beside it, one row each."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from mauve_metric.arrays import Floats
from mauve_metric.features.likelihood_measures import (
    discriminator_ranks,
    discriminator_total_probability,
    epsilon_perplexity,
    generation_perplexity,
    mean_log_probability,
    rank_share,
    rep,
    sparsemax_score,
    token_jensen_shannon,
    wrep,
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
    "generation_perplexity": Companion(
        "Perplexity",
        "language-model",
        "human",
        1.0,
        None,
        "Pillutla et al. 2021, §4",
        "how surprised a language model is by the texts, over the tokens that it predicts",
        "likelihoods",
        generation_perplexity,
        cheap=False,
    ),
    "epsilon_perplexity": Companion(
        "ε-perplexity",
        "language-model",
        "human",
        1.0,
        None,
        "Martins et al. 2020, §4.3",
        "perplexity with every probability raised by ε = 1e-5",
        "likelihoods",
        epsilon_perplexity,
        cheap=False,
    ),
    "log_probability": Companion(
        "Log-probability",
        "language-model",
        "human",
        None,
        0.0,
        "Solaiman et al. 2019",
        "mean log-probability of a text's tokens, each text weighing the same",
        "likelihoods",
        mean_log_probability,
        cheap=False,
    ),
    "sparsemax_score": Companion(
        "Sparsemax score",
        "language-model",
        "human",
        0.0,
        1.0,
        "Martins et al. 2020, §4.3",
        "how much of a language model's probability lies on the tokens that came",
        "likelihoods",
        sparsemax_score,
        cheap=False,
    ),
    "token_jensen_shannon": Companion(
        "Token Jensen–Shannon",
        "language-model",
        "human",
        0.0,
        math.log(2),
        "Martins et al. 2020, §4.3",
        "divergence of a language model's distribution from the token that came",
        "likelihoods",
        token_jensen_shannon,
        cheap=False,
    ),
    "rep": Companion(
        "rep-64",
        "language-model",
        "human",
        0.0,
        1.0,
        "Welleck et al. 2020, §6",
        "share of tokens for which the first choice of a language model stands among the 64 before",
        "likelihoods",
        rep,
        cheap=False,
    ),
    "wrep": Companion(
        "wrep-64",
        "language-model",
        "human",
        0.0,
        1.0,
        "Welleck et al. 2020, §6",
        "the same where that choice is not the token that came",
        "likelihoods",
        wrep,
        cheap=False,
    ),
    "rank_1": Companion(
        "Rank 1",
        "language-model",
        "human",
        0.0,
        1.0,
        "Gehrmann et al. 2019, §3",
        "share of tokens that are the first choice of a language model",
        "likelihoods",
        partial(rank_share, low=1, high=1),
        cheap=False,
    ),
    "rank_2_5": Companion(
        "Rank 2–5",
        "language-model",
        "human",
        0.0,
        1.0,
        "Gehrmann et al. 2019, §3",
        "share of tokens among its first five choices, but not the first",
        "likelihoods",
        partial(rank_share, low=2, high=5),
        cheap=False,
    ),
    "rank_6_100": Companion(
        "Rank 6–100",
        "language-model",
        "human",
        0.0,
        1.0,
        "Gehrmann et al. 2019, §3",
        "share of tokens among its first hundred choices, but not the first five",
        "likelihoods",
        partial(rank_share, low=6, high=100),
        cheap=False,
    ),
    "rank_above_100": Companion(
        "Rank above 100",
        "language-model",
        "human",
        0.0,
        1.0,
        "Gehrmann et al. 2019, §3",
        "share of tokens that are not among its first hundred choices",
        "likelihoods",
        partial(rank_share, low=101, high=None),
        cheap=False,
    ),
    # discriminator
    "discriminator_ranks": Companion(
        "Accuracy from ranks",
        "discriminator",
        "lower",
        0.0,
        1.0,
        "Gehrmann et al. 2019, §3; Ippolito 2021, §3.4",
        "share of unseen texts told apart by how likely a language model finds their tokens; 0.5: not at all",
        "both likelihoods",
        discriminator_ranks,
        cheap=False,
    ),
    "discriminator_total_probability": Companion(
        "Accuracy from total probability",
        "discriminator",
        "lower",
        0.0,
        1.0,
        "Solaiman et al. 2019",
        "share of unseen texts told apart by their total probability, and so by their length too; 0.5: not at all",
        "both likelihoods",
        discriminator_total_probability,
        cheap=False,
    ),
    # duplication
}
