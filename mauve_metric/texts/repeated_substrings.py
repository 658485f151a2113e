"""Passages that stand word for word in more than one place, within a set and in another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Integers
from mauve_metric.texts.tokens import Tokens
from mauve_metric.texts.windows import TokenIds, counts_by_text, covered, spaced_tokens, token_ids, window_groups

LENGTH = 50  # tokens of a passage that hardly anybody writes twice by chance (Lee et al. 2022, §4.1)


class Span(NamedTuple):
    """Tokens `start` to `end` (not with it) of the text with this number."""

    text: int
    start: int
    end: int


def repeated_substrings(texts: Sequence[Tokens], length: int = LENGTH) -> float:
    """Share of tokens in passages that the set repeats; in [0, 1], the closer to that of human texts the better.

    A token counts if a window of `length` tokens around it begins at another place of the set too, be it in the same
    text (EXACTSUBSTR, Lee et al. 2022, §4.1). It grows with the number of texts, so only sets of one size compare.

    Args:
        texts: tokens of each text.
        length: tokens of a window, at least 1.

    Raises:
        ValueError: no text is that long, or a length below 1.

    >>> repeated_substrings(["xabcd", "abcdy"], length=3)
    0.8
    """
    tokens = _long_enough(token_ids(texts), length)
    return float(_repeated(tokens, length).mean())


def repeated_spans(texts: Sequence[Tokens], length: int = LENGTH) -> list[Span]:
    """The passages of which each window of `length` tokens stands at another place of the set too.

    Windows that overlap or touch make one span, which as a whole need not be repeated.

    >>> repeated_spans(["xabcd", "abcdy"], length=3)
    [Span(text=0, start=1, end=5), Span(text=1, start=0, end=4)]
    """
    _check_length(length)
    tokens = token_ids(texts)
    return spans_of(_repeated(tokens, length), tokens.starts)


def copied_tokens(human: Sequence[str], model: Sequence[str], length: int = LENGTH) -> tuple[Integers, Integers]:
    """Of each model text the tokens in passages that stand in the human texts word for word, and all, (n,) each.

    A token counts if a window of `length` tokens around it stands in a human text (Lee et al. 2022, §5.1).

    Raises:
        ValueError: no model text is that long, or a length below 1.

    >>> [counts.tolist() for counts in copied_tokens(["a b c d"], ["x b c d", "b c"], length=3)]
    [[3, 0], [4, 2]]
    """
    known: dict[object, int] = {}
    theirs = token_ids(map(spaced_tokens, human), known)
    mine = _long_enough(token_ids(map(spaced_tokens, model), known), length)
    both = TokenIds(
        np.concatenate([theirs.ids, mine.ids]), np.concatenate([theirs.starts, mine.starts[1:] + len(theirs.ids)])
    )
    found, border = window_groups(both, length), len(theirs.ids)
    in_human = np.zeros(len(found.first), dtype=bool)
    in_human[found.groups[found.places < border]] = True
    copies = found.places[in_human[found.groups] & (found.places >= border)] - border
    return counts_by_text(covered(copies, length, len(mine.ids)), mine.starts), mine.lengths


def spans_of(marked: NDArray[np.bool_], starts: Integers) -> list[Span]:
    """Runs of marked tokens, none over the end of a text.

    >>> spans_of(np.array([True, True, True, False]), np.array([0, 1, 4]))
    [Span(text=0, start=0, end=1), Span(text=1, start=0, end=2)]
    """
    first = np.zeros(len(marked), dtype=bool)
    first[starts[:-1][np.diff(starts) > 0]] = True
    before = np.concatenate([[False], marked[:-1]])
    begins = np.nonzero(marked & (first | ~before))[0]
    after, next_first = np.append(marked[1:], False), np.append(first[1:], True)
    ends = np.nonzero(marked & (next_first | ~after))[0] + 1
    texts = np.searchsorted(starts, begins, side="right") - 1
    rows = np.stack([texts, begins - starts[texts], ends - starts[texts]], axis=1)
    return [Span(*row) for row in rows.tolist()]


def _repeated(tokens: TokenIds, length: int) -> NDArray[np.bool_]:
    """Which tokens stand in repeated windows, (N,)."""
    found = window_groups(tokens, length)
    return covered(found.places[found.repeated], length, len(tokens.ids))


def _long_enough(tokens: TokenIds, length: int) -> TokenIds:
    _check_length(length)
    longest = int(tokens.lengths.max(initial=0))
    if longest < length:
        raise ValueError(f"passages of {length} tokens need texts that long: the longest one has {longest}")
    return tokens


def _check_length(length: int) -> None:
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
