"""Two sides in buckets → every number of a result."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Features, Labels
from mauve_metric.config import MauveConfig
from mauve_metric.features import rows
from mauve_metric.features.reference import Reference
from mauve_metric.features.rows import some_numbers, some_rows
from mauve_metric.features.sides import check_columns
from mauve_metric.measures import frechet, frontier, precision_recall, support, support_on_device
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.options import RunOptions
from mauve_metric.quantize import histograms
from mauve_metric.quantize.histograms import Histograms, count_labels
from mauve_metric.quantize.partition import KNN_MOST_ROWS, partition_sets
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_signature, signature_entries
from mauve_metric.runtime import tensors
from mauve_metric.runtime.tensors import ProjectedRows
from mauve_metric.uncertainty import intervals, jackknife, resampling, score_warnings
from mauve_metric.uncertainty.score_warnings import ScoreWarning

logger = logging.getLogger(__name__)


def score_histograms(histograms: Histograms, config: MauveConfig) -> dict[str, Any]:
    """Every score that follows from the histograms alone, by the names of `MauveResult`."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    p, q = histograms.probabilities()
    p_star, q_star = histograms.probabilities(smoothing=0.5)
    curve = frontier.divergence_curve(p, q, c, points)
    prd = precision_recall.prd_curve(p, q)
    type_one, type_two = frontier.frontier(p, q, [0.5])
    return {
        "mauve": frontier.curve_area(curve),
        "mauve_star": frontier.curve_area(frontier.divergence_curve(p_star, q_star, c, points)),
        "frontier_integral": frontier.frontier_integral(p, q),
        "frontier_integral_star": frontier.frontier_integral(p_star, q_star),
        "mauve_exact": frontier.exact_area(p, q, c),
        "mauve_floor": frontier.mauve_floor(c),
        "jensen_shannon": float(type_one[0] + type_two[0]) / 2,
        "prd_precision": prd.prd_precision,
        "prd_recall": prd.prd_recall,
        "prd_area": prd.area,
        "p_hist": p,
        "q_hist": q,
        "divergence_curve": curve,
        "prd_curve": np.stack([prd.recall, prd.precision], axis=1),
    }


def score_uncertainty(
    mauve: float, histograms: Histograms, others: list[Histograms], config: MauveConfig
) -> dict[str, Any]:
    """Debiased scores, errors, intervals, ceiling and the spread over clusterings; None with one text on a side.

    Args:
        mauve: of the histograms. others: the histograms of other clusterings.
    """
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    areas = (curve_area(divergence_curve(*run.probabilities(), c, points)) for run in others)
    plug_in = [mauve, *areas]
    null = resampling.null_scores(histograms.p_counts, histograms.q_counts, c)
    scores: dict[str, Any] = {
        "mauve_ceiling": float(null.mean()),
        "mauve_ceiling_std": float(null.std(ddof=1)),
        "mauve_runs": np.array(plug_in),
        "mauve_mean": float(np.mean(plug_in)),
        "mauve_std": float(np.std(plug_in, ddof=1)) if others else None,
        "ci_scope": "over clusterings" if others else "for this partition",
    }
    names = [f"{score}_{part}" for score in ("mauve", "frontier_integral") for part in ("debiased", "stderr", "ci")]
    if min(histograms.p_counts.sum(), histograms.q_counts.sum()) < 2:
        return scores | dict.fromkeys(names)
    frontiers = [jackknife.debiased_frontier(run.p_counts, run.q_counts) for run in [histograms, *others]]
    variances = np.zeros(2)
    if others:
        spread = [[estimate.value for estimate in intervals.estimate_scores(frontier, c)] for frontier in frontiers]
        variances = np.var(spread, axis=0, ddof=1)
    debiased = intervals.estimate_scores(
        frontiers[0], c, config.confidence_level, float(variances[0]), float(variances[1])
    )
    return scores | dict(zip(names, [*debiased[0], *debiased[1]], strict=True))


KNN_AUTO_ROWS = 10_000  # up to so many rows a side nearest neighbours take a second or two
ROWS_LOOKED_AT = 4096
FEW_TEXTS_FOR_RUNS = 1000  # below, the seed of the clustering moves the score almost as much as sampling does
RUNS_OF_FEW_TEXTS = 5


def score_features(
    p: Reference, q: Reference, config: MauveConfig, quiet: bool = False, run: RunOptions | None = None
) -> MauveResult:
    """Project, quantize and score two sides; `quiet` keeps the warnings out of the log.

    Features that are not in memory, or hardly fit, are read in blocks; `run` has the checkpoint folder for that, and
    the device to work on in place of the one where the features are.
    """
    check_columns({"p_features": p, "q_features": q})
    config = resolve_config(config, len(p), len(q))
    partition = partition_sets([p.features, q.features], config, run)
    p_value = _test(partition.labels_of_shuffled_rows(config), config) if config.permutations else None
    result = score_buckets(p, q, partition.labels, partition.rows, config, p_value)
    for warning in () if quiet else result.warnings:
        logger.warning("%s: %s", warning.code, warning.message)
    return result


def _in_memory(side: Reference) -> NDArray[Any]:
    """A side's features as an array.

    Raises:
        ValueError: they are read in blocks.
    """
    features = tensors.in_memory(side.features)
    if features is None:
        raise ValueError("frechet_distance=True needs features in memory, as an array")
    return features


def score_buckets(
    p: Reference,
    q: Reference,
    runs: Sequence[Sequence[Labels]],
    projected: Sequence[ProjectedRows],
    config: MauveConfig,
    p_value: float | None = None,
    entries: Mapping[str, Any] | None = None,
) -> MauveResult:
    """The result of two sides whose texts are in buckets.

    Args:
        p, q: the sides.
        runs: for each clustering the buckets of the texts of P and of Q, (n_p,) and (n_q,); the first makes the score.
        projected: the rows that were clustered, (n_p, r) and (n_q, r): arrays, or tensors on a device.
        config: without "auto", see `resolve_config`.
        p_value: of the permutation test.
        entries: what the signature says besides.
    """
    k = int(config.num_buckets)
    histograms, *others = [count_labels(p_labels, q_labels, k) for p_labels, q_labels in runs]
    scores = score_histograms(histograms, config)
    scores |= score_uncertainty(scores["mauve"], histograms, others, config)
    scores |= _support(projected, config)
    scores["frechet_distance"] = frechet.frechet_distance(*map(_in_memory, (p, q))) if config.frechet_distance else None
    return MauveResult(
        **scores,
        **_facts(p, q),
        p_value=p_value,
        num_buckets=k,
        warnings=_warnings(p, q, histograms, scores, config),
        signature=format_signature(signature_entries(p, q, config, entries or {})),
        p_labels=runs[0][0],
        q_labels=runs[0][1],
    )


def resolve_config(config: MauveConfig, *sizes: int) -> MauveConfig:
    """The config with every "auto" replaced by what it means for sets of these sizes, P's first."""
    smaller = min(sizes)
    num_buckets = histograms.auto_num_buckets(smaller, smaller) if config.num_buckets == "auto" else config.num_buckets
    if num_buckets > sum(sizes):
        which = "both" if len(sizes) == 2 else "all"
        raise ValueError(
            f"num_buckets must be at most the number of texts of {which} sets, {' + '.join(map(str, sizes))}, "
            f"got {num_buckets}"
        )
    runs = (RUNS_OF_FEW_TEXTS if smaller < FEW_TEXTS_FOR_RUNS else 1) if config.num_runs == "auto" else config.num_runs
    knn = max(sizes) <= KNN_AUTO_ROWS and smaller > config.knn_k if config.knn == "auto" else config.knn
    return replace(config, num_buckets=num_buckets, num_runs=runs, knn=knn)


def _support(projected: Sequence[ProjectedRows], config: MauveConfig) -> dict[str, Any]:
    """Nearest-neighbour precision, recall, density and coverage, or None for each."""
    names = support.SupportScores._fields
    if not config.knn:
        return dict.fromkeys(names)
    if tensors.is_tensor(projected[0]):
        some = [
            rows if len(rows) <= KNN_MOST_ROWS else rows[some_numbers(len(rows), KNN_MOST_ROWS, config.seed)]
            for rows in projected
            if tensors.is_tensor(rows)
        ]
        scores = support_on_device.support_scores(some[0], some[1], config.knn_k, support.ROUNDING)
        return dict(zip(names, scores, strict=True))
    p_rows, q_rows = (some_rows(tensors.on_cpu(rows), KNN_MOST_ROWS, config.seed) for rows in projected)
    scores = support.support_scores(p_rows, q_rows, config.knn_k, tolerance=support.ROUNDING)
    return scores._asdict()


def _test(labels: Sequence[Labels], config: MauveConfig) -> float:
    return resampling.permutation_test(
        labels[0], labels[1], int(config.num_buckets), config.permutations, config.paired, config.seed
    )


def _facts(p: Reference, q: Reference) -> dict[str, Any]:
    """What is known about the two sets, by the names of `MauveResult`."""
    facts: dict[str, Any] = {}
    for side, reference in (("p", p), ("q", q)):
        lengths = reference.lengths
        facts[f"n_{side}"] = len(reference)
        facts[f"{side}_dropped"] = reference.dropped
        facts[f"{side}_truncated"] = reference.truncated
        facts[f"{side}_median_length"] = None if lengths is None else float(np.median(lengths))
    return facts


def _warnings(
    p: Reference, q: Reference, histograms: histograms.Histograms, scores: Mapping[str, Any], config: MauveConfig
) -> tuple[ScoreWarning, ...]:
    found = score_warnings.size_warnings(len(p), len(q), len(histograms.p_counts))
    found += score_warnings.bucket_warnings(histograms.p_counts, histograms.q_counts)
    ends = [scores[name] for name in ("mauve", "mauve_floor", "mauve_ceiling", "mauve_ceiling_std")]
    found += score_warnings.score_warnings(*ends)
    found += score_warnings.feature_warnings(*(_looked_at(side.features) for side in (p, q)))
    found += score_warnings.featurizer_warnings(p.identity, q.identity)
    found += score_warnings.origin_warnings(p, q)
    found += score_warnings.text_warnings(p, q)
    return tuple(found)


def _looked_at(features: Features) -> NDArray[Any]:
    """The rows that the warnings about features look at: all in memory, else some."""
    return rows.some_rows(features, ROWS_LOOKED_AT) if rows.read_in_blocks(features) else np.asarray(features)
