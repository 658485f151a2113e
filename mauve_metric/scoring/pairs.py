"""Difference in closeness of two models, each to human texts of its own: two results that share no set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mauve_metric.clustering.num_buckets import auto_num_buckets
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.results.comparison import Difference
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import VERSIONS, settings_of, signature_texts
from mauve_metric.runtime.checks import is_bool, shown, wrong
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.uncertainty.intervals import Estimate, estimate_difference

_MOST_SIZES_APART = 0.1
_OF_SETS = ("n_p", "n_q", "p_digest", "q_digest", "p_texts", "q_texts", "prompts", "revision", "groups")
_OF_FEATURIZERS = ("featurizers", "featurizers_digest")  # which are compared by their names


def compare_pairs(pair: MauveResult | Mapping[str, Any], other_pair: MauveResult | Mapping[str, Any]) -> Difference:
    """Compare how close two models are, each to human texts of its own, such as those of two languages or years.

    The pairs of sets are independent, so that the interval of the difference of `closeness` follows from the two
    intervals (see `uncertainty.intervals.estimate_difference`). Closeness is an upper bound of MAUVE that is sharper
    for more texts: the sizes of the sets must be within a tenth of each other, and all options the same.

    Args:
        pair, other_pair: results of `compute_mauve`, or what their `to_dict` or `score --json` gave.

    Returns:
        The difference, closeness of `pair` minus that of `other_pair`, with its interval and p-value.

    Raises:
        TypeError: something else. ValueError: options or sizes differ, a set is in both, in one order (then `compare`
            allows for it), or a result has no verdict or no interval.

    >>> import numpy as np
    >>> from mauve_metric import compute_mauve
    >>> rows = np.random.default_rng(0).normal(size=(4, 100, 3))
    >>> one = compute_mauve(p_features=rows[0], q_features=rows[1] + 3)
    >>> other = compute_mauve(p_features=rows[2], q_features=rows[3])
    >>> compare_pairs(one, other).real
    True
    """
    values = {name: _values(name, content) for name, content in (("pair", pair), ("other_pair", other_pair))}
    settings = {name: settings_of(str(result["signature"])) for name, result in values.items()}
    _check_same(settings)
    _check_sets(values, settings)
    level = float(settings["pair"]["confidence_level"])
    estimates = [_estimate(name, result, level) for name, result in values.items()]
    difference = estimate_difference(estimates[0], estimates[1], 0.0, level)
    return Difference(
        "pair",
        "other_pair",
        difference.value,
        difference.ci,
        difference.p_value,
        bool(difference.p_value < 1 - level),
        difference.stderr,
    )


def _values(name: str, content: object) -> dict[str, Any]:
    """The numbers of a result as its `to_dict` gives them."""
    values = content.to_dict() if isinstance(content, MauveResult) else content
    if not isinstance(values, Mapping) or not _is_result(values):
        raise wrong(name, "a result of compute_mauve or what its to_dict gave", content)
    return dict(values)


def _is_result(values: Mapping[str, Any]) -> bool:
    """Return whether the entries that are read here are those of a result."""
    entries, ci = signature_texts(str(values.get("signature"))), values.get("closeness_ci")
    sizes = all(
        isinstance(size := values.get(name), int) and size > 0 and entries.get(name) == str(size)
        for name in ("n_p", "n_q")
    )
    has_ci = ci is None or (isinstance(ci, (list, tuple)) and len(ci) == 2)
    level = entries.get("confidence_level", "")
    return sizes and has_ci and "closeness" in values and re.fullmatch(r"0?\.\d+", level) is not None


def _check_same(settings: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse results of other options, with the names of these."""
    now, then = map(_options, settings.values())
    differing = [
        f"{key} ({now.get(key, 'none')} and {then.get(key, 'none')})"
        for key in {**now, **then}
        if now.get(key) != then.get(key)
    ]
    if differing:
        raise WrongOption.of(
            "other_pair", f"must have the options of the first pair, and differs in {', '.join(differing)}"
        )


def _options(entries: Mapping[str, str]) -> dict[str, str]:
    """The entries of a signature that are no numbers of the sets, with an automatic number of buckets as such."""
    kept = {key: value for key, value in entries.items() if key not in (*_OF_SETS, *_OF_FEATURIZERS, *VERSIONS)}
    if entries.get("num_buckets") == str(auto_num_buckets(int(entries["n_p"]), int(entries["n_q"]))):
        kept["num_buckets"] = "auto"
    return kept


def _check_sets(values: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse sets of other sizes, sets that are in both pairs, and other featurizers."""
    for side, title in (("p", "human"), ("q", "model's")):
        sizes = [result[f"n_{side}"] for result in values.values()]
        if max(sizes) - min(sizes) > _MOST_SIZES_APART * max(sizes):
            said = f"must have about as many {title} texts as the first pair ({sizes[0]}), got {sizes[1]}"
            raise WrongOption.of("other_pair", f"{said}: closeness is an upper bound, sharper for more texts")
        if len({entries.get(f"{side}_digest") for entries in settings.values()}) == 1:
            raise WrongOption.of(
                "other_pair", f"must have other {title} texts than the first pair, and has the same: use compare"
            )
    first, other = ({entries.get(f"{side}_digest") for side in "pq"} for entries in settings.values())
    if first & other:
        raise WrongOption.of(
            "other_pair", "must have other texts than the first pair, and has the same as the other side"
        )
    featurizers = [list(result.get("by_featurizer") or {}) for result in values.values()]
    if featurizers[0] != featurizers[1]:
        raise WrongOption.of(
            "other_pair", f"must have the featurizers of the first pair ({featurizers[0]}), got {featurizers[1]}"
        )


def _estimate(name: str, values: Mapping[str, Any], level: float) -> Estimate:
    """Closeness with its interval, and with the lower half of it as error, since the upper one may end at 1."""
    numbers = [values["closeness"], *(values["closeness_ci"] or (None, None))]
    if values.get("verdict") == "no verdict" or None in numbers:
        reason = values.get("verdict_reason") or "no_interval"
        raise WrongOption.of(name, f"must have a closeness that can be believed, got no verdict ({reason})")
    for number in numbers:
        if is_bool(number) or not isinstance(number, (int, float)) or not 0 <= number <= 1:
            raise WrongOption.of(name, f"must have a closeness with an interval in [0, 1], got {shown(number)}")
    value, low, high = map(float, numbers)
    return Estimate(value, (value - low) / t_quantile(level), (low, high))
