"""The score on learned buckets and its classifier in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mauve_metric.results.digits import digits, p_words
from mauve_metric.results.names import shown_names
from mauve_metric.results.signature import signature_number
from mauve_metric.texts.format_numbers import FORMATS

if TYPE_CHECKING:
    from mauve_metric.results.numbers import ComparisonNumbers, ResultNumbers

_ROUNDING = 1e-9


def told_apart_by_classifier(result: ResultNumbers) -> bool | None:
    """Whether a cross-fitted classifier tells the two sets apart, at the config's level; None where there is none.

    An AUC of at most ½ is no difference.
    """
    if result.auc is None or result.auc_p_value is None:
        return None
    level = 1 - signature_number(result.signature_entries, "confidence_level") + _ROUNDING
    return result.auc > 0.5 and result.auc_p_value <= level


def auc_words(result: ResultNumbers) -> str:
    """The classifier's AUC, its interval and p-value; empty without one.

    >>> from mauve_metric import compute_mauve
    >>> auc_words(compute_mauve(p_features=[[0.0], [1.0]] * 9, q_features=[[0.0], [1.0]] * 9))
    ''
    """
    if result.auc is None or result.auc_p_value is None:
        return ""
    interval = (
        "" if result.auc_ci is None else f" ({digits(result.auc_ci[0], '.2f')} to {digits(result.auc_ci[1], '.2f')})"
    )
    return f"AUC {digits(result.auc, '.3f')}{interval}, {p_words(result.auc_p_value)}"


def format_sentence(result: ResultNumbers) -> str:
    """That format alone tells the sets apart, and its strongest part; empty where it does not."""
    if not any(warning.code == "format_differs" for warning in result.warnings) or not result.format_aucs:
        return ""
    name = max(result.format_aucs, key=lambda name: (result.format_aucs or {})[name])
    said = f"{FORMATS[name].what} alone have an AUC of {digits(result.format_aucs[name], '.2f')}"
    return f"Mind the format first: {said} (cure: {FORMATS[name].cure})."


def learned_sentence(result: ResultNumbers) -> str:
    """The score on learned buckets with its interval, and the AUC; empty where it is not known."""
    if result.mauve_classifier is None:
        return ""
    sentence = "By what separates the two sets best (buckets that a classifier learns): "
    sentence += f"{digits(result.mauve_classifier, '.3f')} of what two human sets reach"
    if result.mauve_classifier_ci is not None:
        low, high = (digits(end, ".3f") for end in result.mauve_classifier_ci)
        sentence += f" ({low} to {high})"
    return f"{sentence}; {auc_words(result)}."


def learned_ranking(comparison: ComparisonNumbers) -> str:
    """The models by falling score on learned buckets, each with its interval; empty for one, or where none has any."""
    scores = {name: result for name, result in comparison.models.items() if result.mauve_classifier is not None}
    if len(scores) < 2:
        return ""
    called = shown_names(list(comparison.models))
    found = []
    for name in sorted(scores, key=lambda name: -(scores[name].mauve_classifier or 0.0)):
        value, ends = scores[name].mauve_classifier or 0.0, scores[name].mauve_classifier_ci
        interval = "" if ends is None else f" ({digits(ends[0], '.2f')} to {digits(ends[1], '.2f')})"
        found.append(f"{called[name]} {digits(value, '.2f')}{interval}")
    return f"By what separates each model from the human texts best (learned buckets): {', '.join(found)}."
