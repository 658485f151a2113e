"""Lower limit of the time of a score: the matrix products that its definition asks for, at this machine's rate.

    python benchmarks/products.py

Counts the float32 operations of products alone, for the sets of `score.py`: projections, the first assignment of every
k-means run and the draws of k-means++, the classifier's covariances, squares and neighbours, the search for dependent
texts, and the distances of precision and recall. Sorting, selecting, eigenvectors and everything in float64 come on
top. The rate is that of a product of 4000 rows with all threads.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from machine import machine
from score import Array, language_model_like, of_kinds

from mauve_metric import compute_mauve
from mauve_metric.clustering.partition import partition_sets
from mauve_metric.options import MauveConfig
from mauve_metric.scoring.evaluation import resolve_config

CASES: dict[str, Callable[[], tuple[Array, Array]]] = {
    "500 + 500 × 768": lambda: language_model_like(500, 768),
    "5000 + 5000 × 384": lambda: language_model_like(5000, 384),
    "5000 + 5000 × 384, of 400 kinds": lambda: of_kinds(5000),
    "5000 + 5000 × 1280": lambda: language_model_like(5000),
}


def operations(human: Array, model: Array) -> dict[str, float]:
    """Billions of operations of each stage of a score with default options."""
    n, d = human.shape
    config = resolve_config(MauveConfig(), n, n)
    both, k, r = 2 * n, config.num_buckets, partition_sets([human, model], config, clusterings=1).rows[0].shape[1]
    finer, runs, finer_runs = round(n / 2.5), config.num_runs, 3 if n < 2500 else 1
    draws = k * (2 + int(np.log(k))) * runs + finer * finer_runs
    squares, divisions = 211, 2 if n < 2500 else 1
    counts = {
        "projection": 2 * both * d**2 + 2 * 2 * both * d * r,
        "k-means": 2 * both * r * (k * (5 + runs) + finer * finer_runs + draws),
        "classifier": divisions * (2 * both * min(d, both) * d + 5 * 2 * 0.8 * both * squares**2)
        + divisions * 2 * both * 64 * (d + min(1.6 * n, 3200)),
        "dependence": 2 * d * (4 * min(n, 500) * n + 2 * min(n, 500) * n + 8 * 125 * n),
        "precision and recall": 2 * r * (3 * n**2 + min(n, 4000) ** 2),
    }
    return {stage: count / 1e9 for stage, count in counts.items()}


def best_of(function: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of a few times, in seconds."""
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            function()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def main() -> None:
    """Print the table."""
    rows = np.random.default_rng(0).normal(size=(4000, 4000)).astype(np.float32)
    rate = 2 * 4000**3 / best_of(lambda: rows @ rows) / 1e9
    print(f"{machine()}; {rate:.0f} billion operations a second\n")
    print("| | billion operations | limit, s | ours, s | ours / limit |\n|---|--:|--:|--:|--:|", flush=True)
    for name, make in CASES.items():
        human, model = make()
        total = sum(operations(human, model).values())
        ours = best_of(partial(compute_mauve, p_features=human, q_features=model, verbose=False))
        print(f"| {name} | {total:.0f} | {total / rate:.2f} | {ours:.2f} | {ours * rate / total:.1f} |", flush=True)


if __name__ == "__main__":
    main()
