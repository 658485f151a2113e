"""Cost of a score's extra numbers beside the clustering that they are about.

    python benchmarks/uncertainty.py [--texts 5000] [--buckets 500] [--repeats 3]

Debiased scores with their errors, ceiling, exact area, precision-recall curve and warnings against the k-means with
the literature's settings. Further runs, nearest neighbours and the permutation test have a price of their own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mauve_metric.clustering import kmeans
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.measures import frontier, precision_recall
from mauve_metric.uncertainty import ceilings, intervals, jackknife, score_warnings


def seconds(function: Callable[[], Any], repeats: int) -> float:
    """The shortest of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=5000)
    parser.add_argument("--buckets", type=int, default=500)
    parser.add_argument("--dimensions", type=int, default=300, help="of the projected rows")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    n, k = options.texts, options.buckets
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2 * n, options.dimensions)) * np.exp(-np.arange(options.dimensions) / 60)
    rows[n:] += 0.1
    rows = rows.astype(np.float32)
    start = time.perf_counter()
    labels = kmeans.kmeans(rows, k, 5, 500, 25)
    clustering = time.perf_counter() - start
    histograms = count_labels(labels[:n], labels[n:], k)
    p_counts, q_counts = histograms.p_counts, histograms.q_counts
    p, q = histograms.probabilities()
    sides = [
        FeatureSet(
            side,
            lengths=np.full(n, 200),
            text_hashes=rng.integers(2**63, size=n, dtype=np.uint64),
            opening_hashes=rng.integers(2**63, size=n, dtype=np.uint64),
        )
        for side in (rows[:n], rows[n:])
    ]

    def warnings() -> None:
        score_warnings.size_warnings(n, n, k)
        score_warnings.bucket_warnings(p_counts + q_counts)
        score_warnings.feature_warnings(sides[0].features, sides[1].features)
        score_warnings.text_warnings(*sides)

    parts: dict[str, Callable[[], Any]] = {
        "debiased scores, errors, intervals": lambda: intervals.estimate_scores(
            jackknife.debiased_frontier(p_counts, q_counts)
        ),
        "ceiling": lambda: ceilings.null_scores(p_counts, q_counts),
        "exact area": lambda: frontier.exact_area(p, q),
        "precision-recall curve": lambda: precision_recall.prd_curve(p, q),
        "warnings": warnings,
    }
    print(f"| {n} + {n} texts, {k} buckets | seconds | share of the clustering |\n|---|---|---|")
    print(f"| clustering | {clustering:.2f} | |")
    total = 0.0
    for name, part in parts.items():
        spent = seconds(part, options.repeats)
        total += spent
        print(f"| {name} | {spent:.3f} | {100 * spent / clustering:.1f} % |")
    print(f"| all of these | {total:.3f} | {100 * total / clustering:.1f} % |")


if __name__ == "__main__":
    main()
