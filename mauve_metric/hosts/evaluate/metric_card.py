"""Description, inputs and citation of the `evaluate` metric."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from mauve_metric.hosts.evaluate.text_statistics import statistics_rows
from mauve_metric.options import config_fields, run_fields
from mauve_metric.results.scores import SCORES

DEFAULTS: Mapping[str, object] = {"row_order": "pq"}  # where this view differs from `MauveConfig`
REFERENCE_URLS = (
    "https://arxiv.org/abs/2102.01454",
    "https://arxiv.org/abs/2212.14578",
    "https://arxiv.org/abs/2106.07898",
)
CODEBASE_URLS = ("https://github.com/krishnap25/mauve",)


def _read(name: str) -> str:
    """A text beside this file."""
    return resources.files("mauve_metric.hosts.evaluate").joinpath(name).read_text(encoding="utf-8")


CITATION = _read("citation.bib")
DESCRIPTION = """\
MAUVE says how close a model's texts are to human texts, as two sets: no text has a counterpart, and the sets may differ
in size. A language model turns each text into a feature, clustering turns the features of each set into a histogram,
and the score is the area under the curve of the divergences between the two histograms and their mixtures. It is in
[0, 1], and higher is better: 1 means that the histograms are equal. A score is comparable only with one of the same
featurizer, options and number of texts; the signature in the result names them.
"""

_STATISTICS = """\
Statistics of one set of texts that need neither references nor a model: distinct n-grams, entropy, Zipf coefficient,
repetition, Self-BLEU of all texts against all others, and more. Most say how diverse texts are, and are best read
against the same statistics of as many human texts.
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
    return _read("inputs.txt").format(options="\n".join(options), scores="\n".join(scores))


def describe_statistics() -> tuple[str, str]:
    """Describe the statistics of one set of texts, and the arguments and results of their `compute`."""
    rows = statistics_rows().items()
    measures = [f"    {name}: {row.title}, {_range(row.low, row.high)}; {row.meaning}" for name, row in rows]
    return _STATISTICS, _read("statistics_inputs.txt").format(measures="\n".join(measures))


def _range(low: float | None, high: float | None) -> str:
    """The range of a score in brackets; an infinite end is open."""
    return f"in {'(-∞' if low is None else f'[{low:.4g}'}, {'∞)' if high is None else f'{high:.4g}]'}"
