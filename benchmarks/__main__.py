"""The table of docs/speed.md: seconds and memory of this package and of its peers, in one run on the same input.

    python -m benchmarks all [--quick]
    python -m benchmarks score neighbours

`--quick`: the best of two repeats in place of five, a twentieth of the texts, of mauve-text's batch sizes the default
alone, no million rows. The first line names the
machine; run nothing else on it. Peak memory is that of a process that loads features and scores them, on Linux; of
neighbours, of the arrays that are made; of texts, what is added to the model. The other scripts of this folder measure
one part each in more detail.
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

from mauve_metric import compare, compute_mauve


class Row(NamedTuple):
    """One line of the table: the case, our seconds and peak megabytes, the peer's, and its name."""

    case: str
    seconds: float
    megabytes: float
    peer_seconds: float = float("nan")
    peer_megabytes: float = float("nan")
    peer: str = ""

    def __str__(self) -> str:
        cells = [self.case, f"{self.seconds:.2f}", f"{self.megabytes:.0f}"]
        if self.peer:
            cells += [f"{self.peer_seconds:.2f} ({self.peer})", f"{self.peer_megabytes:.0f}"]
            cells += [f"{self.peer_seconds / self.seconds:.1f}"]
        return f"| {' | '.join([*cells, '', '', ''][:6])} |".replace(" nan ", " – ")


def scores(quick: bool) -> Iterator[Row]:
    """A score from features: mauve-text's fields, and everything that a result has."""
    cases = {
        "5000 + 5000 rows of 1280 numbers": score.language_model_like(5000, 1280),
        "5000 + 5000 rows of 384 numbers": score.language_model_like(5000, 384),
        "5000 + 5000 rows of 384 numbers, of 400 kinds": score.of_kinds(5000, 384),
        "500 + 500 rows of 768 numbers": score.language_model_like(500, 768),
    }
    for title, sides in cases.items():
        k, peer = len(sides[0]) // 10, score.PEER
        seconds, _ = score.best_times(score.contenders(*sides, k), 2 if quick else 5)
        peak = {name: megabytes for name, (_, megabytes) in score.whole_process(*sides, k, 1).items()}
        for name in (score.OURS, score.DEFAULT):
            case = f"score of {title}, {name.partition(', ')[2]}"
            yield Row(case, seconds[name], peak[name], seconds[peer], peak[peer], peer)


def models(quick: bool) -> Iterator[Row]:
    """A comparison of several models of 630 texts, beside as many scores of one."""
    human, _ = score.language_model_like(630, 384)
    others = {f"model {number}": score.language_model_like(630, 384, number)[1] for number in range(1, 21)}
    for count in (3, 20):
        some = dict(list(others.items())[:count])
        functions = {
            "compare": lambda some=some: compare(p_features=human, models=some, verbose=False),
            "scores": lambda some=some: [
                compute_mauve(p_features=human, q_features=model, verbose=False) for model in some.values()
            ],
        }
        repeats = range(2 if quick else 5)
        times = {name: min(support.timed(function)[0] for _ in repeats) for name, function in functions.items()}
        case, unknown = f"comparison of {count} models, 630 rows of 384 numbers", float("nan")
        yield Row(case, times["compare"], unknown, times["scores"], unknown, f"{count} scores")


def neighbours(quick: bool) -> Iterator[Row]:
    """k-NN precision, recall, density and coverage of projected rows."""
    p, q = support.projected(*support.features(4000, 1280, np.random.default_rng(0)))
    functions = (lambda: support.ours(p, q), lambda: support.theirs(p, q))
    times = np.array([[support.timed(function)[0] for function in functions] for _ in range(2 if quick else 5)])
    (seconds, theirs), (peak, their_peak) = times.min(axis=0), map(support.peak, functions)
    yield Row(f"k-NN scores of 4000 + 4000 rows of {p.shape[1]} numbers", seconds, peak, theirs, their_peak, "prdc")


def texts(quick: bool) -> Iterator[Row]:
    """MiniLM features of texts, and mauve-text's featurizer on the same weights, at its best batch size."""
    case = featurize.CASES["minilm"]
    sizes = [] if quick else [8, 32]
    options = argparse.Namespace(device="cpu", mauve_batch_sizes=sizes, max_batch_tokens=None, dtypes=[])
    count = case.texts // 20 if quick else case.texts
    variants, _ = featurize.variants(featurize.folder_of("minilm"), case, count, options)
    for _ in range(2):
        for variant in variants:
            featurize.measure(variant)
    own = next(variant for variant in variants if variant.name == "ours, float32")
    peer = min((one for one in variants if one.name.startswith(score.PEER)), key=lambda one: one.seconds)
    figures = [number for one in (own, peer) for number in (one.seconds, one.memory / 2**20)]
    yield Row(f"MiniLM features of {count} texts", *figures, peer.name)


def files(quick: bool) -> Iterator[Row]:
    """A score from a million rows in files."""
    if not quick:
        with tempfile.TemporaryDirectory() as name:
            for seed, side in enumerate("pq"):
                scale.write_rows(Path(name) / f"{side}.npy", 500_000, 0.05 * seed, seed + 1)
            yield Row("score of 500000 + 500000 rows of 1280 numbers in files", *scale.measure(Path(name))[:2])


CASES = {"score": scores, "models": models, "neighbours": neighbours, "texts": texts, "files": files}


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", choices=["all", *CASES])
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    head = "| | seconds | peak MB | peer's seconds | peer's peak MB | peer's / ours |\n|---|--:|--:|--:|--:|--:|"
    print(f"{machine()}\n\n{head}", flush=True)
    for name in CASES if "all" in options.cases else dict.fromkeys(options.cases):
        for row in CASES[name](options.quick):
            print(row, flush=True)


if __name__ == "__main__":
    main()
