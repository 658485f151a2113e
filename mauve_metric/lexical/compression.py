"""Compression ratio of texts."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

_GZIP = 16 + zlib.MAX_WBITS  # the format, with the largest window


def compression_ratio(texts: Sequence[str]) -> float:
    """Bytes of all texts, joined by spaces, over their bytes after gzip; human prose is near 2.5 (Shaib et al. 2024).

    Above 0: higher is more redundant, so the closer to the human texts' value the better. The window of gzip holds 32
    kB, so it sees repetition within a text and between neighbours, and the value depends on the order and the length of
    the texts; below some hundred texts also on their number. (The tool of the paper compresses twice and rounds.)

    Args:
        texts: strings.

    Raises:
        ValueError: there are no letters in the texts.

    >>> compression_ratio(["to be or not to be"] * 1000) > 100
    True
    """
    compressor, size, packed = zlib.compressobj(9, zlib.DEFLATED, _GZIP), 0, 0
    for index, text in enumerate(texts):
        data = (" " * (index > 0) + text).encode("utf-8", "surrogatepass")
        size += len(data)
        packed += len(compressor.compress(data))
    if not any(texts):
        raise ValueError(f"compression_ratio needs a text that is not empty, got {len(texts)} empty ones")
    return size / (packed + len(compressor.flush()))
