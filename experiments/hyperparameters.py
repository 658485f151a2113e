"""How MAUVE and the ranking by it depend on the texts, the buckets, the scaling factor and the seed.

    python experiments/hyperparameters.py [--seeds 10] [--human FILE --models NAME=FILE …]

After the ablations of Pillutla et al. 2021. One thing at a time is changed: n texts of each set, drawn by the seed; k
buckets of k-means; the scaling factor c; the seed alone. The scores are those of the literature: each model with the
human texts on buckets of its own, one clustering, no smoothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from common import argument_parser, progress, save
from feature_sets import add_texts, feature_sets

from mauve_metric import compute_mauve
from mauve_metric.apps.judging.statistics.rank_correlation import spearman
from mauve_metric.arrays import Array, Floats
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.report.charts.figure import COLORS, cycle
from mauve_metric.report.document import Column, TableRow

if TYPE_CHECKING:
    import altair as alt

SHARES = (1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6)  # of the smallest set
BUCKETS = (1 / 60, 1 / 30, 1 / 20, 1 / 6, 1 / 4, 1 / 2)  # per text of the smallest set
FACTORS = (0.5, 1, 2, 10, 20)
DEFAULT_FACTOR = 5


class Setting(NamedTuple):
    """The changed setting: "n", "k", "c" or "seed" (nothing but it), to which value; n and k are those of the run."""

    knob: str
    value: float
    n: int
    k: int
    c: float


def settings(n: int) -> Iterator[Setting]:
    """All settings for sets of n texts, each knob's in rising order; its default is among them."""
    k = round(n / 10)
    for some in sorted({round(n * share) for share in SHARES} | {n}):
        yield Setting("n", some, some, max(2, round(some / 10)), DEFAULT_FACTOR)
    for some in sorted({max(2, round(n * share)) for share in BUCKETS} | {k}):
        yield Setting("k", some, n, some, DEFAULT_FACTOR)
    for c in sorted({*FACTORS, DEFAULT_FACTOR}):
        yield Setting("c", c, n, k, c)


def scores(human: Array, models: Mapping[str, Array], n: int, k: int, seed: int) -> dict[str, tuple[Floats, Floats]]:
    """The histograms of each model and the human texts: n of either, drawn by the seed, in k buckets."""
    rng = np.random.default_rng([seed, n])
    found = {}
    drawn = human[rng.permutation(len(human))[:n]]
    for name, rows in models.items():
        model = rows[rng.permutation(len(rows))[:n]]
        result = compute_mauve(p_features=drawn, q_features=model, num_buckets=k, seed=seed, num_runs=1, knn=False)
        found[name] = (result.p_hist, result.q_hist)
    return found


def measured(human: Array, models: Mapping[str, Array], seeds: int, seed: int) -> dict[Setting, Floats]:
    """For each setting the scores, shape (seeds, models)."""
    asked = list(settings(min(map(len, [human, *models.values()]))))
    clusterings = dict.fromkeys((setting.n, setting.k) for setting in asked)
    histograms = {
        (n, k, run): scores(human, models, n, k, seed + run)
        for n, k, run in progress([(n, k, run) for n, k in clusterings for run in range(seeds)], "clusterings")
    }
    return {
        setting: np.array(
            [
                [
                    curve_area(divergence_curve(*pair, setting.c))
                    for pair in histograms[setting.n, setting.k, run].values()
                ]
                for run in range(seeds)
            ]
        )
        for setting in asked
    }


def own_correlation(runs: Floats) -> float:
    """The mean Spearman correlation of the rankings by two seeds."""
    pairs = [(a, b) for a in range(len(runs)) for b in range(a)]
    return float(np.mean([spearman(runs[a], runs[b]).value for a, b in pairs]))


def table(found: Mapping[Setting, Floats], names: list[str]) -> list[TableRow]:
    """One row for each setting: mean scores, their spread between seeds, how far its ranking is the default's."""
    n = max(setting.n for setting in found)
    default = next(runs for setting, runs in found.items() if setting.knob == "n" and setting.n == n).mean(axis=0)
    rows: list[TableRow] = []
    for setting, runs in found.items():
        row: TableRow = {"knob": f"{setting.knob} = {setting.value:g}"}
        row |= dict(zip(names, runs.mean(axis=0).tolist(), strict=True))
        row["deviation"] = float(np.mean(runs.std(axis=0, ddof=1)))
        row["default"] = spearman(runs.mean(axis=0), default).value
        row["seeds"] = own_correlation(runs)
        rows.append(row)
    return rows


def chart(found: Mapping[Setting, Floats], names: list[str]) -> alt.HConcatChart:
    """The mean scores against n, k and c, with the deviation between seeds around them."""
    import altair as alt

    titles = {"n": "texts of a set, n", "k": "buckets, k", "c": "scaling factor, c"}
    color = alt.Color("model:N", title=None, sort=names, scale=alt.Scale(domain=names, range=cycle(COLORS, len(names))))
    panels = []
    for knob, title in titles.items():
        values = [
            {"x": setting.value, "model": name, "mauve": score, "low": score - spread, "high": score + spread}
            for setting, runs in found.items()
            if setting.knob == knob
            for name, score, spread in zip(names, runs.mean(axis=0), runs.std(axis=0, ddof=1), strict=True)
        ]
        scale = alt.Scale(type="linear" if knob == "n" else "log", nice=False)
        axis = alt.Axis(values=sorted({value["x"] for value in values}), format=".1~f", labelOverlap=True)
        base = alt.Chart(alt.InlineData(values=values)).encode(
            x=alt.X("x:Q", title=title, scale=scale, axis=axis), color=color
        )
        y = alt.Y("mauve:Q", title="MAUVE" if knob == "n" else None, scale=alt.Scale(domain=[0, 1]))
        line = base.mark_line(point=alt.OverlayMarkDef(size=25)).encode(y=y)
        bars = base.mark_rule(opacity=0.5).encode(y="low:Q", y2="high:Q")
        panels.append((line + bars).properties(width=200, height=260))
    description = "MAUVE of each model against the number of texts, of buckets, and the scaling factor."
    return alt.hconcat(*panels).properties(description=description)


def main() -> None:
    """Run, and keep the table and the figure."""
    parser = argument_parser(__doc__)
    add_texts(parser)
    parser.add_argument("--seeds", type=int, default=10, help="from --seed on, at least 2 (default: %(default)s)")
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error(f"--seeds must be at least 2, got {options.seeds}")
    start = time.perf_counter()
    human, models = feature_sets(options)
    names = list(models)
    found = measured(human, models, options.seeds, options.seed)
    save(
        "hyperparameters",
        "MAUVE against n, k, c and the seed",
        [
            Column("knob", "changed"),
            *(Column(name, name, ".3f") for name in names),
            Column("deviation", "deviation between seeds", ".3f"),
            Column("default", "ρ with the default", ".2f"),
            Column("seeds", "ρ between seeds", ".2f"),
        ],
        table(found, names),
        chart(found, names),
        seconds=time.perf_counter() - start,
        notes=[
            f"{min(map(len, [human, *models.values()]))} texts of each set by the featurizer {options.featurizer}; "
            f"means of {options.seeds} seeds. By default all texts, k = n/10, c = {DEFAULT_FACTOR}. Seeds draw the "
            "texts and start k-means; with all texts they only start it. ρ is Spearman's correlation of the rankings.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
