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
from common import AXIS, SCORE_COLUMNS, argument_parser, marks_of, progress, save, score_row
from decoding import nucleus, temperature
from models import Workshop, add_arguments

from mauve_metric.results.table_forms import Column, TableRow

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
    pairs = [(model, *point) for model in workshop.options.models for point in points]
    steps = [step for step in pairs if workshop.can_write(step[0], settings_of(*step[1:])[0])]
    for model, swept, value in progress(steps, "settings"):
        found = workshop.features(workshop.write(model, *settings_of(swept, value)))
        row: TableRow = {"model": model, "swept": swept, "value": value}
        rows.append(row | score_row(human, found, workshop.options.seed))
    return rows


def figure(rows: Sequence[TableRow]) -> alt.HConcatChart:
    """Recall against precision, one path a model, one panel a sweep."""
    models = list(dict.fromkeys(str(row["model"]) for row in rows if row["swept"] != "–"))
    human = [row for row in rows if row["swept"] == "–"]
    panels, marks = [], marks_of(models)
    for swept in dict.fromkeys(str(row["swept"]) for row in rows if row["swept"] != "–"):
        values = [row for row in rows if row["swept"] == swept]
        unit = alt.Scale(domain=[0, 1])
        base = alt.Chart(alt.InlineData(values=values)).encode(
            x=alt.X("recall:Q", title="recall (diversity)", scale=unit, axis=alt.Axis(**AXIS)),
            y=alt.Y("precision:Q", title="precision (quality)", scale=unit, axis=alt.Axis(**AXIS)),
            color=marks["color"],
        )
        order = alt.Order("value:Q")
        star = alt.Chart(alt.InlineData(values=human)).mark_point(shape="cross", size=90, color="#767676", filled=True)
        layers = [
            base.mark_line(opacity=0.6).encode(order=order),
            base.mark_point(filled=True, size=60, opacity=1).encode(shape=marks["shape"]),
            base.mark_text(dy=-10, fontSize=10).encode(text=alt.Text("value:Q", format=".2~f")),
            star.encode(x="recall:Q", y="precision:Q"),
        ]
        panels.append(alt.LayerChart(layer=layers).properties(width=260, height=260, title=swept))
    return alt.HConcatChart(hconcat=panels).properties(
        title="Quality against diversity by temperature and top-p; grey cross: other human texts",
        description="Precision and recall of each model and setting, as in the table.",
    )


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
