"""Facts recorded while texts are read: hashes, enough to find duplicates and shared prompts, and their marks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mauve_metric.texts.format_numbers import FORMATS, format_numbers
from mauve_metric.texts.marks import MarksSeen

OPENING_WORDS = 8  # texts with so many first words in common were written from one prompt


class TextHashes:
    """Collect hashes of texts and of their first words, and their wrappings, while they are read."""

    def __init__(self) -> None:
        self.texts: list[int] = []
        self.openings: list[int] = []
        self.formats: list[list[float]] = []
        self._seen = MarksSeen()

    def watch(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the same texts, and record each."""
        for text in texts:
            self.texts.append(_hash(text))
            self._seen.note(text)
            self.formats.append(format_numbers(text))
            self.openings.append(_hash(" ".join(text.split(maxsplit=OPENING_WORDS)[:OPENING_WORDS])))
            yield text

    def fields(self) -> dict[str, Any]:
        """The fields of `FeatureSet`: hashes, (n,) each, marks, and numbers of the format, (n, f)."""
        return {
            "text_hashes": np.array(self.texts, dtype=np.uint64),
            "opening_hashes": np.array(self.openings, dtype=np.uint64),
            "marks": self._seen.marks(),
            "format_numbers": np.array(self.formats, dtype=np.float64).reshape(len(self.formats), len(FORMATS)),
        }


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
