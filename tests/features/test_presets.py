"""Presets set the options that the user left open; a prefix is put before every text and into the signature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from samples import HUMAN, MODEL

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.presets import PRESETS, Preset, preset_of

E5 = Preset("mean", 20, "query: ", "a test")


def entries(signature: str) -> dict[str, str]:
    return dict(entry.split(":", 1) for entry in signature.split("|"))


def test_a_prefix_is_put_before_each_text(tiny_gpt2: str) -> None:
    prefixed = FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2, text_prefix="ships: ")
    by_hand = FeatureSet.from_texts([f"ships: {text}" for text in HUMAN], featurize_model_name=tiny_gpt2)
    np.testing.assert_array_equal(prefixed.features, by_hand.features)
    np.testing.assert_array_equal(prefixed.lengths, by_hand.lengths)
    plain = FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2)
    np.testing.assert_array_equal(prefixed.text_hashes, plain.text_hashes)  # what is said of the texts is of the texts
    np.testing.assert_array_equal(prefixed.opening_hashes, plain.opening_hashes)
    again = FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2, text_prefix="ships: ")  # from the cache
    np.testing.assert_array_equal(prefixed.features, again.features)
    assert again.identity == prefixed.identity and not np.array_equal(prefixed.features, plain.features)


def test_a_prefix_is_signed_where_there_is_one(tiny_gpt2: str) -> None:
    sides = {"p_text": HUMAN, "q_text": MODEL, "featurize_model_name": tiny_gpt2}
    usual = compute_mauve(**sides).signature
    assert compute_mauve(**sides, text_prefix="").signature == usual and "text_prefix" not in usual
    signed = compute_mauve(**sides, text_prefix="query: ").signature
    assert signed.replace("|text_prefix:query: ", "") == usual


def test_functions_and_tokens_know_of_the_prefix(tiny_gpt2: str) -> None:
    def lengths(texts: list[str]) -> list[list[float]]:
        return [[len(text), float(text.startswith("q: "))] for text in texts]

    found = FeatureSet.from_texts(HUMAN, featurize_model_name=lengths, text_prefix="q: ")
    assert found.features[:, 1].all() and found.features[0, 0] == len(HUMAN[0]) + 3
    assert found.identity is not None and found.identity["text_prefix"] == "q: "
    tokens = [[1, 2, 3]] * 4
    with pytest.raises(ValueError, match=r"p_tokens are used as they are, and .* puts 'q: ' before each text"):
        compute_mauve(p_tokens=tokens, q_text=MODEL, featurize_model_name=tiny_gpt2, text_prefix="q: ")


def test_texts_follow_the_prefix_of_a_reference(tiny_gpt2: str) -> None:
    reference = FeatureSet.from_texts(HUMAN, featurize_model_name=tiny_gpt2, text_prefix="q: ")
    assert entries(compute_mauve(p=reference, q_text=MODEL).signature)["text_prefix"] == "q: "
    with pytest.raises(ValueError, match="text_prefix q:  and None"):
        compute_mauve(p=reference, q_text=MODEL, text_prefix="")


def test_a_preset_fills_what_was_left_open(
    tiny_roberta: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(PRESETS, tiny_roberta, E5)
    monkeypatch.chdir(tmp_path)
    name = Path(tiny_roberta).name
    encoder = load_encoder(name)
    assert (encoder.name, encoder.pooling, encoder.max_text_length, encoder.text_prefix) == (
        tiny_roberta, "mean", 20, "query: ",
    )  # fmt: skip
    asked = load_encoder(name, pooling="cls", max_text_length=30, text_prefix="")
    assert (asked.pooling, asked.max_text_length, asked.text_prefix) == ("cls", 30, "")
    assert "text_prefix" not in asked.identity
    monkeypatch.setitem(PRESETS, tiny_roberta, replace_length(5000))
    assert load_encoder(name).max_text_length == 64 and not caplog.records  # no request for more than there is
    signed = entries(compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=name).signature)
    by_hand = entries(
        compute_mauve(
            p_text=HUMAN, q_text=MODEL, featurize_model_name=tiny_roberta, pooling="mean", text_prefix="query: "
        ).signature
    )
    assert signed == by_hand and signed["text_prefix"] == "query: "


def replace_length(length: int) -> Preset:
    return E5._replace(max_text_length=length)


def test_a_short_name_is_that_of_a_preset_unless_there_is_such_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert preset_of("e5-base-v2") == ("intfloat/e5-base-v2", PRESETS["intfloat/e5-base-v2"])
    assert preset_of("intfloat/e5-base-v2") == preset_of("e5-base-v2")
    assert preset_of("minilm") == ("minilm", None)
    (tmp_path / "e5-base-v2").mkdir()
    assert preset_of("e5-base-v2") == ("e5-base-v2", None)


def test_presets_are_possible_settings_and_their_short_names_unique() -> None:
    from mauve_metric.options import MauveConfig

    for name, preset in PRESETS.items():
        options = {"pooling": preset.pooling, "max_text_length": preset.max_text_length}
        config = MauveConfig(featurize_model_name=name, text_prefix=preset.text_prefix, **options)  # type: ignore[arg-type]
        assert replace(config).pooling != "auto" and preset.source
    assert len({name.rsplit("/", 1)[-1] for name in PRESETS}) == len(PRESETS)
