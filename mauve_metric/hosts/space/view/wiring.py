"""The events of the page: inputs, handlers and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component
from gradio.events import Dependency

from mauve_metric.hosts.space.session.examples import SECOND
from mauve_metric.hosts.space.session.turns import ONE_RUN
from mauve_metric.hosts.space.view.controls import PLAY, play_ranges
from mauve_metric.hosts.space.view.handlers import Handlers
from mauve_metric.hosts.space.view.layout import HumanInputs, ModelInputs, RunParts
from mauve_metric.hosts.space.view.result_part import LinkParts, ResultOutputs
from mauve_metric.hosts.space.view.showing import MEASURES, OF_MODEL

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

    settings: featurizer, `PLAY`, panel and other featurizers by their options. changes: events that may make a result
    stale.
    """

    handlers: Handlers
    human: HumanInputs
    models: ModelInputs
    settings: Mapping[str, Component]
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
            names = [models.problem, place.name]
            rename, column, remove = (
                _handler(partial(function, number))
                for function in (handlers.rename_model, handlers.choose_column, handlers.remove_model)
            )
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
            take = _handler(partial(handlers.take_example, label))
            taken = button.click(take, None, everything, trigger_mode="once", **QUICK)
            self._run(taken.success)

        def take_sample(request: gr.Request, *values: object) -> list[object]:
            return handlers.take_sample(values, request)

        settings = list(self.settings.values())
        sample = parts.sample.click(take_sample, settings, everything, trigger_mode="once", **QUICK)
        self._run(sample.success)
        choice = [settings[0], settings[-1]]  # the featurizer, and those beside it
        quick = parts.quick.click(lambda: [SECOND, []], None, choice, trigger_mode="once", **QUICK)
        self._run(quick.success)
        self._stop(parts.stop, parts.status)
        shown = result.named | dict(zip(PLAY, result.play, strict=True))
        play = _of_result(handlers, handlers.play, 1, shown)
        # Gradio refuses a value out of range before a handler sees it: what was written goes beside what is allowed
        written = gr.Textbox(visible=False)
        ranges = list(play_ranges(handlers.limits).values())
        for control in result.play:
            moved = control.input(
                play,
                [result.named["shows"], written, *result.play],
                [*shown.values()],
                api_visibility="private",
                trigger_mode="always_last",
                show_progress_on=result.named["score"],
                js=_WRITTEN.replace("RANGES", str([list(ends) for ends in ranges])),
                **PLAY_RUNS,
            )
            self.changes.append(moved)

    def measures(self) -> None:
        """Connect the buttons that compute the measures and stop that."""
        handlers, result = self.handlers, self.result
        chosen, compute, stop, status = result.measures

        def measure(
            request: gr.Request,
            shows: str,
            groups: list[str],
            progress: gr.Progress = gr.Progress(),  # noqa: B008
        ) -> list[object]:
            handlers.take_up(shows, request)
            return _in_order(MEASURES, handlers.measure(groups, request, progress))

        compute.click(
            measure,
            [result.named["shows"], chosen],
            [result.named[name] for name in MEASURES],
            api_visibility="private",
            trigger_mode="once",
            show_progress_on=status,
            **ONE_RUN,
        )
        self._stop(stop, status)

    def _stop(self, button: gr.Button, status: Block) -> None:
        """Connect a button that stops the run."""
        button.click(self.handlers.stop, None, status, concurrency_id="stop", **{**QUICK, "concurrency_limit": None})

    def _run(self, trigger: Callable[..., Dependency]) -> None:
        """Connect a comparison; the page scrolls to its result, unless it was stopped."""
        handlers, human, models, result = self.handlers, self.human, self.models, self.result
        held = [human.preview, models.places[0].name]

        def run(request: gr.Request, progress: gr.Progress = gr.Progress(), *values: Any) -> list[object]:  # noqa: B008
            return _in_order(result.named, handlers.compare(values[2:], request, progress, (values[0], values[1])))

        ended = trigger(
            run,
            [*held, human.paste, models.paste, models.aligned, *self.settings.values()],
            [*result.named.values()],
            api_visibility="private",
            trigger_mode="once",
            show_progress_on=result.named["status"],
            **ONE_RUN,
        )
        ended.success(None, None, None, js=_SHOW, **QUICK)
        self.changes.append(ended)

    def reading(self) -> None:
        """Connect the choices of model and bucket, and the files to download."""
        handlers, result = self.handlers, self.result
        picked, bucket, shows = (result.named[name] for name in ("picked", "bucket", "shows"))
        of_model = [result.named[name] for name in OF_MODEL]
        pick = _of_result(handlers, handlers.pick_model, 1, OF_MODEL)
        read = _of_result(handlers, handlers.pick_bucket, 1)
        click = _of_result(handlers, handlers.click_bucket, 1, ("picked", *OF_MODEL))
        picked.input(pick, [shows, picked], of_model, **QUICK)
        bucket.input(read, [shows, bucket], result.named["bucket_texts"], **QUICK)
        result.clicked.change(click, [shows, result.clicked], [picked, *of_model], **QUICK)
        make = _of_result(handlers, handlers.make_files, 0)
        share = _of_result(handlers, lambda request: gr.update(value=handlers.share(request), visible=True), 0)
        self._link(result.link, share, shows)
        result.make_files.click(make, shows, result.named["files"], api_visibility="private", **PLAY_RUNS)

    def _link(self, parts: LinkParts, function: Callable[..., dict[str, object]], inputs: Any) -> None:
        """Connect a button that makes a link; the page writes the address before the query."""
        button, box = parts
        button.click(function, inputs, box, **QUICK).success(None, box, box, js=_LINK, **QUICK)

    def staleness(self, panel: Sequence[Component], model: gr.Dropdown, run: RunParts) -> None:
        """Connect the checks after each change: if the result belongs to the inputs, and how long a run takes."""
        handlers, result = self.handlers, self.result

        def stale(request: gr.Request, shows: str, *values: object) -> list[object]:
            said = handlers.stale(values, shows, request)
            return [said, handlers.measures_stale(said, request), *handlers.forecast(values[1:], request)]

        inputs = [result.named["shows"], self.models.aligned, *self.settings.values()]
        outputs = [result.named["stale"], result.named["measures_stale"], *run.forecast]
        for change in self.changes:
            change.then(stale, inputs, outputs, **SILENT)
        events = [getattr(control, "input") for control in [model, *panel]]  # noqa: B009
        gr.on(events, stale, inputs, outputs, trigger_mode="always_last", **SILENT)

    def arrival(self, app: gr.Blocks, link: LinkParts, problems: gr.HTML, opened: gr.File) -> None:
        """Connect the settings in the address, the example, the link to the settings, and results from files."""
        handlers, named = self.handlers, self.result.named
        whole = {**self.settings, "problems": problems, **named}

        def make_link(*values: object) -> dict[str, object]:
            return gr.update(value=handlers.link(values), visible=True)

        app.load(_handler(handlers.arrive, whole), None, [*whole.values()], **QUICK)
        self._link(link, make_link, list(self.settings.values()))
        shown = opened.upload(_handler(handlers.open_result, named), opened, [*named.values()], **QUICK)
        shown.success(None, None, None, js=_SHOW, **QUICK)
        shown.success(lambda: None, None, opened, **SILENT)


def _in_order(names: Iterable[str], values: Mapping[str, object]) -> list[object]:
    """The values of outputs with these names; those that are not there stay as they are."""
    return [values.get(name, gr.skip()) for name in names]


def _handler(function: Callable[..., Any], names: Iterable[str] | None = None) -> Callable[..., Any]:
    """A handler whose request Gradio finds by its annotation; names: of the outputs whose values the function names."""

    def handler(request: gr.Request, *values: object) -> Any:
        found = function(*values, request)
        return found if names is None else _in_order(names, found)

    return handler


def _of_result(
    handlers: Handlers, function: Callable[..., Any], values: int, names: Iterable[str] | None = None
) -> Callable[..., Any]:
    """A handler of this many values of the result that the page shows, which may be the example."""

    def taken_up(shows: str, *given: Any) -> Any:
        handlers.take_up(shows, given[-1])
        return function(*given[:values], given[-1])

    return _handler(taken_up, names)
