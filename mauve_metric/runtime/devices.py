"""Devices that models and scores run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.runtime.packages import import_torch

if TYPE_CHECKING:
    import torch


def resolve_device(device: str | None = None, device_id: int | None = None) -> str:
    """The torch device to run on.

    Args:
        device: "auto" or None (CUDA, else MPS, else CPU), or a torch device name.
        device_id: as in mauve-text: -1 for the CPU, else the number of a CUDA device; used if `device` is None.

    Raises:
        ValueError: the device is not there (never a silent run elsewhere), or both arguments disagree.
    """
    torch = import_torch()
    if device_id is not None:
        if isinstance(device_id, bool) or not isinstance(device_id, (int, np.integer)) or device_id < -1:
            raise ValueError(f"device_id must be -1 (CPU) or the number of a CUDA device, got {device_id!r}")
        wanted = "cpu" if device_id == -1 else f"cuda:{int(device_id)}"
        if device not in (None, "auto", wanted):
            raise ValueError(f"device={device!r} and device_id={device_id} name two devices: give one of them")
        device = wanted
    if device is None or device == "auto":
        if torch.cuda.is_available():
            return f"cuda:{torch.cuda.current_device()}"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        parsed = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"device must be 'auto' or a torch device such as 'cpu' or 'cuda:0', got {device!r}"
        ) from error
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if parsed.type == "cuda" and (parsed.index or 0) >= count:
        raise ValueError(f"device {device!r} does not exist: this machine has {count} CUDA device(s)")
    if parsed.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"device {device!r} does not exist: this machine has no MPS")
    return str(parsed)


def check_device(device: str) -> torch.device:
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
