"""Input of statistics of tokens: each text a sequence of words or ids, and all of them as numbers in one array."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import overload

import numpy as np

from mauve_metric.arrays import Integers
from mauve_metric.measures.groups import number_items

Tokens = Sequence[Hashable]

# Thai, Lao, Burmese, Khmer, kana and Chinese characters: scripts that put no blanks between words
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


@dataclass(frozen=True, eq=False)
class NumberedTokens(Sequence[Sequence[int]]):
    """Texts whose tokens are numbered: every statistic takes them in place of lists, and need not number them again.

    ids: the tokens of all texts in a row, equal numbers for equal tokens, 0 to `vocabulary` - 1, shape (t,).
    text_of: the text of each token, (t,). lengths: tokens of each text, (n,). vocabulary: different tokens.
    """

    ids: Integers
    text_of: Integers
    lengths: Integers
    vocabulary: int

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> list[int]: ...

    @overload
    def __getitem__(self, index: slice) -> list[list[int]]: ...

    def __getitem__(self, index: int | slice) -> list[int] | list[list[int]]:
        """The numbers of one text's tokens, or of several texts'."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        first, end = np.searchsorted(self.text_of, [number, number + 1])
        numbers: list[int] = self.ids[first:end].tolist()
        return numbers


def number_tokens(texts: Sequence[Tokens]) -> NumberedTokens:
    """All tokens as numbers, in order of appearance; texts that are numbered stay as they are.

    Args:
        texts: tokens of each text: words, ids or anything else that can be compared and hashed.

    Raises:
        TypeError: a text is a string, whose tokens would be its letters.

    >>> number_tokens([["to", "be"], [], ["be"]]).ids
    array([0, 1, 1])
    """
    if isinstance(texts, NumberedTokens):
        return texts
    for index, tokens in enumerate(texts):
        if isinstance(tokens, str | bytes):
            raise TypeError(f"texts must be lists of tokens, got {tokens[:40]!r} as number {index}: split it first")
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    ids = number_items(list(chain.from_iterable(texts)))
    return NumberedTokens(ids, np.repeat(np.arange(len(texts)), lengths), lengths, int(ids.max(initial=-1)) + 1)
