"""Verdict on two sets, in words that never contradict the test, the interval, the score or a warning."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mauve_metric.results.plain_text import digits, in_brackets, p_words, printable, rounded_up, shown_names
from mauve_metric.results.signature import signature_number
from mauve_metric.texts.fingerprints import FORMATS
from mauve_metric.uncertainty import forecast
from mauve_metric.uncertainty.blind_spots import blind_spots, is_measured
from mauve_metric.uncertainty.gap_buckets import holm

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mauve_metric.results.comparison import Comparison
    from mauve_metric.results.result import LearnedScore, MauveResult

Finding: TypeAlias = Literal["shown", "not shown", "undecided", "withheld"]

SETTLED = 0.9  # an interval that goes down below leaves room for a difference as large as that between models
EVEN = 0.05  # of quality and coverage: a smaller difference is none
FEWEST_TEXTS = 20  # two buckets of ten texts: fewer support no statement about two sets
LEARNED_DIFFERENCES = "Differences of the scores on learned buckets"
TOGETHER_DIFFERENCES = "Differences of the learned scores by all featurizers together"
_ROUNDING = 1e-9  # of a p-value, which is a fraction, and of a level

WITHHELD = {  # warnings that contradict any verdict, with the reason
    "shared_prompts": "the two sets share prompts, for which the interval and the test do not allow",
    "constant_features": "all features are equal",
    "nearly_constant_features": "the features differ by rounding only",
    "wrapping_in_one_set": "one set has layout that the other has not, and the score may be of that",
    "rows_not_aligned": "the rows are not aligned, as they are said to be",
    "short_references": "the human texts are a few words long, and MAUVE is not for such texts",
}
# These make a classifier's p-value too large, not too small: a text's partner of the other side is among those that its
# classifier was fitted to.
TOO_CAREFUL = ("shared_prompts",)
LIFTED = {  # warnings that contradict a verdict of no visible difference, with the reason
    "duplicates_between": "texts of the model are in the human set too, which lifts the score",
    "near_duplicates_between": "texts of the model nearly repeat human ones, which lifts the score",
    "copied_passages": "texts of the model copy passages of human ones, which lifts the score",
    "no_interval": "the score has no interval, for the reason that its warning gives",
}


def verdict(result: MauveResult) -> str:
    """State if these texts show a difference between the two sets, on which features, in which direction.

    The permutation test decides where there is one that can, else the interval; where both are there and disagree,
    the verdict mentions both. A classifier that separates the sets decides where these do not: buckets depend on the
    topics of the texts, and matched topics hide every other difference. These two tests have Holm's correction: of
    equal sets, one of them finds a difference with the probability 1 - `confidence_level` at most. Without a
    difference the words give the smallest detectable one. With a warning that contradicts the number there is no
    verdict.
    """
    if reason := withheld(result):
        return f"No verdict: {reason}."
    chance = "" if result.p_value is None else f" ({chance_words(result)})"
    by_buckets, by_classifier = told_apart(result)
    if by_classifier and not by_buckets:
        found = f"a classifier tells them apart ({auc_words(result)})"
        blind = f"buckets of k-means, which follow what the texts are about, do not{chance}"
        features = on_named_features(result.signature_entries)
        return f"The two sets differ by more than chance {features}: {found}, where {blind}."
    if by_buckets is None:
        return f"There are too few texts to say whether the two sets differ{chance}."
    if not by_buckets:
        return _not_apart(result, chance)
    sentence = f"The two sets differ by more than chance{chance} {on_named_features(result.signature_entries)}"
    if result.mauve_ci is not None and not _by_interval(result):
        sentence += "; these texts do not tell by how much, since the interval reaches as far as two human sets do"
    return f"{sentence}. {direction(result)}"


def withheld(result: MauveResult, but: Collection[str] = ()) -> str:
    """The reason for which there is no verdict on the two sets; empty if there is one.

    but: codes of warnings to ignore.
    """
    fewest = min(result.n_p, result.n_q)
    if fewest < FEWEST_TEXTS:
        few = "1 text is" if fewest == 1 else f"{fewest} texts are"
        return f"{few} too few for one, it takes {FEWEST_TEXTS} a set at least"
    declared = () if result.design == "independent" else ("shared_prompts",)  # the intervals allow for them
    codes = [warning.code for warning in result.warnings if warning.code not in (*declared, *but)]
    careful = TOO_CAREFUL if told_apart(result)[1] else ()
    reasons = [WITHHELD[code] for code in codes if code in WITHHELD and code not in careful]
    if not any(told_apart(result)):
        reasons += [LIFTED[code] for code in codes if code in LIFTED]
    return "; ".join(reasons)


def finding(result: MauveResult) -> Finding:
    """The verdict on a difference in a word: these texts show one, or do not, or are too few; or none is given."""
    if withheld(result):
        return "withheld"
    if any(told_apart(result)):
        return "shown"
    if told_apart(result)[0] is None:
        return "undecided"
    low, high = result.mauve_ci or (0.0, 1.0)
    learned_low = 1.0 if result.mauve_classifier_ci is None else result.mauve_classifier_ci[0]
    return "not shown" if high >= 1 and min(low, learned_low) >= SETTLED else "undecided"


def told_apart(result: MauveResult) -> tuple[bool | None, bool | None]:
    """Results of two tests at the config's level: by buckets and by a classifier; None if undecided.

    Both tests together have this level, by Holm's correction of their p-values. Of the buckets it is that of the
    permutation test where that can decide. Else it is half the level where the interval ends below 1: an interval errs
    as often on either side, and equal sets have 1.
    """
    level, by_buckets = _level(result), _test_p_value(result)
    if by_buckets is None and result.mauve_ci is not None:
        by_buckets = level / 2 if _by_interval(result) else 1.0
    p_values = by_buckets, classifier_p_value(result)
    corrected = iter(holm([value for value in p_values if value is not None]) <= level)
    found = [None if value is None else bool(next(corrected)) for value in p_values]
    return found[0], found[1]


def _not_apart(result: MauveResult, chance: str) -> str:
    """The words where no difference is seen: how large one would have been, and how many texts it takes."""
    low, high = result.mauve_ci or (0.0, 1.0)
    features = on_features(result.signature_entries)
    sentence = f"These texts do not show a difference between the two sets{chance} {features}"
    if auc_words(result):
        sentence += f", nor does a classifier ({auc_words(result)})"
        small = min(_test_p_value(result) or 1.0, classifier_p_value(result) or 1.0) <= _level(result)
        sentence += ", with Holm's correction for two tests" if small else ""
    if (seen := smallest_shown(result)) is not None:
        sentence += f"; one of {digits(seen, '.2g')} or more would have shown in 8 of 10 cases"
    if high < 1:
        other = "random splits of all texts" if _test_p_value(result) is not None else "two human sets of these sizes"
        return f"{sentence}. The interval ends below 1, but {other} often differ as much."
    needed = None if low >= SETTLED else texts_needed(result)
    if needed is None:
        return f"{sentence}."
    return f"{sentence}. If they differ by as much as it seems, it takes about {rounded_up(needed)} texts a set."


def smallest_shown(result: MauveResult) -> float | None:
    """Smallest gap below 1 that sets of these sizes would show in 8 of 10 cases; None without errors."""
    if result.frontier_integral_stderr is None:
        return None
    sizes = result.p_prompts or result.n_p, result.q_prompts or result.n_q
    settings = signature_number(result.signature_entries, "mauve_scaling_factor"), result.confidence_level
    return 1 - forecast.score_told_from_one(result.frontier_integral_stderr, *sizes, *settings)


def _level(result: MauveResult) -> float:
    """The level of the tests."""
    return 1 - result.confidence_level + _ROUNDING


def _test_p_value(result: MauveResult) -> float | None:
    """The p-value of the permutation test; None without one, and with too few permutations to find a difference."""
    tests = 1 if result.auc is None else 2
    return None if tests / (permutations(result) + 1) > _level(result) else result.p_value


def _by_interval(result: MauveResult) -> bool:
    """Return True if the interval ends below 1, and the score is lower than chance makes that of two human sets."""
    if result.mauve_ci is None or result.mauve_ci[1] >= 1:
        return False
    deviations = NormalDist().inv_cdf((1 + result.confidence_level) / 2)
    return result.mauve < result.mauve_ceiling - deviations * result.mauve_ceiling_std


def permutations(result: MauveResult) -> int:
    """Number of permutations in the test of a result."""
    return int(signature_number(result.signature_entries, "permutations"))


def chance_words(result: MauveResult) -> str:
    """The p-value and its number of permutations, such as "p = 0.005 from 199 permutations"; empty without one."""
    if result.p_value is None:
        return ""
    number = permutations(result)
    return f"{p_words(result.p_value)} from {number} permutation{'' if number == 1 else 's'}"


def texts_needed(result: MauveResult) -> int | None:
    """Texts per set that would show a difference as large as the observed one; None if no number would.

    Also None for a number that these sets already have.
    """
    if result.mauve_debiased is None or result.mauve_debiased >= 1:
        return None
    sides = (result.p_hist, result.n_p), (result.q_hist, result.n_q)
    p_counts, q_counts = (np.rint(hist * texts).astype(np.int64) for hist, texts in sides)
    settings = signature_number(result.signature_entries, "mauve_scaling_factor"), result.confidence_level
    n = min(result.n_p, result.n_q)
    needed = forecast.texts_to_tell(p_counts, q_counts, result.mauve_debiased, n, *settings)
    return needed if needed is not None and needed > n else None


def direction(result: MauveResult) -> str:
    """Words for the direction in which the model fails."""
    quality, coverage, names = result.prd_precision, result.prd_recall, "PRD"
    if result.precision is not None and result.recall is not None:
        quality, coverage, names = result.precision, result.recall, "k-NN"
    values = f"({names} precision {digits(quality, '.2f')}, recall {digits(coverage, '.2f')})"
    if abs(quality - coverage) < EVEN:
        return f"Quality and coverage are about even {values}."
    if quality < coverage:
        return f"Quality is the weaker side: the model writes what humans here do not {values}."
    return f"Coverage is the weaker side: the model misses what humans here write {values}."


def on_features(entries: Mapping[str, object]) -> str:
    """Words for the features of a verdict, and the errors that their featurizer does not detect.

    Args:
        entries: of the signature.

    >>> on_features({"p_input": "features"})
    'on the features given'
    >>> on_features({"featurize_model_name": "org/name"})
    'on the features of org/name, whose blind spots were not measured'
    """
    said = on_named_features(entries)
    identity = {name: str(value) for name, value in entries.items()}
    if unseen := blind_spots(identity):
        return f"{said}, which was measured not to see {unseen.said}"
    known = "featurize_model_name" not in entries or is_measured(identity)
    return said if known else f"{said}, whose blind spots were not measured"


def on_named_features(entries: Mapping[str, object]) -> str:
    """Words for the features, with their featurizer's name.

    >>> on_named_features({"featurize_model_name": "minilm"})
    'on the features of minilm'
    """
    name = entries.get("featurize_model_name")
    return "on the features given" if name is None else f"on the features of {printable(str(name))}"


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
    return f"AUC {digits(result.auc, '.3f')}{in_brackets(result.auc_ci, '.2f')}, {p_words(result.auc_p_value)}"


def strongest_format(result: MauveResult) -> str:
    """The part of the format that separates two sets best, a key of `FORMATS`, where format alone does; else empty."""
    layout = (warning.numbers["layout"][0] for warning in result.warnings if warning.code == "format_differs")
    return next(layout, "")


def format_sentence(result: MauveResult) -> str:
    """Sentence for sets that format alone separates, with its strongest part; else empty."""
    if not (name := strongest_format(result)) or not result.format_aucs:
        return ""
    return f"Mind the format first: the AUC of {FORMATS[name].what} alone is {digits(result.format_aucs[name], '.2f')}."


def learned_sentence(result: MauveResult) -> str:
    """The score on learned buckets with its interval and AUC; empty where it is not known.

    Then that score without line breaks, runs of blanks and capitals, or why it is not known, and the score from the
    features of several featurizers together.
    """
    if result.mauve_classifier is None:
        return ""
    score = f"{digits(result.mauve_classifier, '.3f')} of what two human sets reach"
    interval = in_brackets(result.mauve_classifier_ci)
    said = [f"By style (what a classifier finds): {score}{interval}; {auc_words(result)}."]
    if result.normalised is not None:
        same = "Without the layout that differs, that score is"
        said.append(f"{same} {_score_words(result.normalised)}.")
    elif result.normalised_missing:
        said.append(f"That score without format is not known: {result.normalised_missing}.")
    if result.together is not None:
        together = _score_words(result.together)
        said.append(f"By one classifier of the features of all featurizers, it is {together}.")
    return " ".join(said)


def learned_ranking(comparison: Comparison) -> str:
    """The models by falling score on learned buckets with intervals, and how many differences are significant.

    With several featurizers also by one classifier of all their features. Empty for one model, or where none has such a
    score.
    """
    called, said = shown_names(list(comparison.models)), []
    level = f"{100 * (1 - comparison.confidence_level):.3g} %"
    titles = {"learned": "By style (learned buckets)"}
    titles["together"] = "By one classifier of the features of all featurizers"
    for kind, title in titles.items():
        ranking, pairs = getattr(comparison, f"{kind}_ranking"), getattr(comparison, f"{kind}_differences")
        if len(ranking) < 2:
            break
        found = []
        for name in ranking:
            score: Any = comparison.models[name] if kind == "learned" else comparison.models[name].together
            value = digits(score.mauve_classifier, ".2f")
            found.append(f"{called[name]} {value}{in_brackets(score.mauve_classifier_ci, '.2f')}")
        number = sum(item.real for item in pairs)
        real = f"{number} of {len(pairs)} differences {'is' if number == 1 else 'are'} significant"
        if len(pairs) == 1:
            real = f"The difference is {'' if number else 'not '}significant"
        said.append(f"{title}: {', '.join(found)}. {real} at the level of {level}.")
    return " ".join(said)


def _score_words(found: LearnedScore) -> str:
    score = f"{digits(found.mauve_classifier, '.3f')}{in_brackets(found.mauve_classifier_ci)}"
    return f"{score}, AUC {digits(found.auc, '.3f')}"
