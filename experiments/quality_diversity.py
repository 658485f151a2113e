"""Precision and recall by temperature, top-p and model size (Le Bronnec et al. 2024).

    python experiments/quality_diversity.py
    python experiments/quality_diversity.py --models gpt2 gpt2-medium --featurizer gpt2-large --texts 600 --device cuda

Precision is the share of the model's texts among human ones, recall the share of human texts among the model's, by
nearest neighbours of the features.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
from common import AXIS, INK, SCORE_COLUMNS, argument_parser, marks_of, progress, save, score_row
from decoding import nucleus, temperature
from models import Workshop, add_arguments

from mauve_metric.report.document import Column, TableRow

HUMAN = "other human texts"
COLUMNS = (
    Column("model", "model"),
    Column("swept", "what changes"),
    Column("value", "to", ".2f"),
    *SCORE_COLUMNS,
)


def settings_of(swept: str, value: float) -> tuple[str, Mapping[str, object]]:
    """The decoder of one point."""
    return temperature(value) if swept == "temperature" else nucleus(value)


def rows_of(workshop: Workshop, sweeps: Mapping[str, Sequence[float]]) -> list[TableRow]:
    """One row a model and setting; the first is other human texts."""
    human = workshop.features(workshop.human)
    first: TableRow = {"model": HUMAN, "swept": "–"}
    rows = [first | score_row(human, workshop.features(workshop.other_human), workshop.options.seed)]
    points = [(swept, value) for swept, values in sweeps.items() for value in values]
    steps = [(model, *point) for model in workshop.options.models for point in points]
    for model, swept, value in progress(steps, "settings"):
        found = workshop.features(workshop.write(model, *settings_of(swept, value)))
        row: TableRow = {"model": model, "swept": swept, "value": value}
        rows.append(row | score_row(human, found, workshop.options.seed))
    return rows


def figure(rows: Sequence[TableRow]) -> alt.VConcatChart:
    """Precision and recall by setting, one line a model, one column a sweep; other human texts as a dashed line."""
    models = list(dict.fromkeys(str(row["model"]) for row in rows if row["swept"] != "–"))
    sweeps = dict.fromkeys(str(row["swept"]) for row in rows if row["swept"] != "–")
    titles = {"precision": "precision (quality)", "recall": "recall (diversity)"}
    lines = [[panel(rows, models, swept, *named) for swept in sweeps] for named in titles.items()]
    return alt.VConcatChart(vconcat=[alt.HConcatChart(hconcat=line) for line in lines]).properties(
        title="Quality and diversity by temperature and top-p; dashed: other human texts",
        description="Precision and recall of each model and setting, as in the table.",
    )


def panel(rows: Sequence[TableRow], models: Sequence[str], swept: str, key: str, title: str) -> alt.LayerChart:
    """One measure along one sweep."""
    marks, axis = marks_of(models), alt.Axis(**AXIS)
    base = alt.Chart(alt.InlineData(values=[row for row in rows if row["swept"] == swept])).encode(
        x=alt.X("value:Q", title=swept, scale=alt.Scale(zero=False), axis=axis),
        y=alt.Y(f"{key}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis),
        color=marks["color"],
    )
    human = alt.Chart(alt.InlineData(values=[row for row in rows if row["swept"] == "–"]))
    layers = [
        human.mark_rule(strokeDash=[4, 4], color=INK).encode(y=f"{key}:Q"),
        base.mark_line(),
        base.mark_point(filled=True, size=60, opacity=1).encode(shape=marks["shape"]),
    ]
    return alt.LayerChart(layer=layers).properties(width=280, height=200)


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.5, 0.7, 1.0, 1.3])
    parser.add_argument("--top-p", type=float, nargs="+", default=[0.5, 0.8, 0.95, 1.0])
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, {"temperature": options.temperatures, "top-p": options.top_p})
    return save(
        "quality_diversity",
        "Quality and diversity by temperature, top-p and model size",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[workshop.said()],
        out=options.out,
    )


if __name__ == "__main__":
    main()
