"""Featurizers that turn texts into rows in parts, each of which is kept at once by its texts."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mauve_metric.arrays import Array, Floats
from mauve_metric.features.cache import FeatureCache

# Called with the positions of texts, their rows (b, d), and which of the texts were cut.
Keep = Callable[[Sequence[int], Array, Sequence[bool]], None]
_WAS_CUT = np.ones(1, dtype=np.uint8)


class TextEncoder(ABC):
    """A function from texts to features whose rows follow from `identity` and the text.

    identity: what fixes the rows; entries of the signature. text_prefix: put before each text if the user gives none.
    """

    identity: Mapping[str, str]
    text_prefix: str = ""

    @abstractmethod
    def compute(self, texts: Sequence[str], keep: Keep) -> None:
        """Compute the rows of texts, and call `keep` for each part that is done."""

    def unseen(self, texts: Sequence[str]) -> Floats | None:
        """Return the share of the characters of each text that it does not know, (n,); None if that is not known."""
        return None

    def unseen_formats(self) -> frozenset[str] | None:
        """Return what of the format it leaves out, names of `TRAITS`; None if that is not known."""
        return None

    def __call__(self, texts: Sequence[str]) -> Array:
        """Features of texts, (n, d), float32."""
        return rows_by_text(self, texts)[0]


def rows_by_text(
    encoder: TextEncoder,
    texts: Sequence[str],
    store: FeatureCache | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> tuple[Array, int]:
    """Features of texts in their order, each distinct text computed once, and how many texts were cut.

    Args:
        store: where rows are looked up and kept. progress: called with texts done and texts in all.

    Raises:
        ValueError: the rows have different numbers of columns, stored ones included.
    """
    numbers: dict[str, int] = {}
    inverse = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
    distinct = list(numbers)
    keys = [] if store is None else [_key(encoder.identity, text) for text in distinct]
    marks = [key + b"cut" for key in keys]
    rows = [None] * len(distinct) if store is None else store.get(keys)
    is_cut = np.array([mark is not None for mark in store.get(marks)] if store is not None else [False] * len(distinct))
    missing = [number for number, row in enumerate(rows) if row is None]
    copies = np.bincount(inverse, minlength=len(distinct))
    done = len(texts) - int(copies[missing].sum())

    def keep(positions: Sequence[int], values: Array, were_cut: Sequence[bool]) -> None:
        nonlocal done
        indices = [missing[position] for position in positions]
        for index, value, was_cut in zip(indices, values, were_cut, strict=True):
            rows[index], is_cut[index] = value, was_cut
        if store is not None:
            cut = [marks[index] for index in indices if is_cut[index]]
            store.put(cut, np.tile(_WAS_CUT, (len(cut), 1)))
            store.put([keys[index] for index in indices], values)
        done += int(copies[indices].sum())
        if progress is not None:
            progress(done, len(texts))

    if missing:
        encoder.compute([distinct[number] for number in missing], keep)
    computed = [row for row in rows if row is not None]
    widths = {len(row) for row in computed}
    if len(widths) > 1:
        stored = "; features of this name in the cache are of another model: clear it (mauve-metric cache clear)"
        counts = " and ".join(map(str, sorted(widths)))
        name = encoder.identity["model"]
        raise ValueError(f"{name} must give rows of one length, got {counts} numbers{stored if store else ''}")
    return np.stack(computed)[inverse], int(is_cut[inverse].sum())


def _key(identity: Mapping[str, str], text: str) -> bytes:
    """The cache key of a text."""
    content = f"text {json.dumps(dict(identity), sort_keys=True)}\n{text}"
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=20).digest()
