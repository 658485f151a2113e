"""Speed from texts to features and to a result: this package, mauve-text and sentence-transformers.

    python benchmarks/featurize.py --case gpt2 [--texts 200] [--repeats 3] [--mauve-batch-sizes 8 32]
    python benchmarks/featurize.py --case minilm
    python benchmarks/featurize.py --case smollm2         (10 000 texts; for a CUDA device)
    python benchmarks/featurize.py --case gpt2-large      (needs a CUDA device)
    python benchmarks/featurize.py --case llama-1b        (needs a CUDA device)

Same model, same texts, same machine, one run: the variants take turns, and the best time of each counts. mauve-text
runs at its default batch size of 1 and at the given ones, and gets its texts tokenized beforehand; ours and
sentence-transformers (its default batch size of 32) tokenize inside the measured time. Nothing is cached.

Cases: `gpt2`: random weights in the size of GPT-2 small, a byte-level BPE trained on the examples, 8 to 400 tokens;
`minilm` and `smollm2`: the packaged weights, 8 to 256 and 8 to 512 tokens, the last token's state on both sides (all
that mauve-text can give);
`gpt2-large` and `llama-1b` (16 layers of 2048, as Llama 3.2 1B): random weights, 32 to 1024 tokens.

Columns: padding is the share of computed positions that hold no token; memory is the peak above what was in use
before; FLOP/s counts the operations of real tokens alone (two a weight outside the embeddings, and attention; for a
causal model half of its square), beside the best rate of a square matrix product in that number format; difference is
the largest of any feature from mauve-text's at batch size 1, relative to that feature's length; score is MAUVE of the
first half of the texts (one part of the examples) against the second (another part): for ours with everything that
`compute_mauve` gives by default, on the same device, for the others by mauve-text on the processor; result is the
seconds from texts to that score.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import datetime
import functools
import gc
import importlib.metadata
import json
import logging
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric import compute_mauve
from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.featurize import featurize_texts, matmul_rate, tokenize
from mauve_metric.features.pretrained import folder_of
from mauve_metric.options import RunOptions
from mauve_metric.runtime.devices import resolve_device
from mauve_metric.runtime.optional_imports import import_torch

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PARTS = ("human.jsonl", "human_other.jsonl")


class Case(NamedTuple):
    """A model's configuration (None: the packaged weights of this name), lengths of texts in tokens, and how many."""

    size: dict[str, Any] | None
    shortest: int
    longest: int
    texts: int


CASES = {
    "gpt2": Case({"n_embd": 768, "n_layer": 12, "n_head": 12}, 8, 400, 200),
    "minilm": Case(None, 8, 256, 1000),
    "smollm2": Case(None, 8, 512, 10_000),
    "gpt2-large": Case({"n_embd": 1280, "n_layer": 36, "n_head": 20}, 32, 1024, 1000),
    "llama-1b": Case(
        {
            "model_type": "llama",
            "hidden_size": 2048,
            "intermediate_size": 8192,
            "num_hidden_layers": 16,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
        },
        32,
        1024,
        1000,
    ),
}


@dataclass
class Variant:
    """One way to compute the features: what runs, and what was measured."""

    name: str
    run: Callable[[], NDArray[Any]]
    model: Any
    dtype: str = "float32"
    tf32: bool = False
    ours: bool = False
    seconds: float = float("inf")
    scoring: float = float("inf")
    score: float = float("nan")
    memory: float = 0.0
    rate: float = 0.0
    positions: int = 0
    features: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0)))


# --- texts and models ---------------------------------------------------------------------------------------------


def example_words() -> list[list[str]]:
    """The words of both parts of the examples."""
    parts = [(EXAMPLES / name).read_text(encoding="utf-8").splitlines() for name in PARTS]
    return [" ".join(json.loads(line)["text"] for line in lines).split() for lines in parts]


def mixed_texts(tokenizer: Any, case: Case, count: int) -> list[str]:
    """Pieces of the examples with lengths evenly spread over the case's, the first half from one part of them."""
    rng = np.random.default_rng(0)
    texts = []
    for part, words in enumerate(example_words()):
        tokens_a_word = len(tokenizer(" ".join(words[:5000]))["input_ids"]) / 5000
        for _ in range(count // 2 + (part * count) % 2):
            size = max(1, round(rng.integers(case.shortest, case.longest + 1) / tokens_a_word))
            start = int(rng.integers(len(words) - size))
            texts.append(" ".join(words[start : start + size]))
    return texts


def random_decoder(folder: Path, size: dict[str, Any]) -> None:
    """Write a decoder (a GPT-2 unless it says otherwise) with random weights and a byte-level BPE of the examples."""
    import transformers
    from tokenizers import ByteLevelBPETokenizer

    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator([" ".join(words) for words in example_words()], 50257, special_tokens=["<|endoftext|>"])
    end = "<|endoftext|>"
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, eos_token=end, pad_token=end)
    wrapped.save_pretrained(folder)
    import_torch().manual_seed(0)
    config = transformers.AutoConfig.for_model(**{"model_type": "gpt2", "vocab_size": 50257, **size})
    with import_torch().device(resolve_device("auto")):  # a GPU draws a large model in a second
        model = transformers.AutoModel.from_config(config)
    model.save_pretrained(folder)


# --- variants -----------------------------------------------------------------------------------------------------


def ours(name: str, encoder: Encoder, texts: list[str], budget: int | None, tf32: bool = False) -> Variant:
    """This package, from texts to features."""

    def run() -> NDArray[Any]:
        return featurize_texts(encoder, texts, RunOptions(max_batch_tokens=budget))[0]

    return Variant(name, run, encoder.model, encoder.dtype, tf32, ours=True)


def mauve_text(model: Any, ids: list[list[int]], batch_size: int) -> Variant:
    """mauve-text's featurizer, on token ids."""
    import mauve.utils

    torch = import_torch()
    rows = [torch.tensor([row]) for row in ids]

    def run() -> NDArray[Any]:
        features = mauve.utils.featurize_tokens_from_model(model, rows, batch_size)
        return np.asarray(features.detach().cpu().float())

    return Variant(f"mauve-text, batch {batch_size}", run, model)


def sentence_transformers(folder: str, texts: list[str], longest: int, device: str, dtype: str) -> Variant:
    """sentence-transformers at its default batch size, with the last token's state."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    body = Transformer(folder, max_seq_length=longest, model_kwargs={"dtype": dtype})
    model = SentenceTransformer(modules=[body, Pooling(body.get_embedding_dimension(), "lasttoken")], device=device)

    def run() -> NDArray[Any]:
        return np.asarray(model.encode(texts, convert_to_tensor=True).float().cpu())

    return Variant(f"sentence-transformers, {dtype}", run, body.auto_model, dtype)


def variants(folder: str, case: Case, count: int, options: argparse.Namespace) -> tuple[list[Variant], Any]:
    """Every variant of a case, mauve-text's default first, and the lengths of the texts in tokens."""
    import mauve.utils
    import transformers

    device = resolve_device(options.device)
    settings: dict[str, Any] = {"pooling": "last", "max_text_length": case.longest, "device": device}
    plain = load_encoder(folder, **settings)
    texts = mixed_texts(plain.tokenizer, case, count)
    ids, _ = tokenize(plain, texts)
    if "gpt2" not in Path(folder).name:  # mauve-text's loader knows GPT-2, RoBERTa and BERT by their names
        theirs = transformers.AutoModel.from_pretrained(folder, trust_remote_code=False).to(device).eval()
    else:
        number = (int(device.split(":")[1]) if ":" in device else 0) if device.startswith("cuda") else -1
        theirs = mauve.utils.get_model(folder, mauve.utils.get_tokenizer(folder), number)
    found = [mauve_text(theirs, ids, size) for size in dict.fromkeys([1, *options.mauve_batch_sizes])]
    found.append(ours("ours, float32", plain, texts, options.max_batch_tokens))
    if device.startswith("cuda") and options.dtypes is None:
        found.append(ours("ours, float32 in TF32", plain, texts, options.max_batch_tokens, tf32=True))
    dtypes = options.dtypes if options.dtypes is not None else ["bfloat16", *["float16"] * device.startswith("cuda")]
    if case.size is not None:  # the packaged weights come without what sentence-transformers reads
        found += [sentence_transformers(folder, texts, case.longest, device, dtype) for dtype in ("float32", *dtypes)]
    for dtype in dtypes:
        encoder = load_encoder(folder, dtype=dtype, **settings)
        found.append(ours(f"ours, {dtype}", encoder, texts, options.max_batch_tokens))
    return found, np.array([len(row) for row in ids])


# --- measuring ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def precision(tf32: bool) -> Iterator[None]:
    """Matrix products of float32 in TF32, or in full."""
    torch = import_torch()
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision("highest")


@contextlib.contextmanager
def counted_positions(variant: Variant) -> Iterator[None]:
    """Count the positions that the model is run over, padding included."""
    variant.positions, forward = 0, variant.model.forward

    @functools.wraps(forward)  # sentence-transformers calls it past the hooks
    def counted(*arguments: Any, **keywords: Any) -> Any:
        variant.positions += (arguments[0] if arguments else keywords["input_ids"]).numel()
        return forward(*arguments, **keywords)

    variant.model.forward = counted
    try:
        yield
    finally:
        variant.model.forward = forward


def resident(key: str) -> float:
    """A figure of this process's memory in bytes (VmRSS: now, VmHWM: at most since `reset_peak`), NaN if unknown."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return float(line.split()[1]) * 1024
    return float("nan")


def reset_peak() -> None:
    """Give free memory back, and forget earlier peaks."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    torch = import_torch()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def measure(variant: Variant) -> None:
    """Run a variant once, and keep its best time and its largest memory."""
    torch = import_torch()
    cuda = str(variant.model.device).startswith("cuda")
    with precision(variant.tf32):
        size = 8192 if cuda else 2048
        variant.rate = max(variant.rate, matmul_rate(str(variant.model.device), variant.dtype, size))
        reset_peak()
        before = torch.cuda.memory_allocated() if cuda else resident("VmRSS")
        started = time.perf_counter()
        with counted_positions(variant):
            variant.features = variant.run()
        variant.seconds = min(variant.seconds, time.perf_counter() - started)
        peak = torch.cuda.max_memory_allocated() if cuda else resident("VmHWM")
    variant.memory = max(variant.memory, peak - before)
    started = time.perf_counter()
    variant.score = score(variant)
    variant.scoring = min(variant.scoring, time.perf_counter() - started)


def operations(model: Any, lengths: NDArray[np.int64]) -> float:
    """Floating-point operations for texts of these lengths without any padding."""
    torch = import_torch()
    config = model.config
    tables = (module for module in model.modules() if isinstance(module, torch.nn.Embedding))
    weights = sum(item.numel() for item in model.parameters()) - sum(table.weight.numel() for table in tables)
    square = 2 if config.model_type in ("gpt2", "llama") else 4  # times t²d a layer: scores and weighted sum
    attention = square * config.num_hidden_layers * config.hidden_size * np.square(lengths, dtype=np.float64).sum()
    return float(2.0 * weights * lengths.sum() + attention)


# --- report -------------------------------------------------------------------------------------------------------


def score(variant: Variant) -> float:
    """MAUVE of the first half of the rows against the second: by this package, on the model's device, or mauve-text."""
    import mauve

    half = len(variant.features) // 2
    sides: dict[str, Any] = {"p_features": variant.features[:half], "q_features": variant.features[half:]}
    if variant.ours:
        return compute_mauve(**sides, score_device=str(variant.model.device)).mauve
    return float(mauve.compute_mauve(**sides, verbose=False).mauve)


def table(measured: Sequence[Variant], lengths: NDArray[np.int64]) -> Iterator[str]:
    """The Markdown table of all variants."""
    names = ("variant", "s", "speed-up", "texts/s", "tokens/s", "padding", "memory, MB", "GFLOP/s", "matmul GFLOP/s")
    names += ("share", "difference", "score", "result, s")
    yield "| " + " | ".join(names) + " |"
    yield "|---" + "|--:" * (len(names) - 1) + "|"
    default, tokens = measured[0], int(lengths.sum())
    needed = operations(default.model, lengths)
    expected = default.features.astype(np.float64)
    for variant in measured:
        difference = np.linalg.norm(variant.features - expected, axis=1) / np.linalg.norm(expected, axis=1)
        cells = [
            variant.name,
            f"{variant.seconds:.2f}",
            f"{default.seconds / variant.seconds:.2f}",
            f"{len(lengths) / variant.seconds:.1f}",
            f"{tokens / variant.seconds:.0f}",
            f"{100 * (1 - tokens / variant.positions):.1f} %",
            f"{variant.memory / 1e6:.0f}",
            f"{needed / variant.seconds / 1e9:.0f}",
            f"{variant.rate / 1e9:.0f}",
            f"{100 * needed / variant.seconds / variant.rate:.0f} %",
            f"{difference.max():.1e}",
            f"{variant.score:.4f}",
            f"{variant.seconds + variant.scoring:.2f}",
        ]
        yield "| " + " | ".join(cells) + " |"


def machine(device: str) -> str:
    """The machine and versions that the figures were measured on."""
    torch = import_torch()
    processor, flags = platform.machine(), ""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
            elif line.startswith("flags"):
                flags = line
    bfloat16 = ", ".join(name for name in ("avx512_bf16", "amx_bf16") if name in flags) or "none"
    versions = " ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("torch", "transformers", "mauve-text", "sentence-transformers")
    )
    where = torch.cuda.get_device_name(device) if device.startswith("cuda") else f"{torch.get_num_threads()} threads"
    return (
        f"{datetime.date.today().isoformat()}, {processor}, {os.cpu_count()} cores, bfloat16 by {bfloat16}; "
        f"on {device}: {where}; load {os.getloadavg()[0]:.1f}, {versions}"
    )


def main() -> None:
    """Measure one case and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, default="gpt2")
    parser.add_argument("--texts", type=int, help="how many texts; unset: what the case says")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--mauve-batch-sizes", type=int, nargs="*", default=[8, 32], help="beside mauve-text's default")
    parser.add_argument("--max-batch-tokens", type=int, help="our token budget; unset: what the package chooses")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtypes", nargs="*", help="beside float32; unset: bfloat16, and float16 on a GPU")
    options = parser.parse_args()
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)
    case, device = CASES[options.case], resolve_device(options.device)
    if options.case in ("gpt2-large", "llama-1b") and not device.startswith("cuda"):
        parser.exit(1, f"the case {options.case} takes most of a day without a CUDA device, and here is none\n")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / f"{options.case}-random"  # mauve-text finds the kind of a model in its name
        if case.size is None:
            folder = Path(folder_of(options.case))
        else:
            random_decoder(folder, case.size)
        measured, lengths = variants(str(folder), case, options.texts or case.texts, options)
        print(f"## {options.case}\n\n{machine(device)}\n")
        for repeat in range(options.repeats + 1):
            for variant in measured[repeat % len(measured) :] + measured[: repeat % len(measured)]:
                measure(variant)
                if repeat == 0:
                    variant.seconds = variant.scoring = float("inf")  # the first round warms up
        quartiles = ", ".join(f"{value:.0f}" for value in np.quantile(lengths, [0, 0.25, 0.5, 0.75, 1]))
        print(f"{len(lengths)} texts, {lengths.sum()} tokens, quartiles of their lengths: {quartiles}; ", end="")
        print(f"best of {options.repeats}\n")
        print("\n".join(table(measured, lengths)))


if __name__ == "__main__":
    main()
