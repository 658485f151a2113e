"""Eigenvectors by scipy's LAPACK while other threads run: scipy's own functions hold Python's lock meanwhile."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from mauve_metric.arrays import Array


@cache
def _ssyevr() -> Callable[..., None]:
    """The routine that `scipy.linalg.eigh` calls for some eigenvectors, by the pointer that scipy has for Cython."""
    from scipy.linalg import cython_lapack

    capsule, api = cython_lapack.__pyx_capi__["ssyevr"], ctypes.pythonapi
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    routine: Callable[..., None] = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 21)(
        pointer_of(capsule, name_of(capsule))
    )
    return routine


def largest_eigenvectors(matrix: Array, number: int) -> Array:
    """The eigenvectors (n, number) of a symmetric float32 matrix (n, n) with the largest eigenvalues, the largest last.

    They are those of `scipy.linalg.eigh` to the bit.

    Raises:
        numpy.linalg.LinAlgError: the routine did not find them, as where a number is not finite.

    >>> largest_eigenvectors(np.diag(np.array([3, 1, 2], dtype=np.float32)), 2).round(4).tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    n = len(matrix)
    copied, vectors = np.array(matrix, dtype=np.float32, order="F"), np.empty((n, number), dtype=np.float32, order="F")
    values, tolerance, of_vectors = np.empty(n, np.float32), np.zeros(1, np.float32), np.empty(2 * n, np.int32)
    size, first, count, failed = (np.array(value, dtype=np.int32) for value in (n, n - number + 1, 0, 0))
    lengths = np.array([-1, -1], dtype=np.int32)  # at first the routine only says how long its work arrays are to be
    work, int_work = np.zeros(1, np.float32), np.zeros(1, np.int32)
    for _ in range(2):
        arrays = copied, size, tolerance, tolerance, first, size, tolerance, count, values, vectors, size, of_vectors
        more = work, lengths[:1], int_work, lengths[1:], failed
        _ssyevr()(b"V", b"I", b"L", size.ctypes.data, *(array.ctypes.data for array in (*arrays, *more)))
        if lengths[0] < 0:
            lengths[:] = work[0], int_work[0]
            work, int_work = np.empty(lengths[0], np.float32), np.empty(lengths[1], np.int32)
    if failed or count != number:
        raise np.linalg.LinAlgError(f"LAPACK's ssyevr found {count} of {number} eigenvectors (info {failed})")
    return vectors
