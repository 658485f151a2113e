"""A model's folder is untrusted: its code is never run, and errors name the damaged part."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Programs
from samples import HUMAN, MODEL

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.pretrained import PRESETS, Preset, preset_of
from mauve_metric.runtime.errors import CodedError

E5 = Preset("mean", 20, "query: ")


def copy_folder(source: str, target: Path) -> Path:
    return Path(shutil.copytree(source, target / "model"))


MARKING = """
import pathlib
from transformers import GPT2Config, GPT2Model
pathlib.Path({mark!r}).touch()
class Settings(GPT2Config): model_type = "never_heard_of"
class Network(GPT2Model): config_class = Settings
"""


@pytest.mark.parametrize("kind", ["never_heard_of", "gpt2"])
def test_the_code_of_a_model_is_never_run(tiny_gpt2: str, tmp_path: Path, programs: Programs, kind: str) -> None:
    folder, mark = copy_folder(tiny_gpt2, tmp_path), tmp_path / "mark"
    (folder / "own.py").write_text(MARKING.format(mark=str(mark)), encoding="utf-8")
    own = {"AutoConfig": "own.Settings", "AutoModel": "own.Network", "AutoTokenizer": ["own.Network", None]}
    change_json(folder / "config.json", model_type=kind, auto_map=own)
    change_json(folder / "tokenizer_config.json", auto_map=own)
    load = f"from mauve_metric.features.encoder import load_encoder; load_encoder({str(folder)!r})"
    done = programs.run(load, stdin="y\n" * 99)
    assert not mark.exists()
    assert "[y/N]" not in done.stdout + done.stderr  # without a request
    if kind != "gpt2":
        wanted = f"the model {str(folder)!r} cannot be loaded by transformers: it brings its own Python code"
        assert wanted in done.stderr.splitlines()[-1]


def change_json(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | entries), encoding="utf-8")


BROKEN: dict[str, tuple[str, bytes | None]] = {
    "truncated weights": ("model.safetensors", None),
    "empty weights": ("model.safetensors", b""),
    "weights that are text": ("model.safetensors", b"hello, this is no model at all"),
    "a list as config": ("config.json", b"[1, 2]"),
    "a number as config": ("config.json", b"3"),
    "a config that is no JSON": ("config.json", b"{oops"),
    "a nonsense value in the config": ("config.json", b'{"model_type": "gpt2", "n_embd": "wide"}'),
    "a list as model type": ("config.json", b'{"model_type": [1]}'),
    "a list as tokenizer settings": ("tokenizer_config.json", b"[1]"),
    "a text as tokenizer settings": ("tokenizer_config.json", b'"text"'),
    "a text as length": ("tokenizer_config.json", b'{"model_max_length": "long"}'),
    "a list as tokenizer": ("tokenizer.json", b"[]"),
    "an empty tokenizer": ("tokenizer.json", b""),
    "a list as pooling": ("1_Pooling/config.json", b"[1]"),
    "a number as pooling": ("1_Pooling/config.json", b"3"),
    "a pooling that is no JSON": ("1_Pooling/config.json", b"\xff\xfe{"),
    "deep pooling": ("1_Pooling/config.json", b"[" * 100_000),
    "a number as flag": ("1_Pooling/config.json", b'{"pooling_mode_cls_token": 1}'),
    "a list as mode": ("1_Pooling/config.json", b'{"pooling_mode": [1]}'),
    "no flag": ("1_Pooling/config.json", b'{"pooling_mode_mean_tokens": false}'),
    "a text as longest text": ("sentence_bert_config.json", b'{"max_seq_length": "long"}'),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_damaged_model_is_named_in_one_sentence(tiny_gpt2: str, tmp_path: Path, case: str) -> None:
    folder, (name, content) = copy_folder(tiny_gpt2, tmp_path), BROKEN[case]
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes((folder / name).read_bytes()[:2000] if content is None else content)
    with pytest.raises((OSError, ValueError)) as refused:
        load_encoder(str(folder))
    assert type(refused.value) in (OSError, ValueError) or isinstance(refused.value, CodedError)
    assert f"the model {str(folder)!r}" in str(refused.value) and "\n" not in str(refused.value)


def without_weights(folder: str, target: Path, *names: str) -> Path:
    """A copy of a model's folder in which these weights are missing."""
    shutil.copytree(folder, target)
    from safetensors.torch import load_file, save_file

    weights = load_file(target / "model.safetensors")
    for name in names:
        weights.pop(name)
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    return target


def test_a_model_that_lacks_weights_is_refused(tiny_gpt2: str, tiny_roberta: str, tmp_path: Path) -> None:
    folder = without_weights(tiny_gpt2, tmp_path / "gpt2", "h.1.mlp.c_fc.weight", "ln_f.bias")
    with pytest.raises(ValueError, match=r"must come with all weights, .*: h\.1\.mlp\.c_fc\.weight, ln_f\.bias"):
        load_encoder(str(folder))
    from safetensors.torch import load_file

    assert not any("pooler" in name for name in load_file(Path(tiny_roberta) / "model.safetensors"))
    assert load_encoder(tiny_roberta).model.pooler is not None  # drawn at random, and no feature depends on it


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
        assert replace(config).pooling != "auto"
    assert len({name.rsplit("/", 1)[-1] for name in PRESETS}) == len(PRESETS)
