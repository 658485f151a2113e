"""Precision and recall by temperature and top-p (Le Bronnec et al. 2024).

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
from common import AXIS, INK, argument_parser, described_row, marks_of, progress, save, share_row
from models import Workshop, add_arguments

from mauve_metric.report.document import Column, TableRow

HUMAN = "other human texts"
SWEPT = {"temperature": "temperature", "top-p": "top_p"}  # title → setting
COLUMNS = (
    Column("model", "model"),
    Column("swept", "what changes"),
    Column("value", "to", ".2f"),
    Column("mauve_debiased", "debiased MAUVE", ".3f"),
    Column("mauve_classifier", "by classifier", ".3f"),
    Column("precision", "precision", ".2f"),
    Column("recall", "recall", ".2f"),
    Column("coverage", "coverage", ".2f"),
)


def decoder_of(swept: str, value: float) -> str:
    """The decoder of one point; at 0 both decode greedily, and at 1 both sample from the model's whole distribution."""
    return {0.0: "greedy", 1.0: "sampling"}.get(value, f"{SWEPT[swept]}={value:g}")


def rows_of(workshop: Workshop, sweeps: Mapping[str, Sequence[float]]) -> list[TableRow]:
    """One row a model and setting; the first is other human texts."""
    points = [(model, *point) for model in workshop.options.models for point in _points(sweeps)]
    names = {point: "/".join(map(str, point)) for point in points}
    sets = {HUMAN: workshop.other_human}
    for point, name in progress(names.items(), "settings"):
        sets[name] = workshop.write(point[0], decoder_of(*point[1:]))
    found, count = workshop.describe(sets, "score"), workshop.options.texts

    def numbers(name: str) -> TableRow:
        scores = described_row(found, name, ["mauve_debiased", "mauve_classifier"])
        for key in ("precision", "recall", "coverage"):
            scores |= share_row(key, found.models[name][key].value, count)
        return scores

    first: TableRow = {"model": HUMAN, "swept": "–"}
    rows = [first | numbers(HUMAN)]
    for (model, swept, value), name in names.items():
        row: TableRow = {"model": model, "swept": swept, "value": value}
        rows.append(row | numbers(name))
    return rows


def _points(sweeps: Mapping[str, Sequence[float]]) -> list[tuple[str, float]]:
    return [(swept, value) for swept, values in sweeps.items() for value in values]


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
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0, 0.7, 1])
    parser.add_argument("--top-p", type=float, nargs="+", default=[0, 0.5, 0.95, 1])
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, {"temperature": options.temperatures, "top-p": options.top_p})
    return save(
        "quality_diversity",
        "Quality and diversity by temperature and top-p",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[
            workshop.said(),
            "Temperature 0 and top-p 0 are greedy decoding. In parentheses: 95 % intervals; those of the three "
            "shares, by Wilson, hold the chance in the texts that are counted, not in the balls around the others.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
