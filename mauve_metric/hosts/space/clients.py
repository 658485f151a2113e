"""Who asked for a run: whether he is still there, and how many runs of his wait. Written against gradio 6.31."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from fastapi import HTTPException, Request
from gradio.context import LocalContext
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, Queue

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.run import Run, Tell

RUNS = "model"  # the concurrency id of what runs a model
_RECORDS = 200  # of past events, from which gradio makes a table after each
_UNKNOWN = 30.0  # seconds after which to ask again where no run has ended yet
_PATIENCE = 5.0  # seconds in which a client that asked for a run must come for its messages


def new_run(limits: Limits, tell: Tell | None = None) -> Run:
    """A run of the visitor whom this thread works for, within the limits; it ends when he is gone."""
    return Run(tell, seconds=limits.seconds, tokens=limits.tokens, gone=client_gone())


def client_gone() -> Callable[[], bool]:
    """Says, when called, whether the client that this thread works for has hung up, cancelled, or never listened.

    A client listens on a stream of its own: gradio marks the job as dead when the stream breaks and takes it off its
    list when it is cancelled, but lets the function run on. One who only asked and never came for the stream leaves
    its messages unread.
    """
    page, number = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    unread_since: float | None = None

    def gone() -> bool:
        nonlocal unread_since
        if page is None or number is None:  # called from Python
            return False
        queue: Queue = page._queue
        event = next((event for event in _at_work(queue) if event._id == number), None)
        if event is None or not event.alive:
            return True
        messages = queue.pending_messages_per_session.get(event.session_hash)
        if messages is None:
            return True
        if messages.empty():
            unread_since = None
            return False
        unread_since = time.monotonic() if unread_since is None else unread_since
        return time.monotonic() - unread_since > _PATIENCE

    return gone


def forget_state() -> None:
    """Drop what gradio holds of the session that this thread works for: .4 MB of each client, for good.

    It is the state of the page's components, which a program that calls an endpoint, or a visitor who left, has not.
    """
    page, request = LocalContext.blocks.get(None), LocalContext.request.get(None)
    name = getattr(request, "session_hash", None)
    if page is not None and name is not None:
        page.state_holder.session_data.pop(name, None)
        page.state_holder.time_last_used.pop(name, None)


def later(status: int, sentence: str, seconds: float | None) -> HTTPException:
    """A refusal that says when to ask again.

    >>> later(429, "3 runs wait", 61.2).detail
    '3 runs wait: ask again in about 1 minute'
    """
    when = "when one has ended" if seconds is None else f"in about {spoken(seconds)}"
    headers = {"Retry-After": str(math.ceil(_UNKNOWN if seconds is None else seconds))}
    return HTTPException(status, f"{sentence}: ask again {when}", headers)


def spoken(seconds: float) -> str:
    """A time as people say it.

    >>> spoken(1), spoken(59.2), spoken(100)
    ('1 second', '60 seconds', '2 minutes')
    """
    number, unit = (math.ceil(seconds), "second") if seconds <= 60 else (round(seconds / 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"


class Turns(Queue):
    """A queue in which no client's runs stand before everybody else's.

    A client has at most `Limits.waiting_each` runs at a time, the one at work included, and those that wait are sorted:
    the first run of every client, then the second ones. A client is an address, as uvicorn knows it: behind a proxy,
    `FORWARDED_ALLOW_IPS` says whose word about it is taken. Who can forge addresses has more turns than others; the
    bound on the whole queue and the budgets of a run hold for him too.

    Args:
        like: a queue whose settings it has.
        most: runs of one client.
    """

    def __init__(self, like: Queue, most: int) -> None:
        super().__init__(
            live_updates=like.live_updates,
            concurrency_count=like.max_thread_count,
            update_intervals=like.update_intervals,
            max_size=like.max_size,
            blocks=like.blocks,
            default_concurrency_limit=like.default_concurrency_limit,
        )
        self._most = most
        self.ANALYTICS_MAX_EVENTS = _RECORDS
        self._joining: Counter[str] = Counter()  # runs of each client that are between the check and the queue

    async def push(self, body: PredictBodyInternal, request: Request, username: str | None) -> Any:
        """Put a job into the queue; the answer is gradio's.

        Raises:
            HTTPException: 404 for an unknown function; 400 for a job without all inputs, whose error of gradio would
                put them into the log; 429 for a client that has enough runs in the queue; 503 for a full queue, or 429
                where the page asks, which shows the sentence of no 503. The last two say when to ask again.
        """
        function = None if body.fn_index is None else self.blocks.fns.get(body.fn_index)
        if function is None:
            raise HTTPException(404, "there is no function of this number")
        if len(body.data) < len(function.inputs):
            raise HTTPException(400, f"{len(function.inputs)} inputs are expected, got {len(body.data)}")
        if function.concurrency_id != RUNS:
            return await super().push(body, request, username)
        client = _address(request)
        self._check_room(client, function.api_visibility == "public")
        self._joining[client] += 1
        try:
            answer = await super().push(body, request, username)
        finally:
            self._joining -= Counter([client])
        self._sort()
        return answer

    def seconds_until(self, ended: int) -> float | None:
        """About how long it takes until so many more runs have ended, by the mean of past ones; None without any."""
        past = [mean for function, mean in [*self.process_time_per_fn.items()] if function.concurrency_id == RUNS]
        runs = sum(mean.count for mean in past)
        if not runs:
            return None
        queue = self.event_queue_per_concurrency_id.get(RUNS)
        began = [start for starts in [*queue.start_times_per_fn.values()] for start in [*starts]] if queue else []
        gone = time.time() - min(began, default=time.time())
        return max(ended * sum(mean.process_time for mean in past) / runs - gone, 1.0)

    def _check_room(self, client: str, public: bool) -> None:
        """`HTTPException` if a client has enough runs here, or the queue is full."""
        if self._runs()[client] + self._joining[client] >= self._most:
            turn = next((turn for turn, own in enumerate(self._clients(), 1) if own == client), 1)
            raise later(429, f"at most {self._most} runs of one client wait here", self.seconds_until(turn))
        waiting = len(self)
        if self.max_size is not None and waiting >= self.max_size:
            sentence = f"{waiting} runs wait here already, the most that may"
            if (wait := self.seconds_until(waiting + 1)) is not None:
                sentence += f", for about {spoken(wait)} in all"
            raise later(503 if public else 429, sentence, self.seconds_until(1))

    def _clients(self) -> list[str]:
        """Whose runs they are, at work and waiting, in their order."""
        working = [event for event in _at_work(self) if event.concurrency_id == RUNS]
        return [_address(event.request) for event in [*working, *self._waiting()]]

    def _waiting(self) -> list[Event]:
        queue = self.event_queue_per_concurrency_id.get(RUNS)
        return [] if queue is None else queue.queue

    def _runs(self) -> Counter[str]:
        """How many runs each client has, at work and waiting."""
        return Counter(self._clients())

    def _working(self) -> Counter[str]:
        return Counter(_address(event.request) for event in _at_work(self) if event.concurrency_id == RUNS)

    def _sort(self) -> None:
        """Everybody's first run before anybody's second, each in the order in which they came."""
        had = self._working()
        turns: dict[str, int] = {}
        for event in self._waiting():
            had[_address(event.request)] += 1
            turns[event._id] = had[_address(event.request)]
        self._waiting().sort(key=lambda event: turns[event._id])


def _at_work(queue: Queue) -> list[Event]:
    return [event for job in [*queue.active_jobs] if job is not None for event in job]


def _address(request: Request) -> str:
    return "" if request.client is None else request.client.host
