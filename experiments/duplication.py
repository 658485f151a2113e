"""MAUVE of a model that copies a share of its training texts (after Lee et al. 2022; Alaa et al. 2022).

    python experiments/duplication.py
    python experiments/duplication.py --models gpt2-xl --featurizer gpt2-large --device cuda

A share of what the last model writes under nucleus sampling is replaced by the human texts of `--human` behind the
first `--texts`, as if it had been trained on them and copied them. MAUVE does not know
these; the measures of copying do.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
from common import AXIS, argument_parser, described_row, marks_of, measured_row, progress, save
from models import Workshop, add_arguments

from mauve_metric.apps.describing.distances.authenticity import authenticity, data_copying
from mauve_metric.apps.describing.memorisation import memorisation
from mauve_metric.report.document import Column, TableRow

MEASURES = (
    Column("mauve", "MAUVE", ".3f"),
    Column("mauve_debiased", "debiased", ".3f"),
    Column("precision", "precision", ".3f"),
    Column("recall", "recall", ".3f"),
)
COLUMNS = (
    Column("share", "share copied", ".2f"),
    *MEASURES,
    Column("memorised", "memorised", ".3f"),
    Column("authenticity", "authenticity", ".3f"),
    Column("copying", "data copying C_T", ".2f"),
)
DECODER = "top_p=0.95"
SHOWN = {"mauve_debiased": "debiased MAUVE", "memorised": "memorised", "authenticity": "authenticity"}


def copied(written: Sequence[str], training: Sequence[str], share: float, seed: int) -> list[str]:
    """The texts with a share of them, drawn by the seed, replaced by training texts.

    The texts that a smaller share replaces are among those of a larger one.

    Args:
        written: of the model. training: at least as many. share: in [0, 1].

    >>> copied(["a", "b", "c", "d"], ["A", "B", "C", "D"], 0.5, seed=0)
    ['A', 'b', 'C', 'd']
    """
    order = random.Random(seed).sample(range(len(written)), len(written))
    chosen = set(order[: round(share * len(written))])
    return [training[place] if place in chosen else text for place, text in enumerate(written)]


def rows_of(workshop: Workshop, shares: Sequence[float], window: int) -> list[TableRow]:
    """One row a share."""
    options, passages = workshop.options, workshop.rest
    written = workshop.write(workshop.judge, DECODER)
    sets = {f"{share:g}": copied(written, passages, share, options.seed) for share in shares}
    found, training = workshop.describe(sets, "score"), workshop.features(passages).features
    human = workshop.features(workshop.human).features
    rows: list[TableRow] = []
    for share, (name, texts) in progress(zip(shares, sets.items(), strict=True), "shares", len(sets)):
        three = (human, workshop.features(texts).features, training)
        row: TableRow = {"share": share} | described_row(found, name, [column.key for column in MEASURES])
        row["memorised"] = memorisation(texts, passages, length=window).rate
        row |= measured_row("authenticity", authenticity(*three))
        rows.append(row | measured_row("copying", data_copying(*three, seed=options.seed)))
    return rows


def figure(rows: Sequence[TableRow]) -> alt.LayerChart:
    """MAUVE and the measures of copying, by share."""
    values = [
        {"share": row["share"], "measure": title, "value": row[key]} for row in rows for key, title in SHOWN.items()
    ]
    axis, marks = alt.Axis(**AXIS), marks_of(list(SHOWN.values()), "measure")
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("share:Q", title="share of the texts that are copies of training texts", axis=axis),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=axis),
        color=marks["color"],
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(shape=marks["shape"])
    return alt.LayerChart(layer=[base.mark_line(), points]).properties(
        width=420,
        height=280,
        title="A model that copies: what MAUVE sees, and what the measures of copying see",
        description="Debiased MAUVE, memorisation and authenticity by share of copied texts, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
    parser.add_argument("--window", type=int, default=20, help="words that count as copied (default: %(default)s)")
    options = parser.parse_args(arguments)
    if not all(0 <= share <= 1 for share in options.shares):
        parser.error(f"--shares must be in [0, 1], got {options.shares}")
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, sorted(options.shares), options.window)
    return save(
        "duplication",
        "MAUVE of a model that copies its training texts",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[
            workshop.said(),
            f"Decoder: {DECODER} of {workshop.judge}. Copies are of {len(workshop.rest)} other human texts, the ones "
            f"that memorisation (windows of {options.window} words), authenticity and C_T take. In parentheses: 95 % "
            "intervals.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
