"""Figures of comparisons and explanations, with the same axes and conventions as those of a result.

A model has one colour, one dash and one shape in all figures, so that they can be read in grey. Long names are
shortened where they are drawn; the whole name is seen under the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from mauve_metric.report.charts import figure
from mauve_metric.report.wording.words import each_featurizer, with_labels, with_reference
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation
from mauve_metric.runtime.plain_text import figure_text

_ROW = 32  # pixels a model in the forest plot
_SIDES = "too much (I), dashed", "missed (II)"


def comparison_chart(comparison: Comparison) -> alt.VConcatChart:
    """The figures of a comparison: curves beside precision and recall, and the forest plot below."""
    return alt.vconcat(curve_charts(comparison), forest_chart(comparison), spacing=figure.GAP)


def curve_charts(comparison: Comparison) -> alt.HConcatChart:
    """The divergence curves beside precision and recall."""
    charts = alt.hconcat(curves_chart(comparison), precision_recall_curves_chart(comparison), spacing=figure.GAP)
    beside: alt.HConcatChart = charts.resolve_scale(color="independent", shape="independent", strokeDash="independent")
    return beside


def curves_chart(comparison: Comparison) -> alt.LayerChart:
    """The divergence curves of all models on the common buckets; the area under a curve is MAUVE there."""
    comparison = with_labels(comparison, figure_text)
    rows: figure.ChartRows = []
    for name in comparison.ranking:
        rows += figure.curve_rows(comparison.models[name].divergence_curve.tolist(), model=name)
    coverage = figure.coverage_of(comparison.reference_name)
    line = _curves("divergence", comparison.ranking, rows, coverage, figure.QUALITY)
    areas = ", ".join(f"{name} {comparison.models[name].mauve:.4f}" for name in comparison.ranking)
    description = f"Divergence curves, quality of a model's text against {coverage}; areas: {areas}."
    title = "Divergence curves", "area under a curve: shared MAUVE"
    return figure.layered([figure.equal_line(), line], figure.SIDE, figure.SIDE, title, description)


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
    titles = f"recall: {figure.coverage_of(comparison.reference_name)}", f"precision: {figure.QUALITY}"
    line = _curves("precision_recall", names, curves, *titles, dashes=not points)
    marks = figure.marks(points, "point", size=90, filled=True, opacity=1).encode(
        x="coverage:Q",
        y="quality:Q",
        color=figure.model_channel(alt.Color, names, figure.legend(names)),
        shape=figure.model_channel(alt.Shape, names, figure.legend(names)),
        tooltip=["model:N", *figure.tooltips({"quality": "k-NN precision", "coverage": "k-NN recall"})],
    )
    title = "Precision and recall", f"curves: of the histograms{'; points: k-NN' if points else ''}"
    description = f"Precision-recall curves of the histograms, with their areas: {', '.join(said)}."
    layers = [figure.equal_line(), line, *([marks] if points else [])]
    return figure.layered(layers, figure.SIDE, figure.SIDE, title, description)


def forest_chart(comparison: Comparison, width: int = 560) -> alt.LayerChart:
    """Each model's closeness with its interval, the best on top; small ticks: MAUVE.

    Several featurizers have their models one below the other, each with its own best on top.
    """
    each = each_featurizer(comparison, figure_text)
    comparison = with_labels(comparison, figure_text)
    labels = dict(zip(comparison.ranking, figure.short_labels(comparison.ranking), strict=True))
    called_by = dict(zip(each, figure.short_labels(list(each)), strict=True))
    rows: figure.ChartRows = []
    said = []
    for featurizer, name in [(featurizer, name) for featurizer, scored in each.items() for name in scored.ranking]:
        result, prefix = each[featurizer].models[name], f"{featurizer}: " if featurizer else ""
        low, high = result.closeness_ci or (None, None)
        mauve = each[featurizer].own[name].mauve
        score = mauve if result.closeness is None else result.closeness
        label = f"{called_by[featurizer]}: {labels[name]}" if featurizer else labels[name]
        called: figure.ChartRow = {"model": name, "label": label}
        called |= {"row": len(rows) + 0.64, "name_row": len(rows) + 0.22, "start": 0.0}
        rows.append(called | {"score": score, "low": low, "high": high, "mauve": mauve})
        said.append(f"{prefix}{name} {score:.3f}" + ("" if low is None else f" ({low:.3f} to {high:.3f})"))
    unit = alt.Scale(**figure.UNIT)
    places = alt.Scale(domain=[0, len(rows)], range=[0, _ROW * len(rows)], nice=False)
    base = figure.of_rows(rows).encode(y=alt.Y("row:Q", scale=places, axis=None))
    tooltip = ["model:N", *figure.numbers(".4f", "score", "low", "high", "mauve")]
    color = figure.model_channel(alt.Color, comparison.ranking, None)
    layers = [
        base.mark_text(align="left", baseline="middle", fontSize=11).encode(
            x=alt.X("start:Q", scale=unit),
            y=alt.Y("name_row:Q", scale=places, axis=None),
            text="label:N",
            tooltip=tooltip,
        ),
        base.mark_rule(strokeWidth=3, opacity=0.6).encode(x=alt.X("low:Q", scale=unit), x2="high:Q", color=color),
        base.mark_tick(color=figure.LINE, thickness=1.5, size=12).encode(x=alt.X("mauve:Q", scale=unit)),
        base.mark_point(size=80, filled=True, opacity=1).encode(
            x=alt.X("score:Q", title=None, scale=unit, axis=alt.Axis(format=".1f", **figure.UNIT_AXIS)),
            color=color,
            shape=figure.model_channel(alt.Shape, comparison.ranking, None),
            tooltip=tooltip,
        ),
    ]
    level = f"{100 * comparison.confidence_level:g} % intervals, {next(iter(comparison.models.values())).ci_scope}"
    title = "Closeness", level, "tick: MAUVE"
    description = f"Closeness with its interval: {', '.join(said)}."
    return figure.layered(layers, width, _ROW * len(rows), title, description)


def _curves(
    kind: str, names: Sequence[str], rows: figure.ChartRows, x_title: str, y_title: str, dashes: bool = True
) -> alt.Chart:
    """A line a model; a click on a name below shows its line alone.

    kind: the curves' name. dashes: whether the names below have a dash each; else a shape.
    """
    picked = alt.selection_point(name=f"{kind}_picked", fields=["model"], bind="legend")
    legend = figure.legend(names, lines=dashes)
    line = figure.marks(rows, "line", strokeWidth=2.2).encode(
        *figure.curve_axes(x_title, y_title),
        color=figure.model_channel(alt.Color, names, legend),
        strokeDash=figure.model_channel(alt.StrokeDash, names, legend if dashes else None),
        order="row:Q",
        opacity=alt.OpacityValue(0.12, condition={"param": picked.name, "value": 1}),
        tooltip="model:N",
    )
    return line.add_params(picked)


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
    rows, name = _contribution_rows(explanation)[:most], explanation.result.reference_name
    if link is not None:
        rows = [row | {"link": f"{link}{row['bucket']}"} for row in rows]
    linked = {} if link is None else {"href": "link:N"}
    ends = alt.Scale(domain=[0, max(len(rows), 1)], nice=False)
    base = figure.of_rows(rows).encode(
        x=alt.X("rank:Q", title="buckets, the largest first", axis=alt.Axis(**figure.BARE_AXIS), scale=ends),
        x2="next:Q",
        y=alt.Y("contribution:Q", title="part of the gap 1 − MAUVE", axis=alt.Axis(**figure.AXIS_STYLE)),
        y2=alt.datum(0),
    )
    legend = alt.Legend(
        title=None, orient="bottom", columns=2, symbolType="square", symbolOpacity=1, labelLimit=300, labelFontSize=11
    )
    bars = base.mark_rect().encode(
        color=alt.Color(
            "side:N", scale=alt.Scale(domain=[*_SIDES], range=[figure.TOO_MUCH, figure.MISSED]), legend=legend
        ),
        opacity=alt.Opacity("noise:O", scale=alt.Scale(domain=[False, True], range=[1.0, 0.35]), legend=None),
        tooltip=[
            *figure.numbers("d", "bucket"),
            "side:N",
            *figure.numbers(".4f", "contribution"),
            *figure.tooltips(
                {"human": figure_text(with_reference("human texts", name)), "model": "model texts"}, ".2%"
            ),
            alt.Tooltip("noise:N", title="could be noise"),
        ],
        **linked,
    )
    too_much = [row for row in rows if row["too_much"]]
    dashes = figure.marks(too_much, "rule", color="white", strokeWidth=1.5, strokeDash=[3, 3])
    middle = dashes.encode(x=alt.X("middle:Q", scale=ends), y="contribution:Q", y2=alt.datum(0), **linked)
    parts = f"{explanation.type_one:.3f} from buckets filled too much, {explanation.type_two:.3f} from missed ones"
    description = f"Buckets by their part of the gap of {explanation.gap:.3f}: {parts}"
    if rows:
        first = rows[0]
        description += f"; the largest, bucket {first['bucket']}, adds {first['contribution']:.3f}"
    noise = [{"label": "pale: could be noise"}] * any(row["noise"] for row in rows)
    words = figure.marks(noise, "text", align="right", fontSize=11)
    words = words.encode(x=alt.value("width"), y=alt.value(8), text="label:N")
    short = f"{explanation.type_one:.3f} too much (Type I), {explanation.type_two:.3f} missed (Type II)"
    title = f"The gap of {explanation.gap:.3f}", short
    return figure.layered([bars, middle, words], width, 200, title, f"{description}.")


def _contribution_rows(explanation: Explanation) -> figure.ChartRows:
    """One row a bucket that adds to the gap, the largest first."""
    result = explanation.result
    rows: figure.ChartRows = []
    order = sorted(range(len(explanation.contributions)), key=lambda bucket: -explanation.contributions[bucket])
    for rank, bucket in enumerate(order):
        part, human, model = explanation.contributions[bucket], result.p_hist[bucket], result.q_hist[bucket]
        if part <= 0:
            break
        row: figure.ChartRow = {"rank": rank + 0.05, "next": rank + 0.95, "middle": rank + 0.5, "bucket": bucket}
        row |= {"human": float(human), "model": float(model), "contribution": float(part)}
        row |= {"side": _SIDES[0 if model > human else 1], "too_much": bool(model > human)}
        rows.append(row | {"noise": bool(explanation.p_values[bucket] > 1 - result.confidence_level)})
    return rows
