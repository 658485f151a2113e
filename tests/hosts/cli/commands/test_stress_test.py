"""The command `stress_test`: what it prints and writes, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mauve_metric.hosts.cli.main import main

TEXTS = [f"On day {n} the ship sailed with {7 * n % 90} sheep. It rained for {n % 12} hours there." for n in range(60)]


@pytest.fixture
def human(tmp_path: Path) -> str:
    path = tmp_path / "human.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    return str(path)


@pytest.mark.more
def test_json_figure_and_a_model_that_is_not_there(
    human: str, tmp_path: Path, tiny_gpt2: str, capsys: pytest.CaptureFixture[str]
) -> None:
    figure, absent = tmp_path / "map.json", str(tmp_path / "absent")
    flags = ["--featurize-model-name", tiny_gpt2, "--featurize-model-name", absent, "--strengths", "1", "--json"]
    flags += ["--perturbations", "lower_case,truncated", "--plot", str(figure), "--num-runs", "1", "--no-cache"]
    assert main(["stress-test", human, *flags]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert list(found["featurizers"]) == [tiny_gpt2] and list(found["failed"]) == [absent]
    assert found["featurizers"][tiny_gpt2]["truncated"]["strengths"] == [1.0]
    assert "2 sets of 30 texts, about" in err and f"{absent} is left out" in err
    assert json.loads(figure.read_text(encoding="utf-8"))["hconcat"]


def test_wrong_usage_is_reported(human: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["stress-test", human, "--json", "--csv"])
    assert "--csv: not allowed with argument --json" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["stress-test", human, "--strengths", "x"])
    assert "expected numbers joined by commas, got 'x'" in capsys.readouterr().err
    assert main(["stress-test", human, "--perturbations", "tipos"]) == 1
    assert "did you mean 'typos'" in capsys.readouterr().err
