"""Sums over rows that are the same to the last bit whatever parts they were added up in, and the projection of them.

Floating-point sums hang on their order, and the buckets of a large set on the last bits of its projection. Here the
numbers of a unit row are cut to 40 binary places and split in two halves of 20, whose products are whole numbers small
enough for a block's sum to be exact in float64, and for a shard's in int64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mauve_metric.arrays import Array, FeatureRows, Floats, Integers
from mauve_metric.features.rows import BLOCK_ROWS
from mauve_metric.quantize.projection import Projection, projection_of_scatter
from mauve_metric.quantize.unit_rows import unit_rows

_PLACES = 20  # binary, of each half: with 2048 rows a block, sums of products stay below 2**51
_LIMB_BITS = 40
_SHIFTS = (2 * _PLACES, _PLACES, 0)  # of the sums of products high·high, high·low and low·low
MOST_ROWS = 2**21  # of a shard, for sums in int64


@dataclass(frozen=True)
class Moments:
    """Exact sums of the products of every two numbers of a row, with a 1 as its last number: (3, d + 1, d + 1).

    The three are of high·high, high·low + low·high and low·low halves, in units of 2**-40, 2**-60 and 2**-80.
    """

    products: Integers


def moments_of(rows: FeatureRows) -> Moments:
    """The moments of a shard's rows (n, d), scaled to length 1; memory for a block of rows and three matrices.

    Raises:
        ValueError: more rows than can be summed exactly.

    >>> from mauve_metric.features.rows import ArrayRows
    >>> moments_of(ArrayRows(np.array([[3.0, 4.0]]))).products[0, 2, 2].item() == 2**40
    True
    """
    n, d = rows.shape
    if n > MOST_ROWS:
        raise ValueError(f"a shard must hold at most {MOST_ROWS} texts, got {n}: cut it")
    sums = np.zeros((3, d + 1, d + 1), dtype=np.int64)
    for block in rows.blocks():
        for start in range(0, len(block), BLOCK_ROWS):
            sums += _products(unit_rows(block[start : start + BLOCK_ROWS]))
    return Moments(sums)


def _products(unit: Floats) -> Integers:
    """The three sums of a block (b, d) of unit rows."""
    scaled = np.concatenate([unit, np.ones((len(unit), 1))], axis=1) * 2.0**_PLACES
    high = np.rint(scaled)
    low = np.rint((scaled - high) * 2.0**_PLACES)
    mixed = high.T @ low
    return np.stack([high.T @ high, mixed + mixed.T, low.T @ low]).astype(np.int64)


class MomentSums:
    """The moments of shards added up, in any order."""

    def __init__(self) -> None:
        self._whole: Integers | None = None
        self._rest: Integers | None = None

    def add(self, moments: Moments) -> None:
        """One shard more."""
        whole, rest = moments.products >> _LIMB_BITS, moments.products & (2**_LIMB_BITS - 1)
        if self._whole is None or self._rest is None:
            self._whole, self._rest = whole, rest
        else:
            self._whole += whole
            self._rest += rest

    def total(self) -> Array:
        """The sums as Python's integers, which have no bound, in units of 2**-80: (d + 1, d + 1)."""
        if self._whole is None or self._rest is None:
            raise ValueError("there are no rows")
        exact = self._whole.astype(object) * 2**_LIMB_BITS + self._rest.astype(object)
        total: Array = sum(exact[index] * 2**shift for index, shift in enumerate(_SHIFTS))
        return total

    def mean_and_scatter(self) -> tuple[int, Floats, Floats]:
        """How many rows, their mean (d,), and the sum of their centred outer products (d, d), rounded once."""
        total = self.total()
        unit = 2 ** (4 * _PLACES)
        n = int(total[-1, -1]) // unit
        sums = total[-1, :-1]
        centred = n * total[:-1, :-1] - (sums[:, None] * sums[None, :]) // unit
        return n, _as_float(sums, n * unit), _as_float(centred, n * unit)

    def projection(self, explained_variance: float) -> Projection:
        """What `projection.fit_projection` finds from all rows at once, but for its rounding."""
        return projection_of_scatter(*self.mean_and_scatter(), explained_variance)


def _as_float(numerators: Array, denominator: int) -> Floats:
    """Whole numbers without bound, divided, as the nearest float64."""
    flat = [int(number) / denominator for number in numerators.ravel()]
    return np.array(flat, dtype=np.float64).reshape(numerators.shape)
