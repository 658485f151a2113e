"""A score again from its signature: the same options, and an exit status that says whether the score is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import direct, input_error

from mauve_metric.hosts.cli.main import main

OPTIONS: dict[str, Any] = {
    **{"num_buckets": 7, "seed": 3, "num_runs": 2, "mauve_scaling_factor": 4.5},
    **{"knn": False, "row_order": "pq"},
}
FLAGS = "--num-buckets 7 --seed 3 --num-runs 2 --mauve-scaling-factor 4.5 --knn false --row-order pq".split()


def test_the_options_are_those_of_the_signature(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    signature = direct(files, **OPTIONS).signature
    assert main(["score", *files, *FLAGS, "--signature"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"signature: {signature}"
    assert main(["reproduce", f"signature: {signature}", *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["differences"] == {} and found["result"] == json.loads(json.dumps(direct(files, **OPTIONS).to_dict()))


def test_what_differs_is_named(files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = direct(files, **OPTIONS).to_dict()
    stored = tmp_path / "score.json"

    def again(human: str, model: str) -> tuple[int, list[str]]:
        stored.write_text(json.dumps(before))
        status = main(["reproduce", str(stored), human, model])
        return status, [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:]]

    assert again(*files) == (0, [])
    before["signature"] = before["signature"].replace("|mauve_metric:", "|mauve_metric:before-")
    assert again(*files) == (0, ["mauve_metric"])
    status, names = again(*files[::-1])
    assert status == 3 and {"p_digest", "q_digest", "mauve_metric"} <= {*names}
    before["mauve"] += 0.01
    assert again(*files) == (3, ["mauve_metric", "mauve"])


@pytest.mark.parametrize(("text", "content"), [("a:b", ""), ("score.json", "[]"), ("score.json", '{"signature": 3}')])
def test_no_signature(
    text: str, content: str, files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "score.json").write_text(content)
    assert "SIGNATURE must be" in input_error(
        ["reproduce", text.replace("score", str(tmp_path / "score")), *files], capsys
    )
