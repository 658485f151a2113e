"""The theme of the page: fonts and colours, in light and in dark."""

from __future__ import annotations

import gradio as gr
from gradio.themes import Base


def theme() -> Base:
    """Fonts of the visitor's machine (nothing is fetched), and text with enough contrast."""
    plain = gr.themes.Default(
        primary_hue="indigo", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
    )
    names = ("body_text_color_subdued", "block_info_text_color", "block_title_text_color", "block_label_text_color")
    colors = dict.fromkeys(names, "*neutral_600") | {f"{name}_dark": "*neutral_300" for name in names}
    for part in ("background_fill", "background_fill_dark", "border_color", "border_color_dark"):
        colors[f"button_primary_{part}"] = "*primary_700"
    return plain.set(**colors, color_accent="*primary_600")
