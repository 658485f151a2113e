"""How many texts a histogram needs: the error of the frontier integral where the truth is known.

    python experiments/sample_complexity.py [--sizes 100 300 1000 3000 10000 30000] [--buckets 100 1000] [--repeats 40]

After Liu et al. 2021. P and Q are known distributions over k buckets; n texts are drawn from each, and the frontier
integral of their histograms is compared with that of the distributions: without smoothing, with every rule that the
package has, and with the bias of sampling taken off. Then two normal distributions are cut into k cells, to see what
too few buckets cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from common import argument_parser, progress, save
from scipy.stats import norm
from smoothing import SMOOTHINGS, smoothed

from mauve_metric.arrays import Counts, Floats
from mauve_metric.measures.frontier import frontier_integral
from mauve_metric.report.charts.figure import COLORS, cycle
from mauve_metric.report.document import Column, TableRow
from mauve_metric.uncertainty.intervals import debiased_scores
from mauve_metric.uncertainty.jackknife import debiased_frontier

if TYPE_CHECKING:
    import altair as alt

SHOWN = {
    "laplace": "Laplace",
    "krichevsky_trofimov": "Krichevsky–Trofimov",
    "braess_sauer": "Braess–Sauer",
    "good_turing": "Good–Turing",
}
NAMES = {rule: SHOWN.get(rule, rule) for rule in (*SMOOTHINGS, "debiased")}
CELLS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
LEAST = 1e-4  # of an error in the figure; smaller ones are drawn there
SHIFT = 1.0  # between the two normal distributions


def zipf(k: int, exponent: float) -> Floats:
    """Shares of k buckets that fall with their rank to this power; the same for all if it is 0."""
    shares: Floats = np.arange(1, k + 1, dtype=np.float64) ** -exponent
    return shares / shares.sum()


# From the number of buckets to P and Q.
CASES: dict[str, Callable[[int], tuple[Floats, Floats]]] = {
    "Zipf 1, Zipf 1": lambda k: (zipf(k, 1), zipf(k, 1)),
    "uniform, Zipf 1": lambda k: (zipf(k, 0), zipf(k, 1)),
    "Zipf 1, Zipf 2": lambda k: (zipf(k, 1), zipf(k, 2)),
    "Zipf 1, half of the ranks away": lambda k: (zipf(k, 1), np.roll(zipf(k, 1), k // 2)),
}


def estimate(estimator: str, p_counts: Counts, q_counts: Counts) -> float:
    """The frontier integral of two histograms by one of `NAMES`."""
    if estimator == "debiased":
        return debiased_scores(debiased_frontier(p_counts, q_counts)).frontier_integral
    return frontier_integral(smoothed(p_counts, estimator), smoothed(q_counts, estimator))


def errors(p: Floats, q: Floats, truth: float, n: int, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The mean absolute error of each estimator, from n texts of P and of Q."""
    pairs = list(zip(rng.multinomial(n, p, size=repeats), rng.multinomial(n, q, size=repeats), strict=True))
    return {name: float(np.mean([abs(estimate(name, *pair) - truth) for pair in pairs])) for name in NAMES}


def of_cases(sizes: Sequence[int], buckets: Sequence[int], repeats: int, seed: int) -> list[TableRow]:
    """One row for each case, k and n: the error of each estimator."""
    settings = [(case, k, n) for k in buckets for case in CASES for n in sizes]
    rows: list[TableRow] = []
    for case, k, n in progress(settings, "cases"):
        p, q = CASES[case](k)
        rng = np.random.default_rng([seed, k, n, list(CASES).index(case)])
        found = errors(p, q, frontier_integral(p, q), n, repeats, rng)
        rows.append({"case": case, "k": k, "n": n, **found})
    return rows


def means(rows: Sequence[TableRow]) -> list[TableRow]:
    """The rows of a k and an n as one: the mean over the cases."""
    pairs = dict.fromkeys((row["k"], row["n"]) for row in rows)
    found: list[TableRow] = []
    for k, n in pairs:
        same = [row for row in rows if (row["k"], row["n"]) == (k, n)]
        found.append({"k": k, "n": n} | {name: float(np.mean([row[name] for row in same])) for name in NAMES})
    return found


def of_cells(sizes: Sequence[int], repeats: int, seed: int) -> list[TableRow]:
    """One row for each n and k: the error of the plug-in of two normal distributions cut into k cells.

    The cells have equal shares of the equal mixture, so that the truth is the limit of many cells.
    """
    edges = np.linspace(-12, 12 + SHIFT, 100_001)
    mixture = (norm.cdf(edges) + norm.cdf(edges - SHIFT)) / 2
    truth = frontier_integral(np.diff(norm.cdf(edges)), np.diff(norm.cdf(edges - SHIFT)))
    rows: list[TableRow] = []
    for n, k in progress([(n, k) for n in sizes for k in CELLS], "cells"):
        cuts = np.concatenate([[-np.inf], np.interp(np.arange(1, k) / k, mixture, edges), [np.inf]])
        p, q = (np.diff(norm.cdf(cuts - mean)) for mean in (0, SHIFT))
        rng = np.random.default_rng([seed, n, k])
        pairs = zip(rng.multinomial(n, p, size=repeats), rng.multinomial(n, q, size=repeats), strict=True)
        rows.append({"n": n, "k": k, "error": float(np.mean([abs(estimate("none", *pair) - truth) for pair in pairs]))})
    return rows


def best_cells(rows: Sequence[TableRow]) -> dict[int, int]:
    """For each n, the k with the smallest error."""
    best: dict[int, TableRow] = {}
    for row in rows:
        if row["n"] not in best or row["error"] < best[row["n"]]["error"]:
            best[row["n"]] = row
    return {n: row["k"] for n, row in best.items()}


def chart(rows: Sequence[TableRow], cells: Sequence[TableRow]) -> alt.VConcatChart:
    """Error against texts a bucket, one panel a case; error against the number of cells, one line an n."""
    import altair as alt

    names = list(NAMES.values())
    values = [
        {
            "case": row["case"],
            "k": f"k = {row['k']}",
            "texts": row["n"] / row["k"],
            "by": NAMES[name],
            "error": max(row[name], LEAST),
        }
        for row in rows
        for name in NAMES
    ]
    log = alt.Scale(type="log")
    decades = alt.Axis(values=[10.0**power for power in range(-4, 3)], format="~g")
    color = alt.Color("by:N", title=None, sort=names, scale=alt.Scale(domain=names, range=cycle(COLORS, len(names))))
    base = alt.Chart().encode(
        x=alt.X("texts:Q", title="texts a bucket, n/k", scale=log, axis=decades),
        y=alt.Y("error:Q", title="mean absolute error", scale=alt.Scale(type="log", domain=[LEAST, 1]), axis=decades),
        color=color,
    )
    lines = base.mark_line().encode(strokeDash=alt.StrokeDash("k:N", title=None, sort=None))
    upper = alt.layer(lines, base.mark_point(filled=True, size=25, opacity=1), data=alt.InlineData(values=values))
    upper = upper.properties(width=230, height=190)
    sizes = sorted({row["n"] for row in cells})
    lower = (
        alt.Chart(alt.InlineData(values=[row | {"texts": f"n = {row['n']}"} for row in cells]))
        .mark_line(point=alt.OverlayMarkDef(size=25))
        .encode(
            x=alt.X("k:Q", title="cells, k", scale=alt.Scale(type="log", base=2)),
            y=alt.Y("error:Q", title="mean absolute error", scale=log, axis=decades),
            color=alt.Color("texts:N", title=None, sort=[f"n = {n}" for n in sizes], scale=alt.Scale(range=COLORS)),
        )
        .properties(width=520, height=190, title="Two normal distributions, cut into cells, without smoothing")
    )
    panels = upper.facet(facet=alt.Facet("case:N", title=None, sort=list(CASES)), columns=2)
    return (
        alt.vconcat(panels, lower)
        .resolve_scale(color="independent")
        .properties(
            description="Mean absolute error of the frontier integral: falls with the texts a bucket; "
            "for too few cells it stays, for too many it grows."
        )
    )


def main() -> None:
    """Run, and keep the table and the figure."""
    parser = argument_parser(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000, 3000, 10_000, 30_000])
    parser.add_argument("--buckets", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--repeats", type=int, default=40, help="draws of each case (default: %(default)s)")
    options = parser.parse_args()
    start = time.perf_counter()
    rows = of_cases(options.sizes, options.buckets, options.repeats, options.seed)
    cells = of_cells(options.sizes, options.repeats, options.seed)
    best = ", ".join(f"{k} for n = {n}" for n, k in best_cells(cells).items())
    save(
        "sample_complexity",
        "How many texts a histogram needs",
        [Column("k", "k", "d"), Column("n", "n", "d"), *(Column(key, name, ".4f") for key, name in NAMES.items())],
        means(rows),
        chart(rows, cells),
        seconds=time.perf_counter() - start,
        notes=[
            f"Mean absolute error of the frontier integral over {len(CASES)} cases ({'; '.join(CASES)}), "
            f"{options.repeats} draws of n texts from each side.",
            f"Two normal distributions a distance of {SHIFT:g} apart, cut into k cells: the error is smallest with "
            f"k = {best}.",
        ],
        out=options.out,
    )


if __name__ == "__main__":
    main()
