"""Hashes of texts: enough to find duplicates and shared prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import TypedDict

import numpy as np

from mauve_metric.arrays import Hashes

OPENING_WORDS = 8  # texts with so many first words in common were written from one prompt


class HashArrays(TypedDict):
    """The two fields of `Reference`, (n,) each."""

    text_hashes: Hashes
    opening_hashes: Hashes


class TextHashes:
    """Hashes of texts as they pass by, and of their first words: enough to find duplicates and shared prompts."""

    def __init__(self) -> None:
        self.texts: list[int] = []
        self.openings: list[int] = []

    def watch(self, texts: Iterable[str]) -> Iterator[str]:
        """The same texts, each noted."""
        for text in texts:
            self.texts.append(_hash(text))
            self.openings.append(_hash(" ".join(text.split(maxsplit=OPENING_WORDS)[:OPENING_WORDS])))
            yield text

    def arrays(self) -> HashArrays:
        """The two fields of `Reference`."""
        return {
            "text_hashes": np.array(self.texts, dtype=np.uint64),
            "opening_hashes": np.array(self.openings, dtype=np.uint64),
        }


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
