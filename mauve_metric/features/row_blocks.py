"""Features that need not fit in memory: rows that are read block by block, from an array, files or a data set."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, FeatureRows, Features, Floats, Integers
from mauve_metric.runtime.errors import NotFeatures, NotFinite, UnlikeFeatures
from mauve_metric.runtime.tensors import as_array, check_finite, check_kind, in_memory, is_tensor

_KEY_ROUNDING = 1e-11  # between the keys of equal rows, as a share of the largest key
Form = TypeVar("Form", Array, Features)  # an array stays one
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


class MappedRows(ArrayRows):
    """Rows of a memory map as the map shows them, with changes through the map, in whatever layout.

    Pages that were read are given back, so that they do not count as memory; not those of a copy-on-write map, which
    are nowhere else.

    Raises:
        OSError: the mapped file became shorter, where the system would end the process, or was changed by others.
    """

    def __init__(self, array: np.memmap[tuple[int, ...], np.dtype[np.generic]]) -> None:
        super().__init__(np.asarray(array))
        self._pages = array.base if isinstance(array.base, mmap.mmap) and array.mode != "c" else None
        self._path, self._writable = getattr(array, "filename", None), array.mode in ("r+", "w+")
        self._state, self._needed = self._file_state(), array.offset + array.nbytes

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        for start in range(0, self.shape[0], BLOCK_ROWS):
            self._check_file()
            block = np.array(self.array[start : start + BLOCK_ROWS])
            self._give_back()
            yield block
        self._check_file()

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        taken = np.empty((len(numbers), self.shape[1]), dtype=self.array.dtype)
        for start in range(0, len(numbers), BLOCK_ROWS):
            some = slice(start, start + BLOCK_ROWS)
            self._check_file()
            taken[some] = super().take(numbers[some])
            self._give_back()
        self._check_file()
        return taken

    def _file_state(self) -> os.stat_result | None:
        """The state of the mapped file, None if it has no name any more."""
        try:
            return None if self._path is None else os.stat(self._path)
        except OSError:
            return None

    def _check_file(self) -> None:
        """Refuse a file that is not what was mapped; one that took its name leaves the map as it was."""
        before, now = self._state, self._file_state()
        if before is None or now is None or (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino):
            return
        if now.st_size < max(before.st_size, self._needed):
            raise OSError(f"{self._path} became shorter while it was read")
        # the time of a file that this process writes to through the map is set later, by the system
        if not self._writable and (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise OSError(f"{self._path} was changed while it was read: wait until it is whole, and read it again")

    def _give_back(self) -> None:
        if self._pages is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._pages.madvise(mmap.MADV_DONTNEED)


class ConcatenatedRows:
    """Several sources one after the other, all of one width."""

    def __init__(self, sources: Sequence[FeatureRows]) -> None:
        widths = {source.shape[1] for source in sources}
        if len(widths) != 1:
            raise UnlikeFeatures(f"all parts must have the same number of columns, got {sorted(widths)}")
        self.sources, self.ends = list(sources), np.cumsum([source.shape[0] for source in sources])
        self.shape: tuple[int, int] = (int(self.ends[-1]), widths.pop())

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        for source in self.sources:
            yield from source.blocks()

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        part = np.searchsorted(self.ends, numbers, side="right")
        taken: Array | None = None
        for index, (source, end) in enumerate(zip(self.sources, self.ends, strict=True)):
            inside = part == index
            if not inside.any():
                continue
            rows = source.take(numbers[inside] - (end - source.shape[0]))
            if taken is None:
                taken = np.zeros((len(numbers), self.shape[1]), dtype=rows.dtype)
            taken = taken.astype(np.result_type(taken, rows), copy=False)
            taken[inside] = rows
        return np.empty((0, self.shape[1])) if taken is None else taken


class OrderedRows:
    """Rows in another order, gathered a block at a time.

    >>> OrderedRows(ArrayRows(np.array([[1.0], [2.0], [3.0]])), np.array([2, 0, 1])).take(np.array([0, 2])).tolist()
    [[3.0], [2.0]]
    """

    def __init__(self, rows: FeatureRows, order: Integers) -> None:
        self.rows, self.order = rows, order
        self.shape: tuple[int, int] = (len(order), rows.shape[1])

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        for start in range(0, len(self.order), BLOCK_ROWS):
            yield self.rows.take(self.order[start : start + BLOCK_ROWS])

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return self.rows.take(self.order[numbers])


class RoundedRows:
    """Rows in floats of fewer bytes."""

    def __init__(self, rows: FeatureRows, size: int) -> None:
        self.rows, self.size, self.shape = rows, size, rows.shape

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        return (_short(block, self.size) for block in self.rows.blocks())

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return _short(self.rows.take(numbers), self.size)


class CheckedRows:
    """Rows that are checked to be finite numbers of float64 as they are read.

    Raises:
        ValueError: NaN or infinity, with the number of the first bad row.
    """

    def __init__(self, name: str, rows: FeatureRows) -> None:
        self.name, self.rows, self.shape = name, rows, rows.shape

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        start = 0
        for block in self.rows.blocks():
            yield self._check(block, np.arange(start, start + len(block)))
            start += len(block)

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return self._check(self.rows.take(numbers), numbers)

    def _check(self, rows: Array, numbers: Integers) -> Array:
        rows = _at_most_float64(rows)
        bad = ~np.isfinite(rows).all(axis=1)
        if bad.any():
            raise NotFinite.of(self.name, f"must be finite: row {numbers[bad.argmax()]} holds NaN or infinity")
        return rows


def check_features(name: str, features: object) -> Array:
    """Features as a finite float array (n, d).

    Raises:
        TypeError: not numbers. ValueError: not two-dimensional, empty, NaN or infinite.
    """
    array = _at_most_float64(numbers_of(name, features))
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return array  # one number that is not finite would show in the sum
    check_finite(name, np.isfinite(array).all(axis=1))
    return array


def numbers_of(name: str, data: object) -> Array:
    """Features in memory as an array of numbers (n, d), which may be NaN or infinite.

    Raises:
        TypeError: not numbers. ValueError: not two-dimensional, empty, rows of different lengths, or masked.
    """
    rows = data if isinstance(data, (list, tuple)) else [data]
    if any(np.ma.is_masked(row) for row in rows):
        raise NotFinite.of(
            name,
            "holds masked values, which are not left out by themselves: give the rows without one, as in "
            "features[~numpy.ma.getmaskarray(features).any(axis=1)].data",
        )
    if hasattr(data, "toarray"):  # of SciPy
        raise NotFeatures.of(name, f"must be a dense array, got {type(data).__name__}: give its toarray()")
    try:
        array = as_array(data) if is_tensor(data) else np.asarray(data)
        if array.dtype == object and array.ndim == 1:  # rows in a column of pandas or pyarrow
            array = np.asarray(array.tolist())
    except ValueError as error:
        raise NotFeatures.of(name, "must be one array (n, d): its rows have different lengths") from error
    except (TypeError, RuntimeError) as error:  # tensors that numpy has no form for, on their own or in a list
        raise NotFeatures.of(name, f"must be an array of numbers, got {type(data).__name__}: {error}") from error
    if array.dtype == object and array.ndim == 0:  # of which numpy makes nothing
        raise NotFeatures.of(name, f"must be an array of numbers, got {type(data).__name__}")
    check_kind(name, array.shape, array.dtype, array.dtype.kind in "fiu")
    return array


def _at_most_float64(rows: Array) -> Array:
    """Rows of longer numbers in float64, in which the largest are infinite."""
    with np.errstate(over="ignore"):
        return rows if rows.dtype.itemsize <= 8 else rows.astype(np.float64)


MOST_NUMBERS_AT_ONCE = 2**28  # 1 GiB in float32


def read_in_blocks(features: Features) -> bool:
    """Return whether features are processed in blocks: not in memory, or over a quarter of a billion numbers."""
    return not isinstance(features, np.ndarray) or features.size > MOST_NUMBERS_AT_ONCE


def as_rows(features: Features) -> FeatureRows:
    """Features of any form as rows to read in blocks."""
    return ArrayRows(features) if isinstance(features, np.ndarray) else features


def all_rows(features: Features) -> Array:
    """Features of any form as one array; what is read in blocks is read as a whole."""
    array = in_memory(features)
    return np.concatenate(list(as_rows(features).blocks())) if array is None else array


def in_one_format(*sets: Form) -> list[Form]:
    """Sets of features, those in longer formats of floats rounded to the shortest.

    A column that hardly varies, such as .1 in all rows, is another number in each format, which tells the sets apart.

    >>> short, rounded = in_one_format(np.array([[0.1]], dtype=np.float32), np.array([[0.1]]))
    >>> short == rounded
    array([[ True]])
    """
    kinds = [next(as_rows(rows).blocks()).dtype for rows in sets]
    size = min((kind.itemsize for kind in kinds if kind.kind == "f"), default=0)

    def rounded(rows: Form) -> Form:
        return _short(rows, size) if isinstance(rows, np.ndarray) else RoundedRows(rows, size)

    return [
        rounded(rows) if kind.kind == "f" and kind.itemsize > size else rows
        for rows, kind in zip(sets, kinds, strict=True)
    ]


def _short(rows: Array, size: int) -> Array:
    """Rows in floats of so many bytes, whose largest number stands for those beyond."""
    kind = np.dtype(f"f{size}")
    limit = float(np.finfo(kind).max)
    return np.clip(rows, -limit, limit).astype(kind)


def equal_rows(rows: Features, others: Features) -> bool:
    """Return whether two sets of features are equal, row by row; only likely ones are read to the end."""
    if rows.shape != others.shape:
        return False
    if isinstance(rows, np.ndarray) and isinstance(others, np.ndarray):
        return np.array_equal(rows, others)
    return np.array_equal(some_rows(rows, 64), some_rows(others, 64)) and hash_of_rows(rows) == hash_of_rows(others)


def hash_of_rows(features: Features) -> str:
    """A hash of the numbers of all rows, whatever blocks, layout and number format they come in.

    >>> rows = np.array([[0.5, 1.0], [2.0, 0.1]])
    >>> hash_of_rows(rows[:1]) == hash_of_rows(rows[:1].astype(np.float16))
    True
    >>> hash_of_rows(rows) == hash_of_rows(rows[::-1])
    False
    """
    digest = hashlib.sha256(str(tuple(features.shape)).encode())
    for block in as_rows(features).blocks():
        for rows in _in_shortest_format(block):
            digest.update(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _in_shortest_format(block: Array) -> Iterator[Array]:
    """The rows of a block, in order: in float32 those that it holds exactly, the others in float64."""
    with np.errstate(over="ignore"):
        short = np.asarray(block, dtype=np.float32)
    if np.can_cast(block.dtype, np.float32):
        yield short
        return
    exact = (short == block).all(axis=1)
    for rows in np.split(np.arange(len(block)), np.flatnonzero(np.diff(exact)) + 1):
        yield short[rows] if exact[rows[0]] else block[rows].astype(np.float64)


def row_hashes(features: Features) -> NDArray[np.uint64]:
    """Hash each row, (n,): equal numbers give equal hashes, whatever blocks and number format they come in.

    >>> hashes = row_hashes(np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0]]))
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    rows = as_rows(features)
    factors = np.random.default_rng(0).integers(1, 2**63, size=rows.shape[1], dtype=np.uint64) * np.uint64(
        2
    ) + np.uint64(1)
    parts = []
    with np.errstate(over="ignore"):
        for block in rows.blocks():
            bits = (np.ascontiguousarray(block, dtype=np.float64) + 0.0).view(np.uint64)  # + 0.0 turns -0 into 0
            parts.append(np.einsum("ij,j->i", bits ^ (bits >> np.uint64(32)), factors))
    return np.concatenate(parts)


def copies(features: Sequence[Features], keys: Sequence[Floats]) -> Integers:
    """Number the rows of stacked sets that occur more than once, equal ones alike, (Σ n_i,); -1 for all others.

    Args:
        keys: of the rows of each set, see `content_keys`; only rows whose keys agree but for rounding are read.

    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> copies([rows, rows[1:2]], [content_keys(rows), content_keys(rows[1:2])]).tolist()
    [1, 0, 1, 0]
    """
    order = order_of_keys(*keys)
    ordered = np.concatenate(keys)[order]
    near = np.diff(ordered, prepend=-np.inf, append=np.inf) <= _KEY_ROUNDING * np.abs(ordered).max()
    candidates = np.sort(order[near[1:] | near[:-1]])
    numbers = np.full(len(order), -1)
    if len(candidates):
        hashes = row_hashes(ConcatenatedRows([as_rows(some) for some in features]).take(candidates))
        _, kind_of, times = np.unique(hashes, return_inverse=True, return_counts=True)
        numbers[candidates] = np.where(times[kind_of] > 1, kind_of, -1)
    return numbers


def content_order(*sides: Features) -> Integers:
    """The numbers (Σ n_i,) that sort the rows of stacked sets by content; equal rows keep their order.

    >>> rows = np.random.default_rng(0).normal(size=(5, 3))
    >>> bool((rows[content_order(rows)] == rows[::-1][content_order(rows[::-1])]).all())
    True
    """
    return order_of_keys(*map(content_keys, sides))


def content_keys(features: Features) -> Floats:
    """The numbers by which `content_order` sorts rows, (n,).

    The key of a row is its product with fixed random numbers: rows that differ in their last bits only keep their
    places among others, and rows need not be in memory.
    """
    d = features.shape[1]
    weights = np.random.default_rng(0).normal(size=d) / (10 * d)  # no product overflows
    blocks = as_rows(features).blocks()
    return np.concatenate([np.einsum("ij,j->i", block.astype(np.float64), weights) for block in blocks])


def order_of_keys(*keys: Floats) -> Integers:
    """The numbers (Σ n_i,) that sort the rows of stacked sets by their keys; equal ones keep their order."""
    return np.argsort(np.concatenate(keys), kind="stable")


def some_rows(features: Features, most: int, seed: int = 0) -> Array:
    """All rows if there are at most so many, else so many random ones, in order."""
    n, d = features.shape
    if not most:
        return np.empty((0, d), dtype=np.float32)
    return as_rows(features).take(some_numbers(n, min(n, most), seed))


def some_numbers(n: int, most: int, seed: int) -> Integers:
    """The numbers of `most` of n rows, drawn at random, in order."""
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
