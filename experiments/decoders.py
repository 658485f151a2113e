"""MAUVE and its company by decoding rule (Pillutla et al. 2021, §4.1 and Tables 6 to 11).

    python experiments/decoders.py
    python experiments/decoders.py --models gpt2 gpt2-medium gpt2-large --featurizer gpt2-large --device cuda

Models continue the first tokens of human passages. Perplexity is that of the texts under the last model.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
from adversarial import ADVERSARIAL, adversarial_texts
from common import AXIS, INK, argument_parser, described_row, marks_of, progress, save
from models import OF_EXAMPLES, Workshop, add_arguments

from mauve_metric.apps.describing.likelihood.likelihood_measures import generation_perplexity
from mauve_metric.report.document import Column, TableRow
from mauve_metric.uncertainty.mean_intervals import mean_interval

HUMAN = "human, other texts"
SCORES = (
    Column("mauve", "MAUVE", ".3f"),
    Column("mauve_debiased", "debiased", ".3f"),
    Column("mauve_classifier", "by classifier", ".3f"),
)
LEXICAL = (
    Column("zipf", "Zipf", ".3f"),
    Column("repetition", "repetition", ".3f"),
    Column("distinct_4", "distinct-4", ".3f"),
    Column("self_bleu", "self-BLEU", ".3f"),
)
PERPLEXITY = Column("perplexity", "perplexity", ".1f")
COLUMNS = (Column("model", "model"), Column("decoder", "decoder"), *SCORES, PERPLEXITY, *LEXICAL)


def perplexity(workshop: Workshop, texts: Sequence[str]) -> TableRow:
    """Of texts under the last model."""
    values = generation_perplexity(workshop.read(texts))
    low, high = mean_interval(values, 0.95) or (None, None)
    return {"perplexity": float(values.mean()), "perplexity_low": low, "perplexity_high": high}


def rows_of(workshop: Workshop, decoders: Sequence[str]) -> list[TableRow]:
    """One row a model and decoder; the first two are human texts, and others of theirs."""
    sets = {(HUMAN, "–"): workshop.other_human}
    for model, decoder in progress([(m, d) for m in workshop.options.models for d in decoders], "decoders"):
        sets[model, decoder] = (
            adversarial_texts(workshop, model) if decoder == ADVERSARIAL else workshop.write(model, decoder)
        )
    names = [column.key for column in (*SCORES, *LEXICAL)]
    found = workshop.describe({"/".join(pair): texts for pair, texts in sets.items()}, "score,lexical")
    rows = [
        {"model": "human", "decoder": "–"} | described_row(found, None, names) | perplexity(workshop, workshop.human)
    ]
    for (model, decoder), texts in progress(sets.items(), "perplexity"):
        row: TableRow = {"model": model, "decoder": decoder} | described_row(found, f"{model}/{decoder}", names)
        rows.append(row | perplexity(workshop, texts))
    return rows


def figure(rows: Sequence[TableRow], models: Sequence[str], decoders: Sequence[str]) -> alt.LayerChart:
    """Debiased MAUVE with its interval by decoder, one mark a model, the ceiling of human text as a line."""
    shown = [row for row in rows if row["model"] in models]
    ceiling = next(row["mauve_debiased"] for row in rows if row["model"] == HUMAN)
    base = alt.Chart(alt.InlineData(values=shown)).encode(
        y=alt.Y("decoder:N", sort=list(decoders), title=None, axis=alt.Axis(**AXIS)),
        yOffset=alt.YOffset("model:N", sort=list(models)),
    )
    scale = alt.Scale(domain=[0, 1])
    bars = base.mark_rule().encode(
        x=alt.X("mauve_debiased_low:Q", scale=scale, title="debiased MAUVE", axis=alt.Axis(**AXIS)),
        x2="mauve_debiased_high:Q",
        color=marks_of(models)["color"],
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x="mauve_debiased:Q", **marks_of(models))
    line = alt.Chart(alt.InlineData(values=[{"ceiling": ceiling}]))
    line = line.mark_rule(strokeDash=[4, 4], color=INK).encode(x="ceiling:Q")
    return alt.LayerChart(layer=[line, bars, points]).properties(
        width=360,
        height={"step": 24},
        title="Decoders: debiased MAUVE with its interval, and that of other human texts (dashed)",
        description="Debiased MAUVE of each model and decoder, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser, texts=600)
    more = f"as of `mauve-metric generate`, or {ADVERSARIAL} (default: those of the examples)"
    parser.add_argument("--decoders", nargs="+", default=list(OF_EXAMPLES), help=more)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, options.decoders)
    return save(
        "decoders",
        "MAUVE by decoder",
        COLUMNS,
        rows,
        figure(rows, options.models, options.decoders),
        seconds=time.monotonic() - started,
        notes=[
            workshop.said(),
            f"MAUVE on buckets common to all sets. Perplexity under {workshop.judge}: that of the first "
            f"{options.read} texts. Zipf, repetition, distinct-4 and self-BLEU count words. In parentheses: 95 % "
            "intervals; that of repetition holds the chance in the human texts too.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
