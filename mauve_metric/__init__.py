"""MAUVE: how close a model's texts are to human texts, and whether to believe the number.

>>> from mauve_metric import compute_mauve
"""

from mauve_metric.compute import compute_mauve
from mauve_metric.config import MauveConfig
from mauve_metric.quantize import Histograms
from mauve_metric.reference import Reference
from mauve_metric.result import MauveResult, ScoreWarning

__version__ = "0.1.0"

__all__ = ["Histograms", "MauveConfig", "MauveResult", "Reference", "ScoreWarning", "__version__", "compute_mauve"]
