"""One run of a visitor: its progress, its limits, and its errors as one sentence that is not logged."""

from __future__ import annotations

import logging
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import gradio as gr

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.session.uploads import USER_ERRORS

logger = logging.getLogger(__name__)


@contextmanager
def show_errors(escape: Callable[[str], str] = str) -> Iterator[None]:
    """Show every error to the visitor as one sentence, and log none with its message, which may quote texts.

    A mistake of the program itself leaves its kind and place in the log.
    """
    try:
        yield
    except (Cancelled, gr.Error):
        raise
    except Exception as error:
        if isinstance(error, USER_ERRORS):
            message = " ".join(str(error).split()) or type(error).__name__
        else:
            place = traceback.extract_tb(error.__traceback__)[-1]
            logger.error("%s in %s, line %s", type(error).__name__, place.filename, place.lineno)
            message = f"something went wrong here ({type(error).__name__}); your texts are still on the page"
        message = message if len(message) <= 600 else f"{message[:599]}…"
        message = message.encode("utf-8", "backslashreplace").decode()  # lone surrogates
        raise gr.Error(str(escape(message)), print_exception=False) from None


Tell = Callable[[float, str], None]
_JUDGED = 10.0  # seconds of reading after which its speed is known
_MARGIN = 1.25  # factor by which the estimate may exceed the limit
READ = (0.05, 0.85)  # of a run: where reading the texts begins and ends


class Cancelled(Exception):
    """A visitor stopped the run, or left."""


class Run:
    """One run in progress: its state, its progress and its remaining budget.

    `was_stopped` is True after a visitor ended it. `share_read`: of the texts to read.

    Args:
        tell: receives the progress. seconds, tokens: limits of the whole run; None: no limit.
    """

    def __init__(
        self,
        tell: Tell | None = None,
        *,
        seconds: float | None = None,
        tokens: int | None = None,
    ) -> None:
        self._tell = tell
        self._seconds, self._tokens, self._spent = seconds, tokens, 0
        self._end = math.inf
        self._stopped = threading.Event()
        self._began = 0.0
        self._words, self._sizes, self._read, self._all, self._before = "texts", [1], 0, 1, 0
        self._rough, self._size, self.was_stopped = "", 1, False
        self._part = (0, 1, "")
        self.share_read = 0.0

    @classmethod
    def within(cls, limits: Limits, tell: Tell | None = None) -> Run:
        """A run within the limits of the server."""
        return cls(tell, seconds=limits.seconds, tokens=limits.tokens)

    @property
    def stopped(self) -> bool:
        """Return whether the run was stopped."""
        return self._stopped.is_set()

    def cancel(self) -> None:
        """Stop at the next batch."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `Cancelled` if the run was stopped, `ValueError` if its time is over."""
        if self._stopped.is_set():
            raise Cancelled
        if time.monotonic() > self._end:
            raise ValueError(
                f"this run was stopped after {duration(self._seconds or 0)}, the most that one may take here: give "
                "fewer or shorter texts"
            )

    def begin(self) -> None:
        """Start the clock: time spent waiting does not count."""
        self._end = math.inf if self._seconds is None else time.monotonic() + self._seconds

    def spend(self, tokens: int) -> None:
        """Count tokens to read; raise `ValueError` if they exceed the limit of one run."""
        self.check()
        self._spent += tokens
        if self._tokens is not None and self._spent > self._tokens:
            raise ValueError(
                f"the texts have more than {self._tokens} tokens together, the most that one run may read here: give "
                "fewer or shorter texts"
            )

    def part(self, number: int, of: int, title: str) -> None:
        """Begin one of several equal parts of the run; its title precedes its progress."""
        self._part, self._rough = (number, of, title), ""

    def stage(self, share: float, words: str) -> None:
        """Report the next stage; share: completed share of the run, or of its part."""
        self.check()
        if self._tell is not None:
            number, of, title = self._part
            self._tell((number + share) / of, f"{title}{words}")

    def begin_reading(self, sizes: Sequence[int], known: int = 0) -> None:
        """Set the number of texts of each set, the human one first, and the number already read."""
        self._sizes, self._all, self._read = list(sizes), max(sum(sizes) - known, 1), 0
        self.share_read = 0.0
        self._began = time.monotonic()

    def begin_set(self, number: int, before: int = 0) -> None:
        """Report that a set, or the rest of it, is read next; number 0: the human one; before: texts already read."""
        models = len(self._sizes) - 1
        which = "human texts" if number == 0 else f"model {number} of {models}" if models > 1 else "model texts"
        self._words, self._before, self._size = which, before, self._sizes[number]
        self._tell_reading(f"reading {self._words}", 0)

    def texts_done(self, name: str, done: int, total: int | None) -> None:
        """Report the number of texts read of the set, the speed, and the remaining time."""
        passed, read = time.monotonic() - self._began, self._read + done
        words = f"{self._words}: {self._before + done} of {self._size}"
        if passed >= 1 and read:
            speed = read / passed
            words += f", {speed:.0f} texts a second" if speed >= 1.5 else f", {1 / speed:.0f} s a text"
            left = (self._all - read) / speed
            words += f", about {duration(left)} left" if left >= 1 else ""
            allowed = self._end - self._began
            if passed > _JUDGED and passed + left > _MARGIN * allowed:
                raise ValueError(
                    f"reading these texts would take about {duration(passed + left)}, and a run may take "
                    f"{duration(self._seconds or 0)} here: give about {self._all * allowed / (passed + left):.0f} of "
                    f"the {self._all} texts, or choose a faster featurizer, such as ngrams"
                )
        self._tell_reading(words, done)
        if done == total:
            self._read = read

    def rough(self, words: str) -> None:
        """Show a first score before every later progress message."""
        self._rough = f"{words}; " if words else ""

    def _tell_reading(self, words: str, done: int) -> None:
        self.share_read = min((self._read + done) / self._all, 1.0)
        self.stage(READ[0] + (READ[1] - READ[0]) * self.share_read, self._rough + words)


def duration(seconds: float) -> str:
    """Format a duration in whole seconds or minutes.

    >>> duration(1), duration(59.2), duration(100)
    ('1 second', '59 seconds', '2 minutes')
    """
    number, unit = (max(round(seconds), 1), "second") if seconds <= 60 else (round(seconds / 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"
