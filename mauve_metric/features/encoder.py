"""The language model that featurizes: its name, its device, and the identity of its features."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauve_metric.features.model_hashes import folder_sha256, identity_digest, tokenizer_sha256, weights_sha256
from mauve_metric.features.pretrained import Preset, folder_of, load_pretrained, preset_of
from mauve_metric.runtime.errors import DamagedFile
from mauve_metric.runtime.model_state import bare_model
from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)
LIKELIHOODS = "likelihoods 2"  # of a causal language model in the place of a pooling: in the keys of the cache


@dataclass(frozen=True)
class Encoder:
    """A language model ready to turn token ids into features.

    name: as the user gave it, or in full where it has a preset. identity: what fixes the features (weights, tokenizer,
    pooling, length, dtype, prefix). max_text_length: tokens kept of each text. max_positions: the most that the model
    can take. text_prefix: put before each text.
    """

    name: str
    model: Any  # a PreTrainedModel, but mypy takes the argument of its `to` for the model
    tokenizer: PreTrainedTokenizerBase
    pooling: str
    max_text_length: int
    max_positions: int | None
    device: str
    dtype: str
    identity: Mapping[str, str]
    text_prefix: str = ""

    @cached_property
    def digest(self) -> str:
        """One hash of what fixes the features, for the keys of the cache."""
        return identity_digest(self.identity)


def load_encoder(
    model_name: str | tuple[Any, Any],
    *,
    pooling: str = "auto",
    max_text_length: int | None = None,
    dtype: str = "float32",
    device: str = "cpu",
    compile: bool = False,
    text_prefix: str | None = None,
    causal: bool = False,
) -> Encoder:
    """Load a featurizer, or a causal language model.

    Args:
        model_name: a name in `MODEL_FOLDERS` or `PRESETS`, a name or local folder that transformers' AutoModel
            loads, or a live (model, tokenizer) pair, which is used where it is and as it is. Python code that comes
            with a model is never run.
        pooling: "last" non-padding token, "mean" over tokens, "cls" (first token); "auto": that of the model's preset,
            else what a sentence encoder declares, else "last", as MAUVE's authors do.
        max_text_length: tokens kept of a text; None: that of the preset, else 1024, or what the model takes if less.
            More than the model takes is reduced with a logged warning.
        dtype: number format of the model.
        device: from `resolve_device`.
        compile: run the model through `torch.compile`.
        text_prefix: put before each text; None: that of the preset, else none.
        causal: with its head, by transformers' AutoModelForCausalLM, to give probabilities; without pooling and preset.

    Raises:
        OSError: the model cannot be reached. ImportError: a package is missing. TypeError, ValueError: a bad argument,
            or no causal language model where one is asked for.
    """
    torch = import_torch()
    declared: dict[str, dict[str, Any]] = {}
    preset = Preset()
    check_model("model" if causal else "featurize_model_name", model_name)
    of_use: Callable[[Any], Any] = bare_model if causal else without_head
    if isinstance(model_name, tuple):
        model, tokenizer = of_use(model_name[0]), model_name[1]
        name = str(getattr(model.config, "_name_or_path", "") or type(model).__name__)
        device, dtype = str(model.device), str(model.dtype).removeprefix("torch.")
        revision = weights_sha256(model)
    else:
        name, preset = (model_name, preset) if causal else preset_of(model_name)
        folder = folder_of(name)
        model, tokenizer, declared = load_pretrained(name, folder, getattr(torch, dtype), causal)
        model = of_use(model).to(device)
        revision = getattr(model.config, "_commit_hash", None) or folder_sha256(Path(folder))
    if compile:
        model = torch.compile(model, dynamic=True)
    positions, length = _text_length(name, model, tokenizer, declared, max_text_length, preset.max_text_length)
    pooling = preset.pooling if pooling == "auto" else pooling
    pooling = LIKELIHOODS if causal else _pooling(name, pooling, declared)
    text_prefix = preset.text_prefix if text_prefix is None else text_prefix
    identity = {
        "model": name,
        "revision": revision,
        "tokenizer": tokenizer_sha256(tokenizer)[:12],
        "pooling": pooling,
        "max_text_length": str(length),
        "dtype": dtype,
        **({"text_prefix": text_prefix} if text_prefix else {}),  # so old identities stay valid
    }
    return Encoder(name, model, tokenizer, pooling, length, positions, device, dtype, identity, text_prefix)


def check_model(name: str, model: object) -> None:
    """Refuse a value that names no language model, before anything is loaded.

    Args:
        name: of the argument, for errors.
        model: what the caller gave.

    Raises:
        TypeError: neither a name or folder nor a (model, tokenizer) pair. ValueError: an empty name.
    """
    if isinstance(model, str) and model.strip():
        return
    if isinstance(model, str):
        raise ValueError(f"{name} must be the name or the folder of a model, got {model!r}")
    if not isinstance(model, tuple):
        raise TypeError(f"{name} must be a name, a folder or a (model, tokenizer) pair, got {type(model).__name__}")
    is_model = bool(model) and hasattr(model[0], "state_dict") and hasattr(model[0], "config")
    if len(model) != 2 or not is_model or not callable(model[1]):
        kinds = ", ".join(type(part).__name__ for part in model)
        raise TypeError(f"{name} as a pair must be (transformers model, tokenizer), got ({kinds})")


def without_head(model: Any) -> Any:
    """The part of a model that yields hidden states: without a head, an adapter's shell, or a decoder."""
    if hasattr(model, "get_base_model"):
        model = model.get_base_model()
    model = getattr(model, "base_model", model)
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model


def _text_length(
    name: str,
    model: Any,
    tokenizer: PreTrainedTokenizerBase,
    declared: Mapping[str, Mapping[str, Any]],
    max_text_length: int | None,
    usual_length: int,
) -> tuple[int | None, int]:
    """The most positions that a model takes, None if any number, and how many tokens of a text are kept."""
    limit = getattr(model.config, "max_position_embeddings", None)
    for part, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if part.endswith("position_embeddings") and padding is not None:  # RoBERTa counts from padding_idx + 1
            limit = module.num_embeddings - padding - 1
    positions = int(limit) if isinstance(limit, int) and limit > 0 else None
    limits = {
        "max_position_embeddings": positions,
        "model_max_length": getattr(tokenizer, "model_max_length", None),
        "max_seq_length": declared.get("sentence_bert_config.json", {}).get("max_seq_length"),
    }
    for key, value in limits.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise DamagedFile(f"the model {name!r} is damaged: its {key} must be a number, got {value!r:.60}")
    most_tokens = [int(value) for value in limits.values() if value is not None and 1 <= value < 10**9]
    wanted = usual_length if max_text_length is None else max_text_length
    length = min([wanted, *most_tokens])
    if length < wanted and max_text_length is not None:
        logger.warning("max_text_length=%d is more than %s takes: texts are cut to %d tokens", wanted, name, length)
    return positions, length


_POOLINGS = {
    "mean": "mean",
    "mean_tokens": "mean",
    "cls": "cls",
    "cls_token": "cls",
    "lasttoken": "last",
}
_FLAG = "pooling_mode_"


def _pooling(name: str, pooling: str, declared: Mapping[str, Mapping[str, Any]]) -> str:
    """The pooling to use when the user leaves it to the model.

    Raises:
        ValueError: the model declares one that there is not here, several, or nonsense.
    """
    modes = declared.get("1_Pooling/config.json", {})
    if pooling != "auto" or not modes:
        return "last" if pooling == "auto" else pooling
    flags = {key.removeprefix(_FLAG): value for key, value in modes.items() if key.startswith(_FLAG)}
    for key, value in flags.items():
        if not isinstance(value, bool):
            kind = f"{_FLAG}{key} in 1_Pooling/config.json must be true or false"
            raise DamagedFile(f"the model {name!r} is damaged: {kind}, got {value!r:.60}")
    chosen = [key for key, value in flags.items() if value]
    if not chosen and "mean_tokens" not in flags:
        chosen = [str(modes.get("pooling_mode", "mean"))]
    poolings = [_POOLINGS.get(key) for key in chosen]
    if len(poolings) != 1 or poolings[0] is None:
        raise ValueError(f"the model {name!r} declares the pooling {chosen}: choose pooling='mean', 'cls' or 'last'")
    return poolings[0]
