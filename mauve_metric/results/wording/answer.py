"""The first screen of a result: one sentence on two sets or several models, and the marks of its bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mauve_metric.results.plain_text import digits, in_brackets, rounded_up, shown_names
from mauve_metric.results.wording import verdict as verdicts
from mauve_metric.results.wording import words
from mauve_metric.results.wording.verdict import format_sentence, strongest_format
from mauve_metric.texts.fingerprints import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mauve_metric.results.comparison import Comparison
    from mauve_metric.results.result import MauveResult

SCALE = "1 means as close as other people's texts"
DOUBT = "not reliable here, for the reason above"
ENDS = "nothing in common", "other people's texts"
CONTENT, STYLE = "content", "style"
KINDS = {CONTENT: "groups of similar texts", STYLE: "what a classifier finds, on the same scale"}
SEES = {"minilm": "what texts are about", "ngrams": "grammar, spelling and layout"}
_ALL_OF_IT = 0.9995  # drawn and written as 1
RELIABLE_TEXTS = 100  # of each set: with fewer, the interval of a score of .8 is .3 to .7 wide
_TELL = "tell this model's texts from people's"


class Mark(NamedTuple):
    """A score on a bar: its kind, value in [0, 1] and interval."""

    kind: str
    value: float
    ends: tuple[float, float] | None

    @property
    def is_possible(self) -> bool:
        """Return whether value and interval are in [0, 1] and in their order."""
        low, high = self.ends or (self.value, self.value)
        return 0 <= low <= self.value <= high <= 1

    @property
    def words(self) -> str:
        """The score in words."""
        return f"{self.kind} {digits(self.value, '.3f')}{in_brackets(self.ends)}"


class Bar(NamedTuple):
    """A line from 0 to 1 with the scores of one model by one featurizer."""

    label: str
    marks: tuple[Mark, ...]


def answer(result: MauveResult) -> str:
    """State if the features tell a model's texts from people's; without a verdict, the reason is the headline."""
    reasons = {name: verdicts.withheld(one) for name, one in _each(result).items()}
    few = min(result.n_p, result.n_q)
    return answer_of(findings_of(result), reasons, few, caution(result), lambda: verdicts.texts_needed(result))


def findings_of(result: MauveResult) -> dict[str, verdicts.Finding]:
    """The finding by each featurizer, under its displayed name; key "" for a single one."""
    return {name: verdicts.finding(one) for name, one in _each(result).items()}


def answer_of(
    findings: Mapping[str, verdicts.Finding],
    reasons: Mapping[str, str],
    few: int,
    warned: str = "",
    needed: Callable[[], int | None] = lambda: None,
) -> str:
    """The answer for findings by featurizer; few: texts of the smaller set; for the others see `answer`."""
    each, found = list(findings), set(findings.values())
    if few < RELIABLE_TEXTS:
        so_far = " So far the two sets look different." if "shown" in found else ""
        if found == {"withheld"} and few >= verdicts.FEWEST_TEXTS:
            so_far = f" Besides, {reasons[next(iter(each))]}."
        return f"Cannot tell reliably: {_too_few(few)}{so_far}"
    if found == {"shown"}:
        return f"{warned}. Even so, these features can {_TELL}." if warned else f"These features can {_TELL}."
    if found == {"not shown"}:
        return f"These features cannot {_TELL}."
    if found == {"withheld"}:
        return f"No verdict: {reasons[next(iter(each))]}."
    if "shown" in found:
        can = [name for name in each if findings[name] == "shown"]
        cannot = [name for name in each if findings[name] in ("not shown", "undecided")]
        surely = "" if all(findings[name] == "not shown" for name in cannot) else " reliably"
        others = [f"{words.listed(cannot)} cannot{surely}"] if cannot else []
        others += [f"with {name} there is no verdict, since {reason}" for name, reason in reasons.items() if reason]
        return f"The featurizers disagree: {words.listed(can)} can {_TELL}; {'; '.join(others)}."
    texts = needed()
    enough = f"; it takes about {rounded_up(texts)} a set" if texts is not None else ""
    return f"These features cannot reliably {_TELL}: {few} texts are too few{enough}."


def reliable(result: MauveResult) -> bool:
    """Return whether the number means what its scale says: a verdict, enough texts, an interval, no caution."""
    return (
        min(result.n_p, result.n_q) >= RELIABLE_TEXTS
        and result.mauve_ci is not None
        and not caution(result)
        and not verdicts.withheld(result)
    )


def opening(result: MauveResult) -> str:
    """The answer, and the strongest difference in format with its cure."""
    return " ".join(filter(None, (answer(result), format_sentence(result))))


def reasons_why(result: MauveResult) -> str:
    """Sentences under the answer: format that differs, and marks that disagree or show no difference."""
    each = _each(result)
    part = strongest_format(result)
    said = [f"Mind the format first: the two sets differ in {FORMATS[part].what}."] if part else []
    if len(set(findings_of(result).values())) == 1 and verdicts.told_apart(result) == (False, True):
        said.append("Their content does not show it; their style does.")
    shown = [mark.ends for one in each.values() if verdicts.finding(one) == "shown" for mark in _marks(one)]
    if shown and all(ends is not None and ends[1] >= _ALL_OF_IT for ends in shown):
        said.append("A test finds the difference; it is too small for the bars to show.")
    return " ".join(said)


def bars(result: MauveResult) -> list[Bar]:
    """A bar for each featurizer."""
    return [Bar(bar_label("this model", name), _marks(one)) for name, one in _each(result).items()]


def bar_label(model: str, featurizer: str) -> str:
    """The label of a bar; featurizer: "" for a single one."""
    seen = f", seen by {featurizer}" if featurizer else ""
    return f"{model}{seen} ({SEES[featurizer]})" if featurizer in SEES else f"{model}{seen}"


def comparison_answer(comparison: Comparison) -> str:
    """State which model is closest to people's texts, or why that is not known."""
    reason = words.ranking_withheld(comparison)
    if reason:
        return f"No ranking: {reason}."
    each = words.each_featurizer(comparison)
    best = {name: words.closest(one.ranking, one.differences) for name, one in each.items()}
    if len(set(map(frozenset, best.values()))) > 1:
        said = [f"{name} finds {words.listed(models)} closest" for name, models in best.items()]
        return f"The featurizers disagree: {'; '.join(said)}."
    ranked = words.closest_words(next(iter(each.values())))
    few = min(min(result.n_p, result.n_q) for result in comparison.models.values())
    return ranked if few >= RELIABLE_TEXTS else f"Cannot rank reliably: {_too_few(few)} {ranked}"


def comparison_bars(comparison: Comparison) -> list[Bar]:
    """A bar for each model, in the order of the ranking, by each featurizer."""
    return [
        Bar(bar_label(model, name), _marks(one.models[model]))
        for name, one in words.each_featurizer(comparison).items()
        for model in one.ranking
    ]


def bar_words(shown: list[Bar]) -> str:
    """The bars in words, for those who do not see them."""
    said = [f"{bar.label}: {', '.join(mark.words for mark in bar.marks)}" for bar in shown if bar.marks]
    return f"From 0, {ENDS[0]}, to 1, {ENDS[1]}. {'; '.join(said)}."


def _too_few(texts: int) -> str:
    return f"{'1 text a set is' if texts == 1 else f'{texts} texts a set are'} too few; give at least {RELIABLE_TEXTS}."


def _each(result: MauveResult) -> dict[str, MauveResult]:
    """The result of each featurizer by its displayed name; key "" for a single one."""
    if len(result.by_featurizer) < 2:
        return {"": result}
    called = shown_names(list(result.by_featurizer))
    return {called[name]: one for name, one in result.by_featurizer.items()}


def caution(result: MauveResult) -> str:
    """The reason for which a score means little although a difference is shown; empty without one."""
    declared = result.design != "independent"
    codes = [warning.code for warning in result.warnings if not (declared and warning.code == "shared_prompts")]
    reasons = [verdicts.WITHHELD[code] for code in codes if code in verdicts.TOO_CAREFUL]
    return f"Do not trust the score: {'; '.join(reasons)}" if reasons else ""


def _marks(result: MauveResult) -> tuple[Mark, ...]:
    """The debiased score on groups of similar texts, and that on a classifier's buckets."""
    found = (
        (CONTENT, result.mauve_debiased, result.mauve_ci),
        (STYLE, result.mauve_classifier, result.mauve_classifier_ci),
    )
    return tuple(Mark(kind, value, ends) for kind, value, ends in found if value is not None)
