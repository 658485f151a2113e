"""Words and marks: what a text is cut into where no tokenizer is asked for."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def tokens_of(text: str) -> list[str]:
    """The words of a text as they are written, and its punctuation marks, one token each.

    >>> tokens_of("Don't panic: 3.5 km!")
    ["Don't", 'panic', ':', '3', '.', '5', 'km', '!']
    """
    return _TOKEN.findall(text)
