"""Figures of a result, one definition each: Altair charts for the page, the notebook, the shell and the paper.

Both curves have the same axes: to the right the model covers more of the human text, upwards more of its own text
looks human. A chart carries its data, its score and a description for those who do not see it, and can be read in grey.
Human texts, and the curves of two human sets, are grey; the model has the first colour, or that of its place among
several.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.measures.groups import SHARED
from mauve_metric.report.charts import figure
from mauve_metric.report.wording.words import reference_text, with_reference
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_value, signature_number
from mauve_metric.runtime.plain_text import digits, figure_text, in_brackets, interval_words, printable
from mauve_metric.uncertainty import ceilings
from mauve_metric.uncertainty.jackknife import CurveBand

_SCORE_ROW = 20  # pixels
_HISTOGRAM = 200  # pixels of its height
_KEY = {"stroke": alt.Stroke, "fill": alt.Fill, "shape": alt.Shape, "strokeDash": alt.StrokeDash}
_SOLID, _DASHED, _DEBIASED = [1, 0], [7, 3], [5, 3]  # pixels of a line and of the gap after it


def divergence_curve_chart(result: MauveResult, model_index: int = 0, named: str = "MAUVE") -> alt.LayerChart:
    """The divergence curve (Pillutla et al. 2021, §3); the shaded area under it is MAUVE.

    x = exp(-c·KL(P‖R_λ)), coverage of human text; y = exp(-c·KL(Q‖R_λ)), quality of the model's text; both in [0, 1],
    higher is better. Pointing at one of the mixtures shows its weight λ and the two soft errors in nats. The dashed
    line is the curve without the bias of sampling, in its pointwise band (`jackknife.frontier_band`). The grey line is
    the mean curve of two samples of one distribution, whose area is about `mauve_ceiling`.

    Args:
        result: the scores.
        model_index: of the model among several, which have a colour each.
        named: the words before the area.
    """
    color, equal = _color(model_index), equal_curves(result)
    errors = {"type_one": "Type I error, KL(Q‖R)", "type_two": "Type II error, KL(P‖R)"}
    name = result.reference_name
    tooltip = figure.tooltips({"lambda": figure_text(f"λ, share of {reference_text(name)}")}, ".3f")
    tooltip += figure.tooltips(errors | {"quality": "quality", "coverage": "coverage"})
    rows = figure.curve_rows(result.divergence_curve.tolist())
    ends = (None, None, None)  # the first and the last point are of no mixture
    for row, (weight, type_one, type_two) in zip(rows, (ends, *result.curve_mixtures.tolist(), ends), strict=True):
        row |= {"lambda": weight, "type_one": type_one, "type_two": type_two}
    base = figure.of_rows(rows).encode(*figure.curve_axes(figure.coverage_of(name), figure.QUALITY))
    mixtures = base.transform_filter("isValid(datum.lambda)")
    points = mixtures.mark_point(color=color, filled=True, size=36, opacity=1, tooltip=None)
    targets = mixtures.mark_point(color=color, filled=True, size=250, opacity=0).encode(tooltip=tooltip)
    c = format_value(result.signature_entries["mauve_scaling_factor"])
    sizes = f"{result.n_p} {figure_text(name)} and {result.n_q} model texts, {result.num_buckets} buckets, c = {c}"
    drawn = [*_curve_layers(base, color, _SOLID), *_band_layers(result.curve_band, color)]
    key = [("MAUVE", color, "stroke", _SOLID)]
    key += [] if result.curve_band is None else [("without sampling bias", color, "stroke", _DEBIASED)]
    layers = [*drawn, *_equal_layers(equal and equal[0]), _key(key, equal is not None, name), points, targets]
    description = (
        f"Divergence curve, quality of the model's text against {figure.coverage_of(name)}: MAUVE, the area under it, "
        f"{result.mauve:.4f}; {_interval(result)}."
    )
    title = f"{named} = {result.mauve:.4f}", sizes, _interval(result)
    return figure.layered(layers, figure.SIDE, figure.SIDE, title, description)


def precision_recall_chart(result: MauveResult, model_index: int = 0) -> alt.LayerChart:
    """The exact precision-recall curve of the two histograms (Sajjadi et al. 2018), the area under it shaded.

    x = recall, coverage of human text; y = precision, quality of the model's text; both in [0, 1], higher is better.
    The circle is k-NN precision against recall, the square density, at most 1, against coverage; both are labelled.
    The grey line is the mean curve of the histograms of two samples of one distribution. model_index: of the model
    among several, which have a colour each.
    """
    color, equal = _color(model_index), equal_curves(result)
    points = figure.curve_rows(point[::-1] for point in result.prd_curve.tolist())
    name = result.reference_name
    axes = figure.curve_axes(f"recall: {figure.coverage_of(name)}", f"precision: {figure.QUALITY}")
    base = figure.of_rows(points).encode(*axes)
    targets = base.mark_point(color=color, filled=True, size=150, opacity=0)
    targets = targets.encode(tooltip=figure.tooltips({"quality": "precision", "coverage": "recall"}))
    scores = f"precision (F 1/8) {result.prd_precision:.4f}, recall (F 8) {result.prd_recall:.4f}"
    missing = ["k-NN scores: not computed"] if result.precision is None else []
    neighbours = _neighbour_rows(result)
    key = [("of the histograms", color, "stroke", _DASHED)]
    key += [(str(row["label"]), color, str(row["symbol"]), _SOLID) for row in neighbours]
    shown = "".join(f"; {row['name']}: {row['shown']}" for row in neighbours)
    description = f"Precision-recall curve of the histograms: area {result.prd_area:.4f}, {scores}{shown}."
    human = _equal_layers(equal and equal[1][:, ::-1])
    layers = [*_curve_layers(base, color, _DASHED), targets, *_neighbour_layers(neighbours, color), *human]
    layers.append(_key(key, equal is not None, name))
    title = f"PRD area = {result.prd_area:.4f}", scores, *missing
    return figure.layered(layers, figure.SIDE, figure.SIDE, title, description)


def histogram_chart(result: MauveResult, width: int = 720, model_index: int = 0) -> alt.LayerChart:
    """Both histograms, human texts upwards and model texts downwards, the buckets in the order of p - q.

    Pointing at a bucket shows its number and what share of either set lies in it.

    Args:
        result: the scores.
        width: of the plot, in pixels.
        model_index: of the model among several, which have a colour each.
    """
    tooltip = figure.tooltips({"bucket": "bucket"}, "d")
    name = figure_text(result.reference_name)
    tooltip += figure.tooltips({"human": f"share of {name} texts", "model": "share of model texts"}, ".2%")
    tooltip += figure.tooltips({"difference": "difference"}, "+.2%")
    ends = alt.Scale(domain=[0, result.num_buckets], nice=False)
    most = 1.25 * float(max(result.p_hist.max(), result.q_hist.max()))  # room for the labels
    x = alt.X("rank:Q", title="← missed · buckets · too much →", scale=ends, axis=alt.Axis(**figure.BARE_AXIS))
    difference = result.p_hist - result.q_hist
    rows: figure.ChartRows = []
    for rank, bucket in enumerate(np.argsort(-difference, kind="stable").tolist()):
        human, model = float(result.p_hist[bucket]), float(result.q_hist[bucket])
        bucket_shares = {"human": human, "model": model, "below": -model, "difference": human - model}
        rows.append({"rank": rank, "next": rank + 1, "bucket": bucket} | bucket_shares)
    base = figure.of_rows(rows).encode(x=x, x2="next:Q", tooltip=tooltip)
    shares = alt.Axis(labelExpr="format(abs(datum.value), '~%')", **figure.AXIS_STYLE)
    share = alt.Y("human:Q", title="share of texts", axis=shares, scale=alt.Scale(domain=[-most, most], nice=False))
    up = base.mark_rect(color=figure.HUMAN).encode(y=share, y2=alt.datum(0))
    down = base.mark_rect(color=_color(model_index)).encode(y="below:Q", y2=alt.datum(0))
    labels = [
        figure.marks([row], "text", align="left", fontSize=12).encode(x=alt.value(6), y=alt.value(y), text="label:N")
        for row, y in (({"label": f"{name} texts"}, 10), ({"label": "model texts"}, _HISTOGRAM - 10))
    ]
    middle = figure.marks([{"share": 0}], "rule", color=figure.LINE).encode(y="share:Q")
    description = (
        f"Histograms of both sets over {result.num_buckets} buckets: the {name} share is larger in "
        f"{np.sum(difference > 0)}, the model's in {np.sum(difference < 0)}."
    )
    layers = [up, down, middle, *labels]
    return figure.layered(layers, width, _HISTOGRAM, ["Where the two sets differ"], description)


def score_chart(result: MauveResult, width: int = 720) -> alt.LayerChart:
    """The scores by groups and by classifier with their intervals on lines from 0 to 1, and below them MAUVE.

    MAUVE is in the shaded span, which runs from `mauve_floor` (nothing in common) to `mauve_ceiling` (two samples of
    one distribution).

    Args:
        result: the scores.
        width: of the plot, in pixels.
    """
    x = alt.X("value:Q", title=None, axis=alt.Axis(format=".1f", **figure.UNIT_AXIS), scale=alt.Scale(**figure.UNIT))
    rows = _score_rows(result)
    bottom = 3.0 + 0.9 * max(sum(row["kind"] == "mark" for row in rows) - 2, 0)
    height = round(_SCORE_ROW * bottom)
    y = alt.Y("row:Q", axis=None).scale(domain=[0, bottom], range=[0, height], nice=False)
    base = figure.of_rows(rows).encode(x=x, y=y)
    tooltip = [alt.Tooltip("name:N", title=" "), alt.Tooltip("value:Q", title="value", format=".4f")]
    kinds = ("line", "span", "end", "interval", "mark", "label")
    of_kind = {kind: base.transform_filter(f"datum.kind == '{kind}'") for kind in kinds}
    color, shape = figure.COLORS[0], alt.Shape("symbol:N", scale=None)
    layers = [
        of_kind["line"].mark_rule(color=figure.LINE, strokeWidth=1).encode(x2="to:Q"),
        of_kind["span"].mark_bar(color=figure.HUMAN, opacity=0.25, height=16).encode(x2="to:Q"),
        of_kind["end"].mark_tick(color=figure.HUMAN, thickness=2, size=16).encode(tooltip=tooltip),
        of_kind["interval"].mark_rule(color=color, strokeWidth=5, opacity=0.6).encode(x2="to:Q", tooltip=tooltip),
        of_kind["mark"].mark_point(color=color, filled=True, size=130, opacity=1).encode(shape=shape, tooltip=tooltip),
    ]
    # to the inside of the middle, so that no label leaves the figure
    for is_left in (True, False):
        labels = of_kind["label"].transform_filter(f"datum.value {'<' if is_left else '>='} 0.5").encode(text="label:N")
        layers.append(labels.mark_text(align="left" if is_left else "right", fontSize=11, baseline="middle"))
    published = f"MAUVE {result.mauve:.4f}"
    title, description = [published], published
    if result.closeness is not None:
        lead = f"Closeness {digits(result.closeness, '.3f')}{in_brackets(result.closeness_ci)}"
        scores = [
            (f"{name} {digits(value, '.3f')}{in_brackets(ci)}", mark)
            for name, value, ci, mark in _scores(result)
            if value is not None
        ]
        title = [lead, *(f"{mark}: {said}" for said, mark in scores), f"diamond: {published}"]
        description = ". ".join([lead, *(said for said, _ in scores), published])
    description += f", between {result.mauve_floor:.4f} (floor) and {result.mauve_ceiling:.4f} (ceiling)."
    return figure.layered(layers, width, height, title, description)


def result_chart(result: MauveResult) -> alt.VConcatChart:
    """All figures of a result: the score, the divergence curve beside the precision-recall curve, the histograms.

    >>> import numpy as np
    >>> from mauve_metric import compute_mauve
    >>> rng = np.random.default_rng(0)
    >>> out = compute_mauve(p_features=rng.normal(size=(50, 4)), q_features=rng.normal(size=(50, 4)))
    >>> sorted(result_chart(out).to_dict())[-1]
    'vconcat'
    """
    return alt.vconcat(score_chart(result), curves_chart(result), histogram_chart(result), spacing=figure.GAP)


def curves_chart(result: MauveResult) -> alt.HConcatChart:
    """The divergence curve beside the precision-recall curve, each with its own key."""
    scales: dict[str, Any] = dict.fromkeys(_KEY, "independent")
    curves = alt.hconcat(divergence_curve_chart(result), precision_recall_chart(result), spacing=figure.GAP)
    apart: alt.HConcatChart = curves.resolve_scale(**scales)
    return apart


def equal_curves(result: MauveResult) -> tuple[Floats, Floats] | None:
    """The mean divergence curve and precision-recall curve of two human sets of these sizes, in these buckets.

    Those of random splits of all texts, as `mauve_ceiling`. None where texts share prompts that are not known.
    """
    codes = result.bounds[0].codes if result.bounds else None
    if codes is None and result.design in SHARED:
        return None
    counted = count_labels(result.p_labels, result.q_labels, result.num_buckets, *(codes or ()))
    c = signature_number(result.signature_entries, "mauve_scaling_factor")
    points = int(signature_number(result.signature_entries, "divergence_curve_discretization_size"))
    return ceilings.null_curves(counted.p_counts, counted.q_counts, c, points, groups=counted.groups)


def divergence_curve_reading(result: MauveResult) -> str:
    """Say in one sentence how to read the divergence curve of this result."""
    said = "Up is quality, right is diversity: at its upper end (quality 0.9) the model's curve reaches a diversity of "
    quality, diversity = _ends_of(result.divergence_curve)
    said += f"{digits(diversity, '.2f')}, at its right end (diversity 0.9) a quality of {digits(quality, '.2f')}"
    equal = equal_curves(result)
    if equal is None:
        return f"{said}."
    quality, diversity = _ends_of(equal[0])
    sets = f"two {printable(result.reference_name)} sets"
    return f"{said}; {sets} of this size (grey line) reach {digits(diversity, '.2f')} and {digits(quality, '.2f')}."


def precision_recall_reading(result: MauveResult) -> str:
    """Say in one sentence how to read the precision-recall chart of this result."""
    precision, recall, mark = result.precision, result.recall, "circle"
    if precision is None or recall is None:
        precision, recall, mark = result.prd_precision, result.prd_recall, "curve"
    said = (
        f"Up is precision (quality): {digits(precision, '.2f')} of the model's texts are like human ones; right is "
        f"recall (diversity): {digits(recall, '.2f')} of the human texts are like the model's (the {mark})"
    )
    equal = equal_curves(result)
    said = f"{said}." if equal is None else f"{said}; the curve of two human sets of this size is the grey line."
    return with_reference(said, result.reference_name)


def _ends_of(curve: Floats) -> tuple[float, float]:
    """The quality at coverage 0.9, and the coverage at quality 0.9; `curve`: as `divergence_curve`."""
    quality, coverage = curve.T
    return float(np.interp(0.9, coverage, quality)), float(np.interp(0.9, quality[::-1], coverage[::-1]))


def _color(model_index: int) -> str:
    """The colour of a model among several."""
    return figure.COLORS[model_index % len(figure.COLORS)]


def _equal_layers(curve: Floats | None) -> list[alt.Chart]:
    """The curve (quality, coverage) of two human sets; none where it is not known."""
    if curve is None:
        return []
    axes: dict[str, Any] = {"x": "coverage:Q", "y": alt.Y("quality:Q", stack=None), "order": alt.Order("row:Q")}
    return [figure.marks(figure.curve_rows(curve.tolist()), "line", color=figure.HUMAN, strokeWidth=2).encode(**axes)]


def _key(entries: list[tuple[str, str, str, list[int]]], has_equal: bool, reference: str) -> alt.Chart:
    """The names of curves and points under the figure.

    entries: name, colour, shape and dash of each. has_equal: whether there is the curve of two human sets. reference:
    name of the human texts.
    """
    if has_equal:
        entries = [*entries, (f"two {figure_text(reference)} sets", figure.HUMAN, "stroke", _SOLID)]
    names, colors, shapes, dashes = (list(each) for each in zip(*entries, strict=True))
    legend = figure.legend(names, lines=True)
    legend.symbolSize = 110
    encodings: dict[str, Any] = {
        channel: kind("name:N", sort=names, legend=legend, scale=alt.Scale(domain=names, range=values))
        for (channel, kind), values in zip(_KEY.items(), (colors, colors, shapes, dashes), strict=True)
    }
    return figure.marks([{"name": name} for name in names], "point", opacity=0, aria=False).encode(**encodings)


def _curve_layers(base: alt.Chart, color: str, dash: list[int]) -> list[alt.Chart]:
    """Shaded area, line of equal coverage and quality, and the curve, its points joined in row order."""
    return [
        base.mark_area(color=color, opacity=0.15, orient="vertical", order=False),
        figure.equal_line(),
        base.mark_line(color=color, strokeWidth=2.5, strokeDash=dash, order=False),
    ]


def _band_layers(band: CurveBand | None, color: str) -> list[alt.Chart]:
    """The debiased curve and its band; none for a set of one text."""
    if band is None:
        return []
    axes: dict[str, Any] = {"x": "coverage:Q", "y": alt.Y("quality:Q", stack=None), "order": alt.Order("row:Q")}
    around = [*band.low.tolist(), *band.high[::-1].tolist()]  # up its low side and back down its high side
    edge, inner = figure.curve_rows(around), figure.curve_rows(band.curve.tolist())
    return [
        figure.marks(edge, "line", fill=color, fillOpacity=0.2, strokeWidth=0, tooltip=None).encode(**axes),
        figure.marks(inner, "line", color=color, strokeWidth=1.5, strokeDash=_DEBIASED).encode(**axes),
    ]


def _neighbour_layers(rows: figure.ChartRows, color: str) -> list[alt.Chart]:
    """The points of the nearest-neighbour scores; none where they were not computed."""
    if not rows:
        return []
    tooltip = [alt.Tooltip("name:N", title=" "), alt.Tooltip("shown:N", title="values")]
    points = figure.marks(rows, "point", color=color, filled=True, size=110, opacity=1, clip=False)
    shape = alt.Shape("symbol:N", scale=None)
    return [points.encode(x="coverage:Q", y="quality:Q", shape=shape, tooltip=tooltip)]


def _neighbour_rows(result: MauveResult) -> figure.ChartRows:
    """The points of both pairs of nearest-neighbour scores; none where they were not computed."""
    rows: figure.ChartRows = []
    for quality, coverage, symbol in (("precision", "recall", "circle"), ("density", "coverage", "square")):
        y, x = getattr(result, quality), getattr(result, coverage)
        if y is None or x is None:
            return []
        named = {"name": f"k-NN {quality} and {coverage}", "symbol": symbol, "coverage": x, "quality": min(y, 1.0)}
        label = "k-NN precision, recall" if quality == "precision" else "density, coverage"
        label += " (density drawn at 1)" if y > 1 and quality == "density" else ""
        rows.append(named | {"label": label, "shown": f"{quality} {y:.4f}, {coverage} {x:.4f}"})
    return rows


def _score_rows(result: MauveResult) -> figure.ChartRows:
    """Rows of the lines of the score chart, by kind: by groups, by classifier, MAUVE in its span."""
    floor, ceiling = result.mauve_floor, result.mauve_ceiling
    below: figure.ChartRows = [
        {"kind": "span", "value": floor, "to": ceiling},
        {"kind": "end", "name": "floor: nothing in common", "value": floor},
        {"kind": "end", "name": "ceiling: two samples of one distribution", "value": ceiling},
        {"kind": "mark", "name": "MAUVE", "value": result.mauve, "symbol": "diamond"},
    ]
    between: figure.ChartRows = [
        {"kind": "label", "label": f"floor {floor:.3f}", "value": floor},
        {"kind": "label", "label": f"ceiling {ceiling:.3f}", "value": ceiling},
    ]
    lines: list[figure.ChartRows] = [
        [
            {"kind": "line", "value": 0.0, "to": 1.0},
            {"kind": "interval", "name": "interval", "value": ci[0], "to": ci[1]},
            {"kind": "mark", "name": name, "value": value, "symbol": symbol},
        ]
        for name, value, ci, symbol in _scores(result)
        if value is not None and ci is not None
    ]
    first = 1.5 - 0.9 * bool(lines)
    placed = enumerate([*lines, between, below])
    return [{**row, "row": round(first + 0.9 * number, 1)} for number, rows in placed for row in rows]


def _scores(result: MauveResult) -> list[tuple[str, float | None, tuple[float, float] | None, str]]:
    """The scores that closeness is the lower of: name, value, interval and mark of each."""
    return [
        ("by groups", result.mauve_debiased, result.mauve_debiased_ci, "circle"),
        ("by classifier", result.mauve_classifier, result.mauve_classifier_ci, "square"),
    ]


def _interval(result: MauveResult) -> str:
    """The score by groups and its interval, in a few words."""
    if result.mauve_debiased_ci is None or result.mauve_debiased is None:
        return "interval: not computed"
    return f"by groups {digits(result.mauve_debiased, '.3f')}, interval {interval_words(result.mauve_debiased_ci)}"
