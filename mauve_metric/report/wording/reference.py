"""The name of the reference texts in sentences, columns and labels, which are written for human texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mauve_metric.options import HUMAN
from mauve_metric.report.document import Column
from mauve_metric.runtime.plain_text import printable

_QUOTED_OR_HUMAN = re.compile(r"“[^”]*”|(?<![\w./-])[Hh]uman(?![\w/=-]|\.\w)")


def reference_text(name: str) -> str:
    """The reference in a sentence.

    >>> reference_text("human"), reference_text("release 1.2")
    ('human text', 'release 1.2')
    """
    return f"{HUMAN} text" if name == HUMAN else printable(name)


def with_reference(text: str, name: str) -> str:
    """A sentence or label that calls the reference texts by their name; quotations, flags and files stay.

    >>> with_reference("two human sets, “human” in human.jsonl", "release 1.2")
    'two release 1.2 sets, “human” in human.jsonl'
    """
    if name == HUMAN:
        return text
    shown = printable(name)
    return _QUOTED_OR_HUMAN.sub(lambda match: match[0] if match[0].startswith("“") else shown, text)


def columns_with_reference(columns: Iterable[Column], name: str) -> tuple[Column, ...]:
    """Columns whose titles call the reference texts by their name."""
    return tuple(column._replace(title=with_reference(column.title, name)) for column in columns)
