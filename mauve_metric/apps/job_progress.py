"""The progress of a job of many shards: a bar on stderr, or lines in the log where there is no terminal."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mauve_metric.runtime.progress import LINE_SECONDS, LogLines

logger = logging.getLogger(__name__)


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

    log: dict[str, Any] = {"file": LogLines(logger.info), "mininterval": LINE_SECONDS}
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
