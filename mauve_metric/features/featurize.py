"""Texts → features: tokenize, batch by length, run the language model, pool its last hidden layer."""

from __future__ import annotations

import hashlib
import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from mauve_metric.arrays import Array, Integers
from mauve_metric.features.batches import (
    FeaturizeStats,
    Run,
    as_objects,
    default_batch_tokens,
    plan_batches,
    run_with_back_off,
)
from mauve_metric.features.cache import FeatureCache
from mauve_metric.features.encoder import Encoder
from mauve_metric.features.estimate import announce
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import EmptyTexts, WrongOption
from mauve_metric.runtime.model_state import settings_kept
from mauve_metric.runtime.processes import agree, my_share, rank_and_size, together
from mauve_metric.runtime.threads import fitting_threads

logger = logging.getLogger(__name__)

KEY_BYTES = 20  # of the hash that is a feature's key
WINDOW_TEXTS = 8192  # texts that are tokenized and sorted by length together


def tokenize(encoder: Encoder, texts: Sequence[str]) -> tuple[list[list[int]], list[bool]]:
    """Token ids of each text behind the encoder's prefix, cut to `max_text_length`, and which texts were cut.

    Special tokens are what the tokenizer adds by itself (none for GPT-2).

    Raises:
        ValueError: a text has no token at all.
    """
    if not texts:
        return [], []
    options = {"padding": False, "return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
    length = encoder.max_text_length
    texts = [encoder.text_prefix + text for text in texts]
    with settings_kept(encoder.tokenizer):
        ids = encoder.tokenizer(texts, truncation=True, max_length=length, **options)["input_ids"]
        empty = [index for index, row in enumerate(ids) if not row]
        if empty:
            raise EmptyTexts(f"text {empty[0]} has no token for {encoder.name}: {texts[empty[0]]!r}")
        full = [index for index, row in enumerate(ids) if len(row) >= length]
        whole = encoder.tokenizer([texts[index] for index in full], **options)["input_ids"] if full else []
    cut = {index for index, row in zip(full, whole, strict=True) if len(row) > length}
    return ids, [index in cut for index in range(len(ids))]


def token_key(digest: str, ids: Sequence[int]) -> bytes:
    """The cache key of one text under one encoder: a hash of the encoder's identity and the token ids."""
    hashed = hashlib.blake2b(digest.encode(), digest_size=KEY_BYTES)
    hashed.update(np.asarray(ids, dtype=np.int64).tobytes())
    return hashed.digest()


def featurize_texts(
    encoder: Encoder,
    texts: Iterable[str],
    *,
    total: int | None = None,
    batch_size: int | None = None,
    max_batch_tokens: int | None = None,
    store: FeatureCache | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    distributed: bool = False,
    read: Callable[[list[str], list[list[int]], list[bool]], None] | None = None,
) -> tuple[Array, FeaturizeStats]:
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
        read: called with the texts of a window, their token ids, and which of them were cut, once they have features.

    Returns:
        Features, shape (n, d), float32 (float64 if the model runs in it), and what was done.
    """
    total = len(texts) if total is None and isinstance(texts, Sequence) else total
    stats = FeaturizeStats(batch_tokens=max_batch_tokens)
    parts: list[Array] = []
    for window in windows(texts, WINDOW_TEXTS):
        ids, cut = tokenize(encoder, window)
        if not parts:
            announce(encoder, ids, total)
        stats.truncated += sum(cut)
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
        if read is not None:
            read(window, ids, cut)
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
    *,
    batch_size: int | None = None,
    store: FeatureCache | None = None,
    stats: FeaturizeStats | None = None,
    advance: Callable[[int], None] | None = None,
    distributed: bool = False,
    run: Run | None = None,
) -> Array:
    """Features of token id lists in their order; identical lists are computed once.

    With `run`, which computes a batch in another way, what it gives: an array (n,) of objects, one array a list.
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

    def of_batch(batch: list[tuple[int, ...]]) -> Array:
        """From the store if it has all of it, else computed and stored."""
        keys = [] if store is None else [token_key(encoder.digest, row) for row in batch]
        known = [] if store is None else [row for row in store.get(keys) if row is not None]
        if len(known) == len(batch):
            stats.cached += len(batch)
            return np.stack(known) if run is None else as_objects(known)
        values = run_with_back_off(encoder, batch, stats, run)
        if store is not None:
            store.put(keys, values)
        return values

    def compute(planned: Sequence[Integers]) -> tuple[Array, Integers]:
        values, finished = [], 0
        for batch in planned:
            values.append(of_batch([rows[index] for index in batch]))
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


def _distinct(ids: Sequence[Sequence[int]]) -> tuple[list[tuple[int, ...]], Integers]:
    """The distinct rows in order of first appearance, and for each row its number among them."""
    numbers: dict[tuple[int, ...], int] = {}
    inverse = np.array([numbers.setdefault(tuple(row), len(numbers)) for row in ids], dtype=np.int64)
    return list(numbers), inverse


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
