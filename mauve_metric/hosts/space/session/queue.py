"""The queue of the page: which run is at work, which ones wait, in which order, and for how long."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.runtime.plain_text import counted, duration

# Of gradio's 40 threads: each run that waits here holds one. The others wait in gradio's own queue.
ONE_RUN: dict[str, Any] = {"concurrency_id": "model", "concurrency_limit": 24}
_LOOK = 0.2  # seconds between two checks whether a waiting run was stopped
_PATIENCE = 20.0  # seconds that a stage without a visitor waits for the runs of visitors
_REMEMBERED = 20  # past runs, whose mean time is that of the next


@dataclass(eq=False)
class _Ticket:
    """One run of a visitor at a client (see `client_of`); began: start time of its turn."""

    visitor: str
    client: str
    began: float | None = None


class Turns:
    """The queue of active and waiting runs.

    gradio's queue runs in order of arrival, so that the runs of one visitor could delay all others, and its estimates
    ignore that the active run may take longer than the mean.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._changed = threading.Condition()
        self._tickets: list[_Ticket] = []
        self._past: deque[float] = deque(maxlen=_REMEMBERED)

    @contextmanager
    def turn(self, visitor: str, run: Run, client: str = "") -> Iterator[None]:
        """Wait for the turn of this run, and keep it until the block ends.

        One client has half of the places at most, and its second run comes after the first ones of all others, however
        many visitors it is.

        Raises:
            ValueError: enough runs wait. Cancelled: the run was stopped.
        """
        ticket = _Ticket(visitor, client or visitor)
        with self._changed:
            order = [waiting.visitor for waiting in self._tickets]
            num_own = order.count(visitor)
            if num_own >= self._limits.waiting_each:
                when = self._words(order.index(visitor) + 1)
                raise ValueError(f"{num_own} of your runs wait or are at work: the first ends {when}")
            if len(order) > self._limits.waiting:
                raise ValueError(f"{len(order) - 1} runs wait already, the most that may: one ends {self._words(1)}")
            num_near = sum(waiting.client == ticket.client for waiting in self._tickets)
            if num_near > max(self._limits.waiting // 2, self._limits.waiting_each):
                raise ValueError(f"{num_near} runs from your address wait already: one ends {self._words(1)}")
            self._tickets.append(ticket)
            for kind in ("visitor", "client"):
                had: Counter[str] = Counter()
                keys = {}  # the active run comes first, a further run after the first ones of all others
                for waiting in self._tickets:
                    keys[waiting] = waiting.began is None, had[getattr(waiting, kind)]
                    had[getattr(waiting, kind)] += 1
                self._tickets.sort(key=keys.__getitem__)
        try:
            with self._changed:
                while before := self._tickets.index(ticket):
                    run.stage(0.0, f"{counted(before, 'run')} before yours, {self._words(before)}")
                    self._changed.wait(_LOOK)
                ticket.began = time.monotonic()
            run.begin()
            yield
            self._past.append(time.monotonic() - ticket.began)
        finally:
            with self._changed:
                self._tickets.remove(ticket)
                self._changed.notify_all()

    def give_way(self, *_: object) -> None:
        """Wait while visitors' runs are there, a while at most: the `tell` of a run that may be late."""
        with self._changed:
            self._changed.wait_for(lambda: not self._tickets, _PATIENCE)

    def _words(self, ended: int) -> str:
        """The time until so many more runs have ended, in words: by the mean of past ones, else at most."""
        if not self._past:
            return f"in at most {duration(ended * self._limits.seconds)}"
        began = [ticket.began for ticket in self._tickets if ticket.began is not None]
        passed = time.monotonic() - began[0] if began else 0.0
        left = ended * sum(self._past) / len(self._past) - passed
        return f"in about {duration(left)}"
