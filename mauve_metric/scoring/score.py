"""Compute all scores of two sides from their buckets."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.clustering.histograms import Histograms, count_labels
from mauve_metric.clustering.num_buckets import is_auto
from mauve_metric.clustering.partition import KNN_MOST_ROWS, Partition
from mauve_metric.features.dependence import codes_of
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.row_blocks import order_of_keys, some_numbers
from mauve_metric.measures import frontier, precision_recall
from mauve_metric.measures.groups import SHARED, count_groups, pair_of_groups
from mauve_metric.measures.knn_precision_recall import (
    ROUNDING,
    SupportScores,
    support_scores,
    support_scores_on_device,
)
from mauve_metric.options import MauveConfig, ResolvedConfig
from mauve_metric.results.result import MauveResult, Stripped
from mauve_metric.results.scores import SCORES
from mauve_metric.results.signature import signature_entries
from mauve_metric.runtime import tensors
from mauve_metric.runtime.tensors import ProjectedRows
from mauve_metric.runtime.threads import Start, in_one_thread, run_when_asked, side_by_side
from mauve_metric.uncertainty import ceilings, jackknife, score_warnings
from mauve_metric.uncertainty.closeness import Bound, Estimates, debiased_estimates
from mauve_metric.uncertainty.format_check import UNCHECKED, check_format, format_warnings, wrapping_warnings
from mauve_metric.uncertainty.jackknife import CurveBand
from mauve_metric.uncertainty.learned_score import Learned, learned_score, permuted_aucs
from mauve_metric.uncertainty.precision_recall_intervals import SupportIntervals, support_errors, support_intervals

logger = logging.getLogger(__name__)

_MOST_IN_ONE_THREAD, _MOST_SIDE_BY_SIDE = 2**17, 2**25  # numbers of a set: 26 000 texts have 1280 columns
NOT_READ_AGAIN = "it needs the texts again, which were not kept"


def score_histograms(histograms: Histograms, config: MauveConfig) -> dict[str, Any]:
    """Compute every score that depends on the histograms alone, by the names of `MauveResult`."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    p, q = histograms.probabilities()
    p_star, q_star = histograms.probabilities(smoothing=0.5)
    weights = frontier.mixture_weights(points)
    type_one, type_two = frontier.frontier(p, q, weights)
    curve = frontier.curve_through(type_one, type_two, c)
    prd = precision_recall.prd_curve(p, q)
    return {
        "mauve": frontier.curve_area(curve),
        "mauve_star": frontier.curve_area(frontier.divergence_curve(p_star, q_star, c, points)),
        "mauve_exact": frontier.exact_area(p, q, c),
        "mauve_floor": frontier.mauve_floor(c),
        "frontier_integral": frontier.frontier_integral(p, q),
        "frontier_integral_star": frontier.frontier_integral(p_star, q_star),
        "prd_precision": prd.prd_precision,
        "prd_recall": prd.prd_recall,
        "prd_area": prd.area,
        "p_hist": p,
        "q_hist": q,
        "divergence_curve": curve,
        "curve_mixtures": np.stack([weights, type_one, type_two], axis=1),
        "prd_curve": np.stack([prd.recall, prd.precision], axis=1),
    }


def mauve_of(histograms: Histograms, config: MauveConfig) -> float:
    """MAUVE alone (`score_histograms`)."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    return frontier.curve_area(frontier.divergence_curve(*histograms.probabilities(), c, points))


def equal_sets(histograms: Histograms, config: MauveConfig) -> Floats:
    """MAUVE of pairs of equal sets of these sizes on these buckets (`ceilings.null_scores`)."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    return ceilings.null_scores(histograms.p_counts, histograms.q_counts, c, points, groups=histograms.groups)


def curve_band(histograms: Histograms, config: MauveConfig) -> CurveBand:
    """Band of the curve under sampling, for histograms whose errors are known (see `debiased_estimates`)."""
    frontier = jackknife.frontier_of(histograms)
    return jackknife.frontier_band(frontier, config.mauve_scaling_factor, config.confidence_level)


def permutation_p_value(p: FeatureSet, q: FeatureSet, partition: Partition, config: ResolvedConfig) -> float | None:
    """The p-value of the permutation test of two sides in buckets; None where it is not asked for."""
    if not config.permutations:
        return None
    if config.quantizer == "classifier":  # which is fitted anew to permuted sides
        aucs = permuted_aucs(p.features, q.features, pair_of_groups(p.groups, q.groups), config)
        return float(np.mean(aucs >= aucs[0] - 1e-12))
    p_labels, q_labels = partition.labels_without_sets
    k = int(max(p_labels.max(), q_labels.max())) + 1
    groups = count_groups(p_labels, q_labels, p.groups, q.groups, k)
    return ceilings.permutation_test(p_labels, q_labels, k, config.permutations, groups, config.seed)


def log_warnings(result: MauveResult) -> None:
    """Log each warning of a result."""
    for warning in result.warnings:
        logger.warning("%s: %s", warning.code, warning.message)


def side_by_side_of(sides: Sequence[FeatureSet]) -> AbstractContextManager[Start]:
    """Threads for the parts of a score, where the rows are in memory, and few enough to be there several times.

    One thread for very few, whose parts take milliseconds: more of them wait for each other.
    """
    most = max(
        _MOST_SIDE_BY_SIDE + 1 if tensors.is_read_only_in_blocks(side.features) else math.prod(side.features.shape)
        for side in sides
    )
    return in_one_thread() if most <= _MOST_IN_ONE_THREAD else side_by_side(most <= _MOST_SIDE_BY_SIDE)


def learned_of(p: FeatureSet, q: FeatureSet, config: MauveConfig, run: Start | None = None) -> Learned | None:
    """The score on learned buckets of two sides; None: too few texts. run: of `side_by_side`; None: one of its own."""
    if run is None:
        with side_by_side_of((p, q)) as run:
            return learned_of(p, q, config, run)
    keys, repetition = (p.row_keys, q.row_keys), q.dependence and q.dependence.repetition
    groups, units = pair_of_groups(p.groups, q.groups), repetition.units if repetition else None
    return learned_score(p.features, q.features, groups, config, keys, units, run)


def _compute_row_scores(p: FeatureSet, q: FeatureSet, scores: Mapping[str, Any], config: MauveConfig) -> dict[str, Any]:
    """Compute the scores whose row names their function; None for those that are not selected.

    Raises:
        ValueError: one of features that are read in blocks.
    """
    row_scores: dict[str, Any] = {}
    for name, row in SCORES.items():
        if "shares" in row.inputs.forms:
            row_scores[name] = row.compute(scores["p_hist"], scores["q_hist"])
        elif "features" in row.inputs.forms:
            row_scores[name] = None
            if getattr(config, name, True):
                features = [tensors.in_memory(side.features) for side in (p, q)]
                if any(rows is None for rows in features):
                    raise ValueError(f"{name}=True needs features in memory, as an array")
                row_scores[name] = row.compute(*features, config.seed, config.confidence_level)
    return row_scores


def count_buckets(
    p: FeatureSet, q: FeatureSet, partition: Partition, number: int, config: ResolvedConfig
) -> list[Histograms]:
    """The histograms of two sides by each clustering; number: of Q among the models, from 1."""
    counted = []
    for run in partition.labels:
        num_buckets = max(config.num_buckets, int(max(map(np.max, run))) + 1)
        counted.append(count_labels(run[0], run[number], num_buckets, p.groups, q.groups))
    return counted


def score_buckets(
    p: FeatureSet,
    q: FeatureSet,
    partition: Partition,
    number: int,
    config: ResolvedConfig,
    neighbours: Mapping[str, Any],
    p_value: float | None = None,
    learned: Learned | None = None,
    entries: Mapping[str, object] | None = None,
) -> MauveResult:
    """The result of two sides whose texts are in buckets, before it is judged (see `verdict.judged`).

    Args:
        p, q: the sides.
        partition: of P and one or several models. The first clustering makes the scores of the literature, the others
            the debiased ones.
        number: of Q among the models, from 1.
        neighbours: the fields of `neighbours_of`.
        p_value: of the permutation test.
        learned: the score on learned buckets; None: it is not known.
        entries: further entries of the signature.
    """
    k, groups, first = config.num_buckets, pair_of_groups(p.groups, q.groups), partition.labels[0]
    histograms, *counts = count_buckets(p, q, partition, number, config)
    scores = score_histograms(histograms, config)
    codes, bounds, by_content = codes_of(p, q), list[Bound](), partition.labels[1:]
    is_full = all(run.p_counts[-1] + run.q_counts[-1] for run in counts)  # else bounds have no empty buckets at the end
    tested = _tested(p_value, config)
    for runs in partition.closeness or [by_content]:
        pairs, is_counted = [(run[0], run[number]) for run in runs], is_full and runs[0] is by_content[0]
        bounds.append(Bound("groups", pairs, codes, tested, counts=counts if is_counted else None))
    estimates = debiased_estimates(counts, config) if bounds[0].counts is None else bounds[0].estimates(config)
    areas = [scores["mauve"], *(mauve_of(run, config) for run in counts)]
    null, ceiling = equal_sets(histograms, config), equal_sets(counts[0], config)  # as published, and one by content
    labels = np.concatenate(by_content[0])
    k_by_content = k if groups is None or not is_auto(config, min(map(len, first))) else int(labels.max()) + 1
    texts_a_bucket = np.bincount(labels, minlength=k_by_content)
    formats = UNCHECKED
    if learned is not None:
        formats = check_format(p.format_numbers, q.format_numbers, groups, config.seed, p.unseen_formats or ())
    warnings = (
        *score_warnings.all_warnings(
            p,
            q,
            histograms,
            float(np.mean(areas[1:])),
            scores["mauve_floor"],
            float(ceiling.mean()),
            float(ceiling.std(ddof=1)),
            texts_a_bucket,
        ),
        *score_warnings.quantizer_warnings(partition.problems),
        *score_warnings.design_warnings(histograms.groups, estimates.problem, k_by_content),
        *wrapping_warnings(p, q),
        *format_warnings(formats, None if p.identity is None else p.identity.get("model")),
    )
    finer = bounds[1].estimates(config) if len(bounds) > 1 else Estimates()
    bounds += [] if learned is None else [Bound.of_learned(learned, codes)]
    return MauveResult(
        **scores,
        **_fields_of_clusterings(areas, null, config),
        **_fields_of_estimates(estimates),
        **neighbours,
        **_compute_row_scores(p, q, scores, config),
        **_fields_of_side("p", p, histograms),
        **_fields_of_side("q", q, histograms),
        **_fields_of_learned(learned),
        mauve_finer=finer.values and finer.values[0],
        mauve_finer_ci=finer.mauve and finer.mauve.ci,
        curve_band=None if estimates.problem is not None else curve_band(histograms, config),
        p_value=p_value,
        **_fields_of_dependence(q),
        num_buckets=k,
        warnings=warnings,
        signature_entries=signature_entries(p, q, config, entries or {}),
        p_labels=first[0],
        q_labels=first[number],
        format_auc=formats[0],
        format_aucs=formats[1],
        normalised_missing=NOT_READ_AGAIN if formats[2] else None,
        bounds=tuple(bounds),
    )


def _tested(p_value: float | None, config: MauveConfig) -> float | None:
    """The p-value of a permutation test; None where it has too few permutations to find a difference."""
    return None if 1 / (config.permutations + 1) > 1 - config.confidence_level else p_value


def _fields_of_clusterings(areas: Sequence[float], null: Floats, config: ResolvedConfig) -> dict[str, Any]:
    """The fields of a result on scores of equal sets, and on the spread of MAUVE, `areas`, over clusterings."""
    plug_in = np.array(areas[: config.num_runs])
    return {
        "mauve_ceiling": float(null.mean()),
        "mauve_ceiling_std": float(null.std(ddof=1)),
        "mauve_runs": plug_in,
        "mauve_mean": float(np.mean(plug_in)),
        "mauve_std": float(np.std(plug_in, ddof=1)) if len(plug_in) > 1 else None,
        "ci_scope": "over clusterings" if len(areas) > 2 else "for this partition",
    }


def _fields_of_estimates(estimates: Estimates) -> dict[str, Any]:
    """The fields of a result on its debiased scores, without errors that are not valid."""
    fields: dict[str, Any] = {}
    for name, value in zip(("mauve", "frontier_integral"), estimates.values or (None, None), strict=True):
        estimate = getattr(estimates, name)
        fields |= {
            f"{name}_debiased": value,
            f"{name}_debiased_stderr": estimate and estimate.stderr,
            f"{name}_debiased_ci": estimate and estimate.ci,
        }
    if estimates.few_texts_a_bucket:
        fields["frontier_integral_debiased_ci"] = None
    return fields


def _fields_of_side(name: str, side: FeatureSet, histograms: Histograms) -> dict[str, Any]:
    """The fields of a result on the texts of a side, "p" or "q"."""
    groups = histograms.groups
    return {
        f"n_{name}": len(side),
        f"{name}_prompts": None
        if groups is None or side.design not in SHARED
        else int((getattr(groups, f"{name}_sizes") > 0).sum()),
        f"{name}_dropped": side.dropped,
        f"{name}_truncated": side.truncated,
        f"{name}_stripped": tuple(map(Stripped._make, side.stripped.items())),
        f"{name}_median_length": None if side.lengths is None else float(np.median(side.lengths)),
    }


def _fields_of_dependence(q: FeatureSet) -> dict[str, Any]:
    """The fields of a result on texts that depend on each other, and that repeat others of their set."""
    if q.dependence is None:
        return {"design": q.design, "partners": None, "pairs_in_step": None}
    fields = {"design": q.design, "partners": q.dependence.partners, "pairs_in_step": q.dependence.in_step}
    if (repetition := q.dependence.repetition) is not None:
        shares = {"p_repeated": repetition.p_share, "q_repeated": repetition.q_share}
        fields |= {**shares, "repeats_p_value": repetition.excess}
    return fields


def _fields_of_learned(learned: Learned | None) -> dict[str, Any]:
    """The fields of a result that the score on learned buckets fills."""
    if learned is None:
        return {}
    return {
        "mauve_classifier": learned.mauve,
        "mauve_classifier_stderr": learned.stderr,
        "mauve_classifier_ci": learned.ci,
        "auc": learned.auc,
        "auc_ci": learned.auc_ci,
        "auc_p_value": learned.auc_p_value,
        "learned_p_counts": tuple(learned.histograms.p_counts.tolist()),
        "learned_q_counts": tuple(learned.histograms.q_counts.tolist()),
        "learned": learned,
    }


def neighbours_of(
    p: FeatureSet,
    q: FeatureSet,
    projected: Sequence[ProjectedRows],
    config: MauveConfig,
    run: Start = run_when_asked,
) -> Callable[[], dict[str, Any]]:
    """Start nearest-neighbour precision, recall, density and coverage, and their intervals.

    Args:
        p, q: the sides. projected: their rows, see `Partition.rows`. run: starts a function, see `side_by_side`.

    Returns:
        A function that waits for them and returns the fields of the result; None for each where they are not wanted.
    """
    if not config.knn:
        return partial(dict.fromkeys, (*SupportScores._fields, *SupportIntervals._fields))
    numbers = [some_numbers(len(side), min(len(side), KNN_MOST_ROWS), config.seed) for side in (p, q)]
    p_drawn, q_drawn = (
        rows if len(rows) <= KNN_MOST_ROWS else rows[some] for rows, some in zip(projected, numbers, strict=True)
    )
    p_rows, q_rows = tensors.on_cpu(p_drawn), tensors.on_cpu(q_drawn)
    if tensors.is_tensor(p_drawn) and tensors.is_tensor(q_drawn):
        scores = run(support_scores_on_device, p_drawn, q_drawn, config.knn_k, ROUNDING)
    else:
        scores = run(support_scores, p_rows, q_rows, config.knn_k, False, ROUNDING)
    # halves are drawn in the order by content, so that they do not depend on the order of the texts
    p_order, q_order = order_of_keys(p.row_keys[numbers[0]]), order_of_keys(q.row_keys[numbers[1]])
    groups = codes_of(p, q)
    if groups is not None:
        groups = groups[0][numbers[0]][p_order], groups[1][numbers[1]][q_order]
    errors = run(support_errors, p_rows[p_order], q_rows[q_order], groups, config.knn_k, config.seed)

    def fields() -> dict[str, Any]:
        shares: SupportScores = scores()
        return shares._asdict() | support_intervals(shares, errors(), config.confidence_level)._asdict()

    return fields
