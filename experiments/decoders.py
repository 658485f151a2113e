"""MAUVE and its company by decoding rule and model size (Pillutla et al. 2021, §4.1 and Tables 6 to 11).

    python experiments/decoders.py
    python experiments/decoders.py --models gpt2 gpt2-medium gpt2-large --featurizer gpt2-large --device cuda

Models continue the first words of human passages. Perplexity is that of the texts under the last model with weights.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import altair as alt
from common import AXIS, INK, SCORE_COLUMNS, argument_parser, marks_of, progress, save, score_row
from decoding import ALL, texts_by
from models import Workshop, add_arguments

from mauve_metric.apps.describing.lexical.self_bleu import self_bleu
from mauve_metric.apps.describing.likelihood.likelihood_measures import generation_perplexity
from mauve_metric.apps.describing.likelihood.likelihoods import likelihoods
from mauve_metric.lexical.diversity import distinct_n, repetition
from mauve_metric.lexical.ngrams import letter_runs
from mauve_metric.options import RunOptions
from mauve_metric.report.document import Column, TableRow

HUMAN = "human, other texts"
COLUMNS = (
    Column("model", "model"),
    Column("decoder", "decoder"),
    *SCORE_COLUMNS,
    Column("perplexity", "perplexity", ".1f"),
    Column("distinct_4", "distinct-4", ".3f"),
    Column("self_bleu", "self-BLEU", ".3f"),
    Column("repetition", "repetition", ".3f"),
)


def text_numbers(texts: Sequence[str]) -> TableRow:
    """Distinct 4-grams, self-BLEU and repetition over words and marks."""
    tokens = [letter_runs(text) for text in texts]
    return {"distinct_4": distinct_n(tokens, 4), "self_bleu": self_bleu(tokens), "repetition": repetition(tokens)}


def perplexity(workshop: Workshop, texts: Sequence[str]) -> float:
    """Of texts under the last model."""
    judge = workshop.model(workshop.judge)
    found = likelihoods(list(texts), judge, run=RunOptions(cache=workshop.folder / "features"), prepend_bos=True)
    return float(generation_perplexity(found).mean())


def rows_of(workshop: Workshop) -> list[TableRow]:
    """One row a model and decoder; the first two are human texts, and others of theirs."""
    human = workshop.features(workshop.human)
    sets: list[tuple[str, str, Any]] = [(HUMAN, "–", lambda: workshop.other_human)]
    sets += [
        (model, decoder, partial(texts_by, workshop, model, decoder))
        for model in workshop.options.models
        for decoder in ALL
    ]
    about: TableRow = {"perplexity": perplexity(workshop, workshop.human)}
    rows: list[TableRow] = [{"model": "human", "decoder": "–"} | about | text_numbers(workshop.human)]
    for model, decoder, write in progress(sets, "decoders"):
        texts = write()
        scores = score_row(human, workshop.features(texts), workshop.options.seed)
        names: TableRow = {"model": model, "decoder": decoder, "perplexity": perplexity(workshop, texts)}
        rows.append(names | scores | text_numbers(texts))
    return rows


def figure(rows: Sequence[TableRow], models: Sequence[str]) -> alt.LayerChart:
    """Debiased MAUVE with its interval by decoder, one mark a model, the ceiling of human text as a line."""
    shown = [row for row in rows if row["model"] in models]
    ceiling = next(row["debiased"] for row in rows if row["model"] == HUMAN)
    base = alt.Chart(alt.InlineData(values=shown)).encode(
        y=alt.Y("decoder:N", sort=list(ALL), title=None, axis=alt.Axis(**AXIS)),
        yOffset=alt.YOffset("model:N", sort=list(models)),
    )
    scale = alt.Scale(domain=[0, 1])
    bars = base.mark_rule().encode(
        x=alt.X("low:Q", scale=scale, title="debiased MAUVE", axis=alt.Axis(**AXIS)),
        x2="high:Q",
        color=marks_of(models)["color"],
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x="debiased:Q", **marks_of(models))
    line = alt.Chart(alt.InlineData(values=[{"ceiling": ceiling}]))
    line = line.mark_rule(strokeDash=[4, 4], color=INK).encode(x="ceiling:Q")
    return alt.LayerChart(layer=[line, bars, points]).properties(
        width=360,
        height={"step": 16},
        title="Decoders: debiased MAUVE with its interval, and that of other human texts (dashed)",
        description="Debiased MAUVE of each model and decoder, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop)
    return save(
        "decoders",
        "MAUVE by decoder and model size",
        COLUMNS,
        rows,
        figure(rows, options.models),
        seconds=time.monotonic() - started,
        notes=[
            workshop.said(),
            f"Perplexity is that under {workshop.judge}; distinct-4, self-BLEU and repetition count words.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
