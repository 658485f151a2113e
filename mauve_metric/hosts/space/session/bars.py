"""The bars of a result: scores on lines from 0 to 1."""

from __future__ import annotations

from typing import NamedTuple

from mauve_metric.report.wording import words
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.plain_text import digits, in_brackets

SCALE = "1 means as close as other people's texts"
DOUBT = "not reliable here, for the reason above"
ENDS = "nothing in common", "other people's texts"
CONTENT, STYLE = "content", "style"
KINDS = {CONTENT: "groups of similar texts", STYLE: "what a classifier finds, on the same scale"}
SEES = {"minilm": "what texts are about", "ngrams": "grammar, spelling and layout", "use": "what texts are about"}


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


def bars(result: MauveResult) -> list[Bar]:
    """A bar for each featurizer."""
    return [Bar(bar_label("this model", name), _marks(scores)) for name, scores in words.each_result(result).items()]


def bar_label(model: str, featurizer: str) -> str:
    """The label of a bar; featurizer: "" for a single one."""
    seen = f", seen by {featurizer}" if featurizer else ""
    return f"{model}{seen} ({SEES[featurizer]})" if featurizer in SEES else f"{model}{seen}"


def comparison_bars(comparison: Comparison) -> list[Bar]:
    """A bar for each model, in the order of the ranking, by each featurizer."""
    return [
        Bar(bar_label(model, name), _marks(of_featurizer.models[model]))
        for name, of_featurizer in words.each_featurizer(comparison).items()
        for model in of_featurizer.ranking
    ]


def bar_words(shown: list[Bar]) -> str:
    """The bars in words, for those who do not see them."""
    said = [f"{bar.label}: {', '.join(mark.words for mark in bar.marks)}" for bar in shown if bar.marks]
    return f"From 0, {ENDS[0]}, to 1, {ENDS[1]}. {'; '.join(said)}."


def _marks(result: MauveResult) -> tuple[Mark, ...]:
    """The debiased score on groups of similar texts, and that on a classifier's buckets."""
    scores = (
        (CONTENT, result.mauve_debiased, result.mauve_debiased_ci),
        (STYLE, result.mauve_classifier, result.mauve_classifier_ci),
    )
    return tuple(Mark(kind, value, ends) for kind, value, ends in scores if value is not None)
