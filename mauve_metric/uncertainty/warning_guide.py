"""Meaning and remedy of each warning's code, for the page of warnings and for the shell, from `warning_guide.md`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from mauve_metric.measures import groups
from mauve_metric.uncertainty import format_check, score_warnings, wrapping_warnings

_THRESHOLDS = (groups, format_check, score_warnings, wrapping_warnings)


class Advice(NamedTuple):
    """One code. cause: when the warning comes, with its threshold. cure: what to do."""

    cause: str
    cure: str


def _read() -> dict[str, Advice]:
    """The advice by codes, with the values of the thresholds that it names."""
    text = re.sub("<!--.*?-->", "", Path(__file__).with_suffix(".md").read_text(encoding="utf-8"))
    text = text.format(**{module.__name__.split(".")[-1]: module for module in _THRESHOLDS}).replace("%", " %")
    found = {}
    for part in re.split("^# ", text, flags=re.MULTILINE)[1:]:
        code, cause, cure = (" ".join(lines.split()) for lines in part.strip().split("\n\n"))
        found[code] = Advice(cause, cure)
    return found


ADVICE = _read()
