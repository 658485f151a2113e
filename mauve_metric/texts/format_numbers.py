"""Format of texts in numbers: properties that separate sets of texts without regard to their content."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mauve_metric.arrays import Floats

_QUOTES = re.compile("[\"'`“”‘’«»„]")
_CAPITALS = re.compile("[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]")
_DASHES = re.compile("[–—]| - |--")
_MARKDOWN = re.compile(r"^\s*(?:[#>*+-]|\d+[.)])\s|\*\*|__|`|\]\(", re.MULTILINE)


class Format(NamedTuple):
    """One number of a text. what: its name in a sentence. cure: what takes the difference away, in words."""

    what: str
    cure: str
    of: Callable[[str], float]


def _rate(number: float, text: str) -> float:
    return number / max(len(text), 1)


def _kind(mark: str) -> float:
    """0 for a small letter or nothing, 1 for a capital, 2 for a digit, 3 for anything else."""
    return 1.0 if mark.isupper() else 2.0 if mark.isdigit() else 0.0 if mark.isalpha() or not mark else 3.0


def _last_kind(text: str) -> float:
    last = text.rstrip("\"'”’) \n\t")[-1:]
    return 1.0 if last in (".", "!", "?", "…") else 0.0


_STRIP_LINES = "strip='line_breaks' (--strip line_breaks) makes each text one line"
_STRIP_OUTER = "strip='whitespace' (--strip whitespace) takes blanks off both ends"
_LENGTHS = "match_lengths='truncate' (--match-lengths truncate) cuts both sets to one length"
_TYPOGRAPHY = "write the marks of both sets in one way before they are scored"
_MARKS = "strip='markdown' (--strip markdown) takes it off"
_NONE = "none, it is how the model writes"
_ENDS = "cut both sets at the end of a sentence"

FORMATS: dict[str, Format] = {
    "length": Format("length", _LENGTHS, lambda text: float(len(text))),
    "line_breaks": Format("line breaks", _STRIP_LINES, lambda text: _rate(text.strip().count("\n"), text)),
    "double_blanks": Format("double blanks", _STRIP_LINES, lambda text: _rate(text.count("  "), text)),
    "outer_blanks": Format(
        "blanks at the ends", _STRIP_OUTER, lambda text: float(text[:1].isspace()) + 2.0 * text[-1:].isspace()
    ),
    "first_character": Format("first characters", _ENDS, lambda text: _kind(text.lstrip()[:1])),
    "last_character": Format("last characters", _ENDS, _last_kind),
    "capitals": Format("capital letters", _TYPOGRAPHY, lambda text: _rate(len(_CAPITALS.findall(text)), text)),
    "quotes": Format("quotation marks", _TYPOGRAPHY, lambda text: _rate(len(_QUOTES.findall(text)), text)),
    "curly_quotes": Format("curly quotes", _TYPOGRAPHY, lambda text: _rate(sum(map(text.count, "“”‘’")), text)),
    "dashes": Format("dashes", _TYPOGRAPHY, lambda text: _rate(len(_DASHES.findall(text)), text)),
    "markdown": Format("Markdown", _MARKS, lambda text: _rate(len(_MARKDOWN.findall(text)), text)),
    "word_length": Format("characters a word", _NONE, lambda text: len(text) / max(len(text.split()), 1)),
}


def format_numbers(text: str) -> list[float]:
    """One number for each of `FORMATS`.

    >>> dict(zip(FORMATS, format_numbers("One\\ntwo.")))["line_breaks"]
    0.125
    """
    return [item.of(text) for item in FORMATS.values()]


FormatNumbers = Floats  # of the texts of a set, (n, len(FORMATS))
