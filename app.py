"""The page: two sets of texts in, the score, its curves and its warnings out. A view of `compute_mauve`.

    python app.py

It listens where `GRADIO_SERVER_NAME` and `GRADIO_SERVER_PORT` say. What a visitor may ask of the server is set by
`Limits` and by `read_models`, each with environment variables.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import gradio as gr

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.cli import examples_folder
from mauve_metric.config import knobs
from mauve_metric.plot import divergence_curve_chart, histogram_chart, precision_recall_chart
from mauve_metric.scores import SCORES
from mauve_metric.texts import read_texts

FILE_TYPES = [".txt", ".jsonl", ".csv", ".parquet"]
MODELS = "minilm,gpt2"  # what a visitor may choose; the first is preset
EXAMPLES = {
    "nucleus": "nucleus sampling",
    "sampling": "pure sampling",
    "top_k": "top-k sampling",
    "greedy": "greedy decoding",
    "human_other": "other human texts",
}
ONE_RUN = {"concurrency_id": "model", "concurrency_limit": 1}  # one model in memory at a time
HOUR = 3600  # seconds; about as long as an upload may stay on the disk
USER_ERRORS = (ValueError, TypeError, OSError, ImportError, RuntimeError, MemoryError)


@dataclass(frozen=True)
class Limits:
    """What one visitor may ask of the server.

    texts: in one set. characters: in one text. megabytes: in one file. buckets: of the histograms. waiting: runs in
    the queue.
    """

    texts: int = 5000
    characters: int = 20_000
    megabytes: int = 20
    buckets: int = 1000
    waiting: int = 20


def read_limits(environment: Mapping[str, str]) -> Limits:
    """The limits, each overridden by a variable such as `MAUVE_METRIC_MAX_TEXTS`.

    Raises:
        ValueError: a variable that is not a positive integer.
    """
    values = {}
    for item in fields(Limits):
        variable = f"MAUVE_METRIC_MAX_{item.name.upper()}"
        text = environment.get(variable, str(item.default))
        if not text.isdecimal() or int(text) < 1:
            raise ValueError(f"{variable} must be a positive integer, got {text!r}")
        values[item.name] = int(text)
    return Limits(**values)


def read_models(environment: Mapping[str, str]) -> list[str]:
    """The featurizers that a visitor may choose: those in `MAUVE_METRIC_MODELS`, with commas between them.

    It is a list because a name that a visitor writes would let strangers download and run anything.
    """
    names = [name.strip() for name in environment.get("MAUVE_METRIC_MODELS", MODELS).split(",")]
    if not any(names):
        raise ValueError("MAUVE_METRIC_MODELS must name at least one featurizer, got none")
    return [name for name in names if name]


# --- what comes in ------------------------------------------------------------------------------------------------


def read_upload(name: str, path: str | None, column: str | None, limits: Limits) -> list[str]:
    """The texts of an uploaded file; errors call it by `name`, never by where it lies on the server."""
    if path is None:
        raise ValueError(f"{name}: choose a file first")
    if Path(path).stat().st_size > limits.megabytes * 2**20:
        raise ValueError(f"{name}: a file may have at most {limits.megabytes} MB here")
    try:
        return read_texts(path, (column or "").strip() or None)
    except USER_ERRORS as error:
        message = str(error).replace(path, name).replace("text_field", "the option Column")
        raise ValueError(message if message.startswith(name) else f"{name}: {message}") from error


def check_texts(name: str, texts: Any, limits: Limits) -> list[str]:
    """The texts, if they are a list within the limits; what is in the list is checked by the library."""
    if not isinstance(texts, list):
        raise TypeError(f"{name} must be a list of texts, got {type(texts).__name__}")
    if len(texts) > limits.texts:
        raise ValueError(f"{name}: at most {limits.texts} texts are taken here, got {len(texts)}")
    for index, text in enumerate(texts):
        if isinstance(text, str) and len(text) > limits.characters:
            most = f"a text may have at most {limits.characters} characters here"
            raise ValueError(f"{name}: {most}, got {len(text)} at position {index}")
    return texts


def score_texts(
    p_name: str, p: Any, q_name: str, q: Any, limits: Limits, models: Sequence[str], **options: Any
) -> MauveResult:
    """`compute_mauve` within the limits; errors call the two sets by the names that the visitor knows."""
    p_text, q_text = check_texts(p_name, p, limits), check_texts(q_name, q, limits)
    model, buckets = options["featurize_model_name"], options["num_buckets"]
    if model not in models:
        raise ValueError(f"featurize_model_name must be one of {', '.join(models)} here, got {str(model)[:60]!r}")
    if isinstance(buckets, int) and buckets > limits.buckets:
        raise ValueError(f"num_buckets may be at most {limits.buckets} here, got {buckets}")
    try:
        return compute_mauve(p_text=p_text, q_text=q_text, cache=False, **options)  # nothing of a text on the disk
    except USER_ERRORS as error:
        raise ValueError(str(error).replace("p_text", p_name).replace("q_text", q_name)) from error


@contextmanager
def errors_shown(*, as_html: bool) -> Iterator[None]:
    """Errors that a visitor can understand go to him as one sentence, and not to the log, since they quote texts."""
    try:
        yield
    except USER_ERRORS as error:
        message = " ".join(str(error).split()) or type(error).__name__
        message = html.escape(message, quote=False) if as_html else message
        raise gr.Error(message, print_exception=False) from error


# --- what goes out ------------------------------------------------------------------------------------------------


def headline(result: MauveResult) -> str:
    """The score in large letters, as HTML that is made of numbers only."""
    interval = ""
    if result.mauve_ci is not None and result.mauve_debiased is not None:
        low, high = result.mauve_ci
        interval = f"Without the bias of sampling: {result.mauve_debiased:.4f}, between {low:.4f} and {high:.4f}. "
    return (
        f"<p class='score'>MAUVE <strong>{result.mauve:.4f}</strong></p><p>{interval}"
        f"Two human sets of these sizes would score about {result.mauve_ceiling:.4f}, "
        f"sets with nothing in common {result.mauve_floor:.4f}.</p>"
    )


def score_rows(result: MauveResult) -> list[list[str]]:
    """The table of scores, as plain strings; what was not computed is left out."""
    values = {name: getattr(result, name) for name in SCORES}
    return [
        [SCORES[name].title, f"{value:.4f}", f"{SCORES[name].better} is better", SCORES[name].meaning]
        for name, value in values.items()
        if value is not None
    ]


def show(result: MauveResult) -> list[Any]:
    """The values of the outputs that `_outputs` lays out, in its order."""
    warnings = "\n".join(f"{warning.message} [{warning.code}]" for warning in result.warnings)
    charts = [divergence_curve_chart(result), precision_recall_chart(result), histogram_chart(result)]
    return [
        gr.update(value=warnings, visible=bool(warnings)),
        headline(result),
        gr.update(visible=True),
        *(chart.properties(width="container") for chart in charts),
        score_rows(result),
        result.signature,
        result.to_dict(),
    ]


# --- the page -----------------------------------------------------------------------------------------------------

INTRODUCTION = """# MAUVE
How close are a model's texts to human texts? Give a file of each. The nearer the score is to 1, the closer; the curves
say whether the model fails in quality (it writes what no human would) or in coverage (it misses what humans write)."""
CSS = """
.score {font-size: 1.6rem; margin: 0}
#score {min-height: 5rem}
#warnings textarea {font-weight: 600}
.figure .altair > div {width: calc(100% - 12px)}
.square .altair > div {max-width: 390px}
.vega-actions a:nth-child(n+3) {display: none !important}
"""


def build_app(limits: Limits | None = None, models: Sequence[str] | None = None) -> gr.Blocks:
    """The page and its endpoint `/score`; limits and featurizers are the environment's unless they are given."""
    limits = read_limits(os.environ) if limits is None else limits
    models = read_models(os.environ) if models is None else models
    with gr.Blocks(title="MAUVE", analytics_enabled=False, delete_cache=(HOUR // 6, HOUR)) as app:
        gr.Markdown(INTRODUCTION)
        inputs = [*_files(limits), *_options(models)]
        button = gr.Button("Compare", variant="primary", elem_id="compare")
        outputs = _outputs()
        button.click(
            _compare(limits, models),
            inputs,
            outputs,
            api_visibility="private",
            trigger_mode="once",
            show_progress_on=outputs[1],
            **ONE_RUN,
        )
        gr.api(_score_endpoint(limits, models), api_name="score", **ONE_RUN)
    return app


def _files(limits: Limits) -> list[gr.components.Component]:
    """The two files, what they may be, and the examples."""
    with gr.Row():
        names = (("Human texts", "human_file"), ("The model's texts", "model_file"))
        files = [gr.File(label=label, file_types=FILE_TYPES, elem_id=name, height=140) for label, name in names]
    gr.Markdown(
        f"One text a line (.txt), or a column `text` (.jsonl, .csv, .parquet): at most {limits.texts} texts of "
        f"{limits.characters} characters, {limits.megabytes} MB a file."
    )
    examples = example_files()
    if examples:
        label = "Or take an example: human texts and those of a small language model"
        gr.Examples(list(examples.values()), files, example_labels=list(examples), label=label, elem_id="examples")
    return files


def example_files() -> dict[str, list[str]]:
    """The example pairs that are there, by the name on their button: human and model file."""
    try:
        folder = examples_folder()
    except FileNotFoundError:
        return {}
    found = {label: folder / f"{name}.jsonl" for name, label in EXAMPLES.items()}
    return {label: [str(folder / "human.jsonl"), str(file)] for label, file in found.items() if file.is_file()}


def _options(models: Sequence[str]) -> list[gr.components.Component]:
    """What can change the score, folded away; meanings and defaults are the library's."""

    def described(name: str) -> dict[str, Any]:
        return {"value": knobs()[name].default, "info": knobs()[name].metadata["help"], "elem_id": name}

    speed = "minilm takes seconds; gpt2 models are those of the literature, and slow without a GPU"
    column = "of the texts in the files; empty: 'text', or the only one"
    with gr.Accordion("Options", open=False, elem_id="options"), gr.Row():
        return [
            gr.Dropdown(list(models), value=models[0], label="Featurizer", info=speed, elem_id="featurizer"),
            gr.Textbox(label="Number of buckets", max_length=20, **described("num_buckets")),
            gr.Number(label="Seed", precision=0, **described("seed")),
            gr.Number(label="Scaling factor", **described("mauve_scaling_factor")),
            gr.Radio(["error", "drop"], label="Empty texts", **described("empty_texts")),
            gr.Textbox(label="Column", value="", info=column, max_length=200, elem_id="column"),
        ]


def _outputs() -> list[gr.components.Component | gr.blocks.BlockContext]:
    """Warnings first, the score, and a part that stays hidden until there is a result."""
    warnings = gr.Textbox(label="Before you believe it", interactive=False, visible=False, elem_id="warnings")
    score = gr.HTML(elem_id="score")
    with gr.Column(visible=False, elem_id="outputs") as rest:
        with gr.Row():
            curves = [
                gr.Plot(show_label=False, elem_id=name, elem_classes=["figure", "square"], min_width=340)
                for name in ("divergence_curve", "precision_recall")
            ]
        histogram = gr.Plot(show_label=False, elem_id="histogram", elem_classes=["figure"])
        headers = ["score", "value", "direction", "meaning"]
        table = gr.Dataframe(
            headers=headers, datatype="str", interactive=False, wrap=True, max_height=1200, elem_id="table"
        )
        title = "Signature: what another person needs to get the same number"
        signature = gr.Textbox(label=title, interactive=False, buttons=["copy"], elem_id="signature")
        with gr.Accordion("Result as JSON", open=False, elem_id="result"):
            result = gr.JSON(show_label=False, elem_id="json")
    return [warnings, score, rest, *curves, histogram, table, signature, result]


def _compare(limits: Limits, models: Sequence[str]) -> Callable[..., list[Any]]:
    """What the button does: the values of the inputs in, those of the outputs out."""

    def compare(
        human: str | None,
        model: str | None,
        featurizer: str,
        buckets: str,
        seed: int,
        c: float,
        empty: str,
        column: str,
    ) -> list[Any]:
        p_name, q_name = "the human texts", "the model's texts"
        with errors_shown(as_html=True):
            p, q = read_upload(p_name, human, column, limits), read_upload(q_name, model, column, limits)
            options = {
                "featurize_model_name": featurizer,
                "num_buckets": int(buckets) if buckets.strip().isdecimal() else buckets.strip(),
                "seed": seed,
                "mauve_scaling_factor": c,
                "empty_texts": empty,
            }
            return show(score_texts(p_name, p, q_name, q, limits, models, **options))

    return compare


def _score_endpoint(limits: Limits, models: Sequence[str]) -> Callable[..., dict[str, Any]]:
    """What `/score` does; its signature and docstring are the endpoint's documentation."""

    def score(
        references: list[str],
        predictions: list[str],
        num_buckets: int | None = None,
        seed: int = knobs()["seed"].default,
        mauve_scaling_factor: float = knobs()["mauve_scaling_factor"].default,
        empty_texts: Literal["error", "drop"] = knobs()["empty_texts"].default,
        featurize_model_name: str = models[0],
    ) -> dict[str, Any]:
        """Score a model's texts (predictions) against human texts (references): every number of the result.

        num_buckets: left out, it follows from the number of texts.
        """
        options = {
            "featurize_model_name": featurize_model_name,
            "num_buckets": knobs()["num_buckets"].default if num_buckets is None else num_buckets,
            "seed": seed,
            "mauve_scaling_factor": mauve_scaling_factor,
            "empty_texts": empty_texts,
        }
        with errors_shown(as_html=False):
            result = score_texts("references", references, "predictions", predictions, limits, models, **options)
        return result.to_dict()

    return score


def launch_options(limits: Limits) -> dict[str, Any]:
    """The keywords of `Blocks.launch` that belong to this page."""
    return {
        "css": CSS,
        "theme": gr.themes.Default(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
        "ssr_mode": False,
        "max_file_size": limits.megabytes * 2**20,
        "allowed_paths": sorted({file for pair in example_files().values() for file in pair}),
        "footer_links": ["api"],
    }


def main() -> None:
    """Serve the page until it is interrupted."""
    # Waiting threads sleep instead of spinning, which halves the time on processors that others use too.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    limits = read_limits(os.environ)
    build_app(limits).queue(max_size=limits.waiting).launch(**launch_options(limits))


if __name__ == "__main__":
    main()
