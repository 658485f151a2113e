"""Texts whose features are in the cache are found without their model: neither it nor its tokenizer is loaded.

The cache's own keys are made of token ids, so that it takes a tokenizer to find a feature. This file keeps that key
for each text under each featurizer: a score of texts that were read before needs no torch and no transformers.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import numpy as np

from mauve_metric.features.cache import FeatureCache
from mauve_metric.features.feature_files import StoredFeatures
from mauve_metric.features.featurize import KEY_BYTES, token_key
from mauve_metric.features.pretrained import FEATURIZERS, file_sha256, identity_digest
from mauve_metric.options import MauveConfig

_FORM = "1"  # of the notes; another one finds nothing of the old
_POOLING_FILE = "1_Pooling/config.json"
_NOTE = np.dtype([("key", f"V{KEY_BYTES}"), ("length", "<u4"), ("cut", "u1")])  # of a text; stored as its bytes


class KnownTexts:
    """The notes of one featurizer in a cache.

    Args:
        store: the cache.
        source: a hash of all that decides which key a text has, see `source_of`.
        model: the featurizer's name, which is not written down.
    """

    def __init__(self, store: FeatureCache, source: str, model: str) -> None:
        self._store, self._source, self._model = store, source, model

    def find(self, texts: Sequence[str]) -> StoredFeatures | None:
        """Look up what is known of texts; None unless all of them are known."""
        (known,) = self._store.get([self._key(None)])
        if known is None or known.dtype != np.uint8:
            return None
        stored = [note for note in self._store.get([self._key(text) for text in texts]) if note is not None]
        notes = [note for note in stored if note.dtype == np.uint8 and note.shape == (_NOTE.itemsize,)]
        if len(notes) < len(texts):
            return None
        rows = np.stack(notes).view(_NOTE)[:, 0]
        keys = [key.tobytes() for key in rows["key"]]
        distinct = [*dict.fromkeys(keys)]
        found = dict(zip(distinct, self._store.get(distinct), strict=True))
        features = [feature for key in keys if (feature := found[key]) is not None]
        if len(features) < len(texts):
            return None
        identity = {"model": self._model, **json.loads(known.tobytes())}
        return StoredFeatures(np.stack(features), identity, rows["length"].astype(np.int64), int(rows["cut"].sum()))

    def remember(
        self,
        identity: dict[str, str],
        texts: Sequence[str],
        ids: Sequence[Sequence[int]],
        cut: Sequence[bool],
    ) -> None:
        """Note texts whose features are in the cache.

        Args:
            identity: of the encoder. texts, ids, cut: the texts, their token ids, and whether these were cut.
        """
        digest = identity_digest(identity)
        notes = np.array(
            [(token_key(digest, row), len(row), is_cut) for row, is_cut in zip(ids, cut, strict=True)], _NOTE
        )
        self._store.put([self._key(text) for text in texts], notes.view(np.uint8).reshape(len(texts), -1))
        nameless = {key: value for key, value in identity.items() if key != "model"}
        content = np.frombuffer(json.dumps(nameless).encode(), dtype=np.uint8)
        self._store.put([self._key(None)], content[None])

    def _key(self, text: str | None) -> bytes:
        """The key of a text's note, or of the encoder's identity."""
        hashed = hashlib.blake2b(f"{self._source}{'identity' if text is None else 'text'}".encode(), digest_size=20)
        hashed.update((text or "").encode("utf-8", "surrogatepass"))
        return hashed.digest()


def source_of(config: MauveConfig) -> str | None:
    """A hash of all that decides which features a text has; None for a model that is not in a local folder.

    Raises:
        OSError: the folder cannot be read. ImportError, ValueError: the packaged model is not there, or not itself.
    """
    name = config.featurize_model_name
    if not isinstance(name, str) or (name not in FEATURIZERS and not os.path.isdir(name)):
        return None
    folder = FEATURIZERS[name]() if name in FEATURIZERS else Path(name)
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    files += [path for path in [folder / _POOLING_FILE] if path.is_file()]
    parts = [f"{path.relative_to(folder)}:{file_sha256(path)}" for path in files]
    parts += [f"{package}:{metadata.version(package)}" for package in ("transformers", "tokenizers")]
    parts += [_FORM, name, config.pooling, str(config.max_text_length), config.dtype]
    parts += [f"text_prefix:{config.text_prefix}"] if config.text_prefix else []
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
