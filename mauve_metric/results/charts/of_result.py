"""Figures of a result, one definition each: Altair charts for the page, the notebook, the shell and the paper.

Both curves stand on the same axes: to the right the model covers more of the human text, upwards more of its own text
looks human. A chart carries its data and its score, and can be read in grey.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.results.charts.figure import (
    AXIS_STYLE,
    BLUE,
    COVERAGE,
    GAP,
    GREY,
    QUALITY,
    SIDE,
    VERMILLION,
    ChartRow,
    ChartRows,
    curve_axes,
)
from mauve_metric.results.numbers import ResultNumbers
from mauve_metric.results.signature import format_value
from mauve_metric.runtime.packages import import_altair
from mauve_metric.uncertainty.jackknife import CurveBand

if TYPE_CHECKING:
    import altair as alt


def divergence_curve_chart(result: ResultNumbers) -> alt.LayerChart:
    """The divergence curve (Pillutla et al. 2021, §3); the shaded area under it is MAUVE.

    x = exp(-c·KL(P‖R_λ)), coverage of human text; y = exp(-c·KL(Q‖R_λ)), quality of the model's text; both in [0, 1],
    higher is better. Pointing at one of the mixtures shows its weight λ and the two soft errors in nats. The dashed
    line is the curve without the bias of sampling, in its pointwise band (`jackknife.frontier_band`).

    Raises:
        ImportError: Altair is not installed.
    """
    import_altair()
    import altair as alt

    tooltip = [
        alt.Tooltip("lambda:Q", title="λ, share of human text", format=".3f"),
        alt.Tooltip("type_one:Q", title="Type I error, KL(Q‖R)", format=".4f"),
        alt.Tooltip("type_two:Q", title="Type II error, KL(P‖R)", format=".4f"),
        alt.Tooltip("quality:Q", title="quality", format=".4f"),
        alt.Tooltip("coverage:Q", title="coverage", format=".4f"),
    ]
    base = _curve_base(_divergence_rows(result), COVERAGE, QUALITY)
    mixtures = base.transform_filter("isValid(datum.lambda)")
    points = mixtures.mark_point(color=BLUE, filled=True, size=36, opacity=1, tooltip=None)
    targets = mixtures.mark_point(color=BLUE, filled=True, size=250, opacity=0).encode(tooltip=tooltip)
    c = format_value(result.signature_entries["mauve_scaling_factor"])
    sizes = f"{result.n_p} human and {result.n_q} model texts, {result.num_buckets} buckets, c = {c}"
    subtitle = [sizes, _interval(result), "dashed: debiased curve and its pointwise band"]
    title = alt.Title(f"MAUVE = {result.mauve:.4f}", subtitle=subtitle, anchor="start")
    area, equal, line = _curve_layers(base, BLUE, dash=[1, 0])
    layers = alt.LayerChart(layer=[area, equal, line, *_band_layers(result.curve_band), points, targets])
    return layers.properties(width=SIDE, height=SIDE, title=title)


def precision_recall_chart(result: ResultNumbers) -> alt.LayerChart:
    """The exact precision-recall curve of the two histograms (Sajjadi et al. 2018), the area under it shaded.

    x = recall, coverage of human text; y = precision, quality of the model's text; both in [0, 1], higher is better.
    The circle is k-NN precision against recall, the square density (drawn at 1 if it is more) against coverage.

    Raises:
        ImportError: Altair is not installed.
    """
    import_altair()
    import altair as alt

    tooltip = [
        alt.Tooltip("quality:Q", title="precision", format=".4f"),
        alt.Tooltip("coverage:Q", title="recall", format=".4f"),
    ]
    base = _curve_base(_precision_recall_rows(result), f"recall: {COVERAGE}", f"precision: {QUALITY}")
    targets = base.mark_point(color=VERMILLION, filled=True, size=150, opacity=0).encode(tooltip=tooltip)
    subtitle = [
        f"precision (F 1/8) {result.prd_precision:.4f}, recall (F 8) {result.prd_recall:.4f}",
        "curve: from the histograms",
        "k-NN scores: not computed" if result.precision is None else "circle: k-NN, square: density and coverage",
    ]
    title = alt.Title(f"PRD area = {result.prd_area:.4f}", subtitle=subtitle, anchor="start")
    layers = alt.LayerChart(layer=[*_curve_layers(base, VERMILLION, dash=[7, 3]), targets, *_neighbour_layers(result)])
    return layers.properties(width=SIDE, height=SIDE, title=title)


def histogram_chart(result: ResultNumbers, width: int = 720) -> alt.LayerChart:
    """Both histograms, human texts upwards and model texts downwards, the buckets in the order of p - q.

    Pointing at a bucket shows its number and what share of either set lies in it.

    Args:
        result: the scores.
        width: of the plot, in pixels.

    Raises:
        ImportError: Altair is not installed.
    """
    import_altair()
    import altair as alt

    tooltip = [
        alt.Tooltip("bucket:Q", title="bucket", format="d"),
        alt.Tooltip("human:Q", title="share of human texts", format=".2%"),
        alt.Tooltip("model:Q", title="share of model texts", format=".2%"),
        alt.Tooltip("difference:Q", title="difference", format="+.2%"),
    ]
    ends = alt.Scale(domain=[0, result.num_buckets], nice=False)
    order = alt.Axis(labels=False, ticks=False, grid=False, titleFontSize=12, titleFontWeight="normal")
    base = alt.Chart(alt.InlineData(values=_histogram_rows(result)))
    base = base.encode(x=alt.X("rank:Q", title="buckets", scale=ends, axis=order), x2="next:Q", tooltip=tooltip)
    shares = alt.Axis(labelExpr="format(abs(datum.value), '~%')", **AXIS_STYLE)
    share = alt.Y("human:Q", title="share of a set's texts", axis=shares)
    up = base.mark_rect(color=BLUE, stroke="white", strokeWidth=0.3).encode(y=share, y2=alt.datum(0))
    down = base.mark_rect(color=VERMILLION, stroke="white", strokeWidth=0.3).encode(y="below:Q", y2=alt.datum(0))
    middle = alt.Chart(alt.InlineData(values=[{"share": 0}])).mark_rule(color="black").encode(y="share:Q")
    subtitle = ["human texts upwards, model texts downwards", "left: missed by the model, right: filled too much"]
    title = alt.Title("Where the two sets differ", subtitle=subtitle, anchor="start")
    return alt.LayerChart(layer=[up, down, middle]).properties(width=width, height=200, title=title)


def score_chart(result: ResultNumbers, width: int = 720) -> alt.LayerChart:
    """MAUVE and its debiased interval on the line from 0 to 1, between the floor and the ceiling of these sizes.

    The shaded span runs from `mauve_floor` (nothing in common) to `mauve_ceiling` (two samples of one distribution).

    Args:
        result: the scores.
        width: of the plot, in pixels.

    Raises:
        ImportError: Altair is not installed.
    """
    import_altair()
    import altair as alt

    axis = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], **AXIS_STYLE)
    x = alt.X("value:Q", title="lower: further apart, higher: closer", axis=axis)
    x = x.scale(domain=[0, 1], nice=False)
    rows = _score_rows(result)
    base = alt.Chart(alt.InlineData(values=rows))
    tooltip = [alt.Tooltip("name:N", title=" "), alt.Tooltip("value:Q", title="value", format=".4f")]
    one = {kind: base.transform_filter(f"datum.kind == '{kind}'") for kind in ("span", "end", "interval", "mark")}
    span = one["span"].mark_bar(color=GREY, opacity=0.18, height=44).encode(x=x, x2="to:Q")
    ends = one["end"].mark_tick(color=GREY, thickness=2, size=44).encode(x=x, tooltip=tooltip)
    names = one["end"].mark_text(color=GREY, dy=-30, fontSize=11).encode(x=x, text="label:N")
    interval = one["interval"].mark_rule(color=VERMILLION, strokeWidth=5).encode(x=x, x2="to:Q")
    shape, color = alt.Shape("symbol:N", scale=None), alt.Color("color:N", scale=None)
    marks = one["mark"].mark_point(filled=True, size=130, opacity=1, stroke="white", strokeWidth=1)
    marks = marks.encode(x=x, shape=shape, color=color, tooltip=tooltip)
    subtitle = ["diamond: MAUVE, to be read between floor and ceiling", f"circle: {_interval(result)}"]
    title = alt.Title(f"MAUVE = {result.mauve:.4f}", subtitle=subtitle, anchor="start")
    return alt.LayerChart(layer=[span, ends, names, interval, marks]).properties(width=width, height=80, title=title)


def result_chart(result: ResultNumbers) -> alt.VConcatChart:
    """All figures of a result: the score, the divergence curve beside the precision-recall curve, the histograms.

    Raises:
        ImportError: Altair is not installed.

    >>> import numpy as np
    >>> from mauve_metric import compute_mauve
    >>> rng = np.random.default_rng(0)
    >>> out = compute_mauve(p_features=rng.normal(size=(50, 4)), q_features=rng.normal(size=(50, 4)))
    >>> sorted(result_chart(out).to_dict())[-1]
    'vconcat'
    """
    import_altair()
    import altair as alt

    curves = alt.hconcat(divergence_curve_chart(result), precision_recall_chart(result), spacing=GAP)
    return alt.vconcat(score_chart(result), curves, histogram_chart(result), spacing=GAP)


def _curve_base(rows: ChartRows, x_title: str, y_title: str) -> alt.Chart:
    """A chart of rows with `coverage` and `quality` on two axes that run from 0 to 1, the rows in their own order."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=rows)).encode(**curve_axes(x_title, y_title))


def _curve_layers(base: alt.Chart, color: str, dash: list[int]) -> list[alt.Chart]:
    """Shaded area, line of equal coverage and quality, and the curve, its points joined in row order."""
    import altair as alt

    ends = [{"coverage": end, "quality": end} for end in (0, 1)]
    equal = alt.Chart(alt.InlineData(values=ends)).mark_line(color=GREY, strokeDash=[2, 4], strokeWidth=1)
    return [
        base.mark_area(color=color, opacity=0.15, orient="vertical", order=False),
        equal.encode(x="coverage:Q", y="quality:Q"),
        base.mark_line(color=color, strokeWidth=2.5, strokeDash=dash, order=False),
    ]


def _band_layers(band: CurveBand | None) -> list[alt.Chart]:
    """The debiased curve and its band; none for a set of one text."""
    if band is None:
        return []
    import altair as alt

    order = alt.Order("row:Q")
    place = {"x": "coverage:Q", "y": alt.Y("quality:Q", stack=None), "order": order}
    outline, middle = (alt.Chart(alt.InlineData(values=rows)) for rows in _band_rows(band))
    return [
        outline.mark_line(fill=GREY, fillOpacity=0.3, strokeWidth=0, tooltip=None).encode(**place),
        middle.mark_line(color=GREY, strokeWidth=1.5, strokeDash=[5, 3]).encode(**place),
    ]


def _neighbour_layers(result: ResultNumbers) -> list[alt.Chart]:
    """The points of the nearest-neighbour scores; none where they were not computed."""
    rows = _neighbour_rows(result)
    if not rows:
        return []
    import altair as alt

    tooltip = [alt.Tooltip("name:N", title=" "), alt.Tooltip("shown:N", title="values")]
    points = alt.Chart(alt.InlineData(values=rows)).mark_point(
        color=BLUE, filled=True, size=110, opacity=1, stroke="white", strokeWidth=1, clip=False
    )
    shape = alt.Shape("symbol:N", scale=None)
    return [points.encode(x="coverage:Q", y="quality:Q", shape=shape, tooltip=tooltip)]


def _divergence_rows(result: ResultNumbers) -> ChartRows:
    """One row for each point of the divergence curve; weight and errors are None at the two closing points."""
    mixtures = [None, *result.curve_mixtures.tolist(), None]
    rows: ChartRows = []
    for row, ((quality, coverage), mixture) in enumerate(zip(result.divergence_curve.tolist(), mixtures, strict=True)):
        weight, error_one, error_two = mixture or (None, None, None)
        errors = {"lambda": weight, "type_one": error_one, "type_two": error_two}
        rows.append({"row": row, "coverage": coverage, "quality": quality} | errors)
    return rows


def _precision_recall_rows(result: ResultNumbers) -> ChartRows:
    points = enumerate(result.prd_curve.tolist())
    return [{"row": row, "coverage": recall, "quality": precision} for row, (recall, precision) in points]


def _band_rows(band: CurveBand) -> tuple[ChartRows, ChartRows]:
    """The outline of the band, up its low side and back down its high side, and the debiased curve within."""

    def rows(points: list[list[float]]) -> ChartRows:
        return [{"row": row, "coverage": x, "quality": y} for row, (y, x) in enumerate(points)]

    return rows([*band.low.tolist(), *band.high[::-1].tolist()]), rows(band.curve.tolist())


def _neighbour_rows(result: ResultNumbers) -> ChartRows:
    if result.precision is None or result.recall is None or result.density is None or result.coverage is None:
        return []
    return [
        {
            "name": "k-NN precision and recall",
            "symbol": "circle",
            "coverage": result.recall,
            "quality": result.precision,
            "shown": f"precision {result.precision:.4f}, recall {result.recall:.4f}",
        },
        {
            "name": "k-NN density and coverage",
            "symbol": "square",
            "coverage": result.coverage,
            "quality": min(result.density, 1.0),
            "shown": f"density {result.density:.4f}, coverage {result.coverage:.4f}",
        },
    ]


def _score_rows(result: ResultNumbers) -> ChartRows:
    """What stands on the line of the score, by kind."""
    floor, ceiling = result.mauve_floor, result.mauve_ceiling
    rows: ChartRows = [
        {"kind": "span", "value": floor, "to": ceiling},
        {"kind": "end", "name": "floor: nothing in common", "label": "floor", "value": floor},
        {"kind": "end", "name": "ceiling: two samples of one distribution", "label": "ceiling", "value": ceiling},
    ]
    if result.mauve_ci is not None:
        rows.append({"kind": "interval", "value": result.mauve_ci[0], "to": result.mauve_ci[1]})
    if result.mauve_debiased is not None:
        rows.append(_mark("debiased MAUVE", result.mauve_debiased, "circle", VERMILLION))
    return [*rows, _mark("MAUVE", result.mauve, "diamond", BLUE)]


def _mark(name: str, value: float, symbol: str, color: str) -> ChartRow:
    return {"kind": "mark", "name": name, "value": value, "symbol": symbol, "color": color}


def _histogram_rows(result: ResultNumbers) -> ChartRows:
    """One row a bucket, by falling p - q, equal ones by number."""
    difference = result.p_hist - result.q_hist
    rows: ChartRows = []
    for rank, bucket in enumerate(np.argsort(-difference, kind="stable").tolist()):
        human, model = float(result.p_hist[bucket]), float(result.q_hist[bucket])
        shares = {"human": human, "model": model, "below": -model, "difference": human - model}
        rows.append({"rank": rank, "next": rank + 1, "bucket": bucket} | shares)
    return rows


def _interval(result: ResultNumbers) -> str:
    """The debiased score and its interval, in a few words."""
    if result.mauve_ci is None or result.mauve_debiased is None:
        return "interval: not computed"
    low, high = result.mauve_ci
    return f"debiased {result.mauve_debiased:.4f}, interval {low:.4f} to {high:.4f}"
