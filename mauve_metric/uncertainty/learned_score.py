"""The score on buckets that a cross-fitted classifier learns, and how well it tells the two sides apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Counts, Features, Floats, Integers, Labels
from mauve_metric.features.rows import ConcatenatedRows, as_rows
from mauve_metric.measures.cross_fitting import auto_learned_buckets, buckets_of_ranks, cross_fit, same_rows
from mauve_metric.measures.discriminators import FEWEST_TEXTS
from mauve_metric.measures.separation import auc_of_scores
from mauve_metric.options import MauveConfig
from mauve_metric.quantize.histograms import Histograms, count_labels
from mauve_metric.quantize.projection import content_order
from mauve_metric.runtime import tensors
from mauve_metric.runtime.threads import fitting_threads
from mauve_metric.uncertainty import intervals, jackknife
from mauve_metric.uncertainty.differences import JointErrors, effect_covariance

if TYPE_CHECKING:
    import torch

PERMUTATIONS = 49  # after which the classifier is fitted anew, for the p-value of its AUC
_MOST_SCORES = 2**27  # float32 scores held at once


class Learned(NamedTuple):
    """The score on learned buckets, where two human sets reach 1, and the AUC of the classifier behind them.

    mauve: debiased. stderr, ci: of it, for this partition. auc: in [0, 1], ½ for sets that cannot be told apart.
    auc_ci: its interval. auc_p_value: of "both sets are draws from one distribution", one-sided. num_buckets: k.
    p_counts, q_counts: human and model texts in each bucket, (k,).
    p_labels, q_labels: the bucket of each text, from the most human to the most model-like, (n_p,) and (n_q,).
    p_ranks, q_ranks: rank of the score of each text within its fold, in (0, 1), (n_p,) and (n_q,).
    p_scores, q_scores: what a classifier of the other folds says of each text, above 0 on the model's side.
    """

    mauve: float
    stderr: float
    ci: tuple[float, float]
    auc: float
    auc_ci: tuple[float, float]
    auc_p_value: float
    num_buckets: int
    p_counts: Counts
    q_counts: Counts
    p_labels: Labels
    q_labels: Labels
    p_ranks: Floats
    q_ranks: Floats
    p_scores: Floats
    q_scores: Floats


@fitting_threads()
def learned_score(
    p: Features, q: Features, groups: tuple[Integers, Integers] | None, config: MauveConfig
) -> Learned | None:
    """MAUVE on the buckets of a cross-fitted classifier's scores, an upper bound of MAUVE as every partition's is.

    k-means groups texts by what they are mostly about; this partition follows what separates the sets best. See
    `cross_fitting.cross_fit` for the classifier and `docs/saturation.md` for what it sees.

    Args:
        p, q: features, (n_p, d) and (n_q, d). groups: codes of texts that are not independent, equal on both sides for
            one group; None: each text is alone. config: has scaling factor, level and seed.

    Returns:
        None for sides of fewer than ten texts, copies and texts of one prompt counted once.

    >>> rng = np.random.default_rng(0)
    >>> same, far = (rng.normal(shift, size=(100, 5)) for shift in (0, 3))
    >>> found = learned_score(rng.normal(size=(100, 5)), far, None, MauveConfig())
    >>> found.mauve < 0.05, found.auc > 0.99, found.auc_p_value < 0.001
    (True, True, True)
    """
    n_p, n = p.shape[0], p.shape[0] + q.shape[0]
    (p_order, q_order), groups, rows, together = _prepared(p, q, groups)
    is_model = np.arange(n) >= n_p
    if min(len(np.unique(together[is_model == side])) for side in (False, True)) < FEWEST_TEXTS:
        return None
    permutations = min(PERMUTATIONS, max(_MOST_SCORES // n, 19))
    fitted = cross_fit(rows, is_model, together, seed=config.seed, permutations=permutations, device=_device_of(p, q))
    sizes = (n_p, n - n_p) if groups is None else [len(np.unique(side)) for side in groups]
    num_buckets = auto_learned_buckets(min(sizes))
    labels = buckets_of_ranks(fitted.ranks, num_buckets)
    counted = count_labels(labels[:n_p], labels[n_p:], num_buckets, *(groups or (None, None)))
    score = debiased(counted, config)
    return Learned(
        mauve=score.value,
        stderr=score.stderr,
        ci=score.ci,
        auc=fitted.auc,
        auc_ci=auc_of_scores(fitted.held_out, config.confidence_level).ci or (0.0, 1.0),
        auc_p_value=fitted.p_value,
        num_buckets=num_buckets,
        p_counts=counted.p_counts,
        q_counts=counted.q_counts,
        p_labels=labels[:n_p][np.argsort(p_order)],
        q_labels=labels[n_p:][np.argsort(q_order)],
        p_ranks=fitted.ranks[:n_p][np.argsort(p_order)],
        q_ranks=fitted.ranks[n_p:][np.argsort(q_order)],
        p_scores=fitted.held_out.scores[:n_p][np.argsort(p_order)],
        q_scores=fitted.held_out.scores[n_p:][np.argsort(q_order)],
    )


def permuted_aucs(p: Features, q: Features, groups: tuple[Integers, Integers] | None, config: MauveConfig) -> Floats:
    """The AUC, then those of `config.permutations` classifiers fitted to permuted sides, (1 + permutations,)."""
    _, _, rows, together = _prepared(p, q, groups)
    is_model = np.arange(len(together)) >= p.shape[0]
    fitted = cross_fit(
        rows, is_model, together, seed=config.seed, permutations=config.permutations, device=_device_of(p, q)
    )
    return np.concatenate([[fitted.auc], fitted.permuted])


def debiased(histograms: Histograms, config: MauveConfig) -> intervals.Estimate:
    """MAUVE of learned buckets without bias, with its interval."""
    frontier = jackknife.debiased_frontier(histograms.p_counts, histograms.q_counts, histograms.groups)
    return intervals.estimate_scores(frontier, config.mauve_scaling_factor, config.confidence_level)[0]


def learned_estimates(
    found: Sequence[Learned], groups: Sequence[Integers | None], config: MauveConfig
) -> tuple[list[intervals.Estimate], JointErrors]:
    """The learned scores of several models against one P, and how they vary together.

    Each model has buckets of its own, which count as given: its texts and those of P move the score by their influence
    on the shares of these buckets. That P's texts are shared, and prompts where there are groups, makes scores vary
    together.

    Args:
        groups: codes of the texts of P and of each model; None: each text is alone.
    """
    codes = [own for own in groups if own is not None]
    pairs = [(one.p_labels, one.q_labels) for one in found]
    counted = [
        count_labels(*pair, one.num_buckets, *((codes[0], codes[number]) if codes else ()))
        for number, (one, pair) in enumerate(zip(found, pairs, strict=True), start=1)
    ]
    frontiers = [jackknife.debiased_frontier(item.p_counts, item.q_counts, item.groups) for item in counted]
    factor, level = config.mauve_scaling_factor, config.confidence_level
    covariance = effect_covariance(frontiers, pairs, factor, codes)
    nothing = np.zeros_like(covariance)
    estimates = [intervals.estimate_scores(frontier, factor, level)[0] for frontier in frontiers]
    return estimates, JointErrors(covariance, nothing, nothing)


def _prepared(
    p: Features, q: Features, groups: tuple[Integers, Integers] | None
) -> tuple[tuple[Integers, Integers], tuple[Integers, Integers] | None, Features, Integers]:
    """Both orders by content, and in these the groups, the rows of both sides, and groups of equal ones too."""
    (p, p_order), (q, q_order) = _by_content(p), _by_content(q)
    groups = None if groups is None else (groups[0][p_order], groups[1][q_order])
    one, two = tensors.in_memory(p), tensors.in_memory(q)
    rows: Features = ConcatenatedRows([as_rows(p), as_rows(q)])
    if one is not None and two is not None:
        rows = np.concatenate([one, two])
    return (p_order, q_order), groups, rows, same_rows(rows, None if groups is None else np.concatenate(groups))


def _device_of(p: Features, q: Features) -> torch.device | None:
    """The GPU that the features are on; None for those in memory."""
    device = tensors.device_of([p, q])
    return None if device is None or device.type == "cpu" else device


def _by_content(side: Features) -> tuple[Features, Integers]:
    """Rows in their order by content, and that order, so that the folds do not depend on that of the texts.

    Rows that are read in blocks stay in theirs.
    """
    rows = tensors.in_memory(side)
    order = np.arange(side.shape[0]) if rows is None else content_order(rows)
    return (side if rows is None else rows[order]), order
