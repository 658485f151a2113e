"""A figure of values with intervals, in panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from mauve_metric.report.charts import figure
from mauve_metric.runtime.plain_text import digits, figure_text

Values = Sequence[tuple[str, str, float, tuple[float, float] | None]]  # panel, label, value and interval


def intervals_chart(values: Values, title: str, *below: str) -> alt.FacetChart:
    """Points with intervals, each panel on its own scale.

    Args:
        values: the panel and the label of each value, the value, and its interval, if it has one.
        title: of the figure. below: lines under it.
    """
    labels = list(dict.fromkeys(figure_text(label) for _, label, *_ in values))
    short = dict(zip(labels, figure.short_labels(labels), strict=True))
    shown: list[dict[str, Any]] = []
    for panel, name, value, ci in values:
        label, (low, high) = figure_text(name), ci or (None, None)
        row = {"panel": figure_text(panel), "label": label, "value": value, "low": low, "high": high}
        shown.append(row | {"short": short[label]})
    panels = list(dict.fromkeys(row["panel"] for row in shown))
    tooltip = [alt.Tooltip("label:N"), *figure.numbers(".4f", "value", "low", "high")]
    y = alt.Y("short:N", title=None, sort=None, axis=alt.Axis(labelLimit=260, **figure.AXIS_STYLE))
    base = alt.Chart().encode(y=y, tooltip=tooltip)
    axis = alt.X("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(**figure.AXIS_STYLE))
    rules = base.mark_rule(strokeWidth=3, opacity=0.6, color=figure.COLORS[0]).encode(x="low:Q", x2="high:Q")
    points = base.mark_point(size=70, filled=True, opacity=1, color=figure.COLORS[0]).encode(x=axis)
    layers = alt.layer(rules, points, data=alt.InlineData(values=shown)).properties(width=figure.SIDE)
    head = alt.Header(labelOrient="top", labelFontSize=12)
    panelled = layers.facet(row=alt.Row("panel:N", title=None, sort=panels, header=head))
    said = ", ".join(f"{row['label']} {digits(row['value'])}" for row in shown)
    panelled = panelled.resolve_scale(x="independent", y="independent")
    chart: alt.FacetChart = panelled.properties(title=figure.heading(title, *below), description=f"{title}: {said}.")
    return chart
