"""Texts as bags of words: the count of each word in each text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.lexical.tokens import Tokens
from mauve_metric.runtime.checks import check_least

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")


def words_and_marks(text: str) -> list[str]:
    """Words as they are written and punctuation marks, as a language model's tokenizer keeps them.

    >>> words_and_marks("Don't panic!")
    ['Don', "'", 't', 'panic', '!']
    """
    return _WORD_OR_MARK.findall(text)


def word_counts(texts: Sequence[Tokens], n: int = 1) -> csr_array:
    """Count each n-gram of 1 to n tokens in each text: sparse, float64, (texts, different n-grams).

    Columns are in the order of first appearance. A token is an id or a word.

    Raises:
        ValueError: n below 1.

    >>> word_counts([["a", "b", "a"], ["b"]]).toarray().tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """
    from scipy.sparse import csr_array

    check_least("n", n)
    columns: dict[Hashable, int] = {}
    values: list[int] = []
    places: list[int] = []
    ends = [0]
    for tokens in texts:
        grams: Counter[Hashable] = Counter(tokens)
        for length in range(2, n + 1):
            grams.update(zip(*(tokens[start:] for start in range(length)), strict=False))
        places += [columns.setdefault(gram, len(columns)) for gram in grams]
        values += grams.values()
        ends.append(len(places))
    return csr_array((np.array(values, dtype=np.float64), places, ends), shape=(len(texts), len(columns)))
