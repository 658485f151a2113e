"""How many tokens nucleus sampling chooses among, in human text and in models' (Ippolito 2021, §3.4 and Fig. 3.4).

    python experiments/nucleus_sizes.py
    python experiments/nucleus_sizes.py --models gpt2 gpt2-xl --read 500 --device cuda

k_t is the number of tokens that the last model would choose among for token t of a text, given those before it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
import numpy as np
from common import AXIS, argument_parser, progress, save
from models import OF_EXAMPLES, Workshop, add_arguments

from mauve_metric.apps.describing.likelihood.per_token import mean_by_text
from mauve_metric.arrays import Floats
from mauve_metric.report.document import Column, TableRow
from mauve_metric.uncertainty.mean_intervals import mean_interval

HUMAN = "human"
COLUMNS = (
    Column("set", "texts"),
    Column("mean", "mean k_t", ".0f"),
    Column("one", "share of one choice", ".2f"),
    Column("many", "share of 100 or more", ".2f"),
)


def row_of(workshop: Workshop, texts: Sequence[str], top_p: float) -> TableRow:
    """The numbers of one set, with intervals over texts."""
    found = workshop.read(texts, top_p=top_p)
    values: dict[str, Floats] = {
        "mean": found.choices.astype(float),
        "one": (found.choices == 1).astype(float),
        "many": (found.choices >= 100).astype(float),
    }
    row: TableRow = {}
    for name, each in values.items():
        by_text = mean_by_text(each, found.offsets)
        low, high = mean_interval(by_text, 0.95) or (None, None)
        row |= {name: float(np.mean(by_text)), f"{name}_low": low, f"{name}_high": high}
    return row


def rows_of(workshop: Workshop, decoders: Sequence[str], top_p: float) -> list[TableRow]:
    """One row a set."""
    sets = {HUMAN: workshop.human}
    for model in workshop.options.models:
        sets |= {f"{model} {decoder}": workshop.write(model, decoder) for decoder in decoders}
    steps = progress(sets.items(), "sets", len(sets))
    return [{"set": name, **row_of(workshop, texts, top_p)} for name, texts in steps]


def figure(rows: Sequence[TableRow]) -> alt.LayerChart:
    """Mean k_t with its interval, one line a set."""
    axis, scale = alt.Axis(**AXIS), alt.Scale(type="log", nice=False)
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        y=alt.Y("set:N", title=None, sort=[str(row["set"]) for row in rows], axis=alt.Axis(**AXIS, labelLimit=220))
    )
    bars = base.mark_rule(opacity=0.6).encode(
        x=alt.X("mean_low:Q", title="mean k_t", scale=scale, axis=axis), x2="mean_high:Q"
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x="mean:Q")
    return alt.LayerChart(layer=[bars, points]).properties(
        width=360,
        height={"step": 26},
        title="Tokens that nucleus sampling chooses among",
        description="Mean number of tokens that nucleus sampling chooses among with its interval, by set of texts.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    parser.add_argument("--decoders", nargs="+", default=list(OF_EXAMPLES), help="as of `mauve-metric generate`")
    parser.add_argument("--top-p", type=float, default=0.95, help="share of the probability (default: %(default)s)")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, options.decoders, options.top_p)
    return save(
        "nucleus_sizes",
        "Tokens that nucleus sampling chooses among",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[
            workshop.said(),
            f"k_t: the tokens that top-p {options.top_p:g} of {workshop.judge} keeps for each token of the first "
            f"{options.read} texts of a set. In parentheses: 95 % intervals over texts.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
