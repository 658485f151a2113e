"""Description, inputs and citation of the `evaluate` metric."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.catalogue.table import SCORES
from mauve_metric.options import config_fields, run_fields
from mauve_metric.results.text_statistics import statistics_rows

DEFAULTS: Mapping[str, object] = {"row_order": "pq"}  # where this view differs from `MauveConfig`
REFERENCE_URLS = (
    "https://arxiv.org/abs/2102.01454",
    "https://arxiv.org/abs/2212.14578",
    "https://arxiv.org/abs/2106.07898",
)
CODEBASE_URLS = ("https://github.com/krishnap25/mauve",)

CITATION = r"""@inproceedings{pillutla2021mauve,
  title     = {{MAUVE}: Measuring the Gap Between Neural Text and Human Text using Divergence Frontiers},
  author    = {Pillutla, Krishna and Swayamdipta, Swabha and Zellers, Rowan and Thickstun, John and Welleck, Sean and
               Choi, Yejin and Harchaoui, Zaid},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {34},
  year      = {2021}
}

@inproceedings{liu2021divergence,
  title     = {Divergence Frontiers for Generative Models: Sample Complexity, Quantization Effects, and Frontier
               Integrals},
  author    = {Liu, Lang and Pillutla, Krishna and Welleck, Sean and Oh, Sewoong and Choi, Yejin and Harchaoui, Zaid},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {34},
  year      = {2021}
}

@article{pillutla2023mauve,
  title     = {{MAUVE} Scores for Generative Models: Theory and Practice},
  author    = {Pillutla, Krishna and Liu, Lang and Thickstun, John and Welleck, Sean and Swayamdipta, Swabha and
               Zellers, Rowan and Oh, Sewoong and Choi, Yejin and Harchaoui, Zaid},
  journal   = {Journal of Machine Learning Research},
  volume    = {24},
  number    = {356},
  pages     = {1--92},
  year      = {2023}
}
"""

DESCRIPTION = """\
MAUVE says how close a model's texts are to human texts, as two sets: no text has a counterpart, and the sets may differ
in size. A language model turns each text into a feature, clustering turns the features of each set into a histogram,
and the score is the area under the curve of the divergences between the two histograms and their mixtures. It is in
[0, 1], and higher is better: 1 means that the histograms are equal. A score is comparable only with one of the same
featurizer, options and number of texts; the signature in the result names them.
"""

_INPUTS = """
Args:
    predictions: texts of the model (Q): a list of strings, a `datasets` column or another iterable of strings.
    references: human texts (P), likewise. They need not be as many as the predictions.
    prediction_features: in place of predictions, their features: an array (n, d) of finite numbers, or a
        `mauve_metric.FeatureSet`.
    reference_features: in place of references, likewise. Where a side has both, its features are scored.
    featurizers: several, each as `featurize_model_name`, for texts on both sides. The first one's scores are these;
        those of all are in `by_featurizer`, and what they say together in `joint_verdict`.
    aligned: row i of both sides answers prompt i: bias, intervals and tests allow for it.
    p_groups, q_groups: the prompt of each reference and of each prediction, where texts share prompts in another way.
{options}

Returns:
    A dict of numbers, strings and lists, fit for JSON, whose entries are attributes too (`out.mauve`; arrays there):
{scores}
    signature: what fixes the score, to be reported with it
    and every other attribute of `mauve_metric.MauveResult`: `p_hist`, `q_hist`, `divergence_curve`, `warnings`, …

P and Q are named as in the papers: P for references (human), Q for predictions (model). Hugging Face's own module of
this metric calls predictions p and references q. `mauve` and the frontier integral are the same either way; here,
`p_hist` is the histogram of the references, and `divergence_curve` has exp(-c KL(Q|R)) in its first column.

Examples:

    >>> import evaluate
    >>> metric = evaluate.load("mauve_metric")
    >>> out = metric.compute(predictions=model_texts, references=human_texts, featurize_model_name="minilm")
    >>> out.mauve, out["signature"]
"""


_STATISTICS = """\
Statistics of one set of texts that need neither references nor a model: distinct n-grams, entropy, Zipf coefficient,
repetition, Self-BLEU of all texts against all others, and more. Most say how diverse texts are, and are best read
against the same statistics of as many human texts.
"""

_STATISTICS_INPUTS = """
Args:
    predictions: texts: a list of strings, a `datasets` column or another iterable of strings.
    tokenizer: a function from a text to its tokens, words or ids; None for words and marks of punctuation.
    prompts: the prompt of each text, where there are several texts of one prompt.
    measures: names of those to compute; None for all but `vendi_ngrams`, which takes long.
    text_field: the column of a `datasets.Dataset`.
Returns:
{measures}
    num_texts, num_tokens: how many there are.
    not_computed: for each measure that is None, why it is.
    signature: how the numbers were made.
"""


def describe_inputs() -> str:
    """Describe the arguments and results of `compute`; options and defaults come from the config."""
    options = [
        f"    {name}: {knob.metadata['help']} (default: {DEFAULTS.get(name, knob.default)!r})"
        for name, knob in (config_fields() | run_fields()).items()
    ]
    scores = [
        f"    {name}: {score.title}, {_range(score.low, score.high)}, {score.better} is better; {score.meaning}"
        for name, score in SCORES.items()
    ]
    return _INPUTS.format(options="\n".join(options), scores="\n".join(scores))


def describe_statistics() -> tuple[str, str]:
    """Describe the statistics of one set of texts, and the arguments and results of their `compute`."""
    rows = statistics_rows().items()
    given = [f"    {name}: {row.title}, {_range(row.low, row.high)}; {row.meaning}" for name, row in rows]
    return _STATISTICS, _STATISTICS_INPUTS.format(measures="\n".join(given))


def _range(low: float | None, high: float | None) -> str:
    """The range of a score in brackets; an infinite end is open."""
    return f"in {'(-∞' if low is None else f'[{low:.4g}'}, {'∞)' if high is None else f'{high:.4g}]'}"
