"""The page and its endpoint, put together and served."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any, Literal, TypedDict

import gradio as gr
from gradio.components import Component
from gradio.events import api
from gradio.themes import Base
from starlette.middleware import Middleware

from mauve_metric.hosts.space import layout
from mauve_metric.hosts.space.clients import RUNS, Turns
from mauve_metric.hosts.space.handlers import BUCKET_LINK, Handlers
from mauve_metric.hosts.space.limits import BodyLimit, Limits, read_limits, read_models
from mauve_metric.hosts.space.scoring import Encoders, Featurizer
from mauve_metric.hosts.space.session import HOUR
from mauve_metric.runtime.threads import prepare_threads

ONE_RUN: dict[str, Any] = {"concurrency_id": RUNS, "concurrency_limit": 1}  # one model at work at a time
PLAY_RUNS: dict[str, Any] = {"concurrency_id": "play", "concurrency_limit": 2}  # from kept features, in seconds
QUICK: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 4}

HERE = resources.files("mauve_metric.hosts.space")
STYLES, SCRIPTS = ("page.css", "figures.css"), ("figures.js",)  # of the page, in this order


def _together(files: Sequence[str]) -> str:
    return "\n".join(HERE.joinpath(name).read_text(encoding="utf-8") for name in files)


CSS = _together(STYLES)
JS = "() => {" + _together(SCRIPTS).replace("BUCKET_LINK", BUCKET_LINK) + "}"


class Page(gr.Blocks):
    """The page, and what its buttons do.

    waiting_each: runs of one client in its queue.
    """

    handlers: Handlers
    waiting_each = Limits.waiting_each

    def queue(self, *args: Any, **options: Any) -> Page:
        """See `gr.Blocks.queue`; the runs in it take turns, and none passes it by."""
        super().queue(*args, **options)
        self._queue, self.api_open = Turns(self._queue, self.waiting_each), False
        return self


def build_app(
    limits: Limits | None = None,
    models: Sequence[str] | None = None,
    functions: Mapping[str, Featurizer] | None = None,
) -> Page:
    """The page and its endpoints `/score` and `/compare`.

    Args:
        limits: of the server; None: the environment's.
        models: featurizers that a visitor may choose, the first preset; None: the environment's.
        functions: functions from texts to an array, offered besides by their names.
    """
    limits = read_limits(os.environ) if limits is None else limits
    models = read_models(os.environ) if models is None else [*models]
    models = [*models, *(name for name in functions or {} if name not in models)]
    handlers = Handlers(limits, models, Encoders(functions))
    app = Page(title="MAUVE", analytics_enabled=False, delete_cache=(HOUR // 12, HOUR))
    app.handlers, app.waiting_each = handlers, limits.waiting_each
    with app:
        gr.Markdown(layout.INTRODUCTION)
        human, models_in, examples = layout.texts_part(limits)
        model, panel = layout.choices_part(models)
        compare, stop = layout.buttons_part()
        result = layout.result_part(limits)
        layout.code_part(models)
        _wire_texts(handlers, human, models_in, examples)
        _wire_result(handlers, compare, stop, [human.paste, models_in.paste, models_in.aligned, model], panel, result)
        app.unload(handlers.leave)
        api(handlers.endpoints.score(), api_name="score", **ONE_RUN)
        api(handlers.endpoints.compare(), api_name="compare", **ONE_RUN)
    return app


def _wire_texts(
    handlers: Handlers, human: layout.HumanInputs, models: layout.ModelInputs, examples: Mapping[str, gr.Button]
) -> None:
    """Files, columns, pasted texts, names and examples."""
    shown = [human.preview, human.column]
    gr.on([human.file.upload, human.file.clear], handlers.take_file, human.file, [*shown, human.paste], **QUICK)
    human.column.input(handlers.take_column, human.column, human.preview, **QUICK)
    human.paste.blur(handlers.take_paste, human.paste, [*shown, human.file], **QUICK)
    models.file.upload(handlers.add_files, models.file, models.all, **QUICK)
    models.paste.blur(handlers.add_paste, models.paste, models.all, **QUICK)
    models.another.click(handlers.paste_another, models.paste, models.all, **QUICK)
    for number, place in enumerate(models.places):
        rename = _with_request(handlers.rename_model, number)
        gr.on([place.name.blur, place.name.submit], rename, place.name, [models.problem, place.name], **QUICK)
        place.column.input(_with_request(handlers.choose_column, number), place.column, models.all, **QUICK)
        place.remove.click(_request_only(handlers.remove_model, number), None, models.all, **QUICK)
    everything = [human.preview, human.column, human.file, human.paste, *models.all]
    for label, button in examples.items():
        button.click(_request_only(handlers.take_example, label), None, everything, **QUICK)


def _with_request(function: Callable[..., list[object]], first: object) -> Callable[..., list[object]]:
    """A handler of one value whose first argument is known; Gradio finds the request by its annotation."""

    def handler(value: str, request: gr.Request) -> list[object]:
        return function(first, value, request)

    return handler


def _request_only(function: Callable[..., list[object]], first: object) -> Callable[..., list[object]]:
    """A handler of no value whose first argument is known."""

    def handler(request: gr.Request) -> list[object]:
        return function(first, request)

    return handler


def _wire_result(
    handlers: Handlers,
    compare: gr.Button,
    stop: gr.Button,
    texts: list[Component],
    panel: list[Component],
    result: layout.ResultOutputs,
) -> None:
    """Compare, stop, play, read, take away."""

    def run(request: gr.Request, progress: gr.Progress = gr.Progress(), *values: object) -> list[object]:  # noqa: B008
        return handlers.compare(values, request, progress)

    def play(request: gr.Request, *values: object) -> list[object]:
        return handlers.replay(values, request)

    running = compare.click(
        run,
        [*texts, *result.play, *panel],
        result.all,
        api_visibility="private",
        trigger_mode="once",
        show_progress_on=result.score,
        **ONE_RUN,
    )
    stop.click(handlers.cancel, None, None, cancels=[running], queue=False, **QUICK)
    for control in result.play:
        control.input(
            play,
            result.play,
            result.all,
            api_visibility="private",
            trigger_mode="always_last",
            show_progress_on=result.score,
            **PLAY_RUNS,
        )
    picked, bucket = result.picked, result.bucket
    picked.input(handlers.pick_model, picked, result.of_model, **QUICK)
    bucket.input(handlers.pick_bucket, bucket, result.named["bucket_texts"], **QUICK)
    result.clicked.change(handlers.click_bucket, result.clicked, [picked, *result.of_model], **QUICK)
    files = result.named["files"]
    result.make_files.click(handlers.make_files, None, files, api_visibility="private", **PLAY_RUNS)


def theme() -> Base:
    """Fonts of the visitor's machine (nothing is fetched), and small print that can be read."""
    plain = gr.themes.Default(
        primary_hue="indigo", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
    )
    names = ("body_text_color_subdued", "block_info_text_color", "block_title_text_color")
    colors = dict.fromkeys(names, "*neutral_600") | {f"{name}_dark": "*neutral_300" for name in names}
    for part in ("background_fill", "background_fill_dark", "border_color", "border_color_dark"):
        colors[f"button_primary_{part}"] = "*primary_700"
    return plain.set(**colors)


class LaunchOptions(TypedDict):
    """Keywords of `Blocks.launch`."""

    css: str
    theme: Base
    ssr_mode: bool
    max_file_size: int
    footer_links: list[Literal["api", "gradio", "settings", "runs"] | dict[str, str]]
    js: str
    app_kwargs: dict[str, object]


def launch_options(limits: Limits) -> LaunchOptions:
    """The keywords of `Blocks.launch` that belong to this page."""
    return {
        "css": CSS,
        "theme": theme(),
        "ssr_mode": False,
        "max_file_size": limits.bytes,
        "footer_links": ["api"],
        "js": JS,
        "app_kwargs": {"middleware": [Middleware(BodyLimit, limits=limits)]},
    }


def main() -> None:
    """Serve the page until it is interrupted."""
    prepare_threads()
    if "SPACE_ID" in os.environ:  # there, all visitors come through the proxies of the Hub, which alone are reached
        os.environ.setdefault("FORWARDED_ALLOW_IPS", "*")
    limits = read_limits(os.environ)
    build_app(limits).queue(max_size=limits.waiting).launch(**launch_options(limits))
