"""Errors that are expected of data, files, packages and machines, and their messages."""

from __future__ import annotations

import contextlib

EXPECTED = (ValueError, OSError, ImportError, RuntimeError, MemoryError)


def message_of(error: BaseException) -> str:
    """The message of an error on one line; the name of its class if it has none.

    >>> message_of(ValueError("two\\nlines")), message_of(MemoryError())
    ('two lines', 'MemoryError')
    """
    text = ""
    with contextlib.suppress(Exception):  # an error of a user's own class can fail to give its text
        text = " ".join(str(error).split())
    return text or type(error).__name__


def one_line(message: object, most: int = 200) -> str:
    """The message of another library as a part of one sentence, at most so many characters long.

    >>> one_line(ValueError("two\\nlines")), one_line("too long", most=5)
    ('two lines', 'too …')
    """
    text = " ".join(str(message).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
