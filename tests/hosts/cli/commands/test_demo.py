"""The demonstration: its score is that of the packaged features, and no model is loaded for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from samples import EXAMPLES, write_jsonl

from mauve_metric import FeatureSet, compute_mauve, read_texts
from mauve_metric.features import feature_set
from mauve_metric.hosts.cli.commands import demo
from mauve_metric.hosts.cli.main import main
from mauve_metric.options import FEATURIZER_SETS


def test_the_demonstration_needs_no_model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the demonstration loads no model")

    monkeypatch.setattr(feature_set, "load_encoder", refuse)
    options = {"num_buckets": 10, "seed": 3}
    assert main(["demo", "--json", "--num-buckets", "10", "--seed", "3", "--featurizer", "minilm"]) == 0
    shown = json.loads(capsys.readouterr().out)
    human, model = (FeatureSet.load(EXAMPLES / f"{name}.npz") for name in ("human", "nucleus"))
    expected = compute_mauve(p=human, q=model, **options)  # type: ignore[arg-type]
    assert (shown["mauve"], shown["signature"]) == (expected.mauve, expected.signature)
    assert "format_differs" not in [warning["code"] for warning in shown["warnings"]]  # as `score` of the texts says


@pytest.mark.slow
def test_the_demonstration_is_by_the_pair_that_the_pages_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("human", "nucleus"):  # the first of its texts
        write_jsonl(tmp_path / f"{name}.jsonl", read_texts(EXAMPLES / f"{name}.jsonl")[:80])
        FeatureSet.load(EXAMPLES / f"{name}.npz").of_rows(np.arange(80)).save(tmp_path / f"{name}.npz")
    monkeypatch.setattr(demo, "examples_folder", lambda: tmp_path)
    assert main(["demo", "--json", "--num-buckets", "10"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [*shown["by_featurizer"]] == [*FEATURIZER_SETS["standard"]]
    texts = [read_texts(tmp_path / f"{name}.jsonl") for name in ("human", "nucleus")]
    ngrams = compute_mauve(p_text=texts[0], q_text=texts[1], featurize_model_name="ngrams", num_buckets=10)
    assert ngrams.closeness is not None and shown["by_featurizer"]["ngrams"]["closeness"] == ngrams.closeness
    # one classifier of both featurizers finds more than that of either
    assert shown["closeness"] <= ngrams.closeness and shown["together"]["auc"] > 0.9
