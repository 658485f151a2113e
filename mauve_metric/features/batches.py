"""Batches of texts of similar length, and one batch through a language model."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mauve_metric.arrays import Array, Integers
from mauve_metric.features.encoder import Encoder
from mauve_metric.runtime.model_state import evaluating
from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    import torch

CPU_BATCH_TOKENS = 1024  # activations of about this many tokens stay in a CPU's cache; larger batches are slower
GPU_BATCH_PADDING = 4096  # tokens that a GPU runs in the 5 to 10 ms that the start of a batch's kernels takes


def plan_batches(
    lengths: Integers, max_batch_tokens: int, batch_size: int | None = None, max_padding: int | None = None
) -> list[Integers]:
    """Group rows of similar length so that rows × longest row stays within a token budget, longest rows first.

    A row longer than the budget makes a batch of its own. Every row is in exactly one batch.

    Args:
        lengths: tokens of each row, shape (n,).
        max_batch_tokens: the budget, padding included.
        batch_size: the most rows of a batch; None: no limit.
        max_padding: the most tokens of padding in a batch; None: no limit.

    >>> [batch.tolist() for batch in plan_batches(np.array([2, 8, 3, 2]), 8)]
    [[1], [2, 0], [3]]
    """
    order = np.argsort(-lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        longest = int(lengths[order[start]])
        size = max(1, max_batch_tokens // max(longest, 1))
        size = size if batch_size is None else min(size, batch_size)
        if max_padding is not None:
            padding = np.cumsum(longest - lengths[order[start : start + size]])
            size = int(np.searchsorted(padding, max_padding, side="right"))
        batches.append(order[start : start + size])
        start += size
    return batches


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


def run_batch(encoder: Encoder, rows: Sequence[Sequence[int]]) -> Array:
    """Features of one batch of token ids, (b, d): right padding under an attention mask, then pooling."""
    torch = import_torch()
    ids, mask = padded(encoder, rows)
    with evaluating(encoder.model), torch.inference_mode():
        states = output_of(encoder.model, ids, mask)[0]  # (b, t, d)
        if encoder.pooling == "cls":
            pooled = states[:, 0]
        elif encoder.pooling == "last":
            pooled = states[torch.arange(len(states), device=states.device), mask.sum(dim=1) - 1]
        else:
            weights = mask[:, :, None].to(states.dtype)
            pooled = (states * weights).sum(dim=1) / weights.sum(dim=1)
    wide = torch.float64 if encoder.dtype == "float64" else torch.float32
    values: Array = pooled.to(wide).cpu().numpy()
    return values


def as_objects(arrays: Sequence[Array]) -> Array:
    """Arrays of any lengths as the entries of one array of objects, (b,)."""
    objects = np.empty(len(arrays), dtype=object)
    for index, array in enumerate(arrays):
        objects[index] = array
    return objects


def padded(encoder: Encoder, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids padded on the right, (b, t), and their attention mask, on the model's device."""
    torch = import_torch()
    pad = torch.nn.utils.rnn.pad_sequence
    # RoBERTa-like models find positions by their own padding id; for others any id does under the mask
    padding_ids = (getattr(owner, "pad_token_id", None) for owner in (encoder.model.config, encoder.tokenizer))
    padding = next((number for number in padding_ids if isinstance(number, int) and number >= 0), 0)
    ids = pad([torch.as_tensor(row) for row in rows], batch_first=True, padding_value=padding)
    mask = pad([torch.ones(len(row), dtype=torch.long) for row in rows], batch_first=True)
    return ids.to(encoder.model.device), mask.to(encoder.model.device)


def output_of(model: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    """Run a model of transformers on a batch, without a cache for later tokens."""
    options = {"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {}
    return model(input_ids=ids, attention_mask=mask, **options)
