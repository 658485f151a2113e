"""What a comparison of models holds: their results, their ranking, their differences."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mauve_metric.explanation import Explanation
from mauve_metric.result import MauveResult, ScoreWarning, plain

if TYPE_CHECKING:
    import altair as alt


class OwnScore(NamedTuple):
    """The literature's MAUVE of one model and the human set, on buckets of their own: `compute_mauve`'s `mauve`."""

    mauve: float
    num_buckets: int
    p_value: float | None
    signature: str


@dataclass(frozen=True)
class Difference:
    """Whether two models differ.

    a, b: names. difference: debiased MAUVE of a minus that of b, in [-1, 1]. ci: its interval at the config's level.
    p_value: of "no difference", for this pair alone, on the safe side (see `differences.difference_of`). real:
    significant at 1 - level with Holm's correction for the number of pairs. stderr: standard error of the difference.
    """

    a: str
    b: str
    difference: float
    ci: tuple[float, float]
    p_value: float
    real: bool
    stderr: float = field(metadata={"in_dict": False})

    def to_dict(self) -> dict[str, Any]:
        """The fields but for the standard error, fit for JSON."""
        return {name: plain(getattr(self, name)) for name in ("a", "b", "difference", "ci", "p_value", "real")}


@dataclass(frozen=True)
class Comparison:
    """Several models' scores against one human set, and their differences.

    Attributes:
        models: the result of each model on the partition that all share, in the order given.
        own: each model's MAUVE on buckets of its own, as the literature computes it.
        ranking: names by falling debiased MAUVE.
        differences: of every pair, the better ranked model first.
        confidence_level: of the intervals. aligned: whether row i of every model was taken to answer prompt i.
        smallest_difference: between the two best that these sets would show with 80 % probability; None for one model.
        texts_needed: of each set, to tell the two best apart with 80 % probability if they differ by what was seen;
            None for one model or no difference at all.
        warnings: about the comparison; those about a model stand in its result.
        signature: what fixes the comparison.
        explanations: for each model the buckets that make its gap; empty if not asked for.
    """

    models: dict[str, MauveResult]
    own: dict[str, OwnScore]
    ranking: tuple[str, ...]
    differences: tuple[Difference, ...]
    confidence_level: float
    aligned: bool
    smallest_difference: float | None
    texts_needed: int | None
    warnings: tuple[ScoreWarning, ...]
    signature: str
    explanations: dict[str, Explanation] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the explanations as plain Python values, fit for JSON.

        `models` holds for each name the result's own dict; `mauve_own` the literature's score.
        """
        return {
            "models": {name: result.to_dict() for name, result in self.models.items()},
            "differences": [difference.to_dict() for difference in self.differences],
            "mauve_own": {name: own.mauve for name, own in self.own.items()},
            "own": {name: plain(own) for name, own in self.own.items()},
            "ranking": list(self.ranking),
            "confidence_level": self.confidence_level,
            "aligned": self.aligned,
            "smallest_difference": self.smallest_difference,
            "texts_needed": self.texts_needed,
            "warnings": plain(self.warnings),
            "signature": self.signature,
        }

    def to_markdown(self) -> str:
        """The tables of models and differences in Markdown."""
        from mauve_metric import tables

        return tables.comparison_markdown(self)

    def to_csv(self, table: Literal["models", "differences"] = "models") -> str:
        """One of the tables as CSV with a header, numbers in full."""
        from mauve_metric import tables

        return tables.comparison_csv(self, table)

    def to_latex(self) -> str:
        """The tables as two LaTeX `tabular`s with the rules of booktabs."""
        from mauve_metric import tables

        return tables.comparison_latex(self)

    def plot(self) -> alt.VConcatChart:
        """The figures as one Altair chart (see `mauve_metric.plot_compare`)."""
        from mauve_metric import plot_compare

        return plot_compare.comparison_chart(self)

    def save_report(self, path: str | Path) -> Path:
        """Write one HTML page with tables, figures, warnings, buckets and signatures, that needs no network."""
        from mauve_metric import report

        return report.save_report(self, path)

    def __str__(self) -> str:
        from mauve_metric import tables

        return tables.comparison_table(self)
