"""Passages that occur word for word in more than one place: found, cut out of texts, copied from another set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.apps.describing.word_diversity.splitting import spaced_places, spaced_tokens
from mauve_metric.apps.lexical.tokens import NumberedTokens, Tokens, number_tokens
from mauve_metric.arrays import Integers, MeasuredValue
from mauve_metric.runtime.checks import check_least
from mauve_metric.runtime.optional_imports import import_pydivsufsort
from mauve_metric.runtime.plain_text import is_blank

LENGTH = 50  # tokens of a passage that is hardly ever written twice by chance (Lee et al. 2022, §4.1)
_LENGTHS = (10, 25, 50, 100, 200, 400, 800)  # tokens, of the printed m(k)
RESAMPLES = 1000
FEWEST_COPIES = 10  # texts with copies; fewer do not show how much the size of copies varies


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
        TypeError: a text is a string. ValueError: no text is that long, or a length below 1.

    >>> repeated_substrings(["x a b c d".split(), "a b c d y".split()], length=3)
    0.8
    """
    tokens = number_tokens(texts)
    check_length(length, tokens.lengths)
    places, groups = window_groups(tokens.ids, tokens.text_of, length)
    repeated = np.bincount(groups)[groups] > 1
    return float(covered(places[repeated], length, len(tokens.ids)).mean())


def copied_tokens(human: Sequence[str], model: Sequence[str], length: int = LENGTH) -> tuple[Integers, Integers]:
    """Of each model text the tokens in passages that occur in the human texts word for word, and all, (n,) each.

    A token counts if a window of `length` tokens around it occurs in a human text (Lee et al. 2022, §5.1).

    Raises:
        ValueError: no model text is that long, or a length below 1.

    >>> [counts.tolist() for counts in copied_tokens(["a b c d"], ["x b c d", "b c"], length=3)]
    [[3, 0], [4, 2]]
    """
    tokens = number_tokens([spaced_tokens(text) for text in (*human, *model)])
    lengths = tokens.lengths[len(human) :]
    check_length(length, lengths)
    places, groups = window_groups(tokens.ids, tokens.text_of, length)
    of_model = tokens.text_of[places] >= len(human)
    copies = places[of_model & np.isin(groups, groups[~of_model])]
    copied = tokens.text_of[covered(copies, length, len(tokens.ids))]
    return np.bincount(copied, minlength=len(tokens))[len(human) :], lengths


def window_groups(ids: Integers, text_of: Integers, length: int) -> tuple[Integers, Integers]:
    """Starts of windows of `length` tokens, (w,) ascending, and a number for each, equal for equal windows, (w,).

    Windows with a common beginning are neighbours in the suffix array.

    Args:
        ids, text_of: the number of each token and of its text, (t,); no window runs over the end of a text.

    >>> window_groups(np.array([4, 7, 4, 7]), np.array([0, 0, 1, 1]), 2)
    (array([0, 2]), array([0, 0]))
    """
    places = np.flatnonzero(text_of[: max(len(ids) - length + 1, 0)] == text_of[length - 1 :])
    if not len(places):
        return places, places
    suffixes, common = _sorted_suffixes(ids)
    groups = np.empty(len(ids), dtype=np.int64)
    groups[suffixes] = np.cumsum(np.concatenate([[0], common[:-1] < length]))
    return places, groups[places]


def _sorted_suffixes(ids: Integers) -> tuple[Integers, Integers]:
    """The starts of all suffixes in their order, and the length of what each begins with like the next, (t,)."""
    pydivsufsort = import_pydivsufsort()
    suffixes: Integers = pydivsufsort.divsufsort(ids)
    return suffixes, pydivsufsort.kasai(ids, suffixes)


def longest_repeats(tokens: NumberedTokens) -> Integers:
    """The longest passage of each text that occurs at another place too, in tokens, (n,).

    >>> longest_repeats(number_tokens(["x a b c d".split(), "a b c d y".split(), ["d"], ["z"]])).tolist()
    [4, 4, 1, 0]
    """
    if not len(tokens):
        return np.empty(0, dtype=np.int64)
    ends = np.cumsum(tokens.lengths)
    ids = np.insert(tokens.ids, ends, tokens.vocabulary + np.arange(len(tokens)))  # a mark of its own ends each text
    text_of = np.insert(tokens.text_of, ends, np.arange(len(tokens)))
    suffixes, common = _sorted_suffixes(ids)
    longest = np.zeros(len(tokens), dtype=np.int64)
    np.maximum.at(longest, text_of[suffixes], np.maximum(common, np.concatenate([[0], common[:-1]])))
    return longest


def covered(places: Integers, length: int, size: int) -> NDArray[np.bool_]:
    """Mark which of `size` tokens are in a window that begins at one of some places, each given once, (size,).

    >>> covered(np.array([1, 2]), 2, 5).astype(int).tolist()
    [0, 1, 1, 1, 0]
    """
    change = np.zeros(size + 1, dtype=np.int64)
    change[places] += 1
    change[places + min(length, size)] -= 1
    is_covered: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return is_covered


def spans_of(marked: NDArray[np.bool_], tokens: NumberedTokens) -> list[Span]:
    """Runs of marked tokens, none over the end of a text.

    >>> spans_of(np.array([True, True, True, False]), number_tokens([["a"], ["b", "c", "d"]]))
    [Span(text=0, start=0, end=1), Span(text=1, start=0, end=2)]
    """
    runs = np.where(marked, tokens.text_of, -1)
    begins = np.flatnonzero(marked & (runs != np.concatenate([[-1], runs[:-1]])))
    ends = np.flatnonzero(marked & (runs != np.concatenate([runs[1:], [-1]]))) + 1
    texts = tokens.text_of[begins]
    starts = (np.cumsum(tokens.lengths) - tokens.lengths)[texts]
    return [Span(*row) for row in np.stack([texts, begins - starts, ends - starts], axis=1).tolist()]


def check_length(length: int, lengths: Integers | None = None, cure: str = "") -> None:
    """`ValueError` for a length below 1, or, with the lengths of texts, above the longest. cure: ends the message."""
    check_least("length", length)
    if lengths is not None and (longest := int(lengths.max(initial=0))) < length:
        raise ValueError(f"passages of {length} tokens need texts that long: the longest one has {longest}{cure}")


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
        whole = sum(map(is_blank, self.texts))
        counts = [(length, self.texts_with_repeat(length)) for length in _LENGTHS]
        repeats = ", ".join(f"{texts} of {length} tokens" for length, texts in counts if texts) or "none of 10 tokens"
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
        [[text[start:end] for start, end in words] for text, words in zip(everything, places, strict=True)]
    )
    windows, groups = window_groups(tokens.ids, tokens.text_of, length)
    repeated = np.bincount(groups, minlength=1)[groups] > 1
    if keep_first:
        repeated[np.unique(groups, return_index=True)[1]] = False
    marked = covered(windows[repeated], length, len(tokens.ids)) & (tokens.text_of >= len(against))
    left, spans = list(texts), [span._replace(text=span.text - len(against)) for span in spans_of(marked, tokens)]
    for number, start, end in reversed(spans):
        text, words = left[number], places[number + len(against)]
        left[number] = text[: words[start][0]] + (text[words[end][0] :] if end < len(words) else "")
    lengths = tokens.lengths[len(against) :]
    return Cuts(left, spans, int(lengths.sum()), longest_repeats(tokens)[len(against) :])


def copied_substrings(
    human: Sequence[str], model: Sequence[str], *, seed: int = 25, level: float = 0.95
) -> MeasuredValue:
    """Share of the model's tokens in passages of 50 tokens of the human texts; in [0, 1], lower is better.

    Exact copies; tokens are separated by blanks (Lee et al. 2022, §5.1). The interval is from a bootstrap over the
    model's texts, against these human texts; there is none if fewer than `FEWEST_COPIES` texts have such a passage.

    Args:
        human, model: texts.
        seed: of the bootstrap.
        level: of the interval.

    Raises:
        ValueError: no model text has 50 tokens.

    >>> story = " ".join(map(str, range(60)))
    >>> copied_substrings([story], [story, "another one"]).value  # 60 of 62 tokens
    0.967741935483871
    """
    copied, lengths = copied_tokens(human, model, LENGTH)
    value = float(copied.sum() / lengths.sum())
    if np.count_nonzero(copied) < FEWEST_COPIES:
        return MeasuredValue(value)
    rng, n = np.random.default_rng(seed), len(copied)
    draws = (rng.integers(n, size=n) for _ in range(RESAMPLES))
    ratios = [copied[rows].sum() / max(lengths[rows].sum(), 1) for rows in draws]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return MeasuredValue(value, (float(low), float(high)))
