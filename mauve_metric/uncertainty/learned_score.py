"""The score on buckets that a cross-fitted classifier learns, and how well it tells the two sides apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Features, Floats, Integers, Labels
from mauve_metric.clustering.histograms import Histograms, count_labels
from mauve_metric.clustering.num_buckets import auto_learned_buckets
from mauve_metric.features.row_blocks import (
    ConcatenatedRows,
    as_rows,
    content_keys,
    copies,
    in_one_format,
    order_of_keys,
    some_numbers,
)
from mauve_metric.measures.cross_fitting import (
    FEWEST_TO_CLASSIFY,
    buckets_of_ranks,
    cross_fit,
    cross_fit_repeatedly,
    joined_groups,
    monotone_buckets,
    without_large,
)
from mauve_metric.measures.linear_classifier import Sides
from mauve_metric.measures.roc_auc import auc_of_scores
from mauve_metric.options import MauveConfig
from mauve_metric.runtime import tensors
from mauve_metric.runtime.threads import Start, fitting_threads, run_when_asked
from mauve_metric.uncertainty import intervals, jackknife
from mauve_metric.uncertainty.differences import effect_covariance

if TYPE_CHECKING:
    import torch

DIVIDED_TEXTS, MOST_DIVISIONS = 1000, 10  # as many divisions into folds as this is larger than the smaller side
PERMUTATIONS = 49  # after which the classifier is fitted anew, for the p-value of its AUC
MOST_FITTED = 100_000  # texts a side that the classifier is fitted to
FEWEST_PERMUTATIONS = 9  # of very many texts, whose AUC varies little
_MOST_PERMUTED = 2**20  # sides of texts that are permuted, in all


class Learned(NamedTuple):
    """The score on learned buckets, where two human sets reach 1, and the AUC of the classifier behind them.

    mauve: debiased. stderr, ci: of it, for this partition. auc: in [0, 1], ½ for sets that cannot be told apart.
    auc_ci: its interval. auc_p_value: of "both sets are draws from one distribution", one-sided.
    histograms: human and model texts in each bucket.
    p_labels, q_labels: the bucket of each text, from the most human to the most model-like, (n_p,) and (n_q,).
    p_ranks, q_ranks: rank of the score of each text, in (0, 1), the most model-like last, (n_p,) and (n_q,).
    spread: variance of the frontier integral of equal buckets, before neighbours were joined.
    """

    mauve: float
    stderr: float
    ci: tuple[float, float]
    auc: float
    auc_ci: tuple[float, float]
    auc_p_value: float
    histograms: Histograms
    p_labels: Labels
    q_labels: Labels
    p_ranks: Floats
    q_ranks: Floats
    spread: float


@fitting_threads()
def learned_score(
    p: Features,
    q: Features,
    groups: tuple[Integers, Integers] | None,
    config: MauveConfig,
    keys: tuple[Floats, Floats] | None = None,
    units: tuple[Integers, Integers] | None = None,
    run: Start = run_when_asked,
) -> Learned | None:
    """MAUVE on the buckets of a cross-fitted classifier's scores, an upper bound of MAUVE as every partition's is.

    k-means groups texts by what they are mostly about; this partition follows what separates the sets best. See
    `cross_fitting.cross_fit` for the classifier and `docs/saturation.md` for what it sees. Of a side of more than
    `MOST_FITTED` texts it is fitted to so many, drawn by the seed from the order by content; all texts are scored.

    Args:
        p, q: features, (n_p, d) and (n_q, d). groups: codes of texts that are not independent, equal on both sides for
            one group; None: each text is alone. config: has scaling factor, level and seed.
        keys: of the rows of each side; None: they are computed (`row_blocks.content_keys`).
        units: codes of texts that stay in one fold, -1 for those alone (`FeatureSet.dependence`); None: of copies.
        run: starts a function, see `side_by_side`.

    Returns:
        None for sides of fewer than ten texts, those of one fold counted once.

    >>> rng = np.random.default_rng(0)
    >>> same, far = (rng.normal(shift, size=(100, 5)) for shift in (0, 3))
    >>> found = learned_score(rng.normal(size=(100, 5)), far, None, MauveConfig())
    >>> found.mauve < 0.05, found.auc > 0.99, found.auc_p_value < 0.001
    (True, True, True)
    """
    n_p, n = p.shape[0], p.shape[0] + q.shape[0]
    stacked = _Stacked.of(p, q, groups, keys, units)
    is_model, groups, (p_order, q_order) = np.arange(n) >= n_p, stacked.groups, stacked.orders
    if min(len(np.unique(stacked.units[is_model == side])) for side in (False, True)) < FEWEST_TO_CLASSIFY:
        return None
    sizes = (n_p, n - n_p) if groups is None else [len(np.unique(side)) for side in groups]
    fitted = cross_fit_repeatedly(
        stacked.rows,
        is_model,
        stacked.groups and np.concatenate(stacked.groups),
        units=stacked.units,
        divisions=min(max(DIVIDED_TEXTS // min(sizes), 1), MOST_DIVISIONS),
        seed=config.seed,
        run=run,
        permutations=min(PERMUTATIONS, max(_MOST_PERMUTED // n, FEWEST_PERMUTATIONS)),
        trained_on=stacked.fitted(config.seed),
        device=_device_of(p, q),
        order=stacked.drawn,
    )
    codes = groups or (None, None)
    equal = buckets_of_ranks(fitted.ranks, auto_learned_buckets(min(sizes)))
    counted = count_labels(equal[:n_p], equal[n_p:], int(equal.max()) + 1, *codes)
    spread = intervals.integral_variance(jackknife.frontier_of(counted))
    labels = monotone_buckets(counted.p_counts, counted.q_counts)[equal]
    counted = count_labels(labels[:n_p], labels[n_p:], int(labels.max()) + 1, *codes)
    score = debiased(counted, spread, config)
    return Learned(
        mauve=score.value,
        stderr=score.stderr,
        ci=score.ci,
        auc=fitted.auc,
        auc_ci=auc_of_scores(fitted.held_out, config.confidence_level).ci or (0.0, 1.0),
        auc_p_value=fitted.p_value,
        histograms=counted,
        p_labels=labels[:n_p][np.argsort(p_order)],
        q_labels=labels[n_p:][np.argsort(q_order)],
        p_ranks=fitted.ranks[:n_p][np.argsort(p_order)],
        q_ranks=fitted.ranks[n_p:][np.argsort(q_order)],
        spread=spread,
    )


def permuted_aucs(p: Features, q: Features, groups: tuple[Integers, Integers] | None, config: MauveConfig) -> Floats:
    """The AUC, then those of `config.permutations` classifiers fitted to permuted sides, (1 + permutations,).

    They are fitted to all texts, as those of `quantizer="classifier"`.
    """
    stacked = _Stacked.of(p, q, groups)
    fitted = cross_fit(
        stacked.rows,
        np.arange(len(stacked.units)) >= p.shape[0],
        stacked.groups and np.concatenate(stacked.groups),
        units=stacked.units,
        stacked=True,
        seed=config.seed,
        permutations=config.permutations,
        device=_device_of(p, q),
        order=stacked.drawn,
    )
    return np.concatenate([[fitted.auc], fitted.permuted])


def debiased(histograms: Histograms, spread: float, config: MauveConfig) -> intervals.Estimate:
    """MAUVE of learned buckets without bias, with its interval; spread: see `Learned`."""
    scores = intervals.debiased_scores(jackknife.frontier_of(histograms), config.mauve_scaling_factor)
    return intervals.with_errors(scores, config.confidence_level, least_variance=spread)[0]


def learned_estimates(
    learned: Sequence[Learned], groups: Sequence[tuple[Integers, Integers] | None], config: MauveConfig
) -> tuple[list[intervals.Estimate], Floats]:
    """The learned scores of several models against one P, and their covariance, (m, m).

    Each model has buckets of its own, which count as given: its texts and those of P move the score by their influence
    on the shares of these buckets. That P's texts are shared, and prompts where there are groups, makes scores vary
    together.

    Args:
        groups: for each model codes of the texts of P and of its own; None: each text is alone.
    """
    pairs = [(model.p_labels, model.q_labels) for model in learned]
    frontiers = [jackknife.frontier_of(model.histograms) for model in learned]
    covariance = effect_covariance(frontiers, pairs, config.mauve_scaling_factor, groups)
    return [debiased(model.histograms, model.spread, config) for model in learned], covariance


class _Stacked(NamedTuple):
    """Both sides, P first, in the order in which they are fitted.

    rows: (n, d). units: rows of one number are in one fold, (n,). groups: of rows that are not independent, of either
    side; None: each is alone. orders: the number of each fitted row on its side. drawn: the order in which folds are
    drawn, (n,); None: as the rows are.
    """

    rows: Features
    units: Integers
    groups: tuple[Integers, Integers] | None
    orders: tuple[Integers, Integers]
    drawn: Integers | None

    def fitted(self, seed: int) -> Sides | None:
        """The rows that the classifier is fitted to, (n,); None: all."""
        sizes = [len(numbers) for numbers in self.orders]
        if max(sizes) <= MOST_FITTED:
            return None
        chosen = np.zeros(sum(sizes), dtype=bool)
        for start, size in zip((0, sizes[0]), sizes, strict=True):
            chosen[start + some_numbers(size, min(size, MOST_FITTED), seed)] = True
        return chosen if self.drawn is None else chosen[np.argsort(self.drawn)]

    @classmethod
    def of(
        cls,
        p: Features,
        q: Features,
        groups: tuple[Integers, Integers] | None,
        keys: tuple[Floats, Floats] | None = None,
        units: tuple[Integers, Integers] | None = None,
    ) -> _Stacked:
        """Sort the rows of each side by content, so that the folds do not depend on the order of the texts.

        Rows that are read in blocks stay in theirs, and only the folds are drawn in the order by content.
        """
        keys = keys or (content_keys(p), content_keys(q))
        p_order, q_order = orders = order_of_keys(keys[0]), order_of_keys(keys[1])
        p_rows, q_rows = tensors.in_memory(p), tensors.in_memory(q)
        rows: Features
        if p_rows is not None and q_rows is not None:
            rows, drawn = np.concatenate(in_one_format(p_rows[p_order], q_rows[q_order])), None
        else:
            rows = ConcatenatedRows(list(map(as_rows, in_one_format(p, q))))
            drawn = np.concatenate([p_order, q_order + len(p_order)])
            orders = np.arange(len(p_order)), np.arange(len(q_order))
        sorted_groups = None if groups is None else (groups[0][orders[0]], groups[1][orders[1]])
        if units is None:
            together = copies([rows], [np.concatenate([keys[0][orders[0]], keys[1][orders[1]]])])
        else:
            together = np.concatenate([units[0][orders[0]], units[1][orders[1]]])
        together = without_large(together, np.arange(len(together)) >= len(p_order))
        in_folds = joined_groups(together, None if sorted_groups is None else np.concatenate(sorted_groups))
        return cls(rows, in_folds, sorted_groups, orders, drawn)


def _device_of(p: Features, q: Features) -> torch.device | None:
    """The GPU that the features are on; None for those in memory."""
    device = tensors.device_of([p, q])
    return None if device is None or device.type == "cpu" else device
