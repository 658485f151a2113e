"""MAUVE: how close a model's texts are to human texts, and whether to believe the number.

>>> from mauve_metric import compute_mauve
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mauve_metric.version import __version__

if TYPE_CHECKING:
    from mauve_metric.api.baseline import human_baseline
    from mauve_metric.api.boundaries import score_boundary_guesses
    from mauve_metric.api.compare import compare
    from mauve_metric.api.compute import compute_mauve
    from mauve_metric.api.describe import describe
    from mauve_metric.api.explain import explain
    from mauve_metric.api.preferences import rank_by_preferences
    from mauve_metric.api.robustness import robustness
    from mauve_metric.api.stress_test import stress_test
    from mauve_metric.features.feature_set import FeatureSet, featurize
    from mauve_metric.generation.evaluator import evaluate_model
    from mauve_metric.hosts.trainer.callback import MauveCallback, MauveTrainerMixin
    from mauve_metric.options import MauveConfig
    from mauve_metric.quantize.histograms import Histograms
    from mauve_metric.results.baseline import HumanBaseline
    from mauve_metric.results.comparison import Comparison, Difference
    from mauve_metric.results.description import Description
    from mauve_metric.results.explanation import Explanation
    from mauve_metric.results.result import MauveResult
    from mauve_metric.results.robustness import Robustness
    from mauve_metric.results.stress_test import StressTest
    from mauve_metric.sharding.sharded import score_sharded, shard_pass
    from mauve_metric.texts.files import TextFile, read_texts
    from mauve_metric.uncertainty.score_warnings import ScoreWarning

__all__ = [
    "Comparison",
    "Description",
    "Difference",
    "Explanation",
    "FeatureSet",
    "Histograms",
    "HumanBaseline",
    "MauveCallback",
    "MauveConfig",
    "MauveResult",
    "MauveTrainerMixin",
    "Robustness",
    "ScoreWarning",
    "StressTest",
    "TextFile",
    "__version__",
    "compare",
    "compute_mauve",
    "describe",
    "evaluate_model",
    "evaluate_path",
    "explain",
    "featurize",
    "human_baseline",
    "rank_by_preferences",
    "read_texts",
    "robustness",
    "score_boundary_guesses",
    "score_sharded",
    "shard_pass",
    "stress_test",
]

_HOMES = {  # every public name is imported when it is first asked for
    "HumanBaseline": "results.baseline",
    "Comparison": "results.comparison",
    "Description": "results.description",
    "Difference": "results.comparison",
    "Explanation": "results.explanation",
    "Histograms": "quantize.histograms",
    "MauveCallback": "hosts.trainer.callback",
    "MauveConfig": "options",
    "MauveResult": "results.result",
    "MauveTrainerMixin": "hosts.trainer.callback",
    "FeatureSet": "features.feature_set",
    "ScoreWarning": "uncertainty.score_warnings",
    "Robustness": "results.robustness",
    "StressTest": "results.stress_test",
    "TextFile": "texts.files",
    "human_baseline": "api.baseline",
    "compare": "api.compare",
    "compute_mauve": "api.compute",
    "describe": "api.describe",
    "evaluate_model": "generation.evaluator",
    "explain": "api.explain",
    "featurize": "features.feature_set",
    "rank_by_preferences": "api.preferences",
    "read_texts": "texts.files",
    "score_boundary_guesses": "api.boundaries",
    "score_sharded": "sharding.sharded",
    "shard_pass": "sharding.sharded",
    "robustness": "api.robustness",
    "stress_test": "api.stress_test",
}


def evaluate_path() -> str:
    """The folder of the package, from which `evaluate.load(mauve_metric.evaluate_path())` makes the metric.

    Returns:
        The path as a string.

    Raises:
        AttributeError: never in an installed package, whose folder is known.
    """
    return __path__[0]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
