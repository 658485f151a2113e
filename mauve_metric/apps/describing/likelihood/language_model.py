"""A checked causal language model, its probabilities for one batch of texts, and decoders.

A decoder is the distribution that generation samples from, after temperature and truncation.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mauve_metric.apps.decoder_settings import SAMPLER_SETTINGS, Decoder
from mauve_metric.arrays import Array
from mauve_metric.features.batches import as_objects, output_of, padded
from mauve_metric.features.encoder import Encoder, without_head
from mauve_metric.runtime.errors import not_causal
from mauve_metric.runtime.model_state import evaluating, out_of_memory
from mauve_metric.runtime.optional_imports import import_torch, import_transformers

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

COLUMNS = ("log_probabilities", "ranks", "sparsemax", "most_likely", "choices")  # stored for each predicted token
_PROBE = 8  # tokens of a text that show whether the model is causal and what its head does
_CHUNK_BYTES = {"cpu": 2**26, "cuda": 2**30}  # of the logits that are looked at together
_SAME_HEAD = 1e-5  # of the largest logit: the same product of the same numbers, but for the order of its sums
_SAME_PREFIX = 1e-3  # likewise; half precision is coarser, and a model that looks ahead differs by far more
_HALF = 10


def find_head(encoder: Encoder, row: Sequence[int]) -> tuple[torch.nn.Module | None, int]:
    """Find the head of a model, and check that it is causal: probabilities must not depend on later tokens.

    Args:
        encoder: from `load_encoder`, a causal one. row: token ids of a text, at least two.

    Returns:
        The linear layer that can be applied to a few states at a time (None where the model does more after it), and
        the number of tokens that it gives logits for.

    Raises:
        ValueError: the model has no head for its tokens, or looks at the tokens that it is to predict.
    """
    torch = import_torch()
    first = list(row[:_PROBE])
    model = encoder.model
    vocabulary = int(model.get_input_embeddings().num_embeddings)
    other = first[0] if first[0] != first[-1] else (first[-1] + 1) % vocabulary
    with evaluating(model), torch.inference_mode():
        ids, mask = padded(encoder, [first, [*first[:-1], other]])
        both = getattr(model.config, "is_encoder_decoder", False)
        logits = None if both else getattr(output_of(model, ids, mask), "logits", None)
        try:
            layer = model.get_output_embeddings()
        except (AttributeError, NotImplementedError):
            layer = None
        if logits is None or logits.ndim != 3 or layer is None:
            raise not_causal(encoder.name, f"has no head: it is a {type(model).__name__}")
        if not _same(logits[0, :-1], logits[1, :-1], _SAME_PREFIX):
            raise not_causal(encoder.name, f"looks at later tokens: it is a {type(model).__name__}")
        return _module(model, layer, ids, mask, logits), int(logits.shape[-1])


def _module(
    model: Any, layer: torch.nn.Module, ids: torch.Tensor, mask: torch.Tensor, logits: torch.Tensor
) -> torch.nn.Module | None:
    """The output layer, if it alone gives the model's logits (some scale or clip them afterwards)."""
    try:
        alone = layer(output_of(without_head(model), ids, mask)[0])
    except Exception as error:  # any model's own way to refuse; the whole logits are right for each
        if out_of_memory(error):
            raise
        logger.debug("the head of %s is not applied alone: %s", type(model).__name__, error)
        return None
    return layer if _same(alone, logits, _SAME_HEAD) else None


def _same(logits: torch.Tensor, expected: torch.Tensor, tolerance: float) -> bool:
    """Return whether two tensors agree, to a share of the largest entry."""
    if logits.shape != expected.shape:
        return False
    half = expected.dtype.itemsize < 4
    bound = tolerance * (_HALF if half else 1) * float(expected.abs().nan_to_num(posinf=0.0).max())
    return not bool(((logits - expected).abs() > bound).any())


def run_likelihoods(
    encoder: Encoder,
    rows: list[tuple[int, ...]],
    *,
    head: torch.nn.Module | None,
    vocabulary_size: int,
    decode: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> Array:
    """Compute the likelihood of each token of a batch but the first, given the tokens before it.

    Args:
        encoder: a causal one. rows: token ids. head, vocabulary_size: from `find_head`. decode: see `decoded_logits`.

    Returns:
        One array a row, its `COLUMNS` after one another, (5·(t - 1),): natural log-probability, rank, sparsemax score,
        the id of the most likely token and how many tokens have any probability; float32, float64 if the model runs in
        it.
    """
    torch = import_torch()
    size = _CHUNK_BYTES["cuda" if encoder.device.startswith("cuda") else "cpu"]
    wide = torch.float64 if encoder.dtype == "float64" else torch.float32
    states_together = max(1, size // (vocabulary_size * wide.itemsize))

    def of_rows(part: list[tuple[int, ...]]) -> Array:
        """The columns of all predicted tokens of some rows, one row after the other, (5, Σ (t - 1))."""
        ids, mask = padded(encoder, part)
        states = output_of(encoder.model if head is None else without_head(encoder.model), ids, mask)
        predicted = mask[:, 1:].bool()
        outputs = (states.logits if head is None else states[0])[:, :-1]
        outputs, targets = outputs[predicted.to(outputs.device)], ids[:, 1:][predicted]
        columns = []
        for start in range(0, len(targets), states_together):
            chunk = outputs[start : start + states_together]
            logits = (chunk if head is None else head(chunk)).to(wide)
            logits = logits if decode is None else decode(logits)
            columns.append(token_columns(logits, targets[start : start + states_together].to(logits.device)))
        values: Array = torch.cat(columns, dim=1).cpu().numpy()
        return values

    # all rows in one pass, unless the model itself makes the logits of all of them
    step = len(rows) if head is not None else max(1, 4 * states_together // max(map(len, rows)))
    with evaluating(encoder.model), torch.inference_mode():
        parts = [of_rows(rows[start : start + step]) for start in range(0, len(rows), step)]
    table = np.concatenate(parts, axis=1)
    ends = np.cumsum([len(row) - 1 for row in rows])
    return as_objects([part.ravel() for part in np.split(table, ends[:-1], axis=1)])


def token_columns(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """`COLUMNS` of tokens, (5, m).

    With p the softmax of a token's logits and x the token: log p_x; the rank 1 + #{v: p_v > p_x}; the sparsemax score
    p_x + (1 - ‖p‖²)/2 of Martins et al. (2020, §4.3), in [0, 1]; the v of the largest p_v, the first of equal ones;
    the number of v with p_v > 0.

    Args:
        logits: (m, V). targets: ids in [0, V), (m,).

    >>> import torch
    >>> token_columns(torch.log(torch.tensor([[0.5, 0.25, 0.25]])), torch.tensor([1])).round(decimals=4).T
    tensor([[-1.3863,  2.0000,  0.5625,  0.0000,  3.0000]])
    """
    of_target = logits.gather(1, targets[:, None])
    ranks = (logits > of_target).sum(dim=1) + 1
    total = logits.logsumexp(dim=1, keepdim=True)
    most_likely = logits.argmax(dim=1)
    log_probabilities = (of_target - total)[:, 0]
    squared = import_torch().linalg.vector_norm((logits - total).exp_(), dim=1) ** 2
    sparsemax = log_probabilities.exp() + (1 - squared) / 2
    choices = (logits > -math.inf).sum(dim=1)
    values = (log_probabilities, ranks, sparsemax, most_likely, choices)
    columns: torch.Tensor = import_torch().stack([column.to(logits.dtype) for column in values])
    return columns


def decoded_logits(decoder: Decoder) -> Callable[[torch.Tensor], torch.Tensor]:
    """Make a function from logits (m, V) to those of the decoder's distribution, -inf for a token that it never takes.

    decoder: settings in the order in which they are applied, see `applied_settings`.
    """
    transformers = import_transformers()
    warpers = [getattr(transformers, SAMPLER_SETTINGS[name][0])(value) for name, value in decoder.items()]

    def decoded(logits: torch.Tensor) -> torch.Tensor:
        for warper in warpers:
            logits = warper(None, logits)  # no warper reads the tokens before, its first argument
        return logits

    return decoded
