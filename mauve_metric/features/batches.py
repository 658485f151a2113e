"""Group rows of tokens into batches of similar length and run a model on them."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mauve_metric.arrays import Array, Integers
from mauve_metric.features.encoder import Encoder
from mauve_metric.runtime.model_state import evaluating, out_of_memory, release_memory
from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)


Run = Callable[[Encoder, list[tuple[int, ...]]], Array]  # token ids of a batch → one entry a row, (b, …)
CPU_BATCH_TOKENS = 1024  # activations of about this many tokens stay in a CPU's cache; larger batches are slower


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


def plan_batches(lengths: Integers, max_batch_tokens: int, batch_size: int | None = None) -> list[Integers]:
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


def run_with_back_off(
    encoder: Encoder, rows: list[tuple[int, ...]], stats: FeaturizeStats, run: Run | None = None
) -> Array:
    """Run a batch; if memory runs out, run its halves, with the smaller budget for the rest of the run.

    run: what computes a batch; None: `run_batch`, the features.
    """
    half, longest = (len(rows) + 1) // 2, max(map(len, rows))
    budget = stats.batch_tokens
    if len(rows) == 1 or budget is None or not stats.backed_off or len(rows) * longest <= budget:
        try:
            values = (run or run_batch)(encoder, rows)
            stats.tokens += sum(map(len, rows))
            stats.padded_tokens += len(rows) * longest
            return values
        except Exception as error:
            if not out_of_memory(error) or len(rows) == 1:
                raise
            stats.batch_tokens, stats.backed_off = half * longest, True
            logger.warning("out of memory: the batch is halved to %d tokens", stats.batch_tokens)
        release_memory()  # after the except clause, which holds on to the memory of the failed batch
    return np.concatenate([run_with_back_off(encoder, part, stats, run) for part in (rows[:half], rows[half:])])


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
        states = output_of(encoder.model, ids, mask)[0]
        pooled = _pool(states, mask, mask.sum(dim=1), encoder.pooling)
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
    known = (getattr(owner, "pad_token_id", None) for owner in (encoder.model.config, encoder.tokenizer))
    padding = next((number for number in known if isinstance(number, int) and number >= 0), 0)
    ids = pad([torch.as_tensor(row) for row in rows], batch_first=True, padding_value=padding)
    mask = pad([torch.ones(len(row), dtype=torch.long) for row in rows], batch_first=True)
    return ids.to(encoder.model.device), mask.to(encoder.model.device)


def output_of(model: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    """Run a model of transformers on a batch, without a cache for later tokens."""
    options = {"use_cache": False} if "use_cache" in inspect.signature(model.forward).parameters else {}
    return model(input_ids=ids, attention_mask=mask, **options)


def _pool(states: torch.Tensor, mask: torch.Tensor, lengths: torch.Tensor, pooling: str) -> torch.Tensor:
    """(b, t, d) → (b, d)."""
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        return states[import_torch().arange(len(states), device=states.device), lengths - 1]
    weights = mask[:, :, None].to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)
