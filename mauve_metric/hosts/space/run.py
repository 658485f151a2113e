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
    except Cancelled:
        if as_html:
            raise
        raise gr.Error("stopped: nobody waits for this run any more", print_exception=False) from None
    except gr.Error:
        raise
    except Exception as error:
        if isinstance(error, USER_ERRORS):
            message = " ".join(str(error).split()) or type(error).__name__
        else:
            place = traceback.extract_tb(error.__traceback__)[-1]
            logger.error("%s in %s, line %s", type(error).__name__, place.filename, place.lineno)
            message = f"something went wrong here ({type(error).__name__}); your texts are still on the page"
        message = markup.shorten(message, 600).encode("utf-8", "backslashreplace").decode()  # lone surrogates
        raise gr.Error(str(markup.escape(message)) if as_html else message, print_exception=False) from None


Tell = Callable[[float, str], None]
READ = (0.05, 0.85)  # of a run: where reading the texts begins and ends


class Cancelled(Exception):
    """A visitor stopped the run, or left."""


class Run:
    """One run in progress: whether it was stopped, how far it is, and what it may still spend.

    Args:
        tell: is told how far it is. seconds, tokens: that it may take in all; None: any number. gone: says whether who
            asked for it has left.
    """

    def __init__(
        self,
        tell: Tell | None = None,
        *,
        seconds: float | None = None,
        tokens: int | None = None,
        gone: Callable[[], bool] | None = None,
    ) -> None:
        self._tell, self._gone = tell, gone
        self._seconds, self._tokens, self._spent = seconds, tokens, 0
        self._end = None if seconds is None else time.monotonic() + seconds
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
        """Raise `Cancelled` if the run was stopped or nobody waits for it, `ValueError` if its time is over."""
        if self._gone is not None and self._gone():
            self.cancel()
        if self._stopped.is_set():
            raise Cancelled
        if self._end is not None and time.monotonic() > self._end:
            raise ValueError(
                f"this run was stopped after {self._seconds:g} seconds, the most that one may take here: give fewer or "
                "shorter texts"
            )

    def spend(self, tokens: int) -> None:
        """Count tokens that the model is to read; `ValueError` if they are more than one run may have."""
        self.check()
        self._spent += tokens
        if self._tokens is not None and self._spent > self._tokens:
            raise ValueError(
                f"the texts have more than {self._tokens} tokens together, the most that one run may read here: give "
                "fewer or shorter texts"
            )

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
