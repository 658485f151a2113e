"""A run of the page or of its endpoints: progress, limits and errors, and its duration."""

from __future__ import annotations

import logging
import math
import time
import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import gradio as gr

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.report.first_screen import verdict_line
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.errors import USER_ERRORS
from mauve_metric.runtime.plain_text import duration

logger = logging.getLogger(__name__)


@contextmanager
def show_errors(write: Callable[[str, str | None], str]) -> Iterator[None]:
    """Show every error to the visitor as one sentence, and log none with its message, which may quote texts.

    A mistake of the program itself leaves its kind and place in the log.

    Args:
        write: takes a message and the argument that it is about, see `Spelling.respell`.
    """
    try:
        yield
    except (Cancelled, gr.Error):
        raise
    except Exception as error:
        if isinstance(error, USER_ERRORS):
            message = " ".join(str(error).split()) or type(error).__name__
        else:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            logger.error("%s in %s, line %s", type(error).__name__, frame.filename, frame.lineno)
            message = f"something went wrong here ({type(error).__name__}); your texts are still on the page"
        message = message if len(message) <= 600 else f"{message[:599]}…"
        message = message.encode("utf-8", "backslashreplace").decode()  # lone surrogates
        raise gr.Error(write(message, getattr(error, "argument", None)), print_exception=False) from None


Tell = Callable[[float, str], None]
_JUDGED = 10.0  # seconds of reading after which its speed is known
_MARGIN = 1.25  # factor by which the estimate may exceed the limit
READ = (0.05, 0.85)  # of a run: where reading the texts begins and ends


class Cancelled(Exception):
    """A visitor stopped the run, or left."""


class Run:
    """One run in progress: its state, its progress and its remaining budget.

    `stopped`: to be ended at the next batch. `was_stopped`: a visitor has ended it. `share_read`: of the texts to read.

    Args:
        tell: receives the progress. seconds, tokens: limits of the whole run.
    """

    def __init__(self, tell: Tell | None = None, *, seconds: float = math.inf, tokens: float = math.inf) -> None:
        self._tell = tell
        self._seconds, self._tokens, self._spent = seconds, tokens, 0
        self._end = math.inf
        self._began = 0.0
        self._words, self._sizes, self._read, self._all = "texts", [1], 0, 1
        self._so_far, self._size, self.stopped, self.was_stopped = "", 1, False, False
        self._part = (0, 1, "")
        self.share_read = 0.0

    @classmethod
    def within(cls, limits: Limits, tell: Tell | None = None) -> Run:
        """A run within the limits of the server."""
        return cls(tell, seconds=limits.seconds, tokens=limits.tokens)

    def cancel(self) -> None:
        """Stop at the next batch."""
        self.stopped = True

    def check(self) -> None:
        """Raise `Cancelled` if the run was stopped, `ValueError` if its time is over."""
        if self.stopped:
            raise Cancelled
        if time.monotonic() > self._end:
            raise ValueError(
                f"this run was stopped after {duration(self._seconds)}, the most that one may take here: give "
                "fewer or shorter texts"
            )

    def begin(self) -> None:
        """Start the clock: time spent waiting does not count."""
        self._end = time.monotonic() + self._seconds

    def spend(self, tokens: int) -> None:
        """Count tokens to read; raise `ValueError` if they exceed the limit of one run."""
        self.check()
        self._spent += tokens
        if self._spent > self._tokens:
            raise ValueError(
                f"the texts have more than {self._tokens} tokens together, the most that one run may read here: give "
                "fewer or shorter texts"
            )

    def part(self, number: int, of: int, title: str) -> None:
        """Begin one of several equal parts of the run; its title precedes its progress."""
        self._part = number, of, title

    def stage(self, share: float, words: str) -> None:
        """Report the next stage; share: completed share of the run, or of its part."""
        self.check()
        if self._tell is not None:
            number, of, title = self._part
            self._tell((number + share) / of, f"{self._so_far}{title}{words}")

    def begin_reading(self, sizes: Sequence[int], new: int) -> None:
        """Set the number of texts of each set, the human one first, and the number to read."""
        self._sizes, self._all, self._read = list(sizes), max(new, 1), 0
        self.share_read = 0.0
        self._began = time.monotonic()

    def begin_set(self, number: int) -> None:
        """Report that a set is read next; number 0: the human one."""
        models = len(self._sizes) - 1
        which = "human texts" if number == 0 else f"model {number} of {models}" if models > 1 else "model texts"
        self._words, self._size = which, self._sizes[number]
        self._tell_reading(f"reading {self._words}", 0)

    def texts_done(self, name: str, done: int, total: int | None) -> None:
        """Report the number of texts read of the set, the speed, and the remaining time."""
        passed, read = time.monotonic() - self._began, self._read + done
        words = f"{self._words}: {done} of {self._size}"
        if passed >= 1 and read:
            speed = read / passed
            words += f", {speed:.0f} texts a second" if speed >= 1.5 else f", {1 / speed:.0f} s a text"
            left = (self._all - read) / speed
            words += f", about {duration(left)} left" if left >= 1 else ""
            allowed = self._end - self._began
            if passed > _JUDGED and passed + left > _MARGIN * allowed:
                raise ValueError(
                    f"reading these texts would take about {duration(passed + left)}, and a run may take at most "
                    f"{duration(self._seconds)} here: give about {self._all * allowed / (passed + left):.0f} of "
                    f"the {self._all} texts, or choose a faster featurizer, such as ngrams"
                )
        self._tell_reading(words, done)
        if done == total:
            self._read = read

    def so_far(self, featurizer: str, results: Mapping[str, MauveResult]) -> None:
        """Show the verdicts by a first featurizer before every later progress message."""
        names = [f"{name} " if len(results) > 1 else "" for name in results]
        said = [name + verdict_line(result) for name, result in zip(names, results.values(), strict=True)]
        self._so_far = f"so far, by {featurizer} alone: {'; '.join(said)}. "

    def _tell_reading(self, words: str, done: int) -> None:
        self.share_read = min((self._read + done) / self._all, 1.0)
        self.stage(READ[0] + (READ[1] - READ[0]) * self.share_read, words)


TOKEN = 5  # characters of a token, about: a text is read up to the featurizer's number of tokens
FEWEST = 100  # texts a set that a sample must keep to be offered
_SAFE = 0.8  # share of the time limit that a sample is made for


class Speeds:
    """Seconds a character, by featurizer, and seconds of scoring, of the last run with each.

    One run at a time is measured (see `Turns`).
    """

    def __init__(self) -> None:
        self._reading: dict[Hashable, tuple[float, float]] = {}  # seconds a character, characters read of a text
        self._scoring = 0.0, 1  # seconds, texts

    @contextmanager
    def reading(self, featurizer: Hashable, sets: Sequence[Sequence[str]], tokens: float, run: Run) -> Iterator[None]:
        """Measure the block, which reads these texts; one that ends early counts by the share that was read."""
        began, share = time.monotonic(), 0.0
        try:
            yield
            share = 1.0
        finally:
            read = (share or run.share_read) * _characters(sets, TOKEN * tokens)
            if read:
                self._reading[featurizer] = (time.monotonic() - began) / read, TOKEN * tokens

    @contextmanager
    def scoring(self, texts: int) -> Iterator[None]:
        """Measure the block, which scores so many texts."""
        began = time.monotonic()
        yield
        self._scoring = time.monotonic() - began, texts

    def seconds(self, new: Mapping[Hashable, Sequence[Sequence[str]]], texts: int) -> float | None:
        """Estimate the time of a run; None if a featurizer has not been measured.

        Args:
            new: for each featurizer the sets that it has to read. texts: of all sets.
        """
        total = 0.0
        for featurizer, sets in new.items():
            if any(sets) and featurizer not in self._reading:
                return None
            each, most = self._reading.get(featurizer, (0.0, 0.0))
            total += each * _characters(sets, most)
        seconds, scored = self._scoring
        return total + len(new) * seconds * max(texts / scored, 1.0)


def _characters(sets: Sequence[Sequence[str]], most: float) -> float:
    """The characters that are read of the texts, at most so many of each."""
    return sum(min(len(text), most) for texts in sets for text in texts if isinstance(text, str))


def sample_step(seconds: float, limit: float, fewest: int) -> int:
    """The step between texts of a sample that a run has the time for; 1: all texts; 0: no sample of use.

    Args:
        seconds: of a run with all texts. limit: of one run. fewest: texts of the smallest set.

    >>> sample_step(100, 300, 500), sample_step(1000, 300, 5000), sample_step(9000, 300, 500)
    (1, 5, 0)
    """
    step = math.ceil(seconds / (_SAFE * limit)) if seconds > limit else 1
    return step if step == 1 or fewest // step >= FEWEST else 0


def forecast(seconds: float | None, limit: float) -> str:
    """The sentence beside the button; seconds: see `Speeds.seconds`, None if that is not known.

    >>> forecast(None, 300), forecast(100, 300)
    ('A run may take at most 5 minutes here.', 'About 2 minutes; a run may take at most 5 minutes here.')
    >>> forecast(1948, 300)
    'These texts would take about 32 minutes, and a run may take at most 5 minutes here.'
    """
    most = f"run may take at most {duration(limit)} here."
    if seconds is None:
        return f"A {most}"
    if seconds > limit:
        return f"These texts would take about {duration(seconds)}, and a {most}"
    return f"About {duration(seconds)}; a {most}"
