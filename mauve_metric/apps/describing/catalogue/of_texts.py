"""Measures of texts: statistics of one set, copies, and probabilities under a language model."""

from __future__ import annotations

import math
from functools import partial

from mauve_metric.apps.describing.duplicates.near_duplicates import near_duplicates, near_duplicates_across
from mauve_metric.apps.describing.duplicates.repeated_substrings import copied_substrings, repeated_substrings
from mauve_metric.apps.describing.likelihood import likelihood_measures
from mauve_metric.apps.describing.word_diversity import token_statistics
from mauve_metric.apps.describing.word_diversity.self_bleu import (
    prompt_distinct,
    prompt_diversity,
    self_bleu,
    self_repetition,
    vendi_ngrams,
)
from mauve_metric.apps.lexical import diversity
from mauve_metric.measures.measure import (
    BOTH_LIKELIHOODS,
    BOTH_TEXTS,
    CONTINUATIONS,
    DECODER,
    LIKELIHOODS,
    PROMPTS,
    TEXTS,
    TOKENS,
    Measure,
)

_lexical = partial(Measure, group="lexical", formula="lexical-measures", inputs=TOKENS)
_of_prompts = partial(_lexical, inputs=PROMPTS, paper="Tevet & Berant 2021")
_loops = partial(_lexical, better="lower", trap="sees only loops that last to the end of a text")
_of_size = partial(_lexical, sizes_matter=True)
_unbounded_of_size = partial(_of_size, high=None)
_noisy = partial(_of_size, trap="falls with the number of tokens, and rises with noise")

LEXICAL: dict[str, Measure] = {
    **{
        f"distinct_{n}": _noisy(
            title=f"Distinct-{n}",
            paper="Li et al. 2016",
            meaning=f"distinct {grams} over all {grams} of the set",
            compute=partial(diversity.distinct_n, n=n),
        )
        for n, grams in ((1, "tokens"), (2, "2-grams"))
    },
    "distinct_4": _of_size(
        title="Distinct-4",
        paper="Pillutla et al. 2021",
        meaning="distinct 4-grams over all 4-grams of the set",
        trap="random words have 1: near the human value is good, not high",
        compute=partial(diversity.distinct_n, n=4),
    ),
    "distinct_4_per_text": _lexical(
        title="Distinct-4 of a text",
        paper="Li et al. 2016",
        meaning="distinct 4-grams of a text over its 4-grams, mean over texts",
        trap="blind to texts that repeat each other; a long text has more occasions to repeat itself",
        leaves_out=True,
        compute=token_statistics.distinct_n_per_text,
    ),
    **{
        f"rep_{n}": _lexical(
            title=f"rep-{n}",
            paper="Su et al. 2022, §4.2",
            meaning=f"share of the {n}-grams of a text that it has had before, over all texts",
            trap="people repeat words too: near the human value is good, not 0; papers count words between blanks",
            compute=partial(token_statistics.repeated_ngrams, n=n),
        )
        for n in (2, 3, 4)
    },
    "diversity": _lexical(
        title="Diversity, product of 1 - rep-n",
        paper="Su et al. 2022, §4.2; Li et al. 2023, §5.2",
        meaning="product of 1 - rep-n for n = 2, 3, 4",
        trap="blind to texts that repeat each other; random words have 1",
        compute=token_statistics.unrepeated,
    ),
    "entropy_1_per_text": _lexical(
        title="Unigram entropy of a text",
        high=None,
        paper="Dieleman et al. 2022; Sahoo et al. 2024",
        meaning="entropy of a text's tokens in nats, mean over texts",
        trap="grows with the length of a text; papers on diffusion take the model's tokens: `--tokenizer`",
        leaves_out=True,
        compute=token_statistics.entropy_per_text,
    ),
    "distinct_4_once": _noisy(
        title="4-grams seen once",
        paper="Holtzman et al. 2020",
        meaning="4-grams that occur once in the set over all 4-grams",
        compute=token_statistics.distinct_n_once,
    ),
    **{
        f"entropy_{n}": _unbounded_of_size(
            title=f"Ent-{n}",
            paper="Zhang et al. 2018",
            meaning=f"entropy of the set's {n}-grams in nats",
            trap="grows with the number of tokens, up to its logarithm",
            compute=partial(token_statistics.entropy_n, n=n),
        )
        for n in (2, 4)
    },
    "zipf": _unbounded_of_size(
        title="Zipf coefficient",
        paper="Pillutla et al. 2021",
        meaning="how steeply log frequency falls with log rank, at evenly spaced log ranks of the top 5000 tokens",
        trap="moves with the tokenizer and the number of tokens; Holtzman's is `zipf_all_ranks`",
        compute=partial(token_statistics.zipf_coefficient, thinned=True),
    ),
    "zipf_all_ranks": _unbounded_of_size(
        title="Zipf, all ranks",
        paper="Holtzman et al. 2020, §5.2",
        meaning="how steeply log frequency falls with log rank, every token of the set",
        trap="rare tokens lead the fit: moves with the tokenizer and the number of tokens",
        compute=partial(token_statistics.zipf_coefficient, ranks=None),
    ),
    "types_of_mass": _unbounded_of_size(
        title="Types of 80 %",
        low=1.0,
        paper="Ippolito et al. 2020, §6",
        meaning="fewest different tokens that make up 80 % of all tokens of the set",
        trap="grows with the number of tokens; noise has the most",
        compute=token_statistics.types_of_mass,
    ),
    "repetition": _loops(
        title="Repetition",
        paper="Holtzman et al. 2020",
        meaning="share of texts that end in a phrase of at most 90 tokens said over and over",
        compute=diversity.ends_repeating,
    ),
    "repetition_500": _loops(
        title="Repetition, up to 500",
        paper="Pillutla et al. 2021",
        meaning="the same with phrases of at most 500 tokens",
        compute=partial(diversity.ends_repeating, max_phrase=diversity.MAX_PHRASE_OF_MAUVE),
    ),
    "self_repetition": _unbounded_of_size(
        title="Self-repetition",
        paper="Salkar et al. 2022",
        meaning="log of 1 + the other texts in which a text's 4-grams occur, mean over texts",
        trap="grows with the number of texts; people share turns of phrase too",
        compute=self_repetition,
    ),
    "compression_ratio": _unbounded_of_size(
        title="Compression ratio",
        paper="Shaib et al. 2024",
        meaning="bytes of the texts over their bytes after gzip",
        trap="gzip looks back 32 kB: the order of texts matters, and copies further apart are not seen",
        inputs=TEXTS,
        compute=token_statistics.compression_ratio,
    ),
    "self_bleu": _of_size(
        title="Self-BLEU",
        paper="Zhu et al. 2018",
        meaning="BLEU-4 of each text against all others, mean over texts",
        trap="rises with the number of texts; published values often score a sample of them",
        compute=self_bleu,
    ),
    "vendi_ngrams": _unbounded_of_size(
        title="Vendi score of n-grams",
        low=1.0,
        paper="Friedman & Dieng 2023",
        meaning="effective number of different texts by the 1- to 4-grams they share",
        trap="noise has the highest; time grows with the cube of the texts",
        compute=vendi_ngrams,
        cheap=False,
    ),
    "mean_length": _lexical(
        title="Mean length",
        high=None,
        paper="Pillutla et al. 2021",
        meaning="tokens of a text, mean over texts",
        trap="moves most other measures with it: mend the length first",
        compute=diversity.lengths,
    ),
    **{
        f"prompt_distinct_{n}": _of_prompts(
            title=f"Distinct-{n} of a prompt",
            paper="Li et al. 2016; Ippolito et al. 2019, §4",
            meaning=f"distinct {n}-grams over all {n}-grams of the texts of a prompt, mean over prompts",
            trap="not `distinct_…`, which pools all prompts; falls with the texts a prompt and their length",
            leaves_out=True,
            compute=partial(token_statistics.distinct_of_prompts, n=n),
        )
        for n in (1, 2)
    },
    **{
        f"prompt_entropy_{n}": _of_prompts(
            title=f"Ent-{n} of a prompt",
            high=None,
            paper="Zhang et al. 2018; Ippolito et al. 2019, §4",
            meaning=f"entropy of the {n}-grams of the texts of a prompt in nats, mean over prompts",
            trap="not `entropy_…`, which pools all prompts; grows with the texts a prompt and their length",
            leaves_out=True,
            compute=partial(token_statistics.entropy_of_prompts, n=n),
        )
        for n in (2, 4)
    },
    "prompt_diversity": _of_prompts(
        title="Diversity within prompts",
        meaning="1 - similarity of two texts of one prompt by their 1- to 4-grams, mean over pairs and prompts",
        trap="random words have 1: near the human value is good, not high",
        compute=prompt_diversity,
    ),
    "prompt_distinct": _of_prompts(
        title="Distinct answers",
        meaning="different texts of a prompt over its texts, mean over prompts",
        trap="one other word makes another text",
        compute=prompt_distinct,
    ),
}

_likelihood = partial(
    Measure, group="language-model", inputs=LIKELIHOODS, cheap=False, formula="under-a-language-model"
)
_decoded = partial(_likelihood, inputs=DECODER, paper="Martins et al. 2020, §4.3; Pillutla et al. 2021, Table 9")
_unbounded = partial(_likelihood, low=1.0, high=None)
_repeat = partial(
    _likelihood, paper="Welleck et al. 2020, §6", trap="people repeat words too: near the human value is good, not 0"
)
_rank = partial(
    _likelihood,
    paper="Gehrmann et al. 2019, §3",
    trap="a language model finds its own texts likely: let another one read",
)
_of_model = partial(
    _likelihood, paper="Martins et al. 2020, §4.3", trap="says as much about the language model as about the texts"
)

LANGUAGE_MODEL: dict[str, Measure] = {
    "generation_perplexity": _unbounded(
        title="Perplexity",
        paper="Pillutla et al. 2021, §4",
        meaning="how surprised a language model is by the tokens that it predicts",
        trap="low is not good: a text that repeats itself has the lowest",
        compute=likelihood_measures.generation_perplexity,
    ),
    "epsilon_perplexity": _unbounded(
        title="ε-perplexity",
        paper="Martins et al. 2020, §4.3",
        meaning="perplexity with every probability raised by ε = 1e-5",
        trap="moves with ε and the vocabulary; the papers' tables have `decoder_perplexity`",
        compute=likelihood_measures.epsilon_perplexity,
    ),
    "log_probability": _likelihood(
        title="Log-probability",
        low=None,
        high=0.0,
        paper="Solaiman et al. 2019",
        meaning="mean log-probability of a text's tokens, each text weighing the same",
        trap="short texts weigh as much as long ones",
        compute=likelihood_measures.mean_log_probability,
    ),
    "prompt_log_probability": _likelihood(
        title="Log-probability after the prompt",
        low=None,
        high=0.0,
        paper="Su and Xu 2022, §3.1",
        meaning="coherence: mean log-probability of a text's tokens given its prompt, each text weighing the same",
        trap="greedy and repeated text has the highest: near the human value is good, not high",
        inputs=CONTINUATIONS,
        leaves_out=True,
        compute=likelihood_measures.log_probability_after_prompt,
    ),
    "probability": _likelihood(
        title="Mean probability",
        paper="Ippolito 2021, §3.4",
        meaning="mean probability that a language model gives the tokens that came",
        trap="truncated decoding raises it above people's, whatever the quality",
        compute=likelihood_measures.mean_probability,
    ),
    "sparsemax_score": _of_model(
        title="Sparsemax score",
        meaning="how much of a language model's whole distribution lies on the tokens that came",
        compute=likelihood_measures.sparsemax_score,
    ),
    "token_jensen_shannon": _of_model(
        title="Token Jensen–Shannon",
        high=math.log(2),
        meaning="divergence of a language model's distribution from the token that came",
        compute=likelihood_measures.token_jensen_shannon,
    ),
    "decoder_perplexity": _decoded(
        title="ε-perplexity of the decoder",
        better="lower",
        low=1.0,
        high=None,
        meaning="ε-perplexity (ε = 1e-5) of the human texts under a model's decoder",
        trap="says how much of human text a decoder can write, not how its own texts look",
        compute=likelihood_measures.epsilon_perplexity,
    ),
    "decoder_sparsemax": _decoded(
        title="Sparsemax score of the decoder",
        better="higher",
        meaning="sparsemax score of the human texts under a model's decoder",
        trap="greedy decoding has the share of tokens that it guesses",
        compute=likelihood_measures.sparsemax_score,
    ),
    "decoder_jensen_shannon": _decoded(
        title="Token Jensen–Shannon of the decoder",
        better="lower",
        high=math.log(2),
        meaning="divergence of a model's decoder from the human tokens",
        trap="decoders differ little: a token that did not come costs at most log 2",
        compute=likelihood_measures.token_jensen_shannon,
    ),
    "decoder_choices": _decoded(
        title="Choices of the decoder",
        better="higher",
        low=1.0,
        high=None,
        paper="Ippolito 2021, §3.4, Fig. 3.4",
        meaning="mean number of tokens that a model's decoder chooses among after human text (k_t)",
        trap="more choices let more of human text through, and more else",
        compute=likelihood_measures.mean_choices,
    ),
    "rep": _repeat(
        title="rep-64",
        meaning="share of tokens for which the first choice of a language model is among the 64 before",
        compute=likelihood_measures.rep,
    ),
    "wrep": _repeat(
        title="wrep-64",
        meaning="the same where that choice is not the token that came",
        compute=likelihood_measures.wrep,
    ),
    "rank_1": _rank(
        title="Rank 1",
        meaning="share of tokens that are the first choice of a language model",
        compute=partial(likelihood_measures.rank_share, low=1, high=1),
    ),
    "rank_2_5": _rank(
        title="Rank 2–5",
        meaning="share of tokens among its first five choices, but not the first",
        compute=partial(likelihood_measures.rank_share, low=2, high=5),
    ),
    "rank_6_100": _rank(
        title="Rank 6–100",
        meaning="share of tokens among its first hundred choices, but not the first five",
        compute=partial(likelihood_measures.rank_share, low=6, high=100),
    ),
    "rank_above_100": _rank(
        title="Rank above 100",
        meaning="share of tokens that are not among its first hundred choices",
        trap="top-k and nucleus sampling empty it, whatever the quality",
        compute=partial(likelihood_measures.rank_share, low=101, high=None),
    ),
    "rank_distance": _rank(
        title="Distance of ranks",
        better="lower",
        meaning="share of tokens whose ranks differ between the sets, by histograms of ranks 1, 2, 3–4, 5–8, …",
        trap="above 0 for equal sets, and no interval; blind to the order of the words",
        inputs=BOTH_LIKELIHOODS,
        compute=likelihood_measures.rank_distance,
    ),
}

_duplication = partial(
    Measure,
    group="duplication",
    formula="duplicates-and-copied-passages",
    paper="Lee et al. 2022",
    sizes_matter=True,
)
_copies = partial(_duplication, better="lower", inputs=BOTH_TEXTS)

DUPLICATION: dict[str, Measure] = {
    "near_duplicates": _duplication(
        title="Near duplicates",
        meaning="Share of texts that nearly repeat another one of their set",
        trap="texts of one template count too, without any copying; paraphrases do not",
        inputs=TEXTS,
        compute=near_duplicates,
    ),
    "near_duplicates_across": _copies(
        title="Near duplicates of human texts",
        meaning="Share of the model's texts that nearly repeat a human text",
        trap="paraphrases and copied parts of texts are not found",
        compute=near_duplicates_across,
    ),
    "repeated_substrings": _duplication(
        title="Repeated passages",
        meaning="Share of tokens in passages of 50 tokens that the set repeats",
        trap="texts of fewer than 50 tokens have none",
        inputs=TOKENS,
        compute=repeated_substrings,
    ),
    "copied_substrings": _copies(
        title="Passages of human texts",
        meaning="Share of the model's words in passages of 50 words that occur in the human texts",
        trap="texts of fewer than 50 words have none; quotations count too",
        compute=copied_substrings,
    ),
}
