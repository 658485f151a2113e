"""The part of the page with every measure: folded, computed on request."""

from __future__ import annotations

import gradio as gr
from gradio.blocks import Block

from mauve_metric.hosts.space.session.measuring import GROUPS

_SAID = (
    "What else the literature measures on sets of texts, beside the scores, and what the human texts have. The texts "
    "are not read again and no other model is run: it takes seconds, for thousands of long texts a minute or more. "
    "“Make files” below then writes the table as CSV and JSON too, and into the report."
)


MeasureInputs = tuple[gr.CheckboxGroup, gr.Button, gr.Button, gr.HTML]


def measures_part(shown: dict[str, Block]) -> MeasureInputs:
    """The groups, the buttons that compute and stop, the status; the outputs are added by their names."""
    with gr.Accordion("Every measure", open=False, elem_id="every_measure") as shown["measures_part"]:
        gr.Markdown(_SAID, elem_classes="mm-small")
        groups = gr.CheckboxGroup(
            [(group.capitalize(), group) for group in GROUPS], value=list(GROUPS), label="Groups", elem_id="groups"
        )
        with gr.Row():
            compute = gr.Button("Compute them", elem_id="compute_measures", scale=4)
            stop = gr.Button("Stop the measures", elem_id="stop_measures", scale=2, min_width=170)
        shown["measures_stale"] = gr.HTML(elem_id="measures_stale")
        status = shown["measures_status"] = gr.HTML(elem_id="measures_status")
        shown["measures"] = gr.HTML(elem_id="measures")
    return groups, compute, stop, status
