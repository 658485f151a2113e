"""Hashes of models and tokenizers, which keep the cached features of different ones apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mauve_metric.runtime.optional_imports import import_torch


def file_sha256(path: Path) -> str:
    """A hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_sha256(folder: Path) -> str:
    """A hash of a local model's weights and configuration, independent of where it lies."""
    return hash_of_files(
        path for path in folder.iterdir() if path.suffix in (".safetensors", ".bin") or path.name == "config.json"
    )


def hash_of_files(files: Iterable[Path]) -> str:
    """A hash of the names and the bytes of files of one folder."""
    content = "".join(f"{path.name}:{file_sha256(path)}\n" for path in sorted(files))
    return hashlib.sha256(content.encode()).hexdigest()


def weights_sha256(model: Any) -> str:
    """A hash of the weights and settings of a live model."""
    passing = ("_name_or_path", "transformers_version", "dtype", "torch_dtype")
    settings = {key: value for key, value in model.config.to_dict().items() if key not in passing}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    update_with_weights(digest, model)
    return digest.hexdigest()


def update_with_weights(digest: Any, model: Any) -> None:
    """Update a hash with the weights of a module of torch."""
    torch = import_torch()
    for name, tensor in sorted(model.state_dict().items()):
        raw = tensor.detach().to("cpu").contiguous().flatten().view(torch.uint8)
        digest.update(f"{name}:{tuple(tensor.shape)}:{tensor.dtype}".encode())
        digest.update(memoryview(raw.numpy()))


def tokenizer_sha256(tokenizer: Any) -> str:
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


_OF_TOKENS = ("model", "max_text_length", "match_lengths", "text_prefix")  # the tokens, or nothing, follow from these


def identity_digest(identity: Mapping[str, str]) -> str:
    """Hash what determines an encoder's features of given tokens: all entries but name, length and prefix."""
    fixed = {key: value for key, value in identity.items() if key not in _OF_TOKENS}
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()
