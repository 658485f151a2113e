"""Scores on a line from 0 to 1, and their words."""

from __future__ import annotations

from typing import NamedTuple

from mauve_metric.options import HUMAN
from mauve_metric.report.first_screen import TOGETHER
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.plain_text import digits, in_brackets, printable

DOUBT = "not reliable here, for the reason above"


def ends_of_line(reference_name: str = HUMAN) -> tuple[str, str]:
    """The words at 0 and at 1.

    >>> ends_of_line()[1], ends_of_line("release 1.2")[1]
    ("other people's texts", 'other release 1.2 texts')
    """
    others = "people's" if reference_name == HUMAN else printable(reference_name)
    return "nothing in common", f"other {others} texts"


def scale(reference_name: str = HUMAN) -> str:
    """The meaning of 1."""
    return f"1 means as close as {ends_of_line(reference_name)[1]}"


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
    reference_name: str = HUMAN

    @classmethod
    def of(cls, label: str, value: float | None, ends: tuple[float, float] | None, reference_name: str = HUMAN) -> Bar:
        """The bar of a model's closeness; value: None if that is not known."""
        return cls(label, None if value is None else Mark("closeness", value, ends), reference_name)

    @property
    def words(self) -> str:
        """The bar in words, for those who do not see it."""
        low, high = ends_of_line(self.reference_name)
        said = f"From 0, {low}, to 1, {high}. {self.label}"
        return f"{said}: {self.mark.words}." if self.mark else f"{said}: unknown."


def marks_of(result: MauveResult) -> list[Mark]:
    """Closeness, and the scores by groups, by classifier, and by one classifier of all featurizers."""
    together = (None, None) if result.together is None else result.together[:2]
    scores = (
        ("closeness", result.closeness, result.closeness_ci),
        ("by groups", result.mauve_debiased, result.mauve_debiased_ci),
        ("by classifier", result.mauve_classifier, result.mauve_classifier_ci),
        (TOGETHER, *together),
    )
    return [Mark(name, value, ends) for name, value, ends in scores if value is not None]
