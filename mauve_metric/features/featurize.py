"""Texts → features: tokenize, run the language model on batches by length, keep what was computed."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers
from mauve_metric.features.batches import GPU_BATCH_PADDING, as_objects, default_batch_tokens, plan_batches, run_batch
from mauve_metric.features.cache import FeatureCache, token_key
from mauve_metric.features.encoder import Encoder
from mauve_metric.inputs.fingerprints import TRAITS
from mauve_metric.options import RunOptions
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import EmptyTexts, WrongOption
from mauve_metric.runtime.low_precision import has_units
from mauve_metric.runtime.model_state import out_of_memory, release_memory, settings_kept
from mauve_metric.runtime.optional_imports import import_torch
from mauve_metric.runtime.plain_text import counted, duration
from mauve_metric.runtime.processes import agree, rank_and_size, together
from mauve_metric.runtime.threads import fitting_threads

logger = logging.getLogger(__name__)

Compute = Callable[[Encoder, list[tuple[int, ...]]], Array]  # token ids of a batch → one entry a row, (b, …)
Progress = Callable[[int, int | None], None]  # called with texts done and texts in all, None for a stream
WINDOW_TEXTS = 8192  # texts that are tokenized and sorted by length together
LONG_SECONDS = 600  # from here on a run is announced with a warning and advice
_IDS_ALONE = {"padding": False, "return_attention_mask": False, "return_token_type_ids": False, "verbose": False}


@dataclass
class FeaturizeStats:
    """Counts of a run: texts, distinct texts, tokens with and without padding, truncated texts, seconds, hits."""

    texts: int = 0
    distinct: int = 0
    cached: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    seconds: float = 0.0
    lengths: list[Integers] = field(default_factory=list)
    unseen: list[Floats] = field(default_factory=list)
    truncated: int = 0
    batch_tokens: int | None = None
    backed_off: bool = False

    def __str__(self) -> str:
        waste = 1 - self.tokens / self.padded_tokens if self.padded_tokens else 0.0
        speed = f"{self.tokens / self.seconds:.0f} tokens/s, " if self.seconds and self.tokens else ""
        return (
            f"{counted(self.texts, 'text')} ({self.distinct} distinct, {self.cached} from the cache), "
            f"{speed}{100 * waste:.1f} % padding, {self.truncated} truncated"
        )


def tokenize(encoder: Encoder, texts: Sequence[str]) -> tuple[list[list[int]], list[bool]]:
    """Token ids of each text behind the encoder's prefix, cut to `max_text_length`, and which texts were cut.

    Special tokens are what the tokenizer adds by itself (none for GPT-2).

    Raises:
        ValueError: a text has no token at all.
    """
    if not texts:
        return [], []
    length = encoder.max_text_length
    texts = [encoder.text_prefix + text for text in texts]
    with settings_kept(encoder.tokenizer):
        ids = encoder.tokenizer(texts, truncation=True, max_length=length, **_IDS_ALONE)["input_ids"]
        empty = [index for index, row in enumerate(ids) if not row]
        if empty:
            raise EmptyTexts(f"text {empty[0]} has no token for {encoder.name}: {texts[empty[0]]!r}")
        full = [index for index, row in enumerate(ids) if len(row) >= length]
        whole = encoder.tokenizer([texts[index] for index in full], **_IDS_ALONE)["input_ids"] if full else []
    cut = {index for index, row in zip(full, whole, strict=True) if len(row) > length}
    return ids, [index in cut for index in range(len(ids))]


def unseen_shares(encoder: Encoder, texts: Sequence[str], ids: Sequence[Sequence[int]]) -> Floats:
    """Share of the characters of each text that the tokenizer replaced by its unknown token, (n,).

    Blanks do not count, nor what was cut off. Without offsets (a tokenizer in Python) it is the share of tokens.

    Args:
        ids: tokens of the texts, as `tokenize` gives them.
    """
    tokenizer, shares = encoder.tokenizer, np.zeros(len(texts))
    unknown = getattr(tokenizer, "unk_token_id", None)
    if unknown in (None, tokenizer.eos_token_id, tokenizer.bos_token_id):  # as of GPT-2, whose tokens spell any text
        return shares
    rows = [row for row, tokens in enumerate(ids) if unknown in tokens]
    if not rows:
        return shares
    if not getattr(tokenizer, "is_fast", False):
        shares[rows] = [ids[row].count(unknown) / len(ids[row]) for row in rows]
        return shares
    some = [encoder.text_prefix + texts[row] for row in rows]
    with settings_kept(tokenizer):
        length = {"truncation": True, "max_length": encoder.max_text_length}
        encoded = tokenizer(some, return_offsets_mapping=True, **length, **_IDS_ALONE)
    for row, text, tokens, spans in zip(rows, some, encoded["input_ids"], encoded["offset_mapping"], strict=True):
        seen = len("".join(text[: max(end for _, end in spans)].split()))
        hidden = sum(end - start for token, (start, end) in zip(tokens, spans, strict=True) if token == unknown)
        shares[row] = min(hidden / max(seen, 1), 1.0)
    return shares


_PROBES = (
    "  “One” of  the **old** barns (in 1920)\nwas - as we said – Red , they sa@@ id.\n\nThen it rained.  ",
    "12. One of the old barns.",
    '"One of the old barns."',
    "One of ４ ﬁne old barns.",
)


def unseen_formats(encoder: Encoder) -> frozenset[str]:
    """Names of `TRAITS` that the tokenizer leaves out: its tokens are the same without them."""
    with settings_kept(encoder.tokenizer):
        return left_out_formats(
            lambda text: encoder.tokenizer(encoder.text_prefix + text, padding=False, truncation=False, verbose=False)[
                "input_ids"
            ]
        )


def left_out_formats(tokens_of: Callable[[str], list[int]]) -> frozenset[str]:
    """Names of `TRAITS` without which the tokens of a text are the same."""
    removed = {name: trait.without for name, trait in TRAITS.items() if trait.without is not None}
    probes = {name: next(probe for probe in _PROBES if without(probe) != probe) for name, without in removed.items()}
    return frozenset(name for name, probe in probes.items() if tokens_of(probe) == tokens_of(removed[name](probe)))


def featurize_texts(
    encoder: Encoder,
    texts: Iterable[str],
    run: RunOptions = RunOptions(),  # noqa: B008 (immutable)
    *,
    total: int | None = None,
    store: FeatureCache | None = None,
    progress: Progress | None = None,
    read: Callable[[list[str], list[list[int]], list[bool], Floats], None] | None = None,
) -> tuple[Array, FeaturizeStats]:
    """Features of texts in their order, one window of texts in memory at a time.

    Args:
        encoder: from `load_encoder`.
        texts: non-empty strings, at least one, else `ValueError`; a stream is worked through in bounded windows.
        run: says how large a batch may be, and whether every process of the torch process group calls this, so that
            each computes its share of the batches.
        total: how many texts there are, if known.
        store: where computed features are looked up and kept.
        progress: called with texts done and texts in all (None for a stream).
        read: called with the texts of a window, their token ids, which of them were cut, and `unseen_shares`, once they
            have features.

    Returns:
        Features, shape (n, d), float32 (float64 if the model runs in it), and what was done.
    """
    total = len(texts) if total is None and isinstance(texts, Sequence) else total
    stats = FeaturizeStats()
    parts: list[Array] = []
    for window in windows(texts, WINDOW_TEXTS):
        ids, cut = tokenize(encoder, window)
        if not parts:
            announce(encoder, ids, total)
        stats.truncated += sum(cut)
        parts.append(featurize_tokens(encoder, ids, run, stats, total=total, store=store, progress=progress))
        stats.unseen.append(unseen_shares(encoder, window, ids))
        if read is not None:
            read(window, ids, cut, stats.unseen[-1])
    if not parts:
        raise ValueError("there are no texts to featurize")
    logger.info("featurized with %s: %s", encoder.name, stats)
    return np.concatenate(parts), stats


def windows(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Consecutive lists of at most `size` texts."""
    left = iter(texts)
    while window := list(itertools.islice(left, size)):
        yield window


@fitting_threads()
def featurize_tokens(
    encoder: Encoder,
    ids: Sequence[Sequence[int]],
    run: RunOptions,
    stats: FeaturizeStats,
    *,
    total: int | None = None,
    store: FeatureCache | None = None,
    progress: Progress | None = None,
    compute: Compute | None = None,
) -> Array:
    """Features of token id lists in their order; identical lists are computed once.

    With `compute`, which runs a batch in another way, what it gives: an array (n,) of objects, one array a list.
    The batches are planned before the store is asked, and a batch of which only a part is stored is computed whole, for
    the rest: an interrupted run that is taken up again gives the same bits as one that was not. What is stored stays,
    and is what every later run takes.
    """
    started = time.perf_counter()
    numbers: dict[tuple[int, ...], int] = {}
    inverse = np.array([numbers.setdefault(tuple(row), len(numbers)) for row in ids], dtype=np.int64)
    rows = list(numbers)  # the distinct ones
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    if stats.batch_tokens is None:
        stats.batch_tokens = run.max_batch_tokens or default_batch_tokens(encoder)
    if run.distributed:
        stats.batch_tokens = agree(stats.batch_tokens)
    max_padding = GPU_BATCH_PADDING if encoder.device.startswith("cuda") else None
    batches = plan_batches(lengths, stats.batch_tokens, run.batch_size, max_padding)
    copies = np.bincount(inverse, minlength=len(rows))

    def run_all(planned: Sequence[Integers]) -> tuple[Array, Integers]:
        """The values of batches, each from the store if it has all of it, and the numbers of their rows."""
        values, done = [], stats.texts
        for places in planned:
            batch = [rows[index] for index in places]
            keys = [] if store is None else [token_key(encoder.digest, row) for row in batch]
            looked_up = [] if store is None else store.get(keys)
            stored = {index: feature for index, feature in enumerate(looked_up) if feature is not None}
            if len(stored) == len(batch):
                stats.cached += len(batch)
                values.append((np.stack if compute is None else as_objects)([*stored.values()]))
            else:
                values.append(run_with_back_off(encoder, batch, stats, compute))
                if store is not None:
                    store.put(keys, values[-1])
                for index, feature in stored.items():
                    values[-1][index] = feature
            done += int(copies[places].sum())
            if progress is not None:
                progress(done, total)
        order = np.concatenate([*planned, np.empty(0, dtype=np.int64)])
        return (np.concatenate(values) if values else np.empty((0, 0))), order

    rank, size = rank_and_size() if run.distributed else (0, 1)
    if size > 1:
        features = together(lambda: run_all(batches[rank::size]))
    else:
        values, order = run_all(batches)
        features = values[np.argsort(order)]
    stats.texts += len(ids)
    stats.distinct += len(rows)
    stats.lengths.append(lengths[inverse])
    stats.seconds += time.perf_counter() - started
    return features[inverse]


def check_tokens(name: str, data: object, encoder: Encoder) -> list[list[int]]:
    """Token ids as lists; rows may be lists, vectors, or (1, t) arrays as tokenizers return them."""
    if isinstance(data, (str, bytes)) or not hasattr(data, "__iter__"):
        raise WrongOption.of(name, f"must be a list of token id lists, got {type(data).__name__}")
    vocabulary = encoder.model.get_input_embeddings().num_embeddings
    rows = []
    for index, row in enumerate(data):
        ids = np.asarray(row)
        ids = ids[0] if ids.ndim == 2 and len(ids) == 1 else ids
        if ids.ndim != 1 or ids.size == 0 or ids.dtype.kind not in "iu":
            raise ValueError(f"{name}, row {index}: expected a non-empty list of token ids, got {shown(row)}")
        if ids.min() < 0 or ids.max() >= vocabulary:
            raise ValueError(
                f"{name}, row {index}: token ids must be in [0, {vocabulary}), got {ids.min()}…{ids.max()}"
            )
        if encoder.max_positions is not None and len(ids) > encoder.max_positions:
            raise ValueError(
                f"{name}, row {index}: {len(ids)} tokens are more than the {encoder.max_positions} that "
                f"{encoder.name} takes"
            )
        rows.append(ids.tolist())
    if not rows:
        raise WrongOption.of(name, "must hold at least one list of token ids, got none")
    return rows


def run_with_back_off(
    encoder: Encoder, rows: list[tuple[int, ...]], stats: FeaturizeStats, compute: Compute | None = None
) -> Array:
    """Run a batch; if memory runs out, run its halves, with the smaller budget for the rest of the run.

    compute: runs a batch; None: `run_batch`, the features.
    """
    half, longest = (len(rows) + 1) // 2, max(map(len, rows))
    budget = stats.batch_tokens
    if len(rows) == 1 or budget is None or not stats.backed_off or len(rows) * longest <= budget:
        try:
            values = (compute or run_batch)(encoder, rows)
            stats.tokens += sum(map(len, rows))
            stats.padded_tokens += len(rows) * longest
            return values
        except Exception as error:
            if not out_of_memory(error) or len(rows) == 1:
                raise
            stats.batch_tokens, stats.backed_off = half * longest, True
            logger.warning("out of memory: the batch is halved to %d tokens", stats.batch_tokens)
        release_memory()  # after the except clause, which holds on to the memory of the failed batch
    return np.concatenate([run_with_back_off(encoder, part, stats, compute) for part in (rows[:half], rows[half:])])


def announce(encoder: Encoder, ids: Sequence[Sequence[int]], total: int | None, work: str = "featurizing") -> None:
    """Log the model, its device and the expected duration before the work; a warning with advice if very long."""
    if total is None:
        logger.info("%s a stream with %s (%s) on %s", work, encoder.name, encoder.dtype, encoder.device)
        return
    tokens = sum(map(len, ids)) / len(ids) * total
    seconds = estimated_seconds(encoder, tokens)
    line = (
        f"{work} {counted(total, 'text')} ({tokens:.3g} tokens) with {encoder.name} ({encoder.dtype}) on "
        f"{encoder.device}: about {duration(seconds)}, less what is in the cache"
    )
    if seconds < LONG_SECONDS:
        logger.info("%s", line)
    else:
        on_cpu = encoder.device == "cpu"
        advice = "a GPU, fewer or shorter texts" if on_cpu else "fewer or shorter texts"
        if work == "featurizing" and encoder.dtype == "float32" and (not on_cpu or has_units()):
            dtype, share = ("bfloat16", "a third") if on_cpu else ("float16", "a tenth")  # benchmarks/dtypes.py
            advice += f", dtype='{dtype}' (moved closeness by up to {share} of its interval)"
        if work == "featurizing" and encoder.name != "minilm":
            advice += ", or featurize_model_name='minilm' (another, much smaller model)"
        logger.warning("%s; faster: %s", line, advice)


def estimated_seconds(encoder: Encoder, tokens: float) -> float:
    """Estimate the model's time for so many tokens: 2 operations a weight, at half of the measured rate."""
    embedding = import_torch().nn.Embedding
    layers = (module for module in encoder.model.modules() if not isinstance(module, embedding))  # a head counts
    weights = sum(parameter.numel() for layer in layers for parameter in layer.parameters(recurse=False))
    operations = 2.0 * weights * tokens
    return operations / (0.5 * matmul_rate(encoder.device, encoder.dtype)) if operations > 1e12 else 1.0


def matmul_rate(device: str, dtype: str, size: int = 1024, repeats: int = 3) -> float:
    """Floating-point operations a second of a square matrix product, the best of a few."""
    torch = import_torch()
    square = torch.randn(size, size, generator=torch.Generator().manual_seed(0)).to(device, getattr(torch, dtype))
    best = 0.0
    for _ in range(repeats + 1):
        started = time.perf_counter()
        product = square @ square
        product[0, 0].item()  # waits for the device
        best = max(best, 2 * size**3 / (time.perf_counter() - started))
    return best
