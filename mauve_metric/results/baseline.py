"""What scores of equal sets look like: the yardstick for a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mauve_metric.results import baseline_tables
from mauve_metric.results.baseline_numbers import BaselineNumbers


@dataclass(frozen=True)
class HumanBaseline(BaselineNumbers):
    """How scores of equal sets spread, and how many texts show a difference.

    Attributes:
        texts: of the human set. floor: the score of sets with nothing in common, whatever their sizes.
        sizes: of equal sets, the smallest first: random splits of the human texts, and forecasts for larger sets.
        needed: for each difference how many texts a set show it with 80 % probability.
        num_buckets: on which these forecasts are made. around: the score near which two models differ.
        signature_entries: what fixes the numbers, in order. signature: the same as `key:value|key:value|…`.
    """

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return baseline_tables.baseline_markdown(self)

    def to_csv(self, table: Literal["sizes", "needed"] = "sizes") -> str:
        """One of the tables as CSV with a header, numbers in full."""
        return baseline_tables.baseline_csv(self, table)

    def to_latex(self) -> str:
        """The tables as LaTeX `tabular`s with the rules of booktabs."""
        return baseline_tables.baseline_latex(self)

    def __str__(self) -> str:
        return baseline_tables.baseline_table(self)
