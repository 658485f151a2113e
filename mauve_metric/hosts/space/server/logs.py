"""The log of a server: types and places of errors, never their messages, which may quote a visitor's texts.

gradio (6.31), uvicorn and asyncio report errors by tracebacks, whose last line is the error's own message.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from typing import TextIO

_OF_SERVER = ("gradio", "uvicorn", "asyncio", "httpx", "httpcore", "starlette", "fastapi", "mcp", "python_multipart")
_DEEPEST = 10  # causes of causes


def places(error: BaseException, depth: int = 0) -> str:
    """Format a traceback without the messages of the error and its causes.

    >>> places(ValueError("a private text"))
    'ValueError (its words are left out here: they may quote texts)\\n'
    """
    lines = ["Traceback (most recent call last):\n", *traceback.format_tb(error.__traceback__)]
    text = "".join(lines) if error.__traceback__ is not None else ""
    text += f"{type(error).__name__} (its words are left out here: they may quote texts)\n"
    context = None if error.__suppress_context__ else error.__context__
    causes = [cause for cause in (error.__cause__ or context,) if cause is not None]
    causes += error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    if depth < _DEEPEST:
        text += "".join(f"which came of {places(cause, depth + 1)}" for cause in causes)
    return text


def keep_texts_out() -> Callable[[], None]:
    """Make this process write errors without their messages; return a function that undoes it.

    Tracebacks that are printed, records of `logging` with an error, and what the server's packages log, of which the
    first line is kept. Meant for a process that is a server and nothing else.
    """
    was = traceback.print_exception, logging.getLogRecordFactory(), threading.excepthook

    def print_places(
        exc: object, /, value: object = None, *_: object, file: TextIO | None = None, **__: object
    ) -> None:
        error = value if isinstance(value, BaseException) else exc
        said = places(error) if isinstance(error, BaseException) else "an error without a kind\n"
        (sys.stderr if file is None else file).write(said)

    def record(*values: object, **named: object) -> logging.LogRecord:
        """Replace the error of a record by its type and place."""
        record = was[1](*values, **named)
        found = record.exc_info
        error: BaseException | None = found[1] if isinstance(found, tuple) else None
        if error is not None:
            record.exc_info, record.exc_text = None, places(error).rstrip("\n")
        if error is not None or record.name.split(".")[0] in _OF_SERVER:
            message = record.getMessage()
            for words in (str(error), repr(error), *map(str, error.args)) if error is not None else ():
                message = message.replace(words, "…") if words else message
            record.msg, record.args = message.split("\n")[0], ()
        return record

    def of_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            print_places(args.exc_value)

    def put_back() -> None:
        traceback.print_exception, threading.excepthook = was[0], was[2]
        logging.setLogRecordFactory(was[1])

    traceback.print_exception = print_places  # type: ignore[assignment]  # which `print_exc` and `logging` call too
    threading.excepthook = of_thread
    logging.setLogRecordFactory(record)
    return put_back
