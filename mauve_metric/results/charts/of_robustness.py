"""The figure of a robustness analysis: each model's rank under each setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from mauve_metric.results.charts import figure
from mauve_metric.results.names import figure_text, shown_names

if TYPE_CHECKING:
    from mauve_metric.results.robustness import Robustness, Setting

_ROW = 18  # pixels a setting
_RANK = 70  # pixels a rank
_LONGEST_NAME = 60  # characters of a setting


def robustness_chart(found: Robustness) -> alt.LayerChart:
    """Rank against setting: a line that is straight is a model whose rank does not depend on the setting.

    A point is filled where the model is told apart from the one ranked below it (the last: above it).
    """
    labels = shown_names(list(found.ranking), figure_text)
    names = [labels[name] for name in found.ranking]
    settings = figure.short_labels([figure_text(setting.name) for setting in found.settings], _LONGEST_NAME)
    rows: figure.ChartRows = []
    for place, (setting, called) in enumerate(zip(found.settings, settings, strict=True)):
        own: figure.ChartRow = {"place": place, "setting": called, "tau": setting.tau}
        rows += [own | row for row in _ranks(setting, labels)]
    count = len(names)
    axis = alt.Axis(values=list(range(1, count + 1)), format="d", orient="top", **figure.AXIS_STYLE)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("rank:Q", title="rank", axis=axis, scale=alt.Scale(domain=[0.7, count + 0.3], nice=False)),
        y=alt.Y("setting:N", title=None, sort=settings, axis=alt.Axis(labelLimit=420, **figure.AXIS_STYLE)),
        color=figure.model_channel(alt.Color, names, figure.COLORS, figure.legend(names)),
    )
    tooltip = ["setting:N", "model:N", "rank:Q", *(alt.Tooltip(f"{key}:Q", format=".4f") for key in ("score", "tau"))]
    lines = base.mark_line(strokeWidth=1.5, opacity=0.5).encode(order="place:Q")
    points = base.mark_point(size=60, opacity=1).encode(
        shape=figure.model_channel(alt.Shape, names, figure.SHAPES, figure.legend(names)),
        fillOpacity=alt.condition("datum.apart == 1", alt.value(1), alt.value(0)),
        fill=alt.Fill("model:N", scale=alt.Scale(domain=names, range=figure.cycle(figure.COLORS, count)), legend=None),
        tooltip=tooltip,
    )
    title = figure.heading(
        "Ranks under each setting", "filled: told apart from the model ranked next below (the last: above)"
    )
    same = f"{found.agreeing} of {len(found.settings) - 1} settings rank the models as the default does"
    description = f"The rank of each model under each setting; by default {', '.join(names)}, best first; {same}."
    chart = alt.LayerChart(layer=[lines, points])
    return chart.properties(width=_RANK * count, height=_ROW * len(settings), title=title, description=description)


def _ranks(setting: Setting, labels: dict[str, str]) -> figure.ChartRows:
    real = {frozenset((item.a, item.b)): item.real for item in setting.differences}
    rows: figure.ChartRows = []
    for number, name in enumerate(setting.ranking):
        other = setting.ranking[number + 1 if number + 1 < len(setting.ranking) else number - 1]
        score = setting.models[name]
        row: figure.ChartRow = {"model": labels[name], "rank": score.rank, "score": score.mauve_debiased}
        rows.append(row | {"apart": int(real[frozenset((name, other))])})
    return rows
