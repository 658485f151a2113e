"""Small stand-ins for what the code on the pages needs: a model, its training, a server."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Sequence
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mauve_metric import read_texts

TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TEXTS = 24  # of each kind: a page shows that its code runs, and no score of such a model means anything


def texts(name: str = "human") -> list[str]:
    """Some texts of an example."""
    return read_texts(f"examples/{name}.jsonl")[:TEXTS]


def short_texts() -> list[str]:
    """The beginnings of some human texts, to write as many words as they have."""
    return [" ".join(text.split()[:16]) for text in texts()]


def prompts() -> list[str]:
    """The first words of other human texts."""
    return [" ".join(text.split()[:6]) for text in texts("human_other")]


@cache
def tiny_model() -> tuple[Any, Any]:
    """A random GPT-2 of 256 positions, with a chat template, and its tokenizer."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast

    made = ByteLevelBPETokenizer()
    special = ["<|end|>", "<|user|>", "<|assistant|>"]
    made.train_from_iterator(texts(), vocab_size=400, special_tokens=special, show_progress=False)
    tokenizer = GPT2TokenizerFast(tokenizer_object=made._tokenizer, eos_token="<|end|>", pad_token="<|end|>")
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    ends = {"eos_token_id": tokenizer.eos_token_id, "bos_token_id": tokenizer.eos_token_id}
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=256, n_embd=32, n_layer=1, n_head=2, **ends)
    return GPT2LMHeadModel(config), tokenizer


def rows(count: int = 8) -> list[dict[str, list[int]]]:
    """Texts as a language model is trained on them."""
    _, tokenizer = tiny_model()
    ids = [tokenizer(text, truncation=True, max_length=32)["input_ids"] for text in texts()[:count]]
    return [{"input_ids": row, "attention_mask": [1] * len(row), "labels": row} for row in ids if len(row) == 32]


def tiny_trainer(**options: Any) -> Any:
    """A Trainer of the tiny model."""
    from transformers import Trainer, TrainingArguments

    model, tokenizer = tiny_model()
    args = TrainingArguments("out", report_to="none", **options)
    return Trainer(model, args, train_dataset=rows(), eval_dataset=rows(), processing_class=tokenizer)


def harness_files() -> None:
    """Files as harnesses write them, with the example texts: two models', a server's answers, and another one's."""
    human = read_texts("examples/human.jsonl")[:TEXTS]
    Path("human.txt").write_text("".join(f"{text}\n" for text in human), encoding="utf-8")
    for model, name in {"gpt2": "nucleus", "small": "greedy"}.items():
        pairs = [*enumerate(zip(human, read_texts(f"examples/{name}.jsonl")[:TEXTS], strict=True))]
        samples = [
            {
                "doc_id": at,
                "doc": {"story": gold},
                "target": gold,
                "filter": "none",
                "resps": [[text]],
                "filtered_resps": [text],
            }
            for at, (gold, text) in pairs
        ]
        folder = Path("results", model)
        folder.mkdir(parents=True, exist_ok=True)
        write_lines(folder / "samples_story_2026-01-31T10-11-12.jsonl", samples)
        fields = [{"doc": row["doc"], "resps": row["resps"]} for row in samples]
        write_lines(Path("any.jsonl"), fields)
        answers = [
            {"id": f"{at}", "choices": [{"message": {"role": "assistant", "content": text}}]} for at, (_, text) in pairs
        ]
        write_lines(Path("answers.jsonl"), answers)


def preferences() -> None:
    """Write `preferences.csv`: 300 invented judgements of pairs."""
    strength = {"human": 2.0, "nucleus": 1.0, "greedy": 0.25}
    rng = random.Random(0)
    rows = ["winner,loser"]
    for _ in range(300):
        a, b = rng.sample([*strength], 2)
        rows.append(f"{a},{b}" if rng.random() < strength[a] / (strength[a] + strength[b]) else f"{b},{a}")
    Path("preferences.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def write_lines(path: Path, records: Sequence[object]) -> None:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


class Handler(BaseHTTPRequestHandler):
    """Continues every prompt with the same words, and gives three numbers for a text, in OpenAI's protocol."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = f" and the {len(str(asked))} ships of the harbour."
        choice = {"text": said, "message": {"role": "assistant", "content": said}}
        rows = [[len(text), text.count("e"), text.count("\n")] for text in asked.get("input", ())]
        data = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
        content = json.dumps({"choices": [choice], "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def server() -> str:
    """The address of a server that writes and gives features; it ends with the process."""
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{made.server_port}/v1"
