"""Time of an evaluation while a model trains: the share of the model's writing and that of this package.

    python benchmarks/callback.py [--samples 256] [--new-tokens 64] [--evaluations 3] [--featurizer minilm]

A model of GPT-2 small's shape with random weights (they cost what trained ones do) evaluates as the `MauveCallback`
does: it writes `--samples` texts of `--new-tokens` tokens behind prompts from as many human texts, and these texts are
featurized and scored. The human ones are featurized once, in the first evaluation. One row for each evaluation, in
seconds, and the share of what is not the model's writing.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from pathlib import Path

import torch
from featurize import CASES, EXAMPLES, random_gpt2
from transformers import AutoTokenizer, GPT2LMHeadModel

from mauve_metric.apps.generation.evaluator import ModelEvaluator

PROMPT_TOKENS = 16


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--samples", type=int, default=256, help="texts of an evaluation (default: %(default)s)")
    parser.add_argument("--new-tokens", type=int, default=64, help="written behind each prompt (default: %(default)s)")
    parser.add_argument("--evaluations", type=int, default=3, help="one after the other (default: %(default)s)")
    parser.add_argument("--featurizer", default="minilm", help="featurize_model_name (default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=32, help="generation_batch_size (default: %(default)s)")
    return parser.parse_args()


def human_texts(count: int) -> list[str]:
    """The first texts of the examples, used again if there are fewer."""
    lines = (EXAMPLES / "human.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [str(json.loads(line)["text"]) for line in lines]
    return [texts[index % len(texts)] for index in range(count)]


def main() -> None:
    """Print the table as Markdown."""
    args = options()
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        random_gpt2(Path(folder), CASES["gpt2"].size or {})
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = GPT2LMHeadModel.from_pretrained(folder)
    evaluator = ModelEvaluator(
        dataset=human_texts(4 * args.samples),
        prompt_tokens=PROMPT_TOKENS,
        num_samples=args.samples,
        max_new_tokens=args.new_tokens,
        generation_batch_size=args.batch_size,
        featurize_model_name=args.featurizer,
        cache=False,
    )
    parameters = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    print(
        f"{parameters:.0f} million parameters on {model.device} with {torch.get_num_threads()} threads; {args.samples} "
        f"texts of {args.new_tokens} new tokens, batches of {args.batch_size}; featurizer {args.featurizer}\n"
    )
    print("| evaluation | generate | featurize | score | not the model's writing |")
    print("|--:|--:|--:|--:|--:|")
    for number in range(1, args.evaluations + 1):
        seconds = evaluator.evaluate(model, tokenizer).seconds
        ours = seconds["featurize"] + seconds["score"]
        cells = " | ".join(f"{seconds[name]:.2f} s" for name in ("generate", "featurize", "score"))
        print(f"| {number} | {cells} | {ours / (ours + seconds['generate']):.1%} |", flush=True)


if __name__ == "__main__":
    main()
