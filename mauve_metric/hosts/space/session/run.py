"""One run of a visitor: its progress, its limits, and its errors as one sentence that no log repeats."""

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
def errors_shown(escape: Callable[[str], str] = str) -> Iterator[None]:
    """Show every error to the visitor as one sentence, and log none with its words, since they may quote texts.

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
_MARGIN = 1.25  # by which a run may seem too long and still go on
READ = (0.05, 0.85)  # of a run: where reading the texts begins and ends


class Cancelled(Exception):
    """A visitor stopped the run, or left."""


class Run:
    """One run in progress: whether it was stopped, how far it is, and what it may still spend.

    `was_stopped` says afterwards whether it ended because somebody stopped it.

    Args:
        tell: is told how far it is. seconds, tokens: that it may take in all; None: any number.
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

    @classmethod
    def within(cls, limits: Limits, tell: Tell | None = None) -> Run:
        """A run within the limits of the server."""
        return cls(tell, seconds=limits.seconds, tokens=limits.tokens)

    @property
    def stopped(self) -> bool:
        """Return whether it was stopped."""
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
                f"this run was stopped after {spoken(self._seconds or 0)}, the most that one may take here: give fewer "
                "or shorter texts"
            )

    def begin(self) -> None:
        """Start the clock: what the run waited before takes nothing of its seconds."""
        self._end = math.inf if self._seconds is None else time.monotonic() + self._seconds

    def spend(self, tokens: int) -> None:
        """Count tokens that the model is to read; `ValueError` if they are more than one run may have."""
        self.check()
        self._spent += tokens
        if self._tokens is not None and self._spent > self._tokens:
            raise ValueError(
                f"the texts have more than {self._tokens} tokens together, the most that one run may read here: give "
                "fewer or shorter texts"
            )

    def part(self, number: int, of: int, title: str) -> None:
        """Begin one of several equal parts of the run; its title stands before its progress."""
        self._part, self._rough = (number, of, title), ""

    def stage(self, share: float, words: str) -> None:
        """Say what is done next; share: of the whole run, or of its part."""
        self.check()
        if self._tell is not None:
            number, of, title = self._part
            self._tell((number + share) / of, f"{title}{words}")

    def begin_reading(self, sizes: Sequence[int], known: int = 0) -> None:
        """Say how many texts each set has, the human one first, and how many of all are read already."""
        self._sizes, self._all, self._read = list(sizes), max(sum(sizes) - known, 1), 0
        self._began = time.monotonic()

    def begin_set(self, number: int, before: int = 0) -> None:
        """Say that a set is read next, or the rest of it: number 0 is the human one; before: texts read of it."""
        models = len(self._sizes) - 1
        which = "human texts" if number == 0 else f"model {number} of {models}" if models > 1 else "model texts"
        self._words, self._before, self._size = which, before, self._sizes[number]
        self._tell_reading(f"reading {self._words}", 0)

    def texts_done(self, name: str, done: int, total: int | None) -> None:
        """Say how many texts of the set were read by the model, how fast, and how long all that are left take."""
        passed, read = time.monotonic() - self._began, self._read + done
        words = f"{self._words}: {self._before + done} of {self._size}"
        if passed >= 1 and read:
            speed = read / passed
            words += f", {speed:.0f} texts a second" if speed >= 1.5 else f", {1 / speed:.0f} s a text"
            left = (self._all - read) / speed
            words += f", about {spoken(left)} left" if left >= 1 else ""
            self._check_projection(passed, left)
        self._tell_reading(words, done)
        if done == total:
            self._read = read

    def _check_projection(self, passed: float, left: float) -> None:
        """`ValueError` for a run that would end in the middle of its texts, as soon as that is clear."""
        allowed = self._end - self._began
        if passed > _JUDGED and passed + left > _MARGIN * allowed:
            raise ValueError(
                f"reading these texts would take about {spoken(passed + left)}, and a run may take "
                f"{spoken(self._seconds or 0)} here: give about {self._all * allowed / (passed + left):.0f} of the "
                f"{self._all} texts, or choose a faster featurizer, such as ngrams"
            )

    def rough(self, words: str) -> None:
        """A first score, which stands before what is said from now on."""
        self._rough = f"{words}; " if words else ""

    def _tell_reading(self, words: str, done: int) -> None:
        share = min((self._read + done) / self._all, 1.0)
        self.stage(READ[0] + (READ[1] - READ[0]) * share, self._rough + words)


def spoken(seconds: float) -> str:
    """A time as people say it.

    >>> spoken(1), spoken(59.2), spoken(100)
    ('1 second', '59 seconds', '2 minutes')
    """
    number, unit = (max(round(seconds), 1), "second") if seconds <= 60 else (round(seconds / 60), "minute")
    return f"{number} {unit}{'' if number == 1 else 's'}"
