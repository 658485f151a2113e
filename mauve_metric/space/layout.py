"""The parts of the page, from top to bottom: texts, choices, result. No part knows what the others do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from mauve_metric.space.controls import panel_controls, play_controls
from mauve_metric.space.handlers import SIDES, example_files
from mauve_metric.space.limits import Limits
from mauve_metric.space.uploads import FILE_TYPES

INTRODUCTION = """# MAUVE
How close are a model's texts to human texts? Give a set of each. The nearer the score is to 1, the closer; the pictures
say how much of that is chance, and whether the model fails in quality (it writes what no human would) or in coverage
(it misses what humans write)."""
PRIVACY = (
    "Texts stay in this server's memory while the page is open, an hour at most, seen by nobody else; nothing of them "
    "is logged."
)
ENDPOINT = """Every page like this is an API too. In Python, with `pip install gradio_client`:

```python
from gradio_client import Client

client = Client("ADDRESS OF THIS PAGE")
result = client.predict(references=human_texts, predictions=model_texts, api_name="/score")
result["mauve"], result["mauve_ci"], result["signature"]
```

Both are lists of strings. Options with their defaults: `num_buckets=None` (a tenth of the smaller set), `seed=25`,
`mauve_scaling_factor=5`, `confidence_level=0.95`, `empty_texts="error"` (or `"drop"`),
`featurize_model_name="{preset}"` (one of {models}). The answer is a dict of plain numbers, strings and lists: every
field of the library's `MauveResult`. “Use via API” at the foot of the page shows the same for curl and JavaScript."""


def upload(label: str, name: str) -> Any:
    """A `gr.File` without the empty temporary file that it leaves behind for each upload it hands on."""

    def path_of(file: Any) -> str:
        if Path(file.path).suffix.lower() not in FILE_TYPES:
            raise gr.Error(f"a file must be one of {', '.join(FILE_TYPES)}", print_exception=False)
        return str(file.path)

    component = gr.File(label=label, file_types=FILE_TYPES, height=130, elem_id=name)
    component._process_single_file = path_of
    return component


@dataclass(frozen=True)
class SideInputs:
    """The inputs of one side and its preview."""

    file: Any
    paste: Any
    column: Any
    preview: Any


def side_inputs(which: str, limits: Limits) -> SideInputs:
    """Upload or paste, the column, and what was found."""
    title = SIDES[which].removeprefix("the ").capitalize()
    with gr.Column(min_width=300, elem_id=f"{which}_side"):
        gr.Markdown(f"### {title}")
        with gr.Tabs():
            with gr.Tab("Upload", elem_id=f"{which}_upload_tab"):
                file = upload(f"{title}: file", f"{which}_file")
            with gr.Tab("Paste", elem_id=f"{which}_paste_tab"):
                paste = gr.Textbox(
                    label=f"{title}: one a line",
                    lines=5,
                    max_lines=5,
                    max_length=limits.bytes,
                    elem_id=f"{which}_paste",
                )
        column = gr.Dropdown(label=f"{title}: column", choices=[], visible=False, elem_id=f"{which}_column")
        preview = gr.HTML(elem_id=f"{which}_preview")
    return SideInputs(file, paste, column, preview)


def texts_part(limits: Limits) -> tuple[dict[str, SideInputs], dict[str, Any]]:
    """Both sides, what they may be, and a button for each example."""
    with gr.Row():
        sides = {which: side_inputs(which, limits) for which in SIDES}
    gr.Markdown(
        f"One text a line (.txt), or a column of texts ({', '.join(FILE_TYPES[1:])}): at most {limits.texts} texts of "
        f"{limits.characters} characters, {limits.megabytes} MB a file. {PRIVACY}",
        elem_id="limits",
        elem_classes="mm-small",
    )
    buttons = {}
    labels = list(example_files())
    if labels:
        gr.Markdown(
            "**Or take an example**: passages of human prose against a small language model's, or against others."
        )
        with gr.Row(elem_id="examples"):
            buttons = {label: gr.Button(label.capitalize(), size="sm", min_width=130) for label in labels}
    return sides, buttons


def choices_part(models: Sequence[str]) -> tuple[Any, list[Any]]:
    """The featurizer, and all else folded away."""
    speed = (
        "minilm: seconds for a thousand texts, 90 MB, in the package. gpt2 and its like are the models of the "
        "literature: 0.5 GB (gpt2) to 3 GB (gpt2-large) to download, minutes to hours without a GPU."
    )
    model = gr.Dropdown(list(models), value=models[0], label="Featurizer", info=speed, elem_id="featurizer")
    with gr.Accordion("All other options", open=False, elem_id="options"), gr.Row():
        panel = panel_controls()
    return model, panel


def buttons_part() -> tuple[Any, Any]:
    """Compare and stop."""
    with gr.Row():
        compare = gr.Button("Compare", variant="primary", elem_id="compare", scale=4)
        stop = gr.Button("Stop", elem_id="stop", scale=1, min_width=100)
    return compare, stop


@dataclass(frozen=True)
class ResultOutputs:
    """What shows a result; `all` in the order of the handlers."""

    all: list[Any]
    status: Any
    play: list[Any]
    bucket: Any
    bucket_texts: Any
    make_files: Any
    files: Any


def result_part(limits: Limits) -> ResultOutputs:
    """Warnings first, the score, the pictures and what moves them, the texts, what to take away; hidden at first."""
    warnings = gr.HTML(elem_id="warnings")
    score = gr.HTML(elem_id="score")
    with gr.Column(visible=False, elem_id="result") as rest:
        line = _figure("score_line", "MAUVE between floor and ceiling")
        gr.Markdown("### Play: the pictures follow, the texts are not read again")
        with gr.Row(elem_id="play"):
            play = play_controls(limits)
        with gr.Row():
            curves = [
                _figure("divergence_curve", "Divergence curve", "mm-square"),
                _figure("precision_recall", "Precision and recall", "mm-square"),
            ]
        histogram = _figure("histogram", "Buckets by difference")
        gr.Markdown("### Read the texts of a bucket")
        bucket = gr.Dropdown(
            label="Bucket", info="those where the two sets differ most come first", choices=[], elem_id="bucket"
        )
        bucket_texts = gr.HTML(elem_id="bucket_texts")
        gr.Markdown("### All scores")
        table = gr.HTML(elem_id="table")
        gr.Markdown("### Take it away")
        title = "Signature: what another person needs to get the same number"
        signature = gr.Code(label=title, language=None, interactive=False, wrap_lines=True, elem_id="signature")
        python = gr.Code(label="The same in Python", language="python", interactive=False, elem_id="python")
        shell = gr.Code(
            label="The same in a shell", language="shell", interactive=False, wrap_lines=True, elem_id="shell"
        )
        make_files = gr.Button("Make files: figures as SVG, PDF, PNG; result as JSON", elem_id="make_files")
        files = gr.File(label="Files", file_count="multiple", visible=False, interactive=False, elem_id="files")
    outputs = [rest, warnings, score, line, *curves, histogram, bucket, bucket_texts]
    outputs += [table, signature, python, shell, files]
    return ResultOutputs(outputs, score, play, bucket, bucket_texts, make_files, files)


def _figure(name: str, label: str, *classes: str) -> Any:
    return gr.Plot(label=label, show_label=False, elem_id=name, elem_classes=["mm-figure", *classes], min_width=320)


def code_part(models: Sequence[str]) -> None:
    """How to use the page from a program."""
    with gr.Accordion("Use it from code", open=False, elem_id="code"):
        offered = ", ".join(f'`"{model}"`' for model in models)
        gr.Markdown(ENDPOINT.replace("{preset}", models[0]).replace("{models}", offered))
