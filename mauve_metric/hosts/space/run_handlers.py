"""Runs of one page: one at a time, told how far it is, stopped by its visitor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import gradio as gr

from mauve_metric.hosts.space import notices
from mauve_metric.hosts.space.clients import new_run
from mauve_metric.hosts.space.run import Cancelled, Run, errors_shown
from mauve_metric.hosts.space.session import Session
from mauve_metric.hosts.space.stopping import withdraw
from mauve_metric.hosts.space.text_handlers import TextHandlers

_WAIT = 15.0  # seconds that a run waits for one that was just stopped
_LOOK = 0.05  # seconds between two looks whether a stopped run has ended
_BUSY = "a run of this page is running already: wait for it, or stop it"


class RunHandlers(TextHandlers):
    """What begins a run of a page and what stops it."""

    def _run(
        self,
        request: gr.Request,
        progress: gr.Progress,
        asked: float,
        outputs: int,
        work: Callable[[Run], list[object]],
    ) -> list[object]:
        """What a run gives; the outputs as they are if it was stopped.

        Args:
            request: of the visitor. progress: is told.
            asked: when the button was pressed, by the visitor's clock; 0 if unknown.
            outputs: how many there are.
            work: the run.
        """
        session = self.sessions.get(request.session_hash)
        if asked and asked <= session.stopped_at:  # stopped while it waited in the queue
            return [gr.skip()] * outputs
        if session.run is not None and not session.run.stopped:
            raise gr.Error(_BUSY, print_exception=False)
        run = session.run = new_run(self.limits, lambda share, words: progress(share, desc=words))
        try:
            with errors_shown(as_html=True):
                return work(run)
        except Cancelled:
            run.was_stopped = True
            return [gr.skip()] * outputs
        finally:
            if session.run is run:
                session.run = None

    async def stop(self, asked: float, request: gr.Request) -> AsyncIterator[str]:
        """Stop the run of this page, if there is one, and say so once it has ended; asked: by the visitor's clock."""
        session = self.sessions.get(request.session_hash)
        run, session.stopped_at = session.run, float(asked or 0)
        if run is None:
            yield notices.STOPPED if withdraw(request.session_hash) else notices.NOTHING_RUNS
            return
        run.cancel()
        yield notices.STOPPING
        while session.run is run:
            await asyncio.sleep(_LOOK)
        if run.was_stopped:
            yield notices.STOPPED

    def cancel(self, request: gr.Request) -> None:
        """Stop the run of this page, if there is one."""
        run = self.sessions.get(request.session_hash).run
        if run is not None:
            run.cancel()

    @contextmanager
    def _alone(self, session: Session) -> Iterator[None]:
        """One computation of a session at a time."""
        if not session.lock.acquire(timeout=_WAIT):
            raise ValueError(_BUSY)
        try:
            yield
        finally:
            session.lock.release()
