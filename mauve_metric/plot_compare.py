"""Figures of comparisons and explanations, on the same axes and with the same conventions as `plot`.

A model has one colour (Okabe and Ito's, told apart by people with any colour vision), one dash and one shape in all
figures, so that they can be read in grey.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mauve_metric.plot import COVERAGE, QUALITY, Rows, curve_axes, import_altair, signature_value

if TYPE_CHECKING:
    import altair as alt

    from mauve_metric.comparison import Comparison
    from mauve_metric.explanation import Explanation
    from mauve_metric.result import MauveResult

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [12, 4], [5, 2, 1, 2, 1, 2], [4, 4], [1, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

_SIDE = 300
_ROW = 26  # pixels a model in the forest plot
_GREY = "#6E6E6E"
_TOO_MUCH, _MISSED = "#D55E00", "#0072B2"
_AXIS = {"titleFontSize": 12, "titleFontWeight": "normal", "labelFontSize": 11, "gridColor": "#E8E8E8"}

Against = Literal["length", "texts", "buckets", "scaling_factor"]
AGAINST: dict[str, str] = {
    "length": "median length of the model's texts (tokens)",
    "texts": "texts a set",
    "buckets": "number of buckets k",
    "scaling_factor": "scaling factor c",
}


def comparison_chart(comparison: Comparison) -> alt.VConcatChart:
    """The figures of a comparison: curves beside precision and recall, and the forest plot below.

    Raises:
        ImportError: Altair is not installed.
    """
    alt = import_altair()
    return alt.vconcat(curve_charts(comparison), forest_chart(comparison), spacing=30).configure_legend(labelLimit=300)


def curve_charts(comparison: Comparison) -> alt.HConcatChart:
    """The divergence curves beside precision and recall."""
    alt = import_altair()
    charts = alt.hconcat(curves_chart(comparison), precision_recall_points_chart(comparison), spacing=30)
    return charts.resolve_scale(color="independent", shape="independent", strokeDash="independent")


def curves_chart(comparison: Comparison) -> alt.LayerChart:
    """The divergence curves of all models on the common buckets; the area under a curve is its MAUVE."""
    alt = import_altair()
    rows: Rows = []
    for name in comparison.ranking:
        points = enumerate(comparison.models[name].divergence_curve.tolist())
        rows += [{"model": name, "row": row, "coverage": x, "quality": y} for row, (y, x) in points]
    base = alt.Chart(alt.InlineData(values=rows)).encode(**curve_axes(COVERAGE, QUALITY))
    line = base.mark_line(strokeWidth=2.2).encode(
        color=_color(comparison.ranking), strokeDash=_dash(comparison.ranking), order="row:Q", tooltip="model:N"
    )
    title = alt.Title("Divergence curves", subtitle="the area under a curve is its MAUVE", anchor="start")
    return alt.layer(_equal_line(), line).properties(width=_SIDE, height=_SIDE, title=title)


def precision_recall_points_chart(comparison: Comparison) -> alt.LayerChart:
    """Quality against coverage, a point a model: k-NN precision and recall, those of the histograms without k-NN."""
    alt = import_altair()
    knn = all(result.precision is not None for result in comparison.models.values())
    rows: Rows = []
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


def forest_chart(comparison: Comparison, width: int = 560) -> alt.LayerChart:
    """Each model's debiased MAUVE with its interval, the best on top; small ticks: MAUVE on the common buckets."""
    alt = import_altair()
    rows: Rows = []
    for name in comparison.ranking:
        result = comparison.models[name]
        low, high = result.mauve_ci or (None, None)
        score = result.mauve if result.mauve_debiased is None else result.mauve_debiased
        rows.append({"model": name, "score": score, "low": low, "high": high, "mauve": result.mauve})
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("model:N", sort=list(comparison.ranking), title=None, axis=alt.Axis(labelLimit=300, **_AXIS))
    )
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("score:Q", title="debiased MAUVE and its interval (tick: MAUVE)", scale=unit, axis=alt.Axis(**_AXIS))
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
    alt = import_altair()
    rows = _contribution_rows(explanation)[:most]
    if link is not None:
        rows = [row | {"link": f"{link}{row['bucket']}"} for row in rows]
    sides = ["model writes too much (Type I)", "model misses (Type II)"]
    axis = alt.Axis(labels=False, ticks=False, grid=False, titleFontSize=12, titleFontWeight="normal")
    ends = alt.Scale(domain=[0, max(len(rows), 1)], nice=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("rank:Q", title="buckets, the largest first", axis=axis, scale=ends),
        x2="next:Q",
        y=alt.Y("contribution:Q", title="part of the gap 1 − MAUVE", axis=alt.Axis(**_AXIS)),
        y2=alt.datum(0),
    )
    legend = alt.Legend(title=None, orient="top-right", labelLimit=300, labelFontSize=11)
    bars = base.mark_rect(stroke="white", strokeWidth=0.5).encode(
        color=alt.Color("side:N", scale=alt.Scale(domain=sides, range=[_TOO_MUCH, _MISSED]), legend=legend),
        opacity=alt.Opacity("noise:N", scale=alt.Scale(domain=[False, True], range=[1.0, 0.35]), legend=None),
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
    subtitle = [
        f"{explanation.type_one:.3f} from buckets filled too much, {explanation.type_two:.3f} from missed ones",
        "dashed: filled too much; pale: could be noise",
    ]
    title = alt.Title(f"The gap of {explanation.gap:.3f}", subtitle=subtitle, anchor="start")
    return alt.layer(bars, middle).properties(width=width, height=200, title=title)


def score_against_chart(
    results: Mapping[str, Sequence[MauveResult]] | Sequence[MauveResult], against: Against, width: int = 420
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
    rows: Rows = []
    for name, every in series.items():
        for result in every:
            low, high = result.mauve_ci or (None, None)
            rows.append({"model": name, "x": _place(result, against), "mauve": result.mauve, "low": low, "high": high})
    if not rows:
        raise ValueError("results must hold at least one result, got none")
    names = list(series)
    legend = alt.Undefined if len(names) > 1 else None
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("x:Q", title=AGAINST[against], scale=alt.Scale(zero=False), axis=alt.Axis(**_AXIS))
    )
    score = alt.Y("mauve:Q", title="MAUVE", scale=alt.Scale(domain=[0, 1], nice=False), axis=alt.Axis(**_AXIS))
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


# --- parts --------------------------------------------------------------------------------------------------------


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


def _contribution_rows(explanation: Explanation) -> Rows:
    """One row a bucket that adds to the gap, the largest first."""
    result, rows = explanation.result, []
    order = sorted(range(len(explanation.contributions)), key=lambda bucket: -explanation.contributions[bucket])
    level = float(signature_value(result.signature, "confidence_level"))
    for rank, bucket in enumerate(order):
        part, human, model = explanation.contributions[bucket], result.p_hist[bucket], result.q_hist[bucket]
        if part <= 0:
            break
        too_much = bool(model > human)
        side = "model writes too much (Type I)" if too_much else "model misses (Type II)"
        place = {"rank": rank + 0.05, "next": rank + 0.95, "middle": rank + 0.5, "bucket": bucket}
        shares = {"human": float(human), "model": float(model), "contribution": float(part)}
        noise = bool(explanation.p_values[bucket] > 1 - level)
        rows.append(place | shares | {"side": side, "too_much": too_much, "noise": noise})
    return rows


def _place(result: MauveResult, against: str) -> float:
    """Where a result lies on the axis."""
    if against == "length":
        if result.q_median_length is None:
            raise ValueError("a result from features does not know the length of its texts")
        return result.q_median_length
    if against == "scaling_factor":
        return float(signature_value(result.signature, "mauve_scaling_factor"))
    return float(result.num_buckets if against == "buckets" else min(result.n_p, result.n_q))
