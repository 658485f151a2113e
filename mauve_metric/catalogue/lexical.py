"""Statistics of the texts of one set."""

from __future__ import annotations

from functools import partial

from mauve_metric.catalogue.row import Measure
from mauve_metric.lexical import distinct
from mauve_metric.lexical.compression import compression_ratio
from mauve_metric.lexical.ngram_similarity import prompt_distinct, prompt_diversity, vendi_ngrams
from mauve_metric.lexical.repetition import MAX_PHRASE_OF_MAUVE, ends_repeating
from mauve_metric.lexical.self_bleu import self_bleu, self_repetition
from mauve_metric.lexical.zipf import types_of_mass, zipf_coefficient

_row = partial(Measure, group="lexical", formula="lexical-measures", better="human", low=0.0, high=1.0, needs="tokens")
_of_prompts = partial(_row, needs="prompts")
_loops = partial(_row, better="lower", trap="sees only loops that last to the end of a text")
_of_size = partial(_row, sizes_matter=True)
_noisy = partial(_of_size, trap="falls with the number of tokens, and rises with noise")

LEXICAL: dict[str, Measure] = {
    "distinct_1": _noisy(
        title="Distinct-1",
        paper="Li et al. 2016",
        meaning="distinct tokens over all tokens of the set",
        compute=partial(distinct.distinct_n, n=1),
    ),
    "distinct_2": _noisy(
        title="Distinct-2",
        paper="Li et al. 2016",
        meaning="distinct 2-grams over all 2-grams of the set",
        compute=partial(distinct.distinct_n, n=2),
    ),
    "distinct_4": _of_size(
        title="Distinct-4",
        paper="Pillutla et al. 2021",
        meaning="distinct 4-grams over all 4-grams of the set",
        trap="random words have 1: near the human value is good, not high",
        compute=partial(distinct.distinct_n, n=4),
    ),
    "distinct_4_per_text": _row(
        title="Distinct-4 of a text",
        paper="Li et al. 2016",
        meaning="distinct 4-grams of a text over its tokens, mean over texts",
        trap="falls with the length of a text, and is blind to texts that repeat each other",
        compute=distinct.distinct_n_per_text,
    ),
    "distinct_4_once": _noisy(
        title="4-grams seen once",
        paper="Holtzman et al. 2020",
        meaning="4-grams that occur once in the set over all 4-grams",
        compute=distinct.distinct_n_once,
    ),
    **{
        f"entropy_{n}": _of_size(
            title=f"Ent-{n}",
            high=None,
            paper="Zhang et al. 2018",
            meaning=f"entropy of the set's {n}-grams in nats",
            trap="grows with the number of tokens, up to its logarithm",
            compute=partial(distinct.entropy_n, n=n),
        )
        for n in (2, 4)
    },
    "zipf": _of_size(
        title="Zipf coefficient",
        high=None,
        paper="Pillutla et al. 2021",
        meaning="how steeply log frequency falls with log rank, at evenly spaced log ranks of the top 5000 tokens",
        trap="moves with the tokenizer and the number of tokens; Holtzman's is `zipf_all_ranks`",
        compute=partial(zipf_coefficient, thinned=True),
    ),
    "zipf_all_ranks": _of_size(
        title="Zipf, all ranks",
        high=None,
        paper="Holtzman et al. 2020, §5.2",
        meaning="how steeply log frequency falls with log rank, every token of the set",
        trap="rare tokens lead the fit: moves with the tokenizer and the number of tokens",
        compute=partial(zipf_coefficient, ranks=None),
    ),
    "types_of_mass": _of_size(
        title="Types of 80 %",
        low=1.0,
        high=None,
        paper="Ippolito et al. 2020, §6",
        meaning="fewest different tokens that make up 80 % of all tokens of the set",
        trap="grows with the number of tokens; noise has the most",
        compute=types_of_mass,
    ),
    "repetition": _loops(
        title="Repetition",
        paper="Holtzman et al. 2020",
        meaning="share of texts that end in a phrase of at most 90 tokens said over and over",
        compute=ends_repeating,
    ),
    "repetition_500": _loops(
        title="Repetition, up to 500",
        paper="Pillutla et al. 2021",
        meaning="the same with phrases of at most 500 tokens",
        compute=partial(ends_repeating, max_phrase=MAX_PHRASE_OF_MAUVE),
    ),
    "self_repetition": _of_size(
        title="Self-repetition",
        high=None,
        paper="Salkar et al. 2022",
        meaning="log of 1 + the other texts in which a text's 4-grams occur, mean over texts",
        trap="grows with the number of texts; people share turns of phrase too",
        compute=self_repetition,
    ),
    "compression_ratio": _of_size(
        title="Compression ratio",
        high=None,
        paper="Shaib et al. 2024",
        meaning="bytes of the texts over their bytes after gzip",
        trap="gzip looks back 32 kB: the order of texts matters, and copies further apart are not seen",
        needs="texts",
        compute=compression_ratio,
    ),
    "self_bleu": _of_size(
        title="Self-BLEU",
        paper="Zhu et al. 2018",
        meaning="BLEU-4 of each text against all others, mean over texts",
        trap="rises with the number of texts; published values often score a sample of them",
        compute=self_bleu,
    ),
    "vendi_ngrams": _of_size(
        title="Vendi score of n-grams",
        low=1.0,
        high=None,
        paper="Friedman & Dieng 2023",
        meaning="effective number of different texts by the 1- to 4-grams they share",
        trap="noise has the highest; time grows with the cube of the texts",
        compute=vendi_ngrams,
        cheap=False,
    ),
    "mean_length": _row(
        title="Mean length",
        high=None,
        paper="Pillutla et al. 2021",
        meaning="tokens of a text, mean over texts",
        trap="moves most other measures with it: mend the length first",
        compute=distinct.lengths,
    ),
    **{
        f"prompt_distinct_{n}": _of_prompts(
            title=f"Distinct-{n} of a prompt",
            paper="Li et al. 2016; Ippolito et al. 2019, §4",
            meaning=f"distinct {n}-grams over tokens of the texts of a prompt, mean over prompts",
            trap="not `distinct_…`, which pools all prompts; falls with the texts a prompt and their length",
            compute=partial(distinct.distinct_of_prompts, n=n),
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
            compute=partial(distinct.entropy_of_prompts, n=n),
        )
        for n in (2, 4)
    },
    "prompt_diversity": _of_prompts(
        title="Diversity within prompts",
        paper="Tevet & Berant 2021",
        meaning="1 - similarity of two texts of one prompt by their 1- to 4-grams, mean over pairs and prompts",
        trap="random words have 1: near the human value is good, not high",
        compute=prompt_diversity,
    ),
    "prompt_distinct": _of_prompts(
        title="Distinct answers",
        paper="Tevet & Berant 2021",
        meaning="different texts of a prompt over its texts, mean over prompts",
        trap="one other word makes another text",
        compute=prompt_distinct,
    ),
}
