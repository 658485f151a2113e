"""Train a small GPT-2 from scratch on a CPU, and watch MAUVE rise while it learns.

    pip install 'mauve_metric[minilm,trainer]'
    python train_with_mauve.py                       # about five minutes on two CPU cores
    python train_with_mauve.py --plot training.png   # needs altair and vl-convert-python, too

The model learns from human.jsonl. Half of human_other.jsonl is what its texts are compared with during the training;
the other half judges the checkpoint with the lowest loss and the one with the highest MAUVE at the end.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerState,
    TrainingArguments,
    set_seed,
)
from transformers.utils import logging as transformers_logging

from mauve_metric import MauveCallback, MauveResult, evaluate_model

HERE = Path(__file__).resolve().parent
END = "<|endoftext|>"
COLUMNS = ("eval_loss", "eval_mauve", "eval_mauve_debiased", "eval_precision", "eval_recall", "eval_distinct_4")


def read(name: str) -> list[str]:
    """The texts of one of the example files."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def make_tokenizer(texts: list[str], size: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE of the training texts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END, pad_token=END)


def make_rows(tokenizer: PreTrainedTokenizerFast, texts: list[str], length: int) -> list[dict[str, list[int]]]:
    """Each text between two end tokens, cut or filled up to one length; what fills up is not learned."""
    rows = []
    for text in texts:
        ids = [tokenizer.bos_token_id, *tokenizer(text)["input_ids"], tokenizer.eos_token_id][:length]
        filling = length - len(ids)
        rows.append(
            {
                "input_ids": ids + [tokenizer.pad_token_id] * filling,
                "labels": ids + [-100] * filling,
                "attention_mask": [1] * len(ids) + [0] * filling,
            }
        )
    return rows


def collate(rows: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
    """A batch of rows."""
    return {name: torch.tensor([row[name] for row in rows]) for name in rows[0]}


class Table(TrainerCallback):
    """One line for each evaluation; MAUVE is in its metrics wherever this is in the list."""

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        """The names of the columns."""
        print("  ".join(["  step", *(f"{name.removeprefix('eval_'):>14}" for name in COLUMNS)]))

    def on_evaluate(self, _: Any, state: TrainerState, *__: Any, metrics: dict[str, float], **___: Any) -> None:
        """The values."""
        print("  ".join([f"{state.global_step:6d}", *(f"{metrics[name]:14.4f}" for name in COLUMNS)]), flush=True)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=480, help="training steps (default: %(default)s)")
    parser.add_argument("--eval-steps", type=int, default=80, help="steps between evaluations (default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=16, help="texts of a training batch (default: %(default)s)")
    parser.add_argument(
        "--samples", type=int, default=200, help="texts written at an evaluation (default: %(default)s)"
    )
    parser.add_argument("--width", type=int, default=192, help="of the model (default: %(default)s)")
    parser.add_argument("--layers", type=int, default=3, help="of the model (default: %(default)s)")
    parser.add_argument("--vocabulary", type=int, default=2048, help="tokens (default: %(default)s)")
    parser.add_argument("--length", type=int, default=192, help="most tokens of a text (default: %(default)s)")
    parser.add_argument("--learning-rate", type=float, default=1.5e-3, help="at its highest (default: %(default)s)")
    parser.add_argument("--featurizer", default="minilm", help="featurize_model_name (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="draw the training to a .png, .svg, .pdf or .html file")
    return parser.parse_args()


def train(
    args: argparse.Namespace, human: list[str], references: list[str], folder: str
) -> tuple[Trainer, MauveCallback]:
    """The trained Trainer, with a checkpoint for each evaluation, and its callback."""
    set_seed(args.seed)
    tokenizer = make_tokenizer(human, args.vocabulary)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=args.length,
        n_embd=args.width,
        n_layer=args.layers,
        n_head=args.width // 48,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    callback = MauveCallback(
        references=references,  # no prompts: the model writes whole texts, each at most as long as a human one
        num_samples=args.samples,
        featurize_model_name=args.featurizer,
        embed_at_start=True,
    )
    trainer = Trainer(
        GPT2LMHeadModel(config),
        TrainingArguments(
            output_dir=folder,
            max_steps=args.steps,
            per_device_train_batch_size=args.batch_size,
            per_device_eval_batch_size=32,
            learning_rate=args.learning_rate,
            lr_scheduler_type="cosine",
            warmup_steps=args.steps // 20,
            weight_decay=0.1,
            eval_strategy="steps",
            eval_steps=args.eval_steps,
            eval_on_start=True,
            save_steps=args.eval_steps,
            save_only_model=True,
            logging_strategy="no",
            metric_for_best_model="eval_mauve",
            greater_is_better=True,
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
            seed=args.seed,
        ),
        data_collator=collate,
        train_dataset=make_rows(tokenizer, human, args.length),
        eval_dataset=make_rows(tokenizer, references, args.length),
        processing_class=tokenizer,
        callbacks=[Table(), callback],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return trainer, callback


def judge(folder: str, step: int, args: argparse.Namespace, references: list[str]) -> MauveResult:
    """A checkpoint against texts that neither the training nor the choice has seen, with another seed."""
    checkpoint = f"{folder}/checkpoint-{step}"
    return evaluate_model(
        GPT2LMHeadModel.from_pretrained(checkpoint),
        PreTrainedTokenizerFast.from_pretrained(checkpoint),
        references=references,
        num_samples=args.samples,
        featurize_model_name=args.featurizer,
        device="cpu",
        seed=args.seed + 1000,
    )


def draw(history: list[dict[str, Any]], path: str) -> None:
    """The scores above the loss, over the steps."""
    import altair as alt

    scores = [
        {"step": row["step"], "score": name.removeprefix("eval_"), "value": row[name]}
        for row in history
        for name in ("eval_mauve", "eval_precision", "eval_recall")
    ]
    losses = [{"step": row["step"], "loss": row["eval_loss"]} for row in history]
    upper = alt.Chart(alt.InlineData(values=scores)).mark_line(point=True)
    upper = upper.encode(x="step:Q", y="value:Q", color="score:N", strokeDash="score:N").properties(
        width=480, height=240
    )
    lower = alt.Chart(alt.InlineData(values=losses)).mark_line(point=True, color="black")
    lower = lower.encode(x="step:Q", y=alt.Y("loss:Q", scale=alt.Scale(zero=False))).properties(width=480, height=120)
    alt.vconcat(upper, lower).save(path)


def main() -> None:
    """Train, show, compare."""
    args = options()
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)  # no advice about small samples at each evaluation
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    other = read("human_other.jsonl")
    references, unseen = other[::2], other[1::2]
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        trainer, callback = train(args, read("human.jsonl"), references, folder)
        history = [row for row in trainer.state.log_history if "eval_mauve" in row]
        prompt, text = callback.history[-1].evaluation.texts[0]
        print(f"\nAt the end it writes: {prompt}{text[:300]}\n")
        saved = [row for row in history if row["step"] > 0]
        choices = {
            "lowest loss": min(saved, key=lambda row: row["eval_loss"])["step"],
            "highest MAUVE": max(saved, key=lambda row: row["eval_mauve"])["step"],
        }
        print("On texts that neither training nor choice has seen:")
        for name, step in choices.items():
            result = judge(folder, step, args, unseen)
            low, high = result.closeness_ci or (float("nan"), float("nan"))
            print(
                f"  {name:>13}: step {step:5d}, MAUVE {result.mauve:.4f}, closeness {result.closeness:.4f} "
                f"({low:.4f} to {high:.4f}), precision {result.precision:.4f}, recall {result.recall:.4f}"
            )
    if args.plot:
        draw(history, args.plot)
    print(f"{time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main()
