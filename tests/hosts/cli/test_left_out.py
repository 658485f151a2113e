"""Notes that a table has no room for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mauve_metric.hosts.cli.main import main


@pytest.mark.parametrize("form", ["--csv", "--latex"])
@pytest.mark.parametrize("command", ["score", "compare"])
def test_tables_leave_their_notes_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, form: str
) -> None:
    for name, seed in (("human", 0), ("model", 1)):
        np.save(tmp_path / f"{name}.npy", np.random.default_rng(seed).normal(size=(60, 4)))
    files = [str(tmp_path / f"{name}.npy") for name in ("human", "model")]
    assert main([command, *files, form, "--num-runs", "1"]) == 0
    out, err = capsys.readouterr()
    assert "UNDECIDED" in err and "60 texts a set are few" in err and "60 texts a set" not in out
    assert main([command, *files, form, "--num-runs", "1", "--quiet"]) == 0
    assert capsys.readouterr() == (out, "")
