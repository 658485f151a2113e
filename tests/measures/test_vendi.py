"""The Vendi score against the package of its authors and sets whose number is known."""

from __future__ import annotations

import numpy as np
import pytest
from vendi_score import vendi

from mauve_metric.measures.vendi import vendi_score


@pytest.mark.parametrize(("n", "d"), [(30, 5), (8, 20), (12, 12)])
def test_equal_to_the_package_of_its_authors(n: int, d: int) -> None:
    rows = np.random.default_rng(0).normal(size=(n, d)) * 7
    if n >= d:
        expected = vendi.score_dual(rows)
    else:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        expected = vendi.score_K(unit @ unit.T)
    assert vendi_score(rows) == pytest.approx(float(expected), rel=1e-10)  # eigenvalues good to 1e-15 · 30


def test_directions_are_counted() -> None:
    for copies, directions, d in ((1, 6, 6), (1, 6, 9), (4, 3, 5), (7, 1, 3)):
        rows = np.repeat(np.eye(d)[:directions], copies, axis=0) * np.arange(1, copies * directions + 1)[:, None]
        assert vendi_score(rows) == pytest.approx(directions, rel=1e-12)


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
