"""The company of MAUVE: every measure that `describe` shows beside it, one row each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from mauve_metric.arrays import Floats
from mauve_metric.measures.estimate import Estimate
from mauve_metric.texts.compression import compression_ratio
from mauve_metric.texts.distinct import distinct_n, distinct_n_once, distinct_n_per_text, entropy_n, lengths
from mauve_metric.texts.ngram_similarity import prompt_distinct, prompt_diversity, vendi_ngrams
from mauve_metric.texts.repetition import MAX_PHRASE_OF_MAUVE, ends_repeating
from mauve_metric.texts.self_bleu import self_bleu, self_repetition
from mauve_metric.texts.zipf import zipf_coefficient

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
    # buckets
    # language-model
    # discriminator
    # duplication
}
