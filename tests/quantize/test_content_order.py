"""The order by content against numpy's sort of the columns, with signs, zeros, ties and both kinds of floats."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.quantize.content_order import content_order


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_rows_are_sorted_by_their_columns(kind: type) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.integers(-2, 3, size=(200, 3)) * np.array([1e-3, 1.0, 1e4])).astype(kind)
    rows[::7] = -0.0
    order = content_order(rows)
    assert np.array_equal(rows[order], rows[np.lexsort(rows.T[::-1])])
    assert np.array_equal(order, np.lexsort(rows.T[::-1]))  # both are stable


def test_another_order_of_the_rows_gives_the_same_sorted_rows() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(100, 5))
    other = rows[rng.permutation(100)][:, :]
    assert np.array_equal(rows[content_order(rows)], other[content_order(other)])
    near = rows * (1 + 1e-12)  # last bits move no row
    assert np.array_equal(content_order(near), content_order(rows))


def test_rows_that_are_not_contiguous_are_left_alone() -> None:
    rows = np.asfortranarray(np.random.default_rng(2).normal(size=(20, 4)))
    before = rows.copy()
    assert sorted(content_order(rows[::2]).tolist()) == list(range(10)) and np.array_equal(rows, before)
