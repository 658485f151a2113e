"""Whether encoders agree on precision and recall (Le Bronnec et al. 2024, Table B.1).

    python experiments/encoder_agreement.py
    python experiments/encoder_agreement.py --featurizers minilm gpt2-large --models gpt2 gpt2-xl --device cuda

Each set of texts has a precision and a recall by each encoder; they are correlated over the sets.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path

import altair as alt
from common import AXIS, argument_parser, marks_of, progress, save, share_row
from models import OF_EXAMPLES, Workshop, add_arguments

from mauve_metric import compute_mauve, featurize
from mauve_metric.apps.judging.statistics.rank_correlation import spearman
from mauve_metric.report.document import Column, TableRow

SHOWN = ("precision", "recall")
Scores = dict[str, dict[str, dict[str, float]]]  # by encoder, set, score


def scores_of(workshop: Workshop, decoders: Sequence[str], encoders: Sequence[str]) -> Scores:
    """Precision and recall of each set by each encoder."""
    sets = {"other human texts": workshop.other_human}
    for model in workshop.options.models:
        sets |= {f"{model} {decoder}": workshop.write(model, decoder) for decoder in decoders}
    found: Scores = {}
    for encoder, (name, texts) in progress([*itertools.product(encoders, sets.items())], "encoders"):
        sides = (
            featurize(list(side), featurize_model_name=encoder, device=workshop.options.device, verbose=False)
            for side in (workshop.human, texts)
        )
        result = compute_mauve(**dict(zip("pq", sides, strict=True)), num_runs=1, verbose=False)
        found.setdefault(encoder, {})[name] = {score: float(getattr(result, score)) for score in SHOWN}
    return found


def rows_of(found: Scores, count: int) -> list[TableRow]:
    """One row a set, with its precision and recall by each encoder."""
    rows: list[TableRow] = []
    for name in next(iter(found.values())):
        row: TableRow = {"set": name}
        for encoder, sets in found.items():
            for score, value in sets[name].items():
                row |= share_row(f"{score} {encoder}", value, count)
        rows.append(row)
    return rows


def correlations(found: Scores) -> str:
    """The correlations of each two encoders, in words."""
    parts = []
    for one, other in itertools.combinations(found, 2):
        for score in SHOWN:
            values = ([numbers[score] for numbers in found[encoder].values()] for encoder in (one, other))
            rho = spearman(*values)
            parts.append(f"{score} by {one} and {other}: {rho.value:.2f} (p = {rho.p_value:.2f})")
    return "; ".join(parts)


def figure(found: Scores) -> alt.HConcatChart:
    """Precision and recall of each set, one mark an encoder."""
    values = [
        {"encoder": encoder, "set": name, "score": score, "value": value}
        for encoder, sets in found.items()
        for name, numbers in sets.items()
        for score, value in numbers.items()
    ]
    panels = []
    for score in SHOWN:
        base = alt.Chart(alt.InlineData(values=[value for value in values if value["score"] == score]))
        points = base.mark_point(filled=True, size=70, opacity=0.9).encode(
            x=alt.X("value:Q", title=score, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(**AXIS)),
            y=alt.Y("set:N", title=None, sort=list(next(iter(found.values()))), axis=alt.Axis(**AXIS, labelLimit=220)),
            **marks_of(list(found), "encoder"),
        )
        panels.append(points.properties(width=240, height={"step": 26}))
    return alt.HConcatChart(hconcat=panels).properties(
        title="Precision and recall by encoder",
        description="Precision and recall of each set of texts by each encoder, as in the table.",
    )


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the experiment."""
    parser = argument_parser(__doc__)
    add_arguments(parser)
    parser.add_argument("--decoders", nargs="+", default=list(OF_EXAMPLES), help="as of `mauve-metric generate`")
    parser.add_argument("--featurizers", nargs="+", default=["minilm", "ngrams", "smollm2"], help="to compare")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    options.featurizer = ", ".join(options.featurizers)
    workshop = Workshop(options)
    found = scores_of(workshop, options.decoders, options.featurizers)
    return save(
        "encoder_agreement",
        "Precision and recall by encoder",
        [Column("set", "texts"), *(Column(f"{score} {e}", f"{score}, {e}", ".2f") for e in found for score in SHOWN)],
        rows_of(found, options.texts),
        figure(found),
        seconds=time.monotonic() - started,
        notes=[
            workshop.said(),
            f"Spearman's correlations over the {len(next(iter(found.values())))} sets, with the p-values of "
            f"permutation tests: {correlations(found)}. In parentheses: 95 % intervals by Wilson, of the chance in the "
            "texts that are counted.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
