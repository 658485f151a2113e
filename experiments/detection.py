"""How well discriminators tell a model's texts from human ones, by decoding rule (Ippolito et al. 2020; 2021, §3.4).

    python experiments/detection.py
    python experiments/detection.py --models gpt2 gpt2-medium --featurizer gpt2-large --texts 600 --device cuda

Accuracies are of held-out texts, balanced, 0.5 where the sets cannot be told apart. Texts of one prompt are in one
fold. Ranks and total probability are those under the last model with weights.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
import numpy as np
from common import AXIS, argument_parser, marks_of, progress, save
from decoding import EVERY, texts_by
from models import Workshop, add_arguments

from mauve_metric.apps.describing.distances.discriminators import discriminate, discriminate_words
from mauve_metric.apps.describing.likelihood.likelihood_measures import (
    discriminator_ranks,
    discriminator_total_probability,
)
from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods, likelihoods
from mauve_metric.options import RunOptions
from mauve_metric.report.document import Column, TableRow

ACCURACIES = {  # key → what tables and figure call it
    "words": "bag of words",
    "features": "features",
    "ranks": "token ranks",
    "total": "total probability",
}
COLUMNS = (
    Column("model", "model"),
    Column("decoder", "decoder"),
    *(Column(key, title, ".3f") for key, title in ACCURACIES.items()),
    Column("words_auc", "bag of words, AUC", ".3f"),
    Column("features_auc", "features, AUC", ".3f"),
)
CHOSEN = ("sampling", "nucleus 0.95", "top-k 40", "temperature 0.7", "greedy")


def read(workshop: Workshop, texts: Sequence[str]) -> Likelihoods:
    """The texts under the last model."""
    judge = workshop.model(workshop.judge)
    return likelihoods(list(texts), judge, run=RunOptions(cache=workshop.folder / "features"), prepend_bos=True)


def row_of(workshop: Workshop, texts: Sequence[str], seed: int) -> TableRow:
    """The accuracies of all discriminators for one set."""
    human, number = workshop.human, np.arange(len(texts))
    words = discriminate_words(human, texts, seed=seed, prompts=(number.tolist(), number.tolist()))
    rows = [workshop.features(side).features for side in (human, texts)]
    features = discriminate(*rows, seed=seed, groups_p=number.tolist(), groups_q=number.tolist())
    both, groups = [read(workshop, side) for side in (human, texts)], {"groups_p": number, "groups_q": number}
    return {
        "words": words.accuracy.value,
        "features": features.accuracy.value,
        "ranks": discriminator_ranks(*both, seed=seed, **groups).value,
        "total": discriminator_total_probability(*both, seed=seed, **groups).value,
        "words_auc": words.auc.value,
        "features_auc": features.auc.value,
    }


def rows_of(workshop: Workshop, decoders: Sequence[str]) -> list[TableRow]:
    """One row a model and decoder."""
    steps = [(model, decoder) for model in workshop.options.models for decoder in decoders]
    rows: list[TableRow] = []
    for model, decoder in progress(steps, "detection"):
        names: TableRow = {"model": model, "decoder": decoder}
        rows.append(names | row_of(workshop, texts_by(workshop, model, decoder), workshop.options.seed))
    return rows


def figure(rows: Sequence[TableRow], decoders: Sequence[str]) -> alt.HConcatChart:
    """Accuracy of each discriminator by decoder, one panel a model."""
    panels = []
    for model in dict.fromkeys(str(row["model"]) for row in rows):
        values = [
            {"decoder": row["decoder"], "discriminator": title, "accuracy": row[key]}
            for row in rows
            if row["model"] == model
            for key, title in ACCURACIES.items()
        ]
        axis = alt.Axis(**AXIS)
        points = alt.Chart(alt.InlineData(values=values)).mark_point(filled=True, size=70, opacity=0.9)
        points = points.encode(
            x=alt.X("accuracy:Q", title="held-out accuracy", scale=alt.Scale(domain=[0.4, 1]), axis=axis),
            y=alt.Y("decoder:N", sort=list(decoders), title=None, axis=axis),
            **marks_of(list(ACCURACIES.values()), "discriminator"),
        )
        panels.append(points.properties(width=260, height={"step": 30}, title=model))
    return alt.HConcatChart(hconcat=panels).properties(
        title="How often discriminators are right, by decoder",
        description="Held-out accuracy of four discriminators for each model and decoder, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    parser.add_argument("--decoders", nargs="+", choices=EVERY, default=list(CHOSEN))
    options = parser.parse_args(arguments)
    started = time.monotonic()
    workshop = Workshop(options)
    rows = rows_of(workshop, options.decoders)
    return save(
        "detection",
        "Accuracy of discriminators by decoder",
        COLUMNS,
        rows,
        figure(rows, options.decoders),
        seconds=time.monotonic() - started,
        notes=[workshop.said(), f"Ranks and total probability are those under {workshop.judge}."],
        out=options.out,
    )


if __name__ == "__main__":
    main()
