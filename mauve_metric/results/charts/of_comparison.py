"""Figures of comparisons and explanations, on the same axes and with the same conventions as `plot`.

A model has one colour (Okabe and Ito's, told apart by people with any colour vision), one dash and one shape in all
figures, so that they can be read in grey.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from mauve_metric.results.charts.figure import (
    AXIS_STYLE,
    COLORS,
    COVERAGE,
    DASHES,
    GAP,
    GREY,
    QUALITY,
    SHAPES,
    SIDE,
    ChartRows,
    curve_axes,
)
from mauve_metric.results.names import figure_text
from mauve_metric.results.numbers import ComparisonNumbers
from mauve_metric.results.words import with_labels
from mauve_metric.runtime.packages import import_altair

if TYPE_CHECKING:
    import altair as alt


T = TypeVar("T")
_ROW = 26  # pixels a model in the forest plot


def comparison_chart(comparison: ComparisonNumbers) -> alt.VConcatChart:
    """The figures of a comparison: curves beside precision and recall, and the forest plot below.

    Raises:
        ImportError: Altair is not installed.
    """
    import_altair()
    import altair as alt

    both = alt.vconcat(curve_charts(comparison), forest_chart(comparison), spacing=GAP)
    figure: alt.VConcatChart = both.configure_legend(labelLimit=300)
    return figure


def curve_charts(comparison: ComparisonNumbers) -> alt.HConcatChart:
    """The divergence curves beside precision and recall."""
    import_altair()
    import altair as alt

    charts = alt.hconcat(curves_chart(comparison), precision_recall_points_chart(comparison), spacing=GAP)
    figure: alt.HConcatChart = charts.resolve_scale(color="independent", shape="independent", strokeDash="independent")
    return figure


def curves_chart(comparison: ComparisonNumbers) -> alt.LayerChart:
    """The divergence curves of all models on the common buckets; the area under a curve is its MAUVE."""
    import_altair()
    import altair as alt

    comparison = with_labels(comparison, figure_text)
    rows: ChartRows = []
    for name in comparison.ranking:
        points = enumerate(comparison.models[name].divergence_curve.tolist())
        rows += [{"model": name, "row": row, "coverage": x, "quality": y} for row, (y, x) in points]
    base = alt.Chart(alt.InlineData(values=rows)).encode(**curve_axes(COVERAGE, QUALITY))
    line = base.mark_line(strokeWidth=2.2).encode(
        color=_color(comparison.ranking), strokeDash=_dash(comparison.ranking), order="row:Q", tooltip="model:N"
    )
    title = alt.Title("Divergence curves", subtitle="the area under a curve is its MAUVE", anchor="start")
    return alt.LayerChart(layer=[_equal_line(), line]).properties(width=SIDE, height=SIDE, title=title)


def precision_recall_points_chart(comparison: ComparisonNumbers) -> alt.LayerChart:
    """Quality against coverage, a point a model: k-NN precision and recall, those of the histograms without k-NN."""
    import_altair()
    import altair as alt

    comparison = with_labels(comparison, figure_text)
    knn = all(result.precision is not None for result in comparison.models.values())
    rows: ChartRows = []
    for name in comparison.ranking:
        result = comparison.models[name]
        precision, recall = (result.precision, result.recall) if knn else (result.prd_precision, result.prd_recall)
        rows.append({"model": name, "quality": precision, "coverage": recall})
    kind = "k-NN" if knn else "of the histograms"
    base = alt.Chart(alt.InlineData(values=rows)).encode(**curve_axes(f"recall: {COVERAGE}", f"precision: {QUALITY}"))
    tooltip = ["model:N", alt.Tooltip("quality:Q", format=".4f"), alt.Tooltip("coverage:Q", format=".4f")]
    points = base.mark_point(size=90, filled=True, opacity=1).encode(
        color=_color(comparison.ranking), shape=_shape(comparison.ranking), tooltip=tooltip
    )
    title = alt.Title("Precision and recall", subtitle=f"{kind}; right and up is better", anchor="start")
    return alt.LayerChart(layer=[_equal_line(), points]).properties(width=SIDE, height=SIDE, title=title)


def forest_chart(comparison: ComparisonNumbers, width: int = 560) -> alt.LayerChart:
    """Each model's debiased MAUVE with its interval, the best on top; small ticks: MAUVE on the common buckets."""
    import_altair()
    import altair as alt

    comparison = with_labels(comparison, figure_text)
    rows: ChartRows = []
    for name in comparison.ranking:
        result = comparison.models[name]
        low, high = result.mauve_ci or (None, None)
        score = result.mauve if result.mauve_debiased is None else result.mauve_debiased
        rows.append({"model": name, "score": score, "low": low, "high": high, "mauve": result.mauve})
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("model:N", sort=list(comparison.ranking), title=None, axis=alt.Axis(labelLimit=300, **AXIS_STYLE))
    )
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("score:Q", title="debiased MAUVE and its interval (tick: MAUVE)", scale=unit, axis=alt.Axis(**AXIS_STYLE))
    tooltip = ["model:N", *(alt.Tooltip(f"{key}:Q", format=".4f") for key in ("score", "low", "high", "mauve"))]
    color = _color(comparison.ranking, legend=False)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=unit), x2="high:Q", color=color),
        base.mark_tick(color=GREY, thickness=1.5, size=12).encode(x=alt.X("mauve:Q", scale=unit)),
        base.mark_point(size=80, filled=True, opacity=1).encode(
            x=x, color=color, shape=_shape(comparison.ranking, legend=False), tooltip=tooltip
        ),
    ]
    level = f"{100 * comparison.confidence_level:g} % intervals, {next(iter(comparison.models.values())).ci_scope}"
    title = alt.Title("Scores", subtitle=level, anchor="start")
    return alt.LayerChart(layer=layers).properties(width=width, height=_ROW * len(rows) + 10, title=title)


def _cycle(values: Sequence[T], names: Sequence[str]) -> list[T]:
    return [values[index % len(values)] for index in range(len(names))]


def _color(names: Sequence[str], legend: bool = True) -> alt.Color:
    import altair as alt

    scale = alt.Scale(domain=list(names), range=_cycle(COLORS, names))
    return alt.Color("model:N", scale=scale, legend=_legend(legend), sort=list(names))


def _dash(names: Sequence[str], legend: bool = True) -> alt.StrokeDash:
    import altair as alt

    scale = alt.Scale(domain=list(names), range=_cycle(DASHES, names))
    return alt.StrokeDash("model:N", scale=scale, legend=_legend(legend), sort=list(names))


def _shape(names: Sequence[str], legend: bool = True) -> alt.Shape:
    import altair as alt

    scale = alt.Scale(domain=list(names), range=_cycle(SHAPES, names))
    return alt.Shape("model:N", scale=scale, legend=_legend(legend), sort=list(names))


def _legend(shown: bool) -> alt.Legend | None:
    import altair as alt

    return alt.Legend(title=None, symbolStrokeWidth=2, labelFontSize=11) if shown else None


def _equal_line() -> alt.Chart:
    """The line on which coverage equals quality."""
    import altair as alt

    ends = alt.InlineData(values=[{"coverage": end, "quality": end} for end in (0, 1)])
    line = alt.Chart(ends).mark_line(color=GREY, strokeDash=[2, 4], strokeWidth=1)
    equal: alt.Chart = line.encode(x="coverage:Q", y="quality:Q")
    return equal
