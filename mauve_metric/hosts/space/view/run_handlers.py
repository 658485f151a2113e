"""Runs of one page: one at a time, in their turn, stopped by their visitor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import gradio as gr

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.run import Cancelled, Run, show_errors
from mauve_metric.hosts.space.session.sessions import Session
from mauve_metric.hosts.space.session.turns import Turns
from mauve_metric.hosts.space.view import markup, notices
from mauve_metric.hosts.space.view.text_handlers import TextHandlers

Values = dict[str, object]  # of outputs by their names; those that are not there stay as they are
_WAIT = 15.0  # seconds that a run waits for one that was just stopped
_LOOK = 0.05  # seconds between two checks whether a stopped run has ended
_BUSY = "a run of this page is running already: wait for it, or stop it"


class RunHandlers(TextHandlers):
    """The handlers that start and stop a run."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.turns = Turns(limits)

    def _run(self, request: gr.Request, progress: gr.Progress, work: Callable[[Run], Values]) -> Values:
        """Do the work in its turn and return its outputs; none if it was stopped.

        Args:
            request: of the visitor. progress: receives the progress.
            work: the run.
        """
        session = self.sessions.get(request.session_hash)
        if session.run is not None and not session.run.stopped:
            raise gr.Error(_BUSY, print_exception=False)
        run = session.run = Run.within(self.limits, lambda share, words: progress(share, desc=words))
        try:
            with show_errors(markup.in_controls), self.turns.turn(str(request.session_hash), run):
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
