"""Errors that a featurizer does not detect, as measured; `blind_spots.json` in this folder is output of `stress_test`.

`benchmarks/blind_spots.py` writes that file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from mauve_metric.runtime.checks import listed

_TABLE = Path(__file__).with_name("blind_spots.json")
_NAMED = 3  # errors in a sentence


def in_words(errors: Sequence[str]) -> str:
    """The first three errors, and how many more.

    >>> in_words(["typos", "missing capitals", "wrong numbers", "words left out", "words doubled"])
    'typos, missing capitals, wrong numbers or 2 more errors'
    """
    more = len(errors) - _NAMED
    return listed([*errors[:_NAMED], f"{more} more errors"] if more > 1 else errors, "or")


@functools.cache
def measured() -> list[dict[str, Any]]:
    """The stress tests that come with the package: featurizer, texts, and for each error its scores."""
    runs: list[dict[str, Any]] = json.loads(_TABLE.read_text(encoding="utf-8"))
    return runs


def blind_spots(identity: Mapping[str, str]) -> tuple[dict[str, str], int] | None:
    """Look up the errors that the featurizer of this identity does not detect, on any texts that it was measured on.

    Returns:
        The errors whose strongest form is not told apart from no error, by name as a sentence has them, and the texts
        in a half of the smallest set; None where there are none, or it was not measured.
    """
    runs = [run for run in measured() if all(_same(identity.get(key), value) for key, value in run["encoder"].items())]
    tried = [(name, scores) for run in runs for name, scores in run["perturbations"].items()]
    seen = {name for name, scores in tried if scores["smallest_seen"] is not None}
    unseen = {name: scores["said"] for name, scores in tried if name not in seen}
    return (unseen, min(run["n"] for run in runs)) if unseen else None


def seen_by(featurizer: str, errors: Collection[str]) -> list[str]:
    """Return those of these errors that a packaged featurizer detects, as a sentence has them.

    >>> seen_by("ngrams", ["lower_case", "sentences_shuffled"]), seen_by("mine", ["lower_case"])
    (['missing capitals'], [])
    """
    runs = [run["perturbations"] for run in measured() if run["featurizer"] == featurizer]
    seen = [run[name] for name in errors for run in runs if name in run and run[name]["smallest_seen"] is not None]
    return [*dict.fromkeys(scores["said"] for scores in seen)]


def _same(value: str | None, measured: str) -> bool:
    """Return whether an identity's value is the measured one; a revision is compared by its beginning."""
    return value is not None and (value == measured or (len(measured) >= 12 and value.startswith(measured)))
