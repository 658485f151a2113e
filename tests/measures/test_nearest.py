"""The smallest numbers of each row, against a full stable sort."""

import numpy as np
import pytest

from mauve_metric.measures.nearest import smallest


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "number"), [(1, 1), (7, 7), (13, 4), (100, 1), (101, 9), (800, 45), (59, 29)])
def test_the_smallest_are_those_of_a_stable_sort(m, number, dtype):
    rng = np.random.default_rng(m)
    values = rng.normal(size=(31, m)).astype(dtype)
    values[::2] = np.round(values[::2], 1)  # with ties
    values[5], values[6, : m // 2] = 0.0, np.inf
    columns, least = smallest(values, number)
    expected = np.argsort(values, axis=1, kind="stable")[:, :number]
    np.testing.assert_array_equal(columns, expected)
    np.testing.assert_array_equal(least, np.take_along_axis(values, expected, axis=1))
    assert least.dtype == dtype


def test_numbers_in_order_and_no_rows():
    values = np.arange(1000.0)[None] * [[1.0], [-1.0]]
    assert smallest(values, 3)[0].tolist() == [[0, 1, 2], [999, 998, 997]]
    assert [part.shape for part in smallest(np.empty((0, 40)), 2)] == [(0, 2), (0, 2)]


@pytest.mark.parametrize(("number", "n"), [(9, 100), (100, 1000)])
def test_no_number_is_lost_where_each_is_the_least_of_its_group(number, n):
    """The columns of a group are six times as many as are wanted apart: all small numbers are in other groups."""
    rng = np.random.default_rng(number)
    values = np.hstack([rng.random(size=(n, 6 * number)), 10 + rng.random(size=(n, 6 * number))])
    columns, least = smallest(values, number)
    np.testing.assert_array_equal(columns, np.argsort(values, axis=1, kind="stable")[:, :number])
    np.testing.assert_array_equal(least, np.sort(values, axis=1)[:, :number])
