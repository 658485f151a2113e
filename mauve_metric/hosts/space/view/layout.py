"""The parts of the page beside the result: texts, choices, run. The parts are independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import Literal

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.examples import SECOND, example_files, others_by_default
from mauve_metric.hosts.space.session.measuring import GROUPS
from mauve_metric.hosts.space.session.sessions import LONGEST_NAME
from mauve_metric.hosts.space.session.speeds import forecast
from mauve_metric.hosts.space.session.uploads import FILE_TYPES
from mauve_metric.hosts.space.view import notices
from mauve_metric.hosts.space.view.controls import panel_controls
from mauve_metric.hosts.space.view.result_part import LinkParts, link_part
from mauve_metric.options import config_fields
from mauve_metric.results.wording.spelling import ALIGNED

INTRODUCTION = """# MAUVE
How close are a model's texts to people's? <a href="#given">Compare your own</a>."""
EXAMPLE_TITLES = {  # labels of the buttons, by those of `example_files`
    "nucleus sampling": "Nucleus sampling (p = 0.95)",
    "top-k sampling": "Top-k sampling (k = 40)",
    "temperature 0.7": "Temperature 0.7",
    "pure sampling": "Pure sampling",
    "greedy decoding": "Greedy decoding",
    "other human texts": "Other human prose",
    "three models at once": "Nucleus, pure and greedy",
}
FEATURIZERS = {
    "minilm": "sees what texts are about",
    "ngrams": "takes seconds, sees grammar and spelling",
}
PRIVACY = (
    "Texts stay in this server's memory, and what you upload or make in temporary files too, while the page is open, "
    "an hour at most, visible to no other visitor; what is replaced, cleared or refused is deleted at once; no text is "
    "logged."
)


def upload(label: str, name: str, file_count: Literal["single", "multiple"] = "single") -> gr.File:
    """A box for files of texts."""
    return gr.File(label=label, file_types=FILE_TYPES, height=96, elem_id=name, file_count=file_count)


@dataclass(frozen=True)
class HumanInputs:
    """The inputs of the human texts and their preview."""

    file: gr.File
    paste: gr.Textbox
    column: gr.Dropdown
    preview: gr.HTML


@dataclass(frozen=True)
class Place:
    """The place of one model's set."""

    group: gr.Column
    name: gr.Textbox
    column: gr.Dropdown
    preview: gr.HTML
    remove: gr.Button


@dataclass(frozen=True)
class ModelInputs:
    """The inputs of the models' texts, and a place for each set; `all` in the order of the handlers."""

    file: gr.File
    paste: gr.Textbox
    another: gr.Button
    problem: gr.HTML
    aligned: gr.Checkbox
    places: list[Place]

    @property
    def all(self) -> list[Block]:
        """The parts that a change of the sets changes."""
        shown: list[list[Block]] = [[place.group, place.name, place.column, place.preview] for place in self.places]
        return [self.file, self.paste, self.problem, self.aligned, *(part for place in shown for part in place)]


def human_inputs(limits: Limits) -> HumanInputs:
    """Upload or paste, the column, and a preview."""
    with gr.Column(min_width=0, elem_id="human_side"):
        gr.Markdown("## Human texts")
        with gr.Tabs():
            with gr.Tab("Upload", elem_id="human_upload_tab"):
                file = upload("Human texts: file", "human_file")
            with gr.Tab("Paste", elem_id="human_paste_tab"):
                paste = _paste_box("Human texts: one a line", "human_paste", limits)
        column = gr.Dropdown(label="Human texts: column", choices=[], visible=False, elem_id="human_column")
        preview = gr.HTML(elem_id="human_preview")
    return HumanInputs(file, paste, column, preview)


def _paste_box(label: str, name: str, limits: Limits) -> gr.Textbox:
    return gr.Textbox(label=label, lines=5, max_lines=5, max_length=limits.bytes, elem_id=name)


def model_inputs(limits: Limits) -> ModelInputs:
    """Upload or paste, repeatedly; a place for each set, with its name, its column and a preview."""
    with gr.Column(min_width=0, elem_id="model_side"):
        gr.Markdown(f"## Model's texts, or those of up to {limits.model_sets} models")
        with gr.Tabs():
            with gr.Tab("Upload", elem_id="model_upload_tab"):
                file = upload("Models' texts: a file for each model", "model_file", file_count="multiple")
            with gr.Tab("Paste", elem_id="model_paste_tab"):
                paste = _paste_box("A model's texts: one a line", "model_paste", limits)
                another = gr.Button("Keep these and paste another model's", size="sm", elem_id="paste_another")
        problem = gr.HTML(elem_id="model_problem")
        places = [_place(number) for number in range(1, limits.model_sets + 1)]
        aligned = gr.Checkbox(
            label=f"{ALIGNED}: row i of every set, the human one too, answers the same prompt",
            info="intervals and tests allow for it; the sets must be of one size",
            visible=False,
            elem_id="aligned",
        )
    return ModelInputs(file, paste, another, problem, aligned, places)


def _place(number: int) -> Place:
    name = f"model_{number}"
    with gr.Column(visible=False, elem_id=name, elem_classes="mm-place") as group:
        with gr.Row(equal_height=True):
            title = gr.Textbox(
                label=f"Name of model {number}",
                container=False,
                max_lines=1,
                max_length=LONGEST_NAME,
                scale=4,
                min_width=140,
                elem_id=f"{name}_name",
            )
            column = gr.Dropdown(
                label=f"Column of model {number}",
                container=False,
                choices=[],
                visible=False,
                scale=3,
                min_width=120,
                elem_id=f"{name}_column",
            )
            remove = gr.Button("Remove", size="sm", scale=1, min_width=80, elem_id=f"{name}_remove")
        preview = gr.HTML(elem_id=f"{name}_preview")
    return Place(group, title, column, preview, remove)


def limits_part(limits: Limits) -> None:
    """The limits on texts, and the statement on privacy."""
    gr.Markdown(
        f"One text a line (.txt), or a column of texts ({', '.join(FILE_TYPES[1:])}): at most {limits.texts} texts of "
        f"{limits.characters} characters, {limits.megabytes} MB a file; {limits.total_texts} texts in all. {PRIVACY}",
        elem_id="limits",
        elem_classes="mm-small",
    )


def examples_part() -> dict[str, gr.Button]:
    """A button for each example."""
    labels = list(example_files())
    if not labels:
        return {}
    gr.Markdown("**Or compare an example on one click**: human prose against")
    with gr.Row(elem_id="examples"):
        titles = {label: EXAMPLE_TITLES.get(label, label.capitalize()) for label in labels}
        return {label: gr.Button(title, size="sm", min_width=150) for label, title in titles.items()}


def choices_part(models: Sequence[str]) -> tuple[gr.Dropdown, list[Component], LinkParts]:
    """The featurizer, the folded panel of all other options, and the additional featurizers."""
    known = [f"{name}: {said}." for name, said in FEATURIZERS.items() if name in models]
    if any(name.startswith("gpt2") for name in models):
        known.append("gpt2 and its like: the models of the literature, minutes to hours without a GPU.")
    info = " ".join([*known, "The time that is left is shown while the texts are read."])
    model = gr.Dropdown(list(models), value=models[0], label="Featurizer", info=info, elem_id="featurizer")
    others = gr.CheckboxGroup(
        list(models),
        value=list(others_by_default(models)),
        label="Check with a second featurizer",
        info="each scores the same texts and has its bar; the first sentence says whether they agree",
        visible=len(models) > 1,
        elem_id="featurizers",
    )
    with gr.Accordion("All other options", open=False, elem_id="options"):
        with gr.Row():
            panel = panel_controls()
        gr.Markdown(
            "The link opens this page with the settings of now, those beside the figures included; no text is in it.",
            elem_classes="mm-small",
        )
        link = link_part("these settings", "make_link", "settings_link")
    return model, [*panel, others], link


def open_part() -> gr.File:
    """The box for a result's JSON."""
    return gr.File(
        label="A result's mauve.json",
        file_types=[".json"],
        height=96,
        elem_id="open_result",
    )


@dataclass(frozen=True)
class RunParts:
    """The buttons and the status of a run; the style sheet keeps them in sight."""

    compare: gr.Button
    stop: gr.Button
    status: gr.HTML
    limit: gr.HTML
    sample: gr.Button
    quick: gr.Button

    @property
    def forecast(self) -> list[Block]:
        """The outputs of `Handlers.forecast`."""
        return [self.limit, self.sample, self.quick]


def run_part(limits: Limits, status: gr.HTML) -> RunParts:
    """Compare and stop, the limit, progress."""
    with gr.Column(min_width=0, elem_id="run"):
        status.render()  # type: ignore[no-untyped-call]  # Gradio does not type it
        with gr.Row():
            compare = gr.Button("Compare", variant="primary", elem_id="compare", scale=4, min_width=120)
            stop = gr.Button("Stop", elem_id="stop", scale=1, min_width=80)
        limit = gr.HTML(notices.run_limit(forecast(None, limits.seconds)), elem_id="run_limit")
        sample = gr.Button("Compare a sample", size="sm", visible=False, elem_id="compare_sample")
        quick = gr.Button(f"Compare with {SECOND} alone", size="sm", visible=False, elem_id="compare_quick")
    return RunParts(compare, stop, status, limit, sample, quick)


def code_part(models: Sequence[str]) -> None:
    """The panel about the use from a program."""
    with gr.Accordion("Use it from code", open=False, elem_id="code"):
        gr.Markdown(api_text(models))


def api_text(models: Sequence[str]) -> str:
    """The text of `api.md` with the defaults and choices of the library."""
    values = {name: _quote(knob.default) for name, knob in config_fields().items()}
    offered = ", ".join(f"`{_quote(model)}`" for model in models)
    empty = config_fields()["empty_texts"]
    others = [f"`{_quote(choice)}`" for choice in empty.metadata["choices"] if choice != empty.default]
    values |= {"other_empty_texts": " or ".join(others)}
    text = resources.files("mauve_metric.hosts.space.view").joinpath("assets", "api.md").read_text(encoding="utf-8")
    values |= {"groups": ", ".join(f"`{group}`" for group in ("score", *GROUPS))}
    return Template(text.rstrip("\n")).substitute(values, preset=_quote(models[0]), models=offered)


def _quote(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
