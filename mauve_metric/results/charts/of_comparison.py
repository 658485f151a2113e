"""Figures of comparisons and explanations, on the same axes and with the same conventions as `plot`.

A model has one colour, one dash and one shape in all figures, so that they can be read in grey. Long names are
shortened where they are drawn; the whole name is seen under the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import altair as alt

from mauve_metric.results.charts import figure
from mauve_metric.results.names import figure_text
from mauve_metric.results.wording.words import each_featurizer, with_labels

if TYPE_CHECKING:
    from mauve_metric.results.comparison import Comparison


_ROW = 32  # pixels a model in the forest plot


def comparison_chart(comparison: Comparison) -> alt.VConcatChart:
    """The figures of a comparison: curves beside precision and recall, and the forest plot below."""
    charts: alt.VConcatChart = alt.vconcat(curve_charts(comparison), forest_chart(comparison), spacing=figure.GAP)
    return charts


def curve_charts(comparison: Comparison) -> alt.HConcatChart:
    """The divergence curves beside precision and recall."""
    charts = alt.hconcat(curves_chart(comparison), precision_recall_curves_chart(comparison), spacing=figure.GAP)
    beside: alt.HConcatChart = charts.resolve_scale(color="independent", shape="independent", strokeDash="independent")
    return beside


def curves_chart(comparison: Comparison) -> alt.LayerChart:
    """The divergence curves of all models on the common buckets; the area under a curve is its MAUVE."""
    comparison = with_labels(comparison, figure_text)
    rows: figure.ChartRows = []
    for name in comparison.ranking:
        rows += figure.curve_rows(comparison.models[name].divergence_curve.tolist(), model=name)
    line = _curves("divergence", comparison.ranking, rows, figure.COVERAGE, figure.QUALITY)
    title = figure.heading("Divergence curves", "the area under a curve is its MAUVE")
    areas = ", ".join(f"{name} {comparison.models[name].mauve:.4f}" for name in comparison.ranking)
    description = f"Divergence curves, quality of a model's text against coverage of human text; MAUVE: {areas}."
    chart = alt.LayerChart(layer=[figure.equal_line(), line])
    return chart.properties(width=figure.SIDE, height=figure.SIDE, title=title, description=description)


def precision_recall_curves_chart(comparison: Comparison) -> alt.LayerChart:
    """Quality against coverage: each model's curve of the histograms, and its k-NN scores if known."""
    comparison = with_labels(comparison, figure_text)
    curves: figure.ChartRows = []
    points: figure.ChartRows = []
    said = []
    for name in comparison.ranking:
        result = comparison.models[name]
        curves += figure.curve_rows((point[::-1] for point in result.prd_curve.tolist()), model=name)
        text = f"{name} {result.prd_area:.4f}"
        if result.precision is not None and result.recall is not None:
            points.append({"model": name, "quality": result.precision, "coverage": result.recall})
            text += f" (k-NN precision {result.precision:.4f}, recall {result.recall:.4f})"
        said.append(text)
    names = comparison.ranking
    titles = f"recall: {figure.COVERAGE}", f"precision: {figure.QUALITY}"
    line = _curves("precision_recall", names, curves, *titles, dashes=not points)
    tooltip = ["model:N", *figure.tooltips({"quality": "k-NN precision", "coverage": "k-NN recall"})]
    marks = alt.Chart(alt.InlineData(values=points)).mark_point(size=90, filled=True, opacity=1)
    marks = marks.encode(
        x="coverage:Q",
        y="quality:Q",
        color=figure.model_channel(alt.Color, names, figure.COLORS, figure.legend(names)),
        shape=figure.model_channel(alt.Shape, names, figure.SHAPES, figure.legend(names)),
        tooltip=tooltip,
    )
    title = figure.heading("Precision and recall", f"curves: of the histograms{'; points: k-NN' if points else ''}")
    description = f"Precision-recall curves of the histograms, with their areas: {', '.join(said)}."
    chart = alt.LayerChart(layer=[figure.equal_line(), line, *([marks] if points else [])])
    return chart.properties(width=figure.SIDE, height=figure.SIDE, title=title, description=description)


def forest_chart(comparison: Comparison, width: int = 560) -> alt.LayerChart:
    """Each model's debiased MAUVE with its interval, the best on top; small ticks: MAUVE on the common buckets.

    Several featurizers have their models one below the other, each with its own best on top.
    """
    each = each_featurizer(comparison, figure_text)
    comparison = with_labels(comparison, figure_text)
    labels = dict(zip(comparison.ranking, figure.short_labels(comparison.ranking), strict=True))
    called_by = dict(zip(each, figure.short_labels(list(each)), strict=True))
    rows: figure.ChartRows = []
    said = []
    for featurizer, name in [(featurizer, name) for featurizer, one in each.items() for name in one.ranking]:
        result, prefix = each[featurizer].models[name], f"{featurizer}: " if featurizer else ""
        low, high = result.mauve_ci or (None, None)
        score = result.mauve if result.mauve_debiased is None else result.mauve_debiased
        place: figure.ChartRow = {"row": len(rows) + 0.64, "name_row": len(rows) + 0.22, "start": 0.0}
        scores: figure.ChartRow = {"score": score, "low": low, "high": high, "mauve": result.mauve}
        label = f"{called_by[featurizer]}: {labels[name]}" if featurizer else labels[name]
        called: figure.ChartRow = {"model": name, "label": label}
        rows.append(called | place | scores)
        said.append(f"{prefix}{name} {score:.3f}" + ("" if low is None else f" ({low:.3f} to {high:.3f})"))
    unit = alt.Scale(domain=[0, 1], nice=False)
    places = alt.Scale(domain=[0, len(rows)], range=[0, _ROW * len(rows)], nice=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=alt.Y("row:Q", scale=places, axis=None))
    x = alt.X(
        "score:Q",
        title=None,
        scale=unit,
        axis=alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f", **figure.AXIS_STYLE),
    )
    tooltip = ["model:N", *(alt.Tooltip(f"{key}:Q", format=".4f") for key in ("score", "low", "high", "mauve"))]
    color = figure.model_channel(alt.Color, comparison.ranking, figure.COLORS, None)
    names = base.mark_text(align="left", baseline="middle", fontSize=11)
    layers = [
        names.encode(
            x=alt.X("start:Q", scale=unit),
            y=alt.Y("name_row:Q", scale=places, axis=None),
            text="label:N",
            tooltip=tooltip,
        ),
        base.mark_rule(strokeWidth=3, opacity=0.6).encode(x=alt.X("low:Q", scale=unit), x2="high:Q", color=color),
        base.mark_tick(color=figure.LINE, thickness=1.5, size=12).encode(x=alt.X("mauve:Q", scale=unit)),
        base.mark_point(size=80, filled=True, opacity=1).encode(
            x=x,
            color=color,
            shape=figure.model_channel(alt.Shape, comparison.ranking, figure.SHAPES, None),
            tooltip=tooltip,
        ),
    ]
    level = f"{100 * comparison.confidence_level:g} % intervals, {next(iter(comparison.models.values())).ci_scope}"
    title = figure.heading("Of what two human sets reach", level, "tick: MAUVE on the buckets that all share")
    description = f"Debiased MAUVE, of what two human sets reach, with its interval: {', '.join(said)}."
    chart = alt.LayerChart(layer=layers)
    return chart.properties(width=width, height=_ROW * len(rows), title=title, description=description)


def _curves(
    kind: str, names: Sequence[str], rows: figure.ChartRows, x_title: str, y_title: str, dashes: bool = True
) -> alt.Chart:
    """A line a model; a click on a name below shows its line alone.

    kind: the curves' name. dashes: whether the names below have a dash each; else a shape.
    """
    picked = alt.selection_point(name=f"{kind}_picked", fields=["model"], bind="legend")
    line = alt.Chart(alt.InlineData(values=rows)).mark_line(strokeWidth=2.2)
    curves: alt.Chart = line.encode(
        *figure.curve_axes(x_title, y_title),
        color=figure.model_channel(alt.Color, names, figure.COLORS, figure.legend(names, lines=dashes)),
        strokeDash=figure.model_channel(
            alt.StrokeDash, names, figure.DASHES, figure.legend(names, lines=True) if dashes else None
        ),
        order="row:Q",
        opacity=alt.condition(picked, alt.value(1), alt.value(0.12)),
        tooltip="model:N",
    ).add_params(picked)
    return curves
