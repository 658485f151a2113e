"""Devices that models and scores run on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from mauve_metric.runtime.checks import wrong
from mauve_metric.runtime.errors import WrongOption, short_message
from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)


def resolve_device(device: str | None = None, device_id: int | None = None) -> str:
    """The torch device to run on.

    Args:
        device: "auto" or None (CUDA, else MPS, else CPU), or a torch device name.
        device_id: as in mauve-text: -1 for the CPU, else the number of a CUDA device; used if `device` is None. On a
            machine without CUDA any number is the CPU, as there, with a warning.

    Raises:
        TypeError: a device of another type.
        ValueError: the device is not there, or both arguments disagree.
    """
    torch = import_torch()
    if device_id is not None and device_id >= 0 and device in (None, "auto") and not torch.cuda.is_available():
        logger.warning("device_id=%d: this machine has no CUDA device, the CPU is used", device_id)
        return "cpu"
    if device_id is not None:
        wanted = "cpu" if device_id == -1 else f"cuda:{device_id}"
        if device not in (None, "auto", wanted):
            raise WrongOption(f"device={device!r} and device_id={device_id} name two devices: give one of them")
        device = wanted
    if device is None or device == "auto":
        if torch.cuda.is_available():
            return f"cuda:{torch.cuda.current_device()}"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        parsed = torch.device(device)
    except (RuntimeError, TypeError, ValueError) as error:
        raise wrong("device", "'auto' or a torch device such as 'cpu' or 'cuda:0'", device) from error
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if parsed.type == "cuda" and (parsed.index or 0) >= count:
        raise ValueError(f"device {device!r} does not exist: this machine has {count} CUDA device(s)")
    if parsed.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"device {device!r} does not exist: this machine has no MPS")
    return str(parsed)


def check_device(device: str) -> torch.device:
    """Return the torch device of this name.

    Raises:
        TypeError: a value of another type. ValueError: unknown, not there, or without float64.
    """
    import_torch()  # with its message where it is missing
    import torch

    try:
        chosen = torch.device(device)
        torch.zeros(1, dtype=torch.float64, device=chosen)
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        knows = "must be a device that torch has here and that knows float64"
        raise WrongOption.of("score_device", f"{knows}, got {device!r}: {short_message(error)}") from error
    return chosen
