"""The parts of the page with files to download, and with signature and commands."""

from __future__ import annotations

import gradio as gr
from gradio.blocks import Block


def files_part(shown: dict[str, Block]) -> tuple[gr.Button, gr.Button, gr.Textbox]:
    """The files to download and a link to the first screen: the buttons that make them, and the link."""
    with gr.Column(elem_id="away") as shown["code"]:
        make_files = gr.Button("Download report and figures", elem_id="make_files")
        gr.Markdown(
            "The report is one page that opens offline; it quotes texts. The other files hold numbers only; "
            "mauve.json can be dropped on this page again.",
            elem_classes="mm-small",
        )
        files = gr.File(label="Files", file_count="multiple", visible=False, interactive=False, elem_id="files")
        shown["files"] = files
    share = gr.Button("Make a link to this result", size="sm", elem_id="share")
    link = gr.Textbox(
        label="Link to this result: its answer and scores, no texts",
        interactive=False,
        visible=False,
        elem_id="shared_link",
        buttons=["copy"],
        max_lines=2,
    )
    return make_files, share, link


def code_outputs(shown: dict[str, Block]) -> None:
    """Signature and commands that give the same result."""
    title = "Signature: what another person needs to get the same numbers"
    shown["signature"] = gr.Code(label=title, language=None, interactive=False, wrap_lines=True, elem_id="signature")
    shown["python"] = gr.Code(label="The same in Python", language="python", interactive=False, elem_id="python")
    shown["shell"] = gr.Code(
        label="The same in a shell", language="shell", interactive=False, wrap_lines=True, elem_id="shell"
    )
