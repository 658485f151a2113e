"""The device that work runs on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mauve_metric.runtime.devices import resolve_device


def test_devices() -> None:
    assert resolve_device("cpu") == resolve_device(None, -1) == resolve_device("cpu", -1) == "cpu"
    assert resolve_device(device_id=np.int64(-1)) == "cpu"  # type: ignore[arg-type]
    count = torch.cuda.device_count()
    assert resolve_device("auto").split(":")[0] == ("cuda" if count else "cpu") or torch.backends.mps.is_available()
    with pytest.raises(ValueError, match=rf"device 'cuda:{count}' does not exist: this machine has {count} CUDA"):
        resolve_device(device_id=count)
    for bad in (True, -2, "0", 1.0):
        with pytest.raises(ValueError, match="device_id must be -1"):
            resolve_device(device_id=bad)  # type: ignore[arg-type]
