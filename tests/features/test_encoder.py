"""Encoders: pooling, lengths, and folders that are none."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from encoders import FLOAT32, WORDS, one_at_a_time, relative_difference

from mauve_metric import compute_mauve
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.featurize import featurize_texts
from mauve_metric.options import RunOptions


@pytest.mark.more
def test_automatic_pooling(tiny_gpt2: str, tiny_roberta: str, minilm: str) -> None:
    assert [load_encoder(name).pooling for name in (tiny_gpt2, tiny_roberta, minilm)] == ["last", "last", "mean"]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_lasttoken": True, "include_prompt": True}, "last"),
        ({"pooling_mode": "mean"}, "mean"),
    ],
)
def test_declared_pooling(tiny_roberta: str, tmp_path: Path, declared: dict[str, Any], expected: str) -> None:
    folder = copy_folder(tiny_roberta, tmp_path)
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, **declared})
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 12})
    encoder = load_encoder(str(folder))
    assert (encoder.pooling, encoder.max_text_length) == (expected, 12)
    assert load_encoder(str(folder), pooling="cls").pooling == "cls"


def test_declared_pooling_that_is_not_there(tiny_roberta: str, tmp_path: Path) -> None:
    folder = copy_folder(tiny_roberta, tmp_path)
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(
        ValueError, match=r"declares the pooling .*max_tokens.*: choose pooling='mean', 'cls' or 'last'"
    ):
        load_encoder(str(folder))
    assert load_encoder(str(folder), pooling="mean").pooling == "mean"


def copy_folder(source: str, target: Path) -> Path:
    import shutil

    return Path(shutil.copytree(source, target / "model"))


def write_json(path: Path, content: dict[str, Any]) -> None:
    import json

    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


def test_roberta_counts_positions_from_its_padding_index(tiny_roberta: str) -> None:
    encoder = load_encoder(tiny_roberta)
    # 66 position embeddings, of which padding_idx + 1 = 2 are no token's
    assert encoder.max_positions == encoder.max_text_length == 64
    long = " ".join(WORDS * 5)
    found, stats = featurize_texts(encoder, ["ships", long], RunOptions(batch_size=2))
    assert stats.truncated == 1 and stats.lengths[0].tolist()[1] == 64
    expected = torch.stack([states[-1] for states, _ in one_at_a_time(encoder, ["ships", long])]).numpy()
    assert relative_difference(found, expected) <= FLOAT32


def test_default_length_is_clamped_quietly(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        encoder = load_encoder(tiny_gpt2)
    assert encoder.max_text_length == 96 and encoder.identity["max_text_length"] == "96"
    assert caplog.records == []


def test_length_that_the_user_gave_is_clamped_with_a_warning(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        encoder = load_encoder(tiny_gpt2, max_text_length=500)
    assert encoder.max_text_length == 96
    assert "max_text_length=500" in caplog.text and "96" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        assert load_encoder(tiny_gpt2, max_text_length=5).max_text_length == 5
    assert caplog.records == []


def test_unreachable_model_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    # an unused port of loopback represents a network that is down
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    asked: list[str] = []
    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", lambda name, **options: asked.append(name))
    with pytest.raises(OSError, match="'nobody/no-model' cannot be loaded") as caught:
        load_encoder("nobody/no-model")
    assert asked == []  # transformers would try many times
    for works in ("minilm", "local model folder", "precomputed"):
        assert works in str(caught.value)


@pytest.mark.slow
def test_unreachable_model_that_never_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import socket

    from huggingface_hub import constants

    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and says nothing
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # whatever the environment says
        with pytest.raises(OSError, match="minilm"):
            load_encoder("nobody/no-model")
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):  # one attempt, which has its own limit, and no second
            silent.accept()


def test_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"holds no model: there is no config\.json in it"):
        load_encoder(str(tmp_path))


def test_identity_names_what_fixes_the_features(tiny_gpt2: str, tmp_path: Path) -> None:
    identity = dict(load_encoder(tiny_gpt2).identity)
    assert set(identity) == {"model", "revision", "tokenizer", "pooling", "max_text_length", "dtype"}
    elsewhere = dict(load_encoder(str(copy_folder(tiny_gpt2, tmp_path))).identity)
    assert {key for key in identity if identity[key] != elsewhere[key]} == {"model"}  # only the name, a path


def test_a_typing_error_is_named_where_there_is_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match=r"no packaged featurizer 'ngram' \(did you mean 'ngrams'\?\)"):
        compute_mauve(p_text=["one text", "two"], q_text=["a text", "b"], featurize_model_name="ngram", device="cpu")
    with pytest.raises(ImportError, match="pip install 'mauve_metric\\[texts\\]'"):
        compute_mauve(p_text=["one text", "two"], q_text=["a text", "b"], featurize_model_name="minilm", device="cpu")
