"""Whether a ranking of models hangs on how the features become buckets, and what each way costs.

    python benchmarks/quantizers.py [--data FOLDER [--texts 150] [--tokens 64] [--only-data]]
        [--seeds 3] [--paper] [--rows 5000]

The decoders of the example texts, with as much other human text as a control; and, in a folder, `NAME.human.jsonl` and
`NAME.model.jsonl` of any number of models: the reference is every human text there, each model is cut to as many texts
as the others have. All are featurized by MiniLM and share their buckets, as `mauve-metric compare` makes them.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from machine import machine

from mauve_metric.arrays import Array, Floats
from mauve_metric.config import MauveConfig
from mauve_metric.features.reference import featurize
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.measures.rank_correlation import spearman
from mauve_metric.quantize.histograms import count_labels
from mauve_metric.quantize.partition import partition_sets
from mauve_metric.quantize.quantizers import num_buckets_of
from mauve_metric.texts.files import read_texts
from mauve_metric.uncertainty.intervals import debiased_scores
from mauve_metric.uncertainty.jackknife import debiased_frontier

logger = logging.getLogger(__name__)

EXAMPLES = Path(__file__).parents[1] / "examples"
DECODERS = ("human_other", "nucleus", "top_k", "temperature", "sampling", "greedy")
BUCKETS = (100, 200, 500, 1000, 2000)
STANDARD = "k-means, k = 500"  # that the others are compared with: the paper's


class Found(NamedTuple):
    """Of one quantizer: MAUVE and its debiased form, (seeds, models), and the processor seconds of a clustering."""

    mauve: Floats
    debiased: Floats
    seconds: float


def settings(rows: int, paper: bool) -> dict[str, MauveConfig]:
    """What is compared; paper: the training lengths of the paper's code, too."""
    ways = {f"k-means, k = {k}": MauveConfig(num_buckets=k) for k in BUCKETS if k <= rows}
    ways |= {"DRMM": MauveConfig(quantizer="drmm"), "lattice": MauveConfig(quantizer="lattice")}
    if paper:
        ways["DRMM, 20 n steps"] = MauveConfig(quantizer="drmm", drmm_steps=20 * rows)
        ways["lattice, 200 epochs, h = 768"] = MauveConfig(quantizer="lattice", lattice_epochs=200, lattice_hidden=768)
    return ways


def features(path: Path, texts: int | None = None, tokens: int | None = None) -> Array:
    """MiniLM features of the first texts of a file, from the cache if they are there."""
    limit = {} if tokens is None else {"max_text_length": tokens}
    found: Array = featurize(read_texts(path)[:texts], featurize_model_name="minilm", **limit).features
    return found


def example_sets() -> dict[str, Array]:
    """The human example texts, and those of the models."""
    return {name: features(EXAMPLES / f"{name}.jsonl") for name in ("human", *DECODERS)}


def sets_in(folder: Path, texts: int | None, tokens: int | None) -> Iterator[tuple[int, dict[str, Array]]]:
    """For each size that a model's file has: the human rows, and the models that have as many texts, cut to them."""
    paths = sorted(folder.glob("*.model.jsonl"))
    if not paths:
        raise SystemExit(f"--data: {folder} holds no file NAME.model.jsonl")
    human = [features(path, texts, tokens) for path in sorted(folder.glob("*.human.jsonl"))]
    reference = np.unique(np.concatenate(human), axis=0)
    models = {path.name.removesuffix(".model.jsonl"): features(path, texts, tokens) for path in paths}
    for size in sorted({len(rows) for rows in models.values()}):
        yield size, {"human": reference} | {name: rows[:size] for name, rows in models.items() if len(rows) >= size}


def found_by(sets: dict[str, Array], config: MauveConfig, seeds: int) -> Found:
    """The scores of every model under one quantizer."""
    rows = [some.astype(np.float32) for some in sets.values()]
    k = num_buckets_of(config, *map(len, rows))
    plain, debiased, seconds = [], [], []
    for seed in range(seeds):
        start = time.process_time()
        resolved = MauveConfig(**{**vars(config), "num_buckets": k, "seed": seed, "num_runs": 1, "knn": False})
        human, *models = partition_sets(rows, resolved).labels[0]
        seconds.append(time.process_time() - start)
        counts = [count_labels(human, model, k) for model in models]
        plain.append([curve_area(divergence_curve(*some.probabilities())) for some in counts])
        debiased.append([debiased_scores(debiased_frontier(some.p_counts, some.q_counts)).mauve for some in counts])
        logger.info("%s, %d: %s in %.0f s", config.quantizer, k, np.round(plain[-1], 3).tolist(), seconds[-1])
    return Found(np.array(plain), np.array(debiased), min(seconds))


def print_table(title: str, head: list[str], rows: dict[str, list[str]]) -> None:
    """Markdown."""
    print(f"\n| {title} | {' | '.join(head)} |\n|---|{'--:|' * len(head)}", flush=True)
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def agreement(one: Floats, other: Floats) -> str:
    """Spearman's correlation of two rankings of the models."""
    if not (np.ptp(one) and np.ptp(other)):
        return "–"  # all the same: no ranking
    return f"{spearman(one, other).value:.2f}"


def own_agreement(scores: Floats) -> str:
    """The mean Spearman correlation of the rankings by two seeds."""
    pairs = [(a, b) for a in range(len(scores)) for b in range(a)]
    return f"{np.mean([spearman(scores[a], scores[b]).value for a, b in pairs]):.2f}" if pairs else "–"


def study(title: str, sets: dict[str, Array], seeds: int, paper: bool) -> None:
    """The scores of the models by every quantizer, how far the rankings agree, and the time of each."""
    names, total = list(sets)[1:], sum(map(len, sets.values()))
    print(f"\n## {title}\n\n{total} rows in all, of {len(next(iter(sets.values())))} human texts.")
    found = {way: found_by(sets, config, seeds) for way, config in settings(total, paper).items()}
    mean = {way: item.mauve.mean(axis=0) for way, item in found.items()}
    print_table("mean MAUVE", names, {way: [f"{value:.3f}" for value in scores] for way, scores in mean.items()})
    standard = found[STANDARD]
    cells = {
        way: [
            agreement(mean[way], mean[STANDARD]),
            f"{min(spearman(mean[way], other).value for other in mean.values()):.2f}",
            own_agreement(item.mauve),
            agreement(item.debiased.mean(axis=0), standard.debiased.mean(axis=0)),
            f"{item.mauve.std(axis=0).max():.3f}",
            f"{item.seconds:.1f} s",
        ]
        for way, item in found.items()
    }
    head = [f"with {STANDARD}", "least with any other", "between seeds", "debiased, with the same"]
    head += ["largest deviation between seeds", "processor time"]
    print_table("Spearman correlation of the rankings", head, cells)


def time_of_all(n: int) -> None:
    """The processor seconds of each quantizer for n + n × 1280, with a spectrum as encoders have it."""
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(2 * n, 1280)) * np.exp(-np.arange(1280) / 260)).astype(np.float32)
    cells = {}
    for way in ("k-means, k = 500", "DRMM", "lattice"):
        found = found_by({"human": rows[:n], "model": rows[n:]}, settings(2 * n, False)[way], 1)
        cells[way] = [f"{found.seconds:.0f} s"]
    print_table(f"{n} + {n} × 1280", ["processor time"], cells)


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="of NAME.human.jsonl and NAME.model.jsonl")
    parser.add_argument("--texts", type=int, help="at most so many of each file there")
    parser.add_argument("--tokens", type=int, help="kept of each of these texts")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--paper", action="store_true", help="also with the training lengths of the paper's code")
    parser.add_argument("--only-data", action="store_true", help="leave the examples out")
    parser.add_argument("--rows", type=int, default=0, help="also time each way on so many rows a side, × 1280")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.INFO)
    print(machine())
    if not options.only_data:
        study("Decoders of the example texts", example_sets(), options.seeds, options.paper)
    for size, sets in sets_in(options.data, options.texts, options.tokens) if options.data else ():
        title = f"{options.data.name}: {len(sets) - 1} models, {size} texts each"
        study(title, sets, options.seeds, options.paper)
    if options.rows:
        time_of_all(options.rows)


if __name__ == "__main__":
    main()
