"""Words and phrases that tell a group of texts apart from other texts, and phrases that texts repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
LONGEST_PHRASE = 3
PRIOR_TEXTS = 10.0  # weight of the prior, in texts
COMMON_SHARE = 0.3  # of texts that hold a word: above, it is a function word and is ignored
LEVEL = 0.05  # at most, the probability that any phrase of a random group is called telling
LEAST_REPEATS = 3  # times that a phrase occurs in one text to be called repeated
REPEATED_WORDS = 3  # length of the phrases that are looked for in one text


@dataclass(frozen=True)
class PhraseTable:
    """Table of phrases of one to three words and the texts that contain them.

    phrases: those in at least two texts, the short ones first, then by the alphabet, v of them.
    holds: 1 where a text has a phrase, (n, v).
    """

    phrases: tuple[str, ...]
    holds: csr_array

    def functional(self, texts: Integers) -> NDArray[np.bool_]:
        """Mark phrases that begin or end with a word that more than `COMMON_SHARE` of these texts hold, (v,)."""
        often = self.count(texts) > COMMON_SHARE * len(texts)
        frequent = {self.phrases[phrase] for phrase in np.flatnonzero(often)}
        ends = (phrase.split() for phrase in self.phrases)
        return np.array([words[0] in frequent or words[-1] in frequent for words in ends], dtype=bool)

    def count(self, texts: Integers) -> Integers:
        """In how many of the texts with these numbers each phrase is, (v,)."""
        chosen = np.zeros(self.holds.shape[0], dtype=np.int64)
        chosen[texts] = 1
        counts: Integers = chosen @ self.holds
        return counts


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("Don't panic: 3.5 km, said TV-Total.")
    ["don't", 'panic', '3.5', 'km', 'said', 'tv-total']
    """
    return _WORD.findall(text.lower())


def phrase_spans(text: str, phrases: Sequence[str]) -> list[tuple[int, int]]:
    """Find phrases in a text as `words_of` reads it: starts and ends, in order, without overlap.

    >>> phrase_spans("He said: Don't -- PANIC, don't!", ["don't panic"])
    [(9, 23)]
    """
    wanted = {tuple(words_of(phrase)) for phrase in phrases} - {()}
    lengths = sorted({len(phrase) for phrase in wanted}, reverse=True)
    lowered = text.lower()
    words = [(match[0], *match.span()) for match in _WORD.finditer(lowered)] if wanted else []
    spans: list[tuple[int, int]] = []
    for first in range(len(words)):
        for length in lengths:
            part = words[first : first + length]
            if tuple(word for word, _, _ in part) in wanted:
                start, end = part[0][1], part[-1][2]
                if spans and start <= spans[-1][1]:
                    start, end = spans[-1][0], max(spans.pop()[1], end)
                spans.append((start, end))
                break
    if len(lowered) == len(text):
        return spans
    owners = [index for index, mark in enumerate(text) for _ in mark.lower()]  # some letters are two in lower case
    return [(owners[start], owners[end - 1] + 1) for start, end in spans]


def phrase_table(texts: Sequence[str]) -> PhraseTable:
    """Phrases of one to three words and the texts they are in, each counted once a text."""
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(
        tokenizer=words_of,
        token_pattern=None,
        lowercase=False,
        ngram_range=(1, LONGEST_PHRASE),
        min_df=2,
        binary=True,
        dtype=np.int64,
    )
    try:
        holds = csr_array(counter.fit_transform(texts))
    except ValueError:  # no phrase is in two texts
        return PhraseTable((), csr_array((len(texts), 0), dtype=np.int64))
    phrases = counter.get_feature_names_out().tolist()
    order = sorted(range(len(phrases)), key=lambda phrase: phrases[phrase].count(" "))
    return PhraseTable(tuple(phrases[phrase] for phrase in order), holds[:, order])


def _significant(
    counts: Integers, totals: Integers, size: int, texts: int, skip: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    """Mark phrases that more texts of a group hold than chance would explain, (v,).

    Args:
        counts, totals: texts of the group, and of all, with each phrase, (v,). size: of the group. texts: of all.
        skip: phrases that are not tested, (v,).
    """
    from scipy.stats import hypergeom

    is_tested = (totals > 0) & (True if skip is None else ~skip)
    if not is_tested.any():
        return is_tested
    distinct, phrases = np.unique(totals[is_tested], return_counts=True)
    least = hypergeom.pmf(np.minimum(distinct, size), texts, distinct, size)  # the smallest p-value for each total
    order = np.argsort(least)
    reached, tests = np.cumsum(phrases[order]), np.arange(1, phrases.sum() + 1)  # phrases with such a p-value or less
    can_be = np.append(0, reached)[np.searchsorted(least[order], LEVEL / tests, side="right")]
    level = LEVEL / tests[can_be <= tests][0]
    pairs, pair_of = np.unique(counts * (texts + 1) + totals, return_inverse=True)
    p_values = hypergeom.sf(pairs // (texts + 1) - 1, texts, pairs % (texts + 1), size)
    return np.asarray(is_tested & (p_values[pair_of] <= level))


def telling_phrases(
    table: PhraseTable, group: Integers, others: Integers, skip: NDArray[np.bool_] | None = None, most: int = 6
) -> tuple[str, ...]:
    """The phrases that occur in more texts of a group than of others, the most telling first.

    By the weighted log-odds ratio with an informative Dirichlet prior (Monroe et al. 2008, §3.5), on texts: with y of n
    texts of a group and A times the share of all texts as the prior a, the log odds are log((y + a) / (n - y + A - a)).
    Their difference over its standard error ranks the phrases. None is named that could be noise: each is significant
    by Fisher's exact test, corrected for the number of phrases that can be (Tarone 1990). Of phrases that share most of
    their words only the more telling one is kept.

    Args:
        table: of all texts.
        group, others: numbers of texts, (n_1,) and (n_2,).
        skip: phrases to leave out, (v,), such as those of `PhraseTable.functional`.
        most: at most so many phrases.
    """
    if len(group) < 2 or not len(others) or not table.phrases:
        return ()
    y_one, y_two = table.count(group), table.count(others)
    prior = PRIOR_TEXTS * (y_one + y_two + 1e-9) / (len(group) + len(others))
    ends = []
    for y, n in ((y_one, len(group)), (y_two, len(others))):
        inside, outside = y + prior, np.maximum(n - y + PRIOR_TEXTS - prior, 1e-9)
        ends.append((np.log(inside / outside), 1 / inside + 1 / outside))
    z = (ends[0][0] - ends[1][0]) / np.sqrt(ends[0][1] + ends[1][1])
    telling = np.nonzero(_significant(y_one, y_one + y_two, len(group), len(group) + len(others), skip))[0]
    ranked = telling[np.argsort(-z[telling], kind="stable")][: 10 * most]
    return _without_overlaps([table.phrases[phrase] for phrase in ranked], most)


def repeated_phrases(texts: Sequence[str], most: int = 3) -> tuple[str, ...]:
    """The three-word phrases that occur most often within single texts, three times or more.

    >>> repeated_phrases(["we like it so we like it and we like it", "no"])
    ('we like it',)
    """
    totals: Counter[str] = Counter()
    for text in texts:
        words = words_of(text)
        counts = Counter(zip(*(words[start:] for start in range(REPEATED_WORDS)), strict=False))
        totals.update({" ".join(phrase): times for phrase, times in counts.items() if times >= LEAST_REPEATS})
    ranked = [phrase for phrase, _ in sorted(totals.items(), key=lambda entry: (-entry[1], entry[0]))]
    return _without_overlaps(ranked[: 20 * most], most)


def _without_overlaps(phrases: Sequence[str], most: int) -> tuple[str, ...]:
    """The first phrases that share no word, or hardly one, with a better one."""
    kept: list[set[str]] = []
    chosen: list[str] = []
    for phrase in phrases:
        words = set(phrase.split())
        if len(chosen) < most and not any(2 * len(words & other) >= min(len(words), len(other)) for other in kept):
            kept.append(words)
            chosen.append(phrase)
    return tuple(chosen)


@dataclass(frozen=True)
class Readable:
    """The texts of several sets, as far as they are known, and their phrases.

    texts: one list a set, or None. starts: number of each set's first text in the table of all sets' texts.
    functional: phrases around function words, which tell nothing, shape (v,).
    """

    texts: tuple[Sequence[str] | None, ...]
    starts: tuple[int, ...]
    table: PhraseTable
    functional: NDArray[np.bool_]

    @classmethod
    def of(cls, texts: Sequence[Sequence[str] | None]) -> Readable:
        """Read the sets; what a function word is, the first set says whose texts are known."""
        lengths = [0 if side is None else len(side) for side in texts]
        table = phrase_table([text for side in texts if side is not None for text in side])
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        first = next(filter(None, lengths), 0)  # of the set whose texts are the first of the table
        functional = table.functional(np.arange(first))
        return cls(tuple(texts), tuple(starts), table, functional)

    def pair(self, p: int, q: int) -> Readable:
        """The two sets with these numbers, on the same table."""
        return Readable((self.texts[p], self.texts[q]), (self.starts[p], self.starts[q]), self.table, self.functional)
