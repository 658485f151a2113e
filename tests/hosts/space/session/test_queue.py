"""The queue of the page: the order of visitors, too many runs, and what gives way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from visitors import LIMITS, wait_until

pytest.importorskip("gradio")
from mauve_metric.hosts.space.session import queue as module
from mauve_metric.hosts.space.session.queue import Turns
from mauve_metric.hosts.space.session.run import Cancelled, Run

SMALL = replace(LIMITS, waiting=3, waiting_each=2, seconds=300)


CLIENTS = {"v": "192.0.2.1", "w": "192.0.2.1", "x": "192.0.2.1"}  # by the visitor


class Runs:
    """Runs in threads: each is at work from its turn until it is released."""

    def __init__(self, turns: Turns) -> None:
        self.turns, self.began, self.said = turns, [], {}  # type: ignore[var-annotated]
        self.released = {}  # type: ignore[var-annotated]
        self.threads: list[threading.Thread] = []
        self.stopped: list[str] = []

    def ask(self, name: str) -> Run:
        """A run whose name begins with its visitor's; it is known to the turns when this returns."""
        run = Run(lambda share, words: self.said.update({name: words}))
        self.released[name] = threading.Event()
        thread = threading.Thread(target=self._work, args=(name, run), daemon=True)
        self.threads.append(thread)
        thread.start()
        wait_until(lambda: name in self.began or name in self.said)
        return run

    def _work(self, name: str, run: Run) -> None:
        try:
            with self.turns.turn(name[0], run, CLIENTS.get(name[0], "")):
                self.began.append(name)
                self.released[name].wait(120)
        except Cancelled:
            self.stopped.append(name)


@contextmanager
def runs_of(turns: Turns) -> Iterator[Runs]:
    runs = Runs(turns)
    yield runs
    for released in runs.released.values():
        released.set()
    for thread in runs.threads:
        thread.join(120)


def test_each_visitors_first_run_precedes_any_second_run() -> None:
    with runs_of(Turns(replace(SMALL, waiting=9, waiting_each=3))) as runs:
        for name in ("a0", "a1", "a2", "b1", "b2", "c1"):
            runs.ask(name)
        for number, name in enumerate(("a0", "b1", "c1", "a1", "b2", "a2"), 1):
            wait_until(lambda number=number: len(runs.began) == number)  # type: ignore[misc]
            assert runs.began[-1] == name
            runs.released[name].set()


def test_many_visitors_at_one_address_neither_delay_all_others_nor_take_all_places() -> None:
    with runs_of(Turns(replace(SMALL, waiting=8, waiting_each=2))) as runs:
        for name in ("v0", "v1", "w1", "w2", "x1", "a1", "b1"):
            runs.ask(name)
        refused = pytest.raises(ValueError, match="5 runs from your address wait already: one ends in")
        with refused, runs.turns.turn("x", Run(), CLIENTS["x"]):
            pass
        for number, name in enumerate(("v0", "a1", "b1", "w1", "x1", "v1", "w2"), 1):
            wait_until(lambda number=number: len(runs.began) == number)  # type: ignore[misc]
            assert runs.began[-1] == name
            runs.released[name].set()


def test_waiting_runs_show_the_time_and_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, now = Turns(SMALL), [1000.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with runs_of(turns) as runs:
        runs.ask("a0")
        runs.ask("a1")
        assert runs.said["a1"] == "1 run before yours, in at most 5 minutes"
        with pytest.raises(ValueError, match="2 of your runs wait or are at work: the first ends in at most 5 minutes"):
            runs.turns.turn("a", Run()).__enter__()
        now[0] += 50
        runs.released["a0"].set()
        wait_until(lambda: runs.began == ["a0", "a1"])
        now[0] += 10
        for name in ("b0", "c0", "d0"):
            runs.ask(name)
        assert runs.said["b0"] == "1 run before yours, in about 40 seconds"
        assert runs.said["d0"] == "3 runs before yours, in about 2 minutes"
        with pytest.raises(ValueError, match="3 runs wait already, the most that may: one ends in about 40 seconds"):
            runs.turns.turn("e", Run()).__enter__()


def test_a_run_that_waits_can_be_stopped_and_its_seconds_begin_with_its_turn() -> None:
    with runs_of(Turns(SMALL)) as runs:
        runs.ask("a0")
        runs.ask("b0").cancel()
        wait_until(lambda: runs.stopped == ["b0"])
        later = Run(seconds=0.0)
        later.check()  # it waits still
        runs.released["a0"].set()
        with runs.turns.turn("c", later), pytest.raises(ValueError, match="the most that one may take here"):
            wait_until(lambda: bool(later.check()))


def test_what_is_prepared_gives_way_to_the_runs_of_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(LIMITS)
    late = threading.Thread(target=lambda: Run(turns.give_way).stage(0.5, "scoring"), daemon=True)
    with turns.turn("a", Run()):
        late.start()
        late.join(0.05)
        assert late.is_alive()
    late.join(60)
    assert not late.is_alive()
    monkeypatch.setattr(module, "_PATIENCE", 0.0)
    with turns.turn("a", Run()):
        turns.give_way()  # not for ever
