"""Meaning and remedy of each warning's code, for the page of warnings and for the shell, from `warning_texts.md`."""

from __future__ import annotations

from mauve_metric.apps.describing.duplicates import duplication_warnings
from mauve_metric.features import dependence
from mauve_metric.measures import groups
from mauve_metric.uncertainty import format_check, intervals, score_warnings

_MODULES = (duplication_warnings, dependence, groups, format_check, intervals, score_warnings)
_THRESHOLDS = {module.__name__.split(".")[-1]: module for module in _MODULES}
ADVICE = {
    code: advice._replace(
        cause=advice.cause.format(**_THRESHOLDS).replace("%", " %"),
        cure=advice.cure.format(**_THRESHOLDS).replace("%", " %"),
    )
    for code, advice in score_warnings.GUIDE.items()
}
