"""Texts that were read before need neither model nor tokenizer; anything new does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mauve_metric import compute_mauve, featurize
from mauve_metric.features import feature_set
from mauve_metric.features.cache import FeatureCache, source_of
from mauve_metric.options import MauveConfig

ROOT = Path(__file__).parents[2]
TEXTS = ["The ships count themselves.", "A list is made.", "", "She walks on. " * 40, "A list is made."]


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(feature_set, "load_encoder", refuse)


def read(model: Path | str, texts: list[str] = TEXTS, **options: object) -> feature_set.FeatureSet:
    return featurize(texts, featurize_model_name=str(model), empty_texts="drop", max_text_length=16, **options)  # type: ignore[arg-type]


def test_what_was_read_is_known_without_the_model(tiny_gpt2: str, request: pytest.FixtureRequest) -> None:
    first = read(tiny_gpt2)
    request.getfixturevalue("no_model")
    again = read(tiny_gpt2)
    np.testing.assert_array_equal(again.features, first.features)
    np.testing.assert_array_equal(again.lengths, first.lengths)
    assert (again.identity, again.truncated, again.dropped) == (first.identity, 1, 1)
    np.testing.assert_array_equal(read(tiny_gpt2, TEXTS[:2][::-1]).features, first.features[:2][::-1])


@pytest.mark.parametrize("change", ["text", "length", "pooling", "weights", "tokenizer", "cache off", "device"])
def test_anything_else_takes_the_model(
    tiny_gpt2: str, tmp_path: Path, change: str, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_gpt2, folder)
    read(folder)
    request.getfixturevalue("no_model")
    if change in ("weights", "tokenizer"):
        file = next(folder.glob("*.safetensors" if change == "weights" else "tokenizer_config.json"))
        content = bytearray(file.read_bytes())
        file.write_bytes(bytes(content[:-1]) + (b"\x01" if change == "weights" else b" }"))
    calls = {
        "text": lambda: read(folder, [*TEXTS, "new"]),
        "length": lambda: featurize(["A list is made."], featurize_model_name=str(folder), max_text_length=8),
        "pooling": lambda: read(folder, pooling="mean"),
        "cache off": lambda: read(folder, cache=False),
        "device": lambda: read(folder, device="cpu"),
    }
    with pytest.raises(AssertionError, match="the model was loaded"):
        calls.get(change, lambda: read(folder))()


def test_a_lost_feature_is_computed_again(tiny_gpt2: str) -> None:
    first = read(tiny_gpt2)
    with FeatureCache() as cache:
        cache._run(lambda connection: connection.execute("DELETE FROM features WHERE dtype != '|u1' AND rowid % 2"))
    np.testing.assert_allclose(read(tiny_gpt2).features, first.features, atol=1e-6)


def test_notes_are_no_features(tiny_gpt2: str) -> None:
    read(tiny_gpt2)
    with FeatureCache() as cache:
        assert cache.info()["features"] == 3  # two texts are equal, one is empty


def test_a_model_of_the_hub_has_no_source() -> None:
    assert source_of(MauveConfig(featurize_model_name="gpt2-large")) is None
    assert source_of(MauveConfig(featurize_model_name=lambda texts: np.ones((len(texts), 2)))) is None


def test_a_cut_that_is_said_is_said_again(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        caplog.clear()
        featurize(["A list is made."], featurize_model_name=str(tiny_gpt2), max_text_length=100_000)
        assert "max_text_length=100000 is more than" in caplog.text


@pytest.mark.slow
def test_scores_of_known_texts_import_no_torch(tiny_gpt2: str, tmp_path: Path) -> None:
    texts = [f"text number {number}" for number in range(12)]
    for name, some in (("human", texts), ("model", texts[::-1])):
        (tmp_path / f"{name}.json").write_text(json.dumps(some), encoding="utf-8")
    expected = compute_mauve(p_text=texts, q_text=texts[::-1], featurize_model_name=str(tiny_gpt2)).mauve
    script = (
        "import json, sys\n"
        "from mauve_metric.hosts.cli import main as cli\n"
        f"cli.main(['score', 'human.json', 'model.json', '--featurize-model-name', {str(tiny_gpt2)!r}, '--json'])\n"
        "print([name for name in ('torch', 'transformers', 'scipy.optimize', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    *answer, imported = done.stdout.strip().splitlines()
    assert imported == "[]", done.stderr
    assert json.loads("\n".join(answer))["mauve"] == expected
