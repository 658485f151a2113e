"""Rows of the statistics of texts under a language model."""

from __future__ import annotations

import math
from functools import partial

from mauve_metric.catalogue.row import Measure
from mauve_metric.features.likelihood import likelihood_measures as measures

_row = partial(
    Measure,
    group="language-model",
    needs="likelihoods",
    cheap=False,
    formula="under-a-language-model",
    better="human",
    low=0.0,
    high=1.0,
)
_decoded = partial(_row, needs="decoder", paper="Martins et al. 2020, §4.3; Pillutla et al. 2021, Table 9")
_unbounded = partial(_row, low=1.0, high=None)
_repeat = partial(
    _row, paper="Welleck et al. 2020, §6", trap="people repeat words too: near the human value is good, not 0"
)
_rank = partial(_row, paper="Gehrmann et al. 2019, §3")
_of_model = partial(
    _row, paper="Martins et al. 2020, §4.3", trap="says as much about the language model as about the texts"
)

LANGUAGE_MODEL: dict[str, Measure] = {
    "generation_perplexity": _unbounded(
        title="Perplexity",
        paper="Pillutla et al. 2021, §4",
        meaning="how surprised a language model is by the tokens that it predicts",
        trap="low is not good: a text that repeats itself has the lowest",
        compute=measures.generation_perplexity,
    ),
    "epsilon_perplexity": _unbounded(
        title="ε-perplexity",
        paper="Martins et al. 2020, §4.3",
        meaning="perplexity with every probability raised by ε = 1e-5",
        trap="moves with ε and the vocabulary; the papers' tables have `decoder_perplexity`",
        compute=measures.epsilon_perplexity,
    ),
    "log_probability": _row(
        title="Log-probability",
        low=None,
        high=0.0,
        paper="Solaiman et al. 2019",
        meaning="mean log-probability of a text's tokens, each text weighing the same",
        trap="short texts weigh as much as long ones",
        compute=measures.mean_log_probability,
    ),
    "probability": _row(
        title="Mean probability",
        paper="Ippolito 2021, §3.4",
        meaning="mean probability that a language model gives the tokens that came",
        trap="truncated decoding raises it above people's, whatever the quality",
        compute=measures.mean_probability,
    ),
    "sparsemax_score": _of_model(
        title="Sparsemax score",
        meaning="how much of a language model's whole distribution lies on the tokens that came",
        compute=measures.sparsemax_score,
    ),
    "token_jensen_shannon": _of_model(
        title="Token Jensen–Shannon",
        high=math.log(2),
        meaning="divergence of a language model's distribution from the token that came",
        compute=measures.token_jensen_shannon,
    ),
    "decoder_perplexity": _decoded(
        title="ε-perplexity of the decoder",
        better="lower",
        low=1.0,
        high=None,
        meaning="ε-perplexity (ε = 1e-5) of the human texts under a model's decoder",
        trap="says how much of human text a decoder can write, not how its own texts look",
        compute=measures.epsilon_perplexity,
    ),
    "decoder_sparsemax": _decoded(
        title="Sparsemax score of the decoder",
        better="higher",
        meaning="sparsemax score of the human texts under a model's decoder",
        trap="greedy decoding has the share of tokens that it guesses",
        compute=measures.sparsemax_score,
    ),
    "decoder_jensen_shannon": _decoded(
        title="Token Jensen–Shannon of the decoder",
        better="lower",
        high=math.log(2),
        meaning="divergence of a model's decoder from the human tokens",
        trap="decoders differ little: a token that did not come costs at most log 2",
        compute=measures.token_jensen_shannon,
    ),
    "decoder_choices": _decoded(
        title="Choices of the decoder",
        better="higher",
        low=1.0,
        high=None,
        paper="Ippolito 2021, §3.4, Fig. 3.4",
        meaning="mean number of tokens that a model's decoder chooses among after human text (k_t)",
        trap="more choices let more of human text through, and more else",
        compute=measures.mean_choices,
    ),
    "rep": _repeat(
        title="rep-64",
        meaning="share of tokens for which the first choice of a language model is among the 64 before",
        compute=measures.rep,
    ),
    "wrep": _repeat(
        title="wrep-64",
        meaning="the same where that choice is not the token that came",
        compute=measures.wrep,
    ),
    "rank_1": _rank(
        title="Rank 1",
        meaning="share of tokens that are the first choice of a language model",
        trap="a language model finds its own texts likely: let another one read",
        compute=partial(measures.rank_share, low=1, high=1),
    ),
    "rank_2_5": _rank(
        title="Rank 2–5",
        meaning="share of tokens among its first five choices, but not the first",
        trap="a language model finds its own texts likely: let another one read",
        compute=partial(measures.rank_share, low=2, high=5),
    ),
    "rank_6_100": _rank(
        title="Rank 6–100",
        meaning="share of tokens among its first hundred choices, but not the first five",
        trap="a language model finds its own texts likely: let another one read",
        compute=partial(measures.rank_share, low=6, high=100),
    ),
    "rank_above_100": _rank(
        title="Rank above 100",
        meaning="share of tokens that are not among its first hundred choices",
        trap="top-k and nucleus sampling empty it, whatever the quality",
        compute=partial(measures.rank_share, low=101, high=None),
    ),
}
