"""The parts of the page; `page.py` finds the components by their `elem_id`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

import gradio as gr

from mauve_metric.features.embedding_server import PREFIX
from mauve_metric.hosts.flags_and_labels import ALIGNED
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.examples import SECOND, example_files, others_by_default
from mauve_metric.hosts.space.session.measuring import GROUPS
from mauve_metric.hosts.space.session.run import forecast
from mauve_metric.hosts.space.session.sessions import LONGEST_NAME
from mauve_metric.hosts.space.view import markup
from mauve_metric.hosts.space.view.settings import panel_controls, play_controls
from mauve_metric.inputs.file_types import named_endings, upload_endings
from mauve_metric.options import page_fields
from mauve_metric.runtime.checks import listed

INTRODUCTION = """# MAUVE
How close is a model's text to human text? Give 500 texts of both or more."""
EXAMPLE_TITLES = {  # labels of the buttons, by those of `example_files`; the others are theirs
    "nucleus sampling": "Nucleus sampling (p = 0.95)",
    "top-k sampling": "Top-k sampling (k = 40)",
    "other human texts": "Other human prose",
    "three models at once": "Nucleus, plain sampling and greedy",
}
FEATURIZER_LABELS = {
    "minilm": "sees what texts are about",
    "ngrams": "takes seconds, sees grammar and spelling",
    "use": "sees what texts are about, in fifteen languages",
}
PRIVACY = (
    "Texts stay in this server's memory and temporary files while the page is open, an hour without use at most, and "
    "ten minutes after it is closed, so that a reload finds them; they are visible to no other visitor; what is "
    "replaced, cleared or refused is deleted at once; no text is logged."
)

_MEASURES = (
    "What else the literature measures on sets of texts, beside the scores, and what the human texts have. The texts "
    "are not read again and no other model is run: it takes seconds, for thousands of long texts a minute or more. "
    "“Download report and figures” then writes the table as CSV and JSON too, and into the report."
)


def top_part(example: bool) -> None:
    """The title, and links to an example's result, if there is one, and to the page where a person judges texts."""
    gr.Markdown(INTRODUCTION)
    with gr.Row(elem_id="ways"):
        gr.Button("See an example", size="sm", visible=example, scale=0, min_width=0, elem_id="see_example")
        gr.HTML(markup.notice("judge"), elem_id="judge_link")


def privacy(models: Sequence[str]) -> str:
    """Say where texts stay, and by which featurizers they leave.

    >>> privacy(["minilm"]) == PRIVACY, privacy(["server:m"])[len(PRIVACY) :]
    (True, ' By server:m they are sent to a server that the operator of this page named.')
    """
    servers = [name for name in models if name.startswith(PREFIX)]
    sent = f" By {listed(servers)} they are sent to a server that the operator of this page named."
    return PRIVACY + (sent if servers else "")


def inputs_part(limits: Limits, models: Sequence[str]) -> None:
    """All inputs: texts and the buttons that compare them; folded, examples, choices and the file of a result."""
    with gr.Column(min_width=0, elem_id="inputs"):
        with gr.Column(min_width=0, elem_id="given"):
            texts_part(limits)
        run_part(limits)
        gr.Markdown(
            f"One text a line (.txt), or a column ({', '.join(named_endings(with_fields=True))}): "
            f"at most {limits.texts} texts of {limits.characters} characters, "
            f"{limits.megabytes} MB a file; {limits.total_texts} texts in all. "
            f"{privacy(models)}",
            elem_id="limits",
            elem_classes="mm-small",
        )
        with gr.Accordion("More examples, a saved result, options for experts", open=False, elem_id="choices"):
            gr.Checkbox(
                label=f"{ALIGNED}: row i of every set, the human one too, answers the same prompt",
                info="error bars and tests allow for it; the sets must be of one size",
                elem_id="aligned",
            )
            choices_part(models)
            if labels := list(example_files()):
                gr.Markdown("**Examples**: human prose against")
                with gr.Row(elem_id="examples"):
                    for number, label in enumerate(labels):
                        title = EXAMPLE_TITLES.get(label, label.capitalize())
                        gr.Button(title, size="sm", min_width=150, elem_id=f"example_{number}")
            gr.File(label="A result's mauve.json", file_types=[".json"], height=96, elem_id="open_result")


def texts_part(limits: Limits) -> None:
    """Upload or paste the human texts, and those of models repeatedly: a place for each model's set."""
    with gr.Row(elem_id="sides"):
        with gr.Column(min_width=0, elem_id="human_side"):
            gr.Markdown("## Human texts")
            _upload_or_paste("human", "Human texts: file", "Human texts: one a line", limits)
            gr.Dropdown(label="Human texts: column", choices=[], visible=False, elem_id="human_column")
            gr.HTML(elem_id="human_preview")
        with gr.Column(min_width=0, elem_id="model_side"):
            gr.Markdown("## The model's texts")
            files = f"Models' texts: a file for each of up to {limits.model_sets} models"
            _upload_or_paste("model", files, "A model's texts: one a line", limits, file_count="multiple")
            gr.HTML(elem_id="model_problem")
            for number in range(1, limits.model_sets + 1):
                _place(number)


def _upload_or_paste(
    side: str, file: str, paste: str, limits: Limits, file_count: Literal["single", "multiple"] = "single"
) -> None:
    """A box for files of texts and one for lines, under these labels."""
    with gr.Tabs():
        with gr.Tab("Upload", elem_id=f"{side}_upload_tab"):
            gr.File(label=file, file_types=upload_endings(), height=96, elem_id=f"{side}_file", file_count=file_count)
        with gr.Tab("Paste", elem_id=f"{side}_paste_tab"):
            gr.Textbox(label=paste, lines=5, max_lines=5, max_length=limits.bytes, elem_id=f"{side}_paste")
            if side == "model":
                gr.Button("Keep these and paste another model's", size="sm", elem_id="paste_another")


def _place(number: int) -> None:
    """The place of one model's set: its name, its column and a preview."""
    name = f"model_{number}"
    with gr.Column(visible=False, elem_id=name, elem_classes="mm-place"):
        with gr.Row(equal_height=True):
            gr.Textbox(
                label=f"Name of model {number}",
                container=False,
                max_lines=1,
                max_length=LONGEST_NAME,
                scale=4,
                min_width=140,
                elem_id=f"{name}_name",
            )
            gr.Dropdown(
                label=f"Column of model {number}",
                container=False,
                choices=[],
                visible=False,
                scale=3,
                min_width=120,
                elem_id=f"{name}_column",
            )
            gr.Button("Remove", size="sm", scale=1, min_width=80, elem_id=f"{name}_remove")
        gr.HTML(elem_id=f"{name}_preview")


def choices_part(models: Sequence[str]) -> None:
    """The featurizer, the additional featurizers, and the folded panel of all other options."""
    notes = [f"{name}: {said}." for name, said in FEATURIZER_LABELS.items() if name in models]
    if any(name.startswith("gpt2") for name in models):
        notes.append("gpt2 and its like: the models of the literature, minutes to hours without a GPU.")
    info = " ".join([*notes, "The time that is left is shown while the texts are read."])
    gr.Dropdown(list(models), value=models[0], label="Featurizer", info=info, elem_id="featurize_model_name")
    gr.CheckboxGroup(
        list(models),
        value=list(others_by_default(models)),
        label="Check with a second featurizer",
        info="each scores the same texts and has its bar; the first sentence says whether they agree",
        visible=len(models) > 1,
        elem_id="featurizers",
    )
    with gr.Accordion("All other options", open=False, elem_id="options"):
        with gr.Row():
            panel_controls()
        gr.Markdown(
            "The link opens this page with the settings of now, those beside the figures included; no text is in it.",
            elem_classes="mm-small",
        )
        link_part("these settings", "make_link", "settings_link")


def run_part(limits: Limits) -> None:
    """Compare and stop, progress, the limit."""
    with gr.Column(min_width=0, elem_id="run"):
        with gr.Row():
            gr.Button("Compare", variant="primary", elem_id="compare", scale=4, min_width=120)
            gr.Button("Stop", elem_id="stop", scale=1, min_width=80)
        gr.HTML(elem_id="status")
        gr.HTML(markup.note(forecast(None, limits.seconds)), elem_id="run_limit")
        gr.Button("Compare a sample", size="sm", visible=False, elem_id="compare_sample")
        gr.Button(f"Compare with {SECOND} alone", size="sm", visible=False, elem_id="compare_quick")


def result_part(limits: Limits) -> None:
    """The result in two layers: the answer, two texts and the download; folded, what experts ask for."""
    gr.Textbox(visible=False, elem_id="key")  # of the visitor's session
    gr.Textbox(visible=False, elem_id="held")  # whether an earlier page of this tab held anything
    gr.Textbox(visible=False, elem_id="written")  # the values of `PLAY` as the visitor wrote them
    gr.Textbox(visible="hidden", elem_id="edition")  # the number of the change of texts that the page shows
    with gr.Column(min_width=0, elem_id="outcome"):
        gr.HTML("<h2>Result</h2>", elem_id="result_heading")  # for screen readers
        for name in ("stale", "about", "score"):
            gr.HTML(elem_id=name)
        gr.Checkbox(
            label=f"{ALIGNED}: row 1 of every file answers the same prompt, and so on",
            info="tick it if that is so: the texts are compared again",
            visible=False,
            interactive=True,  # Gradio bars what is an output alone
            elem_id="aligned_here",
        )
        with gr.Column(visible=False, elem_id="result"):
            gr.Textbox(label="Clicked model", elem_id="picked")  # filled by a click on its row; likewise
            _curves_part()
            gr.HTML(elem_id="pair")
            gr.HTML(elem_id="warnings")
            _files_part()
            with gr.Accordion("For experts: pictures, groups of texts, all scores", open=False, elem_id="experts"):
                with gr.Row(elem_id="all"):
                    figure("all_curves", "Divergence curves of all models", "mm-square")
                    figure("all_precision_recall", "Precision and recall of all models", "mm-square")
                _gap_part()
                figure("text_map", "Map of the texts")
                gr.HTML(elem_id="tables")
                with gr.Column(elem_id="play_part"):
                    gr.Markdown("### Play: the pictures follow, the texts are not read again")
                    with gr.Row(elem_id="play"):
                        play_controls(limits)
                    gr.HTML(elem_id="play_note")
                gr.Markdown("### All scores")
                gr.HTML(elem_id="table")
                _measures_part()
                title = "Signature: what another person needs to get the same numbers"
                gr.Code(label=title, language=None, interactive=False, wrap_lines=True, elem_id="signature")
                gr.Code(label="The same in Python", language="python", interactive=False, elem_id="python")
                shell = "The same in a shell"
                gr.Code(label=shell, language="shell", interactive=False, wrap_lines=True, elem_id="shell")
                space = os.environ.get("SPACE_ID")
                code = f"https://huggingface.co/spaces/{space}/tree/main" if space else "#code"
                gr.HTML(markup.notice("links", code=code), elem_id="links")


def _curves_part() -> None:
    """The MAUVE curve beside precision and recall, each with a sentence on how to read it."""
    with gr.Row(elem_id="curves"):
        for name, label in (("divergence_curve", "MAUVE curve"), ("precision_recall", "Precision and recall")):
            with gr.Column(min_width=320):
                figure(name, label, "mm-square")
                gr.HTML(elem_id=f"{name}_reading")


def _gap_part() -> None:
    """The buckets of one model, and the texts of one bucket."""
    gr.Markdown("### What keeps the score from 1: the texts of a bucket")
    figure("contributions", "Buckets by their part of the gap")
    gr.Dropdown(
        label="Bucket",
        info="the largest part of the gap first; a click on a bar or on a point of the map picks one too",
        choices=[],
        elem_id="bucket",
    )
    gr.HTML(elem_id="bucket_texts")
    figure("histogram", "Buckets by difference")
    gr.Textbox(label="Clicked bucket", elem_id="clicked")  # filled by a click on a figure; the style sheet hides it


def figure(name: str, label: str, *classes: str) -> gr.Plot:
    """The place of a figure; `figures.js` puts buttons that save it under it.

    Args:
        name: its id. label: what it is called. classes: of the style sheet, besides "mm-figure".
    """
    return gr.Plot(label=label, show_label=False, elem_id=name, elem_classes=["mm-figure", *classes], min_width=320)


def link_part(to: str, make_id: str, link_id: str, holds: str = "") -> None:
    """The button that makes a link to the page with settings or a result, and its box; holds: words of the label."""
    gr.Button(f"Make a link to {to}", size="sm", elem_id=make_id)
    label = f"Link to {to}{holds}"
    gr.Textbox(label=label, interactive=False, visible=False, elem_id=link_id, buttons=["copy"], max_lines=2)


def _files_part() -> None:
    """The files to download, and a link to the first screen."""
    with gr.Column(elem_id="away"):
        gr.Button("Download report and figures", elem_id="make_files")
        gr.Markdown(
            "A zip file. Its report.html is one page that opens offline and quotes texts; the other files hold numbers "
            "only. mauve.json can be dropped on this page again.",
            elem_classes="mm-small",
        )
        gr.File(label="Report and figures", visible=False, interactive=False, elem_id="files")
    link_part("this result", "share", "shared_link", ": its answer and scores, no texts")


def _measures_part() -> None:
    """Every measure: the groups, the buttons that compute and stop, the status and the table."""
    with gr.Accordion("Every measure", open=False, elem_id="every_measure"):
        gr.Markdown(_MEASURES, elem_classes="mm-small")
        groups = [(group.capitalize(), group) for group in GROUPS]
        gr.CheckboxGroup(groups, value=list(GROUPS), label="Groups", elem_id="groups")
        with gr.Row():
            gr.Button("Compute them", elem_id="compute_measures", scale=4)
            gr.Button("Stop the measures", elem_id="stop_measures", scale=2, min_width=170)
        for name in ("measures_stale", "measures_status", "measures"):
            gr.HTML(elem_id=name)


def api_text(models: Sequence[str]) -> str:
    """The text of `api.md` with the defaults and choices of the library."""
    return markup.render("api", "md", options=page_fields(), models=models, groups=("score", *GROUPS))
