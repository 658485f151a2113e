"""Figures of robustness and stress tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mauve_metric.results.charts import figure  # says how to install Altair where it is missing

# isort: split
import altair as alt

from mauve_metric.results.plain_text import digits, figure_text, shown_names

if TYPE_CHECKING:
    from mauve_metric.apps.studies.robustness_result import Robustness
    from mauve_metric.apps.studies.stress_test_result import FeaturizerStress, StressTest

_SETTING = 18  # pixels a setting
_RANK = 70  # pixels a rank
_LONGEST_SETTING = 60  # characters of a setting
_CELL_WIDTH, _CELL_HEIGHT = 64, 22  # pixels of an error at one strength
_DARK = 0.55  # scores below it are drawn in colours on which white is read


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
            rows.append(row | {"rank": score.rank, "closeness": score.closeness, "apart": apart})
    count = len(names)
    axis = alt.Axis(values=list(range(1, count + 1)), format="d", orient="top", **figure.AXIS_STYLE)
    base = figure.of_rows(rows).encode(
        x=alt.X("rank:Q", title="rank", axis=axis, scale=alt.Scale(domain=[0.7, count + 0.3], nice=False)),
        y=alt.Y("setting:N", title=None, sort=settings, axis=alt.Axis(labelLimit=420, **figure.AXIS_STYLE)),
        color=figure.model_channel(alt.Color, names, figure.legend(names)),
    )
    tooltip = ["setting:N", "model:N", "rank:Q", *figure.numbers(".4f", "closeness", "tau")]
    lines = base.mark_line(strokeWidth=1.5, opacity=0.5).encode(order="place:Q")
    points = base.mark_point(size=60, opacity=1).encode(
        shape=figure.model_channel(alt.Shape, names, figure.legend(names)),
        fillOpacity=alt.condition("datum.apart == 1", alt.value(1), alt.value(0)),
        fill=alt.Fill("model:N", scale=alt.Scale(domain=names, range=figure.cycle(figure.COLORS, count)), legend=None),
        tooltip=tooltip,
    )
    title = (
        "Ranks by closeness under each setting",
        "filled: told apart from the model ranked next below (the last: above)",
    )
    same = f"{found.agreeing} of {len(found.settings) - 1} settings rank the models as the default does"
    description = f"The rank of each model under each setting; by default {', '.join(names)}, best first; {same}."
    return figure.layered([lines, points], _RANK * count, _SETTING * len(settings), title, description)


def stress_chart(stress: StressTest) -> alt.HConcatChart:
    """Closeness by error and strength, one map a featurizer; =: not told apart from no error."""
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
        "Which errors lower closeness", "closeness of human texts with errors", "=: not told apart from no error"
    )
    chart = alt.HConcatChart(hconcat=maps, spacing=figure.GAP)
    return chart.properties(title=title, description=f"Closeness by error and strength: {unseen}.")


def _map(stress: StressTest, found: FeaturizerStress, title: str, axis: bool) -> alt.LayerChart:
    """The cells of one featurizer."""
    strengths = [f"{strength:g}" for strength in stress.strengths]
    errors = list(stress.perturbations)
    rows = [
        {"error": name, "strength": f"{score.strength:g}", "closeness": score.closeness}
        | dict(zip(("low", "high"), score.ci or (None, None), strict=True))
        | {"p": score.p_value, "shown": f"{'' if score.seen else '= '}{digits(score.closeness, '.2f')}"}
        for name, scores in found.perturbations.items()
        for score in scores
    ]
    named = alt.Axis(labelLimit=200, **figure.AXIS_STYLE) if axis else None
    base = figure.of_rows(rows).encode(
        x=alt.X("strength:N", sort=strengths, title="strength", axis=alt.Axis(labelAngle=0, **figure.AXIS_STYLE)),
        y=alt.Y("error:N", sort=errors, title=None, axis=named),
        tooltip=[
            *("error:N", "strength:N"),
            *figure.numbers(".3f", "closeness", "low", "high"),
            *figure.numbers(".2g", "p"),
        ],
    )
    scale = alt.Scale(domain=[0, 1], scheme="viridis")
    key = alt.Legend(title="closeness", orient="bottom", gradientLength=3 * _CELL_WIDTH, titleFontSize=11)
    cells = base.mark_rect().encode(color=alt.Color("closeness:Q", scale=scale, legend=key if axis else None))
    numbers = base.mark_text(fontSize=11).encode(
        text="shown:N",
        color=alt.condition(f"datum.closeness < {_DARK}", alt.value("white"), alt.value("black")),
    )
    chart = alt.LayerChart(layer=[cells, numbers])
    return chart.properties(width=_CELL_WIDTH * len(strengths), height=_CELL_HEIGHT * len(errors), title=title)
