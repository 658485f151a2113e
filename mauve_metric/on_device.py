"""Projection, k-means and nearest neighbours in torch, for features that are on a GPU or shall go there.

The same formulas, starts and rules as on the CPU: unit rows and covariance in float64, distances to centres in float32,
those to neighbours in float64. Only the last bits of a sum differ, so that scores agree to 1e-3 and nearly always in
all digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]
Labels = NDArray[np.int64]

BLOCK_NUMBERS = 2**25  # numbers worked on at once, 256 MB in float64
SAFE_SQUARE = 1e-200  # squared lengths between this and its inverse neither under- nor overflow


class TensorRows:
    """Rows of a torch tensor (n, d), which stays where it is; read as numpy blocks by what works on the CPU.

    Raises:
        TypeError: not of floats. ValueError: not (n, d) with n and d at least 1, NaN or infinite.
    """

    def __init__(self, name: str, tensor: torch.Tensor) -> None:
        tensor = tensor.detach()
        if not tensor.dtype.is_floating_point:
            raise TypeError(f"{name} must be an array of numbers, got dtype {tensor.dtype}")
        if tensor.ndim != 2 or 0 in tensor.shape:
            raise ValueError(f"{name} must have shape (n, d) with n and d at least 1, got {tuple(tensor.shape)}")
        bad = ~tensor.isfinite().all(dim=1)
        if bool(bad.any()):
            first = int(bad.int().argmax())
            raise ValueError(
                f"{name} must be finite: {int(bad.sum())} rows hold NaN or infinity, the first is row {first}"
            )
        self.tensor = tensor
        self.shape = (int(tensor.shape[0]), int(tensor.shape[1]))

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        return (as_array(self.tensor[some]) for some in _steps(*self.shape))

    def take(self, numbers: NDArray[np.int64]) -> Array:
        """The rows with these numbers."""
        return as_array(self.tensor[_index(numbers, self.tensor)])


def is_on_device(data: Any) -> bool:
    """Whether data is a tensor on a GPU on which all stages can run."""
    return hasattr(data, "detach") and getattr(getattr(data, "device", None), "type", "cpu") == "cuda"


def as_array(tensor: torch.Tensor) -> Array:
    """A tensor as a numpy array; numpy has no bfloat16."""
    tensor = tensor.detach().cpu()
    array: Array = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return array


def check_device(device: Any) -> torch.device:
    """The device as torch knows it.

    Raises:
        ValueError: unknown, not there, or without float64.
    """
    import torch

    try:
        found = torch.device(device)
        torch.zeros(1, dtype=torch.float64, device=found)
    except (RuntimeError, TypeError, AssertionError) as error:
        raise ValueError(
            f"score_device must be a device that torch has here and that knows float64, got {device!r}: {error}"
        ) from error
    return found


def as_tensor(features: Any, device: torch.device) -> torch.Tensor:
    """Features of any form as one tensor on the device; what is read in blocks goes there block by block."""
    import torch

    if isinstance(features, TensorRows):
        return features.tensor.to(device)
    if isinstance(features, np.ndarray):
        kind = features.dtype.newbyteorder("=") if features.dtype.kind == "f" else np.dtype(np.float64)
        return torch.from_numpy(np.array(features, dtype=kind)).to(device)  # a copy: arrays may be read-only
    rows: torch.Tensor | None = None
    done = 0
    for block in features.blocks():
        part = as_tensor(np.asarray(block), device)
        if rows is None:
            rows = torch.empty(tuple(features.shape), dtype=part.dtype, device=device)
        rows[done : done + len(part)] = part
        done += len(part)
    if rows is None:
        raise ValueError("features must hold at least one row, got none")
    return rows


def stacked(sets: Sequence[Any], device: torch.device) -> torch.Tensor:
    """The features of all sets in one tensor on the device, (Σ n_i, d)."""
    import torch

    tensors = [as_tensor(features, device) for features in sets]
    return torch.cat([rows.to(torch.promote_types(rows.dtype, torch.float32)) for rows in tensors])


def unit_rows(rows: torch.Tensor) -> torch.Tensor:
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
    shift = unit_rows(rows[next(_steps(n, d))]).mean(dim=0)  # little is lost when all rows point about the same way
    for some in _steps(n, d):
        unit = unit_rows(rows[some]) - shift
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
    for some in _steps(*rows.shape):
        out[some] = ((unit_rows(rows[some]) - centre) @ axes).to(torch.float32)
    return out


class DeviceCentres:
    """The nearest of moving centres by all distances (see `nearest_centres.NearestCentres`)."""

    def __init__(self, rows: torch.Tensor) -> None:
        self.rows = rows
        self._cost = 0.0

    def start(self, centres: Array) -> Labels:
        """The nearest of new centres, (n,)."""
        import torch

        ends = as_tensor(centres, self.rows.device)
        squares = (ends * ends).sum(dim=1)
        labels = torch.empty(len(self.rows), dtype=torch.int64, device=self.rows.device)
        cost = torch.zeros((), dtype=torch.float64, device=self.rows.device)
        with full_precision():
            for some in _steps(len(self.rows), len(centres)):
                nearest, labels[some] = torch.addmm(squares, self.rows[some], ends.T, alpha=-2.0).min(dim=1)
                cost += nearest.sum(dtype=torch.float64)
        self._cost = float(cost)
        return np.asarray(as_array(labels), dtype=np.int64)

    def follow(self, centres: Array, moved: Labels) -> Labels:
        """The same after some moved."""
        return self.start(centres)

    def cost(self) -> float:
        """The sum of the squared distances to the nearest centres, less the rows' own squares."""
        return self._cost


def bucket_sums(rows: torch.Tensor, labels: Labels, num_buckets: int) -> Array:
    """The sum of each bucket's rows, (k, r), float64; as a product with 0 and 1, which always adds in one order."""
    import torch

    sums = torch.zeros((num_buckets, rows.shape[1]), dtype=torch.float64, device=rows.device)
    numbers = _index(labels, rows)
    with full_precision():
        for some in _steps(len(rows), num_buckets):
            members = torch.zeros((len(numbers[some]), num_buckets), dtype=rows.dtype, device=rows.device)
            members.scatter_(1, numbers[some, None], 1.0)
            sums += members.T @ rows[some]
    return as_array(sums)


def squared_sum(rows: torch.Tensor) -> float:
    """The sum of all squares, in float64."""
    import torch

    return sum(float((rows[some].to(torch.float64) ** 2).sum()) for some in _steps(*rows.shape))


def support_scores(
    p: torch.Tensor, q: torch.Tensor, k: int, tolerance: float = 0.0
) -> tuple[float, float, float, float]:
    """Precision, recall, density, coverage as `nearest_neighbours.support_scores`, a point on the edge inside.

    Distances are sums of squared differences in float64, the same for the same two points wherever they stand.
    """
    import torch

    p_radii, q_radii = _radii(p, k) + tolerance, _radii(q, k) + tolerance
    in_p_balls, in_q_balls = (torch.zeros(len(rows), dtype=torch.int64, device=p.device) for rows in (q, p))
    filled = torch.zeros(len(p), dtype=torch.bool, device=p.device)
    for some in _steps(len(q), len(p)):
        distances = _distances(q[some], p)
        inside = distances <= p_radii
        in_p_balls[some] = inside.sum(dim=1)
        filled |= inside.any(dim=0)
        in_q_balls += (distances <= q_radii[some, None]).sum(dim=0)
    precision, recall = float((in_p_balls > 0).double().mean()), float((in_q_balls > 0).double().mean())
    return precision, recall, float(in_p_balls.sum()) / (k * len(q)), float(filled.double().mean())


def _radii(rows: torch.Tensor, k: int) -> torch.Tensor:
    """The distance of each row to its k-th nearest other row."""
    import torch

    radii = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
    for some in _steps(len(rows), len(rows)):
        distances = _distances(rows[some], rows)
        own = torch.arange(len(distances), device=rows.device)
        distances[own, own + some.start] = torch.inf
        radii[some] = distances.topk(k, dim=1, largest=False).values[:, -1]
    return radii


def _distances(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    import torch

    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(one.to(torch.float64), other.to(torch.float64), compute_mode=mode)


@contextmanager
def full_precision() -> Iterator[None]:
    """Products in float32 as such, whatever the program around has set: TF32 has three digits."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _index(numbers: Labels, like: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.int64)).to(like.device)


def _steps(rows: int, columns: int) -> Iterator[slice]:
    size = max(1, BLOCK_NUMBERS // columns)
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))
