"""Consistency of a stored result: its scores are computed again from the counts that it holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np

from mauve_metric.arrays import Floats, Integers
from mauve_metric.clustering.histograms import Histograms
from mauve_metric.clustering.num_buckets import auto_num_buckets
from mauve_metric.clustering.partition import USUAL_FOR_CLOSENESS
from mauve_metric.options import MauveConfig, config_fields
from mauve_metric.results.scores import SCORES
from mauve_metric.results.signature import EXPLICIT, parse_signature
from mauve_metric.runtime.checks import is_bool, shown
from mauve_metric.scoring.score import score_histograms
from mauve_metric.scoring.verdict import EQUIVALENT, FEWEST_ALIKE, REASONS
from mauve_metric.uncertainty.intervals import debiased_scores
from mauve_metric.uncertainty.jackknife import frontier_of

_SAME = 1e-6  # by which a score may differ from what its own counts give: other versions round otherwise
_PARTS = ("mauve_debiased", "mauve_classifier")  # of closeness
# fields that a file's own numbers do not determine
AS_STORED = ("closeness", "mauve_debiased", "precision", "recall", "density", "coverage", "frechet_distance", "p_value")
_SHARES = (
    *("p_value", "auc_p_value", "shown_p_value", "repeats_p_value"),
    *("format_auc", "human_halves", "p_repeated", "q_repeated", "mauve_ceiling", "mauve_finer"),
)
_COUNTS = (
    *(f"{side}_{of}" for side in "pq" for of in ("prompts", "dropped", "truncated", "median_length")),
    *("partners", "texts_needed", "repeated_groups"),
)
_USUAL = {name: config_fields()[name].metadata["usual"] for name in USUAL_FOR_CLOSENESS}
_OF_SCORES = ("mauve_scaling_factor", "divergence_curve_discretization_size")


def check_stored(values: Mapping[str, Any]) -> None:
    """Refuse a result whose numbers contradict each other.

    From the histograms come MAUVE, the areas, the floor and the divergences; from the counts on learned buckets the
    ends between which the AUC lies, and where no texts share prompts the learned score; from MAUVE of each clustering
    their mean and deviation. Intervals hold their scores, closeness is no higher than any of its parts, and the verdict
    is the one that follows from it. What needs the texts is only held to its range:
    `AS_STORED`, errors and warnings.

    Args:
        values: what `MauveResult.to_dict` gave.

    Raises:
        ValueError: a number is none, or is not what the counts give; a part is missing or of another type.

    >>> from mauve_metric import compute_mauve
    >>> result = compute_mauve(p_features=[[0.0], [1.0]] * 9, q_features=[[0.0], [1.0]] * 9).to_dict()
    >>> check_stored(result)
    >>> check_stored(result | {"mauve_star": 0.5})
    Traceback (most recent call last):
    ValueError: its mauve_star is not what its own counts give: the file was changed
    """
    try:
        _check_parts(values)
    except KeyError as error:
        raise ValueError(f"{error.args[0]!r} is missing") from error
    except (AttributeError, TypeError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _check_parts(values: Mapping[str, Any]) -> None:
    entries = parse_signature(str(values["signature"]))
    config = MauveConfig(**{name: entries[name] for name in _OF_SCORES})  # type: ignore[arg-type]  # which checks them
    p, q = (bucket_counts(values, side) for side in ("p", "q"))
    if len(p) != len(q):
        raise ValueError("p_hist and q_hist must have one length")
    scores = score_histograms(Histograms(p, q), config)
    expected = {name: value for name, value in scores.items() if isinstance(value, float)}
    for name, row in SCORES.items():
        if "shares" in row.inputs.forms and values.get(name) is not None:
            expected[name] = row.compute(scores["p_hist"], scores["q_hist"])
    for name, value in expected.items():
        _check_equal(name, values[name], value)
    for name, row in SCORES.items():
        _check_range(name, values.get(name), row.low, row.high)
    for names, high in ((_SHARES, 1), (_COUNTS, None)):
        for name in names:
            _check_range(name, values.get(name), 0, high)
    _check_intervals(values)
    _check_runs(values)
    _check_learned(values, config)
    each = (values.get("by_featurizer") or {}).values()
    check_closeness(values, each)
    for part in (values, *each):
        _check_intervals(part)
        _check_held(part)
    _check_verdict(values)


def check_stored_order(values: Mapping[str, Any]) -> None:
    """Refuse a comparison whose ranking and differences are not those of its models' scores, each checked before.

    Args:
        values: what `Comparison.to_dict` gave.

    Raises:
        ValueError: they are others. KeyError, TypeError: a part is missing or wrong.
    """
    models = values["models"]
    for name, result in models.items():
        check_closeness(result, [each["models"][name] for each in (values.get("by_featurizer") or {}).values()])
    if values["ranked_by"] != "closeness" or any(result["closeness_ci"] is None for result in models.values()):
        return
    scores = {
        name: result["closeness"]
        if result.get("closeness_without_layout") is None
        else result["closeness_without_layout"]
        for name, result in models.items()
    }
    ranked = [scores[name] for name in values["ranking"]]
    if any(after > before + _SAME for before, after in pairwise(ranked)):
        raise ValueError("its ranking is not by falling closeness: the file was changed")
    for pair in values["differences"]:
        _check_equal(
            f"difference of {pair['a']} and {pair['b']}", pair["difference"], scores[pair["a"]] - scores[pair["b"]]
        )


def bucket_counts(values: Mapping[str, Any], side: str) -> Integers:
    """The number of texts of a side in each bucket, (k,), from its shares.

    Raises:
        ValueError: they are no shares of its number of texts.
    """
    try:
        histogram: Floats = np.array(values[f"{side}_hist"], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{side}_hist must hold numbers") from error
    n, buckets = values[f"n_{side}"], values["num_buckets"]
    if histogram.shape != (buckets,) or buckets < 1:
        raise ValueError(f"{side}_hist must hold {buckets} numbers")
    counts = np.rint(np.clip(histogram, 0, 1) * n)
    if not np.abs(histogram - counts / max(n, 1)).max() <= _SAME or counts.sum() != n:
        raise ValueError(f"{side}_hist must hold shares of n_{side} texts")
    in_buckets: Integers = counts.astype(np.int64)
    return in_buckets


def _check_intervals(values: Mapping[str, Any]) -> None:
    """Check that every interval is two numbers, where there is one."""
    for name, ends in values.items():
        is_ends = isinstance(ends, (list, tuple)) and len(ends) == 2
        if name.endswith("_ci") and ends is not None and not (is_ends and all(map(_is_number, ends))):
            raise ValueError(f"its {name} must be two numbers, got {shown(ends)}")


def _check_held(values: Mapping[str, Any]) -> None:
    """Check that every interval holds its score, and that no error is below 0."""
    for name, value in values.items():
        if name.endswith(("_stderr", "_std")):
            _check_range(name, value, 0, None)
        if name.endswith("_ci") and value is not None:
            score = values.get(name.removesuffix("_ci"))
            if not _is_number(score) or not value[0] - _SAME <= score <= value[1] + _SAME:
                raise ValueError(f"its {name} must hold its score, {shown(score)}: the file was changed")


def _check_runs(values: Mapping[str, Any]) -> None:
    """Check mean and standard deviation over clusterings against MAUVE of each."""
    try:
        runs: Floats = np.array(values["mauve_runs"], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("mauve_runs must hold numbers") from error
    if runs.ndim != 1 or not len(runs):
        raise ValueError("mauve_runs must hold numbers")
    _check_equal("mauve", values["mauve"], float(runs[0]))
    _check_equal("mauve_mean", values["mauve_mean"], float(runs.mean()))
    if len(runs) > 1:
        _check_equal("mauve_std", values["mauve_std"], float(runs.std(ddof=1)))
    elif values["mauve_std"] is not None:
        raise ValueError("mauve_std must be of two clusterings or more")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not is_bool(value)


def _check_learned(values: Mapping[str, Any], config: MauveConfig) -> None:
    """Check score and AUC against the counts on learned buckets, from human to model-like."""
    score, auc = values.get("mauve_classifier"), values.get("auc")
    counts = [values.get(f"learned_{side}_counts") for side in ("p", "q")]
    if None in counts or score is None or auc is None:
        if any(value is not None for value in (score, auc, *counts)):
            raise ValueError("mauve_classifier, auc, learned_p_counts and learned_q_counts belong together")
        return
    try:
        p, q = (np.array(side, dtype=np.int64) for side in counts)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("learned_p_counts and learned_q_counts must hold whole numbers") from error
    if p.shape != q.shape or p.ndim != 1 or (p.sum(), q.sum()) != (values["n_p"], values["n_q"]) or min(*p, *q) < 0:
        raise ValueError("learned_p_counts and learned_q_counts must hold numbers of all texts")
    p_shares, q_shares = p / p.sum(), q / q.sum()
    below = float(q_shares @ (np.cumsum(p_shares) - p_shares))  # without pairs in one bucket, which count 0 to 1
    if not below - _SAME <= auc <= below + float(p_shares @ q_shares) + _SAME:
        raise ValueError("its auc is not what its own counts give: the file was changed")
    repeated = values.get("p_repeated") or values.get("q_repeated")  # which ones, and so count once, is not known
    if values["design"] == "independent" or (values["design"] == "undeclared" and not repeated):
        expected = debiased_scores(frontier_of(Histograms(p, q)), config.mauve_scaling_factor).mauve
        _check_equal("mauve_classifier", score, expected)


def check_closeness(values: Mapping[str, Any], each: Iterable[Mapping[str, Any]]) -> None:
    """Check that closeness and the lower end of its interval are no higher than those of any part with an interval.

    Args:
        values: of a result. each: of the results of each featurizer, where there are several.

    Raises:
        ValueError: they are higher.
    """
    value, ci = values.get("closeness"), values.get("closeness_ci")
    if value is None or ci is None:
        return
    for part in (values, *each, values.get("together") or {}):
        _check_intervals(part)
        for score in _PARTS:
            ends = f"{score}_ci"
            if part.get(score) is None or part.get(ends) is None or (score == "mauve_debiased" and not _is_usual(part)):
                continue
            if value > part[score] + _SAME or ci[0] > part[ends][0] + _SAME:
                raise ValueError(f"its closeness must be no higher than its {score}: the file was changed")
    _check_without_layout(values)


def _check_without_layout(values: Mapping[str, Any]) -> None:
    """Check the closeness without layout against the learned score of the same texts without layout."""
    value, learned = values.get("closeness_without_layout"), values.get("normalised")
    if value is None or learned is None:  # of several featurizers, the learned score may be another one's
        return
    if value > learned["mauve_classifier"] + _SAME:
        raise ValueError("its closeness_without_layout must be no higher than its normalised: the file was changed")


def _is_usual(values: Mapping[str, Any]) -> bool:
    """Return whether the score by groups is of the clusterings that closeness is judged by, whatever the options."""
    entries = parse_signature(str(values["signature"]))
    options = all(entries.get(name, usual) == usual for name, usual in _USUAL.items()) and EXPLICIT not in entries
    return options and values["num_buckets"] == auto_num_buckets(values["n_p"], values["n_q"])


def _check_verdict(values: Mapping[str, Any]) -> None:
    """Check the verdict against the numbers that it follows from, see `scoring.verdict.judged`."""
    word, reason, ci = (values.get(name) for name in ("verdict", "verdict_reason", "closeness_ci"))
    if word == "no verdict":
        follows = reason in REASONS
    elif values.get("shown_p_value") is not None and not values.get("shown_by"):
        follows = False
    elif values.get("shown_by"):
        follows = word == "different"
    else:
        are_many = min(values["n_p"], values["n_q"]) >= FEWEST_ALIKE
        alike = "like human" if ci is not None and ci[0] > EQUIVALENT and are_many else "undecided"
        follows = ci is not None and reason is None and word == alike
    if not follows:
        raise ValueError(f"its verdict {shown(word)} is not what its own numbers give: the file was changed")


def _check_range(name: str, stored: object, low: float | None, high: float | None) -> None:
    if stored is None:
        return
    least, most = -math.inf if low is None else low - _SAME, math.inf if high is None else high + _SAME
    if not _is_number(stored) or not (least <= stored <= most and stored < math.inf):
        raise ValueError(f"its {name} must be a number in its range, got {shown(stored)}")


def _check_equal(name: str, stored: object, expected: float) -> None:
    if not isinstance(stored, (int, float)) or not abs(stored - expected) <= _SAME:
        raise ValueError(f"its {name} is not what its own counts give: the file was changed")
