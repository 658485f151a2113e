"""Arrays and torch tensors: type checks and conversion."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mauve_metric.arrays import Array, Features, Integers, Labels, Rows
from mauve_metric.runtime.errors import NotFeatures, NotFinite
from mauve_metric.runtime.plain_text import counted
from mauve_metric.runtime.threads import Shared, changed

if TYPE_CHECKING:
    import torch
    from typing_extensions import TypeIs

ProjectedRows: TypeAlias = "Rows | torch.Tensor"  # (n, r): an array, or a tensor where it was computed

BLOCK_NUMBERS = 2**25  # numbers worked on at once, 256 MB in float64


class TensorRows:
    """Rows of a torch tensor (n, d), which stays where it is; read as numpy blocks by what works on the CPU.

    Raises:
        TypeError: not of floats. ValueError: not (n, d) with n and d at least 1, NaN or infinite.
    """

    def __init__(self, name: str, tensor: torch.Tensor) -> None:
        tensor = tensor.detach()
        check_kind(name, tensor.shape, tensor.dtype, tensor.dtype.is_floating_point)
        check_finite(name, as_array(tensor.isfinite().all(dim=1)))
        self.tensor = tensor
        self.shape = (int(tensor.shape[0]), int(tensor.shape[1]))

    def blocks(self) -> Iterator[Array]:
        """All rows in order."""
        return (as_array(self.tensor[some]) for some in steps(*self.shape))

    def take(self, numbers: Integers) -> Array:
        """The rows with these numbers."""
        return as_array(self.tensor[index_of(numbers, self.tensor)])


def check_kind(name: str, shape: Sequence[int], dtype: object, numeric: bool) -> None:
    """Refuse what is not an array of numbers (n, d) with n and d at least 1.

    Raises:
        TypeError: of another type. ValueError: of another shape.
    """
    if not numeric:
        raise NotFeatures.of(name, f"must be an array of numbers, got dtype {dtype}")
    if len(shape) != 2 or 0 in shape:
        raise NotFeatures.of(name, f"must have shape (n, d) with n and d at least 1, got {tuple(shape)}")


def check_finite(name: str, finite: Array | np.bool_) -> None:
    """`ValueError` unless every row is finite, (n,)."""
    if not finite.all():
        bad = counted(int((~finite).sum()), "row holds", "rows hold")
        raise NotFinite.of(name, f"must be finite: {bad} NaN or infinity, the first is row {finite.argmin()}")


def is_tensor(data: object) -> TypeIs[torch.Tensor]:
    """Return whether data is a torch tensor; torch is not imported to find that out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(data, torch.Tensor)


def is_on_device(data: object) -> TypeIs[torch.Tensor]:
    """Return whether data is a tensor on a GPU on which all stages can run."""
    return is_tensor(data) and data.device.type == "cuda"


def device_of(sets: Sequence[Features]) -> torch.device | None:
    """The device of the first set that is a tensor, None if none is."""
    return next((features.tensor.device for features in sets if isinstance(features, TensorRows)), None)


def in_memory(features: Features) -> Array | None:
    """Features as an array of this process, None if they are read in blocks."""
    if isinstance(features, TensorRows):
        return as_array(features.tensor)
    return features if isinstance(features, np.ndarray) else None


def is_read_only_in_blocks(features: Features) -> bool:
    """Return whether features are neither an array nor a tensor."""
    return not isinstance(features, (np.ndarray, TensorRows))


def on_cpu(rows: ProjectedRows) -> Rows:
    """Projected rows, or a few of them, as an array, for what is done on the CPU in any case."""
    return np.asarray(as_array(rows), dtype=np.float32) if is_tensor(rows) else rows


def as_array(tensor: torch.Tensor) -> Array:
    """A tensor as a numpy array; numpy has no bfloat16."""
    tensor = tensor.detach().cpu().resolve_neg()
    array: Array = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return array


def as_tensor(features: Features, device: torch.device) -> torch.Tensor:
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


def stacked(sets: Sequence[Features], device: torch.device) -> torch.Tensor:
    """The features of all sets in one tensor on the device, (Σ n_i, d)."""
    import torch

    tensors = [as_tensor(features, device) for features in sets]
    return torch.cat([rows.to(torch.promote_types(rows.dtype, torch.float32)) for rows in tensors])


def _in_full() -> AbstractContextManager[None]:
    import torch

    return changed(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest")


_full_precision = Shared(_in_full)


def full_precision() -> AbstractContextManager[None]:
    """Context for products in full float32, whatever the program has set: TF32 has three digits."""
    return _full_precision


def index_of(numbers: Labels, like: torch.Tensor) -> torch.Tensor:
    """Numbers as an index of rows, on the device of `like`."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(numbers, dtype=np.int64)).to(like.device)


def steps(rows: int, columns: int) -> Iterator[slice]:
    """Slices of as many rows as are processed at once."""
    size = max(1, BLOCK_NUMBERS // columns)
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))
