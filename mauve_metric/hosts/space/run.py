"""What a visitor is told when something goes wrong: one sentence, and nothing of it in the log."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import gradio as gr

from mauve_metric.hosts.space import markup
from mauve_metric.hosts.space.uploads import USER_ERRORS

logger = logging.getLogger(__name__)


@contextmanager
def errors_shown(*, as_html: bool) -> Iterator[None]:
    """Every error goes to the visitor as one sentence, and none to the log with its words, since they may quote texts.

    A mistake of the program itself leaves its kind and place in the log.
    """
    try:
        yield
    except (gr.Error, Cancelled):
        raise
    except Exception as error:
        if isinstance(error, USER_ERRORS):
            message = " ".join(str(error).split()) or type(error).__name__
        else:
            place = traceback.extract_tb(error.__traceback__)[-1]
            logger.error("%s in %s, line %s", type(error).__name__, place.filename, place.lineno)
            message = f"something went wrong here ({type(error).__name__}); your texts are still on the page"
        message = markup.shorten(message, 600)
        raise gr.Error(str(markup.escape(message)) if as_html else message, print_exception=False) from None


Tell = Callable[[float, str], None]
READ = (0.05, 0.85)  # of a run: where reading the texts begins and ends


class Cancelled(Exception):
    """A visitor stopped the run, or left."""


class Run:
    """One run in progress: whether it was stopped, and how far it is."""

    def __init__(self, tell: Tell | None = None) -> None:
        self._tell = tell
        self._stopped = threading.Event()
        self._began = 0.0
        self._words, self._start, self._width = "texts", *READ

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._stopped.is_set()

    def cancel(self) -> None:
        """Stop at the next batch."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `Cancelled` if the run was stopped."""
        if self._stopped.is_set():
            raise Cancelled

    def stage(self, share: float, words: str) -> None:
        """Say what is done next; share: of the whole run."""
        self.check()
        if self._tell is not None:
            self._tell(share, words)

    def begin_set(self, number: int, sizes: Sequence[int]) -> None:
        """Say that a set is read next: the human texts are number 0 of those with these numbers of texts."""
        models, every = len(sizes) - 1, max(sum(sizes), 1)
        self._words = "human texts" if number == 0 else f"model {number} of {models}" if models > 1 else "model texts"
        self._start = READ[0] + (READ[1] - READ[0]) * sum(sizes[:number]) / every
        self._width = (READ[1] - READ[0]) * sizes[number] / every
        self._began = time.monotonic()
        self.stage(self._start, f"reading {self._words}")

    def texts_done(self, name: str, done: int, total: int | None) -> None:
        """Say how many texts of the set were read by the model, and about how long the rest of it takes."""
        share = done / max(total or done, 1)
        left = (time.monotonic() - self._began) * (1 - share) / share if share > 0 else 0.0
        words = f"{self._words}: {done} of {total}" + (f", about {left:.0f} s left" if left >= 1 else "")
        self.stage(self._start + self._width * share, words)


@contextmanager
def named(titles: Mapping[str, str]) -> Iterator[None]:
    """Errors call the arguments by the names that the visitor knows."""
    try:
        yield
    except USER_ERRORS as error:
        message = str(error)
        for name, title in titles.items():
            message = message.replace(name, title)
        raise ValueError(message) from error
