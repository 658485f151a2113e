"""Texts → features: tokenize, batch by length, run the language model, pool its last hidden layer."""

from __future__ import annotations

import hashlib
import inspect
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mauve_metric.distributed import agree, my_share, rank_and_size, together
from mauve_metric.encoder import Encoder, identity_digest, import_torch
from mauve_metric.model_state import evaluating, out_of_memory, release_memory, settings_kept
from mauve_metric.on_device import as_array
from mauve_metric.run_estimate import announce

logger = logging.getLogger(__name__)

CPU_BATCH_TOKENS = 1024  # activations of about this many tokens stay in a CPU's cache; larger batches are slower
WINDOW_TEXTS = 8192  # texts that are tokenized and sorted by length together


class FeatureStore(Protocol):
    """Where features that were already computed are kept, by key (`feature_cache.FeatureCache`)."""

    def get(self, keys: Sequence[bytes]) -> list[NDArray[Any] | None]:
        """The stored feature of each key, or None."""

    def put(self, keys: Sequence[bytes], features: NDArray[Any]) -> None:
        """Store one row a key, all or none."""


@dataclass
class FeaturizeStats:
    """What a run did: texts, distinct texts, tokens with and without padding, truncated texts, seconds, cache hits."""

    texts: int = 0
    distinct: int = 0
    cached: int = 0
    tokens: int = 0
    padded_tokens: int = 0
    seconds: float = 0.0
    lengths: list[NDArray[np.int64]] = field(default_factory=list)
    truncated: int = 0
    batch_tokens: int | None = None
    backed_off: bool = False

    def __str__(self) -> str:
        waste = 1 - self.tokens / self.padded_tokens if self.padded_tokens else 0.0
        speed = f"{self.tokens / self.seconds:.0f} tokens/s, " if self.seconds and self.tokens else ""
        return (
            f"{self.texts} texts ({self.distinct} distinct, {self.cached} from the cache), "
            f"{speed}{100 * waste:.1f} % padding, {self.truncated} truncated"
        )


def tokenize(encoder: Encoder, texts: Sequence[str]) -> tuple[list[list[int]], int]:
    """Token ids of each text, cut to `max_text_length`, and how many texts were cut.

    Special tokens are what the tokenizer adds by itself (none for GPT-2).

    Raises:
        ValueError: a text has no token at all.
    """
    if not texts:
        return [], 0
    options = {"padding": False, "return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
    length = encoder.max_text_length
    with settings_kept(encoder.tokenizer):
        ids = encoder.tokenizer(list(texts), truncation=True, max_length=length, **options)["input_ids"]
        empty = [index for index, row in enumerate(ids) if not row]
        if empty:
            raise ValueError(f"text {empty[0]} has no token for {encoder.name}: {texts[empty[0]]!r}")
        full = [texts[index] for index, row in enumerate(ids) if len(row) >= length]
        longer = encoder.tokenizer(full, truncation=False, **options)["input_ids"] if full else []
    return ids, sum(len(row) > length for row in longer)


def plan_batches(
    lengths: NDArray[np.int64], max_batch_tokens: int, batch_size: int | None = None
) -> list[NDArray[np.int64]]:
    """Group rows of similar length so that rows × longest row stays within a token budget, longest rows first.

    A row longer than the budget makes a batch of its own. Every row is in exactly one batch.

    Args:
        lengths: tokens of each row, shape (n,).
        max_batch_tokens: the budget, padding included.
        batch_size: the most rows of a batch; None: no limit.

    >>> [batch.tolist() for batch in plan_batches(np.array([2, 8, 3, 2]), 8)]
    [[1], [2, 0], [3]]
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        longest = int(lengths[order[start]])
        size = max(1, max_batch_tokens // max(longest, 1))
        size = size if batch_size is None else min(size, batch_size)
        batches.append(order[start : start + size])
        start += size
    return batches


def token_key(digest: str, ids: Sequence[int]) -> bytes:
    """The cache key of one text under one encoder: a hash of the encoder's identity and the token ids."""
    hashed = hashlib.blake2b(digest.encode(), digest_size=20)
    hashed.update(np.asarray(ids, dtype=np.int64).tobytes())
    return hashed.digest()


def featurize_texts(
    encoder: Encoder,
    texts: Iterable[str],
    *,
    total: int | None = None,
    batch_size: int | None = None,
    max_batch_tokens: int | None = None,
    store: FeatureStore | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    distributed: bool = False,
) -> tuple[NDArray[Any], FeaturizeStats]:
    """Features of texts in their order, one window of texts in memory at a time.

    Args:
        encoder: from `load_encoder`.
        texts: any iterable of non-empty strings; a stream is worked through in bounded windows.
        total: how many texts there are, if known.
        batch_size: the most texts of a batch; None: only the token budget counts.
        max_batch_tokens: tokens of a batch, padding included; None: chosen for the device.
        store: where computed features are looked up and kept.
        progress: called with texts done and texts in all (None for a stream).
        distributed: every process of the torch process group calls this; each computes its share of the batches.

    Returns:
        Features, shape (n, d), float32 (float64 if the model runs in it), and what was done.
    """
    total = len(texts) if total is None and isinstance(texts, Sequence) else total
    stats = FeaturizeStats(batch_tokens=max_batch_tokens)
    parts: list[NDArray[Any]] = []
    for window in _windows(texts, WINDOW_TEXTS):
        ids, truncated = tokenize(encoder, window)
        if not parts:
            announce(encoder, ids, total)
        stats.truncated += truncated
        done = stats.texts

        def advance(count: int, done: int = done) -> None:
            if progress is not None:
                progress(done + count, total)

        parts.append(
            featurize_tokens(
                encoder,
                ids,
                batch_size=batch_size,
                store=store,
                stats=stats,
                advance=advance,
                distributed=distributed,
            )
        )
    if not parts:
        raise ValueError("there are no texts to featurize")
    logger.info("featurized with %s: %s", encoder.name, stats)
    return np.concatenate(parts), stats


def _windows(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Consecutive lists of at most `size` texts."""
    window: list[str] = []
    for text in texts:
        window.append(text)
        if len(window) == size:
            yield window
            window = []
    if window:
        yield window


def featurize_tokens(
    encoder: Encoder,
    ids: Sequence[Sequence[int]],
    *,
    batch_size: int | None = None,
    store: FeatureStore | None = None,
    stats: FeaturizeStats | None = None,
    advance: Callable[[int], None] | None = None,
    distributed: bool = False,
) -> NDArray[Any]:
    """Features of token id lists in their order; identical lists are computed once.

    The batches are planned before the store is asked, and a batch of which only a part is stored is computed
    whole: an interrupted run that is taken up again gives the same bits as one that was not.
    """
    if not ids:
        raise ValueError("there are no texts to featurize")
    stats = FeaturizeStats() if stats is None else stats
    started = time.perf_counter()
    rows, inverse = _distinct(ids)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    if stats.batch_tokens is None:
        stats.batch_tokens = default_batch_tokens(encoder)
    if distributed:
        stats.batch_tokens = agree(stats.batch_tokens)
    batches = plan_batches(lengths, stats.batch_tokens, batch_size)
    copies = np.bincount(inverse, minlength=len(rows))

    def compute(planned: Sequence[NDArray[np.int64]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        values, finished = [], 0
        for batch in planned:
            values.append(_one_batch(encoder, [rows[index] for index in batch], store, stats))
            finished += int(copies[batch].sum())
            if advance is not None:
                advance(finished)
        positions = np.concatenate([*planned, np.empty(0, dtype=np.int64)])
        return (np.concatenate(values) if values else np.empty((0, 0))), positions

    if distributed and rank_and_size()[1] > 1:
        features = together(lambda: compute(my_share(batches)), len(rows))
    else:
        values, positions = compute(batches)
        features = np.empty_like(values)
        features[positions] = values
    stats.texts += len(ids)
    stats.distinct += len(rows)
    stats.lengths.append(lengths[inverse])
    stats.seconds += time.perf_counter() - started
    return features[inverse]


def _one_batch(
    encoder: Encoder, rows: list[tuple[int, ...]], store: FeatureStore | None, stats: FeaturizeStats
) -> NDArray[Any]:
    """The features of one planned batch, from the store if it has all of them, else computed and stored."""
    if store is None:
        return _run_with_back_off(encoder, rows, stats)
    digest = identity_digest(encoder.identity)
    keys = [token_key(digest, row) for row in rows]
    known = [row for row in store.get(keys) if row is not None]
    if len(known) == len(rows):
        stats.cached += len(rows)
        return np.stack(known)
    values = _run_with_back_off(encoder, rows, stats)
    store.put(keys, values)
    return values


def _distinct(ids: Sequence[Sequence[int]]) -> tuple[list[tuple[int, ...]], NDArray[np.int64]]:
    """The distinct rows in order of first appearance, and for each row its number among them."""
    numbers: dict[tuple[int, ...], int] = {}
    inverse = np.array([numbers.setdefault(tuple(row), len(numbers)) for row in ids], dtype=np.int64)
    return list(numbers), inverse


def _run_with_back_off(encoder: Encoder, rows: list[tuple[int, ...]], stats: FeaturizeStats) -> NDArray[Any]:
    """One batch; if memory runs out, the same in halves, and the smaller budget is remembered for the run."""
    half = (len(rows) + 1) // 2
    budget = stats.batch_tokens
    if len(rows) > 1 and budget is not None and stats.backed_off and len(rows) * max(map(len, rows)) > budget:
        return np.concatenate([_run_with_back_off(encoder, part, stats) for part in (rows[:half], rows[half:])])
    try:
        values = run_batch(encoder, rows)
    except Exception as error:
        if not out_of_memory(error) or len(rows) == 1:
            raise
        stats.batch_tokens, stats.backed_off = half * max(map(len, rows)), True
        logger.warning("out of memory: the batch is halved to %d tokens", stats.batch_tokens)
    else:
        stats.tokens += sum(len(row) for row in rows)
        stats.padded_tokens += len(rows) * max(len(row) for row in rows)
        return values
    release_memory()
    return np.concatenate([_run_with_back_off(encoder, part, stats) for part in (rows[:half], rows[half:])])


def default_batch_tokens(encoder: Encoder) -> int:
    """Tokens of a batch: what stays in cache on a CPU, what fits in half of the free memory on a GPU."""
    if not encoder.device.startswith("cuda"):
        return CPU_BATCH_TOKENS
    torch = import_torch()
    free, _ = torch.cuda.mem_get_info(encoder.device)
    width = int(getattr(encoder.model.config, "hidden_size", 1024))
    bytes_per_token = 32 * width * torch.finfo(encoder.model.dtype).bits // 8  # a layer's peak: MLP, QKV, copies
    tokens = min(max(free / 2 / bytes_per_token, 4096), 131072)
    return int(2 ** math.floor(math.log2(tokens)))  # a power of two, so that a second run plans the same batches


def run_batch(encoder: Encoder, rows: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Features of one batch of token ids, (b, d): right padding under an attention mask, then pooling."""
    torch = import_torch()
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.full((len(rows), int(lengths.max())), _padding_id(encoder))
    for index, row in enumerate(rows):
        ids[index, : len(row)] = torch.as_tensor(row)
    mask = (torch.arange(ids.shape[1])[None, :] < lengths[:, None]).long()
    model = encoder.model
    options = {"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {}
    with evaluating(model), torch.inference_mode():
        device_mask = mask.to(model.device)
        states = model(input_ids=ids.to(model.device), attention_mask=device_mask, **options)[0]
        pooled = _pool(states, device_mask, lengths.to(model.device), encoder.pooling)
    wide = torch.float64 if encoder.dtype == "float64" else torch.float32
    values: NDArray[Any] = pooled.to(wide).cpu().numpy()
    return values


def _padding_id(encoder: Encoder) -> int:
    """RoBERTa-like models find positions by their own padding id; for others any id does under the mask."""
    for owner in (encoder.model.config, encoder.tokenizer):
        padding = getattr(owner, "pad_token_id", None)
        if isinstance(padding, int) and padding >= 0:
            return padding
    return 0


def _pool(states: Any, mask: Any, lengths: Any, pooling: str) -> Any:
    """(b, t, d) → (b, d)."""
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        return states[import_torch().arange(len(states), device=states.device), lengths - 1]
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


def check_features(name: str, features: Any) -> NDArray[Any]:
    """Features as a finite float array (n, d).

    Raises:
        TypeError: not numbers. ValueError: not two-dimensional, empty, NaN or infinite.
    """
    if hasattr(features, "detach"):
        features = as_array(features)
    try:
        array = np.asarray(features)
    except ValueError as error:
        raise ValueError(f"{name} must be one array (n, d): its rows have different lengths") from error
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be an array of numbers, got dtype {array.dtype}")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have shape (n, d) with n and d at least 1, got {array.shape}")
    if array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return array  # one number that is not finite would show in the sum
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(f"{name} must be finite: {int(bad.sum())} rows hold NaN or infinity, the first is row {first}")
    return array
