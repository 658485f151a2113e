"""The figures of the page as components."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import gradio as gr
from gradio.components.plot import PlotData

from mauve_metric.hosts.space.components import with_methods
from mauve_metric.results.charts.figure import page_spec

if TYPE_CHECKING:
    import altair as alt

SQUARE = "mm-square"  # the class of a figure that keeps its shape


def _for_page(place: gr.Plot, chart: alt.TopLevelMixin | PlotData | None) -> PlotData | None:
    if chart is None or isinstance(chart, PlotData):
        return chart
    return PlotData(type="altair", plot=json.dumps(page_spec(chart, square=SQUARE in place.elem_classes)))


_Figure = with_methods(gr.Plot, postprocess=_for_page)


def figure(name: str, label: str, *classes: str) -> gr.Plot:
    """The place of a figure, whose values are Altair charts; `figures.js` puts buttons that save it under it.

    Args:
        name: its id. label: what it is called. classes: of the style sheet, besides "mm-figure".
    """
    return _Figure(label=label, show_label=False, elem_id=name, elem_classes=["mm-figure", *classes], min_width=320)
