"""Values for a device: valid names, and the message for invalid ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from mauve_metric.options import RunOptions
from mauve_metric.runtime.devices import check_device, resolve_device

WRONG: list[tuple[Any, type[Exception]]] = [
    (1.5, TypeError),
    (True, TypeError),
    (b"cpu", TypeError),
    (["cpu"], TypeError),
    (np.array([1, 2]), TypeError),
    (np.array(["cpu"]), TypeError),
    (pd.Series(["cpu"]), TypeError),
    (torch.zeros(2), TypeError),
    ("", ValueError),
    ("cpu:-1", ValueError),
    ("cpu\0", ValueError),
    ("cuda:99999999999999999999", ValueError),
    (-1, ValueError),
    (2**63, ValueError),
]


@pytest.mark.parametrize(("value", "error"), WRONG, ids=lambda item: repr(item)[:20].split("\n")[0])
@pytest.mark.parametrize("name", ["device", "score_device"])
def test_values_that_name_no_device(name: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"^{name} must be the name of a torch device"):
        RunOptions(**{name: value})


@pytest.mark.parametrize("value", ["gpu", "toaster:3"])
def test_names_of_no_device(value: str) -> None:
    with pytest.raises(ValueError, match=r"^device must be 'auto' or a torch device"):
        resolve_device(value)
    with pytest.raises(ValueError, match=r"^score_device must be a device that torch has here"):
        check_device(value)


@pytest.mark.parametrize("value", ["cpu", torch.device("cpu")])
def test_devices(value: Any) -> None:
    assert resolve_device(RunOptions(device=value).device) == "cpu"
    assert check_device(RunOptions(score_device=value).score_device or "") == torch.device("cpu")


def test_where_work_runs() -> None:
    assert resolve_device("cpu") == resolve_device(None, -1) == resolve_device("cpu", -1) == "cpu"
    assert resolve_device(device_id=RunOptions(device_id=np.int64(-1)).device_id) == "cpu"  # type: ignore[arg-type]
    count = torch.cuda.device_count()
    assert resolve_device("auto").split(":")[0] == ("cuda" if count else "cpu") or torch.backends.mps.is_available()
    with pytest.raises(ValueError, match=rf"device 'cuda:{count}' does not exist: this machine has {count} CUDA"):
        resolve_device(f"cuda:{count}")
    for bad in (True, -2, "0", 1.0):
        with pytest.raises(ValueError, match="device_id must be an integer of at least -1"):
            RunOptions(device_id=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("device", [None, "auto"])
def test_a_device_id_without_cuda_is_the_cpu_with_a_warning(
    device: str | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device(device, 3) == "cpu"
    assert caplog.messages == ["device_id=3: this machine has no CUDA device, the CPU is used"]
    assert resolve_device(device, -1) == "cpu" and len(caplog.messages) == 1


def test_a_device_id_beyond_the_last_gpu_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ValueError, match=r"device 'cuda:2' does not exist: this machine has 2 CUDA"):
        resolve_device(device_id=2)
