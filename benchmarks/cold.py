"""From texts to the verdict in new processes: seconds by stage, ours against what a user would write otherwise.

    python benchmarks/cold.py [--texts 1000] [--models minilm smollm2] [--repeats 2] [--dtype bfloat16]

Each way runs in a process of its own, in turns, and the best total counts: ours (`featurize_texts`, `compute_mauve`),
mauve-text with its own featurizer in batches of eight, and for `minilm` sentence-transformers with mauve-text's score.
The texts are those of the shipped examples, at most 1200 a side. Nothing is cached; the packages' files are in the page
cache after the first round. `encode` includes tokenizing for sentence-transformers, whose function does both.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SIDES = (("human", "human_other"), ("nucleus", "sampling"))
STAGES = ("import", "load", "tokenize", "encode", "score")
Times = dict[str, float]


@contextlib.contextmanager
def stage(seconds: Times, name: str) -> Iterator[None]:
    """Add the seconds of the block to those of a stage."""
    started = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - started


def example_texts(number: int) -> list[list[str]]:
    """Texts of both sides, at most so many each."""
    lines = [
        [line for name in names for line in (EXAMPLES / f"{name}.jsonl").open(encoding="utf-8")] for names in SIDES
    ]
    return [[json.loads(line)["text"] for line in side[:number]] for side in lines]


def ours(model: str, texts: list[list[str]], dtype: str, seconds: Times) -> None:
    """Score by this package. Tokenizing alone is timed apart and taken off `encode`, which tokenizes again."""
    with stage(seconds, "import"):
        from mauve_metric import compute_mauve
        from mauve_metric.features.encoder import load_encoder
        from mauve_metric.features.featurize import featurize_texts, tokenize
        from mauve_metric.runtime.optional_imports import import_torch

        import_torch()
    with stage(seconds, "load"):
        encoder = load_encoder(model, dtype=dtype)
    with stage(seconds, "tokenize"):
        for side in texts:
            tokenize(encoder, side)
    with stage(seconds, "encode"):
        features = [featurize_texts(encoder, side)[0] for side in texts]
    seconds["encode"] -= seconds["tokenize"]
    with stage(seconds, "score"):
        compute_mauve(p_features=features[0], q_features=features[1])


def mauve_text(model: str, texts: list[list[str]], dtype: str, seconds: Times) -> None:
    """Score by mauve-text, whose featurizer takes batches of texts in their order."""
    with stage(seconds, "import"):
        import mauve.utils
        import torch
        import transformers

        from mauve_metric.features.pretrained import folder_of
    with stage(seconds, "load"):
        folder = folder_of(model)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        encoder = transformers.AutoModel.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
        longest = min(encoder.config.max_position_embeddings, 1024)
    with stage(seconds, "tokenize"):
        ids = [
            [tokenizer.encode(text, return_tensors="pt", truncation=True, max_length=longest) for text in side]
            for side in texts
        ]
    with stage(seconds, "encode"):
        features = [mauve.utils.featurize_tokens_from_model(encoder, side, 8).float().numpy() for side in ids]
    with stage(seconds, "score"):
        mauve.compute_mauve(p_features=features[0], q_features=features[1])


def sentence_transformers(model: str, texts: list[list[str]], dtype: str, seconds: Times) -> None:
    """Score by mauve-text on the sentence vectors of sentence-transformers."""
    with stage(seconds, "import"):
        import mauve
        from sentence_transformers import SentenceTransformer

        from mauve_metric.features.pretrained import folder_of
    with stage(seconds, "load"):
        encoder = SentenceTransformer(folder_of(model), device="cpu", model_kwargs={"dtype": dtype})
    with stage(seconds, "encode"):
        features = [encoder.encode(side).astype("float32") for side in texts]
    with stage(seconds, "score"):
        mauve.compute_mauve(p_features=features[0], q_features=features[1])


WAYS: dict[str, Callable[[str, list[list[str]], str, Times], None]] = {
    "ours": ours,
    "mauve-text": mauve_text,
    "sentence-transformers": sentence_transformers,
}


def timed(way: str, model: str, number: int, dtype: str) -> Times:
    """Seconds by stage of one way in a new process, "total" from its start to its end."""
    command = [sys.executable, __file__, "--way", way, "--models", model, "--texts", str(number), "--dtype", dtype]
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    seconds: Times = json.loads(done.stdout.decode().splitlines()[-1])
    return seconds | {"total": time.perf_counter() - started}


def main() -> None:
    """Print a table for each model, or, for one way, its seconds as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--models", nargs="+", default=["minilm", "smollm2"])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        seconds: Times = {}
        WAYS[options.way](options.models[0], example_texts(options.texts), options.dtype, seconds)
        print(json.dumps(seconds))
        return
    from machine import machine

    print(machine())
    for model in options.models:
        ways = [way for way in WAYS if way != "sentence-transformers" or model == "minilm"]
        runs: list[list[Any]] = [
            [timed(way, model, options.texts, options.dtype) for way in ways] for _ in range(options.repeats)
        ]
        print(f"\n**{model}**, {options.texts} + {options.texts} texts, {options.dtype}\n")
        print(f"| | {' | '.join(STAGES)} | total |\n|---|{'--:|' * (len(STAGES) + 1)}")
        for way, results in zip(ways, zip(*runs, strict=True), strict=True):
            best: Any = min(results, key=lambda found: found["total"])
            cells = [f"{best[name]:.2f}" if name in best else "" for name in (*STAGES, "total")]
            print(f"| {way} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
