"""MAUVE and its company by the length of the texts (Pillutla et al. 2021, §4.1).

    python experiments/text_length.py
    python experiments/text_length.py --models gpt2 gpt2-xl --featurizer gpt2-large --device cuda

What the models write under nucleus sampling, and the human texts, are cut after so many words.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
from common import AXIS, SCORE_COLUMNS, argument_parser, marks_of, progress, save, score_row
from decoding import nucleus
from models import Workshop, add_arguments, first_words

from mauve_metric.apps.describing.distances.discriminators import discriminate
from mauve_metric.lexical.diversity import distinct_n
from mauve_metric.lexical.ngrams import letter_runs
from mauve_metric.report.document import Column, TableRow

HUMAN = "other human texts"
COLUMNS = (
    Column("model", "model"),
    Column("words", "words", "d"),
    *SCORE_COLUMNS,
    Column("auc", "discriminator AUC", ".3f"),
    Column("distinct_4", "distinct-4", ".3f"),
)


def rows_of(workshop: Workshop, lengths: Sequence[int]) -> list[TableRow]:
    """One row a set and length."""
    decoder, settings = nucleus(0.95)
    sets = {HUMAN: workshop.other_human}
    sets |= {model: workshop.write(model, decoder, settings) for model in workshop.options.models}
    steps = [(length, name) for length in lengths for name in sets]
    rows: list[TableRow] = []
    for length, name in progress(steps, "lengths"):
        texts = [first_words(text, length) for text in sets[name]]
        human = workshop.features([first_words(text, length) for text in workshop.human])
        found = workshop.features(texts)
        row: TableRow = {"model": name, "words": length}
        row |= score_row(human, found, workshop.options.seed)
        prompts = {} if name == HUMAN else {"groups_p": range(len(texts)), "groups_q": range(len(texts))}
        auc = discriminate(human.features, found.features, seed=workshop.options.seed, **prompts).auc.value
        rows.append(row | {"auc": auc, "distinct_4": distinct_n([letter_runs(text) for text in texts], 4)})
    return rows


def figure(rows: Sequence[TableRow]) -> alt.LayerChart:
    """Debiased MAUVE with its interval by length."""
    names = list(dict.fromkeys(str(row["model"]) for row in rows))
    base = alt.Chart(alt.InlineData(values=list(rows))).encode(
        x=alt.X("words:Q", title="words of a text", axis=alt.Axis(**AXIS)), color=marks_of(names)["color"]
    )
    y = alt.Y("debiased:Q", title="debiased MAUVE", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(**AXIS))
    intervals, lines = base.mark_rule(opacity=0.5).encode(y="low:Q", y2="high:Q"), base.mark_line().encode(y=y)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, shape=marks_of(names)["shape"])
    return alt.LayerChart(layer=[lines, intervals, points]).properties(
        width=420,
        height=280,
        title="Longer texts: debiased MAUVE with its interval",
        description="Debiased MAUVE of each model by the length of the texts, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=[12, 20, 30, 45, 70], help="in words, at most --words"
    )
    options = parser.parse_args(arguments)
    if max(options.lengths) > options.words or min(options.lengths) < 1:
        parser.error(f"--lengths must be between 1 and --words={options.words}, got {options.lengths}")
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, sorted(options.lengths))
    return save(
        "text_length",
        "MAUVE by text length",
        COLUMNS,
        rows,
        figure(rows),
        seconds=time.monotonic() - started,
        notes=[workshop.said(), "Decoder: nucleus 0.95. The discriminator is a logistic regression on the features."],
        out=options.out,
    )


if __name__ == "__main__":
    main()
