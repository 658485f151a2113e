"""The demonstration: its score is that of the packaged features, and no model is loaded for it."""

from __future__ import annotations

import json
from typing import NoReturn

import pytest
from samples import ROOT

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features import feature_set
from mauve_metric.hosts.cli.main import main


def test_the_demonstration_needs_no_model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the demonstration loads no model")

    monkeypatch.setattr(feature_set, "load_encoder", refuse)
    options = {"num_buckets": 10, "seed": 3}
    assert main(["demo", "--json", "--num-buckets", "10", "--seed", "3"]) == 0
    shown = json.loads(capsys.readouterr().out)
    human, model = (FeatureSet.load(ROOT / f"examples/{name}.npz") for name in ("human", "nucleus"))
    expected = compute_mauve(p=human, q=model, **options)  # type: ignore[arg-type]
    assert (shown["mauve"], shown["signature"]) == (expected.mauve, expected.signature)
    assert "format_differs" not in [warning["code"] for warning in shown["warnings"]]  # as `score` of the texts says
