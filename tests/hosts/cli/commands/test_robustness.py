"""The commands `robustness` and `human_baseline`: what they print in every form, and how they fail."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mauve_metric.hosts.cli.main import main, parse


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rng, paths = np.random.default_rng(0), []
    for name, shift in (("human", 0.0), ("good", 0.1), ("bad", 3.0)):
        np.save(tmp_path / f"{name}.npy", rng.normal(shift, 1, size=(44, 5)))
        paths.append(str(tmp_path / f"{name}.npy"))
    return paths


def test_robustness_prints_json_and_says_how_long_it_takes(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "ranks.json"
    varied = ["--vary", "seed,num-buckets", "--num-runs", "1"]
    assert main(["robustness", *files, *varied, "--json", "--plot", str(figure)]) == 0
    out, err = capsys.readouterr()
    held = json.loads(out)
    assert held["ranking"] == ["good", "bad"] and held["holds"]
    assert "6 more settings of 2 models" in err and "about" in err
    assert "Ranks by closeness under each setting" in figure.read_text(encoding="utf-8")


@pytest.mark.more
def test_forms_of_robustness(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {"--csv": "setting,factor", "--csv-pairs": "a,b,", "--markdown": "**", "--latex": "\\begin"}
    for flag, start in wanted.items():
        assert (
            main(["robustness", *files, "--vary", "row_order", "--no-design", "--quiet", "--num-runs", "1", flag]) == 0
        )
        out, err = capsys.readouterr()
        assert out.startswith(start) and err == ""


@pytest.mark.more
def test_baseline(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["baseline", files[0], "--splits", "2", "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert [item["texts"] for item in held["sizes"]] == [22, 44]
    assert parse(["baseline", files[0], "--featurizer", "ngrams"]).featurize_model_name == "ngrams"


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--vary", "sed"], "--vary: must name at least one of featurize_model_name, pooling, max_text_length,"),
        (["--json", "--latex"], "--latex: not allowed with argument --json"),
        (["--permutations", "99"], "unrecognized arguments: --permutations"),
    ],
)
def test_bad_usage(files: list[str], extra: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["robustness", *files, *extra])
    except SystemExit as stop:
        status = int(stop.code or 0)
    assert status > 0 and message in capsys.readouterr().err
