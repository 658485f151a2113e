"""MLflow: the recipe in the documents, unchanged."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ROOT

from mauve_metric import compute_mauve
from mauve_metric.hosts.harness.pair_scores import SCORES, scalar_scores

mlflow = pytest.importorskip("mlflow", reason="needs MLflow: see docs/harness.md for its environment")


def test_the_recipe_logs_the_numbers(tmp_path: Path, minilm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    page = (ROOT / "docs/harness.md").read_text(encoding="utf-8")
    match = re.search(r"^### MLflow\n.*?^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert match is not None
    space: dict[str, Any] = {"table": pandas.DataFrame({"human": HUMAN[:24], "written": MODEL})}
    exec(match[1], space)
    expected = compute_mauve(p_text=HUMAN[:24], q_text=MODEL, featurize_model_name=minilm)
    logged = space["found"].metrics
    assert {name: logged["mauve" if name == "mauve" else f"mauve/{name}"] for name in SCORES} == scalar_scores(expected)
    (run,) = mlflow.search_runs(output_format="list")
    assert run.data.tags["mauve_signature"] == expected.signature
