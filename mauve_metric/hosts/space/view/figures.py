"""The figures of the page: their places, and charts as values of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import gradio as gr
from gradio.components.plot import PlotData

from mauve_metric.results.charts.figure import page_spec

if TYPE_CHECKING:
    import altair as alt


def figure(name: str, label: str, *classes: str) -> gr.Plot:
    """The place of a figure; `figures.js` puts buttons that save it under it.

    Args:
        name: its id. label: what it is called. classes: of the style sheet, besides "mm-figure".
    """
    return gr.Plot(label=label, show_label=False, elem_id=name, elem_classes=["mm-figure", *classes], min_width=320)


def plot_value(chart: alt.TopLevelMixin | None, square: bool = False) -> PlotData | None:
    """The value of a chart for its place; square: it keeps its shape (class "mm-square")."""
    return None if chart is None else PlotData(type="altair", plot=json.dumps(page_spec(chart, square=square)))
