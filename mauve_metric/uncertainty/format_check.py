"""Differences in form: AUC of length, line breaks and similar numbers, wrapping and defects of the texts of one set."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.inputs.fingerprints import TRAITS, Marks
from mauve_metric.measures.cross_fitting import cross_fit
from mauve_metric.runtime.checks import listed
from mauve_metric.uncertainty.score_warnings import ScoreWarning, warn

TELLING = 0.6  # AUC above which layout is named
_SURE = 0.01  # p-value above which it may be chance
_PERMUTATIONS = 19
_NAMED = 3  # parts of the layout in a message


Formats: TypeAlias = tuple[float | None, dict[str, float] | None, tuple[str, ...]]
UNCHECKED: Formats = (None, None, ())


def check_format(
    p: Floats | None,
    q: Floats | None,
    groups: tuple[Integers, Integers] | None,
    seed: int,
    unseen: Collection[str] = (),
) -> Formats:
    """Cross-fit a classifier of all layout that a featurizer sees, and one of each number of the format.

    Args:
        p, q: numbers of `format_numbers`, (n_p, f) and (n_q, f); None: not known. groups: of texts that are not
            independent, equal on both sides for one group. seed: of the folds. unseen: names of `TRAITS` that the
            featurizer leaves out.

    Returns:
        The AUC of all layout that the featurizer sees, and that of each number alone, by its name in `TRAITS`. If
        layout alone separates the sets, significantly and with an AUC above 0.6: its names, the strongest first (the
        strongest alone where each is weak). `UNCHECKED` where the numbers of a side are not known, or it has fewer than
        ten texts.

    >>> numbers = np.random.default_rng(0).normal(size=(40, len(TRAITS)))
    >>> check_format(numbers, numbers + np.eye(len(TRAITS))[1] * 9, None, 0)[2]
    ('line_breaks',)
    """
    if p is None or q is None or min(len(p), len(q)) < 10:
        return UNCHECKED
    if groups is not None and min(len(np.unique(groups[0])), len(np.unique(groups[1]))) < 10:
        return UNCHECKED
    p_order, q_order = np.lexsort(p.T), np.lexsort(q.T)  # so that the folds do not follow the order of the rows
    rows, is_model = np.concatenate([p[p_order], q[q_order]]), np.arange(len(p) + len(q)) >= len(p)
    together = None if groups is None else np.concatenate([groups[0][p_order], groups[1][q_order]])
    layout = [name for name, trait in TRAITS.items() if trait.without is not None and name not in unseen]
    columns = [column for column, name in enumerate(TRAITS) if name in layout]
    fitted = cross_fit(rows[:, columns], is_model, together, seed=seed, permutations=_PERMUTATIONS)
    each = dict.fromkeys(TRAITS, 0.5)  # what all texts have alike tells nothing
    for column, name in enumerate(TRAITS):
        if np.ptp(rows[:, column]) > 0:
            each[name] = cross_fit(rows[:, [column]], is_model, together, seed=seed).auc
    if fitted.auc <= TELLING or fitted.p_value > _SURE:
        return fitted.auc, each, ()
    layout.sort(key=lambda name: -each[name])
    return fitted.auc, each, tuple(name for name in layout if each[name] > TELLING) or tuple(layout[:1])


UNTRIED = "the score may be partly of layout"
_UNTRIED_WEIGHT = 0.3


def format_warnings(formats: Formats, featurizer: str | None) -> Iterator[ScoreWarning]:
    """Warn if layout that the featurizer sees separates the sets; what that does to the score is not tried here.

    Args:
        formats: of `check_format`. featurizer: its name; None: not known.
    """
    auc, each, telling = formats
    if each is not None and telling:
        numbers = {"auc": auc, "layout": [*telling]}
        yield format_warning(numbers | {f"auc_{name}": each[name] for name in telling}, featurizer)


def format_warning(
    numbers: dict[str, Any], featurizer: str | None, effect: str = UNTRIED, cure: str = "", weight: float | None = None
) -> ScoreWarning:
    """The warning of layout that separates the sets.

    Args:
        numbers: has "layout", names of `TRAITS`, and the AUC of each.
        effect: a clause on what the layout does to the score. cure: options that remove it; empty: none is known.
        weight: how far the score moves without the layout; None: not known.
    """
    names = numbers["layout"][:_NAMED]
    first, *others = (TRAITS[name].what for name in names)
    shown = [f"{first} (AUC {numbers[f'auc_{names[0]}']:.2f})", *others]
    what = listed(shown)
    who, cure = featurizer or "the featurizer", f". Cure: {cure}" if cure else ""
    warning = warn("format_differs", numbers, what=what, who=who, effect=effect, cure=cure)
    return warning._replace(weight=_UNTRIED_WEIGHT if weight is None else weight)


STRIPPED_SHARE = 0.01  # of a set: above, what was taken off is no accident, and the score is of other texts
WRAPPED_SHARE = 0.01  # of one set, and less than a tenth of that of the other: it dominates a featurizer's distances
NUMBERS_SHARE = 0.2  # more of one set than of the other are lists of numbers: no accident
LOOPS_MORE = 0.03  # of one set than of the other: people's texts loop once in a thousand
DEFECTS = {  # warnings by the mark of texts that one set has more of, by which share
    "looping_texts": ("loops", LOOPS_MORE),
    "garbled_texts": ("garbled", WRAPPED_SHARE),
    "token_ids": ("numbers", NUMBERS_SHARE),
}
TIMES_MORE = 3  # in one set than in the other
BLANKS_SHARE = 0.1  # instead: a sampled text that was cut ends with a blank once in twenty, which moves no score
OPENING_SHARE = 0.05  # of one set, and next to none of the other: people do not begin alike so often
LEAST_MARKED = 5  # that must show it: fewer of a small set may be chance
MOST_OPENINGS = 3  # that a warning shows
ALIKE = 0.9  # of the texts with an opening go on with the same word: then that is shown as well
SIGHTS = {
    "undecoded": "undecoded marks such as Ġ, @@, <newline>, a written-out \\n or ['…']",
    "next_turn": "another speaker's turn such as User:",
    "reasoning": "reasoning such as <think>",
    "special_tokens": "special tokens such as <|im_end|> or </s>",
    "html": "HTML such as <p> or &amp;",
    "markdown": "Markdown such as fences and headings",
    "whitespace": "blanks at their beginning or end",
    "prompts": "their prompt",
}


def wrapping_warnings(p: FeatureSet, q: FeatureSet) -> Iterator[ScoreWarning]:
    """Texts that were changed, what one set is wrapped in or opens with and the other is not, and its defects."""
    for side, name in ((p, "human"), (q, "model")):
        many = {rule: times for rule, times in side.stripped.items() if times > STRIPPED_SHARE * len(side)}
        if many:
            rules = ", ".join(f"{rule} off {times}" for rule, times in many.items())
            yield warn("stripped_texts", {"set": name, "texts": len(side), **many}, rules=rules)
        missing = 0 if side.marks is None else side.marks.wrapped.get("missing", 0)
        if missing:
            numbers = {"set": name, "texts": len(side), "count": missing, "share": missing / len(side)}
            yield warn("missing_values", numbers, are="is" if missing == 1 else "are")
    if p.marks is not None and q.marks is not None:
        for code, (mark, more) in DEFECTS.items():
            if numbers := _more_in_one(p.marks, q.marks, mark, more):
                yield warn(code, numbers, more=with_more(numbers))
        yield from _differences(p.marks, q.marks, p.unseen_formats or ())


def _more_in_one(p: Marks, q: Marks, mark: str, more: float) -> dict[str, Any]:
    """The numbers of texts with a mark, if one set has so many more of them; else nothing."""
    human, model = p.wrapped.get(mark, 0), q.wrapped.get(mark, 0)
    low, high = sorted((human / p.texts, model / q.texts))
    if high - low <= more or high <= TIMES_MORE * low or max(human, model) < 2:
        return {}
    return {"p_texts": human, "q_texts": model, "n_p": p.texts, "n_q": q.texts, "share": high}


def with_more(numbers: Mapping[str, Any]) -> str:
    """The set that has the larger share."""
    return "human" if numbers["p_texts"] * numbers["n_q"] > numbers["q_texts"] * numbers["n_p"] else "model"


def _differences(p: Marks, q: Marks, unseen: Collection[str]) -> Iterator[ScoreWarning]:
    """Warnings about wrappings that only one set has, and words that many texts of one begin with."""
    for rule, sight in SIGHTS.items():
        human, model = p.wrapped.get(rule, 0), q.wrapped.get(rule, 0)
        shares = human / p.texts, model / q.texts
        blanks = rule == "whitespace"
        if blanks and "outer_blanks" in unseen:
            continue
        if rule == "prompts" and not (rule in p.wrapped and rule in q.wrapped):
            continue  # known of one set alone
        if max(shares) <= (BLANKS_SHARE if blanks else WRAPPED_SHARE) or min(shares) >= max(shares) / 10:
            continue
        if (human if shares[0] > shares[1] else model) < LEAST_MARKED:
            continue
        numbers = {"kind": rule, "p_texts": human, "q_texts": model, "n_p": p.texts, "n_q": q.texts}
        numbers |= {"share": max(shares)}
        if rule == "prompts":
            yield warn("echoed_prompts", numbers)
        else:
            yield warn("blanks_in_one_set" if blanks else "wrapping_in_one_set", numbers, sight=sight)
    if p.openings is None or q.openings is None:
        return
    for name, other, marks, others in (("human", "model", p, q), ("model", "human", q, p)):
        telling = _telling(marks, others)
        if telling:
            shown = ", ".join(f"“{' '.join(words)}” ({times})" for words, times in telling.items())
            counts = {" ".join(words): times for words, times in telling.items()}
            share = max(counts.values()) / marks.texts
            numbers = {"set": name, "texts": marks.texts, "openings": counts, "share": share}
            yield warn("opening_in_one_set", numbers, other=other, shown=shown)


def _telling(marks: Marks, others: Marks) -> dict[tuple[str, ...], int]:
    """The most common openings of one set that the other does not have; none that is a part of another one."""
    wanted = {
        words: times
        for words, times in marks.common_openings.items()
        if times > OPENING_SHARE * marks.texts and times >= LEAST_MARKED and words not in others.common_openings
    }
    openings: dict[tuple[str, ...], int] = {}
    for words, times in sorted(wanted.items(), key=lambda opening: (-opening[1], opening[0])):
        longer = [other for other, count in wanted.items() if other[: len(words)] == words and count >= ALIKE * times]
        best = max(longer, key=len)
        if not any(best[: len(other)] == other[: len(best)] for other in openings):  # neither begins with the other
            openings[best] = wanted[best]
    return dict(list(openings.items())[:MOST_OPENINGS])
