"""Several models against one human set: their results, their ranking, their differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mauve_metric.results import report, tables
from mauve_metric.results.charts import of_comparison
from mauve_metric.results.document import Document
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.numbers import ComparisonNumbers
from mauve_metric.results.result import MauveResult
from mauve_metric.results.wording.joint_comparison import joint_comparison

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Comparison(ComparisonNumbers):
    """Several models' scores against one human set, and their differences.

    Attributes:
        models: the result of each model on the partition that all share, in the order given.
        own: each model's MAUVE on buckets of its own, as the literature computes it.
        ranking: names by falling debiased MAUVE.
        differences: of every pair, the better ranked model first.
        confidence_level: of the intervals. design: whether texts share prompts: "independent", "aligned"
            (row i of every set answers prompt i) or "prompts".
        smallest_difference: between the two best that these sets would show with 80 % probability; None for one model.
        texts_needed: of each set, to tell the two best apart with 80 % probability if they differ by what was seen;
            None for one model or no difference at all.
        warnings: about the comparison; those about a model stand in its result.
        signature_entries: what fixes the comparison, in order. signature: the same as `key:value|key:value|…`.
        explanations: for each model the buckets that make its gap; empty if not asked for.
        by_featurizer: with several featurizers the comparison of each by its name, the first being this one; else
            empty. Tables have the rows of all, figures the intervals of all.
        learned_ranking: names by falling `mauve_classifier`, of the models that have one.
        learned_differences: of every pair of these, the better one first; their intervals allow for the human texts
            and the prompts that two scores share.
    """

    models: dict[str, MauveResult]
    explanations: dict[str, Explanation] = field(repr=False)
    by_featurizer: Mapping[str, Comparison] = field(default_factory=dict, repr=False)

    @property
    def joint_verdict(self) -> str:
        """What several featurizers say together, in sentences; empty for one (see `results.joint_comparison`)."""
        return joint_comparison(self.by_featurizer)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the explanations as plain Python values, fit for JSON.

        `models` holds for each name the result's own dict; `mauve_own` the literature's score. With several featurizers
        also `by_featurizer`, the dict of each, and `joint_verdict`.
        """
        own = super().to_dict()
        if self.by_featurizer:
            each = {name: one.to_dict() for name, one in self.by_featurizer.items()}
            own |= {"by_featurizer": each, "joint_verdict": self.joint_verdict}
        return own

    def to_markdown(self) -> str:
        """The tables of models and differences in Markdown."""
        return tables.comparison_markdown(self)

    def to_csv(self, table: Literal["models", "differences", "learned_differences"] = "models") -> str:
        """One of the tables as CSV with a header, numbers in full."""
        return tables.comparison_csv(self, table)

    def to_latex(self) -> str:
        """The tables as two LaTeX `tabular`s with the rules of booktabs."""
        return tables.comparison_latex(self)

    def plot(self) -> alt.VConcatChart:
        """The figures as one Altair chart (see `mauve_metric.results.charts.of_comparison`)."""
        return of_comparison.comparison_chart(self)

    def save_report(self, path: str | Path, measures: Document | None = None) -> Path:
        """Write one HTML page with tables, figures, warnings, buckets and signatures, that needs no network.

        Args:
            path: of the page, which ends in .html or .htm.
            measures: the document of a description of the same models, which is added.
        """
        return report.save_report(self, path, measures)

    def __str__(self) -> str:
        return tables.comparison_table(self)
