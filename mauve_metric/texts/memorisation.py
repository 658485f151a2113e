"""How much of generated text stands word for word in a corpus of any size."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.texts.corpus import CorpusText
from mauve_metric.texts.repeated_substrings import LENGTH, Span, spans_of
from mauve_metric.texts.tokens import Tokens
from mauve_metric.texts.windows import (
    counts_by_text,
    covered,
    same_windows,
    spaced_tokens,
    token_ids,
    window_groups,
    window_hashes,
)

_AT_ONCE = 1 << 20  # tokens of the corpus in memory
_UNKNOWN = -1  # the number of a token that no generation has, and of the end of a text


class CopiedSpan(NamedTuple):
    """A passage of a generation that stands in the corpus, and where its first window was found."""

    span: Span
    where: str


class Memorisation(NamedTuple):
    """What generations have from a corpus.

    rate: share of all tokens of the generations that stand in windows from the corpus. shares: of each generation,
    (n,), 0 for one without tokens. spans: the passages. corpus_texts, corpus_tokens: what was read.
    """

    rate: float
    shares: Floats
    spans: list[CopiedSpan]
    corpus_texts: int
    corpus_tokens: int


def memorisation(
    generations: Sequence[str],
    corpus: Iterable[str | CorpusText],
    length: int = LENGTH,
    split: Callable[[str], Tokens] = spaced_tokens,
) -> Memorisation:
    """Which tokens of generations stand in a window of `length` tokens that a corpus has word for word.

    The rate lies in [0, 1], lower is better (Lee et al. 2022, §5.1: 1.9 % for a model trained on C4 as it is, 0.2 %
    on deduplicated text, in windows of 50 tokens of the model). The corpus is read once, a part at a time; memory holds
    the windows of the generations. Hashes find what may be equal, and tokens are then compared one by one.

    Args:
        generations: texts of a model.
        corpus: texts one after the other: a list, a generator, `corpus_texts("folder")`.
        length: tokens of a window, at least 1.
        split: from a text to its tokens; a tokenizer's `encode` counts as the paper does.

    Raises:
        TypeError: a single text in the place of a corpus. ValueError: a length below 1, no generation that long, an
            empty corpus.

    >>> memorisation(["he said to be or not"], ["To be", "or to be or not to be"], length=4).rate
    0.6666666666666666
    """
    if isinstance(corpus, str):
        raise TypeError(f"corpus must be texts one after the other, got a single text: {corpus[:40]!r}")
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    table = _Table(generations, length, split)
    for item in corpus:
        table.read(item if isinstance(item, CorpusText) else CorpusText(item, f"text {table.texts + 1}"))
    table.look_up()
    if not table.texts:
        raise ValueError("corpus holds no texts")
    return table.found()


class _Table:
    """The windows of the generations, and which of them the corpus had so far."""

    def __init__(self, generations: Sequence[str], length: int, split: Callable[[str], Tokens]) -> None:
        self._length, self._split = length, split
        self._numbers: dict[Hashable, int] = {}
        self._tokens = token_ids([split(text) for text in generations], self._numbers)
        longest = int(self._tokens.lengths.max(initial=0))
        if longest < length:
            raise ValueError(f"windows of {length} tokens need texts that long: the longest generation has {longest}")
        self._windows = window_groups(self._tokens, length)
        self._places = self._windows.places[self._windows.first]  # of one window of each group
        self._source = np.full(len(self._places), -1, dtype=np.int64)  # where each was found first
        self._wheres: list[str] = []
        self._ids: list[int] = []
        self._begins: list[int] = []  # in `_ids`, of the texts that are now in memory
        self._of: list[str] = []  # and where they stand
        self.texts, self._corpus_tokens = 0, 0

    def read(self, text: CorpusText) -> None:
        """Take one text of the corpus."""
        if not text.goes_on:
            self._ids.append(_UNKNOWN)
            self.texts += 1
        before = len(self._ids)
        self._begins.append(before)
        self._of.append(text.where)
        self._ids += map(self._numbers.get, self._split(text.text), repeat(_UNKNOWN))
        self._corpus_tokens += len(self._ids) - before
        if len(self._ids) >= _AT_ONCE:
            self.look_up()

    def look_up(self) -> None:
        """Find the windows of the texts in memory, and keep of the last one what may go on."""
        ids = np.array(self._ids, dtype=np.int64)
        places = self._known_places(ids)
        hashes = window_hashes(ids, self._length, self._windows.salt)[places]
        at = np.searchsorted(self._windows.hashes, hashes).clip(max=len(self._places) - 1)
        alike = self._windows.hashes[at] == hashes
        places, at = places[alike], at[alike]
        same = same_windows(ids, places, self._tokens.ids, self._places[at], self._length)
        self._note(places[same], at[same])
        kept = min(self._length - 1, len(self._ids))
        last = self._of[-1:]
        self._ids, self._begins, self._of = self._ids[len(self._ids) - kept :], [0] * len(last), last

    def _known_places(self, ids: Integers) -> Integers:
        """Where windows begin that hold only tokens of generations."""
        if len(ids) < self._length:
            return np.empty(0, dtype=np.int64)
        unknown = np.concatenate([[0], np.cumsum(ids == _UNKNOWN)])
        return np.nonzero(unknown[self._length :] == unknown[: len(unknown) - self._length])[0]

    def _note(self, places: Integers, at: Integers) -> None:
        """Remember where windows stand that were not met before."""
        new = self._source[at] < 0
        windows, first = np.unique(at[new], return_index=True)
        for window, place in zip(windows.tolist(), places[new][first].tolist(), strict=True):
            where = self._of[bisect_right(self._begins, place) - 1]
            if not self._wheres or self._wheres[-1] != where:
                self._wheres.append(where)
            self._source[window] = len(self._wheres) - 1

    def found(self) -> Memorisation:
        """What the whole corpus had."""
        tokens, windows = self._tokens, self._windows
        source = np.full(len(tokens.ids), -1, dtype=np.int64)
        source[windows.places] = self._source[windows.groups]
        marked = covered(np.nonzero(source >= 0)[0], self._length, len(tokens.ids))
        spans = [
            CopiedSpan(span, self._wheres[source[tokens.starts[span.text] + span.start]])
            for span in spans_of(marked, tokens.starts)
        ]
        counts = counts_by_text(marked, tokens.starts)
        shares = counts / np.maximum(tokens.lengths, 1)
        return Memorisation(float(marked.mean()), shares, spans, self.texts, self._corpus_tokens)
