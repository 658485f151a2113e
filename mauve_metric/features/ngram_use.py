"""The n-grams that two sets of texts use differently: what the features of `ngrams` are made of, not hashed."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Bools, Floats
from mauve_metric.features.ngrams import END, START, kinds_of
from mauve_metric.texts.fingerprints import FORMATS

MOST_WRITING = 8  # n-grams that are listed of how texts are written
MOST_FORMAT = 4  # and of how they are formatted
SURE = 0.05  # chance that one is listed where both sets are draws from one distribution
_QUOTES, _CURLY = set("\"'`´«»„"), set("“”‘’")
_DASHES, _MARKDOWN = set("–—"), set("*#_|`>")
_SHOWN = {START: "[start]", END: "[end]", "\n": "⏎", "\t": "⇥", " ": "␣"}
_KINDS = {"long": "[long word]", "Long": "[Long word]", "0": "[number]", START: "[start]", END: "[end]"}


class NgramUse(NamedTuple):
    """Frequency, in either set, of one pair of neighbouring characters or of neighbouring kinds of words.

    ngram: as it is shown; ⏎ is a line break, ␣ a blank, "[long word]" any word of more than three letters. kind:
    "letters" or "words". p_per_1000, q_per_1000: of 1,000 pairs of this kind of the human and of the model's texts.
    t: Welch's statistic of the square roots of its shares of the texts, above 0 where the model uses it more.
    format: what of the format it is, such as "line breaks"; empty where it is none.
    """

    ngram: str
    kind: str
    p_per_1000: float
    q_per_1000: float
    t: float
    format: str


def differing_ngrams(p_texts: Sequence[str], q_texts: Sequence[str]) -> tuple[NgramUse, ...]:
    """The n-grams whose use differs most between two sets of texts, the most telling first.

    The features of `ngrams` are the square roots of each pair's share of a text, hashed. Pairs are ranked by the
    difference of the sets' mean roots over its standard error, and left out unless it is significant at 5 % with
    Bonferroni's correction for all pairs. Texts count as independent.

    Args:
        p_texts, q_texts: at least two of each; else nothing is found.

    Returns:
        At most 8 n-grams of how texts are written, and at most 4 of how they are formatted.

    >>> p, q = [f"we saw it {n}" for n in range(20)], [f"we, saw it {n}" for n in range(20)]
    >>> sorted(use.ngram for use in differing_ngrams(p, q) if use.t > 0 and use.kind == "words")
    [', saw', 'we ,']
    """
    if min(len(p_texts), len(q_texts)) < 2:
        return ()
    found = [*_differing(p_texts, q_texts, list, "letters"), *_differing(p_texts, q_texts, kinds_of, "words")]
    found.sort(key=lambda use: -abs(use.t))
    kept = [use for use in found if not use.format][:MOST_WRITING] + [use for use in found if use.format][:MOST_FORMAT]
    return tuple(sorted(kept, key=lambda use: -abs(use.t)))


def _differing(
    p_texts: Sequence[str], q_texts: Sequence[str], parts_of: Callable[[str], list[str]], kind: str
) -> list[NgramUse]:
    """The n-grams of one kind whose use differs. parts_of: characters, or kinds of words, of a text."""
    from scipy.special import stdtr
    from sklearn.feature_extraction.text import CountVectorizer

    def pairs(text: str) -> list[tuple[str, str]]:
        parts = [START, *parts_of(text), END]
        return list(itertools.pairwise(parts))

    counter = CountVectorizer(analyzer=pairs, dtype=np.float64)
    counts = counter.fit_transform([*p_texts, *q_texts])
    # marks of both ends make one pair of every text, so that no sum is 0
    totals = np.asarray(counts.sum(axis=1)).ravel()
    is_model = np.arange(len(totals)) >= len(p_texts)
    shares = counts.multiply(1 / totals[:, None]).tocsr()
    (p_mean, p_error), (q_mean, q_error) = (_root_moments(shares, is_model == side) for side in (False, True))
    t = (q_mean - p_mean) / np.sqrt(p_error + q_error + 1e-12)  # equal rows have a little error, so that it is finite
    chance = 2 * stdtr(min(len(p_texts), len(q_texts)) - 1, -np.abs(t)) * len(t)
    rates = [1000 * np.asarray(counts[is_model == side].sum(axis=0)).ravel() / totals[is_model == side].sum()
             for side in (False, True)]  # fmt: skip
    found = []
    names = counter.get_feature_names_out()
    for number in np.flatnonzero(chance <= SURE).tolist():
        pair = names[number]
        shown = "".join(map(_letter, pair)) if kind == "letters" else " ".join(_KINDS.get(part, part) for part in pair)
        rate = [float(side[number]) for side in rates]
        found.append(NgramUse(shown, kind, rate[0], rate[1], float(t[number]), format_of_pair(*pair)))
    return found


def _root_moments(shares: object, chosen: Bools) -> tuple[Floats, Floats]:
    """Of the square roots of each column's shares in the chosen rows: the mean, and its squared standard error."""
    own = shares[chosen]  # type: ignore[index]
    n = own.shape[0]
    mean = np.asarray(own.sqrt().sum(axis=0)).ravel() / n
    variance = np.asarray(own.sum(axis=0)).ravel() / n - mean**2
    return mean, np.maximum(variance, 0) / (n - 1)


def format_of_pair(first: str, second: str) -> str:
    """Name the formatting that a pair of characters or of kinds of words shows; empty if it shows none.

    >>> format_of_pair(".", "\\n"), format_of_pair(" ", ","), format_of_pair("t", "h")
    ('line breaks', 'blanks before marks', '')
    """
    both = {first, second}
    if "\n" in both or "\r" in both:
        return FORMATS["line_breaks"].what
    blanks = first.isspace() + second.isspace()
    if START in both or END in both:
        return FORMATS["outer_blanks" if blanks else "first_character" if first == START else "last_character"].what
    if blanks == 2 or any(part.isspace() and part != " " for part in both):
        return FORMATS["double_blanks"].what
    named = (("curly_quotes", _CURLY), ("quotes", _QUOTES), ("dashes", _DASHES), ("markdown", _MARKDOWN))
    for name, marks in named:
        if both & marks:
            return FORMATS[name].what
    if first == second == "-" or both == {" ", "-"}:
        return FORMATS["dashes"].what
    return "blanks before marks" if first == " " and second in set(".,;:!?)") else ""


def _letter(mark: str) -> str:
    """A character as it is shown."""
    if mark in _SHOWN:
        return _SHOWN[mark]
    return f"[U+{ord(mark):04X}]" if unicodedata.category(mark)[0] in "CZM" else mark
