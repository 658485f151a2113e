"""Time and memory of the nearest-neighbour scores beside the prdc package, in one run, in turns.

    python benchmarks/support.py [--rows 4000] [--repeats 3]

Features as encoders give them: variance that falls off with the component, in 1280 dimensions; once as they are and
once projected to the components that hold nine tenths of the variance, as `compute_mauve` does. Both tools get
float64 rows and count strictly inside, so that they must agree.
"""

from __future__ import annotations

import argparse
import contextlib
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from machine import machine
from numpy.typing import NDArray
from prdc import compute_prdc

from mauve_metric.clustering import projection
from mauve_metric.measures.knn_precision_recall import support_scores

K = 4


def features(rows: int, d: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Human and model rows with a spectrum of which 300 or so components hold nine tenths of the variance."""
    scale = np.exp(-np.arange(d) / 260)
    return rng.normal(size=(rows, d)) * scale, rng.normal(0.05, 1, size=(rows, d)) * scale


def projected(p: NDArray[Any], q: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both sets on their principal axes, as the package projects them."""
    rows = projection.project(np.concatenate([p, q]).astype(np.float32), 0.9, -1, 0).astype(np.float64)
    return rows[: len(p)], rows[len(p) :]


def ours(p: NDArray[Any], q: NDArray[Any]) -> dict[str, float]:
    """This package's scores."""
    return support_scores(p, q, K, strict=True)._asdict()


def theirs(p: NDArray[Any], q: NDArray[Any]) -> dict[str, float]:
    """prdc's scores, without what it prints."""
    with contextlib.redirect_stdout(None):
        scores: dict[str, float] = compute_prdc(real_features=p, fake_features=q, nearest_k=K)
    return scores


def timed(function: Callable[[], Any]) -> tuple[float, float]:
    """Wall-clock and processor seconds of one call."""
    wall, processor = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - processor


def peak(function: Callable[[], Any]) -> float:
    """Most bytes held at once by arrays made in one call, in MB."""
    tracemalloc.start()
    function()
    most = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return most


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    p, q = features(options.rows, 1280, np.random.default_rng(0))
    print(machine())
    print("| rows | d | mauve_metric | prdc | time ratio | processor time ratio | peak memory | prdc's |")
    print("|---|---|---|---|---|---|---|---|")
    for sides in ((p, q), projected(p, q)):
        one, other = ours(*sides), theirs(*sides)
        if any(abs(one[name] - other[name]) > 1e-12 for name in one):
            raise SystemExit(f"the scores differ: {one} and {other}")
        functions = [partial(function, *sides) for function in (ours, theirs)]
        times = np.array([[timed(function) for function in functions] for _ in range(options.repeats)])
        (wall, processor), (their_wall, their_processor) = times.min(axis=0)
        seconds = f"{wall:.2f} s | {their_wall:.2f} s | {wall / their_wall:.2f} | {processor / their_processor:.2f}"
        memory = " | ".join(f"{peak(function):.0f} MB" for function in functions)
        print(f"| {options.rows} + {options.rows} | {sides[0].shape[1]} | {seconds} | {memory} |")


if __name__ == "__main__":
    main()
