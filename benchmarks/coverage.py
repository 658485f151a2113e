"""Coverage of the intervals, and how often the permutation test rejects a true null.

    python benchmarks/coverage.py [--repeats 500] [--small]

Populations whose partition has a known score: discrete ones (every bucket's share of Q is its share of P times
exp(shift × a normal draw)), and Gaussians N(0, 1) against N(shift, 1) cut into buckets, either fixed ones of equal
mass or those that k-means fits to each pair of samples anew (the truth is then that of the fitted partition, from
the normal distribution function). Beside the interval of the debiased score: what "plug-in ± 1.96 delta-method
errors" and a percentile bootstrap of the plug-in score would have covered.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mauve_metric.clustering import kmeans
from mauve_metric.measures import frontier
from mauve_metric.measures.frontier import exact_area, frontier_integral
from mauve_metric.uncertainty import ceilings, intervals, jackknife

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Draw = Callable[[np.random.Generator], tuple[Counts, Counts, Floats, Floats]]
BOOTSTRAP = 100


def discrete(k: int, n: int, shift: float) -> Draw:
    """Counts of two multinomials, and their probabilities."""
    fixed = np.random.default_rng(0)
    p = fixed.dirichlet(np.full(k, 5.0))
    q = p * np.exp(shift * fixed.normal(size=k))
    q /= q.sum()
    return lambda rng: (rng.multinomial(n, p), rng.multinomial(n, q), p, q)


def gaussian(k: int, n: int, shift: float, fitted: bool) -> Draw:
    """Counts of N(0, 1) and N(shift, 1) in k intervals, fixed or fitted by k-means, and their probabilities."""

    def draw(rng: np.random.Generator) -> tuple[Counts, Counts, Floats, Floats]:
        x, y = rng.normal(size=n), rng.normal(shift, 1, size=n)
        if fitted:
            pooled = np.concatenate([x, y])[:, None].astype(np.float32)
            labels = kmeans.kmeans(pooled, k, num_redo=1, seed=int(rng.integers(2**30)))
            centres = np.sort([pooled[labels == bucket].mean() for bucket in np.unique(labels)])
            edges = (centres[1:] + centres[:-1]) / 2
        else:
            edges = np.array([NormalDist(shift / 2, 1 + shift / 2).inv_cdf(i / k) for i in range(1, k)])
        counts = [np.bincount(np.searchsorted(edges, side), minlength=len(edges) + 1) for side in (x, y)]
        return counts[0], counts[1], _masses(edges, 0.0), _masses(edges, shift)

    return draw


def _masses(edges: Floats, mean: float) -> Floats:
    """Probability of each interval under N(mean, 1), by whichever tail is exact."""
    normal = NormalDist()
    below = np.array([0.0, *(normal.cdf(edge - mean) for edge in edges)])
    above = np.array([*(normal.cdf(mean - edge) for edge in edges), 0.0])
    masses = np.where(below < 0.5, np.append(below[1:], 1.0) - below, np.append(1.0, above[:-1]) - above)
    masses = np.maximum(masses, 0.0)
    return masses / masses.sum()


def plug_in(p: Floats, q: Floats) -> float:
    """The score of two histograms as the literature computes it."""
    return frontier.curve_area(frontier.divergence_curve(p, q))


def coverage(draw: Draw, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """Shares of repeats in which each interval holds the truth, and the means of truth and estimates."""
    rows = []
    for repeat in range(repeats):
        p_counts, q_counts, p, q = draw(rng)
        truth, integral = exact_area(p, q), frontier_integral(p, q)
        mauve, frontier = intervals.estimate_scores(jackknife.debiased_frontier(p_counts, q_counts))
        p_hat, q_hat = p_counts / p_counts.sum(), q_counts / q_counts.sum()
        plain = plug_in(p_hat, q_hat)
        percentile = np.nan
        if repeat < 100:  # a bootstrap a repeat is dear
            drawn = [
                plug_in(
                    rng.multinomial(p_counts.sum(), p_hat) / p_counts.sum(),
                    rng.multinomial(q_counts.sum(), q_hat) / q_counts.sum(),
                )
                for _ in range(BOOTSTRAP)
            ]
            low, high = np.quantile(drawn, [0.025, 0.975])
            percentile = float(low <= truth <= high)
        rows.append(
            (
                truth,
                plain,
                mauve.value,
                mauve.ci[0] - 1e-12 <= truth <= mauve.ci[1] + 1e-12,
                frontier.ci[0] - 1e-12 <= integral <= frontier.ci[1] + 1e-12,
                abs(plain - truth) <= 1.96 * mauve.stderr,
                percentile,
            )
        )
    names = ("truth", "plug-in", "debiased", "covered", "FI covered", "plug-in covered", "percentile covered")
    return dict(zip(names, np.nanmean(np.array(rows, dtype=float), axis=0).tolist(), strict=True))


def cases(small: bool) -> Iterator[tuple[tuple[str, int, int, float], Draw]]:
    """Every population: kind, texts a side, buckets, shift."""
    for n in (200, 1000) if small else (200, 1000, 5000):
        for k in sorted({20, n // 10}):
            for shift in (0.5, 1.0) if small else (0.0, 0.15, 0.3, 0.5, 1.0, 1.5, 2.0):
                yield ("discrete", n, k, shift), discrete(k, n, shift)
            for shift in (1.0,) if small else (0.0, 0.25, 0.5, 1.0, 1.5, 2.0):
                yield ("Gaussian", n, k, shift), gaussian(k, n, shift, fitted=False)
                yield ("k-means", n, k, shift), gaussian(k, n, shift, fitted=True)


def false_rejections(n: int, k: int, repeats: int, rng: np.random.Generator) -> float:
    """Share of pairs from one Gaussian in 8 dimensions that the permutation test rejects at level 5 %."""
    rejected = 0
    for _ in range(repeats):
        rows = rng.normal(size=(2 * n, 8)).astype(np.float32)
        order = rng.permutation(2 * n)
        labels = np.empty(2 * n, dtype=np.int64)
        labels[order] = kmeans.kmeans(rows[order], k, num_redo=1, seed=int(rng.integers(2**30)))
        p_value = ceilings.permutation_test(labels[:n], labels[n:], k, 199, seed=int(rng.integers(2**30)))
        rejected += p_value <= 0.05
    return rejected / repeats


def main() -> None:
    """Print the coverage as CSV (`benchmarks/results/coverage.csv`), the permutation test on stderr."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--small", action="store_true", help="a few cases only")
    options = parser.parse_args()
    shares = ("covered", "FI covered", "plug-in covered", "percentile covered")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["population", "n", "k", "shift", "truth", "plug-in", "debiased", *shares])
    for name, draw in cases(options.small):
        found = coverage(draw, options.repeats, np.random.default_rng(1))
        numbers = [f"{found[key]:.4f}" for key in ("truth", "plug-in", "debiased")]
        table.writerow([*name, *numbers, *(f"{100 * found[key]:.1f}" for key in shares)])
        sys.stdout.flush()
    for n, k in ((200, 20), (500, 50), (1000, 100)):
        share = false_rejections(n, k, options.repeats, np.random.default_rng(2))
        print(f"permutation test, n={n} k={k}: rejected {100 * share:.1f} % of true nulls", file=sys.stderr)


if __name__ == "__main__":
    main()
