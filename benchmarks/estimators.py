"""Error of each way of estimating MAUVE, where the truth is known.

    python benchmarks/estimators.py [--sizes 500 1000 2000 5000] [--dimensions 2 8 64] [--repeats 3]

P and Q differ in one of d coordinates, so that MAUVE is that of one dimension, whatever d is, and a fine partition
of the line gives it. Histograms are those of k-means with k = n/10 on the rows as they are; each repeat draws new rows.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import machine
from scipy.stats import norm

from mauve_metric.apps.describing.distances.density_ratios import ESTIMATORS, estimate_mauve
from mauve_metric.arrays import Floats
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.clustering.kmeans import kmeans
from mauve_metric.clustering.num_buckets import auto_num_buckets
from mauve_metric.measures.frontier import exact_area
from mauve_metric.uncertainty.intervals import debiased_scores
from mauve_metric.uncertainty.jackknife import debiased_frontier

sys.path.append(str(Path(__file__).parents[1] / "experiments"))

from smoothing import SMOOTHINGS, smoothed

MODE = 0.9  # of the side with two modes: ±MODE, with the variance 1 in all
EDGES = np.append(np.insert(np.linspace(-12, 12, 6001), 0, -np.inf), np.inf)
Draw = Callable[[np.random.Generator, int], Floats]
Cdf = Callable[[Floats], Floats]


def normal(mean: float, sd: float) -> tuple[Draw, Cdf]:
    """Draw of a normal coordinate, and its distribution function."""
    return lambda rng, n: rng.normal(mean, sd, n), norm(mean, sd).cdf


def two_modes() -> tuple[Draw, Cdf]:
    """A coordinate with mean 0 and variance 1 and two modes."""
    sd = np.sqrt(1 - MODE**2)

    def draw(rng: np.random.Generator, n: int) -> Floats:
        return rng.normal(MODE * rng.choice([-1, 1], n), sd)

    return draw, lambda x: (norm(-MODE, sd).cdf(x) + norm(MODE, sd).cdf(x)) / 2


# What the first coordinate of P and of Q is; the others are N(0, 1).
CASES = {
    "equal": (normal(0, 1), normal(0, 1)),
    "shifted by ½": (normal(0, 1), normal(0.5, 1)),
    "shifted by 1": (normal(0, 1), normal(1, 1)),
    "twice as wide": (normal(0, 1), normal(0, 2)),
    "two modes, one mode": (two_modes(), normal(0, 1)),
}


def truth(case: str) -> float:
    """MAUVE of the case, from six thousand cells of the line."""
    return exact_area(*(np.diff(cdf(EDGES)) for _, cdf in CASES[case]))


def draw(case: str, n: int, d: int, rng: np.random.Generator) -> list[Floats]:
    """n rows of P and of Q."""
    sides = [rng.normal(size=(n, d)) for _ in CASES[case]]
    for side, (first, _) in zip(sides, CASES[case], strict=True):
        side[:, 0] = first(rng, n)
    return sides


def scores(p: Floats, q: Floats, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """MAUVE by every estimator, and the seconds of each."""
    found, seconds = {}, {}
    start = time.perf_counter()
    k = auto_num_buckets(len(p), len(q))
    labels = kmeans(np.concatenate([p, q]).astype(np.float32), k, num_redo=1, seed=seed)
    counts = count_labels(labels[: len(p)], labels[len(p) :], k)
    seconds["buckets"] = time.perf_counter() - start
    for rule in SMOOTHINGS:
        found[rule] = exact_area(smoothed(counts.p_counts, rule), smoothed(counts.q_counts, rule))
    found["debiased"] = debiased_scores(debiased_frontier(counts.p_counts, counts.q_counts)).mauve
    for name in ESTIMATORS:
        start = time.perf_counter()
        found[name] = estimate_mauve(p, q, name, seed=seed)
        seconds[name] = time.perf_counter() - start
    return found, seconds


def table(title: str, rows: dict[str, dict[str, float]], digits: int = 3) -> None:
    """Markdown."""
    names = list(next(iter(rows.values())))
    print(f"\n| {title} | {' | '.join(name.replace('_', ' ') for name in names)} |\n|---|{'--:|' * len(names)}")
    for label, row in rows.items():
        print(f"| {label} | {' | '.join(f'{row[name]:.{digits}f}' for name in names)} |")


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000, 5000])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 8, 64])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    truths = {case: truth(case) for case in CASES}
    means: dict[str, dict[str, float]] = {}
    errors: dict[str, dict[str, float]] = {}
    spent: dict[str, dict[str, float]] = {}
    for d in options.dimensions:
        for n in options.sizes:
            squares, times = defaultdict(list), defaultdict(list)
            for case in CASES:
                runs = [
                    scores(*draw(case, n, d, np.random.default_rng([repeat, n, d])), seed=repeat)
                    for repeat in range(options.repeats)
                ]
                mean = {name: float(np.mean([found[name] for found, _ in runs])) for name in runs[0][0]}
                means[f"{case}, d = {d}, n = {n}"] = {"truth": truths[case]} | mean
                for found, seconds in runs:
                    for name, value in found.items():
                        squares[name].append((value - truths[case]) ** 2)
                    for name, value in seconds.items():
                        times[name].append(value)
            errors[f"d = {d}, n = {n}"] = {name: float(np.sqrt(np.mean(some))) for name, some in squares.items()}
            spent[f"d = {d}, n = {n}"] = {name: float(np.median(some)) for name, some in times.items()}
    print(f"{machine()}; {options.repeats} repeats\n\nRoot mean square error of MAUVE over all cases:")
    table("rows a set", errors)
    print("\nMean MAUVE:")
    table("case", means)
    print("\nMedian seconds:")
    table("rows a set", spent, 2)


if __name__ == "__main__":
    main()
