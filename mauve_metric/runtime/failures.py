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
