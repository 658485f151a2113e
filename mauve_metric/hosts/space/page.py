"""The page and its endpoint: parts, events and settings put together, and served."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import resources
from itertools import islice
from typing import Any, Literal, cast

import gradio as gr
from altair.utils.schemapi import disable_debug_mode
from gradio.data_classes import APIInfo, BlocksConfigDict
from gradio.events import Dependency, api
from starlette.middleware import Middleware

from mauve_metric.hosts.space.limits import Limits, client_of, read_limits, read_models
from mauve_metric.hosts.space.server.endpoints import Endpoints, Schema, add_descriptions
from mauve_metric.hosts.space.server.guards import BodyLimit, ErrorAnswers, keep_texts_out
from mauve_metric.hosts.space.session.examples import SECOND, example_files
from mauve_metric.hosts.space.session.queue import ONE_RUN
from mauve_metric.hosts.space.session.run import show_errors
from mauve_metric.hosts.space.session.scoring import Encoders, Featurizer
from mauve_metric.hosts.space.session.sessions import HOUR, NOT_HERE, Sessions
from mauve_metric.hosts.space.view import judging, layout
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.headline import MODEL_LINK
from mauve_metric.hosts.space.view.markup import CONTROL_LINK, in_controls
from mauve_metric.hosts.space.view.settings import PLAY, SETTINGS, play_ranges
from mauve_metric.hosts.space.view.showing import BUCKET_LINK, MEASURES, OF_MODEL, RESULT
from mauve_metric.report.charts.figure import DARK
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
_LINKS = {"BUCKET_LINK": BUCKET_LINK, "MODEL_LINK": MODEL_LINK, "CONTROL_LINK": CONTROL_LINK}
for _name, _link in _LINKS.items():
    _SCRIPTS = _SCRIPTS.replace(_name, _link)
JS = f"() => {{{_SCRIPTS}}}"
HEAD = f"<script>{{{HERE.joinpath('events.js').read_text(encoding='utf-8')}}}</script>"  # a block keeps its names
PLAY_RUNS: dict[str, Any] = {  # from kept features, in seconds
    "api_visibility": "private",
    "concurrency_id": "play",
    "concurrency_limit": 2,
}
QUICK: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 4}
# of all changes of texts: gradio begins the events of one queue in their order, those of several queues in any order
TEXTS: dict[str, Any] = {**QUICK, "concurrency_id": "texts", "concurrency_limit": 12}
SILENT: dict[str, Any] = {**QUICK, "queue": False}
ONCE: dict[str, Any] = {**QUICK, "trigger_mode": "once"}
RUN: dict[str, Any] = {"api_visibility": "private", "trigger_mode": "once", **ONE_RUN}

_WRITTEN = """(key, held, of_model, _, ...values) => [key, held, of_model, JSON.stringify(values), ...RANGES.map(
    ([low, high], at) => values[at] === null ? null : Math.min(Math.max(values[at], low), high))]"""
_BETWEEN_SWEEPS = 60  # seconds
# This tab of the browser keeps the key of the session, where a reload finds it, and whether the page held anything.
_KEPT = """() => { try { return ['key', 'held'].map(name => sessionStorage.getItem(`mauve_metric_${name}`) || ''); }
    catch { return ['', '']; } }"""
_KEEP_KEY = """key => { try { sessionStorage.setItem('mauve_metric_key', key); } catch {} }"""
_FOCUS = "() => { document.querySelector('#score [aria-current]')?.focus({preventScroll: true}); }"
_SHOW = "() => window.mauveShowResult()"
_DOWNLOAD = "() => window.mauveDownload()"
_SENT = "(...values) => window.mauveSent(values)"
_READING, _READ = "(...values) => window.mauveReading(1, values)", "() => window.mauveReading(-1, [])"
_UPLOADED = "(...values) => window.mauveUploaded(values)"
_ANSWERED = "files => window.mauveAnswered(files)"
_LINK = "query => window.mauveLink(query)"
_UNLINK = "link => window.mauveUnlink(link)"
_HUMAN = ("human_preview", "human_column")
# What every event sends besides: the key of the session, and what the page shows of a human set and of a model's.
_OF_PAGE = ("key", "human_preview", "model_1_name")


def _quick(answer: Callable[..., Any]) -> Callable[..., Any]:
    """A handler as Gradio calls it, which passes the request by the annotation."""

    def quick(request: gr.Request, *values: Any) -> Any:
        return answer(request, values)

    return quick


def _with_progress(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The same of one that shows its progress, which Gradio passes by the default."""

    def run(request: gr.Request, progress: gr.Progress = gr.Progress(), *values: Any) -> Any:  # noqa: B008
        return answer(request, values, progress)

    return run


class Wiring:
    """The handlers and the parts of one page.

    Args:
        app: with all its parts. handlers: of the page.
    """

    def __init__(self, app: gr.Blocks, handlers: Handlers) -> None:
        self.handlers = handlers
        self.parts: dict[str, Any] = {block.elem_id: block for block in app.blocks.values() if block.elem_id}
        self.runs_ended: list[Dependency] = []  # events after which a result may not be that of the inputs

    def _on(
        self,
        event: Callable[..., Dependency],
        function: Callable[..., Any],
        inputs: Sequence[str | Sequence[str]] = (),
        outputs: Iterable[str] = (),
        *,
        how: Mapping[str, Any] = QUICK,
        progress_on: str | None = None,
        lost: Literal["refuse", "warn", "skip"] = "refuse",
    ) -> Dependency:
        """Connect an event to a handler, which takes the inputs and the session, and may name the outputs it changes.

        Args:
            event: or the listener of several. function: the handler. inputs, outputs: names of parts, of which the
                handler takes several as one list.
            how: keywords of the event. progress_on: a part that shows the progress, which the handler takes last.
            lost: what is done where the server has lost the texts that the page shows: it is refused with the reason;
                done all the same, with the reason as a warning; or skipped.
        """
        names = [part for name in (_OF_PAGE, *inputs) for part in ([name] if isinstance(name, str) else name)]
        taken = [self.parts[name] for name in names]
        shown = [self.parts[name] for name in outputs]
        answer = partial(self._answer, function, inputs, lost)
        if progress_on is None:
            return event(_quick(answer), taken, shown, **how)
        return event(_with_progress(answer), taken, shown, show_progress_on=self.parts[progress_on], **how)

    def _answer(
        self,
        function: Callable[..., Any],
        inputs: Sequence[str | Sequence[str]],
        lost: str,
        request: gr.Request,
        values: tuple[Any, ...],
        *progress: gr.Progress,
    ) -> Any:
        """The answer of a handler for the values of inputs, by component; its errors are shown in the controls."""
        with show_errors(in_controls):
            (key, *shown), left = values[: len(_OF_PAGE)], iter(values[len(_OF_PAGE) :])
            sessions = self.handlers.sessions
            is_lost = key and any(shown) and sessions.present(request.session_hash) is None
            if is_lost and lost == "skip":
                return gr.skip()
            session = sessions.get(request.session_hash, client_of(request.client), key or "")
            if is_lost:
                said = f"{NOT_HERE}: {session.lost}"
                if lost == "refuse":
                    raise ValueError(said)
                gr.Warning(in_controls(said), duration=None)
            arguments = [next(left) if isinstance(name, str) else [*islice(left, len(name))] for name in inputs]
            return self._by_part(function(*arguments, session, *progress))

    def _by_part(self, returned: Any) -> Any:
        """The values of outputs that a handler names, by their components; those that it leaves out stay."""
        if not isinstance(returned, dict):
            return returned
        return {self.parts[name]: value for name, value in returned.items()} or gr.skip()

    def _edit(
        self,
        event: Callable[..., Dependency],
        function: Callable[..., Any],
        inputs: Sequence[str | Sequence[str]],
        outputs: Iterable[str],
        **more: Any,
    ) -> Dependency:
        """Connect an event to a handler that changes texts, see `_on`."""
        return self._on(event, partial(self.handlers.edit, function), inputs, [*outputs, "edition"], **more)

    def texts(self) -> None:
        """Connect files, columns, pasted texts and names."""
        handlers, parts, on = self.handlers, self.parts, self._edit
        take = partial(on, lost="warn")
        # a choice while an earlier one is read counts too, after that one
        each = {**TEXTS, "trigger_mode": "multiple"}
        file = partial(gr.on, [parts["human_file"].upload, parts["human_file"].clear])
        models = self.models()
        human = [*_HUMAN, "human_paste", "human_file"]
        read = take(file, handlers.take_file, ["human_file"], human, how={**each, "js": _READING})
        read.then(None, None, None, js=_READ, **each)
        on(parts["human_column"].input, handlers.take_column, ["human_column"], _HUMAN, how=each)
        take(parts["human_paste"].blur, handlers.take_paste, ["human_paste"], [*_HUMAN, "human_file"], how=each)
        box = parts["model_file"]
        answered = take(box.upload, handlers.add_files, ["model_file"], models, how={**each, "js": _SENT})
        answered.then(None, box, box, js=_ANSWERED, **each)
        take(parts["model_paste"].blur, handlers.add_paste, ["model_paste"], models, how=each)
        take(parts["paste_another"].click, handlers.paste_another, ["model_paste"], models, how=TEXTS)
        previews = [f"model_{number + 1}_preview" for number in range(handlers.limits.model_sets)]
        for number in range(handlers.limits.model_sets):
            name, column, remove = (f"model_{number + 1}_{part}" for part in ("name", "column", "remove"))
            named = partial(gr.on, [parts[name].blur, parts[name].submit])
            rename, choose, drop = (
                partial(handlers.change_place, partial(change, number))
                for change in (handlers.rename_model, handlers.choose_column, handlers.remove_model)
            )
            on(named, rename, [previews, name], models, how=each)
            on(parts[column].input, choose, [previews, column], models, how=each)
            on(parts[remove].click, drop, [previews], models, how=TEXTS)

    def models(self) -> list[str]:
        """The parts that a change of the models' sets changes, in the order of the handlers."""
        places = [f"model_{number}" for number in range(1, self.handlers.limits.model_sets + 1)]
        shown = [f"{prefix}{part}" for prefix in places for part in ("", "_name", "_column", "_preview")]
        return ["model_paste", "model_problem", "aligned", *shown]

    def runs(self) -> None:
        """Connect compare, the examples, stop and play."""
        handlers, parts = self.handlers, self.parts
        self._run(parts["compare"].click)
        seen = self._on(parts["see_example"].click, handlers.see_example, [], RESULT, how=ONCE, lost="warn")
        seen.success(None, None, None, js=_SHOW, **QUICK)
        ticked = parts["aligned_here"].input(lambda: True, None, parts["aligned"], **ONCE)
        self._run(ticked.success)
        everything = [*_HUMAN, "human_file", "human_paste", *self.models()]
        for number, label in enumerate(example_files()):
            take = partial(handlers.take_example, label)
            taken = self._edit(parts[f"example_{number}"].click, take, [], everything, how=TEXTS, lost="warn")
            self._run(taken.success)
        sample = self._edit(parts["compare_sample"].click, handlers.take_sample, [SETTINGS], everything, how=TEXTS)
        self._run(sample.success)
        choice = [parts["featurize_model_name"], parts["featurizers"]]
        self._run(parts["compare_quick"].click(lambda: [SECOND, []], None, choice, **ONCE).success)
        self._stop("stop", "status")
        # Gradio refuses a value out of range before a handler sees it: what was written goes beside what is allowed
        clip = _WRITTEN.replace("RANGES", str([list(ends) for ends in play_ranges(handlers.limits).values()]))
        for name in PLAY:
            moved = self._on(
                parts[name].input,
                lambda written, _, session: handlers.play(written, session),
                ["written", PLAY],
                [*RESULT, *PLAY],
                how={**PLAY_RUNS, "trigger_mode": "always_last", "show_progress_on": parts["score"], "js": clip},
            )
            self.runs_ended.append(moved)

    def measures(self) -> None:
        """Connect the buttons that compute the measures and stop that."""
        self._on(
            self.parts["compute_measures"].click,
            self.handlers.measure,
            ["groups"],
            MEASURES,
            how=RUN,
            progress_on="measures_status",
        )
        self._stop("stop_measures", "measures_status")

    def _stop(self, button: str, status: str) -> None:
        """Connect a button that stops the run."""
        how = {**QUICK, "concurrency_id": "stop", "concurrency_limit": None}
        self.parts[button].click(self.handlers.stop, None, self.parts[status], **how)

    def _run(self, event: Callable[..., Dependency]) -> None:
        """Connect a comparison; the page scrolls to its result, unless it was stopped."""
        taken = [("human_paste", "model_paste", "aligned", *SETTINGS), ("human_preview", "model_1_name")]
        how = {**RUN, "js": _UPLOADED}
        ended = self._on(event, self.handlers.compare, taken, RESULT, how=how, progress_on="status")
        ended.success(None, None, None, js=_SHOW, **QUICK)
        self.runs_ended.append(ended)

    def reading(self) -> None:
        """Connect the choices of model and bucket, the files to download, and the link to the result."""
        handlers, parts, on = self.handlers, self.parts, self._on
        picked = on(parts["picked"].change, handlers.pick_model, ["picked"], OF_MODEL)
        picked.success(None, None, None, js=_FOCUS, **QUICK)
        last = {**QUICK, "trigger_mode": "always_last"}  # also of a choice while the one before is looked up
        on(parts["bucket"].input, handlers.pick_bucket, ["bucket"], ["bucket_texts"], how=last)
        on(parts["clicked"].change, handlers.click_bucket, ["clicked"], OF_MODEL)
        made = on(parts["make_files"].click, handlers.make_files, [], ["files"], how=PLAY_RUNS)
        made.success(None, None, None, js=_DOWNLOAD, **QUICK)
        self._link("share", "shared_link", handlers.share)

    def _link(self, button: str, box: str, query: Callable[..., str], inputs: Sequence[Sequence[str]] = ()) -> None:
        """Connect a button that makes a link; the page writes the address before the query."""

        def made(*values: Any) -> dict[str, object]:
            return {box: gr.update(value=query(*values), visible=True)}

        shown = self._on(self.parts[button].click, made, inputs, [box])
        shown.success(None, self.parts[box], self.parts[box], js=_LINK, **QUICK)

    def staleness(self) -> None:
        """Connect the checks after each change: if the result belongs to the inputs, and how long a run takes."""
        inputs, parts = ["edition", ("aligned", *SETTINGS), "settings_link"], self.parts
        outputs = ["stale", "measures_stale", "run_limit", "compare_sample", "compare_quick", "settings_link"]
        outputs += [*_HUMAN, *self.models(), "edition"]
        # also of a change while the one before is checked; a sign of progress, even a hidden one, is text in a part
        how = {**SILENT, "trigger_mode": "always_last", "show_progress_on": parts["edition"]}
        controls = [parts[name] for name in ("aligned", *SETTINGS) if name not in PLAY]
        # the event `input` of a text box (gradio 6.31) is of keys that write: not of Backspace, nor of what is pasted
        changed = [part.change if isinstance(part, gr.Textbox) else part.input for part in controls]
        for event in (partial(gr.on, [*changed, parts["edition"].change]), *(run.then for run in self.runs_ended)):
            checked = self._on(event, self.handlers.checks, inputs, outputs, how=how, lost="skip")
            checked.success(None, parts["settings_link"], None, js=_UNLINK, **QUICK)

    def arrival(self, app: gr.Blocks) -> None:
        """Connect the settings in the address, the link to the settings, and results from files."""
        handlers, parts = self.handlers, self.parts

        def arrive(key: str, held: str, request: gr.Request) -> Any:
            opening = dict(request.query_params), key, held, request.session_hash
            with show_errors(in_controls):
                session = handlers.sessions.get(request.session_hash)
            return self._by_part(handlers.edit(lambda _: handlers.arrive(*opening), session))

        outputs = [*SETTINGS, *RESULT, *_HUMAN, *self.models(), "key", "edition"]
        arrived = app.load(arrive, [parts["key"], parts["held"]], [parts[name] for name in outputs], js=_KEPT, **TEXTS)
        arrived.success(None, parts["key"], None, js=_KEEP_KEY, **QUICK)
        self._link("make_link", "settings_link", lambda values, _: handlers.link(values), [SETTINGS])
        shown = self._on(parts["open_result"].upload, handlers.open_result, ["open_result"], RESULT, lost="warn")
        shown.success(None, None, None, js=_SHOW, **QUICK)
        shown.success(lambda: None, None, parts["open_result"], **SILENT)


class Page(gr.Blocks):
    """The page, what its buttons do, and its endpoints."""

    handlers: Handlers
    endpoints: Endpoints

    def get_api_info(self, all_endpoints: bool = False, page: str | None = None) -> APIInfo:
        """See `gr.Blocks.get_api_info`; with meanings, and the schema of the answers."""
        return cast(APIInfo, add_descriptions(cast(Schema, super().get_api_info(all_endpoints, page)), self.endpoints))

    def get_config_file(self) -> BlocksConfigDict:
        """See `gr.Blocks.get_config_file`; with one page: Gradio draws a bar of several despite `gr.Navbar`."""
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
        layout.top_part(handlers.example.offered)
        gr.HTML(elem_id="link_problems")
        layout.inputs_part(limits, models)
        layout.result_part(limits)
        with gr.Accordion("Use it from code", open=False, elem_id="code"):
            gr.Markdown(layout.api_text(models))
        wiring = Wiring(app, handlers)
        wiring.texts()
        wiring.runs()
        wiring.reading()
        wiring.measures()
        wiring.arrival(app)
        wiring.staleness()
        app.unload(handlers.leave)
        for name in app.endpoints.names:
            api(app.endpoints.function(name), api_name=name, **ONE_RUN)
    with app.route("Judge texts", judging.PATH, show_in_navbar=False):
        judging.JudgingPage(app, handlers.sessions, limits)
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
        "head": HEAD,
        "app_kwargs": {"middleware": [Middleware(ErrorAnswers), Middleware(BodyLimit, limits=limits)]},
        "state_session_capacity": 2 * limits.sessions,
        "run_history": False,
    }


def _sweep_for_ever(sessions: Sessions) -> None:
    """Keep the folder of uploads clean."""
    while True:
        with contextlib.suppress(OSError):  # a file that is deleted meanwhile
            sessions.sweep()
        time.sleep(_BETWEEN_SWEEPS)


def main(**options: Any) -> None:
    """Serve the page until it is interrupted; options: of `Blocks.launch`, None for gradio's own."""
    prepare_threads()
    if "SPACE_ID" in os.environ:  # there, all visitors come through the proxies of the Hub, which alone are reached
        os.environ.setdefault("FORWARDED_ALLOW_IPS", "*")
    # by default gradio counts its last 10 000 events after each event, which takes 36 ms of processor time
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "100")
    limits = read_limits(os.environ)
    keep_texts_out()
    disable_debug_mode()  # Altair's check of each part of a figure, which the tests do
    app = build_app(limits)
    threading.Thread(target=_sweep_for_ever, args=[app.handlers.sessions], daemon=True).start()
    threading.Thread(target=app.handlers.prepare, daemon=True).start()  # so that the first visitor need not wait
    app.launch(**launch_options(limits), **options)
