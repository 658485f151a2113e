"""The handlers of the page's buttons: the values of its inputs in, those of its outputs out."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import gradio as gr

from mauve_metric.hosts.space.limits import Limits, check_options, check_together
from mauve_metric.hosts.space.session.examples import HUMAN, SECOND, Example, compare_sets, planned
from mauve_metric.hosts.space.session.measuring import check_measures, measure_scored
from mauve_metric.hosts.space.session.opened_result import Opened, read_result
from mauve_metric.hosts.space.session.queue import Turns
from mauve_metric.hosts.space.session.run import Cancelled, Run, forecast, sample_step, show_errors
from mauve_metric.hosts.space.session.scoring import Encoders, Scored, job_of, read
from mauve_metric.hosts.space.session.sessions import CUT_OFF, NOT_HERE, Session, Shown, title_of
from mauve_metric.hosts.space.session.uploads import TextSet, every_text, read_paste, sampled
from mauve_metric.hosts.space.view import markup, settings, takeaway
from mauve_metric.hosts.space.view.headline import shared_html
from mauve_metric.hosts.space.view.settings import PLAY, all_options, check_play, options_of, play_values
from mauve_metric.hosts.space.view.showing import (
    bucket_html,
    fits,
    measures_notice,
    measures_values,
    of_model_values,
    result_values,
)
from mauve_metric.hosts.space.view.text_handlers import TextHandlers, Values
from mauve_metric.options import RunOptions

_WAIT = 15.0  # seconds that a run waits for one that was just stopped
_WARM_TEXTS = 16  # of each set, with which the speed of the preset featurizer is measured
_LOOK = 0.05  # seconds between two checks whether a stopped run has ended
_TRIES = 20  # checks whether a run begins, of which "Compare" was pressed just before "Stop"
_BUSY = "a run of this page is running already: wait for it, or stop it"
_FIRST = "compare two sets first"


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

    # --- the page opens -------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Score the example, and measure the preset featurizer in its turn; give way to the runs of visitors."""
        if (shown := self.example.shown(Run(self.turns.give_way))) is not None:
            self.turns.give_way()
            texts = {side.title: side.texts[:_WARM_TEXTS] for side in (shown.human, *shown.models.values())}
            with self.turns.turn("", Run()):
                read(texts, [*shown.models], job_of(self.encoders.config(shown.options), self.encoders), Run())

    def arrive(self, query: Mapping[str, str], key: str, held: str, name: str | None) -> Values:
        """The texts and the result of before, the controls that the address sets, the result in it, and the problems.

        Args:
            query: of the address. key: of an earlier session of this page, "" for none. held: "" if the page showed
                nothing of the visitor's own when it was left. name: of the new session.
        """
        with show_errors(markup.in_controls):
            options, problems = settings.read_query(query, self.featurizers, self.limits)
            session = self.sessions.resume(name, key)
            values: Values = {"key": session.key}
            if session.sets() or session.shown is not None:
                values |= self._as_before(session)
            elif held:
                problems.append(f"{NOT_HERE}: {session.lost}")
            if settings.SHARED in query:
                try:
                    shared = settings.read_shared(query[settings.SHARED], self.featurizers)
                    shared = shared._replace(
                        reference_name=str(options.get("reference_name", RunOptions.reference_name))
                    )
                    values |= {"about": markup.notice("shared"), "score": shared_html(shared), "status": ""}
                    values |= dict.fromkeys(("result", "aligned_here"), gr.update(visible=False))  # of another result
                except ValueError as error:
                    problems.append(str(error))
            elif options:
                values |= settings.control_values(options, self.featurizers)
            if session.was_cut:
                values["status"], session.was_cut = markup.problem(CUT_OFF), False
            return values | {"link_problems": "".join(markup.problem(markup.escape(said)) for said in problems)}

    def _as_before(self, session: Session) -> Values:
        """The texts and the result of a session, and the settings of the result."""
        values, shown = self._human_shown(session) | self._models_shown(session), session.shown
        if shown is not None:
            values |= result_values(shown, self.limits.points)
            if shown.options:
                values |= settings.control_values(shown.options, self.featurizers)
            if isinstance(shown.scored, Scored):
                values["aligned"] = shown.scored.aligned
            elif isinstance(shown.scored, Opened):
                values["about"] = markup.notice("about_opened", name=shown.human.name, written=shown.scored.written)
        return values

    def see_example(self, session: Session) -> Values:
        """Show the result of the example."""
        with show_errors(markup.in_controls), self._alone(session):
            shown = self.example.shown()
            if shown is None:
                raise ValueError("the example cannot be shown here: compare texts of your own")
            return self._scored(session, shown)

    def share(self, session: Session) -> str:
        """The query of an address that holds the first screen of the shown result of one model."""
        with show_errors(markup.in_controls):
            scored = _shown_result(session).scored
            if len(scored.results) > 1:
                raise ValueError("a link holds the result of one model: compare one, or send the files")
            (result,) = scored.results.values()
            entries = {settings.SHARED: settings.shared_value(result, self.featurizers)}
            if result.reference_name != RunOptions.reference_name:
                entries["reference_name"] = result.reference_name
            return urlencode(entries, safe=",;")

    def link(self, values: Sequence[object]) -> str:
        """The query of an address with these settings: featurizer, `PLAY` and the panel's options."""
        with show_errors(markup.in_controls):
            options = all_options(values)
            check_play(options, self.limits)
            return settings.query_of(options, self.featurizers[0])

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
                shown = Shown(human, models, {}, opened, opened.best_first[0])
                about = markup.notice("about_opened", name=name, written=opened.written)
                return self._scored(session, shown) | {"about": about}
        finally:
            self.sessions.release_read(path)

    def checks(self, edition: str, values: Sequence[object], link: str | None, session: Session) -> Values:
        """Handle a change of an input: whether result, measures and link shown are of the inputs, and the forecast.

        edition: of the texts that the page shows, "" before the first. Answers to two changes may come in the other
            order, since their requests are answered beside each other. link: to the settings, empty for none.
        """
        said = self.stale(values, session)
        measures = measures_notice(session.shown, bool(said))
        shown = {"stale": said, "measures_stale": measures, **self.forecast(values[1:], session)}
        if link:
            query = settings.query_of(all_options(values[1:]), self.featurizers[0])
            if query not in (link, link.partition("?")[2]):
                shown["settings_link"] = gr.update(value="", visible=False)
        return shown | ({} if edition in ("", str(session.edition)) else self.texts_again(session))

    def stale(self, values: Sequence[object], session: Session) -> str:
        """Notice shown when the inputs changed since the result was computed, else ""."""
        shown = session.shown
        if shown is None or not shown.options:
            return ""
        if shown.example:
            same = not session.sets()
        else:
            aligned = isinstance(shown.scored, Scored) and shown.scored.aligned
            same = _texts(session) == _texts(shown) and aligned == bool(values[0])
        return (
            "" if same and shown.options == all_options(values[1:]) else markup.notice("stale", example=shown.example)
        )

    def forecast(self, values: Sequence[object], session: Session) -> Values:
        """The time of a run and, where it is too long, the buttons of a sample and of the fast featurizer.

        values: of featurizer, `PLAY` and panel.
        """
        limit, sets = self.limits.seconds, session.sets()
        options, quick = all_options(values), {"featurize_model_name": SECOND, "featurizers": ()}
        ready = session.human is not None and bool(session.models)
        seconds = self._seconds(session, options) if ready else None
        step = sample_step(seconds or 0.0, limit, min((len(side.texts) for side in sets), default=0))
        faster = None
        if seconds is not None and seconds > limit and SECOND in self.featurizers:
            faster = self._seconds(session, options | quick)
        quicker = gr.update(value=f"Compare with {SECOND} alone", visible=faster is not None and faster <= limit)
        return {
            "run_limit": markup.note(forecast(seconds, limit)),
            "compare_sample": gr.update(value=f"Compare {every_text(step)}", visible=step > 1),
            "compare_quick": quicker,
        }

    def _seconds(self, session: Session, options: Mapping[str, object]) -> float | None:
        """The time of a run with the texts on the page, about; None if it is not known or the options are invalid."""
        sets = session.sets()
        texts = [side.texts for side in sets]
        new: dict[Hashable, list[list[str]]] = {}
        try:
            for _, job, _ in planned(sets, options, self.encoders, session.shown):
                new[job.config.featurize_model_name] = job.unread(texts)
        except (ValueError, TypeError):  # the run refuses them
            return None
        return self.encoders.speeds.seconds(new, sum(map(len, texts)))

    def take_sample(self, values: Sequence[object], session: Session) -> Values:
        """Keep the sample of each set that `forecast` offered: the outputs of both sides."""
        with show_errors(markup.in_controls), session.editing:
            fewest = min((len(side.texts) for side in session.sets()), default=0)
            step = sample_step(self._seconds(session, all_options(values)) or 0.0, self.limits.seconds, fewest)
            if session.human is not None and step > 1:
                self._set_human(session, sampled(session.human, step))
                for name, side in session.models.items():
                    session.models[name] = sampled(side, step)
                session.pasted = None
        return self._both_shown(session)

    # --- scores ---------------------------------------------------------------------------------------------------

    def compare(
        self,
        values: Sequence[object],
        held: Sequence[object],
        session: Session,
        progress: gr.Progress,
    ) -> Values:
        """Handle the compare button: pasted texts, alignment and `SETTINGS` in, the result out.

        Args:
            values: of the inputs.
            held: what the page shows of a human set and of a model's, "" for nothing.
            session: of the visitor. progress: receives the progress.
        """
        pasted, aligned = [str(text or "") for text in values[:2]], bool(values[2])
        with show_errors(markup.in_controls):  # a mistake is shown at once, and does not wait among the runs
            options = all_options(values[3:])
            check_play(options, self.limits)
            sets = self._take_sets(session, pasted[0], pasted[1], held)
            check_options(options, self.featurizers, self.limits)

        def work(run: Run) -> Values:
            with self._alone(session):
                return self._scored(session, compare_sets(*sets, options, self.encoders, run, aligned, session.shown))

        return self._run(session, progress, work)

    def measure(self, groups: Sequence[str], session: Session, progress: gr.Progress) -> Values:
        """Handle the button of the measures: names of groups in, the outputs of `MEASURES` out."""

        def work(run: Run) -> Values:
            scored = _with_texts(_shown_result(session))
            description = measure_scored(scored, check_measures(["score", *(groups or [])]), run)
            with self._alone(session):
                now = _shown_result(session)
                if _with_texts(now).evaluation.texts != scored.evaluation.texts:
                    raise ValueError("the measures are of texts that are not shown any more: compute them again")
                now.measured, now.measured_of = description, scored
                return measures_values(now) | {"measures_status": markup.notice("measured", description=description)}

        return self._run(session, progress, work)

    def replay(self, values: Sequence[object], session: Session) -> Values:
        """Recompute the result with other values of `PLAY`, from the stored features."""
        with show_errors(markup.in_controls), self._alone(session):
            shown, changed = _shown_result(session), options_of(PLAY, values)
            aligned, options = _with_texts(shown).aligned, shown.options | changed
            check_play(changed, self.limits)
            check_options(options, self.featurizers, self.limits)
            run = Run.within(self.limits)
            now = compare_sets(shown.human, shown.models, options, self.encoders, run, aligned, shown)
            now.example, now.measured, now.measured_of = shown.example, shown.measured, shown.measured_of
            return self._scored(session, now)

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
        self, session: Session, human_pasted: str, model_pasted: str, held: Sequence[object]
    ) -> tuple[TextSet, dict[str, TextSet]]:
        """The sets of the page, the paste boxes included; held: the previews that the page shows of them."""
        with session.editing:
            if human_pasted.strip():
                self._set_human(session, read_paste(HUMAN, human_pasted, self.limits))
            if model_pasted.strip():
                self._paste_model(session, model_pasted)
            first = "choose a file, paste texts or take an example first"
            if session.human is None:
                was_there = held[0] and "mm-problem" not in str(held[0])
                raise ValueError(f"{HUMAN} is not here any more: {session.lost}" if was_there else f"{HUMAN}: {first}")
            if not session.models:
                name = "the model's texts"
                raise ValueError(f"{name} are not here any more: {session.lost}" if held[1] else f"{name}: {first}")
            check_together([side.texts for side in session.sets()], self.limits)
            return session.human, dict(session.models)

    def _scored(self, session: Session, shown: Shown) -> Values:
        """Put a result into the session: the outputs that show it."""
        values = result_values(shown, self.limits.points)
        session.shown = shown
        return values

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
            with show_errors(markup.in_controls), self.turns.turn(session.name, run, session.client):
                return work(run)
        except Cancelled:
            run.was_stopped = True
            return {}
        finally:
            if session.run is run:
                session.run = None

    async def stop(self, request: gr.Request) -> AsyncIterator[str]:
        """Stop the run of this page, if there is one, and report its end."""
        for _ in range(_TRIES):
            session = self.sessions.present(request.session_hash)
            if session is not None and (run := session.run) is not None:
                break
            await asyncio.sleep(_LOOK)
        else:
            yield markup.notice("nothing_runs")
            return
        run.cancel()
        yield markup.notice("stopping")
        while session.run is run:
            await asyncio.sleep(_LOOK)
        if run.was_stopped:
            yield markup.notice("stopped")

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

    def pick_model(self, clicked: str, session: Session) -> Values:
        """Show another model; clicked: begins with its place in the ranking, from 0."""
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            clicked_rank, names = re.match(r"\d{1,3}\b", clicked, re.ASCII), shown.scored.best_first
            if clicked_rank is None or int(clicked_rank[0]) >= len(names):
                raise ValueError("there is no such model in this comparison")
            shown.picked = names[int(clicked_rank[0])]
            return of_model_values(shown)

    def pick_bucket(self, bucket: int | None, session: Session) -> Values:
        """Show the texts of a bucket, both sides; change nothing if the choice is empty or unchanged."""
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            if bucket is None or bucket == shown.bucket:
                return {}
            shown.bucket = bucket
            return {"bucket_texts": bucket_html(shown, bucket)}

    def click_bucket(self, clicked: str, session: Session) -> Values:
        """Handle a click on a bar or a text in a figure: return the outputs that change.

        Args:
            clicked: begins with the number of a bucket, and of a text's set behind a hyphen: 0 for the human texts,
                then the models in the order of the ranking.
            session: of the visitor.
        """
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            match = re.match(r"(\d{1,6})(?:-(\d{1,3}))?\b", clicked, re.ASCII)
            number, which = (int(part or 0) for part in match.groups()) if match else (-1, 0)
            names = shown.scored.best_first
            changed = 0 < which <= len(names) and names[which - 1] != shown.picked
            if changed:
                shown.picked = names[which - 1]
            values = of_model_values(shown, number)
            return values if changed else {name: values[name] for name in ("bucket", "bucket_texts")}

    def make_files(self, session: Session) -> Values:
        """Write report, result, figures and signature to a zip file."""
        with show_errors(markup.in_controls):
            shown = _shown_result(session)
            scored = _with_texts(shown)
            description = shown.measured if fits(shown) else None
            path = takeaway.write_archive(scored, session.new_folder(), description)
            return {"files": gr.update(value=path, visible=True)}

    def leave(self, request: gr.Request) -> None:
        """Stop what a closed page does, and delete its session unless it is opened again."""
        self.sessions.leave(request.session_hash)


def _shown_result(session: Session) -> Shown:
    if session.shown is None:
        raise ValueError(f"{_FIRST}: {session.lost}")
    return session.shown


def _with_texts(shown: Shown) -> Scored:
    """The scores of a shown result; `ValueError` for one from a file."""
    if not isinstance(shown.scored, Scored):
        raise ValueError(_FIRST)
    return shown.scored


def _texts(source: Session | Shown) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The texts and names on which a result depends, in their order."""
    human = [] if source.human is None else source.human.texts
    return human, [(name, side.texts) for name, side in source.models.items()]
