"""Features that need not fit in memory: rows that are read block by block, from an array, files or a data set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from mauve_metric.arrays import Array, FeatureRows, Features, Integers
from mauve_metric.runtime.tensors import as_array, is_tensor

BLOCK_ROWS = 2048  # at 1280 columns a block in float64 is small enough for its memory to be used again


class ArrayRows:
    """Rows of an array in memory."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.shape: tuple[int, int] = (array.shape[0], array.shape[1])

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        for start in range(0, self.shape[0], BLOCK_ROWS):
            yield self.array[start : start + BLOCK_ROWS]

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return self.array[numbers]


class ConcatenatedRows:
    """Several sources one after the other, all of one width."""

    def __init__(self, sources: Sequence[FeatureRows]) -> None:
        widths = {source.shape[1] for source in sources}
        if len(widths) != 1:
            raise ValueError(f"all parts must have the same number of columns, got {sorted(widths)}")
        self.sources = list(sources)
        self.shape: tuple[int, int] = (sum(source.shape[0] for source in sources), widths.pop())

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        for source in self.sources:
            yield from source.blocks()

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        ends = np.cumsum([source.shape[0] for source in self.sources])
        part = np.searchsorted(ends, numbers, side="right")
        rows: list[Array] = []
        places: list[Integers] = []
        for index, source in enumerate(self.sources):
            chosen = np.nonzero(part == index)[0]
            if len(chosen):
                rows.append(source.take(numbers[chosen] - (ends[index] - source.shape[0])))
                places.append(chosen)
        taken = np.concatenate(rows)
        result = np.empty_like(taken)
        result[np.concatenate(places)] = taken
        return result


class CheckedRows:
    """Rows that are checked to be finite as they are read.

    Raises:
        ValueError: NaN or infinity, with the number of the first bad row.
    """

    def __init__(self, name: str, rows: FeatureRows) -> None:
        self.name, self.rows, self.shape = name, rows, rows.shape

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        start = 0
        for block in self.rows.blocks():
            bad = ~np.isfinite(block).all(axis=1)
            if bad.any():
                raise ValueError(f"{self.name} must be finite: row {start + int(bad.argmax())} holds NaN or infinity")
            start += len(block)
            yield block

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return self.rows.take(numbers)


def check_features(name: str, features: object) -> Array:
    """Features as a finite float array (n, d).

    Raises:
        TypeError: not numbers. ValueError: not two-dimensional, empty, NaN or infinite.
    """
    if is_tensor(features):
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


MOST_NUMBERS_AT_ONCE = 2**28  # 1 GiB in float32


def read_in_blocks(features: Features) -> bool:
    """Whether features are worked on in blocks: not in memory, or more than a quarter of a billion numbers."""
    return not isinstance(features, np.ndarray) or features.size > MOST_NUMBERS_AT_ONCE


def as_rows(features: Features) -> FeatureRows:
    """Features of any form as rows to read in blocks."""
    return ArrayRows(features) if isinstance(features, np.ndarray) else features


def all_rows(features: Features) -> Array:
    """Features of any form as one array in memory."""
    return features if isinstance(features, np.ndarray) else np.concatenate(list(features.blocks()))


def equal_rows(one: Features, two: Features) -> bool:
    """Whether two sets of features are the same, row by row; only likely ones are read to the end."""
    if one.shape != two.shape:
        return False
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return np.array_equal(one, two)
    return np.array_equal(some_rows(one, 64), some_rows(two, 64)) and _digest(one) == _digest(two)


def _digest(features: Features) -> bytes:
    """A hash of all rows, whatever blocks they come in."""
    digest = hashlib.blake2b()
    for block in as_rows(features).blocks():
        digest.update(np.ascontiguousarray(block, dtype=np.float64).tobytes())
    return digest.digest()


def some_rows(features: Features, most: int, seed: int = 0) -> Array:
    """All rows if there are at most so many, else so many random ones, in order."""
    n, d = features.shape
    if not most:
        return np.empty((0, d), dtype=np.float32)
    if n <= most:
        return as_rows(features).take(np.arange(n))
    return as_rows(features).take(some_numbers(n, most, seed))


def some_numbers(n: int, most: int, seed: int) -> Integers:
    """The numbers of `most` of n rows, drawn at random, in order."""
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
