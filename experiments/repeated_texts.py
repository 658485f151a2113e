"""Perplexity of passages by how many copies of them there are (Lee et al. 2022; Ippolito 2021, Table 4.8).

    python experiments/repeated_texts.py
    python experiments/repeated_texts.py --models gpt2-xl --texts 500 --device cuda

The passages are of the licences of all installed packages: some are in many of them, and so many times in what models
of the web are trained on, others in one alone.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
import numpy as np
from common import AXIS, argument_parser, progress, save
from domains import licence_files, passages
from models import Workshop, add_arguments

from mauve_metric.apps.describing.likelihood.likelihood_measures import mean_log_probability
from mauve_metric.report.document import Column, TableRow
from mauve_metric.uncertainty.mean_intervals import mean_interval

GROUPS = {"in one licence": (1, 1), "in 2 to 4": (2, 4), "in 5 or more": (5, 10**9)}
COLUMNS = (
    Column("group", "passages"),
    Column("number", "how many there are", "d"),
    Column("read", "read", "d"),
    Column("perplexity", "perplexity", ".1f"),
)


def by_copies(documents: Sequence[str]) -> Mapping[str, list[str]]:
    """The different passages of documents by the number of documents that have them."""
    count = Counter(passage for document in documents for passage in passages([document]))
    return {
        name: [passage for passage, number in count.items() if low <= number <= high]
        for name, (low, high) in GROUPS.items()
    }


def rows_of(workshop: Workshop, groups: Mapping[str, Sequence[str]]) -> list[TableRow]:
    """One row a group: the geometric mean of the perplexities of some of its passages."""
    rows: list[TableRow] = []
    for name, texts in progress(groups.items(), "groups", len(groups)):
        some = random.Random(workshop.options.seed).sample(list(texts), min(workshop.options.read, len(texts)))
        logs = -mean_log_probability(workshop.read(some))
        low, high = mean_interval(logs, 0.95) or (None, None)
        row: TableRow = {
            "group": name,
            "number": len(texts),
            "read": len(some),
            "perplexity": float(np.exp(logs.mean())),
        }
        row |= {f"perplexity_{end}": value and float(np.exp(value)) for end, value in (("low", low), ("high", high))}
        rows.append(row)
    return rows


def figure(rows: Sequence[TableRow]) -> alt.LayerChart:
    """Perplexity with its interval by group."""
    axis, scale = alt.Axis(**AXIS), alt.Scale(type="log", nice=False)
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        y=alt.Y("group:N", title=None, sort=list(GROUPS), axis=axis)
    )
    bars = base.mark_rule(opacity=0.6).encode(
        x=alt.X("perplexity_low:Q", title="perplexity", scale=scale, axis=axis), x2="perplexity_high:Q"
    )
    return alt.LayerChart(
        layer=[bars, base.mark_point(filled=True, size=60, opacity=1).encode(x="perplexity:Q")]
    ).properties(
        width=360,
        height={"step": 30},
        title="Passages of licences: perplexity by the number of their copies",
        description="Perplexity of passages with its interval, by the number of licences that have them.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, by_copies(licence_files()))
    return save(
        "repeated_texts",
        "Perplexity of passages that are repeated",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[
            "Passages of 25 to 60 words of the licences of all packages installed. "
            f"Geometric means of the perplexities under {workshop.judge}, with 95 % intervals in parentheses. "
            f"Seed {options.seed}.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
