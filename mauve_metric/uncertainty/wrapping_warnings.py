"""Warnings about wrappings of texts: each threshold once, with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.texts.fingerprints import Marks
from mauve_metric.uncertainty.score_warnings import ScoreWarning, warn

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
        yield from _openings(p.marks, q.marks)


def _differences(p: Marks, q: Marks) -> Iterator[ScoreWarning]:
    """Warnings about wrappings that only one set has."""
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


def _openings(p: Marks, q: Marks) -> Iterator[ScoreWarning]:
    """Words that many texts of one set begin with, and hardly any of the other."""
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
