"""Two arguments that contradict each other: the error names both, as they were typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mauve_metric.hosts.cli.main import main

PAIRS = [
    (["--aligned"], ["--independent"]),
    (["--prompt-field", "prompt"], ["--independent"]),
    (["--json"], ["--csv"]),
    (["--latex"], ["--markdown"]),
    (["--protocol", "mauve-paper"], ["--featurizer", "ngrams"]),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0][0]} {pair[1][0]}")
@pytest.mark.parametrize("turned", [False, True])
def test_the_error_names_both(
    pair: tuple[list[str], list[str]], turned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("human", "model"):
        lines = [json.dumps({"text": f"the ship {number}", "prompt": str(number % 9)}) for number in range(30)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    flags = [*pair[1], *pair[0]] if turned else [*pair[0], *pair[1]]
    default = [] if "--featurizer" in flags else ["--featurizer", "ngrams"]
    try:
        status = main(["score", str(tmp_path / "human.jsonl"), str(tmp_path / "model.jsonl"), *default, *flags])
    except SystemExit as ended:
        status = int(ended.code or 0)
    said = capsys.readouterr().err
    assert status in (1, 2) and "error" in said
    assert pair[0][0].removeprefix("--") in said and pair[1][0] in said and "--no-" not in said
