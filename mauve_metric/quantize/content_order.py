"""An order of rows that follows from their content alone, so that a clustering started from it is of the set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, Integers


def content_order(rows: Array) -> Integers:
    """The numbers (n,) that sort rows (n, d) of floats by their columns, the first column first.

    Rows that differ in their last bits only keep their places among others, and equal rows are interchangeable.

    >>> content_order(np.array([[2.0, 1.0], [-1.0, 5.0], [2.0, -3.0]])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(rows[:, 0], kind="stable")
    first = rows[order, 0]
    same = first[1:] == first[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    if len(tied):
        order[tied] = order[tied][np.argsort(_keys(rows[order[tied]]), kind="stable")]
    return order


def _keys(rows: Array) -> NDArray[np.void]:
    """Bytes that are ordered as rows (n, d) of floats are, column by column, (n,)."""
    small = rows.dtype.itemsize <= 4
    values: Array = np.ascontiguousarray(rows, dtype=np.float32 if small else np.float64)
    bits: NDArray[Any] = (values + values.dtype.type(0)).view(np.uint32 if small else np.uint64)
    sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    bits ^= np.where(bits & sign, np.iinfo(bits.dtype).max, sign)  # now they are ordered as the numbers are
    big_endian = bits.astype(bits.dtype.newbyteorder(">"))
    return big_endian.view(np.dtype((np.void, bits.itemsize * bits.shape[1])))[:, 0]
