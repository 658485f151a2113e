"""The parts of the page with files to download, and with signature and commands."""

from __future__ import annotations

import gradio as gr
from gradio.blocks import Block

LinkParts = tuple[gr.Button, gr.Textbox]


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
