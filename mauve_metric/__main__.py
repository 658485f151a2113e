"""`python -m mauve_metric` and the program `mauve-metric`: the command line, and Ctrl-C from the first moment on.

Nothing but the standard library is imported before an interrupt is taken care of.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 128 + signal.SIGINT


def main() -> int:
    """Run the command line; the exit status, 130 for an interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell has set it to be ignored
        signal.signal(signal.SIGINT, _interrupted)
    try:
        from mauve_metric.runtime.threads import prepare_threads

        prepare_threads()
        from mauve_metric.hosts.cli.main import main as run_command

        return run_command()
    except KeyboardInterrupt:
        _leave()
    finally:
        if signal.getsignal(signal.SIGINT) is _interrupted:
            signal.signal(signal.SIGINT, _leave)  # while Python takes itself down


def _interrupted(number: int, frame: FrameType | None) -> None:
    """`KeyboardInterrupt`, but while a module is imported, which may swallow it or print it: there the end at once."""
    caller = frame
    while caller is not None:
        if caller.f_code.co_filename.startswith("<frozen importlib"):
            _leave()
        caller = caller.f_back
    raise KeyboardInterrupt


def _leave(number: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
    """End the process with the message and exit code of an interrupt, without a traceback."""
    outputs = sys.modules.get("mauve_metric.runtime.outputs")
    getattr(outputs, "delete_unfinished", lambda: None)()
    with contextlib.suppress(OSError):  # stderr is closed
        os.write(2, b"mauve-metric: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
