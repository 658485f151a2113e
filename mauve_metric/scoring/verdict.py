"""The verdict on two sets: a few facts computed once from a result, from which every view writes its sentences."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from mauve_metric.options import MauveConfig
from mauve_metric.results.result import MauveResult, VerdictWord
from mauve_metric.uncertainty.closeness import Bound, closeness_of

FEWEST_TEXTS = 20  # of a set: two buckets of ten texts; fewer support no statement about two sets
SMALL = 0.035  # a distance from 1 that is small, and that 850 to 1000 independent texts a set would show
# Codes of warnings, with the reason that a verdict has for them, in the order in which they are looked for.
NOT_FEATURES = {"constant_features": "constant_features", "nearly_constant_features": "nearly_constant"}
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
UNDECLARED = ("shared_prompts", "repeated_prompts")  # warnings that a declared design answers
REASONS = ("too_few", *dict.fromkeys([*NOT_FEATURES.values(), *WRONG_DESIGN.values(), *LAYOUT.values()]))
REASONS += (*dict.fromkeys(LIFTED.values()), "no_interval")


def judged(result: MauveResult, config: MauveConfig) -> MauveResult:
    """Set a result's closeness with its interval, its verdict and the reason for it, from its bounds and warnings.

    "different": a test or an interval shows a difference (see `Closeness.shown`). "like human": none does, and one of
    `SMALL` would have shown in 8 of 10 cases.
    "undecided": more texts would tell. "no verdict": the number cannot be believed.

    Args:
        config: with the scaling factor and the level.
    """
    closeness = closeness_of(result.bounds, config)
    codes = {warning.code for warning in result.warnings}
    if result.design != "undeclared":
        codes -= {*UNDECLARED}
    word: VerdictWord
    shown = closeness is not None and bool(closeness.shown)
    reason = _no_verdict(result, codes, shown or closeness is None or closeness.ci is None)
    if closeness is None or closeness.ci is None:
        word, reason = "no verdict", reason or "no_interval"
    elif reason is not None:
        word = "no verdict"
    elif shown:
        word, reason = "different", _first_of(LAYOUT, codes)
    elif closeness.ci[1] >= 1 and closeness.smallest is not None and closeness.smallest <= SMALL:
        word = "like human"
    else:
        word = "undecided"
    value, ci = (None, None) if closeness is None else (closeness.value, closeness.ci)
    bounds = [result.bounds[number] for number in closeness.shown] if closeness is not None else []
    names = dict.fromkeys(f"{bound.kind} by {bound.featurizer}".removesuffix(" by ") for bound in bounds)
    return replace(
        result,
        closeness=value,
        closeness_ci=ci,
        verdict=word,
        verdict_reason=reason,
        shown_by=tuple(names),
        smallest_difference=None if closeness is None else closeness.smallest,
    )


def _no_verdict(result: MauveResult, codes: Collection[str], is_shown: bool) -> str | None:
    """The reason for which the number cannot be believed; is_shown: what lifts a score is none."""
    if min(result.n_p, result.n_q) < FEWEST_TEXTS:
        return "too_few"
    reason = _first_of(NOT_FEATURES | WRONG_DESIGN, codes)
    return reason if reason is not None or is_shown else _first_of(LIFTED, codes)


def _first_of(reasons: Mapping[str, str], codes: Collection[str]) -> str | None:
    return next((reason for code, reason in reasons.items() if code in codes), None)


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
