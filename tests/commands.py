"""Helpers of the tests of commands: scores without the shell, and the messages of usage and input errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mauve_metric import compute_mauve
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.hosts.cli.main import main


def direct(files: tuple[str, str], **options: Any) -> Any:
    return compute_mauve(p=FeatureSet.load(files[0]), q=FeatureSet.load(files[1]), **options)


def usage_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of a wrong usage: status 2, nothing on stdout."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    out, err = capsys.readouterr()
    assert caught.value.code == 2 and out == ""
    return err


def input_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of an input error: status 1, one line, nothing on stdout."""
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("mauve-metric: error: ")
    assert "Traceback" not in err
    return err


OUTPUTS = {"report": "compare", "plot": "score", "output": "featurize"}


def command_for(flag: str, target: Path, files: tuple[str, str], tmp_path: Path, model: str) -> list[str]:
    """A command that writes to the target."""
    if flag != "output":
        return [OUTPUTS[flag], *files, "--num-buckets", "5", f"--{flag}", str(target)]
    (tmp_path / "texts.txt").write_text("ships\nrain\nlists\n")
    return ["featurize", str(tmp_path / "texts.txt"), "--featurize-model-name", model, "-o", str(target)]


def target_of(flag: str, folder: Path) -> Path:
    return folder / {"report": "r.html", "plot": "curve.svg", "output": "features.npz"}[flag]
