"""The log of a server: types and places of errors, never their messages, which may quote a visitor's texts.

gradio (6.31), uvicorn and asyncio report errors by tracebacks, whose last line is the error's own message.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Iterator

_OF_SERVER = ("gradio", "uvicorn", "asyncio", "httpx", "httpcore", "starlette", "fastapi", "mcp", "python_multipart")


def _without_message(error: traceback.TracebackException, **_: object) -> Iterator[str]:
    """In place of `TracebackException.format_exception_only`, which all tracebacks call, those of causes too."""
    kind = getattr(error, "exc_type_str", None) or getattr(error.exc_type, "__name__", "an error")
    yield f"{kind} (its words are left out here: they may quote texts)\n"


def keep_texts_out() -> Callable[[], None]:
    """Make this process write errors without their messages; return a function that undoes it.

    Tracebacks that are printed, records of `logging` with an error, and what the server's packages log, of which the
    first line is kept. Meant for a process that is a server and nothing else.
    """
    of_error = traceback.TracebackException.format_exception_only
    of_log, of_thread = logging.getLogRecordFactory(), threading.excepthook

    def record(*values: object, **named: object) -> logging.LogRecord:
        """Make a record without the words of its error."""
        record = of_log(*values, **named)
        found = record.exc_info
        error: BaseException | None = found[1] if isinstance(found, tuple) else None
        if error is not None or record.name.split(".")[0] in _OF_SERVER:
            message = record.getMessage()
            for words in (str(error), repr(error), *map(str, error.args)) if error is not None else ():
                message = message.replace(words, "…") if words else message
            record.msg, record.args = message.split("\n")[0], ()
        return record

    def put_back() -> None:
        traceback.TracebackException.format_exception_only = of_error  # type: ignore[method-assign]
        threading.excepthook = of_thread
        logging.setLogRecordFactory(of_log)

    traceback.TracebackException.format_exception_only = _without_message  # type: ignore[method-assign,assignment]
    threading.excepthook = lambda args: traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)
    logging.setLogRecordFactory(record)
    return put_back
