"""The page and its endpoint, put together and served."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, cast

import gradio as gr
from gradio.data_classes import APIInfo, BlocksConfigDict
from gradio.events import api
from starlette.middleware import Middleware

from mauve_metric.hosts.space.limits import Limits, read_limits, read_models
from mauve_metric.hosts.space.server.endpoints import Endpoints, Schema, add_descriptions
from mauve_metric.hosts.space.server.logs import keep_texts_out
from mauve_metric.hosts.space.server.middleware import BodyLimit, ErrorAnswers
from mauve_metric.hosts.space.session.run import ONE_RUN
from mauve_metric.hosts.space.session.scoring import Encoders, Featurizer
from mauve_metric.hosts.space.session.sessions import HOUR
from mauve_metric.hosts.space.view import judging, layout
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.showing import BUCKET_LINK
from mauve_metric.hosts.space.view.wiring import Wiring
from mauve_metric.results.charts.figure import DARK
from mauve_metric.runtime.threads import prepare_threads

HERE = resources.files("mauve_metric.hosts.space.view").joinpath("assets")
STYLES, SCRIPTS = ("page.css", "notices.css", "figures.css", "access.css"), ("figures.js", "page.js", "access.js")


_DARK = "\n".join(
    f'.dark .mm-figure svg.marks [{part}="{color}" i] {{{part}: {dark}}}'
    for color, dark in DARK.items()
    for part in ("fill", "stroke")
)
_STYLES, _SCRIPTS = (
    "\n".join(HERE.joinpath(name).read_text(encoding="utf-8") for name in files) for files in (STYLES, SCRIPTS)
)
CSS = f"{_STYLES}\n{_DARK}"
JS = "() => {" + _SCRIPTS.replace("BUCKET_LINK", BUCKET_LINK) + "}"


class Page(gr.Blocks):
    """The page, what its buttons do, and its endpoints."""

    handlers: Handlers
    endpoints: Endpoints

    def get_api_info(self, all_endpoints: bool = False, page: str | None = None) -> APIInfo:
        """See `gr.Blocks.get_api_info`; with meanings, and the schema of the answers."""
        return cast(APIInfo, add_descriptions(cast(Schema, super().get_api_info(all_endpoints, page)), self.endpoints))

    def get_config_file(self) -> BlocksConfigDict:
        """See `gr.Blocks.get_config_file`; with one page, so that Gradio draws no bar of pages."""
        config = super().get_config_file()
        config["pages"] = config["pages"][:1]
        return config


def build_app(
    limits: Limits | None = None,
    models: Sequence[str] | None = None,
    functions: Mapping[str, Featurizer] | None = None,
) -> Page:
    """The page and its endpoints `/score`, `/compare` and `/describe`.

    Args:
        limits: of the server; None: the environment's.
        models: featurizers that a visitor may choose, the first preset; None: the environment's.
        functions: functions from texts to an array, offered besides by their names.
    """
    limits = read_limits(os.environ) if limits is None else limits
    models = read_models(os.environ) if models is None else [*models]
    models = [*models, *(name for name in functions or {} if name not in models)]
    handlers = Handlers(limits, models, Encoders(functions))
    app = Page(title="MAUVE", analytics_enabled=False, fill_width=True, delete_cache=(HOUR // 12, HOUR))
    app.handlers, app.endpoints = handlers, Endpoints(limits, models, handlers.encoders, handlers.turns)
    with app:
        gr.Markdown(layout.INTRODUCTION)
        gr.HTML(elem_id="link_problems")
        with gr.Row(elem_id="desk"):
            with gr.Column(min_width=0, elem_id="shown"):
                layout.result_part(limits)
                with gr.Accordion("Use it from code", open=False, elem_id="code"):
                    gr.Markdown(layout.api_text(models))
            with gr.Column(min_width=0, elem_id="inputs"):
                layout.inputs_part(limits, models)
                layout.run_part(limits)
        wiring = Wiring(app, handlers)
        wiring.texts()
        wiring.runs()
        wiring.reading()
        wiring.measures()
        wiring.staleness()
        wiring.arrival(app)
        app.unload(handlers.leave)
        for name in app.endpoints.names:
            api(app.endpoints.function(name), api_name=name, **ONE_RUN)
    with app.route("Judge texts", judging.PATH, show_in_navbar=False):
        judging.judging_page(limits)
    app.queue(max_size=limits.waiting, api_open=False)
    return app


def theme() -> gr.themes.Base:
    """Fonts of the visitor's machine (nothing is fetched), and text with enough contrast."""
    plain = gr.themes.Default(
        primary_hue="indigo", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
    )
    names = ("body_text_color_subdued", "block_info_text_color", "block_title_text_color", "block_label_text_color")
    colors = dict.fromkeys(names, "*neutral_600") | {f"{name}_dark": "*neutral_300" for name in names}
    for part in ("background_fill", "background_fill_dark", "border_color", "border_color_dark"):
        colors[f"button_primary_{part}"] = "*primary_700"
    return plain.set(**colors, color_accent="*primary_600")


def launch_options(limits: Limits) -> dict[str, Any]:
    """The keywords of `Blocks.launch` that belong to this page."""
    return {
        "css": CSS,
        "theme": theme(),
        "ssr_mode": False,
        "max_file_size": limits.bytes,
        "footer_links": ["api"],
        "js": JS,
        "app_kwargs": {"middleware": [Middleware(ErrorAnswers), Middleware(BodyLimit, limits=limits)]},
        "state_session_capacity": 2 * limits.sessions,
        "run_history": False,
    }


def main() -> None:
    """Serve the page until it is interrupted."""
    prepare_threads()
    if "SPACE_ID" in os.environ:  # there, all visitors come through the proxies of the Hub, which alone are reached
        os.environ.setdefault("FORWARDED_ALLOW_IPS", "*")
    limits = read_limits(os.environ)
    keep_texts_out()
    app = build_app(limits)
    threading.Thread(target=app.handlers.prepare, daemon=True).start()  # so that the first visitor need not wait
    app.launch(**launch_options(limits))
