"""The company of MAUVE: every measure that `describe` shows beside it, one row each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from mauve_metric.arrays import Floats
from mauve_metric.measures.clipped import clipped_coverage, clipped_density
from mauve_metric.measures.copied_text import copied_substrings, near_duplicates_across
from mauve_metric.measures.copying import authenticity, data_copying
from mauve_metric.measures.discriminators import (
    bag_of_words_accuracy,
    bag_of_words_auc,
    discriminator_accuracy,
    discriminator_auc,
)
from mauve_metric.measures.estimate import Estimate
from mauve_metric.measures.frechet import frechet_distance, frechet_infinity
from mauve_metric.measures.mmd import mmd, mmd_gaussian
from mauve_metric.measures.sliced_wasserstein import sliced_wasserstein
from mauve_metric.measures.vendi import vendi_score
from mauve_metric.texts.compression import compression_ratio
from mauve_metric.texts.distinct import distinct_n, distinct_n_once, distinct_n_per_text, entropy_n, lengths
from mauve_metric.texts.near_duplicates import near_duplicates
from mauve_metric.texts.ngram_similarity import prompt_distinct, prompt_diversity, vendi_ngrams
from mauve_metric.texts.repeated_substrings import repeated_substrings
from mauve_metric.texts.repetition import MAX_PHRASE_OF_MAUVE, ends_repeating
from mauve_metric.texts.self_bleu import self_bleu, self_repetition
from mauve_metric.texts.zipf import zipf_coefficient
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
    "three features",  # f(human, model, training features, seed=…, level=…) → Estimate or number
    "both histograms",  # f(human counts, model counts, level=…) → Estimate
    "both likelihoods",  # f(human Likelihoods, model Likelihoods, seed=…, level=…) → Estimate or number
]


class Companion(NamedTuple):
    """One row of the table of measures.

    better: "higher" or "lower"; "human": the closer to the human texts' value the better. low, high: the range; None
    where there is no bound. needs: what `compute` takes. A number a text becomes their mean, with an interval from a
    bootstrap over texts; a plain number has none. cheap: computed unless groups are named. sizes_matter: it moves with
    the number of texts, so that only sets of one size compare. grouped: `compute` takes `p_groups` and `q_groups`, what
    each text was written from.
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
    grouped: bool = False


COMPANIONS: dict[str, Companion] = {
    # lexical
    "distinct_1": Companion(
        title="Distinct-1",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Li et al. 2016",
        meaning="distinct tokens over all tokens of the set",
        needs="tokens",
        compute=partial(distinct_n, n=1),
        sizes_matter=True,
    ),
    "distinct_2": Companion(
        title="Distinct-2",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Li et al. 2016",
        meaning="distinct 2-grams over all 2-grams of the set",
        needs="tokens",
        compute=partial(distinct_n, n=2),
        sizes_matter=True,
    ),
    "distinct_4": Companion(
        title="Distinct-4",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Pillutla et al. 2021",
        meaning="distinct 4-grams over all 4-grams of the set",
        needs="tokens",
        compute=partial(distinct_n, n=4),
        sizes_matter=True,
    ),
    "distinct_4_per_text": Companion(
        title="Distinct-4 of a text",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Li et al. 2016",
        meaning="distinct 4-grams of a text over its tokens, mean over texts",
        needs="tokens",
        compute=distinct_n_per_text,
    ),
    "distinct_4_once": Companion(
        title="4-grams seen once",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Holtzman et al. 2020",
        meaning="4-grams that stand once in the set over all 4-grams",
        needs="tokens",
        compute=distinct_n_once,
        sizes_matter=True,
    ),
    "entropy_2": Companion(
        title="Ent-2",
        group="lexical",
        better="human",
        low=0.0,
        high=None,
        paper="Zhang et al. 2018",
        meaning="entropy of the set's 2-grams in nats",
        needs="tokens",
        compute=partial(entropy_n, n=2),
        sizes_matter=True,
    ),
    "entropy_4": Companion(
        title="Ent-4",
        group="lexical",
        better="human",
        low=0.0,
        high=None,
        paper="Zhang et al. 2018",
        meaning="entropy of the set's 4-grams in nats",
        needs="tokens",
        compute=partial(entropy_n, n=4),
        sizes_matter=True,
    ),
    "zipf": Companion(
        title="Zipf coefficient",
        group="lexical",
        better="human",
        low=0.0,
        high=None,
        paper="Holtzman et al. 2020",
        meaning="how steeply log frequency falls with log rank, top 5000 tokens",
        needs="tokens",
        compute=zipf_coefficient,
        sizes_matter=True,
    ),
    "repetition": Companion(
        title="Repetition",
        group="lexical",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Holtzman et al. 2020",
        meaning="share of texts that end in a phrase of at most 90 tokens said over and over",
        needs="tokens",
        compute=ends_repeating,
    ),
    "repetition_500": Companion(
        title="Repetition, up to 500",
        group="lexical",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Pillutla et al. 2021",
        meaning="the same with phrases of at most 500 tokens",
        needs="tokens",
        compute=partial(ends_repeating, max_phrase=MAX_PHRASE_OF_MAUVE),
    ),
    "self_repetition": Companion(
        title="Self-repetition",
        group="lexical",
        better="human",
        low=0.0,
        high=None,
        paper="Salkar et al. 2022",
        meaning="log of 1 + the other texts that a text's 4-grams also stand in, mean over texts",
        needs="tokens",
        compute=self_repetition,
        sizes_matter=True,
    ),
    "compression_ratio": Companion(
        title="Compression ratio",
        group="lexical",
        better="human",
        low=0.0,
        high=None,
        paper="Shaib et al. 2024",
        meaning="bytes of the texts over their bytes after gzip",
        needs="texts",
        compute=compression_ratio,
        sizes_matter=True,
    ),
    "self_bleu": Companion(
        title="Self-BLEU",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Zhu et al. 2018",
        meaning="BLEU-4 of each text against all others, mean over texts",
        needs="tokens",
        compute=self_bleu,
        sizes_matter=True,
    ),
    "vendi_ngrams": Companion(
        title="Vendi score of n-grams",
        group="lexical",
        better="human",
        low=1.0,
        high=None,
        paper="Friedman & Dieng 2023",
        meaning="effective number of different texts by the 1- to 4-grams they share",
        needs="tokens",
        compute=vendi_ngrams,
        cheap=False,
        sizes_matter=True,
    ),
    "mean_length": Companion(
        title="Mean length",
        group="lexical",
        better="human",
        low=0.0,
        high=None,
        paper="Pillutla et al. 2021",
        meaning="tokens of a text, mean over texts",
        needs="tokens",
        compute=lengths,
    ),
    "prompt_diversity": Companion(
        title="Diversity within prompts",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Tevet & Berant 2021",
        meaning="1 - similarity of two texts of one prompt by their 1- to 4-grams, mean over pairs and prompts",
        needs="prompts",
        compute=prompt_diversity,
    ),
    "prompt_distinct": Companion(
        title="Distinct answers",
        group="lexical",
        better="human",
        low=0.0,
        high=1.0,
        paper="Tevet & Berant 2021",
        meaning="different texts of a prompt over its texts, mean over prompts",
        needs="prompts",
        compute=prompt_distinct,
    ),
    # distance
    "mmd": Companion(
        "MMD² (KID kernel)",
        "distance",
        "lower",
        None,
        None,
        "Bińkowski et al. 2018",
        "kernel distance of the features, unbiased, with a permutation test; about 0 if equal",
        "both features",
        mmd,
    ),
    "mmd_gaussian": Companion(
        "MMD² (Gaussian)",
        "distance",
        "lower",
        None,
        2,
        "Gretton et al. 2012",
        "the same with a Gaussian kernel as wide as the median distance; about 0 if equal",
        "both features",
        mmd_gaussian,
    ),
    "frechet_distance": Companion(
        "Fréchet distance",
        "distance",
        "lower",
        0,
        None,
        "Heusel et al. 2017",
        "of Gaussians fitted to the features; too high for few texts",
        "both features",
        lambda p, q, seed, level: frechet_distance(p, q),
        cheap=False,
        sizes_matter=True,
    ),
    "frechet_infinity": Companion(
        "Fréchet distance, n → ∞",
        "distance",
        "lower",
        None,
        None,
        "Chong and Forsyth 2020",
        "the same extrapolated to infinitely many texts; about 0 if equal",
        "both features",
        lambda p, q, seed, level: frechet_infinity(p, q, seed=seed),
        cheap=False,
    ),
    "sliced_wasserstein": Companion(
        "sliced Wasserstein-2²",
        "distance",
        "lower",
        0,
        None,
        "Bonneel et al. 2015",
        "how far the features have to move along random directions; too high for few texts",
        "both features",
        lambda p, q, seed, level: sliced_wasserstein(p, q, seed=seed),
        sizes_matter=True,
    ),
    "clipped_density": Companion(
        "clipped density",
        "distance",
        "higher",
        0,
        1,
        "Salvy et al. 2025",
        "quality: share of model texts like human ones, whatever the outliers",
        "both features",
        lambda p, q, seed, level: clipped_density(p, q),
    ),
    "clipped_coverage": Companion(
        "clipped coverage",
        "distance",
        "higher",
        0,
        1,
        "Salvy et al. 2025",
        "coverage: share of good model texts that would cover the human ones as well",
        "both features",
        lambda p, q, seed, level: clipped_coverage(p, q),
    ),
    "vendi": Companion(
        "Vendi score",
        "distance",
        "human",
        1,
        None,
        "Friedman and Dieng 2023",
        "diversity: how many unlike texts the set is worth",
        "features",
        vendi_score,
        sizes_matter=True,
    ),
    "authenticity": Companion(
        "authenticity",
        "distance",
        "higher",
        0,
        1,
        "Alaa et al. 2022",
        "share of model texts that are no near copies of a training text",
        "three features",
        authenticity,
    ),
    "copying": Companion(
        "data copying C_T",
        "distance",
        "higher",
        None,
        None,
        "Meehan et al. 2020",
        "below 0: nearer to the training texts than human texts are; about 0 if not copied",
        "three features",
        data_copying,
        sizes_matter=True,
    ),
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
    "near_duplicates": Companion(
        title="Near duplicates",
        group="duplication",
        better="human",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of texts that nearly repeat another one of their set",
        needs="texts",
        compute=near_duplicates,
        sizes_matter=True,
    ),
    "near_duplicates_across": Companion(
        title="Near duplicates of human texts",
        group="duplication",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of the model's texts that nearly repeat a human text",
        needs="both texts",
        compute=near_duplicates_across,
        sizes_matter=True,
    ),
    "repeated_substrings": Companion(
        title="Repeated passages",
        group="duplication",
        better="human",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of tokens in passages of 50 tokens that the set repeats",
        needs="tokens",
        compute=repeated_substrings,
        sizes_matter=True,
    ),
    "copied_substrings": Companion(
        title="Passages of human texts",
        group="duplication",
        better="lower",
        low=0.0,
        high=1.0,
        paper="Lee et al. 2022",
        meaning="Share of the model's words in passages of 50 words that stand in the human texts",
        needs="both texts",
        compute=copied_substrings,
        sizes_matter=True,
    ),
}
