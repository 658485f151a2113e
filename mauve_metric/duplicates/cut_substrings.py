"""Cut passages that a set repeats out of its texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Integers
from mauve_metric.duplicates.repeated_substrings import (
    LENGTH,
    Span,
    check_length,
    covered,
    longest_repeats,
    spans_of,
    window_groups,
)
from mauve_metric.lexical.tokens import number_tokens, spaced_places

_LENGTHS = (10, 25, 50, 100, 200, 400, 800)  # tokens, of the printed m(k)


class Cuts(NamedTuple):
    """Texts without the passages that they repeat.

    texts: what is left of each, (n,), "" for one that was cut whole. spans: the passages that were cut, in tokens
    between blanks. tokens: of all texts before. longest: the longest passage of each text, in tokens, that occurs at
    another place of the set too, (n,).
    """

    texts: list[str]
    spans: list[Span]
    tokens: int
    longest: Integers

    def texts_with_repeat(self, length: int) -> int:
        """m(k): the number of texts that had a repeated passage of this length (Lee et al. 2022, §4.1)."""
        return int((self.longest >= length).sum())

    def __str__(self) -> str:
        cut = sum(span.end - span.start for span in self.spans)
        whole = sum(not text.strip() for text in self.texts)
        known = [(length, self.texts_with_repeat(length)) for length in _LENGTHS]
        repeats = ", ".join(f"{texts} of {length} tokens" for length, texts in known if texts) or "none of 10 tokens"
        return (
            f"cut {cut} of {self.tokens} tokens in {len(self.spans)} passages of "
            f"{len({span.text for span in self.spans})} of {len(self.texts)} texts, {whole} of them whole\n"
            f"texts with a repeated passage, m(k): {repeats}"
        )


def cut_repeated(
    texts: Sequence[str], length: int = LENGTH, against: Sequence[str] = (), keep_first: bool = True
) -> Cuts:
    """Cut passages that occur more than once out of texts (EXACTSUBSTR, Lee et al. 2022, §4.1; Ippolito 2021, §4.4).

    A token is cut if a window of `length` tokens around it occurs earlier too or, without `keep_first`, anywhere else.
    Tokens are separated by blanks; characters in scripts without. The blanks after a cut passage go with it. What is
    left may repeat passages anew where cuts join it; a second call finds them.

    Args:
        texts: of one set. length: tokens of a window, at least 1.
        against: texts that stay whole and come first, such as the human ones or a test set.
        keep_first: whether the first copy stays, as the paper says; its released code cuts all.

    Raises:
        ValueError: a length below 1.

    >>> cut_repeated(["say it once more", "and say it once again"], length=3).texts
    ['say it once more', 'and again']
    """
    check_length(length)
    everything = [*against, *texts]
    places = [spaced_places(text) for text in everything]
    tokens = number_tokens(
        [[text[start:end] for start, end in own] for text, own in zip(everything, places, strict=True)]
    )
    windows, groups = window_groups(tokens.ids, tokens.text_of, length)
    repeated = np.bincount(groups, minlength=1)[groups] > 1
    if keep_first:
        repeated[np.unique(groups, return_index=True)[1]] = False
    marked = covered(windows[repeated], length, len(tokens.ids)) & (tokens.text_of >= len(against))
    left, spans = list(texts), [span._replace(text=span.text - len(against)) for span in spans_of(marked, tokens)]
    for number, start, end in reversed(spans):
        text, own = left[number], places[number + len(against)]
        left[number] = text[: own[start][0]] + (text[own[end][0] :] if end < len(own) else "")
    lengths = tokens.lengths[len(against) :]
    return Cuts(left, spans, int(lengths.sum()), longest_repeats(tokens)[len(against) :])
