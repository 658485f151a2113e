"""The table of README: seconds of this package and of its peers, in the same run on the same input.

    python -m benchmarks all [--quick]
    python -m benchmarks score neighbours

`--quick`: the best of two repeats in place of five, a tenth of the texts, no million rows. The first line names the
machine; run nothing else on it. The other scripts of this folder measure one part each in more detail.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))  # the scripts of this folder import each other by name

import featurize
import numpy as np
import scale
import score
import support
from machine import machine


class Row(NamedTuple):
    """One line of the table: the case, our seconds, the peer's seconds and name."""

    case: str
    seconds: float
    peer_seconds: float = float("nan")
    peer: str = ""


def scores(quick: bool) -> Iterator[Row]:
    """A score from features: mauve-text's fields, and everything that a result has."""
    for n, d in ((5000, 1280), (5000, 384), (500, 1280)):
        seconds, _ = score.best_times(score.contenders(*score.language_model_like(n, d), n // 10), 2 if quick else 5)
        for name in (score.OURS, score.DEFAULT):
            fields = name.partition(", ")[2]
            yield Row(
                f"score of {n} + {n} rows of {d} numbers, {fields}", seconds[name], seconds[score.PEER], score.PEER
            )


def neighbours(quick: bool) -> Iterator[Row]:
    """k-NN precision, recall, density and coverage of projected rows."""
    p, q = support.projected(*support.features(4000, 1280, np.random.default_rng(0)))
    functions = (lambda: support.ours(p, q), lambda: support.theirs(p, q))
    times = np.array([[support.timed(function)[0] for function in functions] for _ in range(2 if quick else 5)])
    yield Row(f"k-NN scores of 4000 + 4000 rows of {p.shape[1]} numbers", *times.min(axis=0), "prdc")


def texts(quick: bool) -> Iterator[Row]:
    """MiniLM features of texts, and mauve-text's featurizer on the same weights, at its best batch size."""
    case = featurize.CASES["minilm"]
    options = argparse.Namespace(device="cpu", mauve_batch_sizes=[8, 32], max_batch_tokens=None)
    count = case.texts // 10 if quick else case.texts
    variants, _ = featurize.variants(str(featurize.minilm_folder()), case, count, options)
    for _ in range(2):
        for variant in variants:
            featurize.measure(variant)
    seconds = {variant.name: variant.seconds for variant in variants}
    peer = min((name for name in seconds if name.startswith(score.PEER)), key=seconds.__getitem__)
    yield Row(f"MiniLM features of {count} texts", seconds["ours, float32"], seconds[peer], peer)


def files(quick: bool) -> Iterator[Row]:
    """A score from a million rows in files."""
    if not quick:
        with tempfile.TemporaryDirectory() as name:
            for seed, side in enumerate("pq"):
                scale.write_rows(Path(name) / f"{side}.npy", 500_000, 0.05 * seed, seed + 1)
            yield Row("score of 500000 + 500000 rows of 1280 numbers in files", scale.measure(Path(name))[0])


CASES = {"score": scores, "neighbours": neighbours, "texts": texts, "files": files}


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", choices=["all", *CASES])
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    print(f"{machine()}\n\n| | seconds | peer's seconds | peer's / ours |\n|---|--:|--:|--:|", flush=True)
    for name in CASES if "all" in options.cases else dict.fromkeys(options.cases):
        for row in CASES[name](options.quick):
            peer = f"{row.peer_seconds:.2f} ({row.peer}) | {row.peer_seconds / row.seconds:.1f}" if row.peer else " | "
            print(f"| {row.case} | {row.seconds:.2f} | {peer} |", flush=True)


if __name__ == "__main__":
    main()
