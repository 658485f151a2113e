"""Words and phrases that tell a group of texts apart from other texts, and phrases that texts repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Integers

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
LONGEST_PHRASE = 3
PRIOR_TEXTS = 10.0  # weight of the prior, in texts
COMMON_SHARE = 0.3  # of texts that hold a word: above, it is a function word and tells nothing
LEAST_Z = 2.0  # standard errors by which a phrase must be more frequent
LEAST_REPEATS = 3  # times that a phrase occurs in one text to be called repeated
REPEATED_WORDS = 3  # length of the phrases that are looked for in one text
_BITS = 21  # of a word's number in a phrase's key: the first two million different words count


@dataclass(frozen=True)
class PhraseTable:
    """Which phrases of one to three words stand in which texts.

    words: the vocabulary. phrases: keys of the phrases that stand in at least two texts, shape (v,).
    phrase_of, text_of: one entry for each phrase of each text, shape (e,), sorted by text.
    num_texts: n.
    """

    words: tuple[str, ...]
    phrases: Integers
    phrase_of: Integers
    text_of: Integers
    num_texts: int

    def spell(self, phrase: int) -> str:
        """The phrase with this number as text."""
        return " ".join(self.words[part - 1] for part in _parts(int(self.phrases[phrase])))

    def functional(self, texts: Integers) -> NDArray[np.bool_]:
        """Which phrases begin or end with a word that more than `COMMON_SHARE` of these texts hold, (v,)."""
        mask = (1 << _BITS) - 1
        last = self.phrases & mask
        first = np.where(self.phrases > mask << _BITS, self.phrases >> (2 * _BITS), self.phrases >> _BITS)
        first = np.where(first > 0, first, last)
        single = self.phrases <= mask
        frequent = self.phrases[single & (self.count(texts) > COMMON_SHARE * max(len(texts), 1))]
        found: NDArray[np.bool_] = np.isin(first, frequent) | np.isin(last, frequent)
        return found

    def count(self, texts: Integers) -> Integers:
        """In how many of the texts with these numbers each phrase stands, (v,)."""
        chosen = np.zeros(self.num_texts, dtype=bool)
        chosen[texts] = True
        return np.bincount(self.phrase_of[chosen[self.text_of]], minlength=len(self.phrases))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("Don't panic: 3.5 km, said TV-Total.")
    ["don't", 'panic', '3.5', 'km', 'said', 'tv-total']
    """
    return _WORD.findall(text.lower())


def phrase_spans(text: str, phrases: Sequence[str]) -> list[tuple[int, int]]:
    """Where phrases stand in a text, found as `words_of` reads it: starts and ends, in order, none touching another.

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
    return spans if len(lowered) == len(text) else _in_original(text, spans)


def _in_original(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in `text.lower()` as places in a text some of whose letters become two in lower case."""
    owners = [place for place, mark in enumerate(text) for _ in mark.lower()]
    return [(owners[start], owners[end - 1] + 1) for start, end in spans]


def phrase_table(texts: Sequence[str]) -> PhraseTable:
    """Phrases of one to three words and the texts they stand in, each counted once a text."""
    number: dict[str, int] = {}
    rows, ids = [], []
    for row, text in enumerate(texts):
        found = [number.setdefault(word, len(number) + 1) for word in words_of(text)]
        ids += [*(word if word < 1 << _BITS else 0 for word in found), 0]  # 0 ends a text
        rows += [row] * (len(found) + 1)
    word, text_of = np.array(ids, dtype=np.int64), np.array(rows, dtype=np.int64)
    keys, owners = [word[:0]], [text_of[:0]]
    key, complete = np.zeros(len(word), dtype=np.int64), np.ones(len(word), dtype=bool)
    for length in range(1, LONGEST_PHRASE + 1):
        end = len(word) - length + 1
        if end <= 0:
            break
        complete = complete[:end] & (word[length - 1 :] > 0)
        key = (key[:end] << _BITS) | word[length - 1 :]
        keys.append(key[complete])
        owners.append(text_of[:end][complete])
    phrases, phrase_of = np.unique(np.concatenate(keys), return_inverse=True)
    pairs = np.unique(np.concatenate(owners) * max(len(phrases), 1) + phrase_of)
    text_of, phrase_of = np.divmod(pairs, max(len(phrases), 1))
    common = np.bincount(phrase_of, minlength=len(phrases)) >= 2
    kept = common[phrase_of]
    renumbered = np.cumsum(common) - 1
    return PhraseTable(tuple(number), phrases[common], renumbered[phrase_of[kept]], text_of[kept], len(texts))


def telling_phrases(
    table: PhraseTable, group: Integers, others: Integers, skip: NDArray[np.bool_] | None = None, most: int = 6
) -> tuple[str, ...]:
    """The phrases that stand in more texts of a group than of others, the most telling first.

    By the weighted log-odds ratio with an informative Dirichlet prior (Monroe et al. 2008, §3.5), on texts: with y of n
    texts of a group and A times the share of all texts as the prior a, the log odds are log((y + a) / (n - y + A - a)).
    Their difference over its standard error ranks the phrases. Of phrases that share most of their words only the
    more telling one is kept.

    Args:
        table: of all texts.
        group, others: numbers of texts, (n_1,) and (n_2,).
        skip: phrases to leave out, (v,), such as those of `PhraseTable.functional`.
        most: at most so many phrases.
    """
    if len(group) < 2 or not len(others) or not len(table.phrases):
        return ()
    y_one, y_two = table.count(group), table.count(others)
    prior = PRIOR_TEXTS * (y_one + y_two + 1e-9) / (len(group) + len(others))
    ends = []
    for y, n in ((y_one, len(group)), (y_two, len(others))):
        inside, outside = y + prior, np.maximum(n - y + PRIOR_TEXTS - prior, 1e-9)
        ends.append((np.log(inside / outside), 1 / inside + 1 / outside))
    z = (ends[0][0] - ends[1][0]) / np.sqrt(ends[0][1] + ends[1][1])
    telling = np.nonzero((z > LEAST_Z) & (y_one >= 2) & (True if skip is None else ~skip))[0]
    ranked = telling[np.argsort(-z[telling], kind="stable")][: 10 * most]
    return _without_overlaps([table.spell(phrase) for phrase in ranked], most)


def repeated_phrases(texts: Sequence[str], most: int = 3) -> tuple[str, ...]:
    """The three-word phrases that stand most often within single texts, three times or more.

    >>> repeated_phrases(["we like it so we like it and we like it", "no"])
    ('we like it',)
    """
    found: Counter[str] = Counter()
    for text in texts:
        words = words_of(text)
        counts = Counter(zip(*(words[start:] for start in range(REPEATED_WORDS)), strict=False))
        found.update({" ".join(phrase): times for phrase, times in counts.items() if times >= LEAST_REPEATS})
    ranked = [phrase for phrase, _ in sorted(found.items(), key=lambda item: (-item[1], item[0]))]
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


def _parts(key: int) -> list[int]:
    parts: list[int] = []
    while key:
        parts.insert(0, key & ((1 << _BITS) - 1))
        key >>= _BITS
    return parts


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
        lengths = [0 if known is None else len(known) for known in texts]
        table = phrase_table([text for known in texts if known is not None for text in known])
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        first = next((index for index, length in enumerate(lengths) if length), 0)
        functional = table.functional(np.arange(lengths[first]) + starts[first])
        return cls(tuple(texts), tuple(starts), table, functional)

    def pair(self, p: int, q: int) -> Readable:
        """The two sets with these numbers, on the same table."""
        return Readable((self.texts[p], self.texts[q]), (self.starts[p], self.starts[q]), self.table, self.functional)
