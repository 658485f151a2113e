"""The verdict on two sets: a few facts computed once from a result, from which every view writes its sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from mauve_metric.options import MauveConfig
from mauve_metric.results.result import MauveResult, VerdictWord
from mauve_metric.uncertainty.closeness import Bound, closeness_of
from mauve_metric.uncertainty.forecast import texts_to_decide
from mauve_metric.uncertainty.score_warnings import ScoreWarning

FEWEST_TEXTS = 20  # of a set: two buckets of ten texts; fewer support no statement about two sets
EQUIVALENT, FEWEST_ALIKE = 0.9, 100  # sets whose closeness is shown to be above are alike; not of fewer texts a set
# Codes of warnings, with the reason that a verdict has for them, in the order in which they are looked for.
NOTHING_TO_SEE = {"constant_features": "constant_features"}
NOT_FEATURES = {**NOTHING_TO_SEE, "nearly_constant_features": "nearly_constant"}
OWN_PROMPTS = {"own_prompts": "undeclared_prompts"}  # for which texts are no draws, whatever is shown
WRONG_DESIGN = {
    "rows_not_aligned": "rows_not_aligned",
    "echoed_prompts": "echoed_prompts",
    "prompts_as_answers": "prompts_as_answers",
    "token_ids": "token_ids",
    "unseen_characters": "unseen_characters",
}
LAYOUT = {"format_differs": "layout", "wrapping_in_one_set": "layout"}
# These lift a score or make its errors too small, so that they contradict everything but a difference.
LIFTED = {
    "shared_prompts": "undeclared_prompts",
    "repeated_prompts": "undeclared_prompts",
    "duplicates_between": "shared_texts",
    "near_duplicates_between": "shared_texts",
    "copied_passages": "shared_texts",
    "short_references": "short_texts",
}
UNDECLARED = ("shared_prompts", "repeated_prompts", "own_prompts")  # warnings that a declared design answers
REASONS = ("too_few", *dict.fromkeys([*NOT_FEATURES.values(), *WRONG_DESIGN.values(), *LAYOUT.values()]))
REASONS += (*dict.fromkeys(LIFTED.values()), "no_interval")


def judged(result: MauveResult, config: MauveConfig) -> MauveResult:
    """Set a result's closeness with its interval, its verdict and the reason for it, from its bounds and warnings.

    "different": a test or an interval shows a difference (see `Closeness.shown`), or the model repeats itself more than
    the human set does. "like human": nothing does, and the interval of `FEWEST_ALIKE` texts lies above `EQUIVALENT`.
    "undecided": more texts would tell. "no verdict": the number cannot be believed; of a difference that is shown, this
    is said only of texts that are no draws.

    Args:
        config: with the scaling factor and the level.
    """
    closeness = closeness_of(result.bounds, config)
    codes = {warning.code for warning in result.warnings}
    if result.design != "undeclared":
        codes -= {*UNDECLARED}
    if "short_references" in codes:  # texts of a word are in both sets by chance
        codes -= {"prompts_as_answers", "duplicates_between"}
    if "unseen_characters" in codes:  # why the features are equal
        codes -= {*NOT_FEATURES}
    value, ci = (None, None) if closeness is None else (closeness.value, closeness.ci)
    by_bounds = () if closeness is None else [result.bounds[number] for number in closeness.shown]
    names = [f"{bound.kind} by {bound.featurizer}".removesuffix(" by ") for bound in by_bounds]
    repeats = () if result.repeats_p_value is None else ("repeats",)  # the model repeats itself more
    shown = (*dict.fromkeys(names), *repeats)
    word: VerdictWord
    word, reason = _word(result, codes, bool(shown), ci)
    least = [p_value for p_value in (closeness and closeness.p_value, result.repeats_p_value) if p_value is not None]
    needed = None
    if word == "undecided" and value is not None and ci is not None:
        needed = texts_to_decide(value, ci[0], EQUIVALENT, min(result.n_p, result.n_q), config.confidence_level)
        needed = needed and max(needed, FEWEST_ALIKE)
    plain = closeness_of(result.bounds_without_layout, config) if reason == "layout" else None
    return replace(
        result,
        closeness_without_layout=plain and plain.value,
        closeness_without_layout_ci=plain and plain.ci,
        by_layout_alone=plain is not None and not plain.shown and not repeats,
        closeness=value,
        closeness_ci=ci,
        verdict=word,
        verdict_reason=reason,
        shown_by=shown,
        shown_p_value=min(least, default=None) if shown else None,
        texts_needed=needed,
    )


def _word(
    result: MauveResult, codes: Collection[str], is_shown: bool, ci: tuple[float, float] | None
) -> tuple[VerdictWord, str | None]:
    """The verdict and the reason for it."""
    few = min(result.n_p, result.n_q) < FEWEST_TEXTS
    never = _first_of(NOTHING_TO_SEE if few else NOTHING_TO_SEE | OWN_PROMPTS, codes)
    if few or never is not None:
        return "no verdict", "too_few" if never is None else never
    if is_shown:
        return "different", _first_of(NOT_FEATURES | WRONG_DESIGN | LAYOUT, codes)
    reason = _first_of(NOT_FEATURES | WRONG_DESIGN, codes) or (ci and _first_of(LIFTED, codes))
    if ci is None or reason is not None:
        return "no verdict", reason or "no_interval"
    are_alike = ci[0] > EQUIVALENT and min(result.n_p, result.n_q) >= FEWEST_ALIKE
    return ("like human" if are_alike else "undecided"), None


def _first_of(reasons: Mapping[str, str], codes: Collection[str]) -> str | None:
    return next((reason for code, reason in reasons.items() if code in codes), None)


def is_same(score: float | None, other: float | None) -> bool:
    """Return whether two scores are one number, computed twice."""
    return score is not None and other is not None and abs(score - other) < 1e-12


def decides(results: Mapping[str, MauveResult], closeness: float | None) -> tuple[str, ...]:
    """The featurizers that closeness rests on: the one whose own is as low, or all, for a classifier of all."""
    names = tuple(name for name, result in results.items() if is_same(result.closeness, closeness))
    return names[:1] or (*results,)


def layout_warnings(results: Iterable[MauveResult]) -> list[ScoreWarning]:
    """The warnings of layout in results."""
    return [warning for result in results for warning in result.warnings if warning.code in LAYOUT]


def bounds_without_layout(results: Mapping[str, MauveResult]) -> tuple[Bound, ...]:
    """The bounds by all featurizers of the texts without layout; empty where some are not known.

    Those of a featurizer that does not see the layout are its own. A classifier of all features has none.
    """
    each = {
        name: result.bounds_without_layout if layout_warnings([result]) else result.bounds
        for name, result in results.items()
    }
    is_known = all(each.values()) and any(result.bounds_without_layout for result in results.values())
    return tuple(replace(bound, featurizer=name) for name in each for bound in each[name]) if is_known else ()


def bounds_of(results: Mapping[str, MauveResult]) -> tuple[Bound, ...]:
    """The bounds by all featurizers, under their names; without those of features that hold nothing.

    >>> bounds_of({})
    ()
    """
    useless = {*NOT_FEATURES, "unseen_characters"}
    useful = [
        name for name, result in results.items() if useless.isdisjoint(warning.code for warning in result.warnings)
    ]
    return tuple(replace(bound, featurizer=name) for name in useful or results for bound in results[name].bounds)
