"""The part of the page with a result: answer, pictures, texts, downloads, and every measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.measuring import GROUPS
from mauve_metric.hosts.space.view import notices
from mauve_metric.hosts.space.view.controls import play_controls

LinkParts = tuple[gr.Button, gr.Textbox]
MeasureInputs = tuple[gr.CheckboxGroup, gr.Button, gr.Button, gr.HTML]
_MEASURES = (
    "What else the literature measures on sets of texts, beside the scores, and what the human texts have. The texts "
    "are not read again and no other model is run: it takes seconds, for thousands of long texts a minute or more. "
    "“Make files” below then writes the table as CSV and JSON too, and into the report."
)


@dataclass(frozen=True)
class ResultOutputs:
    """The outputs of a result by their names, and the controls beside them."""

    named: dict[str, Any]
    play: list[gr.Slider | gr.Number]
    clicked: gr.Textbox
    measures: MeasureInputs
    make_files: gr.Button
    link: LinkParts


def result_part(limits: Limits, status: gr.HTML, given: gr.Accordion) -> ResultOutputs:
    """The result in three layers: the answer; pictures, texts and downloads; what experts ask for."""
    shown: dict[str, Block] = {"status": status, "given": given}
    shown["shows"] = gr.Textbox(label="Shown result", visible=False)  # "", "example" or "own"
    with gr.Column(min_width=0, elem_id="outcome"):
        gr.HTML("<h2>Result</h2>", elem_id="result_heading")  # for screen readers
        shown["stale"], shown["about"] = gr.HTML(elem_id="stale"), gr.HTML(elem_id="about")
        shown["score"] = gr.HTML(elem_id="score")
        with gr.Column(visible=False, elem_id="result") as shown["rest"]:
            shown["pair"] = gr.HTML(elem_id="pair")
            shown["warnings"] = gr.HTML(elem_id="warnings")
            gr.Markdown("## Pictures")
            curves = {"divergence_curve": "Divergence curve", "precision_recall": "Precision and recall"}
            with gr.Row(elem_id="curves"):
                shown |= {name: figure(name, label, "mm-square") for name, label in curves.items()}
            clicked = _gap_part(shown)
            shown["text_map"] = figure("text_map", "Map of the texts")
            make_files, link = files_part(shown)
            gr.HTML(notices.links(), elem_id="links")
            with gr.Accordion("For experts", open=False, elem_id="experts"):
                shown["tables"] = gr.HTML(elem_id="tables")
                with gr.Column(elem_id="play_part") as shown["play"]:
                    gr.Markdown("### Play: the pictures follow, the texts are not read again")
                    with gr.Row(elem_id="play"):
                        play = play_controls(limits)
                    shown["play_note"] = gr.HTML(elem_id="play_note")
                gr.Markdown("### All scores")
                shown["table"] = gr.HTML(elem_id="table")
                measures = measures_part(shown)
                code_outputs(shown)
    return ResultOutputs(shown, play, clicked, measures, make_files, link)


def _gap_part(shown: dict[str, Block]) -> gr.Textbox:
    """The buckets of one model, and the texts of one bucket: the box that a click on a figure fills."""
    gr.Markdown("### What keeps the score from 1: the texts of a bucket")
    shown["picked"] = gr.Radio(
        label="Model", info="whose buckets, texts and scores are shown", choices=[], elem_id="picked"
    )
    shown["contributions"] = figure("contributions", "Buckets by their part of the gap")
    shown["bucket"] = gr.Dropdown(
        label="Bucket",
        info="the largest part of the gap first; a click on a bar or on a point of the map picks one too",
        choices=[],
        elem_id="bucket",
    )
    shown["bucket_texts"] = gr.HTML(elem_id="bucket_texts")
    shown["histogram"] = figure("histogram", "Buckets by difference")
    return gr.Textbox(label="Clicked bucket", elem_id="clicked")  # which the style sheet hides


def figure(name: str, label: str, *classes: str) -> gr.Plot:
    """The place of a figure; `figures.js` puts buttons that save it under it.

    Args:
        name: its id. label: what it is called. classes: of the style sheet, besides "mm-figure".
    """
    return gr.Plot(label=label, show_label=False, elem_id=name, elem_classes=["mm-figure", *classes], min_width=320)


def link_part(to: str, make_id: str, link_id: str, holds: str = "") -> LinkParts:
    """The button that makes a link to the page with settings or a result, and its box; holds: words of the label."""
    make = gr.Button(f"Make a link to {to}", size="sm", elem_id=make_id)
    link = gr.Textbox(
        label=f"Link to {to}{holds}",
        interactive=False,
        visible=False,
        elem_id=link_id,
        buttons=["copy"],
        max_lines=2,
    )
    return make, link


def files_part(shown: dict[str, Block]) -> tuple[gr.Button, LinkParts]:
    """The files to download and a link to the first screen: the button that makes them, and the link."""
    with gr.Column(elem_id="away") as shown["code"]:
        make_files = gr.Button("Download report and figures", elem_id="make_files")
        gr.Markdown(
            "The report is one page that opens offline; it quotes texts. The other files hold numbers only; "
            "mauve.json can be dropped on this page again.",
            elem_classes="mm-small",
        )
        files = gr.File(label="Files", file_count="multiple", visible=False, interactive=False, elem_id="files")
        shown["files"] = files
    link = link_part("this result", "share", "shared_link", ": its answer and scores, no texts")
    return make_files, link


def code_outputs(shown: dict[str, Block]) -> None:
    """Signature and commands that give the same result."""
    title = "Signature: what another person needs to get the same numbers"
    shown["signature"] = gr.Code(label=title, language=None, interactive=False, wrap_lines=True, elem_id="signature")
    shown["python"] = gr.Code(label="The same in Python", language="python", interactive=False, elem_id="python")
    shown["shell"] = gr.Code(
        label="The same in a shell", language="shell", interactive=False, wrap_lines=True, elem_id="shell"
    )


def measures_part(shown: dict[str, Block]) -> MeasureInputs:
    """The groups, the buttons that compute and stop, the status; the outputs are added by their names."""
    with gr.Accordion("Every measure", open=False, elem_id="every_measure") as shown["measures_part"]:
        gr.Markdown(_MEASURES, elem_classes="mm-small")
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
