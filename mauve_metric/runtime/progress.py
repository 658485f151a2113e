"""Progress bars on stderr, and lines in the log where there is no terminal."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from mauve_metric.arrays import Array

T = TypeVar("T")

logger = logging.getLogger(__name__)

LOG_SECONDS = 10.0  # between two lines


def watch_blocks(title: str, blocks: Iterable[Array], rows: int) -> Iterator[Array]:
    """Yield the blocks of a pass over features, with a progress bar when stderr is a terminal."""
    with progress_bar(title, True, unit=" rows") as advance:
        done = 0
        for block in blocks:
            yield block
            done += len(block)
            if advance is not None:
                advance(done, rows)


def watched(title: str, items: Collection[T], verbose: bool, unit: str) -> Iterator[T]:
    """Yield the items one by one, with a progress bar when asked for and stderr is a terminal."""
    from tqdm.auto import tqdm

    hidden = not (verbose and sys.stderr.isatty())
    yield from tqdm(items, desc=title, unit=unit, dynamic_ncols=True, disable=hidden)


@contextlib.contextmanager
def progress_bar(
    title: str, verbose: bool, unit: str = " texts", total: int | None = None, leave: bool = True
) -> Iterator[Callable[[int, int | None], None] | None]:
    """Return a function to call with texts done and in all: a tqdm bar when asked for and stderr is a terminal.

    Args:
        title: what is done. verbose: whether to show it. unit: of what is counted.
        total: how many there are, if known at the start. leave: whether the bar stays on the screen afterwards.
    """
    if not (verbose and sys.stderr.isatty()):
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(desc=title, unit=unit, total=total, dynamic_ncols=True, leave=leave) as bar:

        def advance(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield advance


class LogLines(io.StringIO):
    """A file whose lines go to a logger."""

    def __init__(self, log: Callable[[str], None]) -> None:
        super().__init__()
        self.log = log

    def write(self, text: str) -> int:
        """Log text that is not only white space."""
        if text.strip():
            self.log(text.strip())
        return len(text)


@contextlib.contextmanager
def job_progress(
    title: str, sizes: Sequence[int], verbose: bool, parts: str = "shards", counted: str = "texts"
) -> Iterator[Callable[[int, int], None]]:
    """Return a function to call with the number of each finished shard and its texts; shows the remaining time.

    A bar on a terminal when asked for, else a line in the log every ten seconds and at the end.

    Args:
        title: of the job. sizes: of the shards in bytes, by which the time left is estimated. verbose: show a bar.
        parts, counted: words for shards and texts.
    """
    from tqdm import tqdm

    log: dict[str, Any] = {"file": LogLines(logger.info), "mininterval": LOG_SECONDS}
    where = {"dynamic_ncols": True} if verbose and sys.stderr.isatty() else log
    line = "{desc}: {percentage:.0f} %{postfix}, {elapsed} elapsed, {remaining} left"
    done = count = 0
    with tqdm(total=sum(sizes), desc=title, bar_format=line, postfix=f"{len(sizes)} {parts}", **where) as bar:

        def advance(number: int, new: int) -> None:
            nonlocal done, count
            done, count = done + 1, count + new
            bar.set_postfix_str(f"{done} of {len(sizes)} {parts}, {count} {counted}", refresh=False)
            bar.update(sizes[number])

        yield advance
