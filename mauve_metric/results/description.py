"""Many measures of a set of models, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mauve_metric.results import description_tables, report
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.numbers import DescriptionNumbers


@dataclass(frozen=True)
class Description(DescriptionNumbers):
    """Every measure that was asked for, of every model, and of the human texts where it is of one set.

    Attributes:
        measures: names, in the order of the tables; `catalogue.table.MEASURES` says what each is.
        human: the human texts' values by measure. models: by model and measure.
        failed: why a measure is missing, by its name.
        seconds: how long each took, for all models.
        sizes: how many texts each set holds; the human one first, under "human".
        same_size: texts of each set that measures which move with their number were computed on; None where the sets
            are of one size as they are.
        confidence_level: of the intervals.
        model_warnings: about each model's texts, by its name; those of the comparison stand in it.
        comparison: MAUVE of the models on common buckets; None if it was not asked for.
        signature_entries: what fixes the numbers. signature: the same as `key:value|key:value|…`.
    """

    comparison: Comparison | None = field(repr=False)

    def to_markdown(self) -> str:
        """The table in Markdown; the best value of a measure is bold where the difference to the next is real."""
        return description_tables.markdown(self)

    def to_csv(self) -> str:
        """One line a model and measure, numbers in full."""
        return description_tables.csv(self)

    def to_latex(self) -> str:
        """The table as a LaTeX `tabular` with the rules of booktabs."""
        return description_tables.latex(self)

    def save_report(self, path: str | Path) -> Path:
        """Write the page of `Comparison.save_report` with the table of measures.

        Raises:
            ValueError: MAUVE is not among the measures, so that there is no comparison; and as there.
        """
        if self.comparison is None:
            raise ValueError("a report needs the comparison of the models: have 'score' among the measures")
        return report.save_report(self.comparison, path, self)

    def __str__(self) -> str:
        return description_tables.terminal(self)
