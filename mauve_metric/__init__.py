"""MAUVE: how close a model's texts are to human texts, and whether to believe the number.

>>> from mauve_metric import compute_mauve
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path

from mauve_metric.version import __version__ as __version__

_IMPORTS = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")  # a line "from … import … as …" for each name
_HOMES = {line.split()[-1]: line.split()[1] for line in _IMPORTS.split("\n") if line.startswith("from ")}
# loaded before: the measures of `describe` register the direction in which each is better
_FIRST = {"rank_by_preferences": "mauve_metric.apps.describing.catalogue.all_measures"}
# what `import *` leaves out where a package is missing that the module itself needs
_LEFT_OUT = () if all(map(find_spec, ("torch", "transformers"))) else ("mauve_metric.hosts.trainer.callback",)
__all__ = sorted(["evaluate_path", *(name for name, home in _HOMES.items() if home not in _LEFT_OUT)])


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
    if name in _FIRST:
        importlib.import_module(_FIRST[name])
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
