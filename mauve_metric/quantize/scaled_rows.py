"""Features in a unit of their own, for quantizers that are trained on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.tensors import ProjectedRows, as_tensor, is_tensor, steps

if TYPE_CHECKING:
    import torch


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
