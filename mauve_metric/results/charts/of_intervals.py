"""A figure of values with their intervals, one panel for each group of them."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from mauve_metric.results.charts.figure import AXIS_STYLE, COLORS, SIDE, ChartRow, heading, short_labels
from mauve_metric.results.digits import digits
from mauve_metric.results.names import figure_text

Values = Sequence[tuple[str, str, float, tuple[float, float] | None]]  # panel, label, value and interval


def intervals_chart(values: Values, title: str, *below: str) -> alt.FacetChart:
    """Points with intervals, each panel on its own scale.

    Args:
        values: the panel and the label of each value, the value, and its interval, if it has one.
        title: of the figure. below: lines under it.
    """
    panels = list(dict.fromkeys(figure_text(panel) for panel, *_ in values))
    labels = list(dict.fromkeys(figure_text(label) for _, label, *_ in values))
    short = dict(zip(labels, short_labels(labels), strict=True))
    shown = []
    for panel, name, value, ci in values:
        label, (low, high) = figure_text(name), ci or (None, None)
        named: ChartRow = {"panel": figure_text(panel), "label": label}
        shown.append(named | {"value": value, "low": low, "high": high, "short": short[label]})
    tooltip = [alt.Tooltip("label:N")]
    tooltip += [alt.Tooltip(f"{key}:Q", format=".4f") for key in ("value", "low", "high")]
    base = alt.Chart().encode(
        y=alt.Y("short:N", title=None, sort=None, axis=alt.Axis(labelLimit=260, **AXIS_STYLE)),
        tooltip=tooltip,
    )
    axis = alt.X("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(**AXIS_STYLE))
    rules = base.mark_rule(strokeWidth=3, opacity=0.6, color=COLORS[0]).encode(x="low:Q", x2="high:Q")
    points = base.mark_point(size=70, filled=True, opacity=1, color=COLORS[0]).encode(x=axis)
    layers = alt.layer(rules, points, data=alt.InlineData(values=shown)).properties(width=SIDE)
    head = alt.Header(labelOrient="top", labelFontSize=12)
    figure = layers.facet(row=alt.Row("panel:N", title=None, sort=panels, header=head))
    said = ", ".join(f"{figure_text(label)} {digits(value)}" for _, label, value, _ in values)
    figure = figure.resolve_scale(x="independent", y="independent")
    chart: alt.FacetChart = figure.properties(title=heading(title, *below), description=f"{title}: {said}.")
    return chart
