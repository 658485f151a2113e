"""The events of the page: inputs, handlers and outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component
from gradio.events import Dependency

from mauve_metric.hosts.space.session.examples import SECOND
from mauve_metric.hosts.space.session.turns import ONE_RUN
from mauve_metric.hosts.space.view.away_part import LinkParts
from mauve_metric.hosts.space.view.controls import play_ranges
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.layout import HumanInputs, ModelInputs, ResultOutputs, RunParts

PLAY_RUNS: dict[str, Any] = {"concurrency_id": "play", "concurrency_limit": 2}  # from kept features, in seconds
QUICK: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 4}
SILENT: dict[str, Any] = {**QUICK, "queue": False}

_WRITTEN = """(shows, _, ...values) => [shows, JSON.stringify(values), ...RANGES.map(
    ([low, high], at) => values[at] === null ? null : Math.min(Math.max(values[at], low), high))]"""
_SHOW = "() => window.mauveShowResult()"
_LINK = "query => window.mauveLink(query)"


@dataclass
class Wiring:
    """The handlers and the parts of one page.

    settings: featurizer, `PLAY` and panel. changes: events that may make a result stale.
    """

    handlers: Handlers
    human: HumanInputs
    models: ModelInputs
    settings: Sequence[Component]
    result: ResultOutputs
    changes: list[Dependency] = field(default_factory=list)

    def texts(self) -> None:
        """Connect files, columns, pasted texts and names."""
        handlers, human, models = self.handlers, self.human, self.models
        shown = [human.preview, human.column]
        file = [human.file.upload, human.file.clear]
        self.changes += [
            gr.on(file, handlers.take_file, human.file, [*shown, human.paste, human.file], **QUICK),
            human.column.input(handlers.take_column, human.column, human.preview, **QUICK),
            human.paste.blur(handlers.take_paste, human.paste, [*shown, human.file], **QUICK),
            models.file.upload(handlers.add_files, models.file, models.all, **QUICK),
            models.paste.blur(handlers.add_paste, models.paste, models.all, **QUICK),
            models.another.click(handlers.paste_another, models.paste, models.all, **QUICK),
            models.aligned.input(None, None, None, **QUICK),
        ]
        for number, place in enumerate(models.places):
            rename = _with_request(handlers.rename_model, number)
            names = [models.problem, place.name]
            column = _with_request(handlers.choose_column, number)
            remove = _request_only(handlers.remove_model, number)
            self.changes += [
                gr.on([place.name.blur, place.name.submit], rename, place.name, names, **QUICK),
                place.column.input(column, place.column, models.all, **QUICK),
                place.remove.click(remove, None, models.all, **QUICK),
            ]

    def runs(self, parts: RunParts, examples: Mapping[str, gr.Button]) -> None:
        """Connect compare, the examples, stop and play."""
        handlers, human, models, result = self.handlers, self.human, self.models, self.result
        self._run(parts.compare.click)
        everything = [human.preview, human.column, human.file, human.paste, *models.all]
        for label, button in examples.items():
            take = _request_only(handlers.take_example, label)
            taken = button.click(take, None, everything, trigger_mode="once", **QUICK)
            self._run(taken.success)

        def take_sample(request: gr.Request, *values: object) -> list[object]:
            return handlers.take_sample(values, request)

        sample = parts.sample.click(take_sample, [*self.settings], everything, trigger_mode="once", **QUICK)
        self._run(sample.success)
        choice = [self.settings[0], self.settings[-1]]  # the featurizer, and those beside it
        quick = parts.quick.click(lambda: [SECOND, []], None, choice, trigger_mode="once", **QUICK)
        self._run(quick.success)
        self._stop(parts.stop, parts.status)
        play = _of_result(handlers, handlers.play, 1)
        # Gradio refuses a value out of range before a handler sees it: what was written goes beside what is allowed
        written = gr.Textbox(visible=False)
        ranges = list(play_ranges(handlers.limits).values())
        for control in result.play:
            moved = control.input(
                play,
                [result.shows, written, *result.play],
                [*result.all, *result.play],
                api_visibility="private",
                trigger_mode="always_last",
                show_progress_on=result.score,
                js=_WRITTEN.replace("RANGES", str([list(ends) for ends in ranges])),
                **PLAY_RUNS,
            )
            self.changes.append(moved)

    def measures(self) -> None:
        """Connect the buttons that compute the measures and stop that."""
        handlers, result, inputs = self.handlers, self.result, self.result.measures

        def measure(
            request: gr.Request,
            shows: str,
            groups: list[str],
            progress: gr.Progress = gr.Progress(),  # noqa: B008
        ) -> list[object]:
            handlers.take_up(shows, request)
            return handlers.measure(groups, request, progress)

        inputs.compute.click(
            measure,
            [result.shows, inputs.groups],
            result.of_measures,
            api_visibility="private",
            trigger_mode="once",
            show_progress_on=inputs.status,
            **ONE_RUN,
        )
        self._stop(inputs.stop, inputs.status)

    def _stop(self, button: gr.Button, status: Block) -> None:
        """Connect a button that stops the run."""
        button.click(self.handlers.stop, None, status, concurrency_id="stop", **{**QUICK, "concurrency_limit": None})

    def _run(self, trigger: Callable[..., Dependency]) -> None:
        """Connect a comparison; the page scrolls to its result, unless it was stopped."""
        handlers, human, models, result = self.handlers, self.human, self.models, self.result
        held = [human.preview, models.places[0].name]

        def run(request: gr.Request, progress: gr.Progress = gr.Progress(), *values: Any) -> list[object]:  # noqa: B008
            return handlers.compare(values[2:], request, progress, (values[0], values[1]))

        ended = trigger(
            run,
            [*held, human.paste, models.paste, models.aligned, *self.settings],
            result.all,
            api_visibility="private",
            trigger_mode="once",
            show_progress_on=result.status,
            **ONE_RUN,
        )
        ended.success(None, None, None, js=_SHOW, **QUICK)
        self.changes.append(ended)

    def reading(self) -> None:
        """Connect the choices of model and bucket, and the files to download."""
        handlers, result = self.handlers, self.result
        picked, bucket, clicked, shows = result.picked, result.bucket, result.clicked, result.shows
        pick, read = _of_result(handlers, handlers.pick_model, 1), _of_result(handlers, handlers.pick_bucket, 1)
        picked.input(pick, [shows, picked], result.of_model, **QUICK)
        bucket.input(read, [shows, bucket], result.named["bucket_texts"], **QUICK)
        click = _of_result(handlers, handlers.click_bucket, 1)
        clicked.change(click, [shows, clicked], [picked, *result.of_model], **QUICK)
        make = _of_result(handlers, handlers.make_files, 0)
        share = _of_result(handlers, lambda request: gr.update(value=handlers.share(request), visible=True), 0)
        shared = result.link.make.click(share, shows, result.link.link, **QUICK)
        shared.success(None, result.link.link, result.link.link, js=_LINK, **QUICK)
        result.make_files.click(make, shows, result.named["files"], api_visibility="private", **PLAY_RUNS)

    def staleness(self, panel: Sequence[Component], model: gr.Dropdown, run: RunParts) -> None:
        """Connect the checks after each change: if the result belongs to the inputs, and how long a run takes."""
        handlers, result = self.handlers, self.result

        def stale(request: gr.Request, shows: str, *values: object) -> list[object]:
            said = handlers.stale(values, shows, request)
            return [said, handlers.measures_stale(said, request), *handlers.forecast(values[1:], request)]

        inputs = [result.shows, self.models.aligned, *self.settings]
        outputs = [result.named["stale"], result.named["measures_stale"], *run.forecast]
        for change in self.changes:
            change.then(stale, inputs, outputs, **SILENT)
        events = [getattr(control, "input") for control in [model, *panel]]  # noqa: B009
        gr.on(events, stale, inputs, outputs, trigger_mode="always_last", **SILENT)

    def arrival(self, app: gr.Blocks, link: LinkParts, problems: gr.HTML, opened: gr.File) -> None:
        """Connect the settings in the address, the example, the link to the settings, and results from files."""
        handlers, result = self.handlers, self.result
        app.load(handlers.arrive, None, [*self.settings, problems, *result.all], **QUICK)

        def make_link(*values: object) -> dict[str, object]:
            return gr.update(value=handlers.link(values), visible=True)

        made = link.make.click(make_link, [*self.settings], link.link, **QUICK)
        made.success(None, link.link, link.link, js=_LINK, **QUICK)
        shown = opened.upload(handlers.open_result, opened, result.all, **QUICK)
        shown.success(None, None, None, js=_SHOW, **QUICK)
        shown.success(lambda: None, None, opened, **SILENT)


def _with_request(function: Callable[..., list[object]], first: object) -> Callable[..., list[object]]:
    """A handler of one value, with a fixed first argument; Gradio finds the request by its annotation."""

    def handler(value: str, request: gr.Request) -> list[object]:
        return function(first, value, request)

    return handler


def _request_only(function: Callable[..., list[object]], first: object) -> Callable[..., list[object]]:
    """A handler without values, with a fixed first argument."""

    def handler(request: gr.Request) -> list[object]:
        return function(first, request)

    return handler


def _of_result(handlers: Handlers, function: Callable[..., Any], values: int) -> Callable[..., Any]:
    """A handler of this many values of the result that the page shows, which may be the example."""

    def handler(request: gr.Request, shows: str, *given: object) -> Any:
        handlers.take_up(shows, request)
        return function(*given[:values], request)

    return handler
