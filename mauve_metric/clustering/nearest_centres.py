"""The nearest centre of every row, exactly, for a fraction of the products of all rows with all centres.

After PCA the columns fall in variance, so that the first few say most about a distance: with x and c cut into a head
and a rest, ‖x - c‖² is at least the squared distance of the heads plus (‖rest of x‖ - ‖rest of c‖)², which is the
squared distance of the heads with the length of the rest as one more column, a matrix product of that few columns.
Only pairs whose bound is below the row's best distance so far are computed in full, about one in a hundred on features
of language models. Between two iterations of k-means only the bounds of centres that moved are renewed.

Where the processor has units for bfloat16 (`low_precision.pays` is the rule), heads are multiplied in that precision
into ‖x - c‖² as a whole, so that the bits of the bounds are compared in place of numbers. Either way the pairs that are
left are decided by the same distances in float32, so that the labels are the same.

All other squared distances here are without the row's own square: ‖c‖² - 2x·c.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Labels, Rows
from mauve_metric.runtime import low_precision
from mauve_metric.runtime.optional_imports import import_faiss, import_torch
from mauve_metric.runtime.threads import one_blas_thread, one_torch_thread, pool_threads

if TYPE_CHECKING:
    import torch

_WORTH_BOUNDS = 10**8  # products of all rows, columns and centres: with fewer, all distances are faster
_FIRST_HEAD, _HEAD = 128, 64  # columns of the bounds: without a good guess for each row, and with one
_LEAST_LOW_HEAD = 96  # the same in bfloat16, or a third of all where that is more
_MANY_PAIRS = 0.1  # above this share of pairs left by the bounds, all are computed in full from then on
_UNDERFLOW = 1e-36  # of a product, at most, with a margin
_LONGEST = 1e18  # of a row whose square and its sums with others are numbers in float32
_LEAST_PART = 1024  # rows; fewer are not worth another thread
_PART_BYTES = 2**26  # of bounds computed at once
_KEPT_BYTES = 2**30  # of bounds kept between iterations; above, all are computed in each


def nearest_centres(rows: Rows, num_centres: int) -> AllCentres | BoundedCentres:
    """Choose the fastest search for a number of centres."""
    bounded = rows.size * num_centres >= _WORTH_BOUNDS and float(np.abs(rows).max()) * rows.shape[1] < _LONGEST
    return BoundedCentres(rows, low_precision.pays(rows.size * num_centres)) if bounded else AllCentres(rows)


class AllCentres:
    """All distances, kept between iterations, in several runs at once: for few rows, centres and columns.

    A product with the centres of all runs takes little longer than with those of one. rows: (n, r), float32, C order.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.distances: Rows  # of each run, (runs, n, k)
        self.labels: Labels

    def start(self, centres: Rows) -> Labels:
        """The nearest of each run's new centres (runs, k, r), the lowest number among equals: (runs, n)."""
        self.distances = np.empty((len(centres), len(self.rows), centres.shape[1]), dtype=np.float32)
        self.labels = np.empty((len(centres), len(self.rows)), dtype=np.int64)
        return self.follow(centres, np.ones(centres.shape[:2], dtype=bool))

    def follow(self, centres: Rows, moved: NDArray[np.bool_]) -> Labels:
        """The same after some of the centres, (runs, k), have moved."""
        ends, new = np.cumsum(moved.sum(axis=1)), centres[moved]
        distances = np.matmul(self.rows, (new * np.float32(-2)).T)
        distances += np.einsum("ij,ij->i", new, new)
        fresh = np.split(distances, ends[:-1], axis=1)
        self.labels = self.labels.copy()
        for run in np.flatnonzero(moved.any(axis=1)):
            self.distances[run][:, moved[run]] = fresh[run]
            self.labels[run] = self.distances[run].argmin(axis=1)
        return self.labels

    def cost(self, run: int) -> float:
        """A run's sum of the squared distances to the nearest centres, less the rows' own squares."""
        distances = self.distances[run][np.arange(len(self.rows)), self.labels[run]]
        return float(distances.sum(dtype=np.float64))


class BoundedCentres:
    """Distances only where lower bounds leave a question, in one run; always for one number of centres.

    The rows are in parts, one for each thread where they are many, which does all that there is to do for them: many
    steps are too short to be shared. `low`: the bounds are made in bfloat16, if the rows are of a length that it can
    take.
    """

    def __init__(self, rows: Rows, low: bool = False) -> None:
        self.rows = rows
        low = low and low_precision.are_safe(rows)
        self._low = low_precision.row_factor(cut(rows, _low_head(rows))) if low else None
        widths = (_FIRST_HEAD, _HEAD) if self._low is None else ()
        ones = np.ones((len(rows), 1), dtype=np.float32)  # to be multiplied with the centres' squares
        self._heads = {width: np.hstack([cut(rows, width), ones]) for width in widths if width < rows.shape[1]}
        self._threads = pool_threads()
        # a method as initializer would be a reference cycle, which keeps these rows until the next garbage collection
        self._pool = ThreadPoolExecutor(self._threads, initializer=_use_one_thread, initargs=(low,))
        self._parts: list[_Part] = []

    def start(self, centres: Rows) -> Labels:
        """The nearest of new centres."""
        n, k = len(self.rows), centres.shape[1]
        if not self._parts:
            keep = 4 * n * k <= _KEPT_BYTES
            for some in parts(n, k, max(_LEAST_PART, -(-n // self._threads))):
                heads = {width: head[some] for width, head in self._heads.items()}
                low = None if self._low is None else self._low[some]
                self._parts.append(_Part(self.rows[some], heads, low, keep))
        return self._of_parts(lambda part: part.start(centres[0]))

    def follow(self, centres: Rows, moved: NDArray[np.bool_]) -> Labels:
        """The nearest after some moved."""
        return self._of_parts(lambda part: part.follow(centres[0], moved[0]))

    def cost(self, run: int) -> float:
        """The sum of the distances to the nearest centres."""
        return float(sum(part.own.sum(dtype=np.float64) for part in self._parts))

    def _of_parts(self, label: Callable[[_Part], Labels]) -> Labels:
        torch_threads = nullcontext() if self._low is None else one_torch_thread()
        with torch_threads, one_blas_thread():
            return np.concatenate(list(self._pool.map(label, self._parts)))[None]


def _use_one_thread(with_torch: bool) -> None:
    """Keep libraries in a thread of a pool from starting threads of their own."""
    import_faiss().omp_set_num_threads(1)
    if with_torch:
        import_torch().set_num_threads(1)


def assign(rows: Rows, centres: Rows) -> Labels:
    """The nearest centre of each row, the lowest number among equals: (n, r), (k, r) → (n,)."""
    labels = np.empty(len(rows), dtype=np.int64)
    for some in parts(len(rows), len(centres)):
        labels[some] = nearest_centres(rows[some], len(centres)).start(centres[None])[0]
    return labels


def parts(n: int, k: int, most: int = sys.maxsize) -> Iterator[slice]:
    """Cut n rows so that the bounds of a part to k centres stay small, into parts of at most so many rows."""
    size = max(1, min(_PART_BYTES // (4 * k), most))
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def _low_head(rows: Rows) -> int:
    """Columns of bounds in bfloat16 of rows (n, r)."""
    return max(_LEAST_LOW_HEAD, int(rows.shape[1]) // 3)


def cut(rows: Rows, width: int) -> Rows:
    """The first columns, and the length of the rest as one more: (n, r) → (n, width + 1)."""
    rest = rows[:, width:]
    return np.concatenate([rows[:, :width], np.sqrt(np.einsum("ij,ij->i", rest, rest))[:, None]], axis=1)


class _Part:
    """Some of the rows, and lower bounds of their distances to all centres, exact where they were looked at.

    `own` (n,) is the distance of each row to its nearest centre; in `bounds` (k, n) that is infinite, to be looked at
    no more. `width` is that of the bounds; that of the rows: they are the distances themselves, but for rounding. With
    a factor in bfloat16, `low`, there are no heads, and `bounds` are bits of such numbers, with the rows' own squares.
    """

    def __init__(self, rows: Rows, heads: dict[int, Rows], low: torch.Tensor | None, keep: bool) -> None:
        self.rows, self.heads, self.low, self.keep = rows, heads, low, keep
        self.squares = np.einsum("ij,ij->i", rows, rows)
        self.longest = float(np.sqrt(self.squares.max(initial=0.0)))
        self.width = _HEAD
        self.bounds: Rows | low_precision.Bits = np.empty((0, len(rows)), dtype=np.float32)
        self.labels = np.zeros(len(rows), dtype=np.int64)
        self.own: Rows

    def start(self, centres: Rows) -> Labels:
        """The nearest of new centres."""
        squares = np.einsum("ij,ij->i", centres, centres)
        self.bounds = self._bounds(centres, squares, max(_FIRST_HEAD, self.width))
        numbers, places = _below(self.bounds, self.bounds.min(axis=0))
        self.labels[places] = numbers  # a guess: a lowest bound
        self.own = _distances(self.rows, np.arange(len(self.rows)), centres, squares, self.labels)
        return self._settle(centres, squares, *self._open(centres, squares))

    def follow(self, centres: Rows, has_moved: NDArray[np.bool_]) -> Labels:
        """The nearest after some centres moved."""
        squares, moved = np.einsum("ij,ij->i", centres, centres), np.flatnonzero(has_moved)
        left = np.nonzero(has_moved[self.labels])[0]
        distances = _distances(self.rows, left, centres, squares, self.labels[left])
        farther = distances > self.own[left]  # the others stay nearer to theirs than to what has not moved
        self.own[left] = distances
        if not self.keep:
            self.bounds = self._bounds(centres, squares, self.width)
            return self._settle(centres, squares, *self._open(centres, squares))
        fresh = self._bounds(centres[moved], squares[moved], self.width)
        fresh[np.searchsorted(moved, self.labels[left]), left] = self._infinity()
        if len(moved) == len(centres):
            self.bounds = fresh
        else:
            self.bounds[moved] = fresh
        left = left[farther]
        if 8 * len(left) > len(self.rows):
            return self._settle(centres, squares, *self._open(centres, squares))
        limits = self._limits(squares)
        number, places = _below(fresh, limits)
        other, column = _below(self.bounds.take(left, axis=1), limits[left])  # of those that moved too: faster
        still = ~has_moved[other]
        numbers = np.concatenate([moved[number], other[still]])
        places = np.concatenate([places, left[column[still]]])
        return self._settle(centres, squares, numbers, places)

    def _bounds(self, centres: Rows, squares: Rows, width: int) -> Rows | low_precision.Bits:
        """Lower bounds of the distances to some centres, (k, n)."""
        if self.low is not None:
            return low_precision.lower_bounds(cut(centres, _low_head(centres)), self.low)
        if width in self.heads:
            ends = np.hstack([cut(centres, width) * np.float32(-2), squares[:, None]])
            return np.matmul(ends, self.heads[width].T)  # type: ignore[no-any-return]
        bounds: Rows = np.matmul(centres * np.float32(-2), self.rows.T)
        bounds += squares[:, None]
        return bounds

    def _open(self, centres: Rows, squares: Rows) -> tuple[Labels, Labels]:
        """The pairs, as numbers of centres and places of rows, that could be nearer than a row's own centre."""
        places = np.arange(len(self.rows))
        limits = self._limits(squares)
        self.bounds[self.labels, places] = self._infinity()
        pairs = _below(self.bounds, limits)
        if len(pairs[0]) > _MANY_PAIRS * self.bounds.size and (self.width in self.heads or self.low is not None):
            self.width, self.low = self.rows.shape[1], None
            self.bounds = self._bounds(centres, squares, self.width)
            self.bounds[self.labels, places] = self._infinity()
            pairs = _below(self.bounds, self._limits(squares))
        return pairs

    def _infinity(self) -> np.float32 | np.int16:
        """A bound above all limits."""
        return np.float32(np.inf) if self.low is None else low_precision.INFINITY

    def _error(self, squares: Rows) -> float:
        """The most that rounding changes in a distance, with u = 2⁻²⁴ and sums of r products in whatever order.

        A distance is off by at most (r + 16)·u·(‖x‖ + ‖c‖)², a bound by heads, which has the length of a rest too, by
        twice as much, and one in bfloat16 by four times, the squares of its row and centre included.
        """
        return float((self.rows.shape[1] + 16) * 2.0**-24 * (self.longest + float(np.sqrt(squares.max()))) ** 2)

    def _limits(self, squares: Rows) -> Rows | low_precision.Bits:
        """Largest bounds that decide without doubt, (n,), with room for rounding."""
        least = self.rows.shape[1] * _UNDERFLOW
        if self.low is None:
            return self.own + np.float32(3 * self._error(squares) + least)
        return low_precision.limit_bits(self.own + self.squares + np.float32(8 * self._error(squares) + least))

    def _as_bounds(self, distances: Rows, places: Labels, squares: Rows) -> Rows | low_precision.Bits:
        """Distances of the rows in these places as lower bounds of themselves."""
        if self.low is None:
            return distances
        return low_precision.bound_bits(distances + self.squares[places] - np.float32(8 * self._error(squares)))

    def _settle(self, centres: Rows, squares: Rows, numbers: Labels, places: Labels) -> Labels:
        """Compute these pairs, and give each row the nearest centre, the lowest number among equals."""
        distances = _distances(self.rows, places, centres, squares, numbers)
        self.bounds[numbers, places] = self._as_bounds(distances, places, squares)
        best = self.own.copy()
        np.minimum.at(best, places, distances)
        nearest = np.nonzero(distances == best[places])[0]
        labels = np.where(best == self.own, self.labels, len(centres))
        np.minimum.at(labels, places[nearest], numbers[nearest])
        changed = np.nonzero(labels != self.labels)[0]
        self.bounds[self.labels[changed], changed] = self._as_bounds(self.own[changed], changed, squares)
        self.bounds[labels[changed], changed] = self._infinity()
        self.labels, self.own = labels, best
        if not self.keep:
            self.bounds = np.empty((0, len(self.rows)), dtype=np.float32)
        return labels


def _below(bounds: Rows | low_precision.Bits, limits: Rows | low_precision.Bits) -> tuple[Labels, Labels]:
    """Rows and columns of the table where bounds (k, n) are at most the limit of their column, (n,)."""
    return np.divmod(np.flatnonzero(bounds <= limits), max(1, bounds.shape[1]))


def _distances(rows: Rows, places: Labels, centres: Rows, squares: Rows, numbers: Labels) -> Rows:
    """‖c‖² - 2x·c of the rows in these places, each with the centre of its number."""
    faiss = import_faiss()
    products = np.empty(len(places), dtype=np.float32)
    x, i, c, j, out = (faiss.swig_ptr(array) for array in (rows, places, centres, numbers, products))
    faiss.pairwise_indexed_inner_product(rows.shape[1], len(places), x, i, c, j, out)
    result: Rows = squares[numbers] - 2 * products
    return result
