"""How well discriminators tell a model's texts from human ones, by decoder and length (Ippolito 2021, §3.4).

    python experiments/detection.py
    python experiments/detection.py --models gpt2 gpt2-medium --featurizer gpt2-large --device cuda

Accuracies are of held-out texts, balanced, 0.5 where the sets cannot be told apart. Texts are cut after so many tokens
of the last model, which also says how probable they are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import altair as alt
import numpy as np
from common import AXIS, argument_parser, marks_of, measured_row, progress, save
from models import OF_EXAMPLES, Workshop, add_arguments

from mauve_metric.apps.describing.distances.discriminators import discriminate, discriminate_words
from mauve_metric.apps.describing.likelihood.likelihood_measures import (
    discriminator_ranks,
    discriminator_total_probability,
)
from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods
from mauve_metric.report.document import Column, TableRow

ACCURACIES = {  # key → what tables and figure call it
    "words": "bag of words",
    "features": "features",
    "ranks": "token ranks",
    "total": "total probability",
}
COLUMNS = (
    Column("model", "model"),
    Column("decoder", "decoder"),
    Column("tokens", "most tokens", "d"),
    *(Column(key, title, ".2f") for key, title in ACCURACIES.items()),
)


def beginnings(found: Likelihoods, tokens: int) -> Likelihoods:
    """The same texts cut after so many tokens."""
    ends = np.minimum(found.offsets[1:], found.offsets[:-1] + tokens - 1)
    kept = np.concatenate([np.arange(*span) for span in zip(found.offsets, ends, strict=False)])
    offsets = np.concatenate([[0], np.cumsum(ends - found.offsets[:-1])])
    names = ("token_ids", "log_probabilities", "ranks", "sparsemax", "most_likely", "choices")
    return replace(found, offsets=offsets, **{name: getattr(found, name)[kept] for name in names})


def row_of(workshop: Workshop, texts: Sequence[str], tokens: int) -> TableRow:
    """The accuracies of all discriminators for one set."""
    seed, sides = workshop.options.seed, (workshop.human, texts)
    cut = [workshop.first_tokens(side, tokens) for side in sides]
    rows = [workshop.features(side).features for side in cut]
    read = [beginnings(workshop.read(side), tokens) for side in sides]
    found = {
        "words": discriminate_words(*cut, seed=seed).accuracy,
        "features": discriminate(*rows, seed=seed).accuracy,
        "ranks": discriminator_ranks(*read, seed=seed),
        "total": discriminator_total_probability(*read, seed=seed),
    }
    return {key: value for name, item in found.items() for key, value in measured_row(name, item).items()}


def rows_of(workshop: Workshop, decoders: Sequence[str], lengths: Sequence[int]) -> list[TableRow]:
    """One row a model, decoder and length."""
    steps = [(m, decoder, tokens) for m in workshop.options.models for decoder in decoders for tokens in lengths]
    rows: list[TableRow] = []
    for model, decoder, tokens in progress(steps, "detection"):
        names: TableRow = {"model": model, "decoder": decoder, "tokens": tokens}
        rows.append(names | row_of(workshop, workshop.write(model, decoder), tokens))
    return rows


def figure(rows: Sequence[TableRow]) -> alt.HConcatChart:
    """Accuracy by length, one line a decoder, one panel a discriminator, of the last model."""
    shown = [row for row in rows if row["model"] == rows[-1]["model"]]
    decoders, axis = list(dict.fromkeys(str(row["decoder"]) for row in rows)), alt.Axis(**AXIS)
    marks, panels = marks_of(decoders, "decoder"), []
    for key, title in ACCURACIES.items():
        base = alt.Chart(alt.InlineData(values=shown)).encode(
            x=alt.X("tokens:Q", title="most tokens of a text", axis=axis), color=marks["color"]
        )
        y = alt.Y(f"{key}:Q", title=None, scale=alt.Scale(domain=[0.4, 1]), axis=axis)
        points = base.mark_point(filled=True, size=60, opacity=0.9).encode(y=y, shape=marks["shape"])
        layers = [base.mark_line().encode(y=y), points]
        panels.append(alt.LayerChart(layer=layers).properties(width=150, height=200, title=title))
    return alt.HConcatChart(hconcat=panels).properties(
        title="How often discriminators are right, by length and decoder",
        description="Held-out accuracy of four discriminators for each decoder and length, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    parser.add_argument("--decoders", nargs="+", default=list(OF_EXAMPLES), help="as of `mauve-metric generate`")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[25, 50, 120], help="most tokens (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, options.decoders, sorted(options.lengths))
    return save(
        "detection",
        "Accuracy of discriminators by decoder and length",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[
            workshop.said(),
            f"Ranks and total probability are those of the first {options.read} texts of a set under {workshop.judge}. "
            "In parentheses: 95 % intervals.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
