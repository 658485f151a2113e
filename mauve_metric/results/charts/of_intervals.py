"""A figure of values with their intervals, one panel for each group of them."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from mauve_metric.results.charts.figure import AXIS_STYLE, COLORS, SIDE, ChartRow, heading, short_labels
from mauve_metric.results.digits import digits
from mauve_metric.results.names import figure_text


def intervals_chart(rows: Sequence[ChartRow], title: str, *below: str) -> alt.FacetChart:
    """Points with intervals, each panel on its own scale.

    Args:
        rows: "panel" and "label" as text, "value", and "low" and "high", which may both be None.
        title: of the figure. below: lines under it.
    """
    shown = [row | {"panel": figure_text(str(row["panel"])), "label": figure_text(str(row["label"]))} for row in rows]
    called = dict.fromkeys(str(row["label"]) for row in shown)
    short = dict(zip(called, short_labels(list(called)), strict=True))
    shown = [row | {"short": short[str(row["label"])]} for row in shown]
    panels = list(dict.fromkeys(str(row["panel"]) for row in shown))
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
    said = ", ".join(f"{row['label']} {digits(float(row['value'] or 0.0))}" for row in shown)
    figure = figure.resolve_scale(x="independent", y="independent")
    chart: alt.FacetChart = figure.properties(title=heading(title, *below), description=f"{title}: {said}.")
    return chart
