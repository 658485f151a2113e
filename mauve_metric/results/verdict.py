"""Whether two sets differ, in words that never contradict the test, the interval or the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from mauve_metric.results.digits import digits, rounded_up
from mauve_metric.results.signature import signature_number
from mauve_metric.uncertainty import forecast

if TYPE_CHECKING:
    from mauve_metric.results.numbers import ResultNumbers

Finding: TypeAlias = Literal["apart", "alike", "undecided"]

SETTLED = 0.9  # an interval that goes down below leaves room for a difference as large as that between models
EVEN = 0.05  # of quality and coverage: a smaller difference is none
_ROUNDING = 1e-9  # of a p-value, which is a fraction, and of a level


def verdict(result: ResultNumbers) -> str:
    """Whether the two sets differ by more than chance, and if so, in which direction.

    The permutation test decides where there is one that can, else the interval; where both are there and disagree,
    the words say so.
    """
    test, interval = _by_test(result), _by_interval(result)
    chance = "" if result.p_value is None else f" ({chance_words(result)})"
    if test is None and interval is None:
        return f"There are too few texts to say whether the two sets differ{chance}."
    if not (interval if test is None else test):
        return _not_apart(result, chance)
    if test and not interval and result.mauve_ci is not None:
        how = "but these texts do not tell by how much, since the interval reaches as far as two human sets do"
        return f"The two sets differ by more than chance{chance}, {how}. {direction(result)}"
    return f"The two sets differ by more than chance{chance}. {direction(result)}"


def finding(result: ResultNumbers) -> Finding:
    """What `verdict` says, in one word."""
    test, interval = _by_test(result), _by_interval(result)
    if test is None and interval is None:
        return "undecided"
    if interval if test is None else test:
        return "apart"
    low, high = result.mauve_ci or (0.0, 1.0)
    return "alike" if high >= 1 and low >= SETTLED else "undecided"


def _not_apart(result: ResultNumbers, chance: str) -> str:
    """What is to be said where no difference is seen: there is none, or there are too few texts."""
    low, high = result.mauve_ci or (0.0, 1.0)
    if high < 1:
        other = "random splits of all texts" if _by_test(result) is False else "two human sets of these sizes"
        sentence = f"There are not enough texts to tell whether the two sets differ{chance}"
        return f"{sentence}: the interval says that they do, but {other} often differ as much."
    if low >= SETTLED:
        return f"As far as these texts can tell, the two sets do not differ{chance}."
    needed = texts_needed(result)
    many = f": about {rounded_up(needed)} a set would be, if they differ by as much as it seems" if needed else ""
    return f"There are not enough texts to tell whether the two sets differ{chance}{many}."


def _by_test(result: ResultNumbers) -> bool | None:
    """Whether the permutation test sees a difference; None without one, or with too few permutations to see any."""
    if result.p_value is None:
        return None
    level = 1 - signature_number(result.signature_entries, "confidence_level") + _ROUNDING
    return result.p_value <= level if 1 / (permutations(result) + 1) <= level else None


def _by_interval(result: ResultNumbers) -> bool | None:
    """Whether the interval ends below what two human sets reach, and the score below their average; None without."""
    if result.mauve_ci is None:
        return None
    return result.mauve_ci[1] < 1 and result.mauve < result.mauve_ceiling


def permutations(result: ResultNumbers) -> int:
    """Of the test of a result."""
    return int(signature_number(result.signature_entries, "permutations"))


def chance_words(result: ResultNumbers) -> str:
    """The p-value and what it rests on, such as "p = 0.005 from 199 permutations"; empty without one."""
    if result.p_value is None:
        return ""
    number = permutations(result)
    p = digits(result.p_value, ".2g")
    return f"p {p if p[0] in '<>' else f'= {p}'} from {number} permutation{'' if number == 1 else 's'}"


def texts_needed(result: ResultNumbers) -> int | None:
    """Texts a set that would tell the two sets apart if they differ by as much as they seem to; None if none would.

    Nor is there a forecast of a number that these sets have already.
    """
    if result.mauve_debiased is None or result.mauve_debiased >= 1:
        return None
    sides = (result.p_hist, result.n_p), (result.q_hist, result.n_q)
    p_counts, q_counts = (np.rint(hist * texts).astype(np.int64) for hist, texts in sides)
    entries, n = result.signature_entries, min(result.n_p, result.n_q)
    needed = forecast.texts_to_tell(
        p_counts,
        q_counts,
        result.mauve_debiased,
        n,
        signature_number(entries, "mauve_scaling_factor"),
        signature_number(entries, "confidence_level"),
    )
    return needed if needed is not None and needed > n else None


def direction(result: ResultNumbers) -> str:
    """In which direction the model fails."""
    if result.precision is None or result.recall is None:
        quality, coverage, names = result.prd_precision, result.prd_recall, "PRD"
    else:
        quality, coverage, names = result.precision, result.recall, "k-NN"
    values = f"({names} precision {digits(quality, '.2f')}, recall {digits(coverage, '.2f')})"
    if abs(quality - coverage) < EVEN:
        return f"Quality and coverage are about even {values}."
    if quality < coverage:
        return f"Quality is the weaker side: the model writes what humans here do not {values}."
    return f"Coverage is the weaker side: the model misses what humans here write {values}."
