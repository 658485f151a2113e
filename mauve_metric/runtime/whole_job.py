"""How far a job of many items has come: a bar on a terminal, else a line in the log now and then."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mauve_metric.runtime.progress import progress_bar

logger = logging.getLogger(__name__)

SECONDS_A_LINE = 10.0


@dataclass
class JobProgress:
    """Counts a job's items and texts; `weights` (bytes) say how much of the work an item is.

    show: called with texts done and texts in all, as far as that can be told; None: lines go to the log.
    """

    title: str
    weights: list[int]
    show: Callable[[int, int | None], None] | None = None
    clock: Callable[[], float] = time.monotonic
    items: int = 0
    texts: int = 0
    failed: int = 0
    found: int = 0

    def __post_init__(self) -> None:
        self._said = self.clock()
        self._first: float | None = None  # when the first item ended: what is loaded before is not counted
        self._weight_done = self._weight_worked = self._texts_worked = 0

    def done(self, number: int, texts: int, found: bool = False) -> None:
        """An item ended; `found`: its result was there before."""
        self.items += 1
        self.texts += texts
        self.found += found
        self._weight_done += self.weights[number]
        if self._first is None and not found:
            self._first = self.clock()
        elif not found:
            self._weight_worked += self.weights[number]
            self._texts_worked += texts
        self._say()

    def fail(self, number: int) -> None:
        """An item failed for good."""
        self.items += 1
        self.failed += 1
        self._weight_done += self.weights[number]
        self._say()

    def line(self) -> str:
        """Where the job stands.

        >>> job = JobProgress("featurize", [10, 10, 10], clock=iter([0.0, 5.0, 5.0, 8.0, 10.0]).__next__)
        >>> job.done(0, 100)
        >>> job.done(1, 100)
        >>> job.line()
        'featurize: 2 of 3 shards, 200 texts, 20 texts/s, 0:00:05 left'
        """
        elapsed = 0.0 if self._first is None else max(self.clock() - self._first, 1e-9)
        parts = [f"{self.items} of {len(self.weights)} shards", f"{self.texts} texts"]
        if self._texts_worked:
            parts.append(f"{self._texts_worked / elapsed:.3g} texts/s")
        left = sum(self.weights) - self._weight_done
        if left and self._weight_worked:
            seconds = round(elapsed * left / self._weight_worked)
            parts.append(f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d} left")
        if self.found:
            parts.append(f"{self.found} were there")
        if self.failed:
            parts.append(f"{self.failed} failed")
        return f"{self.title}: {', '.join(parts)}"

    def _say(self) -> None:
        if self.show is not None:
            weights = sum(self.weights)
            known = self._weight_done and self.texts
            self.show(self.texts, round(self.texts * weights / self._weight_done) if known else None)
        now = self.clock()
        if self.items == len(self.weights) or now - self._said >= SECONDS_A_LINE:
            self._said = now
            logger.info("%s", self.line())


@contextlib.contextmanager
def watched_job(title: str, weights: list[int], verbose: bool) -> Iterator[JobProgress]:
    """The progress of a job, under a bar when asked for and stderr is a terminal."""
    with progress_bar(title, verbose) as bar:
        yield JobProgress(title, weights, bar)
