"""Whether a ranking of models holds under other settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mauve_metric.results import robustness_tables
from mauve_metric.results.charts import of_robustness
from mauve_metric.results.robustness_numbers import RobustnessNumbers

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Robustness(RobustnessNumbers):
    """The same models under many settings.

    Attributes:
        settings: the default first, then one factor at a time, then the small design.
        failed: featurizers and settings that could not be had, with the reason. left_out: factors likewise.
        seconds: that it took. confidence_level: of the intervals.
        default, ranking: the setting that was asked for, and its ranking. agreeing: other settings that rank alike.
        holds: whether no setting turns a pair, the lower ranked model being ahead and told apart.
        pairs: what becomes of each difference. factors: what each factor does to them, the strongest first.
        signature_entries: what fixes the default, in order. signature: the same as `key:value|key:value|…`.
    """

    def to_markdown(self) -> str:
        """The tables in Markdown."""
        return robustness_tables.robustness_markdown(self)

    def to_csv(self, table: Literal["settings", "pairs", "factors"] = "settings") -> str:
        """One of the tables as CSV with a header, numbers in full; of settings, one line a setting and model."""
        return robustness_tables.robustness_csv(self, table)

    def to_latex(self) -> str:
        """The tables as LaTeX `tabular`s with the rules of booktabs."""
        return robustness_tables.robustness_latex(self)

    def plot(self) -> alt.LayerChart:
        """Rank against setting (see `mauve_metric.results.charts.of_robustness`)."""
        return of_robustness.robustness_chart(self)

    def __str__(self) -> str:
        return robustness_tables.robustness_table(self)
