"""Which errors each featurizer sees, as numbers, tables and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mauve_metric.results import stress_test_tables
from mauve_metric.results.charts import of_stress_test
from mauve_metric.results.stress_test_numbers import StressTestNumbers

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class StressTest(StressTestNumbers):
    """Human texts with known errors, scored against other human texts by several featurizers.

    Attributes:
        featurizers: what each sees, by name, in the order given.
        failed: why others could not be used. left_out: errors that these texts cannot be given, and why.
        n_reference, n_perturbed: texts of the half that stays as it is, and of the half that is given errors.
        confidence_level: of the intervals, and of what counts as seen.
        warnings: about the sizes.
    """

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return stress_test_tables.stress_markdown(self)

    def to_csv(self) -> str:
        """One line a featurizer, error and strength, numbers in full."""
        return stress_test_tables.stress_csv(self)

    def to_latex(self) -> str:
        """The tables as LaTeX `tabular`s with the rules of booktabs."""
        return stress_test_tables.stress_latex(self)

    def plot(self) -> alt.HConcatChart:
        """A heat map for each featurizer."""
        return of_stress_test.stress_chart(self)

    def __str__(self) -> str:
        return stress_test_tables.stress_table(self)
