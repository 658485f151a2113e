"""Checks of scores against a bound and against an earlier run, for automatic jobs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mauve_metric.results.comparison import Comparison
from mauve_metric.results.plain_text import digits, p_words
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import VERSIONS, signature_texts
from mauve_metric.texts.records import read_json
from mauve_metric.uncertainty.buckets import holm
from mauve_metric.uncertainty.forecast import detectable_difference
from mauve_metric.uncertainty.intervals import Estimate, estimate_difference

_MAY_DIFFER = ("n_q", "q_digest", "q_texts", *VERSIONS)


class Change(NamedTuple):
    """A model's change since an earlier run.

    is_worse: significant with Holm's correction for the number of models. sentence: the numbers, and the change that
    these sets would have shown.
    """

    is_worse: bool
    sentence: str


def score_below(result: MauveResult, bound: float) -> str:
    """Sentence on a debiased score below a bound; empty for one at or above it."""
    if result.mauve_debiased is None:
        return f"there is no debiased score to compare with {bound:g}"
    if result.mauve_debiased >= bound:
        return ""
    return f"the debiased score is {digits(result.mauve_debiased)}, below {bound:g}"


def read_scores(path: str | Path) -> dict[str, Mapping[str, Any]]:
    """The results by model in a file that `compare --json` printed.

    Raises:
        ValueError: the file holds no such results. OSError: it cannot be read.
    """
    content = read_json(path)
    models = content.get("models") if isinstance(content, Mapping) else None
    if not isinstance(models, Mapping) or not all(isinstance(item, Mapping) for item in models.values()):
        raise ValueError(f"{path} must be what compare --json printed: it has no 'models' with scores")
    return dict(models)


def changes(comparison: Comparison, before: Mapping[str, Mapping[str, Any]]) -> dict[str, Change]:
    """The change of each model that an earlier comparison has too, by the debiased scores and their intervals.

    The errors of both runs are taken as independent. They share the human texts, so that the test errs on the safe
    side: it calls fewer changes real.

    Args:
        comparison: of this run. before: see `read_scores`.

    Raises:
        ValueError: no model is in both; the runs differ in more than the models' texts; a score has no interval.
    """
    names = [name for name in comparison.models if name in before]
    if not names:
        raise ValueError(f"no model is in both runs: {', '.join(comparison.models)} now, {', '.join(before)} before")
    level = comparison.confidence_level
    found = {}
    for name in names:
        settings = signature_texts(comparison.models[name].signature)
        earlier = signature_texts(str(before[name].get("signature")))
        entries = [
            f"{key} {settings.get(key)} now and {earlier.get(key)} before"
            for key in settings | earlier
            if settings.get(key) != earlier.get(key) and key not in _MAY_DIFFER
        ]
        if entries:
            raise ValueError(f"the scores of {name} cannot be compared with the earlier ones: {', '.join(entries)}")
        now, then = _estimate(name, vars(comparison.models[name])), _estimate(name, before[name])
        found[name] = now, then, estimate_difference(now, then, 0.0, level)
    p_values = holm([difference.p_value for *_, difference in found.values()])
    result = {}
    for (name, (now, then, difference)), p_value in zip(found.items(), p_values, strict=True):
        value, low, high = (digits(number, "+.4f") for number in (difference.value, *difference.ci))
        smallest = digits(detectable_difference(difference.stderr, level), ".2g")
        sentence = (
            f"{name}: {digits(now.value)} now, {digits(then.value)} before; difference {value} ({low} to {high}, "
            f"{p_words(p_value)}). A difference of {smallest} would have shown in 8 of 10 cases"
        )
        result[name] = Change(difference.value < 0 and bool(p_value < 1 - level), sentence)
    return result


def _estimate(name: str, values: Mapping[str, Any]) -> Estimate:
    try:
        low, high = values["mauve_ci"]
        return Estimate(float(values["mauve_debiased"]), float(values["mauve_stderr"]), (float(low), float(high)))
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"a score of {name} has no interval, so that a change cannot be tested") from None
