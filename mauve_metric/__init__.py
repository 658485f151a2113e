"""MAUVE: how close a model's texts are to human texts, and whether to believe the number.

>>> from mauve_metric import compute_mauve
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mauve_metric.version import __version__ as __version__

if TYPE_CHECKING:  # where type checkers and editors find the names
    from mauve_metric.api.baseline import human_baseline as human_baseline
    from mauve_metric.api.boundaries import score_boundary_guesses as score_boundary_guesses
    from mauve_metric.api.compare import compare as compare
    from mauve_metric.api.compute import compute_mauve as compute_mauve
    from mauve_metric.api.describe import describe as describe
    from mauve_metric.api.explain import explain as explain
    from mauve_metric.api.preferences import rank_by_preferences as rank_by_preferences
    from mauve_metric.api.robustness import robustness as robustness
    from mauve_metric.api.stress_test import stress_test as stress_test
    from mauve_metric.features.feature_set import FeatureSet as FeatureSet
    from mauve_metric.features.feature_set import featurize as featurize
    from mauve_metric.generation.evaluator import evaluate_model as evaluate_model
    from mauve_metric.hosts.trainer.callback import MauveCallback as MauveCallback
    from mauve_metric.hosts.trainer.callback import MauveTrainerMixin as MauveTrainerMixin
    from mauve_metric.options import MauveConfig as MauveConfig
    from mauve_metric.quantize.histograms import Histograms as Histograms
    from mauve_metric.results.baseline import HumanBaseline as HumanBaseline
    from mauve_metric.results.comparison import Comparison as Comparison
    from mauve_metric.results.comparison import Difference as Difference
    from mauve_metric.results.description import Description as Description
    from mauve_metric.results.explanation import Explanation as Explanation
    from mauve_metric.results.result import MauveResult as MauveResult
    from mauve_metric.results.robustness import Robustness as Robustness
    from mauve_metric.results.stress_test import StressTest as StressTest
    from mauve_metric.sharding.sharded import score_sharded as score_sharded
    from mauve_metric.sharding.sharded import shard_pass as shard_pass
    from mauve_metric.texts.files import TextFile as TextFile
    from mauve_metric.texts.files import read_texts as read_texts
    from mauve_metric.uncertainty.score_warnings import ScoreWarning as ScoreWarning

_HOMES = {  # every public name but two is imported when it is first asked for
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

if not TYPE_CHECKING:  # which take the names from the imports above
    __all__ = sorted(["__version__", "evaluate_path", *_HOMES])


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
    return sorted({*globals(), *_HOMES})
