"""Figures of comparisons and explanations, on the same axes and with the same conventions as `plot`.

A model has one colour (Okabe and Ito's, told apart by people with any colour vision), one dash and one shape in all
figures, so that they can be read in grey.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mauve_metric.results.charts.figure import AXIS, COLORS, COVERAGE, DASHES, QUALITY, SHAPES, ChartRows, curve_axes
from mauve_metric.results.numbers import ComparisonNumbers, ResultNumbers
from mauve_metric.results.signature import signature_value
from mauve_metric.runtime.packages import import_altair

if TYPE_CHECKING:
    import altair as alt


_SIDE = 300
_ROW = 26  # pixels a model in the forest plot
_GREY = "#6E6E6E"

Against = Literal["length", "texts", "buckets", "scaling_factor"]
AGAINST: dict[str, str] = {
    "length": "median length of the model's texts (tokens)",
    "texts": "texts a set",
    "buckets": "number of buckets k",
    "scaling_factor": "scaling factor c",
}


def comparison_chart(comparison: ComparisonNumbers) -> alt.VConcatChart:
    """The figures of a comparison: curves beside precision and recall, and the forest plot below.

    Raises:
        ImportError: Altair is not installed.
    """
    alt = import_altair()
    return alt.vconcat(curve_charts(comparison), forest_chart(comparison), spacing=30).configure_legend(labelLimit=300)


def curve_charts(comparison: ComparisonNumbers) -> alt.HConcatChart:
    """The divergence curves beside precision and recall."""
    alt = import_altair()
    charts = alt.hconcat(curves_chart(comparison), precision_recall_points_chart(comparison), spacing=30)
    return charts.resolve_scale(color="independent", shape="independent", strokeDash="independent")


def curves_chart(comparison: ComparisonNumbers) -> alt.LayerChart:
    """The divergence curves of all models on the common buckets; the area under a curve is its MAUVE."""
    alt = import_altair()
    rows: ChartRows = []
    for name in comparison.ranking:
        points = enumerate(comparison.models[name].divergence_curve.tolist())
        rows += [{"model": name, "row": row, "coverage": x, "quality": y} for row, (y, x) in points]
    base = alt.Chart(alt.InlineData(values=rows)).encode(**curve_axes(COVERAGE, QUALITY))
    line = base.mark_line(strokeWidth=2.2).encode(
        color=_color(comparison.ranking), strokeDash=_dash(comparison.ranking), order="row:Q", tooltip="model:N"
    )
    title = alt.Title("Divergence curves", subtitle="the area under a curve is its MAUVE", anchor="start")
    return alt.layer(_equal_line(), line).properties(width=_SIDE, height=_SIDE, title=title)


def precision_recall_points_chart(comparison: ComparisonNumbers) -> alt.LayerChart:
    """Quality against coverage, a point a model: k-NN precision and recall, those of the histograms without k-NN."""
    alt = import_altair()
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
    return alt.layer(_equal_line(), points).properties(width=_SIDE, height=_SIDE, title=title)


def forest_chart(comparison: ComparisonNumbers, width: int = 560) -> alt.LayerChart:
    """Each model's debiased MAUVE with its interval, the best on top; small ticks: MAUVE on the common buckets."""
    alt = import_altair()
    rows: ChartRows = []
    for name in comparison.ranking:
        result = comparison.models[name]
        low, high = result.mauve_ci or (None, None)
        score = result.mauve if result.mauve_debiased is None else result.mauve_debiased
        rows.append({"model": name, "score": score, "low": low, "high": high, "mauve": result.mauve})
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("model:N", sort=list(comparison.ranking), title=None, axis=alt.Axis(labelLimit=300, **AXIS))
    )
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("score:Q", title="debiased MAUVE and its interval (tick: MAUVE)", scale=unit, axis=alt.Axis(**AXIS))
    tooltip = ["model:N", *(alt.Tooltip(f"{key}:Q", format=".4f") for key in ("score", "low", "high", "mauve"))]
    color = _color(comparison.ranking, None)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=unit), x2="high:Q", color=color),
        base.mark_tick(color=_GREY, thickness=1.5, size=12).encode(x=alt.X("mauve:Q", scale=unit)),
        base.mark_point(size=80, filled=True, opacity=1).encode(
            x=x, color=color, shape=_shape(comparison.ranking, None), tooltip=tooltip
        ),
    ]
    level = f"{100 * comparison.confidence_level:g} % intervals, {next(iter(comparison.models.values())).ci_scope}"
    title = alt.Title("Scores", subtitle=level, anchor="start")
    return alt.layer(*layers).properties(width=width, height=_ROW * len(rows) + 10, title=title)


def score_against_chart(
    results: Mapping[str, Sequence[ResultNumbers]] | Sequence[ResultNumbers], against: Against, width: int = 420
) -> alt.LayerChart:
    """MAUVE and its debiased interval of several results against what they differ in (as the papers' Figures 4 to 8).

    Args:
        results: of one model, or for each name those of one model.
        against: "length" of the model's texts, number of "texts", number of "buckets", or "scaling_factor" c.
        width: of the plot, in pixels.

    Raises:
        ValueError: an unknown `against`, no result, or a result that does not know the length of its texts.
        ImportError: Altair is not installed.
    """
    alt = import_altair()
    if against not in AGAINST:
        raise ValueError(f"against must be one of {', '.join(AGAINST)}, got {against!r}")
    series = results if isinstance(results, Mapping) else {"model": results}
    rows: ChartRows = []
    for name, every in series.items():
        for result in every:
            low, high = result.mauve_ci or (None, None)
            rows.append({"model": name, "x": _place(result, against), "mauve": result.mauve, "low": low, "high": high})
    if not rows:
        raise ValueError("results must hold at least one result, got none")
    names = list(series)
    legend = alt.Undefined if len(names) > 1 else None
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("x:Q", title=AGAINST[against], scale=alt.Scale(zero=False), axis=alt.Axis(**AXIS))
    )
    score = alt.Y("mauve:Q", title="MAUVE", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(**AXIS))
    color = _color(names, legend)
    tooltip = ["model:N", alt.Tooltip("x:Q"), alt.Tooltip("mauve:Q", format=".4f")]
    layers = [
        base.mark_area(opacity=0.15).encode(y="low:Q", y2="high:Q", color=color),
        base.mark_line(strokeWidth=2.2).encode(y=score, color=color, strokeDash=_dash(names, legend)),
        base.mark_point(size=60, filled=True, opacity=1).encode(
            y=score, color=color, shape=_shape(names, legend), tooltip=tooltip
        ),
    ]
    subtitle = "shaded: interval of the debiased score"
    title = alt.Title(f"MAUVE against {AGAINST[against]}", subtitle=subtitle, anchor="start")
    return alt.layer(*layers).properties(width=width, height=_SIDE, title=title)


def _cycle(values: Sequence[Any], names: Sequence[str]) -> list[Any]:
    return [values[index % len(values)] for index in range(len(names))]


def _color(names: Sequence[str], legend: Any = ...) -> Any:
    alt = import_altair()
    scale = alt.Scale(domain=list(names), range=_cycle(COLORS, names))
    return alt.Color("model:N", scale=scale, legend=_legend(legend), sort=list(names))


def _dash(names: Sequence[str], legend: Any = ...) -> Any:
    alt = import_altair()
    scale = alt.Scale(domain=list(names), range=_cycle(DASHES, names))
    return alt.StrokeDash("model:N", scale=scale, legend=_legend(legend), sort=list(names))


def _shape(names: Sequence[str], legend: Any = ...) -> Any:
    alt = import_altair()
    scale = alt.Scale(domain=list(names), range=_cycle(SHAPES, names))
    return alt.Shape("model:N", scale=scale, legend=_legend(legend), sort=list(names))


def _legend(legend: Any) -> Any:
    alt = import_altair()
    return alt.Legend(title=None, symbolStrokeWidth=2, labelFontSize=11) if legend is ... else legend


def _equal_line() -> alt.Chart:
    """The line on which coverage equals quality."""
    alt = import_altair()
    ends = alt.InlineData(values=[{"coverage": end, "quality": end} for end in (0, 1)])
    line = alt.Chart(ends).mark_line(color=_GREY, strokeDash=[2, 4], strokeWidth=1)
    return line.encode(x="coverage:Q", y="quality:Q")


def _place(result: ResultNumbers, against: str) -> float:
    """Where a result lies on the axis."""
    if against == "length":
        if result.q_median_length is None:
            raise ValueError("a result from features does not know the length of its texts")
        return result.q_median_length
    if against == "scaling_factor":
        return float(signature_value(result.signature, "mauve_scaling_factor"))
    return float(result.num_buckets if against == "buckets" else min(result.n_p, result.n_q))
