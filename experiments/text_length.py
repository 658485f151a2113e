"""MAUVE and its company by the length of the texts (Pillutla et al. 2021, §4.1).

    python experiments/text_length.py
    python experiments/text_length.py --models gpt2-xl --featurizer gpt2-large --device cuda

The texts of the models and the human texts are cut after so many tokens of the last model.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
from common import AXIS, argument_parser, described_row, marks_of, progress, save
from models import OF_EXAMPLES, Workshop, add_arguments

from mauve_metric.report.document import Column, TableRow

HUMAN = "other human texts"
COLUMNS = (
    Column("set", "texts"),
    Column("tokens", "most tokens", "d"),
    Column("mauve", "MAUVE", ".3f"),
    Column("mauve_debiased", "debiased", ".3f"),
    Column("mauve_classifier", "by classifier", ".3f"),
)


def rows_of(workshop: Workshop, decoders: Sequence[str], lengths: Sequence[int]) -> list[TableRow]:
    """One row a set and length."""
    sets = {HUMAN: workshop.other_human}
    for model in workshop.options.models:
        names = {
            decoder: decoder if len(workshop.options.models) == 1 else f"{model} {decoder}" for decoder in decoders
        }
        sets |= {name: workshop.write(model, decoder) for decoder, name in names.items()}
    scores, rows = [column.key for column in COLUMNS[2:]], []
    for tokens in progress(lengths, "lengths"):
        found = workshop.describe(sets, "score", tokens)
        for name in sets:
            row: TableRow = {"set": name, "tokens": tokens}
            rows.append(row | described_row(found, name, scores))
    return rows


def figure(rows: Sequence[TableRow]) -> alt.LayerChart:
    """Debiased MAUVE with its interval by length."""
    names = list(dict.fromkeys(str(row["set"]) for row in rows))
    marks = marks_of(names, "set")
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        x=alt.X("tokens:Q", title="most tokens of a text", axis=alt.Axis(**AXIS)), color=marks["color"]
    )
    y = alt.Y("mauve_debiased:Q", title="debiased MAUVE", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(**AXIS))
    intervals = base.mark_rule(opacity=0.5).encode(y="mauve_debiased_low:Q", y2="mauve_debiased_high:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, shape=marks["shape"])
    return alt.LayerChart(layer=[base.mark_line().encode(y=y), intervals, points]).properties(
        width=420,
        height=280,
        title="Longer texts: debiased MAUVE with its interval",
        description="Debiased MAUVE of each set by the length of the texts, as in the table.",
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
        "text_length",
        "MAUVE by text length",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[workshop.said(), "The sets of a length share their buckets. In parentheses: 95 % intervals."],
        out=options.out,
    )


if __name__ == "__main__":
    main()
