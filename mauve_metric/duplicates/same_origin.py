"""Groups of dependent texts, to be kept in one fold: copies, and answers to one prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from mauve_metric.arrays import Integers
from mauve_metric.lexical.tokens import Tokens
from mauve_metric.texts.fingerprints import OPENING_WORDS

COMMON_OPENING = 0.1  # of all texts: an opening that more share is a manner of writing, not a prompt


def same_origin(*columns: Sequence[Hashable | None]) -> Integers:
    """Groups of items that share an entry of any column, directly or through others, numbered from 0, (n,).

    Args:
        columns: one entry an item, (n,) each; None is shared with no item.

    >>> same_origin(["a", "b", "c", "d"], [1, 2, 1, None]).tolist()
    [0, 1, 0, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links: list[tuple[int, int]] = []
    for column in columns:
        first: dict[Hashable, int] = {}
        links += [(first.setdefault(entry, item), item) for item, entry in enumerate(column) if entry is not None]
    one, other = np.array(links, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), (one, other)), shape=(len(columns[0]), len(columns[0])))
    groups: Integers = connected_components(graph, directed=False)[1].astype(np.int64)
    return groups


def texts_of_one_origin(texts: Sequence[str | Tokens], prompts: Sequence[Hashable] | None = None) -> Integers:
    """Groups of texts that are copies (up to case and white space) or have one prompt, numbered from 0, (n,).

    Args:
        texts: strings or tokens, of all sets one after the other.
        prompts: of each text; None: texts with the same first eight words have one, unless more than a tenth of all
            texts begin so, which is a manner of writing.

    Raises:
        ValueError: there are not as many prompts as texts.

    >>> texts_of_one_origin(["One two.", "one  TWO.", "three"]).tolist()
    [0, 0, 1]
    """
    if prompts is not None and len(prompts) != len(texts):
        raise ValueError(f"prompts must have one entry a text, got {len(prompts)} for {len(texts)} texts")
    folded = [tuple(text.casefold().split()) if isinstance(text, str) else tuple(text) for text in texts]
    return same_origin(folded, _openings(folded) if prompts is None else prompts)


def _openings(folded: Sequence[Tokens]) -> list[Hashable | None]:
    """The first words of each text, None if they are too common."""
    openings = [tuple(words[:OPENING_WORDS]) for words in folded]
    times = Counter(openings)
    return [opening if times[opening] <= COMMON_OPENING * len(folded) else None for opening in openings]
