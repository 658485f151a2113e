"""Description, inputs and citation of the `evaluate` metric."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

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


def _text(name: str) -> str:
    """A text beside this file."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


CITATION, DESCRIPTION = _text("citation.bib"), _text("description.txt")


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
    return _text("inputs.txt").format(options="\n".join(options), scores="\n".join(scores))


def describe_statistics() -> tuple[str, str]:
    """Describe the statistics of one set of texts, and the arguments and results of their `compute`."""
    rows = statistics_rows().items()
    given = [f"    {name}: {row.title}, {_range(row.low, row.high)}; {row.meaning}" for name, row in rows]
    return _text("statistics.txt"), _text("statistics_inputs.txt").format(measures="\n".join(given))


def _range(low: float | None, high: float | None) -> str:
    """The range of a score in brackets; an infinite end is open."""
    return f"in {'(-∞' if low is None else f'[{low:.4g}'}, {'∞)' if high is None else f'{high:.4g}]'}"
