"""Many files: what each step costs a core, what the samples leave as an error, and Ray beside one process.

    python benchmarks/shards.py rates                                    # texts a second and core, from features on
    python benchmarks/shards.py samples [--rows 40000] [--seeds 8]       # scores from smaller and smaller samples
    python benchmarks/shards.py ray [--texts 40000] [--shards 64] [--workers 2] [--kill 16 40]

`rates` is in processor time of one thread. `samples` draws two mixtures of Gaussians, so that as many rows
as are wanted can be had. `ray` scores short texts by a tiny GPT-2 with random weights, in one process and by local
workers of which one is killed each time so many shards are done, and compares what both print.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import machine
from threadpoolctl import threadpool_limits

from mauve_metric.arrays import Array, Integers
from mauve_metric.clustering import blocks, kmeans
from mauve_metric.clustering.nearest_centres import assign
from mauve_metric.clustering.projection import Projection, fit_projection
from mauve_metric.features.row_blocks import ArrayRows, hash_of_rows
from mauve_metric.measures.frontier import exact_area
from mauve_metric.options import MauveConfig

CONFIG = MauveConfig(num_buckets=500, kmeans_num_redo=1, kmeans_max_iter=10)
ROWS_A_BUCKET = (256, 64, 32, 16)
PROJECTION_ROWS = (10_000, 1000, 320)
FEWER = (1000, 4000, 10_000)


def seconds(work: Callable[[], object]) -> float:
    """Processor time of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def rates(rows: int = 20_000) -> None:
    """Rows a second of one core, for each step behind the model."""
    print("| step | d = 384 | d = 1280 |\n|---|--:|--:|")
    found: dict[str, list[str]] = {}
    for d in (384, 1280):
        rng = np.random.default_rng(0)
        features = (rng.normal(size=(rows, d)) * np.arange(1, d + 1) ** -0.45 + 0.5).astype(np.float32)
        stored = ArrayRows(features)
        projection = fit_projection(stored, CONFIG.kmeans_explained_var)
        centres = blocks.fit_centres(ArrayRows(features[:5000]), projection, CONFIG).centres[0]

        def label(stored: ArrayRows = stored, projection: Projection = projection, centres: Array = centres) -> None:
            for block in stored.blocks():
                assign(projection.apply(block), centres)

        steps: dict[str, Callable[[], object]] = {
            "checksum": lambda stored=stored: hash_of_rows(stored),
            "projection": lambda stored=stored: fit_projection(stored, CONFIG.kmeans_explained_var),
            "buckets, k = 500": label,
        }
        for name, work in steps.items():
            found.setdefault(name, []).append(f"{rows / seconds(work):,.0f}/s")
    for name, cells in found.items():
        print(f"| {name} | {' | '.join(cells)} |")


def mixtures(rows: int, seed: int, d: int = 32, parts: int = 30) -> tuple[Array, Array]:
    """Two sets from the same Gaussians with other weights."""
    rng = np.random.default_rng(seed)
    places = np.random.default_rng(0).normal(size=(parts, d)) * 1.5
    weights = np.random.default_rng(1).dirichlet(np.full(parts, 3.0), size=2)
    drawn = (places[rng.choice(parts, size=rows, p=some)] + rng.normal(size=(rows, d)) for some in weights)
    p, q = (rows.astype(np.float32) for rows in drawn)
    return p, q


def labels_from(both: Array, projected_on: int | None, rows_a_bucket: int, buckets: int, seed: int) -> Integers:
    """The buckets of all rows when projection and centres are fitted on some."""
    rng = np.random.default_rng(seed)
    some = both if projected_on is None else both[rng.choice(len(both), projected_on, replace=False)]
    projection: Projection = fit_projection(ArrayRows(some), 0.9)
    sample = both[rng.choice(len(both), min(len(both), rows_a_bucket * buckets), replace=False)]
    centres = kmeans.fit(projection.apply(sample), buckets, 5, 500, seed)
    return assign(projection.apply(both), centres)


def score(labels: Integers, n: int, buckets: int, rows: int | None = None) -> float:
    """The exact area from the buckets of n + n rows, or of the first so many of either set."""
    sides = (labels[:n][:rows], labels[n:][:rows])
    p, q = (np.bincount(some, minlength=buckets) / len(some) for some in sides)
    return exact_area(p, q)


def samples(rows: int, seeds: int, buckets: int = 100) -> None:
    """Mean score and its spread over seeds, for each sample."""
    p, q = mixtures(rows, seed=2)
    both = np.concatenate([p, q])
    cases = [(None, count) for count in ROWS_A_BUCKET] + [(count, ROWS_A_BUCKET[0]) for count in PROJECTION_ROWS]
    print(f"{rows} + {rows} rows, k = {buckets}, {seeds} seeds\n")
    print("| projection from | rows a bucket for the centres | score | spread over seeds |\n|---|--:|--:|--:|")
    whole: list[Integers] = []
    for projected_on, count in cases:
        labels = [labels_from(both, projected_on, count, buckets, seed) for seed in range(seeds)]
        whole = whole or labels
        scores = [score(some, rows, buckets) for some in labels]
        name = "all rows" if projected_on is None else f"{projected_on} rows"
        print(f"| {name} | {count} | {np.mean(scores):.4f} | {np.std(scores, ddof=1):.4f} |", flush=True)
    sizes = [size for size in (*FEWER, rows) if size <= rows]
    print(f"\n| texts a side, same buckets | {' | '.join(map(str, sizes))} |\n|---|{'--:|' * len(sizes)}")
    means = [np.mean([score(some, rows, buckets, size) for some in whole]) for size in sizes]
    print(f"| score | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    projection = fit_projection(ArrayRows(both), 0.9)
    centres = kmeans.fit(projection.apply(both[: 256 * buckets]), buckets, 5, 500, 0)
    exact, rounded = (assign(projection.apply(some), centres) for some in (both, both.astype(np.float16)))
    moved = score(rounded, rows, buckets) - score(exact, rows, buckets)
    print(f"\nfloat16: {np.mean(exact != rounded):.4%} of the rows in another bucket, the score moves by {moved:.1e}")


def write_texts(folder: Path, texts: int, shards: int, seed: int) -> None:
    """Short texts of random words in so many files."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    for number, part in enumerate(np.array_split(rng.integers(0, 900, size=(texts, 15)), shards)):
        with (folder / f"part-{number:04d}.jsonl").open("w", encoding="utf-8") as file:
            for words in part:
                file.write(json.dumps({"text": " ".join(f"w{word}" for word in words)}) + "\n")


def tiny_model(folder: Path) -> None:
    """A GPT-2 of two layers with random weights, and a tokenizer of these words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    words = {f"w{number}": number for number in range(900)} | {"<|end|>": 900}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<|end|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=901, n_positions=64, n_embd=64, n_layer=2, n_head=2, bos_token_id=900, eos_token_id=900
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>").save_pretrained(
        folder
    )


def kill_workers(features: Path, after: list[int], ended: threading.Event) -> None:
    """Kill one of Ray's workers each time so many files of features are there."""
    for count in after:
        while len(list(features.glob("*.npy"))) < count:
            if ended.wait(0.05):
                return
        for process in Path("/proc").glob("[0-9]*"):
            try:
                name = (process / "cmdline").read_bytes().split(b"\0")[0]
            except OSError:
                continue
            if name.startswith(b"ray::_run"):  # a worker with a task, by the name of its function
                print(f"{count} shards are done: a worker is killed", file=sys.stderr)
                os.kill(int(process.name), signal.SIGKILL)
                break


def beside_ray(texts: int, shards: int, workers: int, kill: list[int]) -> None:
    """Wall time, and time until the first features are there, in one process and by Ray's workers."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        tiny_model(folder / "tiny")
        for seed, side in enumerate(("human", "model")):
            write_texts(folder / side, texts // 2, shards // 2, seed)
        told: list[str] = []
        print("| | wall, s | first features after, s |\n|---|--:|--:|")
        for name, flags in (("one process", []), (f"{workers} workers", ["--ray=local", "--workers", str(workers)])):
            out = folder / name.replace(" ", "-")
            command = [
                sys.executable,
                "-m",
                "mauve_metric",
                "score",
                *flags,
                str(folder / "human"),
                str(folder / "model"),
            ]
            command += ["-o", str(out), "--featurize-model-name", str(folder / "tiny")]
            command += ["--num-buckets", "100", "--json", "--quiet", "--device", "cpu"]
            ended, start = threading.Event(), time.time()
            arguments = (out / "features", kill if flags else [], ended)
            killer = threading.Thread(target=kill_workers, args=arguments)
            killer.start()
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            wall = time.time() - start
            ended.set()
            killer.join()
            if done.returncode:
                raise SystemExit(done.stderr)
            told.append(done.stdout)
            first = min(file.stat().st_mtime for file in (out / "features").glob("*.npy")) - start
            print(f"| {name} | {wall:.1f} | {first:.1f} |", flush=True)
        print(f"\nthe same JSON: {told[0] == told[1]}")


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=("rates", "samples", "ray"))
    parser.add_argument("--rows", type=int, default=40_000, metavar="N")
    parser.add_argument("--seeds", type=int, default=8, metavar="N")
    parser.add_argument("--texts", type=int, default=40_000, metavar="N")
    parser.add_argument("--shards", type=int, default=64, metavar="N")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--kill", type=int, nargs="*", default=[], metavar="SHARDS")
    options = parser.parse_args()
    print(f"{machine()}\n")
    if options.case == "rates":
        with threadpool_limits(1):
            rates()
    elif options.case == "samples":
        samples(options.rows, options.seeds)
    else:
        beside_ray(options.texts, options.shards, options.workers, options.kill)


if __name__ == "__main__":
    main()
