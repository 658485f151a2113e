"""The score on learned buckets and its classifier in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mauve_metric.results.digits import digits, p_words
from mauve_metric.results.names import shown_names
from mauve_metric.texts.format_numbers import FORMATS

if TYPE_CHECKING:
    from mauve_metric.features.ngram_use import NgramUse
    from mauve_metric.results.comparison import Comparison
    from mauve_metric.results.numbers import Difference, LearnedScore, ScoredText
    from mauve_metric.results.result import MauveResult


def classifier_p_value(result: MauveResult) -> float | None:
    """The p-value of a cross-fitted classifier's AUC, 1 for at most ½, which is no difference; None without one."""
    if result.auc is None:
        return None
    return result.auc_p_value if result.auc > 0.5 else 1.0


def auc_words(result: MauveResult) -> str:
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


def strongest_format(result: MauveResult) -> str:
    """The part of the format that separates two sets best, where format alone separates them; else empty."""
    if not any(warning.code == "format_differs" for warning in result.warnings) or not result.format_aucs:
        return ""
    return FORMATS[_strongest(result.format_aucs)].what


def _strongest(aucs: Mapping[str, float]) -> str:
    return max(aucs, key=lambda name: aucs[name])


def format_sentence(result: MauveResult) -> str:
    """Sentence for sets that format alone separates, with its strongest part; else empty."""
    if not strongest_format(result) or not result.format_aucs:
        return ""
    name = _strongest(result.format_aucs)
    said = f"the AUC of {FORMATS[name].what} alone is {digits(result.format_aucs[name], '.2f')}"
    return f"Mind the format first: {said} (cure: {FORMATS[name].cure})."


def learned_sentence(result: MauveResult) -> str:
    """The score on learned buckets with its interval and AUC, and without format; empty where it is not known."""
    if result.mauve_classifier is None:
        return ""
    sentence = "By style (what a classifier finds): "
    sentence += f"{digits(result.mauve_classifier, '.3f')} of what two human sets reach"
    if result.mauve_classifier_ci is not None:
        low, high = (digits(end, ".3f") for end in result.mauve_classifier_ci)
        sentence += f" ({low} to {high})"
    both = (normalised_sentence(result), together_sentence(result))
    return " ".join(filter(None, (f"{sentence}; {auc_words(result)}.", *both)))


def learned_ranking(comparison: Comparison) -> str:
    """The models by falling score on learned buckets with intervals, and how many differences are significant.

    With several featurizers also by one classifier of all their features. Empty for one model, or where none has such a
    score.
    """
    if len(comparison.learned_ranking) < 2:
        return ""
    first = "By style (learned buckets)"
    said = _ranked_models(comparison, first, comparison.learned_ranking, comparison.learned_differences)
    if len(comparison.together_ranking) < 2:
        return said
    second, together = "By one classifier of the features of all featurizers", comparison.together_ranking
    return f"{said} {_ranked_models(comparison, second, together, comparison.together_differences)}"


def _ranked_models(comparison: Comparison, title: str, ranking: Sequence[str], pairs: Sequence[Difference]) -> str:
    """The models of one ranking with their scores, and how many of their differences are significant."""
    called = shown_names(list(comparison.models))
    found = []
    for name in ranking:
        result = comparison.models[name]
        score = result if pairs is comparison.learned_differences else result.together
        value, ends = (0.0, None) if score is None else (score.mauve_classifier or 0.0, score.mauve_classifier_ci)
        interval = "" if ends is None else f" ({digits(ends[0], '.2f')} to {digits(ends[1], '.2f')})"
        found.append(f"{called[name]} {digits(value, '.2f')}{interval}")
    ranked = f"{title}: {', '.join(found)}."
    level = f"{100 * (1 - comparison.confidence_level):.3g} %"
    if len(pairs) == 1:
        real = "" if pairs[0].real else "not "
        return f"{ranked} The difference is {real}significant at the level of {level}."
    real_ones = sum(item.real for item in pairs)
    verb = "is" if real_ones == 1 else "are"
    return f"{ranked} {real_ones} of {len(pairs)} differences {verb} significant at the level of {level}."


LEARNED_DIFFERENCES = "Differences of the scores on learned buckets"
TOGETHER_DIFFERENCES = "Differences of the learned scores by all featurizers together"
EXTREMES_NOTE = (
    "Texts at the two ends of the classifier behind the learned buckets, which was not fitted to them: the human texts "
    "that it finds most human, and the model's that it finds most like the model's."
)
NGRAMS_NOTE = (
    "What the two sets use differently (⏎ is a line break, ␣ a blank, [long word] any word of more than three letters):"
)


def scored_label(text: ScoredText) -> str:
    """The number of a text and its score.

    >>> from mauve_metric.results.numbers import ScoredText
    >>> scored_label(ScoredText(7, -2.345, None))
    'text 7 (score -2.3)'
    """
    return f"text {text.row} (score {digits(text.score, '+.1f')})"


def ngram_sentence(use: NgramUse) -> str:
    """Sentence on the use of an n-gram by either side, with the part of the format that it is.

    >>> from mauve_metric.features.ngram_use import NgramUse
    >>> ngram_sentence(NgramUse("⏎⏎", "letters", 0.5, 4.5, 30.0, "line breaks"))
    'the model writes “⏎⏎” 9.0 times as often (4.5 against 0.5 of 1,000 pairs of characters); format: line breaks'
    """
    more, less = max(use.p_per_1000, use.q_per_1000), min(use.p_per_1000, use.q_per_1000)
    who, writes = ("the model", "writes") if use.q_per_1000 >= use.p_per_1000 else ("people", "write")
    pairs = "characters" if use.kind == "letters" else "words and marks"
    if less == 0:
        said = f"only {who} {writes} “{use.ngram}” ({_rate(more)} of 1,000 pairs of {pairs})"
    else:
        times = f"{_rate(more / less)} times as often"
        rates = f"({_rate(more)} against {_rate(less)} of 1,000 pairs of {pairs})"
        said = f"{who} {writes} “{use.ngram}” {times} {rates}"
    return f"{said}; format: {use.format}" if use.format else said


def normalised_sentence(result: MauveResult) -> str:
    """The learned score without line breaks, runs of blanks and capitals, or why it is not known; else empty."""
    if result.normalised is None:
        missing = result.normalised_missing
        return f"That score without format is not known: {missing}." if missing else ""
    same = "With white space collapsed and capitals in lower case, that score is"
    return f"{same} {_score_words(result.normalised)}."


def together_sentence(result: MauveResult) -> str:
    """The learned score from the features of several featurizers together; empty for one."""
    if result.together is None:
        return ""
    return f"By one classifier of the features of all featurizers, it is {_score_words(result.together)}."


def _score_words(found: LearnedScore) -> str:
    low, high = (digits(end, ".3f") for end in found.mauve_classifier_ci)
    return f"{digits(found.mauve_classifier, '.3f')} ({low} to {high}), AUC {digits(found.auc, '.3f')}"


def _rate(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 0.1 else f"{value:.2g}"
