"""Scores on a line from 0 to 1, and their words."""

from __future__ import annotations

from typing import NamedTuple

from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.plain_text import digits, in_brackets

SCALE = "1 means as close as other people's texts"
DOUBT = "not reliable here, for the reason above"
ENDS = "nothing in common", "other people's texts"


class Mark(NamedTuple):
    """A score: its name, value in [0, 1] and interval."""

    name: str
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
        return f"{self.name} {digits(self.value, '.3f')}{in_brackets(self.ends)}"


class Bar(NamedTuple):
    """A line from 0 to 1 with the closeness of one model, if it is known."""

    label: str
    mark: Mark | None

    @classmethod
    def of(cls, label: str, value: float | None, ends: tuple[float, float] | None) -> Bar:
        """The bar of a model's closeness; value: None if that is not known."""
        return cls(label, None if value is None else Mark("closeness", value, ends))

    @property
    def words(self) -> str:
        """The bar in words, for those who do not see it."""
        said = f"From 0, {ENDS[0]}, to 1, {ENDS[1]}. {self.label}"
        return f"{said}: {self.mark.words}." if self.mark else f"{said}: unknown."


def marks_of(result: MauveResult) -> list[Mark]:
    """Closeness, and the scores by groups, by classifier, and by one classifier of all featurizers."""
    together = (None, None) if result.together is None else result.together[:2]
    scores = (
        ("closeness", result.closeness, result.closeness_ci),
        ("by groups", result.mauve_debiased, result.mauve_debiased_ci),
        ("by classifier", result.mauve_classifier, result.mauve_classifier_ci),
        ("together", *together),
    )
    return [Mark(name, value, ends) for name, value, ends in scores if value is not None]
