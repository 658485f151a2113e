"""Items of work that may fail, one after the other in this process: what `ray_pool` does on many machines."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

ATTEMPTS = 3  # at one item, before it counts as failed
EXPECTED = (ValueError, OSError, ImportError, RuntimeError, MemoryError)  # of data, files, packages and machines
FAILURES = (*EXPECTED, TypeError)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome(Generic[Answer]):
    """What became of the item with this number: its answers (one, or none), or the last error."""

    number: int
    answers: tuple[Answer, ...] = ()
    error: str = ""


def work_in_process(make: Callable[[], Callable[[Item], Answer]], items: Sequence[Item]) -> Iterator[Outcome[Answer]]:
    """The outcome of each item, in order; `make` gives the function that works, and is called once."""
    function = make()
    for number, item in enumerate(items):
        error = ""
        for _ in range(ATTEMPTS):
            try:
                answer = function(item)
            except FAILURES as failure:
                error = said(failure)
                continue
            yield Outcome(number, (answer,))
            break
        else:
            yield Outcome(number, error=error)


def said(error: BaseException) -> str:
    """An error as a part of one sentence."""
    text = ""
    with contextlib.suppress(Exception):  # its text is anybody's code
        text = " ".join(str(error).split())
    return text or type(error).__name__
