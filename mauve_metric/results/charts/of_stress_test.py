"""The figure of a stress test: a heat map of errors and strengths for each featurizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from mauve_metric.results.charts.figure import AXIS_STYLE, GAP, ChartRows, heading, short_labels
from mauve_metric.results.digits import digits
from mauve_metric.results.names import figure_text, shown_names

if TYPE_CHECKING:
    from mauve_metric.results.stress_test import FeaturizerStress, StressTest

_WIDTH, _HEIGHT = 64, 22  # pixels of a cell
_DARK = 0.55  # scores below it are drawn in colours on which white is read


def stress_chart(stress: StressTest) -> alt.HConcatChart:
    """Debiased MAUVE by error and strength, one map a featurizer; =: not told apart from no error."""
    labels = shown_names(list(stress.featurizers), figure_text)
    titles = short_labels([labels[name] for name in stress.featurizers], most=32)
    maps = [
        _map(stress, found, title, axis=number == 0)
        for number, (title, found) in enumerate(zip(titles, stress.featurizers.values(), strict=True))
    ]
    unseen = "; ".join(
        f"{labels[name]} does not see {', '.join(found.unseen)}"
        if found.unseen
        else f"{labels[name]} sees each of these errors"
        for name, found in stress.featurizers.items()
    )
    title = heading(
        "Which errors change the score", "debiased MAUVE of human texts with errors", "=: not told apart from no error"
    )
    chart = alt.HConcatChart(hconcat=maps, spacing=GAP)
    return chart.properties(title=title, description=f"Debiased MAUVE by error and strength: {unseen}.")


def _map(stress: StressTest, found: FeaturizerStress, title: str, axis: bool) -> alt.LayerChart:
    """The cells of one featurizer."""
    strengths = [f"{strength:g}" for strength in stress.strengths]
    errors = list(stress.perturbations)
    base = alt.Chart(alt.InlineData(values=_rows(found))).encode(
        x=alt.X("strength:N", sort=strengths, title="strength", axis=alt.Axis(labelAngle=0, **AXIS_STYLE)),
        y=alt.Y("error:N", sort=errors, title=None, axis=alt.Axis(labelLimit=200, **AXIS_STYLE) if axis else None),
        tooltip=[
            "error:N",
            "strength:N",
            *(alt.Tooltip(f"{key}:Q", format=".3f") for key in ("debiased", "low", "high")),
            alt.Tooltip("p:Q", format=".2g"),
        ],
    )
    scale = alt.Scale(domain=[0, 1], scheme="viridis")
    key = alt.Legend(title="debiased MAUVE", orient="bottom", gradientLength=3 * _WIDTH, titleFontSize=11)
    cells = base.mark_rect().encode(color=alt.Color("debiased:Q", scale=scale, legend=key if axis else None))
    numbers = base.mark_text(fontSize=11).encode(
        text="shown:N",
        color=alt.condition(f"datum.debiased < {_DARK}", alt.value("white"), alt.value("black")),
    )
    chart = alt.LayerChart(layer=[cells, numbers])
    return chart.properties(width=_WIDTH * len(strengths), height=_HEIGHT * len(errors), title=title)


def _rows(found: FeaturizerStress) -> ChartRows:
    """One row a cell."""
    return [
        {
            "error": name,
            "strength": f"{score.strength:g}",
            "debiased": score.mauve_debiased,
            "low": None if score.ci is None else score.ci[0],
            "high": None if score.ci is None else score.ci[1],
            "p": score.p_value,
            "shown": f"{'' if score.seen else '= '}{digits(score.mauve_debiased, '.2f')}",
        }
        for name, scores in found.perturbations.items()
        for score in scores
    ]
