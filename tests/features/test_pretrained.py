"""A model's folder is untrusted: its code is never run, and errors name the damaged part."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from programs import Programs

from mauve_metric.features.encoder import load_encoder
from mauve_metric.runtime.errors import CodedError


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
