"""Differences in form: AUC of length, line breaks and similar numbers, and what the texts of one set are wrapped in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.measures.cross_fitting import cross_fit
from mauve_metric.texts.fingerprints import FORMATS, Marks
from mauve_metric.uncertainty.score_warnings import ScoreWarning, warn

TELLING = 0.6  # AUC above which a verdict begins with the format
_SURE = 0.01  # p-value above which it may be chance
_PERMUTATIONS = 19


class FormatCheck(NamedTuple):
    """AUCs of cross-fitted classifiers of the format of texts.

    auc: of all numbers together. p_value: of equal sets. each: AUC of each number alone, by its name in `FORMATS`.
    """

    auc: float
    p_value: float
    each: dict[str, float]

    @property
    def strongest(self) -> str:
        """The number that separates the sets best."""
        return max(self.each, key=lambda name: self.each[name])

    @property
    def tells(self) -> bool:
        """True if format alone separates the sets, significantly and with an AUC above 0.6."""
        return self.auc > TELLING and self.p_value <= _SURE


def check_format(
    p: Floats | None, q: Floats | None, groups: tuple[Integers, Integers] | None, seed: int
) -> FormatCheck | None:
    """Cross-fit a classifier of all numbers, and one of each.

    Args:
        p, q: numbers of `format_numbers`, (n_p, f) and (n_q, f); None: not known. groups: of texts that are not
            independent, equal on both sides for one group. seed: of the folds.

    Returns:
        None where the numbers of a side are not known, or it has fewer than ten texts.

    >>> numbers = np.random.default_rng(0).normal(size=(40, len(FORMATS)))
    >>> found = check_format(numbers, numbers + np.eye(len(FORMATS))[1] * 9, None, 0)
    >>> found.strongest, found.tells
    ('line_breaks', True)
    """
    if p is None or q is None or min(len(p), len(q)) < 10:
        return None
    rows, is_model = np.concatenate([p, q]), np.arange(len(p) + len(q)) >= len(p)
    together = None if groups is None else np.concatenate(groups)
    if together is not None and min(len(np.unique(side)) for side in groups or ()) < 10:
        return None
    fitted = cross_fit(rows, is_model, together, seed=seed, permutations=_PERMUTATIONS)
    columns = enumerate(FORMATS)
    each = {name: cross_fit(rows[:, [column]], is_model, together, seed=seed).auc for column, name in columns}
    return FormatCheck(fitted.auc, fitted.p_value, each)


def format_warnings(check: FormatCheck | None) -> Iterator[ScoreWarning]:
    """Warn if format alone separates the sets, with the strongest number and a remedy."""
    if check is None or not check.tells:
        return
    name = check.strongest
    alone = f"{FORMATS[name].what} alone with AUC {check.each[name]:.2f}, " if check.each[name] > TELLING else ""
    numbers = {"auc": check.auc, f"auc_{name}": check.each[name]}
    yield warn("format_differs", numbers, alone=alone, cure=FORMATS[name].cure)


STRIPPED_SHARE = 0.01  # of a set: above, what was taken off is no accident, and the score is of other texts
WRAPPED_SHARE = 0.01  # of one set, and less than a tenth of that of the other: it dominates a featurizer's distances
BLANKS_SHARE = 0.1  # instead: a sampled text that was cut ends with a blank once in twenty, which moves no score
OPENING_SHARE, RARE_SHARE = 0.05, 0.005  # of one set and of the other: people do not begin alike so often
LEAST_TEXTS = 5  # that must show it: fewer of a small set may be chance
MOST_OPENINGS = 3  # that a warning shows
ALIKE = 0.9  # of the texts with an opening go on with the same word: then that is shown as well
_SIGHTS = {
    "reasoning": "reasoning such as <think>",
    "special_tokens": "special tokens such as <|im_end|> or </s>",
    "markdown": "Markdown such as fences and headings",
    "whitespace": "blanks at their beginning or end",
}


def wrapping_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Texts that were changed, and what one set is wrapped in or opens with and the other is not."""
    for side, name in ((p, "human"), (q, "model")):
        many = {rule: times for rule, times in side.stripped.items() if times > STRIPPED_SHARE * len(side)}
        if many:
            rules = ", ".join(f"{rule} off {times}" for rule, times in many.items())
            yield warn("stripped_texts", {"set": name, "texts": len(side), **many}, rules=rules)
    if p.marks is not None and q.marks is not None:
        yield from _differences(p.marks, q.marks)


def _differences(p: Marks, q: Marks) -> Iterator[ScoreWarning]:
    """Warnings about wrappings that only one set has, and words that many texts of one begin with."""
    for rule, sight in _SIGHTS.items():
        human, model = p.wrapped.get(rule, 0), q.wrapped.get(rule, 0)
        shares = human / p.texts, model / q.texts
        blanks = rule == "whitespace"
        if max(shares) <= (BLANKS_SHARE if blanks else WRAPPED_SHARE) or min(shares) >= max(shares) / 10:
            continue
        if (human if shares[0] > shares[1] else model) < LEAST_TEXTS:
            continue
        numbers = {"kind": rule, "p_texts": human, "q_texts": model, "n_p": p.texts, "n_q": q.texts}
        yield warn("blanks_in_one_set" if blanks else "wrapping_in_one_set", numbers, sight=sight)
    if p.openings is None or q.openings is None:
        return
    for name, other, marks, others in (("human", "model", p, q), ("model", "human", q, p)):
        telling = _telling(marks, others)
        if telling:
            shown = ", ".join(f"“{' '.join(words)}” ({times})" for words, times in telling.items())
            counts = {" ".join(words): times for words, times in telling.items()}
            numbers = {"set": name, "texts": marks.texts, "openings": counts}
            yield warn("opening_in_one_set", numbers, other=other, shown=shown)


def _telling(marks: Marks, others: Marks) -> dict[tuple[str, ...], int]:
    """The most common openings of one set that the other does not have; none that is a part of another one."""
    wanted = {
        words: times
        for words, times in marks.common_openings.items()
        if times > OPENING_SHARE * marks.texts
        and times >= LEAST_TEXTS
        and others.common_openings.get(words, 0) < RARE_SHARE * others.texts
    }
    found: dict[tuple[str, ...], int] = {}
    for words, times in sorted(wanted.items(), key=lambda item: (-item[1], item[0])):
        longer = [other for other, count in wanted.items() if other[: len(words)] == words and count >= ALIKE * times]
        best = max(longer, key=len)
        if not any(best[: len(other)] == other[: len(best)] for other in found):  # neither begins with the other
            found[best] = wanted[best]
    return dict(list(found.items())[:MOST_OPENINGS])
