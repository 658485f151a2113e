"""What changes only the speed of a run is checked as well: a wrong value is an error and no other run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import HUMAN, MODEL, ngrams

from mauve_metric import compute_mauve
from mauve_metric.options import RunOptions


@pytest.mark.parametrize("name", ["verbose", "compile", "distributed"])
@pytest.mark.parametrize("value", ["False", "", 0, 1, None, [], np.array([True])])
def test_only_truth_values_switch(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} must be True or False, got "):
        compute_mauve(p_features=np.eye(3), q_features=np.eye(3), **{name: value})


def test_truth_values_of_numpy_are_truth_values() -> None:
    options: dict[str, Any] = {"verbose": np.True_, "compile": np.False_, "cache": np.False_}
    found = RunOptions(**options)
    assert found.verbose is True and found.compile is False and found.cache is False


@pytest.mark.parametrize("name", ["cache", "checkpoint"])
@pytest.mark.parametrize("value", ["", "  ", "a\0b", "\ud800", "~no-such-user-here/x", 3, b"folder", ["folder"], 1.5])
def test_what_names_no_folder_is_refused_at_once(
    name: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TypeError, ValueError), match=f"{name} must be .*a folder, got "):
        compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, **{name: value})
    assert list(tmp_path.iterdir()) == []


def test_a_home_is_found_for_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    compute_mauve(p_features=tmp_path / "rows.npy", q_features=rows, num_buckets=3, checkpoint="~/kept")
    assert (tmp_path / "home" / "kept" / "clustering.npz").is_file() and not (tmp_path / "~").exists()


@pytest.mark.parametrize(
    "value", [np.array([1, 2]), 10**6000, -(10**6000), "x" * 5000], ids=str.split("array huge low long")
)
@pytest.mark.parametrize("name", ["batch_size", "device_id", "text_field"])
def test_messages_stay_short_and_name_the_option(name: str, value: Any) -> None:
    try:
        RunOptions(**{name: value})
    except (TypeError, ValueError) as error:
        assert str(error).startswith(f"{name} must be ") and len(str(error)) < 300
