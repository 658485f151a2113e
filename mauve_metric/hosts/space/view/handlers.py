"""The handlers of the page's buttons: the values of its inputs in, those of its outputs out."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import gradio as gr

from mauve_metric.hosts.space.limits import Limits, check_options, check_together, other_featurizers
from mauve_metric.hosts.space.session import shared_result as shared_link
from mauve_metric.hosts.space.session import takeaway
from mauve_metric.hosts.space.session.examples import (
    HUMAN,
    SECOND,
    Example,
    compare_sets,
    last_scored,
    reusable_features,
)
from mauve_metric.hosts.space.session.measuring import check_measures, measure_scored
from mauve_metric.hosts.space.session.opened_result import read_result
from mauve_metric.hosts.space.session.run import Cancelled, Run, show_errors
from mauve_metric.hosts.space.session.scoring import Encoders, Scored
from mauve_metric.hosts.space.session.sessions import Session, Shown, title_of
from mauve_metric.hosts.space.session.speeds import forecast, sample_step
from mauve_metric.hosts.space.session.turns import Turns
from mauve_metric.hosts.space.session.uploads import TextSet, every_text, read_paste, sampled
from mauve_metric.hosts.space.view import markup, notices
from mauve_metric.hosts.space.view.controls import PLAY, check_play, panel_options, play_options, play_values
from mauve_metric.hosts.space.view.settings_link import control_values, query_of, read_query
from mauve_metric.hosts.space.view.showing import (
    bucket_html,
    fits,
    measures_values,
    of_model_values,
    result_values,
    shown_bucket,
)
from mauve_metric.hosts.space.view.text_handlers import TextHandlers

Values = dict[str, object]  # of outputs by their names; those that are not there stay as they are
_WAIT = 15.0  # seconds that a run waits for one that was just stopped
_LOOK = 0.05  # seconds between two checks whether a stopped run has ended
_BUSY = "a run of this page is running already: wait for it, or stop it"
EXAMPLE = "example"  # what `shows` holds while the example is on the page
_FIRST = f"compare two sets first: {notices.GONE}"


class Handlers(TextHandlers):
    """The functions of one page.

    Args:
        limits: of the server.
        models: names of the featurizers that a visitor may choose.
        encoders: those in memory.
    """

    def __init__(self, limits: Limits, models: Sequence[str], encoders: Encoders) -> None:
        super().__init__(limits)
        self.turns = Turns(limits)
        self.featurizers, self.encoders = list(models), encoders
        self.example = Example(limits, self.featurizers, encoders)
        self._arrived: dict[str, object] | None = None

    # --- the page opens -------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Score the example, and measure the preset featurizer in its turn."""
        if self.example.shown() is not None:
            with self.turns.turn("", Run()):
                self.example.warm_up()

    def arrive(self, query: Mapping[str, str]) -> Values:
        """The values of the controls that the address sets, the problems in it, and the example."""
        with show_errors(markup.in_controls):
            found, problems = read_query(query, self.featurizers, self.limits)
            said = "".join(markup.problem(markup.escape(problem)) for problem in problems)
            if shared_link.NAME in query:
                try:
                    shared = shared_link.read_shared(query[shared_link.NAME], self.featurizers)
                except ValueError as error:
                    return {"link_problems": said + markup.problem(markup.escape(error))}
                return {"link_problems": said, "about": notices.SHARED, "score": markup.shared_headline(shared)}
            controls = control_values(found, self.featurizers) if found else {}
            shown = self.example.shown()
            if shown is None:
                return controls | {"link_problems": said}
            if self._arrived is None:  # the same for every visitor
                self._arrived = result_values(shown, self.limits.points) | {"shows": EXAMPLE, "status": ""}
            stale = {"stale": notices.stale(example=True)} if found else {}
            return controls | {"link_problems": said} | copy.deepcopy(self._arrived) | stale  # gradio changes them

    def share(self, session: Session) -> str:
        """The query of an address that holds the first screen of the shown result of one model."""
        with show_errors(markup.in_controls):
            scored = _shown_result(session).scored
            if len(scored.results) > 1:
                raise ValueError("a link holds the result of one model: compare one, or send the files")
            (result,) = scored.results.values()
            return urlencode({shared_link.NAME: shared_link.shared_value(result, self.featurizers)}, safe=",;")

    def take_up(self, shows: str | None, session: Session) -> None:
        """Make the example the result of this visitor's session, if the page shows it."""
        if shows == EXAMPLE and session.shown is None:
            session.shown = self.example.shown()

    def link(self, values: Sequence[object]) -> str:
        """The query of an address with these settings: featurizer, `PLAY` and the panel's options."""
        with show_errors(markup.in_controls):
            options = _options(values)
            check_play(options, self.limits)
            return query_of(options, self.featurizers[0])

    def open_result(self, path: str | None, session: Session) -> Values:
        """Show an uploaded JSON result, without texts."""
        if path is None:
            return {}
        try:
            with show_errors(markup.in_controls), self._alone(session):
                opened = read_result(Path(path), self.limits)
                name = Path(path).name
                human = TextSet(HUMAN, name, [])
                models = {model: TextSet(title_of(model), name, []) for model in opened.results}
                shown = Shown(human, models, {}, opened, opened.best_first[-1])
                values = result_values(shown, self.limits.points) | {"about": notices.about_opened(name)}
                session.shown = shown
                return values
        finally:
            self.sessions.release(Path(path))

    def stale(self, values: Sequence[object], shows: str | None, session: Session) -> str:
        """Notice shown when the inputs changed since the result was computed, else ""."""
        shown = self.example.shown() if shows == EXAMPLE and session.shown is None else session.shown
        if shown is None or not shown.options:
            return ""
        same = shown.options == _options(values[1:])
        if shown.example:
            return "" if same and not session.sets() else notices.stale(example=True)
        same = same and _texts(session.human, session.models) == _texts(shown.human, shown.models)
        aligned = bool(values[0])
        same = same and isinstance(shown.scored, Scored) and shown.scored.aligned == aligned
        return "" if same else notices.stale(example=False)

    def measures_stale(self, inputs: str, session: Session) -> str:
        """The notice about the measures; inputs: the one that `stale` gave about the result."""
        if (shown := session.shown) is None:
            return ""
        return notices.measures_stale(shown.measured is not None, bool(inputs), fits(shown))

    def forecast(self, values: Sequence[object], session: Session) -> list[object]:
        """The time of a run and, where it is too long, the buttons of a sample and of the fast featurizer.

        values: of featurizer, `PLAY` and panel.
        """
        limit, sets = self.limits.seconds, session.sets()
        options, quick = _options(values), {"featurize_model_name": SECOND, "featurizers": ()}
        ready = session.human is not None and bool(session.models)
        seconds = self._seconds(session, options) if ready else None
        step = sample_step(seconds or 0.0, limit, min((len(side.texts) for side in sets), default=0))
        faster = None
        if seconds is not None and seconds > limit and SECOND in self.featurizers:
            faster = self._seconds(session, options | quick)
        return [
            notices.run_limit(forecast(seconds, limit)),
            gr.update(value=f"Compare {every_text(step)}", visible=step > 1),
            gr.update(value=f"Compare with {SECOND} alone", visible=faster is not None and faster <= limit),
        ]

    def _seconds(self, session: Session, options: Mapping[str, object]) -> float | None:
        """The time of a run with the texts on the page, about; None if it is not known or the options are invalid."""
        sets = session.sets()
        new: dict[Hashable, list[list[str]]] = {}
        try:
            for featurizer in (str(options["featurize_model_name"]), *other_featurizers(options)):
                config = self.encoders.config({**options, "featurize_model_name": featurizer})
                kept = reusable_features(last_scored(session.shown, config), sets, config)
                known = kept is not None and kept.fits([side.texts for side in sets], config)
                new[config.featurize_model_name] = [
                    side.texts
                    for side in sets
                    if not known and (kept is None or kept.known(side.texts, config) is None)
                ]
        except (ValueError, TypeError):  # the run refuses them
            return None
        return self.encoders.speeds.seconds(new, sum(len(side.texts) for side in sets))

    def take_sample(self, values: Sequence[object], session: Session) -> list[object]:
        """Keep the sample of each set that `forecast` offered: the outputs of both sides."""
        with show_errors(markup.in_controls), session.editing:
            fewest = min((len(side.texts) for side in session.sets()), default=0)
            step = sample_step(self._seconds(session, _options(values)) or 0.0, self.limits.seconds, fewest)
            if session.human is not None and step > 1:
                self._set_human(session, sampled(session.human, step))
                for name, side in session.models.items():
                    session.models.put(name, sampled(side, step))
                session.pasted = None
        return [*self._human_shown(session), gr.skip(), "", *self._models_shown(session, [], paste="")]

    # --- scores ---------------------------------------------------------------------------------------------------

    def compare(
        self,
        values: Sequence[object],
        session: Session,
        progress: gr.Progress,
        held: tuple[object, object] = ("", ""),
    ) -> Values:
        """Handle the compare button: pasted texts, alignment, featurizer, `PLAY` and panel in, the result out.

        Args:
            values: of the inputs.
            session: of the visitor. progress: receives the progress.
            held: what the page shows of a human set and of a model's, "" for nothing.
        """
        pasted, aligned = [str(text or "") for text in values[:2]], bool(values[2])

        def work(run: Run) -> Values:
            with self._alone(session):
                options = _options(values[3:])
                check_play(options, self.limits)
                sets = self._take_sets(session, pasted[0], pasted[1], held)
                self._score(session, sets, options, aligned, run)
                return result_values(_shown_result(session), self.limits.points)

        return self._run(session, progress, work)

    def measure(self, groups: Sequence[str], session: Session, progress: gr.Progress) -> Values:
        """Handle the button of the measures: names of groups in, the outputs of `MEASURES` out."""

        def work(run: Run) -> Values:
            scored = _with_texts(_shown_result(session))
            measured = measure_scored(scored, check_measures(["score", *(groups or [])]), run)
            with self._alone(session):
                now = _shown_result(session)
                if _with_texts(now).embedded is not scored.embedded:
                    raise ValueError("the measures are of texts that are not shown any more: compute them again")
                now.measured = measured
                return measures_values(now) | {"measures_status": notices.measured(measured.description)}

        return self._run(session, progress, work)

    def replay(self, values: Sequence[object], session: Session) -> Values:
        """Recompute the result with other values of `PLAY`, from the stored features."""
        with show_errors(markup.in_controls), self._alone(session):
            shown, changed = _shown_result(session), play_options(list(values))
            aligned = _with_texts(shown).aligned
            check_play(changed, self.limits)
            sets = shown.human, shown.models
            self._score(session, sets, shown.options | changed, aligned, Run.within(self.limits))
            if session.shown is not None:
                session.shown.example, session.shown.measured = shown.example, shown.measured
            return result_values(_shown_result(session), self.limits.points)

    def play(self, written: str, session: Session) -> Values:
        """Call `replay`; on an error return its message and the values of `PLAY` shown before.

        Args:
            written: the values as JSON, as the visitor wrote them.
            session: of the visitor.
        """
        try:
            return self.replay(json.loads(written), session)
        except gr.Error as error:
            shown = session.shown
            kept = {} if shown is None or not shown.options else play_values(shown.options)
            still = "" if shown is None else "; the figures are still those of the values before"
            return {"play_note": markup.problem(f"{error.message}{still}"), **kept}

    def _take_sets(
        self, session: Session, human_pasted: str, model_pasted: str, held: tuple[object, object]
    ) -> tuple[TextSet, dict[str, TextSet]]:
        """The sets of the page, the paste boxes included; held: the previews that the page shows of them."""
        with session.editing:
            if human_pasted.strip():
                self._set_human(session, read_paste(HUMAN, human_pasted, self.limits))
            if model_pasted.strip():
                self._paste_model(session, model_pasted)
            if session.human is None:
                if held[0]:
                    raise ValueError(f"{HUMAN} is not here any more: {notices.GONE}")
                raise ValueError(f"{HUMAN}: choose a file, paste texts or take an example first")
            if not session.models:
                if held[1]:
                    raise ValueError(f"the model's texts are not here any more: {notices.GONE}")
                raise ValueError("the model's texts: choose a file, paste texts or take an example first")
            check_together([side.texts for side in session.sets()], self.limits)
            return session.human, dict(session.models)

    def _score(
        self,
        session: Session,
        sets: tuple[TextSet, dict[str, TextSet]],
        options: dict[str, object],
        aligned: bool,
        run: Run,
    ) -> None:
        """Put the result of sets into the session."""
        check_options(options, self.featurizers, self.limits)
        session.shown = compare_sets(*sets, options, self.encoders, run, aligned=aligned, last=session.shown)

    # --- runs -----------------------------------------------------------------------------------------------------

    def _run(self, session: Session, progress: gr.Progress, work: Callable[[Run], Values]) -> Values:
        """Do the work in its turn and return its outputs; none if it was stopped.

        Args:
            session: of the visitor. progress: receives the progress.
            work: the run.
        """
        if session.run is not None and not session.run.stopped:
            raise gr.Error(_BUSY, print_exception=False)
        run = session.run = Run.within(self.limits, lambda share, words: progress(share, desc=words))
        try:
            with show_errors(markup.in_controls), self.turns.turn(session.name, run):
                return work(run)
        except Cancelled:
            run.was_stopped = True
            return {}
        finally:
            if session.run is run:
                session.run = None

    async def stop(self, request: gr.Request) -> AsyncIterator[str]:
        """Stop the run of this page, if there is one, and report its end."""
        session = self.sessions.get(request.session_hash)
        run = session.run
        if run is None:
            yield notices.NOTHING_RUNS
            return
        run.cancel()
        yield notices.STOPPING
        while session.run is run:
            await asyncio.sleep(_LOOK)
        if run.was_stopped:
            yield notices.STOPPED

    @contextmanager
    def _alone(self, session: Session) -> Iterator[None]:
        """Hold the lock that allows one computation of a session at a time."""
        if not session.lock.acquire(timeout=_WAIT):
            raise ValueError(_BUSY)
        try:
            yield
        finally:
            session.lock.release()

    # --- what is shown --------------------------------------------------------------------------------------------

    def pick_model(self, name: str | None, session: Session) -> Values:
        """Show another model's buckets and scores."""
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            if name not in shown.models:
                raise ValueError(f"there is no model set “{str(name)[:60]}” in this comparison")
            shown.picked = name
            return of_model_values(shown)

    def pick_bucket(self, bucket: int | None, session: Session) -> object:
        """Show the texts of a bucket, both sides; skip if the choice is empty or unchanged."""
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            if bucket is None or bucket == shown_bucket(shown):
                return gr.skip()
            shown.bucket = bucket
            return bucket_html(shown, bucket)

    def click_bucket(self, clicked: str, session: Session) -> Values:
        """Handle a click on a bar or a text in a figure: return the picked model and its outputs that change.

        Args:
            clicked: begins with the number of a bucket, and of a text's set behind a hyphen: 0 for the human texts,
                then the models in the order of the ranking.
            session: of the visitor.
        """
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            found = re.match(r"(\d{1,6})(?:-(\d{1,3}))?\b", clicked, re.ASCII)
            number, which = (int(part or 0) for part in found.groups()) if found else (-1, 0)
            names = shown.scored.best_first
            changed = 0 < which <= len(names) and names[which - 1] != shown.picked
            if changed:
                shown.picked = names[which - 1]
            values = of_model_values(shown, number)
            of_bucket = {"picked": shown.picked} | {name: values[name] for name in ("bucket", "bucket_texts")}
            return values | of_bucket if changed else of_bucket

    def make_files(self, session: Session) -> Values:
        """Write result, figures, signature and report to files."""
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            scored = _with_texts(shown)
            description = shown.measured.description if shown.measured is not None and fits(shown) else None
            folder = session.new_folder()
            paths = takeaway.write_files(scored, folder, description)
            return {"files": gr.update(value=paths, visible=True)}

    def leave(self, request: gr.Request) -> None:
        """Delete the session of a closed page."""
        self.sessions.drop(request.session_hash)


def _shown_result(session: Session) -> Shown:
    if session.shown is None:
        raise ValueError(_FIRST)
    return session.shown


def _with_texts(shown: Shown) -> Scored:
    """The scores of a shown result; `ValueError` for one from a file."""
    if not isinstance(shown.scored, Scored):
        raise ValueError(_FIRST)
    return shown.scored


def _options(values: Sequence[object]) -> dict[str, object]:
    """Featurizer, `PLAY`, the panel's options and, if there are any, other featurizers, as the library's."""
    featurizer, play, panel = values[0], values[1 : 1 + len(PLAY)], values[1 + len(PLAY) : -1]
    options = {"featurize_model_name": featurizer, **play_options(list(play)), **panel_options(list(panel))}
    others = [name for name in other_featurizers({"featurizers": values[-1]}) if name != featurizer]
    return options | ({"featurizers": tuple(others)} if others else {})


def _texts(human: TextSet | None, models: Mapping[str, TextSet]) -> tuple[list[str], dict[str, list[str]], list[str]]:
    """The texts and names on which a result depends, in their order."""
    return [] if human is None else human.texts, {name: side.texts for name, side in models.items()}, list(models)
