"""A result's JSON becomes a result again, without its texts: what it says is computed anew from its histograms."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from mauve_metric.api.explain import explain_result
from mauve_metric.api.score import score_histograms, score_uncertainty
from mauve_metric.arrays import Floats
from mauve_metric.hosts.space.limits import Limits, check_name, check_options
from mauve_metric.lexical.phrases import Readable
from mauve_metric.measures.groups import Design
from mauve_metric.options import MauveConfig, config_fields
from mauve_metric.quantize.histograms import Histograms
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.numbers import Difference, NormalisedScore, OwnScore, ResultNumbers, Stripped
from mauve_metric.results.result import MauveResult
from mauve_metric.texts.format_numbers import FORMATS
from mauve_metric.uncertainty.score_warnings import ScoreWarning

_SAME = 1e-6  # by which a score may differ from what its own histograms give: other versions round otherwise
_MOST_FEATURIZERS = 8  # in one file
_MOST_TEXTS = 4_000_000  # of all results of a file: their labels take eight bytes each
_MOST_WARNINGS = 100
_LONGEST_SIGNATURE = 10_000
_ARRAYS = ("mauve_runs", "p_hist", "q_hist", "divergence_curve", "prd_curve")
_PAIRS = ("mauve_ci", "frontier_integral_ci", "mauve_classifier_ci", "auc_ci")
_STRIPPED = ("p_stripped", "q_stripped")
_LEARNED = (
    "mauve_classifier",
    "mauve_classifier_stderr",
    "mauve_classifier_ci",
    "auc",
    "auc_ci",
    "auc_p_value",
    "format_auc",
    "format_aucs",
    "normalised",
)
_NEW = {**dict.fromkeys(_STRIPPED, ()), **dict.fromkeys(_LEARNED)}  # what results of older versions do not have
_COUNTS = ("n_p", "n_q", "num_buckets", "p_dropped", "q_dropped", "p_truncated", "q_truncated")


@dataclass(frozen=True)
class Opened:
    """Results that were read from a file: what `Scored` says, as far as it can be said without texts."""

    results: dict[str, MauveResult]
    comparison: Comparison | None
    resolved: MauveConfig
    aligned: bool = False

    @property
    def best_first(self) -> list[str]:
        """The models' names, in the order of the ranking."""
        return list(self.results if self.comparison is None else self.comparison.ranking)

    def explain(self, name: str, buckets: int | Sequence[int] = 0, texts: int = 0) -> Explanation:
        """The parts of a model's gap; no bucket is described, since that takes the texts."""
        return self._explanations[name]

    @cached_property
    def _explanations(self) -> dict[str, Explanation]:
        return {name: _explanation(result, self.resolved) for name, result in self.results.items()}


def _explanation(result: MauveResult, config: MauveConfig) -> Explanation:
    """See `explain_result`: the rows have no place, which only described buckets would show."""
    labels = result.p_labels, result.q_labels
    rows = [np.zeros((len(side), 1), dtype=np.float32) for side in labels]
    return explain_result(result, rows, labels, config, Readable.of([None, None]), buckets=0, texts=0)


def read_result(path: Path, limits: Limits) -> Opened:
    """The result or the comparison in a JSON file that this package wrote.

    Raises:
        ValueError: something else, one sentence.
    """
    if path.stat().st_size > limits.bytes:
        raise ValueError(f"the result: a file may have at most {limits.megabytes} MB here")
    try:
        values = json.loads(path.read_text(encoding="utf-8-sig"), parse_constant=_no_constant)
        if not isinstance(values, dict):
            raise ValueError(f"an object is expected, got {type(values).__name__}")
        _check_texts(values)
        return _comparison(values, limits) if "models" in values else _single(values, limits)
    except RecursionError:
        raise ValueError("the result: not a file that “Make files” wrote (nested too deeply)") from None
    except KeyError as error:
        raise ValueError(f"the result: not a file that “Make files” wrote, {error.args[0]!r} is missing") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"the result: not a file that “Make files” wrote ({_short(error)})") from None


def _check_texts(values: Mapping[str, Any]) -> None:
    """Refuse a file whose results are of so many texts that memory would run out.

    Raises:
        ValueError: the file says of more than 4 million texts in all.
    """
    total, waiting = 0.0, [values]
    while waiting:
        one = waiting.pop()
        for inner in (one.get("models"), one.get("by_featurizer")):
            waiting += [found for found in inner.values() if isinstance(found, dict)] if isinstance(inner, dict) else []
        total += sum(abs(float(size)) for size in (one.get("n_p"), one.get("n_q")) if isinstance(size, (int, float)))
    if not total <= _MOST_TEXTS:
        raise ValueError(f"its results may be of at most {_MOST_TEXTS} texts together here, got {total:.0f}")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _single(values: Mapping[str, Any], limits: Limits) -> Opened:
    result, config = _result(values, limits)
    each = {name: _result(one, limits)[0] for name, one in _each(values)}
    return Opened({"model": replace(result, by_featurizer=each)}, None, config)


def _each(values: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """What a file holds of several featurizers."""
    given = values.get("by_featurizer", {})
    if not isinstance(given, dict) or not all(isinstance(one, dict) for one in given.values()):
        raise ValueError("by_featurizer must be results by the featurizers' names")
    if len(given) > _MOST_FEATURIZERS:
        raise ValueError(f"by_featurizer may hold at most {_MOST_FEATURIZERS} results here, got {len(given)}")
    return [(check_name("by_featurizer", name), one) for name, one in given.items()]


def _comparison(values: Mapping[str, Any], limits: Limits) -> Opened:
    given = values["models"]
    if not isinstance(given, dict) or not 1 <= len(given) <= limits.model_sets:
        raise ValueError(f"models must be 1 to {limits.model_sets} results by their names")
    read = {check_name("models", name): _result(result, limits) for name, result in given.items()}
    results = {name: result for name, (result, _) in read.items()}
    ranking = tuple(map(str, values["ranking"]))
    if sorted(ranking) != sorted(results):
        raise ValueError("ranking must name every model once")
    _check_pairs(values["differences"], results)
    learned = values.get("learned_differences", [])  # results of older versions have none
    _check_pairs(learned, results)
    learned_ranking = tuple(map(str, values.get("learned_ranking", [])))
    if {*values["own"]} != {*results} or {*learned_ranking} - {*results}:
        raise ValueError("own and learned_ranking must be of the models")
    level = _number("confidence_level", values["confidence_level"], 0, 1)
    needed = values["texts_needed"]
    comparison = Comparison(
        models=results,
        own={str(name): _own(item) for name, item in values["own"].items()},
        ranking=ranking,
        differences=tuple(_difference(item) for item in values["differences"]),
        confidence_level=level,
        design=_design(values["design"]),
        smallest_difference=_or_none("smallest_difference", values["smallest_difference"]),
        texts_needed=None if needed is None else int(_number("texts_needed", needed, 0, 1e12)),
        warnings=_warnings(values["warnings"]),
        signature_entries=_entries(values["signature"]),
        explanations={},
        by_featurizer={name: found for name, one in _each(values) if (found := _comparison(one, limits).comparison)},
        learned_ranking=learned_ranking,
        learned_differences=tuple(_difference(item) for item in learned),
    )
    return Opened(results, comparison, next(iter(read.values()))[1], values["design"] == "aligned")


def _check_pairs(differences: Sequence[Mapping[str, Any]], results: Mapping[str, MauveResult]) -> None:
    pairs = [(item["a"], item["b"]) for item in differences]
    if any({*pair} - {*results} for pair in pairs) or len({*pairs}) < len(pairs):
        raise ValueError("own and differences must be of the models")


def _design(value: object) -> Design:
    """A design by its name."""
    for design in get_args(Design):
        if value == design:
            return cast("Design", value)
    raise ValueError(f"design must be one of {', '.join(get_args(Design))}, got {value!r:.60}")


def _own(item: Mapping[str, Any]) -> OwnScore:
    buckets = int(_number("num_buckets", item["num_buckets"], 1, 1e9))
    return OwnScore(
        _number("mauve", item["mauve"], 0, 1),
        buckets,
        _or_none("p_value", item["p_value"]),
        str(item["signature"])[:_LONGEST_SIGNATURE],
    )


def _difference(item: Mapping[str, Any]) -> Difference:
    low, high = (_number("ci", value, -2, 2) for value in item["ci"])
    value = _number("difference", item["difference"], -1, 1)
    p_value = _number("p_value", item["p_value"], 0, 1)
    return Difference(str(item["a"]), str(item["b"]), value, (low, high), p_value, bool(item["real"]), math.nan)


def _result(values: Mapping[str, Any], limits: Limits) -> tuple[MauveResult, MauveConfig]:
    """One result and the config of its signature; the curve and its band come from the histograms again."""
    if not isinstance(values, Mapping):
        raise ValueError("a result must be an object")
    entries = _entries(values["signature"])
    config = _config(entries, limits)
    counts = [_counts(side, values, limits) for side in ("p", "q")]
    histograms = Histograms(counts[0], counts[1])
    scores = score_histograms(histograms, config)
    if abs(scores.mauve - _number("mauve", values["mauve"], 0, 1)) > _SAME:
        raise ValueError("its mauve is not that of its own histograms: the file was changed")
    band = score_uncertainty(scores.mauve, histograms, [], config).band
    given: dict[str, Any] = {}
    for item in fields(ResultNumbers):
        if item.init and item.metadata.get("in_dict", True):
            missing = item.name in _NEW and item.name not in values
            given[item.name] = _field(item.name, _NEW[item.name] if missing else values[item.name])
    given |= {"p_hist": scores.p_hist, "q_hist": scores.q_hist, "divergence_curve": scores.divergence_curve}
    given |= {"prd_curve": scores.prd_curve, "curve_mixtures": scores.curve_mixtures, "curve_band": band}
    given |= {f"{side}_labels": np.repeat(np.arange(len(part)), part) for side, part in zip("pq", counts, strict=True)}
    return MauveResult(signature_entries=entries, **given), config


def _counts(side: str, values: Mapping[str, Any], limits: Limits) -> Any:
    """How many texts are in each bucket."""
    n = int(_number(f"n_{side}", values[f"n_{side}"], 1, 1_000_000))
    histogram = _array(f"{side}_hist", values[f"{side}_hist"])
    if histogram.ndim != 1 or not 1 <= len(histogram) <= limits.buckets:
        raise ValueError(f"{side}_hist must hold 1 to {limits.buckets} numbers here")
    if len(histogram) != values["num_buckets"]:
        raise ValueError(f"{side}_hist must hold num_buckets numbers")
    counts = np.rint(histogram * n)
    if (histogram < 0).any() or np.abs(histogram * n - counts).max() > _SAME * n or counts.sum() != n:
        raise ValueError(f"{side}_hist must hold shares of n_{side} texts")
    return counts.astype(np.int64)


def _field(name: str, value: Any) -> Any:
    """A field of a result as the library holds it."""
    if name in _ARRAYS:
        return _array(name, value)
    if name == "warnings":
        return _warnings(value)
    if name in _STRIPPED:
        return tuple(Stripped(str(item["rule"])[:60], int(_number(name, item["texts"], 0, 1e9))) for item in value)
    if name == "format_aucs" and value is not None:
        return {key: _number(name, value[key], 0, 1) for key in FORMATS if key in value}
    if name == "normalised" and value is not None:
        pairs = (_field(key, tuple(value[key])) for key in ("mauve_classifier_ci", "auc_ci"))
        numbers = (_number(key, value[key], 0, 1) for key in ("mauve_classifier", "auc"))
        return NormalisedScore(next(numbers), next(pairs), next(numbers), next(pairs))
    if name == "design":
        return _design(value)
    if name == "ci_scope":
        return str(value)[:60]
    if name in _COUNTS:
        return int(_number(name, value, 0, 1e9))
    if name in _PAIRS and value is not None:
        low, high = value
        return _number(name, low), _number(name, high)
    return _or_none(name, value)


def _array(name: str, value: Any) -> Floats:
    found = np.array(value, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must hold numbers")
    return found


def _number(name: str, value: object, low: float = -math.inf, high: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {str(value)[:40]!r}")
    return float(value)


def _or_none(name: str, value: object) -> float | None:
    return None if value is None else _number(name, value)


def _warnings(values: Sequence[Mapping[str, Any]]) -> tuple[ScoreWarning, ...]:
    if len(values) > _MOST_WARNINGS:
        raise ValueError(f"warnings may be at most {_MOST_WARNINGS} here, got {len(values)}")
    return tuple(ScoreWarning(str(item["code"])[:80], str(item["message"])[:2000], _facts(item)) for item in values)


def _facts(warning: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a warning."""
    found = dict(warning["numbers"])
    if len(found) > _MOST_WARNINGS or len(json.dumps(found)) > _LONGEST_SIGNATURE:
        raise ValueError("the numbers of a warning are more than are taken here")
    return found


def _entries(signature: object) -> dict[str, object]:
    """The entries of a signature, numbers as numbers."""
    entries: dict[str, object] = {}
    for part in str(signature)[:_LONGEST_SIGNATURE].split("|"):
        key, _, text = part.partition(":")
        entries[key] = _value(text)
    return entries


def _value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"True": True, "False": False, "None": None}.get(text, text)


def _config(entries: Mapping[str, object], limits: Limits) -> MauveConfig:
    """The config that the scores of the histograms need."""
    names = (
        "mauve_scaling_factor",
        "divergence_curve_discretization_size",
        "confidence_level",
        "seed",
        "num_runs",
    )
    given: dict[str, Any] = {name: entries[name] for name in names if name in config_fields()}
    check_options({"featurize_model_name": "", **given}, [""], limits)
    return MauveConfig(**given)
