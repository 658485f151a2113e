"""Progress bars on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from mauve_metric.arrays import Array

T = TypeVar("T")


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
