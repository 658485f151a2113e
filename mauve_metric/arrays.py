"""Types shared by all folders: kinds of arrays, features that are not an array, and a number with its error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Rows = NDArray[np.float32]  # features or projected rows, (n, d)
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]  # of texts in buckets, (k,)
Labels = NDArray[np.int64]  # the bucket of each text, (n,)


class FeatureRows(Protocol):
    """Rows of features that can be read again and again: `shape` (n, d), in blocks or by number."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""

    def blocks(self) -> Iterator[Array]:
        """All rows in order, (b, d) at a time with b at most `rows.BLOCK_ROWS`."""

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers, in this order, (m, d)."""


Features = Array | FeatureRows  # of one set of texts, (n, d)

TextData = Iterable[object] | Path  # texts as users give them: lists, columns, streams (`inputs.sources`), files
TokenData = Iterable[object]  # lists of token ids, likewise
FeatureData = Iterable[object] | Path  # arrays, tensors, nested lists, files, data sets, streams of blocks


class MeasuredValue(NamedTuple):
    """The value of a measure for two sets.

    value: the number. ci: its interval at the confidence level, None if no valid interval is known.
    p_value: of "both sets are draws from one distribution", None without a test.
    """

    value: float
    ci: tuple[float, float] | None = None
    p_value: float | None = None
