"""Objects with a method `encode` from a list of texts to rows: SentenceTransformer, model2vec's StaticModel, others."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from mauve_metric.features.model_hashes import update_with_weights

# Where the name of a model is, the first one that is there: model2vec, transformers, others, SentenceTransformer.
_NAMES = ("base_model_name", "name_or_path", "model_name", "name", "model_card_data.base_model")
_ARRAYS = ("embedding", "weights", "token_mapping")  # of a StaticModel
_SETTINGS = ("config", "prompts", "default_prompt_name", "truncate_dim", "max_seq_length", "max_length")


def is_encode_object(model: object) -> bool:
    """Return whether a featurizer is an object with a method `encode`.

    >>> is_encode_object("minilm"), is_encode_object(len)
    (False, False)
    """
    return not isinstance(model, (str, bytes, tuple, type)) and callable(getattr(model, "encode", None))


def encode_name(model: object) -> str:
    """The name of an object with `encode`: that of its weights if it has one, else its class."""
    for path in _NAMES:
        value: Any = model
        for part in path.split("."):
            value = getattr(value, part, None)
        if isinstance(value, str) and value.strip():
            return value
    loaded = getattr(getattr(next(iter(_modules(model)), None), "auto_model", None), "name_or_path", None)
    if isinstance(loaded, str) and loaded.strip():
        return os.path.basename(os.path.normpath(loaded)) if os.path.isdir(loaded) else loaded
    return f"{type(model).__module__}.{type(model).__qualname__}"


def encode_identity(model: object) -> dict[str, str]:
    """The signature entries of an object with `encode`: its name, and its revision.

    The revision is a hash of its weights and settings where they are known (torch's modules, arrays of a StaticModel),
    else what the object says of itself; without either there is none, as of a function.
    """
    revision = _content_sha256(model) or getattr(model, "revision", None)
    return {"model": encode_name(model)} | ({"revision": revision} if isinstance(revision, str) and revision else {})


def _modules(model: object) -> Iterator[object]:
    children = getattr(model, "children", None)
    return iter(children()) if callable(children) and hasattr(model, "state_dict") else iter(())


def _content_sha256(model: object) -> str | None:
    """A hash of the weights and settings of an object; None where no weights are found."""
    arrays = {name: value for name in _ARRAYS if isinstance(value := getattr(model, name, None), np.ndarray)}
    is_module = hasattr(model, "state_dict") and callable(getattr(model, "children", None))
    if "embedding" not in arrays and not is_module:
        return None
    settings = {name: getattr(model, name, None) for name in _SETTINGS}
    described = str(model) if is_module else ""
    digest = hashlib.sha256(json.dumps([settings, described], sort_keys=True, default=str).encode())
    tokenizer = getattr(model, "tokenizer", None)
    backend: Any = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "to_str"):
        digest.update(json.dumps({**json.loads(backend.to_str()), "truncation": None, "padding": None}).encode())
    if is_module:
        update_with_weights(digest, model)
    for name, array in arrays.items():
        digest.update(f"{name}:{array.shape}:{array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
