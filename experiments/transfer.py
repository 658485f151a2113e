"""Discriminators trained on one decoder's texts and tested on another's (Ippolito et al. 2020; 2021, Table 3.5).

    python experiments/transfer.py
    python experiments/transfer.py --models gpt2 gpt2-xl --featurizer gpt2-large --device cuda

A logistic regression on the features, on texts that it was not trained on, human and a model's in equal parts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
from common import AXIS, argument_parser, measured_row, progress, save
from models import OF_EXAMPLES, Workshop, add_arguments

from mauve_metric.apps.describing.distances.discriminators import TransferTable, transfer_table
from mauve_metric.report.document import Column, TableRow

ALL = "all of them"


def table_of(workshop: Workshop, decoders: Sequence[str]) -> TransferTable:
    """The discriminators of all models and decoders."""
    models = workshop.options.models
    names = {
        (model, decoder): decoder if len(models) == 1 else f"{model} {decoder}"
        for model in models
        for decoder in decoders
    }
    rows = {
        name: workshop.features(workshop.write(*pair)).features for pair, name in progress(names.items(), "features")
    }
    return transfer_table(workshop.features(workshop.human).features, rows, seed=workshop.options.seed)


def rows_of(found: TransferTable) -> list[TableRow]:
    """One row for each set that a discriminator was trained on, with its accuracy on every set."""
    accuracies = {**found.accuracy, ALL: {name: both.accuracy for name, both in found.mixed.items()}}
    rows: list[TableRow] = []
    for trained, tested in accuracies.items():
        row: TableRow = {"trained": trained}
        for name, accuracy in tested.items():
            row |= measured_row(name, accuracy)
        rows.append(row)
    return rows


def figure(rows: Sequence[TableRow], names: Sequence[str]) -> alt.LayerChart:
    """The accuracies as a map."""
    values = [{"trained": row["trained"], "tested": name, "accuracy": row[name]} for row in rows for name in names]
    axis = alt.Axis(**AXIS)
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("tested:N", title="tested on", sort=list(names), axis=axis),
        y=alt.Y("trained:N", title="trained on", sort=[*names, ALL], axis=axis),
    )
    scale = alt.Scale(domain=[0.5, 1], scheme="blues", clamp=True)
    cells = base.mark_rect().encode(color=alt.Color("accuracy:Q", scale=scale, legend=None))
    words = base.mark_text().encode(
        text=alt.Text("accuracy:Q", format=".2f"),
        color=alt.condition("datum.accuracy > 0.8", alt.value("#FFFFFF"), alt.value("#1F1F1F")),
    )
    return alt.LayerChart(layer=[cells, words]).properties(
        width={"step": 70},
        height={"step": 30},
        title="Discriminators across decoders: accuracy",
        description="Held-out accuracy of discriminators trained on one decoder, tested on another, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser, texts=600)
    parser.add_argument("--decoders", nargs="+", default=list(OF_EXAMPLES), help="as of `mauve-metric generate`")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(table_of(workshop, options.decoders))
    names = [str(row["trained"]) for row in rows[:-1]]
    return save(
        "transfer",
        "Discriminators across decoders",
        (Column("trained", "trained on"), *(Column(name, name, ".2f") for name in names)),
        rows,
        figure(rows, names),
        seconds=time.monotonic() - started,
        notes=[workshop.said(), "Columns: tested on. In parentheses: 95 % intervals."],
        out=options.out,
    )


if __name__ == "__main__":
    main()
