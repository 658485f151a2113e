"""Figures of comparisons, explanations and studies around a score, with the same axes and conventions as `plot`.

A model has one colour, one dash and one shape in all figures, so that they can be read in grey. Long names are
shortened where they are drawn; the whole name is seen under the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from mauve_metric.results.charts import figure
from mauve_metric.results.plain_text import digits, figure_text, shown_names
from mauve_metric.results.wording.words import each_featurizer, with_labels

if TYPE_CHECKING:
    from mauve_metric.results.comparison import Comparison
    from mauve_metric.results.explanation import Explanation
    from mauve_metric.results.robustness import Robustness
    from mauve_metric.results.stress_test import FeaturizerStress, StressTest

_ROW = 32  # pixels a model in the forest plot
_SIDES = "too much (Type I), dashed", "missed (Type II)"
Values = Sequence[tuple[str, str, float, tuple[float, float] | None]]  # panel, label, value and interval
_SETTING = 18  # pixels a setting
_RANK = 70  # pixels a rank
_LONGEST_SETTING = 60  # characters of a setting
_CELL_WIDTH, _CELL_HEIGHT = 64, 22  # pixels of an error at one strength
_DARK = 0.55  # scores below it are drawn in colours on which white is read


def comparison_chart(comparison: Comparison) -> alt.VConcatChart:
    """The figures of a comparison: curves beside precision and recall, and the forest plot below."""
    return alt.vconcat(curve_charts(comparison), forest_chart(comparison), spacing=figure.GAP)


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
    areas = ", ".join(f"{name} {comparison.models[name].mauve:.4f}" for name in comparison.ranking)
    description = f"Divergence curves, quality of a model's text against coverage of human text; MAUVE: {areas}."
    title = "Divergence curves", "the area under a curve is its MAUVE"
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
    titles = f"recall: {figure.COVERAGE}", f"precision: {figure.QUALITY}"
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
        label = f"{called_by[featurizer]}: {labels[name]}" if featurizer else labels[name]
        called: figure.ChartRow = {"model": name, "label": label}
        called |= {"row": len(rows) + 0.64, "name_row": len(rows) + 0.22, "start": 0.0}
        rows.append(called | {"score": score, "low": low, "high": high, "mauve": result.mauve})
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
    title = "Of what two human sets reach", level, "tick: MAUVE on the buckets that all share"
    description = f"Debiased MAUVE, of what two human sets reach, with its interval: {', '.join(said)}."
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
        opacity=alt.condition(picked, alt.value(1), alt.value(0.12)),
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
    rows = _contribution_rows(explanation)[:most]
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
            *figure.tooltips({"human": "human texts", "model": "model texts"}, ".2%"),
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
    title = f"The gap of {explanation.gap:.3f}", parts
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


def robustness_chart(found: Robustness) -> alt.LayerChart:
    """Rank against setting: a line that is straight is a model whose rank does not depend on the setting.

    A point is filled where the model is told apart from the one ranked below it (the last: above it).
    """
    labels = shown_names(list(found.ranking), figure_text)
    names = list(labels.values())
    settings = figure.short_labels([figure_text(setting.name) for setting in found.settings], _LONGEST_SETTING)
    rows: figure.ChartRows = []
    for place, (setting, called) in enumerate(zip(found.settings, settings, strict=True)):
        real = {frozenset((item.a, item.b)): item.real for item in setting.differences}
        for number, name in enumerate(setting.ranking):
            other = setting.ranking[number + 1 if number + 1 < len(setting.ranking) else number - 1]
            row: figure.ChartRow = {"place": place, "setting": called, "tau": setting.tau, "model": labels[name]}
            score, apart = setting.models[name], int(real[frozenset((name, other))])
            rows.append(row | {"rank": score.rank, "score": score.mauve_debiased, "apart": apart})
    count = len(names)
    axis = alt.Axis(values=list(range(1, count + 1)), format="d", orient="top", **figure.AXIS_STYLE)
    base = figure.of_rows(rows).encode(
        x=alt.X("rank:Q", title="rank", axis=axis, scale=alt.Scale(domain=[0.7, count + 0.3], nice=False)),
        y=alt.Y("setting:N", title=None, sort=settings, axis=alt.Axis(labelLimit=420, **figure.AXIS_STYLE)),
        color=figure.model_channel(alt.Color, names, figure.legend(names)),
    )
    tooltip = ["setting:N", "model:N", "rank:Q", *figure.numbers(".4f", "score", "tau")]
    lines = base.mark_line(strokeWidth=1.5, opacity=0.5).encode(order="place:Q")
    points = base.mark_point(size=60, opacity=1).encode(
        shape=figure.model_channel(alt.Shape, names, figure.legend(names)),
        fillOpacity=alt.condition("datum.apart == 1", alt.value(1), alt.value(0)),
        fill=alt.Fill("model:N", scale=alt.Scale(domain=names, range=figure.cycle(figure.COLORS, count)), legend=None),
        tooltip=tooltip,
    )
    title = "Ranks under each setting", "filled: told apart from the model ranked next below (the last: above)"
    same = f"{found.agreeing} of {len(found.settings) - 1} settings rank the models as the default does"
    description = f"The rank of each model under each setting; by default {', '.join(names)}, best first; {same}."
    return figure.layered([lines, points], _RANK * count, _SETTING * len(settings), title, description)


def stress_chart(stress: StressTest) -> alt.HConcatChart:
    """Debiased MAUVE by error and strength, one map a featurizer; =: not told apart from no error."""
    labels = shown_names(list(stress.featurizers), figure_text)
    titles = figure.short_labels([labels[name] for name in stress.featurizers], most=32)
    each = zip(titles, stress.featurizers.values(), strict=True)
    maps = [_map(stress, found, title, axis=title == titles[0]) for title, found in each]
    blind = {labels[name]: ", ".join(found.unseen) for name, found in stress.featurizers.items()}
    unseen = "; ".join(
        f"{name} does not see {errors}" if errors else f"{name} sees each of these errors"
        for name, errors in blind.items()
    )
    title = figure.heading(
        "Which errors change the score", "debiased MAUVE of human texts with errors", "=: not told apart from no error"
    )
    chart = alt.HConcatChart(hconcat=maps, spacing=figure.GAP)
    return chart.properties(title=title, description=f"Debiased MAUVE by error and strength: {unseen}.")


def _map(stress: StressTest, found: FeaturizerStress, title: str, axis: bool) -> alt.LayerChart:
    """The cells of one featurizer."""
    strengths = [f"{strength:g}" for strength in stress.strengths]
    errors = list(stress.perturbations)
    rows = [
        {"error": name, "strength": f"{score.strength:g}", "debiased": score.mauve_debiased}
        | dict(zip(("low", "high"), score.ci or (None, None), strict=True))
        | {"p": score.p_value, "shown": f"{'' if score.seen else '= '}{digits(score.mauve_debiased, '.2f')}"}
        for name, scores in found.perturbations.items()
        for score in scores
    ]
    named = alt.Axis(labelLimit=200, **figure.AXIS_STYLE) if axis else None
    base = figure.of_rows(rows).encode(
        x=alt.X("strength:N", sort=strengths, title="strength", axis=alt.Axis(labelAngle=0, **figure.AXIS_STYLE)),
        y=alt.Y("error:N", sort=errors, title=None, axis=named),
        tooltip=[
            *("error:N", "strength:N"),
            *figure.numbers(".3f", "debiased", "low", "high"),
            *figure.numbers(".2g", "p"),
        ],
    )
    scale = alt.Scale(domain=[0, 1], scheme="viridis")
    key = alt.Legend(title="debiased MAUVE", orient="bottom", gradientLength=3 * _CELL_WIDTH, titleFontSize=11)
    cells = base.mark_rect().encode(color=alt.Color("debiased:Q", scale=scale, legend=key if axis else None))
    numbers = base.mark_text(fontSize=11).encode(
        text="shown:N",
        color=alt.condition(f"datum.debiased < {_DARK}", alt.value("white"), alt.value("black")),
    )
    chart = alt.LayerChart(layer=[cells, numbers])
    return chart.properties(width=_CELL_WIDTH * len(strengths), height=_CELL_HEIGHT * len(errors), title=title)
