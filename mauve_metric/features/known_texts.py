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

from mauve_metric.arrays import Array
from mauve_metric.features.cache import FeatureCache
from mauve_metric.features.feature_files import StoredFeatures
from mauve_metric.features.featurize import KEY_BYTES, token_key
from mauve_metric.features.pretrained import FEATURIZERS, file_sha256, identity_digest
from mauve_metric.options import MauveConfig

_FORM = "1"  # of the notes; another one finds nothing of the old
_POOLING_FILE = "1_Pooling/config.json"


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
        identity = self._identity()
        notes = self._store.get([self._key(text) for text in texts]) if identity is not None else []
        if identity is None or any(not _is_note(note, KEY_BYTES + 5) for note in notes):
            return None
        rows = np.stack([note for note in notes if note is not None])
        keys = [row[:KEY_BYTES].tobytes() for row in rows]
        distinct = [*dict.fromkeys(keys)]
        found = dict(zip(distinct, self._store.get(distinct), strict=True))
        features = [feature for key in keys if (feature := found[key]) is not None]
        if len(features) < len(texts):
            return None
        lengths = np.ascontiguousarray(rows[:, KEY_BYTES : KEY_BYTES + 4]).view("<u4")[:, 0].astype(np.int64)
        return StoredFeatures(np.stack(features), identity, lengths, int(rows[:, -1].sum()))

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
        notes = np.empty((len(texts), KEY_BYTES + 5), dtype=np.uint8)
        for note, row, is_cut in zip(notes, ids, cut, strict=True):
            note[:KEY_BYTES] = np.frombuffer(token_key(digest, row), dtype=np.uint8)
            note[KEY_BYTES:-1] = np.frombuffer(len(row).to_bytes(4, "little"), dtype=np.uint8)
            note[-1] = is_cut
        self._store.put([self._key(text) for text in texts], notes)
        nameless = {key: value for key, value in identity.items() if key != "model"}
        content = np.frombuffer(json.dumps(nameless).encode(), dtype=np.uint8)
        self._store.put([self._key(None)], content[None])

    def _identity(self) -> dict[str, str] | None:
        (note,) = self._store.get([self._key(None)])
        if note is None or not _is_note(note):
            return None
        return {"model": self._model, **json.loads(note.tobytes())}

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


def _is_note(value: Array | None, size: int | None = None) -> bool:
    return value is not None and value.dtype == np.uint8 and (size is None or value.shape == (size,))
