"""The figures of the page as components."""

from __future__ import annotations

import gradio as gr


def figure(name: str, label: str, *classes: str) -> gr.Plot:
    """The place of a figure.

    Args:
        name: its id. label: what it is called. classes: of the style sheet, besides "mm-figure".
    """
    return gr.Plot(label=label, show_label=False, elem_id=name, elem_classes=["mm-figure", *classes], min_width=320)
