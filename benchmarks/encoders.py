"""Errors seen by featurizers that need no download: MiniLM, its layers, a language model trained here, hashed n-grams.

    python benchmarks/encoders.py [TEXTS] [--texts 400] [--train FILE] [--candidates NAMES] [--repeats 5]

Half of the texts is given each error at full strength and scored against the other half, as `mauve-metric stress_test`
does it (`*`: told apart from no error). Below that, human text against human text: halves that are drawn anew, and one
pair of halves with other seeds of the buckets. The default texts are the examples; the language model learns from
--train, which must hold none of them. The states of MiniLM are computed once a text, and kept in the folder of
temporary files.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import torch
from machine import machine
from numpy.typing import NDArray

from mauve_metric import compute_mauve
from mauve_metric.apps.describing.word_diversity.splitting import split_words
from mauve_metric.apps.studies.stress_test import stress_test
from mauve_metric.features.pretrained import load_pretrained, minilm_folder
from mauve_metric.features.text_functions import COLUMNS, ngram_features
from mauve_metric.inputs.files import read_texts
from mauve_metric.report.document import Column, TableRow, markdown_table

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FLUENCY = "words_swapped,words_shuffled,noise_early,noise_late,lower_case,function_words_removed"
TOPICS = "texts_duplicated,topic_dropped"
PERMUTATIONS = 999
TOKENS = 128  # of a text that the models read
BATCH = 8  # texts
TIMED = 40  # texts
MEAN, SPREAD, STEP = range(3)  # over the tokens: mean, standard deviation, mean size of the step to the next token
Array = NDArray[Any]
Features = Callable[[Sequence[str]], Array]


class Once:
    """A featurizer that sees each text once."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self.known: dict[str, Array] = {}

    def __call__(self, texts: Sequence[str]) -> Array:
        """The features in the order of the texts."""
        new = list(dict.fromkeys(text for text in texts if text not in self.known))
        if new:
            self.known.update(zip(new, self.features(new), strict=True))
        return np.stack([self.known[text] for text in texts])


def pooled(model: Any, tokenizer: Any, texts: Sequence[str]) -> Array:
    """Every layer's states pooled in three ways: shape (n, layers + 1, 3, width), half precision."""
    ids = tokenizer(list(texts), truncation=True, max_length=TOKENS)["input_ids"]
    order = np.argsort([-len(row) for row in ids], kind="stable")
    found: list[Array] = [np.empty(0)] * len(ids)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH].tolist()
        rows = [torch.tensor(ids[index]) for index in batch]
        padded = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        with torch.inference_mode():
            layers = model(input_ids=padded, attention_mask=mask, output_hidden_states=True).hidden_states
        for place, index in enumerate(batch):
            states = torch.stack([layer[place, : len(rows[place])] for layer in layers])
            steps = (states[:, 1:] - states[:, :-1]).abs().mean(1)
            found[index] = torch.stack([states.mean(1), states.std(1), steps], dim=1).numpy().astype(np.float16)
    return np.stack(found)


class MiniLM(Once):
    """The pooled states of the packaged model, kept in a file."""

    path = Path(tempfile.gettempdir()) / "mauve-metric-encoders.npz"

    def __init__(self) -> None:
        super().__init__(self.compute)
        self.more = False
        if self.path.exists():
            kept = np.load(self.path)
            self.known.update(zip(kept["texts"].tolist(), kept["states"], strict=True))

    @functools.cached_property
    def model(self) -> tuple[Any, Any]:
        """Model and tokenizer."""
        return load_pretrained("minilm", str(minilm_folder()), torch.float32)[:2]

    def compute(self, texts: Sequence[str]) -> Array:
        """The states of texts that are not known."""
        self.more = True
        return pooled(*self.model, texts)

    def keep(self) -> None:
        """Write the file, if there is more than it holds."""
        if not self.more:
            return
        self.more = False
        np.savez(self.path, texts=np.array(list(self.known)), states=np.stack(list(self.known.values())))


def beside(*parts: Array) -> Array:
    """Rows side by side, each brought to the length one first."""
    return np.concatenate([part / np.linalg.norm(part.astype(np.float32), axis=1, keepdims=True) for part in parts], 1)


def projected(grams: Callable[[str], Iterator[str]], columns: int = COLUMNS) -> Features:
    """Square roots of the counts of n-grams, projected at random: each to one column, with a sign."""

    def features(texts: Sequence[str]) -> Array:
        rows = np.zeros((len(texts), columns))
        for row, text in zip(rows, texts, strict=True):
            for gram, count in Counter(grams(text)).items():
                hashed = crc32(gram.encode())
                row[(hashed >> 1) % columns] += (1 if hashed & 1 else -1) * count**0.5
        return rows

    return features


def word_grams(text: str) -> Iterator[str]:
    """One to three words."""
    words = split_words(text)
    return (" ".join(words[start : start + n]) for n in (1, 2, 3) for start in range(len(words) - n + 1))


def letter_grams(text: str) -> Iterator[str]:
    """Three characters."""
    return (text[start : start + 3] for start in range(len(text) - 2))


def trained_model(path: Path, steps: int, width: int = 96, layers: int = 2, vocabulary: int = 1024) -> Features:
    """A small GPT-2 that learns from a file; its features are the last layer's mean and last token."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    texts = list(read_texts(path))
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=vocabulary, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe)
    config = GPT2Config(
        vocab_size=vocabulary,
        n_positions=TOKENS,
        n_embd=width,
        n_layer=layers,
        n_head=4,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    rows = tokenizer(texts, truncation=True, max_length=TOKENS)["input_ids"]
    rng = np.random.default_rng(0)
    for _ in range(steps):
        batch = [torch.tensor(rows[index]) for index in rng.integers(len(rows), size=16)]
        ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=-100)
        loss = model(input_ids=ids.clamp(min=0), labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"the language model's loss after {steps} steps: {loss.item():.2f}", flush=True)
    model.eval()

    def features(texts: Sequence[str]) -> Array:
        found = []
        for text in texts:
            ids = torch.tensor([tokenizer(text, truncation=True, max_length=TOKENS)["input_ids"]])
            with torch.inference_mode():
                states = model.transformer(ids).last_hidden_state[0]
            found.append(torch.cat([states.mean(0), states[-1]]).numpy())
        return np.stack(found)

    return features


def candidates(args: argparse.Namespace, minilm: MiniLM) -> dict[str, Callable[[], Features]]:
    """The featurizers by name, made when they are needed."""
    ngrams = Once(ngram_features)
    return {
        "minilm": lambda: lambda texts: minilm(texts)[:, -1, MEAN],
        "layers": lambda: lambda texts: beside(*np.moveaxis(minilm(texts)[:, :, MEAN], 1, 0)),
        "spread": lambda: lambda texts: beside(*(minilm(texts)[:, -1, way] for way in (MEAN, SPREAD, STEP))),
        "embeddings": lambda: lambda texts: beside(*(minilm(texts)[:, 0, way] for way in (MEAN, SPREAD, STEP))),
        "trained": lambda: Once(trained_model(args.train, args.steps)),
        "words": lambda: Once(projected(word_grams)),
        "letters": lambda: Once(projected(letter_grams)),
        "ngrams": lambda: ngrams,
        "minilm+ngrams": lambda: lambda texts: beside(minilm(texts)[:, -1, MEAN], ngrams(texts)),
    }


def seconds_a_thousand(features: Features, texts: Sequence[str], minilm: MiniLM) -> float:
    """Processor time for a thousand texts, each new."""
    fresh = [f"{text} " for text in texts[: TIMED + 1]]
    features(fresh[:1])  # loads what it needs
    started = time.process_time()
    features(fresh[1:])
    seconds = time.process_time() - started
    for text in fresh:
        minilm.known.pop(text, None)
    return seconds / (len(fresh) - 1) * 1000


def judged(name: str, features: Features, texts: Sequence[str], repeats: int, minilm: MiniLM) -> dict[str, str]:
    """The errors that one candidate sees, and how little it moves between equal sets."""
    found = stress_test(
        texts,
        featurizers={name: features},
        perturbations=f"{FLUENCY},{TOPICS}",
        strengths=[1],
        permutations=PERMUTATIONS,
        cache=False,
        verbose=False,
    )
    column = {}
    for error, (score,) in found.featurizers[name].perturbations.items():
        column[error] = f"{score.closeness:.3f}{'*' if score.seen else ''}"
    rows, rng = features(texts), np.random.default_rng(0)
    halves = [np.array_split(rng.permutation(len(rows)), 2) for _ in range(repeats)]
    drawn = [compute_mauve(p_features=rows[p], q_features=rows[q], verbose=False) for p, q in halves]
    p, q = halves[0]
    seeds = [compute_mauve(p_features=rows[p], q_features=rows[q], seed=seed, verbose=False) for seed in range(repeats)]
    column["halves, debiased"] = f"{np.mean([result.mauve_debiased for result in drawn]):.3f}"
    column["halves, sd of MAUVE"] = f"{np.std([result.mauve for result in drawn], ddof=1):.3f}"
    column["seeds, sd of MAUVE"] = f"{np.std([result.mauve for result in seeds], ddof=1):.3f}"
    column["numbers a text"] = str(rows.shape[1])
    column["CPU s, 1000 texts"] = f"{seconds_a_thousand(features, texts, minilm):.1f}"
    return column


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=EXAMPLES / "human.jsonl", help="human texts")
    parser.add_argument("--texts", type=int, default=400, help="texts that are used (default: %(default)s)")
    parser.add_argument("--train", type=Path, default=EXAMPLES / "human_other.jsonl", help="what the model learns from")
    parser.add_argument("--steps", type=int, default=120, help="training steps of the model (default: %(default)s)")
    parser.add_argument("--candidates", default="", help="names, joined by commas (default: all)")
    parser.add_argument("--repeats", type=int, default=5, help="halves, and seeds (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    """Judge each candidate and print one table."""
    args = options()
    texts, minilm = list(read_texts(args.file))[: args.texts], MiniLM()
    made = candidates(args, minilm)
    chosen = args.candidates.split(",") if args.candidates else list(made)
    columns = {}
    for name in chosen:
        columns[name] = judged(name, made[name](), texts, args.repeats, minilm)
        print(name, columns[name], flush=True)
        minilm.keep()
    rows: list[TableRow] = [
        {"measure": measure, **{name: column[measure] for name, column in columns.items()}}
        for measure in next(iter(columns.values()))
    ]
    titles = [Column("measure", f"{len(texts)} texts"), *(Column(name, name) for name in columns)]
    print(f"\n{machine()}\n\n{markdown_table(titles, rows)}")


if __name__ == "__main__":
    main()
