"""Windows of tokens: which of them are equal, found by hashes and then checked token by token."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Hashes, Integers
from mauve_metric.texts.tokens import Tokens

# Thai, Lao, Burmese, Khmer, kana and Chinese characters: scripts that put no blanks between words
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64


def spaced_tokens(text: str) -> list[str]:
    """What stands between blanks; in scripts without blanks each character.

    >>> spaced_tokens("A cat,  a 黑猫")
    ['A', 'cat,', 'a', '黑', '猫']
    """
    return (text if text.isascii() else UNSPACED.sub(r" \g<0> ", text)).split()


class TokenIds(NamedTuple):
    """Texts as one array of numbers.

    ids: the number of each token, texts one after the other, (N,). starts: where each text begins, and N, (n + 1,).
    """

    ids: Integers
    starts: Integers

    @property
    def lengths(self) -> Integers:
        """Tokens of each text, (n,)."""
        return np.diff(self.starts)

    def of(self, text: int) -> Integers:
        """The numbers of one text's tokens."""
        return self.ids[self.starts[text] : self.starts[text + 1]]


def token_ids(texts: Iterable[Tokens], known: dict[Hashable, int] | None = None) -> TokenIds:
    """Each different token gets a number from 0 on.

    known: the numbers of tokens so far; new ones are added.

    >>> token_ids([["a", "b"], ["a"]]).ids.tolist()
    [0, 1, 0]
    """
    numbers: defaultdict[Hashable, int] = defaultdict(None, {} if known is None else known)
    numbers.default_factory = numbers.__len__
    lists = texts if isinstance(texts, Sequence) else list(texts)
    found = np.array(list(map(numbers.__getitem__, chain.from_iterable(lists))), dtype=np.int64)
    if known is not None:
        known.update(numbers)
    return TokenIds(found, np.cumsum([0, *map(len, lists)], dtype=np.int64))


def window_places(starts: Integers, length: int) -> Integers:
    """Where a window of so many tokens can begin without running over the end of its text.

    >>> window_places(np.array([0, 3, 4, 6]), 2).tolist()
    [0, 1, 4]
    """
    ends = np.repeat(starts[1:], np.diff(starts))
    places = np.arange(len(ends), dtype=np.int64)
    return places[places + length <= ends]


def window_hashes(ids: Integers, length: int, salt: int = 0) -> Hashes:
    """A hash of the window of `length` tokens at each place where one fits, (N - length + 1,).

    Hashes of windows of 1, 2, 4, … tokens come from those of half their length; the last step joins two that overlap.
    """
    if len(ids) < length:
        return np.empty(0, dtype=np.uint64)
    found = _mixed((ids.astype(np.uint64) + np.uint64(salt + 1)) * _ODD)
    size = 1
    while 2 * size <= length:
        found = _mixed(found[: len(found) - size] * _ODD + found[size:])
        size *= 2
    if size < length:
        found = _mixed(found[: len(ids) - length + 1] * _MIX[0] + found[length - size :])
    return found


def _mixed(values: Hashes) -> Hashes:
    values ^= values >> np.uint64(30)
    values *= _MIX[0]
    values ^= values >> np.uint64(27)
    values *= _MIX[1]
    values ^= values >> np.uint64(31)
    return values


def same_windows(
    one: Integers, at_one: Integers, other: Integers, at_other: Integers, length: int
) -> NDArray[np.bool_]:
    """Whether windows of two arrays of numbers are equal, token by token, (m,)."""
    same = np.ones(len(at_one), dtype=bool)
    for step in range(length):
        same &= one[at_one + step] == other[at_other + step]
    return same


class WindowGroups(NamedTuple):
    """Which windows are equal.

    places: where each window begins, (w,). groups: equal for equal windows, 0, 1, …, (w,). first: the number in
    `places` of one window of each group, (g,). hashes: of each group, ascending, (g,). salt: they were made with.
    """

    places: Integers
    groups: Integers
    first: Integers
    hashes: Hashes
    salt: int

    @property
    def repeated(self) -> NDArray[np.bool_]:
        """Whether each window is found at another place too, (w,)."""
        found: NDArray[np.bool_] = np.bincount(self.groups, minlength=len(self.first))[self.groups] > 1
        return found


def window_groups(tokens: TokenIds, length: int) -> WindowGroups:
    """All windows of `length` tokens in groups of equal ones: sorted by hash, neighbours then compared.

    Exact: where two different windows have one hash, other hashes are taken.
    """
    places = window_places(tokens.starts, length)
    for salt in count():
        hashes = window_hashes(tokens.ids, length, salt)[places]
        order = np.argsort(hashes, kind="stable")
        ordered, at = hashes[order], places[order]
        follows = np.nonzero(ordered[1:] == ordered[:-1])[0] + 1
        if same_windows(tokens.ids, at[follows - 1], tokens.ids, at[follows], length).all():
            break
    new = np.ones(len(order), dtype=bool)
    new[follows] = False
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(new) - 1
    return WindowGroups(places, groups, order[new], ordered[new], salt)


def covered(places: Integers, length: int, size: int) -> NDArray[np.bool_]:
    """Which of `size` tokens stand in a window that begins at one of some places, (size,).

    >>> covered(np.array([1, 2]), 2, 5).astype(int).tolist()
    [0, 1, 1, 1, 0]
    """
    change = np.zeros(size + 1, dtype=np.int64)
    np.add.at(change, places, 1)
    np.add.at(change, places + length, -1)
    found: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return found


def counts_by_text(marked: NDArray[np.bool_], starts: Integers) -> Integers:
    """Marked tokens of each text, (n,).

    >>> counts_by_text(np.array([True, True, False]), np.array([0, 1, 1, 3])).tolist()
    [1, 0, 1]
    """
    sums = np.concatenate([[0], np.cumsum(marked, dtype=np.int64)])
    return np.diff(sums[starts])
