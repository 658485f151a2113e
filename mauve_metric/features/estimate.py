"""Estimate the duration of a featurizer's run before it starts; give advice if it is long."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from mauve_metric.features.encoder import Encoder
from mauve_metric.runtime.low_precision import has_units
from mauve_metric.runtime.optional_imports import import_torch

logger = logging.getLogger(__name__)
LONG_SECONDS = 600  # from here on a run is announced with a warning and advice


def announce(encoder: Encoder, ids: Sequence[Sequence[int]], total: int | None, work: str = "featurizing") -> None:
    """Log the model, its device and the expected duration before the work; a warning with advice if very long."""
    if total is None:
        logger.info("%s a stream with %s (%s) on %s", work, encoder.name, encoder.dtype, encoder.device)
        return
    tokens = sum(map(len, ids)) / len(ids) * total
    seconds = estimated_seconds(encoder, tokens)
    line = (
        f"{work} {total} texts ({tokens:.3g} tokens) with {encoder.name} ({encoder.dtype}) on {encoder.device}: "
        f"about {duration(seconds)}, less what is in the cache"
    )
    if seconds < LONG_SECONDS:
        logger.info("%s", line)
    else:
        advice = "a GPU, fewer or shorter texts"
        if work == "featurizing" and encoder.device == "cpu" and encoder.dtype == "float32" and has_units():
            advice += ", dtype='bfloat16' (rounds more)"
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


def duration(seconds: float) -> str:
    """Format a duration in readable units.

    >>> duration(100), duration(7200)
    ('2 minutes', '2 hours')
    """
    for limit, unit, name in ((90, 1, "seconds"), (5400, 60, "minutes"), (130_000, 3600, "hours")):
        if seconds < limit:
            number = f"{seconds / unit:.0f}"
            return f"{number} {name.removesuffix('s') if number == '1' else name}"
    return f"{seconds / 86_400:.0f} days"
