"""Progress on stderr: bars on a terminal, lines every ten seconds elsewhere."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, TypeVar

from mauve_metric.arrays import Array

T = TypeVar("T")

LINE_SECONDS = 10.0  # between two lines, and before the first


class LogLines(io.StringIO):
    """A file whose lines go to a function, such as that of a logger; not twice what a bar writes again at its end."""

    def __init__(self, log: Callable[[str], object]) -> None:
        super().__init__()
        self.log, self.last = log, ""

    def write(self, text: str) -> int:
        """Log text that is neither white space alone nor the last line again."""
        line = text.strip()
        if line and line != self.last:
            self.log(line)
            self.last = line
        return len(text)


def watch_blocks(title: str, blocks: Iterable[Array], rows: int) -> Iterator[Array]:
    """Yield the blocks of a pass over features, with their progress."""
    with progress_bar(title, True, unit=" rows") as advance:
        done = 0
        for block in blocks:
            yield block
            done += len(block)
            if advance is not None:
                advance(done, rows)


def watched(title: str, items: Collection[T], verbose: bool, unit: str) -> Iterator[T]:
    """Yield the items one by one, with their progress when asked for."""
    with progress_bar(title, verbose, unit, total=len(items)) as advance:
        for done, work in enumerate(items, start=1):
            yield work
            if advance is not None:
                advance(done, len(items))


@contextlib.contextmanager
def progress_bar(
    title: str, verbose: bool, unit: str = " texts", total: int | None = None, leave: bool = True
) -> Iterator[Callable[[int, int | None], None] | None]:
    """Return a function to call with texts done and in all, which shows them by tqdm when asked for.

    Args:
        title: what is done. verbose: whether to show it. unit: of what is counted.
        total: how many there are, if known at the start. leave: whether the bar stays on the screen afterwards.
    """
    if not verbose:
        yield None
        return
    from tqdm import auto, std

    kind, form = (auto.tqdm, {"dynamic_ncols": True}) if sys.stderr.isatty() else (std.tqdm, _lines())
    with kind(desc=title, unit=unit, total=total, leave=leave, **form) as bar:

        def advance(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield advance


def _lines() -> dict[str, Any]:
    """Keywords of a tqdm bar that writes a line to stderr every ten seconds, and none for quick work."""
    file = LogLines(lambda line: sys.stderr.write(f"mauve-metric: {line}\n"))
    line = "{desc}: {n_fmt} of {total_fmt}{unit}, {elapsed} elapsed, {remaining} left"
    return {"file": file, "mininterval": LINE_SECONDS, "miniters": 0, "delay": LINE_SECONDS, "bar_format": line}
