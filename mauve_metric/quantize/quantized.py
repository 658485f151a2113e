"""The result of a quantizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mauve_metric.arrays import Labels

Advance = Callable[[int, int | None], None]  # called with the steps done and those in all


class Quantized(NamedTuple):
    """The bucket of each row, (n,), in 0 … cells - 1; and a problem with them as a half-sentence, or None."""

    labels: Labels
    problem: str | None = None
