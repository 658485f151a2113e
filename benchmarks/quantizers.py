"""Cost of each way from features to buckets.

    python benchmarks/quantizers.py [--rows 5000] [--columns 1280]

The projection and the two clusterings of a score with num_runs=1, of as many random rows on either side, whose spectrum
is as that of encoders. Whether the scores depend on the way is measured by `experiments/quantizers.py`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from machine import machine

from mauve_metric.arrays import Array
from mauve_metric.clustering.partition import partition_sets
from mauve_metric.options import MauveConfig
from mauve_metric.scoring.evaluation import resolve_config

WAYS = {
    "k-means, k = n/10": lambda n: MauveConfig(num_buckets=max(2, n // 10), num_runs=1),
    "DRMM": lambda n: MauveConfig(quantizer="drmm", num_buckets=1000, num_runs=1),
    "lattice": lambda n: MauveConfig(quantizer="lattice", num_buckets=744, num_runs=1),
}


def sides(n: int, d: int) -> list[Array]:
    """Two sets of n rows of d columns."""
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(2 * n, d)) * np.exp(-np.arange(d) / 260)).astype(np.float32)
    return [rows[:n], rows[n:]]


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=1280)
    options = parser.parse_args()
    sets = sides(options.rows, options.columns)
    print(f"{machine()}\n\n| {options.rows} + {options.rows} × {options.columns} | wall | processor |\n|---|--:|--:|")
    for way, config in WAYS.items():
        resolved = resolve_config(config(options.rows), options.rows, options.rows)
        wall, processor = time.perf_counter(), time.process_time()
        partition_sets(sets, resolved)
        seconds = time.perf_counter() - wall, time.process_time() - processor
        print(f"| {way} | {seconds[0]:.1f} s | {seconds[1]:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
