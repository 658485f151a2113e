"""Whether the scores and the ranking of models depend on how features become buckets.

    python experiments/quantizers.py [--seeds 3] [--paper] [--mixtures NAME OTHER] [--human FILE --models NAME=FILE …]

After the ablation of Pillutla et al. 2021: k-means with few and many buckets, the deep residual mixture (DRMM), and the
lattice on spreading vectors. The human texts and all models share their buckets, as `mauve-metric compare` makes them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from common import argument_parser, progress, save
from feature_sets import add_texts, feature_sets

from mauve_metric.apps.judging.statistics.rank_correlation import spearman
from mauve_metric.arrays import Array, Floats
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.clustering.partition import partition_sets
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.options import MauveConfig
from mauve_metric.report.charts.figure import COLORS, SHAPES, cycle
from mauve_metric.report.document import Column, TableRow
from mauve_metric.scoring.evaluation import resolve_config
from mauve_metric.uncertainty.intervals import debiased_scores
from mauve_metric.uncertainty.jackknife import debiased_frontier

if TYPE_CHECKING:
    import altair as alt

BUCKETS = (60, 100, 200, 500, 1000, 2000)
SHARES = (0, 20, 40, 60, 80, 100)
PUBLISHED = {"DRMM": {"drmm_layers": 3, "drmm_components": 10}, "lattice": {"lattice_squared_radius": 50}}
STANDARD = "k-means, k = 500"  # that the others are compared with: the paper's


class Found(NamedTuple):
    """Of one quantizer: MAUVE and its debiased form, (seeds, models), and the processor seconds of a clustering."""

    mauve: Floats
    debiased: Floats
    seconds: float


def settings(rows: int, paper: bool) -> dict[str, MauveConfig]:
    """The compared quantizers; paper: also trained as by the paper's code."""
    ways = {f"k-means, k = {k}": MauveConfig(num_buckets=k) for k in BUCKETS if k <= rows}
    ways |= {name: MauveConfig(quantizer=name.lower(), **shape) for name, shape in PUBLISHED.items()}
    if paper:
        ways["DRMM, as in the paper"] = MauveConfig(quantizer="drmm", drmm_preset="paper")
        ways["lattice, as in the paper"] = MauveConfig(quantizer="lattice", lattice_preset="paper")
    return ways


def clustered(human: Array, models: Mapping[str, Array], config: MauveConfig, seed: int) -> Found:
    """The scores of every model in one clustering: a `Found` of one seed."""
    rows = [some.astype(np.float32) for some in (human, *models.values())]
    resolved = resolve_config(replace(config, seed=seed, num_runs=1, knn=False), *map(len, rows))
    k = resolved.num_buckets
    start = time.process_time()
    of_human, *of_models = partition_sets(rows, resolved).labels[0]
    seconds = time.process_time() - start
    counts = [count_labels(of_human, model, k) for model in of_models]
    plain = [curve_area(divergence_curve(*some.probabilities())) for some in counts]
    debiased = [debiased_scores(debiased_frontier(some.p_counts, some.q_counts)).mauve for some in counts]
    return Found(np.array([plain]), np.array([debiased]), seconds)


def mixtures(some: Array, others: Array, name: str) -> dict[str, Array]:
    """Sets of one size in which a share of the rows, from none to all, comes from `some` in place of `others`."""
    size = min(len(some), len(others))
    counts = {share: round(size * share / 100) for share in SHARES}
    return {f"{share} % {name}": np.concatenate([some[:n], others[n:size]]) for share, n in counts.items()}


def joined(runs: list[Found]) -> Found:
    """All seeds of one quantizer, with the least of their times."""
    return Found(
        np.concatenate([run.mauve for run in runs]),
        np.concatenate([run.debiased for run in runs]),
        min(run.seconds for run in runs),
    )


def agreement(one: Floats, other: Floats) -> float | None:
    """Spearman's correlation of two rankings of the models; None where one of them ranks nothing."""
    return spearman(one, other).value if np.ptp(one) and np.ptp(other) else None


def table(found: Mapping[str, Found], names: list[str]) -> list[TableRow]:
    """One row for each quantizer: mean scores, agreement of the rankings, spread between seeds, time."""
    standard = found[STANDARD]
    rows: list[TableRow] = []
    for way, item in found.items():
        row: TableRow = {"way": way} | dict(zip(names, item.mauve.mean(axis=0).tolist(), strict=True))
        pairs = [agreement(item.mauve[a], item.mauve[b]) for a in range(len(item.mauve)) for b in range(a)]
        known = [pair for pair in pairs if pair is not None]
        row["standard"] = agreement(item.mauve.mean(axis=0), standard.mauve.mean(axis=0))
        row["debiased"] = agreement(item.debiased.mean(axis=0), standard.debiased.mean(axis=0))
        row["seeds"] = float(np.mean(known)) if known else None
        row["deviation"] = float(item.mauve.std(axis=0).max())
        row["seconds"] = item.seconds
        rows.append(row)
    return rows


def chart(found: Mapping[str, Found], names: list[str]) -> alt.LayerChart:
    """The score of each model by each quantizer, every seed a point, the means joined."""
    import altair as alt

    ways = list(found)
    values = [
        {"way": way, "model": name, "mauve": float(score), "place": place}
        for place, (way, item) in enumerate(found.items())
        for scores in item.mauve
        for name, score in zip(names, scores, strict=True)
    ]
    colors = alt.Scale(domain=names, range=cycle(COLORS, len(names)))
    shapes = alt.Scale(domain=names, range=cycle(SHAPES, len(names)))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("way:N", title=None, sort=ways, axis=alt.Axis(labelLimit=260)),
        color=alt.Color("model:N", title=None, sort=names, scale=colors),
    )
    title = "MAUVE, on a logarithmic scale"
    points = base.mark_point(filled=True, size=45, opacity=0.8).encode(
        x=alt.X("mauve:Q", title=title, scale=alt.Scale(type="log")),
        shape=alt.Shape("model:N", title=None, sort=names, scale=shapes),
    )
    lines = base.mark_line(opacity=0.4).encode(x=alt.X("mean(mauve):Q", title=title), order="place:Q")
    return alt.layer(lines, points).properties(
        width=460, height=32 * len(ways), description="MAUVE of each model by each quantizer, one point a seed."
    )


def main() -> None:
    """Run, and keep the table and the figure."""
    parser = argument_parser(__doc__)
    add_texts(parser)
    parser.add_argument("--seeds", type=int, default=3, help="clusterings by each quantizer (default: %(default)s)")
    parser.add_argument("--paper", action="store_true", help="also trained as by the paper's code")
    parser.add_argument(
        "--mixtures",
        nargs=2,
        metavar=("NAME", "OTHER"),
        help="in place of the models, 0 to 100 %% of the texts of NAME in those of OTHER: well-spread sets",
    )
    options = parser.parse_args()
    start = time.perf_counter()
    human, models = feature_sets(options)
    if options.mixtures:
        models = mixtures(*(models[name] for name in options.mixtures), options.mixtures[0])
    names, total = list(models), sum(map(len, [human, *models.values()]))
    ways = settings(total, options.paper)
    if STANDARD not in ways:
        parser.error(f"{STANDARD} needs as many texts in all, got {total}")
    seeds = range(options.seed, options.seed + options.seeds)
    runs = {
        (way, seed): clustered(human, models, ways[way], seed)
        for way, seed in progress([(way, seed) for way in ways for seed in seeds], "clusterings")
    }
    found = {way: joined([runs[way, seed] for seed in seeds]) for way in ways}
    save(
        "quantizers",
        "K-means against the deep residual mixture and the lattice",
        [
            Column("way", "buckets by"),
            *(Column(name, name, ".3f") for name in names),
            Column("standard", "ρ with k = 500", ".2f"),
            Column("debiased", "the same, debiased", ".2f"),
            Column("seeds", "ρ between seeds", ".2f"),
            Column("deviation", "largest deviation", ".3f"),
            Column("seconds", "processor, s", ".1f"),
        ],
        table(found, names),
        chart(found, names),
        seconds=time.perf_counter() - start,
        notes=[
            f"{total} texts in all, {len(human)} of them the human ones, by the featurizer {options.featurizer}, in "
            f"common buckets: 1000 cells by DRMM, 744 by the lattice. Mean MAUVE of {options.seeds} seeds; ρ: the "
            "Spearman correlation of the rankings, the deviation that between seeds, the time that of one clustering.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
