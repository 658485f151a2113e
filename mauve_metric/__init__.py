"""MAUVE: how close a model's texts are to human texts, and whether to believe the number.

>>> from mauve_metric import compute_mauve
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mauve_metric.compare import compare
from mauve_metric.comparison import Comparison, Difference
from mauve_metric.compute import compute_mauve
from mauve_metric.config import MauveConfig
from mauve_metric.explain import explain
from mauve_metric.explanation import Explanation
from mauve_metric.quantize import Histograms
from mauve_metric.reference import Reference
from mauve_metric.result import MauveResult, ScoreWarning

if TYPE_CHECKING:
    from mauve_metric.callback import MauveCallback, MauveTrainerMixin
    from mauve_metric.model_evaluation import evaluate_model

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Difference",
    "Explanation",
    "Histograms",
    "MauveCallback",
    "MauveConfig",
    "MauveResult",
    "MauveTrainerMixin",
    "Reference",
    "ScoreWarning",
    "__version__",
    "compare",
    "compute_mauve",
    "evaluate_model",
    "explain",
]

_LATE = {  # what needs transformers or torch, imported when it is first asked for
    "MauveCallback": "callback",
    "MauveTrainerMixin": "callback",
    "evaluate_model": "model_evaluation",
}


def __getattr__(name: str) -> Any:
    """The names in `_LATE`."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATE[name]}"), name)
