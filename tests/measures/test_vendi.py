"""The Vendi score against the package of its authors and sets whose number is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from vendi_score import vendi

from mauve_metric.measures.vendi import vendi_score


@pytest.mark.parametrize(("n", "d"), [(30, 5), (8, 20), (12, 12)])
@pytest.mark.parametrize("order", [0.5, 1, 2, math.inf])
def test_equal_to_the_package_of_its_authors(n: int, d: int, order: float) -> None:
    rows = np.random.default_rng(0).normal(size=(n, d)) * 7
    # its dual form takes the eigenvalues above 0: rounding of 0 counts at orders below 1, so that n < d goes to K
    name = "inf" if math.isinf(order) else order
    if n >= d:
        expected = vendi.score_dual(rows, q=name)
    else:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        expected = vendi.score_K(unit @ unit.T, q=name)
    assert vendi_score(rows, q=order) == pytest.approx(float(expected), rel=1e-10)  # eigenvalues good to 1e-15 · 30


@pytest.mark.parametrize("order", [0, 0.5, 1, 2, 30, math.inf])
def test_directions_are_counted(order: float) -> None:
    for copies, directions, d in ((1, 6, 6), (1, 6, 9), (4, 3, 5), (7, 1, 3)):
        rows = np.repeat(np.eye(d)[:directions], copies, axis=0) * np.arange(1, copies * directions + 1)[:, None]
        assert vendi_score(rows, q=order) == pytest.approx(directions, rel=1e-12)


def test_orders_near_each_other_agree_and_the_score_falls_with_the_order() -> None:
    rows = np.random.default_rng(1).normal(size=(40, 6)) * np.array([5, 3, 1, 1, 1, 1])
    scores = [vendi_score(rows, q=order) for order in (0, 0.5, 1, 2, 50, math.inf)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(6)  # the rank
    assert vendi_score(rows, q=1 + 1e-7) == pytest.approx(vendi_score(rows), rel=1e-6)
    assert vendi_score(rows, q=1e6) == pytest.approx(vendi_score(rows, q=math.inf), rel=1e-4)  # log 6 / 1e6 and less


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_lengths_of_rows_do_not_matter(factor: float) -> None:
    rows = np.random.default_rng(2).normal(size=(10, 4))
    assert vendi_score(rows * factor) == pytest.approx(vendi_score(rows), rel=1e-12)
    single = rows.astype(np.float32)
    assert vendi_score(single) == vendi_score(single.astype(np.float64))


def test_what_has_no_score_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^features must have at least 1 row, got an array of shape \(0, 3\)"):
        vendi_score(np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"^features must have no row of zeros, .* got one as row 1"):
        vendi_score(np.array([[1.0, 0.0], [0.0, 0.0]]))
    for order in (-1.0, math.nan):
        with pytest.raises(ValueError, match=r"^q must be at least 0, got"):
            vendi_score(np.ones((2, 2)), q=order)
