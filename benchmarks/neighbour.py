"""Slowdown of a score when others use the processors too.

    python benchmarks/neighbour.py [--repeats 3]

Scores the packaged examples in a program of its own (features computed anew, then from the cache) and a set of random
features in Python, on an idle machine and beside one busy process for each CPU. With a fair scheduler a program that
keeps every CPU busy then takes twice as long: "in proportion" is 2.0 or less. Beside it, the same with spinning threads
(`OMP_WAIT_POLICY=active`), as most programs have them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from machine import machine

from mauve_metric.runtime.threads import usable_cpus

ROOT = Path(__file__).parent.parent
TEXTS = [str(ROOT / "examples" / name) for name in ("human.jsonl", "nucleus.jsonl")]
FEATURES = """
import numpy as np
from mauve_metric import compute_mauve
rng = np.random.default_rng(0)
p, q = (rng.normal(size=(4000, 512)).astype(np.float32) for _ in range(2))
compute_mauve(p_features=p, q_features=q)
"""
SCORE = [sys.executable, "-m", "mauve_metric", "score", *TEXTS]
CASES = {
    "shell, texts read anew": [*SCORE, "--no-cache"],
    "shell, from the cache": SCORE,
    "Python, 4000 + 4000 x 512": [sys.executable, "-c", FEATURES],
}


@contextmanager
def busy_neighbours(count: int) -> Iterator[None]:
    """So many processes that do nothing but use a CPU."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """The duration of a program."""
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    cpus = usable_cpus()
    print(f"{machine()}; median of {repeats}; seconds idle, beside {cpus} busy processes, ratio\n")
    with tempfile.TemporaryDirectory() as cache:
        plain = os.environ | {"PYTHONPATH": str(ROOT), "MAUVE_METRIC_CACHE": cache}
        plain.pop("OMP_WAIT_POLICY", None)
        ways = {"as it is": plain, "threads that spin": plain | {"OMP_WAIT_POLICY": "active"}}
        seconds(SCORE, plain)  # fills the cache
        for case, command in CASES.items():
            for way, environment in ways.items():
                idle = statistics.median(seconds(command, environment) for _ in range(repeats))
                with busy_neighbours(cpus):
                    beside = statistics.median(seconds(command, environment) for _ in range(repeats))
                print(f"{case:28} {way:20} {idle:6.1f} s {beside:6.1f} s {beside / idle:5.1f} x", flush=True)


if __name__ == "__main__":
    main()
