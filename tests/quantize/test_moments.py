"""Sums that are the same in every order, and the projection that they give."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mauve_metric.features.rows import ArrayRows
from mauve_metric.quantize.moments import MomentSums, moments_of
from mauve_metric.quantize.projection import fit_projection
from mauve_metric.quantize.unit_rows import unit_rows

ROWS = np.random.default_rng(0).normal(size=(3001, 7)) * [5, 3, 2, 1, 1, 0.5, 0.1] + 4  # more than a block


def sums_of(parts: list[np.ndarray]) -> MomentSums:
    sums = MomentSums()
    for part in parts:
        sums.add(moments_of(ArrayRows(part)))
    return sums


@pytest.mark.parametrize("ends", [[1000], [1, 2, 2050, 3000]])
def test_the_sums_are_equal_to_the_last_bit_for_all_parts_and_orders(ends: list[int]) -> None:
    whole = sums_of([ROWS]).total()
    assert (sums_of(np.split(ROWS, ends)[::-1]).total() == whole).all()
    shuffled = ROWS[np.random.default_rng(1).permutation(len(ROWS))]
    assert (sums_of(np.split(shuffled, ends)).total() == whole).all()


def test_the_sums_are_those_of_fractions() -> None:
    rows = ROWS[:9]
    unit = [[Fraction(float(number)) for number in row] for row in unit_rows(rows)]
    mean = [sum(column) / 9 for column in zip(*unit, strict=True)]
    expected = [
        [float(sum((row[i] - mean[i]) * (row[j] - mean[j]) for row in unit)) for j in range(7)] for i in range(7)
    ]
    n, found_mean, scatter = sums_of([rows[:4], rows[4:]]).mean_and_scatter()
    assert n == 9
    # each number is cut to 2**-41 at most: nine products of numbers below 1 are off by less than 9 * 2 * 2**-41
    np.testing.assert_allclose(scatter, expected, rtol=0, atol=9 * 2**-40)
    np.testing.assert_allclose(found_mean, [float(number) for number in mean], rtol=0, atol=2**-41)


@pytest.mark.parametrize("scale", [1.0, 1e-7])
def test_the_projection_is_that_of_all_rows_at_once(scale: float) -> None:
    rows = (ROWS - 4) * scale + 4  # with the small scale, all point about the same way
    expected = fit_projection(ArrayRows(rows), 0.9)
    found = sums_of([rows[:1500], rows[1500:]]).projection(0.9)
    assert found.directions.shape == expected.directions.shape
    # an error of 2**-41 a number against the spread of the rows, and between neighbouring variances
    np.testing.assert_allclose(found.directions, expected.directions, rtol=0, atol=1e-9 if scale == 1 else 2e-3)


def test_rows_of_one_direction_have_no_spread() -> None:
    found = sums_of([np.full((50, 3), 0.3), np.full((9, 3), 2.0)]).projection(0.9)
    assert found.variance == 0 and not found.directions.any()


def test_no_rows_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="there are no rows"):
        MomentSums().total()
