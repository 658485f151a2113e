"""Eigenvectors by LAPACK's routine against scipy's function, which calls the same one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from mauve_metric.runtime import lapack
from mauve_metric.runtime.lapack import largest_eigenvectors
from mauve_metric.runtime.threads import one_blas_thread


@pytest.mark.parametrize(("n", "number"), [(1, 1), (2, 1), (5, 5), (40, 7), (200, 64)])
@pytest.mark.parametrize("rank", [3, 1000])
def test_eigenvectors_are_those_of_scipy(n: int, number: int, rank: int) -> None:
    rows = np.random.default_rng(n).normal(size=(rank, n)).astype(np.float32)
    matrix = rows.T @ rows
    before = matrix.copy()
    with one_blas_thread():
        vectors = largest_eigenvectors(matrix, number)
        expected = eigh(matrix, subset_by_index=[n - number, n - 1])[1]
    assert vectors.dtype == np.float32 and vectors.shape == (n, number)
    assert np.array_equal(vectors, expected) and np.array_equal(matrix, before)


def test_the_upper_half_is_not_read() -> None:
    matrix = np.diag(np.arange(1, 6, dtype=np.float32))
    assert np.array_equal(
        largest_eigenvectors(matrix + np.triu(np.full((5, 5), np.nan, np.float32), 1), 2)[3:], np.eye(2)
    )


def test_what_the_routine_does_not_find_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lapack, "_ssyevr", lambda: lambda *arguments: None)
    with pytest.raises(np.linalg.LinAlgError, match="found 0 of 2 eigenvectors"):
        largest_eigenvectors(np.eye(5, dtype=np.float32), 2)
