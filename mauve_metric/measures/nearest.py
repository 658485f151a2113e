"""The smallest numbers of each row of a matrix, such as the distances to the nearest texts."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Array, Integers

_GROUPS = 6  # of columns for each wanted number: their minima bound it closely, and are few


def smallest(values: Array, number: int) -> tuple[Integers, Array]:
    """Find the smallest numbers of each row, the smallest first, of equal ones that of the first column.

    The columns are divided into groups. With k wanted numbers, the k-th smallest minimum of a group is an upper bound
    of the k-th smallest number, so that few numbers are left to sort.

    Args:
        values: (n, m), without NaN. number: how many, in [1, m].

    Returns:
        The columns and the values, (n, number) each.

    >>> smallest(np.array([[3.0, 1.0, 2.0, 1.0]]), 3)
    (array([[1, 3, 2]]), array([[1., 1., 2.]]))
    """
    n, m = values.shape
    groups = min(_GROUPS * number, m // 2)
    if 2 * groups <= 3 * number or not n:
        columns: Integers = np.argsort(values, axis=1, kind="stable")[:, :number]
        return columns, np.take_along_axis(values, columns, axis=1)
    minima = values[:, : m // groups * groups].reshape(n, -1, groups).min(axis=1)
    bounds = np.partition(minima, number - 1, axis=1)[:, number - 1 : number]
    flat = np.flatnonzero(values <= bounds)
    rows, columns = np.divmod(flat, m)
    counts = np.bincount(rows, minlength=n)
    places = np.arange(len(flat)) - np.repeat(np.cumsum(counts) - counts, counts)
    below = np.full((n, counts.max()), np.inf, dtype=values.dtype)
    below[rows, places] = values.ravel()[flat]
    column_of = np.zeros(below.shape, dtype=np.int64)
    column_of[rows, places] = columns
    order = np.argsort(below, axis=1, kind="stable")[:, :number]
    return np.take_along_axis(column_of, order, axis=1), np.take_along_axis(below, order, axis=1)
