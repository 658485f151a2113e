"""Two sides in buckets → every number of a result."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers, Labels
from mauve_metric.catalogue.table import SCORES
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.rows import some_numbers, some_rows
from mauve_metric.features.sides import check_columns
from mauve_metric.measures import frontier, precision_recall, support
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.measures.groups import count_groups, design_of, pair_of_groups
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.quantize.histograms import Histograms, count_labels
from mauve_metric.quantize.partition import KNN_MOST_ROWS, Partition, partition_sets
from mauve_metric.quantize.quantizers import num_buckets_of, training_of
from mauve_metric.results.result import MauveResult, Stripped
from mauve_metric.results.signature import signature_entries
from mauve_metric.runtime import tensors
from mauve_metric.runtime.tensors import ProjectedRows
from mauve_metric.runtime.threads import fitting_threads
from mauve_metric.uncertainty import intervals, jackknife, resampling, score_warnings
from mauve_metric.uncertainty.divergence_intervals import few_texts_a_bucket
from mauve_metric.uncertainty.format_check import check_format, format_warnings, wrapping_warnings
from mauve_metric.uncertainty.jackknife import CurveBand
from mauve_metric.uncertainty.learned_score import Learned, learned_score, permuted_aucs

logger = logging.getLogger(__name__)

NOT_READ_AGAIN = "it needs the texts again, which were not kept"


class HistogramScores(NamedTuple):
    """Scores that depend on the histograms alone, by the names of `MauveResult`."""

    mauve: float
    mauve_star: float
    mauve_exact: float
    mauve_floor: float
    frontier_integral: float
    frontier_integral_star: float
    prd_precision: float
    prd_recall: float
    prd_area: float
    p_hist: Floats
    q_hist: Floats
    divergence_curve: Floats
    curve_mixtures: Floats
    prd_curve: Floats


def score_histograms(histograms: Histograms, config: MauveConfig) -> HistogramScores:
    """Compute every score that depends on the histograms alone."""
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    p, q = histograms.probabilities()
    p_star, q_star = histograms.probabilities(smoothing=0.5)
    weights = frontier.mixture_weights(points)
    type_one, type_two = frontier.frontier(p, q, weights)
    curve = frontier.curve_through(type_one, type_two, c)
    prd = precision_recall.prd_curve(p, q)
    return HistogramScores(
        mauve=frontier.curve_area(curve),
        mauve_star=frontier.curve_area(frontier.divergence_curve(p_star, q_star, c, points)),
        mauve_exact=frontier.exact_area(p, q, c),
        mauve_floor=frontier.mauve_floor(c),
        frontier_integral=frontier.frontier_integral(p, q),
        frontier_integral_star=frontier.frontier_integral(p_star, q_star),
        prd_precision=prd.prd_precision,
        prd_recall=prd.prd_recall,
        prd_area=prd.area,
        p_hist=p,
        q_hist=q,
        divergence_curve=curve,
        curve_mixtures=np.stack([weights, type_one, type_two], axis=1),
        prd_curve=np.stack([prd.recall, prd.precision], axis=1),
    )


class Estimates(NamedTuple):
    """Debiased scores with errors, also those that a result hides; None where no error is known.

    values: of MAUVE and the frontier integral. problem: the reason for which a result shows no errors, else None.
    few_texts_a_bucket: the frontier integral has no interval that holds.
    """

    values: tuple[float, float] | None = None
    mauve: intervals.Estimate | None = None
    frontier_integral: intervals.Estimate | None = None
    problem: str | None = None
    few_texts_a_bucket: bool = False


def debiased_estimates(runs: Sequence[Histograms], config: MauveConfig) -> Estimates:
    """The means of MAUVE and the frontier integral without bias over clusterings, and of the ends of their intervals.

    Each clustering's interval allows for the spread over all of them.
    """
    first, groups = runs[0], runs[0].groups
    if groups is not None and min((groups.p_sizes > 0).sum(), (groups.q_sizes > 0).sum()) < 2:
        return Estimates(problem="the texts of a side are all of one prompt")
    if min(first.p_counts.sum(), first.q_counts.sum()) < 2:
        return Estimates(problem="a side has a single text")
    c, level = config.mauve_scaling_factor, config.confidence_level
    frontiers = [jackknife.debiased_frontier(run.p_counts, run.q_counts, run.groups) for run in runs]
    scores = [intervals.debiased_scores(run, c) for run in frontiers]
    spread = np.array([[run.mauve, run.frontier_integral] for run in scores])
    problem = intervals.too_few(frontiers[0])
    if problem is not None:
        return Estimates((float(spread[:, 0].mean()), float(spread[:, 1].mean())), problem=problem)
    problem = intervals.too_alike(scores)
    each = []
    for number, of_run in enumerate(scores):
        own_first = np.concatenate([spread[number : number + 1], spread[:number], spread[number + 1 :]])
        variances = np.var(own_first, axis=0, ddof=1) if len(scores) > 1 else np.zeros(2)
        found = intervals.with_errors(of_run, level, float(variances[0]), float(variances[1]))
        each.append(found if problem is None else intervals.inflated(of_run, *found, level))
    mauve, integral = (_mean([found[place] for found in each]) for place in (0, 1))
    few = few_texts_a_bucket(first.p_counts, first.q_counts)
    return Estimates((mauve.value, integral.value), mauve, integral, problem, few)


def _mean(found: Sequence[intervals.Estimate]) -> intervals.Estimate:
    """Average estimates over clusterings: values, squared errors and ends."""
    low, high = np.mean([item.ci for item in found], axis=0).tolist()
    error = float(np.sqrt(np.mean(np.square([item.stderr for item in found]))))
    value = float(np.mean([item.value for item in found]))
    return intervals.Estimate(value, error, (low, high), min(item.freedom for item in found))


def curve_band(histograms: Histograms, config: MauveConfig) -> CurveBand:
    """Band of the curve under sampling, for histograms whose errors are known (see `debiased_estimates`)."""
    frontier = jackknife.debiased_frontier(histograms.p_counts, histograms.q_counts, histograms.groups)
    return jackknife.frontier_band(frontier, config.mauve_scaling_factor, config.confidence_level)


KNN_AUTO_ROWS = 10_000  # rows per side up to which nearest neighbours take at most two seconds
FEW_TEXTS_FOR_RUNS = 1000  # below, the seed of the clustering moves the score almost as much as sampling does
RUNS_OF_FEW_TEXTS = 5


def score_features(
    p: FeatureSet,
    q: FeatureSet,
    config: MauveConfig,
    quiet: bool = False,
    run: RunOptions | None = None,
    *,
    clusterings: int | None = None,
    with_learned: bool = True,
) -> MauveResult:
    """Project, quantize and score two sides; `quiet` keeps the warnings out of the log.

    `with_learned=False` leaves out the score on learned buckets.

    Features that are not in memory, or hardly fit, are read in blocks; `run` has the checkpoint folder for that, and
    the device to work on in place of the one where the features are. clusterings: see `partition_sets`.
    """
    check_columns({"p_features": p, "q_features": q})
    config = resolve_config(config, len(p), len(q), groups=[p.groups, q.groups])
    partition = partition_sets(
        [p.features, q.features], config, run, clusterings=clusterings, groups=[p.groups, q.groups]
    )
    return score_partition(p, q, partition, config, quiet, with_learned=with_learned)


def score_partition(
    p: FeatureSet,
    q: FeatureSet,
    partition: Partition,
    config: MauveConfig,
    quiet: bool = False,
    *,
    with_learned: bool = True,
) -> MauveResult:
    """The result of two sides that are partitioned; `config` is without "auto"."""
    p_value = None
    if config.permutations and config.quantizer == "classifier":  # which is fitted anew to permuted sides
        aucs = permuted_aucs(p.features, q.features, pair_of_groups(p.groups, q.groups), config)
        p_value = float(np.mean(aucs >= aucs[0] - 1e-12))
    elif config.permutations:
        (p_labels, q_labels), k = partition.labels_without_sets, int(config.num_buckets)
        groups = count_groups(p_labels, q_labels, p.groups, q.groups, k)
        p_value = resampling.permutation_test(p_labels, q_labels, k, config.permutations, groups, config.seed)
    learned = learned_of(p, q, config) if with_learned else None
    result = score_buckets(p, q, partition, 1, config, p_value, learned)
    if not quiet:
        log_warnings(result)
    return result


def log_warnings(result: MauveResult) -> None:
    """Log each warning of a result."""
    for warning in result.warnings:
        logger.warning("%s: %s", warning.code, warning.message)


def learned_of(p: FeatureSet, q: FeatureSet, config: MauveConfig) -> Learned | None:
    """The score on learned buckets of two sides; None where texts are too few."""
    return learned_score(p.features, q.features, pair_of_groups(p.groups, q.groups), config)


def _compute_row_scores(p: FeatureSet, q: FeatureSet, scores: HistogramScores, config: MauveConfig) -> dict[str, Any]:
    """Compute the scores whose row names their function; None for those that are not selected.

    Raises:
        ValueError: one of features that are read in blocks.
    """
    found: dict[str, Any] = {}
    for name, row in SCORES.items():
        if "shares" in row.inputs.forms:
            found[name] = row.compute(scores.p_hist, scores.q_hist)
        elif "features" in row.inputs.forms:
            found[name] = None
            if getattr(config, name, True):
                features = [tensors.in_memory(side.features) for side in (p, q)]
                if any(rows is None for rows in features):
                    raise ValueError(f"{name}=True needs features in memory, as an array")
                found[name] = row.compute(*features, config.seed, config.confidence_level)
    return found


def count_runs(
    runs: Sequence[Sequence[Labels]],
    number: int,
    groups: tuple[Integers | None, Integers | None],
    config: MauveConfig,
) -> list[Histograms]:
    """The histograms of P and of the model with this number, from 1, for each clustering."""
    return [count_labels(run[0], run[number], int(config.num_buckets), *groups) for run in runs]


def score_buckets(
    p: FeatureSet,
    q: FeatureSet,
    partition: Partition,
    number: int,
    config: MauveConfig,
    p_value: float | None = None,
    learned: Learned | None = None,
    entries: Mapping[str, object] | None = None,
) -> MauveResult:
    """The result of two sides whose texts are in buckets.

    Args:
        p, q: the sides.
        partition: of P and one or several models. The first clustering makes the scores of the literature, the others,
            if there are any, the debiased ones.
        number: of Q among the models, from 1.
        config: without "auto", see `resolve_config`.
        p_value: of the permutation test.
        learned: the score on learned buckets; None: it is not known.
        entries: further entries of the signature.
    """
    k, groups, first = int(config.num_buckets), pair_of_groups(p.groups, q.groups), partition.labels[0]
    histograms, *others = count_runs(partition.labels, number, (p.groups, q.groups), config)
    scores = score_histograms(histograms, config)
    estimates = debiased_estimates(others or [histograms], config)
    clusterings = _fields_of_clusterings(scores.mauve, histograms, others, config)
    ceiling = clusterings["mauve_ceiling"], clusterings["mauve_ceiling_std"]
    texts_a_bucket = np.bincount(np.concatenate(first), minlength=k)
    formats = None
    if learned is not None:
        formats = check_format(p.format_numbers, q.format_numbers, groups, config.seed, p.unseen_formats or ())
    warnings = (
        *score_warnings.all_warnings(p, q, histograms, scores.mauve, scores.mauve_floor, *ceiling, texts_a_bucket),
        *score_warnings.quantizer_warnings(partition.problems),
        *score_warnings.design_warnings(histograms.groups, estimates.problem, k),
        *wrapping_warnings(p, q),
        *format_warnings(formats, None if p.identity is None else p.identity.get("model")),
    )
    return MauveResult(
        **scores._asdict(),
        **clusterings,
        **_fields_of_estimates(estimates),
        **_neighbours((partition.rows[0], partition.rows[number]), config),
        **_compute_row_scores(p, q, scores, config),
        **_fields_of_side("p", p, histograms),
        **_fields_of_side("q", q, histograms),
        **_fields_of_learned(learned),
        curve_band=None if estimates.problem is not None else curve_band(histograms, config),
        p_value=p_value,
        design=design_of(p.groups, q.groups),
        num_buckets=k,
        warnings=warnings,
        signature_entries=signature_entries(p, q, config, entries or {}),
        p_labels=first[0],
        q_labels=first[number],
        format_auc=None if formats is None else formats.auc,
        format_aucs=None if formats is None else formats.each,
        normalised_missing=None if formats is None or not formats.tells else NOT_READ_AGAIN,
    )


def _fields_of_clusterings(
    mauve: float, histograms: Histograms, others: Sequence[Histograms], config: MauveConfig
) -> dict[str, Any]:
    """The fields of a result on scores of equal sets, and on the spread over clusterings.

    Args:
        mauve: of the histograms. others: the histograms of other clusterings.
    """
    c, points = config.mauve_scaling_factor, config.divergence_curve_discretization_size
    runs = len(others) + 1 if config.num_runs == "auto" else config.num_runs
    areas = (curve_area(divergence_curve(*run.probabilities(), c, points)) for run in others)
    plug_in = np.array([mauve, *areas][:runs])
    null = resampling.null_scores(histograms.p_counts, histograms.q_counts, c, points, groups=histograms.groups)
    return {
        "mauve_ceiling": float(null.mean()),
        "mauve_ceiling_std": float(null.std(ddof=1)),
        "mauve_runs": plug_in,
        "mauve_mean": float(np.mean(plug_in)),
        "mauve_std": float(np.std(plug_in, ddof=1)) if len(plug_in) > 1 else None,
        "ci_scope": "over clusterings" if len(others) > 1 else "for this partition",
    }


def _fields_of_estimates(estimates: Estimates) -> dict[str, Any]:
    """The fields of a result on its debiased scores, without errors that are not valid."""
    found: dict[str, Any] = {}
    for name, value in zip(("mauve", "frontier_integral"), estimates.values or (None, None), strict=True):
        known = None if estimates.problem is not None else getattr(estimates, name)
        found |= {f"{name}_debiased": value, f"{name}_stderr": known and known.stderr, f"{name}_ci": known and known.ci}
    if estimates.few_texts_a_bucket:
        found["frontier_integral_ci"] = None
    return found


def _fields_of_side(name: str, side: FeatureSet, histograms: Histograms) -> dict[str, Any]:
    """The fields of a result on the texts of a side, "p" or "q"."""
    groups = histograms.groups
    return {
        f"n_{name}": len(side),
        f"{name}_prompts": None if groups is None else int((getattr(groups, f"{name}_sizes") > 0).sum()),
        f"{name}_dropped": side.dropped,
        f"{name}_truncated": side.truncated,
        f"{name}_stripped": tuple(Stripped(*item) for item in side.stripped.items()),
        f"{name}_median_length": None if side.lengths is None else float(np.median(side.lengths)),
    }


def _fields_of_learned(learned: Learned | None) -> dict[str, Any]:
    """The fields of a result that the score on learned buckets fills."""
    if learned is None:
        return {}
    found = {"mauve_classifier": learned.mauve, "mauve_classifier_stderr": learned.stderr, "learned": learned}
    found |= {name: getattr(learned, name) for name in ("auc", "auc_ci", "auc_p_value")}
    found |= {f"learned_{name}": tuple(getattr(learned, name).tolist()) for name in ("p_counts", "q_counts")}
    return found | {"mauve_classifier_ci": learned.ci}


def resolve_config(config: MauveConfig, *sizes: int, groups: Sequence[Integers | None] | None = None) -> MauveConfig:
    """Replace every "auto" and preset in the config by its value for sets of these sizes, P's first.

    groups: codes of the texts of each set; a bucket then needs ten prompts, since texts of one tell less.
    """
    smaller = min(sizes)
    num_buckets = num_buckets_of(config, *sizes)
    if config.num_buckets == "auto" and groups is not None:
        prompts = (size if own is None else len(np.unique(own)) for size, own in zip(sizes, groups, strict=True))
        num_buckets = min(num_buckets, num_buckets_of(config, *prompts))
    runs = (RUNS_OF_FEW_TEXTS if smaller < FEW_TEXTS_FOR_RUNS else 1) if config.num_runs == "auto" else config.num_runs
    knn = max(sizes) <= KNN_AUTO_ROWS and smaller > config.knn_k if config.knn == "auto" else config.knn
    training: dict[str, Any] = training_of(config, sum(sizes))
    return replace(config, num_buckets=num_buckets, num_runs=runs, knn=knn, **training)


@fitting_threads()
def _neighbours(projected: Sequence[ProjectedRows], config: MauveConfig) -> dict[str, Any]:
    """Nearest-neighbour precision, recall, density and coverage, or None for each."""
    if not config.knn:
        return dict.fromkeys(support.SupportScores._fields)
    if tensors.is_tensor(projected[0]):
        some = [
            rows if len(rows) <= KNN_MOST_ROWS else rows[some_numbers(len(rows), KNN_MOST_ROWS, config.seed)]
            for rows in projected
            if tensors.is_tensor(rows)
        ]
        return support.support_scores_on_device(some[0], some[1], config.knn_k, support.ROUNDING)._asdict()
    p_rows, q_rows = (some_rows(tensors.on_cpu(rows), KNN_MOST_ROWS, config.seed) for rows in projected)
    return support.support_scores(p_rows, q_rows, config.knn_k, tolerance=support.ROUNDING)._asdict()
