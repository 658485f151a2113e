"""Projection, k-means and nearest neighbours in torch, for features that are on a GPU or shall go there.

The same formulas, starts and rules as on the CPU: unit rows and covariance in float64, distances to centres in float32,
those to neighbours in float64. Only the last bits of a sum differ, so that scores agree to 1e-3 and nearly always in
all digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Array, Integers, Labels
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.tensors import ProjectedRows, as_array, as_tensor, full_precision, index_of, is_tensor, steps

if TYPE_CHECKING:
    import torch

SAFE_SQUARE = 1e-200  # squared lengths between this and its inverse neither under- nor overflow


def unit_tensor(rows: torch.Tensor) -> torch.Tensor:
    """Rows scaled to Euclidean length 1 in float64; rows of zeros stay zeros: (n, d) → (n, d)."""
    import torch

    rows = rows.to(torch.float64)
    squared = (rows * rows).sum(dim=1, keepdim=True)
    extreme = ~((squared > SAFE_SQUARE) & (squared < 1 / SAFE_SQUARE))
    if bool(extreme.any()):  # too small or too large to square: bring the largest entry to 1 first
        largest = rows.abs().amax(dim=1, keepdim=True)
        rows = torch.where(extreme, rows / torch.where(largest > 0, largest, torch.ones_like(largest)), rows)
        squared = torch.where(extreme, (rows * rows).sum(dim=1, keepdim=True).clamp(min=1.0), squared)
    return rows / squared.sqrt()


def principal_axes(rows: torch.Tensor) -> tuple[Array, Array, Array]:
    """Of unit rows: mean (d,), variances times n, largest first, (m,), directions (d, m), with m = min(n, d)."""
    import torch

    n, d = rows.shape
    kind: dict[str, Any] = {"dtype": torch.float64, "device": rows.device}
    total, scatter = torch.zeros(d, **kind), torch.zeros((d, d), **kind)
    shift = unit_tensor(rows[next(steps(n, d))]).mean(dim=0)  # little is lost when all rows point about the same way
    for some in steps(n, d):
        unit = unit_tensor(rows[some]) - shift
        total += unit.sum(dim=0)
        scatter += unit.T @ unit
    values, vectors = torch.linalg.eigh(scatter - torch.outer(total, total) / n)
    rank = min(n, d)
    variances, directions = as_array(values)[::-1][:rank], as_array(vectors)[:, ::-1][:, :rank]
    return as_array(total / n + shift), np.maximum(variances, 0.0), directions


def apply(mean: Array, directions: Array, rows: torch.Tensor) -> torch.Tensor:
    """Unit rows less the mean, on the directions: (n, d) → (n, r), float32, computed in float64."""
    import torch

    centre, axes = as_tensor(mean, rows.device), as_tensor(np.ascontiguousarray(directions), rows.device)
    out = torch.empty((len(rows), axes.shape[1]), dtype=torch.float32, device=rows.device)
    for some in steps(*rows.shape):
        out[some] = ((unit_tensor(rows[some]) - centre) @ axes).to(torch.float32)
    return out


class DeviceCentres:
    """The nearest of moving centres by all distances, as `nearest_centres.AllCentres`, in one run."""

    def __init__(self, rows: torch.Tensor) -> None:
        self.rows = rows
        self._cost = 0.0

    def start(self, centres: Array) -> Labels:
        """The nearest of new centres in one run, (1, k, r) → (1, n)."""
        import torch

        ends = as_tensor(centres[0], self.rows.device)
        squares = (ends * ends).sum(dim=1)
        labels = torch.empty(len(self.rows), dtype=torch.int64, device=self.rows.device)
        cost = torch.zeros((), dtype=torch.float64, device=self.rows.device)
        with full_precision():
            for some in steps(len(self.rows), len(ends)):
                nearest, labels[some] = torch.addmm(squares, self.rows[some], ends.T, alpha=-2.0).min(dim=1)
                cost += nearest.sum(dtype=torch.float64)
        self._cost = float(cost)
        return np.asarray(as_array(labels), dtype=np.int64)[None]

    def follow(self, centres: Array, moved: NDArray[np.bool_]) -> Labels:
        """The same after some moved."""
        return self.start(centres)

    def cost(self, run: int) -> float:
        """The sum of the squared distances to the nearest centres, less the rows' own squares."""
        return self._cost


def inner(rows: torch.Tensor, numbers: Integers) -> Array:
    """Inner products of the rows with these numbers with all rows, (m, n), float32."""
    with full_precision():
        return as_array(rows[index_of(numbers, rows)] @ rows.T)


def bucket_sums(rows: torch.Tensor, labels: Labels, num_buckets: int) -> Array:
    """The sum of each bucket's rows, (k, r), float64; as a product with 0 and 1, which always adds in one order."""
    import torch

    sums = torch.zeros((num_buckets, rows.shape[1]), dtype=torch.float64, device=rows.device)
    numbers = index_of(labels, rows)
    with full_precision():
        for some in steps(len(rows), num_buckets):
            members = torch.zeros((len(numbers[some]), num_buckets), dtype=rows.dtype, device=rows.device)
            members.scatter_(1, numbers[some, None], 1.0)
            sums += members.T @ rows[some]
    return as_array(sums)


def scaled_rows(rows: ProjectedRows, quantizer: str) -> torch.Tensor:
    """Rows less their mean, over their standard deviation in all dimensions together, float32: (n, d) → (n, d).

    Args:
        rows: an array, or a tensor, which is worked on where it is. quantizer: the name that an error gives.

    Raises:
        ValueError: rows that are all equal.
    """
    import torch

    rows = rows if is_tensor(rows) else as_tensor(rows, torch.device("cpu"))
    n, d = rows.shape
    largest = rows.abs().max().double()
    mean, variance = rows.new_zeros(d).double(), largest * 0
    for some in steps(n, d):
        mean += (rows[some].double() / largest).sum(dim=0) / n
    for some in steps(n, d):
        variance += (rows[some].double() / largest).sub_(mean).square_().sum() / (n * d)
    if bool((rows == rows[0]).all()) or not bool(variance > 0):
        raise WrongOption(f"quantizer={quantizer!r} needs features that differ, got {n} equal ones")
    scaled = torch.empty((n, d), dtype=torch.float32, device=rows.device)
    for some in steps(n, d):
        scaled[some] = (rows[some].double() / largest).sub_(mean).div_(variance.sqrt())
    return scaled
