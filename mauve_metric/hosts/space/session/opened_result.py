"""Read the JSON of a result without its texts; its sentences and curves are recomputed from its histograms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from mauve_metric.arrays import Integers
from mauve_metric.clustering.histograms import Histograms
from mauve_metric.clustering.partition import Partition
from mauve_metric.features.sides import MOST_SUBGROUPS
from mauve_metric.hosts.space.limits import Limits, check_name, check_options
from mauve_metric.hosts.space.session import bars
from mauve_metric.hosts.space.session.scoring import Outcome
from mauve_metric.hosts.stored_results import bucket_counts, check_stored, check_stored_order
from mauve_metric.measures.groups import SHARED
from mauve_metric.options import LONGEST_LABEL, MauveConfig, config_fields
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import parse_signature, signature_texts
from mauve_metric.scoring.gap import explain_buckets
from mauve_metric.scoring.phrases import Readable
from mauve_metric.scoring.score import curve_band, score_histograms
from mauve_metric.uncertainty.closeness import debiased_estimates
from mauve_metric.uncertainty.score_warnings import ScoreWarning
from mauve_metric.version import __version__

_MOST_FEATURIZERS = 8  # in one file
_MOST_TEXTS = 4_000_000  # of all results of a file: their labels take eight bytes each
_WARNINGS = Annotated[tuple[ScoreWarning, ...], Field(max_length=100)]
_NAME = Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL)]
_OF_HISTOGRAMS = ("p_hist", "q_hist", "divergence_curve", "prd_curve")  # computed anew
_PAIRS = ("differences", "learned_differences", "together_differences", "runs_differences")
_OF_SCORES = ("mauve_scaling_factor", "divergence_curve_discretization_size", "confidence_level", "seed", "num_runs")


class Opened(Outcome):
    """Results that were read from a file: the part of `Scored` that needs no texts."""

    def explain(self, name: str, buckets: int | Sequence[int] = 0, texts: int = 0) -> Explanation:
        """The parts of a model's gap; no bucket is described, since that needs the texts."""
        result = self.results[name]
        labels = result.p_labels, result.q_labels
        # zero rows: only described buckets would show their places
        rows = [np.zeros((len(side), 1), dtype=np.float32) for side in labels]
        partition = Partition(rows, [labels, labels])
        return explain_buckets(partition, 1, result, self.resolved, Readable.of([None, None]), 0, 0)

    @property
    def written(self) -> str:
        """The version that wrote the result, in words that follow its name; empty if it is this one."""
        return _written(self.result.signature)


def _written(signature: object) -> str:
    version = signature_texts(str(signature)).get("mauve_metric", __version__)
    return "" if version == __version__ else f", written by mauve_metric {version[:20]}, and this is {__version__}"


def read_result(path: Path, limits: Limits) -> Opened:
    """The result or the comparison in a JSON file that this package wrote.

    Raises:
        ValueError: something else, one sentence.
    """
    if path.stat().st_size > limits.bytes:
        raise ValueError(f"the result: a file may have at most {limits.megabytes} MB here")
    written = ""
    try:
        values = json.loads(path.read_text(encoding="utf-8-sig"))
        if not isinstance(values, dict):
            raise ValueError(f"an object is expected, got {type(values).__name__}")
        written = _written(values.get("signature"))
        if not (texts := _texts_in(values)) <= _MOST_TEXTS:
            raise ValueError(f"its results may be of at most {_MOST_TEXTS} texts together here, got {texts:.0f}")
        if "models" in values:
            return _comparison(values, limits)
        result, config = _result(values, limits)
        each = {name: _result(raw, limits)[0] for name, raw in _results_in(values, "by_featurizer", _MOST_FEATURIZERS)}
        results = {"model": replace(result, by_featurizer=each)}
        return Opened(results=results, comparison=None, resolved=config)
    except RecursionError:
        said = "nested too deeply"
    except KeyError as error:
        said = f"{error.args[0]!r} is missing"
    except ValidationError as error:
        first = error.errors()[0]
        said = f"{' of '.join(map(str, reversed(first['loc'])))}: {first['msg']}"
    except (ValueError, TypeError, OverflowError) as error:
        said = " ".join(str(error).split())[:300]
    raise ValueError(f"the result: not a file that “Download report and figures” wrote ({said}{written})")


def _texts_in(values: object) -> float:
    """The number of texts of all results in a part of a file."""
    if not isinstance(values, dict):
        return 0.0
    sizes = [abs(float(size)) for size in (values.get("n_p"), values.get("n_q")) if isinstance(size, (int, float))]
    return sum(sizes) + sum(map(_texts_in, values.values()))


def _results_in(values: Mapping[str, Any], part: str, most: int) -> list[tuple[str, Mapping[str, Any]]]:
    """The results in a part of a file, with their names."""
    results = values.get(part, {})
    if not isinstance(results, dict) or not all(isinstance(result, dict) for result in results.values()):
        raise ValueError(f"{part} must be results by their names")
    if len(results) > most:
        raise ValueError(f"{part} may hold at most {most} results here, got {len(results)}")
    return [(check_name(part, name), result) for name, result in results.items()]


@lru_cache
def _model_of(kind: type) -> type[BaseModel]:
    """A model of the fields of a dataclass that are in its JSON; NaN and infinity are errors."""
    hints = get_type_hints(kind) | {"warnings": _WARNINGS, "mauve_runs": list[float], "reference_name": _NAME}
    leave = (*_OF_HISTOGRAMS, "models", "explanations", "by_featurizer", "signature_entries")
    model_fields: dict[str, Any] = {
        field.name: (hints[field.name], ... if field.default is MISSING else field.default)
        for field in fields(kind)
        if field.init and field.metadata.get("in_dict", True) and field.name not in leave
    }
    return create_model(kind.__name__, __config__=ConfigDict(allow_inf_nan=False), **model_fields)


def _comparison(values: Mapping[str, Any], limits: Limits) -> Opened:
    read = {name: _result(result, limits) for name, result in _results_in(values, "models", limits.model_sets)}
    results = {name: result for name, (result, _) in read.items()}
    pairs = {name: [{**pair, "stderr": None} for pair in values.get(name, [])] for name in _PAIRS}
    valid = dict(_model_of(Comparison).model_validate({**values, **pairs}))
    if not results or sorted(valid["ranking"]) != sorted(results):
        raise ValueError("ranking must name every model once")
    if valid["smallest_difference"] is not None and len(results) < 2:
        raise ValueError("smallest_difference needs two models")
    if {*valid["own"]} != {*results} or {*valid["learned_ranking"], *valid["together_ranking"]} - {*results}:
        raise ValueError("own, learned_ranking and together_ranking must be of the models")
    if {*valid["runs_ranking"]} != {*valid["runs"]}:
        raise ValueError("runs_ranking must be of the models with runs")
    if {name for summary in valid["runs"].values() for name in summary.runs} - {*results}:
        raise ValueError("runs must be of the models")
    for differences in (valid[name] for name in _PAIRS):
        compared = [(difference.a, difference.b) for difference in differences]
        names = valid["runs"] if differences is valid["runs_differences"] else results
        if {name for pair in compared for name in pair} - {*names} or len({*compared}) < len(compared):
            raise ValueError("own and differences must be of the models")
    check_stored_order(values)
    comparison = Comparison(
        models=results,
        signature_entries=parse_signature(str(values["signature"])),
        explanations={},
        by_featurizer=_comparisons(values, "by_featurizer", _MOST_FEATURIZERS, limits),
        by_subgroup=_comparisons(values, "by_subgroup", MOST_SUBGROUPS, limits),
        **valid,
    )
    return Opened(results=results, comparison=comparison, resolved=next(iter(read.values()))[1])


def _comparisons(values: Mapping[str, Any], part: str, most: int, limits: Limits) -> dict[str, Comparison]:
    """The comparisons in a part of a file, by their names."""
    read = {name: _comparison(raw, limits).comparison for name, raw in _results_in(values, part, most)}
    return {name: comparison for name, comparison in read.items() if comparison is not None}


def _result(values: Mapping[str, Any], limits: Limits) -> tuple[MauveResult, MauveConfig]:
    """One result and the config of its signature; the curve and its band come from the histograms again."""
    valid = dict(_model_of(MauveResult).model_validate(values))
    entries = parse_signature(str(values["signature"]))
    options = {name: entries[name] for name in _OF_SCORES if name in config_fields()}
    check_options({"featurize_model_name": "", **options}, [""], limits)
    config = MauveConfig(**options)  # type: ignore[arg-type]  # which checks them
    counts = [_counts(side, values, limits) for side in ("p", "q")]
    check_stored(values)
    histograms = Histograms(counts[0], counts[1])
    scores = score_histograms(histograms, config)
    valid["mauve_runs"] = np.array(valid["mauve_runs"], dtype=np.float64)
    valid |= {name: scores[name] for name in (*_OF_HISTOGRAMS, "curve_mixtures")}
    # which texts belong together is not in a file, and the band of others would be too narrow
    has_errors = valid["design"] not in SHARED and debiased_estimates([histograms], config).problem is None
    valid["curve_band"] = curve_band(histograms, config) if has_errors else None
    valid |= {f"{side}_labels": np.repeat(np.arange(len(part)), part) for side, part in zip("pq", counts, strict=True)}
    result = MauveResult(signature_entries=entries, **valid)
    if not all(mark.is_possible for mark in bars.marks_of(result)):
        raise ValueError("scores and their intervals must be in [0, 1], each score in its interval")
    return result, config


def _counts(side: str, values: Mapping[str, Any], limits: Limits) -> Integers:
    """The number of texts in each bucket."""
    histogram = values[f"{side}_hist"]
    if not isinstance(histogram, list) or not 1 <= len(histogram) <= limits.buckets:
        raise ValueError(f"{side}_hist must hold 1 to {limits.buckets} numbers here")
    return bucket_counts(values, side)
