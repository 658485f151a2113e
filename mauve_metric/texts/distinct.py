"""How many different n-grams texts have."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mauve_metric.texts.repetition import Tokens


def distinct_n(texts: Sequence[Tokens], n: int = 4) -> float:
    """Distinct n-grams over all n-grams of the texts pooled; in [0, 1], higher is more diverse.

    Texts shorter than n add none; without any n-gram the share is 0. It falls with the number of texts, so only sets
    of one size compare (Pillutla et al. 2021, with n = 4).

    Args:
        texts: tokens of each text.
        n: tokens of an n-gram, at least 1.

    Raises:
        ValueError: n below 1.

    >>> distinct_n([["a", "b", "a", "b"]], n=2)
    0.6666666666666666
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    seen: set[tuple[Hashable, ...]] = set()
    total = 0
    for tokens in texts:
        grams = list(zip(*(tokens[start:] for start in range(n)), strict=False))
        total += len(grams)
        seen.update(grams)
    return len(seen) / total if total else 0.0


def mean_length(texts: Sequence[Tokens]) -> float:
    """Mean number of tokens; 0 without texts.

    >>> mean_length([["a", "b"], ["a"]])
    1.5
    """
    return sum(map(len, texts)) / len(texts) if texts else 0.0
