"""The figure of an explanation: the buckets of the gap by their contributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from mauve_metric.results.charts.figure import AXIS_STYLE, MISSED, TOO_MUCH, ChartRow, ChartRows, heading
from mauve_metric.results.signature import signature_number

if TYPE_CHECKING:
    from mauve_metric.results.explanation import Explanation


def contributions_chart(
    explanation: Explanation, most: int = 40, width: int = 720, link: str | None = None
) -> alt.LayerChart:
    """The gap's buckets by falling contribution: filled too much (Type I) or missed (Type II); pale: could be noise.

    Args:
        explanation: of a result.
        most: buckets shown, the largest first.
        width: of the plot, in pixels.
        link: a click on a bucket follows this address with the bucket's number behind it; None: no link.
    """
    rows = _contribution_rows(explanation)[:most]
    if link is not None:
        rows = [row | {"link": f"{link}{row['bucket']}"} for row in rows]
    sides = ["too much (Type I), dashed", "missed (Type II)"]
    axis = alt.Axis(labels=False, ticks=False, grid=False, titleFontSize=12, titleFontWeight="normal")
    ends = alt.Scale(domain=[0, max(len(rows), 1)], nice=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("rank:Q", title="buckets, the largest first", axis=axis, scale=ends),
        x2="next:Q",
        y=alt.Y("contribution:Q", title="part of the gap 1 − MAUVE", axis=alt.Axis(**AXIS_STYLE)),
        y2=alt.datum(0),
    )
    legend = alt.Legend(
        title=None, orient="bottom", columns=2, symbolType="square", symbolOpacity=1, labelLimit=300, labelFontSize=11
    )
    bars = base.mark_rect().encode(
        color=alt.Color("side:N", scale=alt.Scale(domain=sides, range=[TOO_MUCH, MISSED]), legend=legend),
        opacity=alt.Opacity("noise:O", scale=alt.Scale(domain=[False, True], range=[1.0, 0.35]), legend=None),
        tooltip=[
            alt.Tooltip("bucket:Q", format="d"),
            "side:N",
            alt.Tooltip("contribution:Q", format=".4f"),
            alt.Tooltip("human:Q", title="human texts", format=".2%"),
            alt.Tooltip("model:Q", title="model texts", format=".2%"),
            alt.Tooltip("noise:N", title="could be noise"),
        ],
        **({} if link is None else {"href": "link:N"}),
    )
    dashes = alt.Chart(alt.InlineData(values=[row for row in rows if row["too_much"]])).mark_rule(
        color="white", strokeWidth=1.5, strokeDash=[3, 3]
    )
    middle = dashes.encode(
        x=alt.X("middle:Q", scale=ends),
        y="contribution:Q",
        y2=alt.datum(0),
        **({} if link is None else {"href": "link:N"}),
    )
    parts = f"{explanation.type_one:.3f} from buckets filled too much, {explanation.type_two:.3f} from missed ones"
    title = heading(f"The gap of {explanation.gap:.3f}", parts)
    description = f"Buckets by their part of the gap of {explanation.gap:.3f}: {parts}"
    if rows:
        first = rows[0]
        description += f"; the largest, bucket {first['bucket']}, adds {first['contribution']:.3f}"
    noise = alt.Chart(alt.InlineData(values=[{"label": "pale: could be noise"}] * any(row["noise"] for row in rows)))
    words = noise.mark_text(align="right", fontSize=11).encode(x=alt.value("width"), y=alt.value(8), text="label:N")
    chart = alt.LayerChart(layer=[bars, middle, words])
    return chart.properties(width=width, height=200, title=title, description=f"{description}.")


def _contribution_rows(explanation: Explanation) -> ChartRows:
    """One row a bucket that adds to the gap, the largest first."""
    result = explanation.result
    rows: ChartRows = []
    order = sorted(range(len(explanation.contributions)), key=lambda bucket: -explanation.contributions[bucket])
    level = signature_number(result.signature_entries, "confidence_level")
    for rank, bucket in enumerate(order):
        part, human, model = explanation.contributions[bucket], result.p_hist[bucket], result.q_hist[bucket]
        if part <= 0:
            break
        too_much = bool(model > human)
        side = "too much (Type I), dashed" if too_much else "missed (Type II)"
        place: ChartRow = {"rank": rank + 0.05, "next": rank + 0.95, "middle": rank + 0.5, "bucket": bucket}
        shares = {"human": float(human), "model": float(model), "contribution": float(part)}
        noise = bool(explanation.p_values[bucket] > 1 - level)
        rows.append(place | shares | {"side": side, "too_much": too_much, "noise": noise})
    return rows
