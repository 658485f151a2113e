"""Closeness: debiased MAUVE by the sharpest partition at hand, with an interval that holds after that choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers, Labels
from mauve_metric.clustering.histograms import Histograms, count_labels
from mauve_metric.measures.frontier import curve_area, divergence_curve
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty import ceilings, intervals, jackknife
from mauve_metric.uncertainty.differences import effect_covariance
from mauve_metric.uncertainty.learned_score import Learned
from mauve_metric.uncertainty.score_warnings import few_texts_a_bucket

_ROUNDING = 1e-9  # of a p-value, which is a fraction, and of a level


class Estimates(NamedTuple):
    """Debiased scores with errors; None where no error is known.

    values: of MAUVE and the frontier integral. problem: the reason for which there are no errors, else None.
    few_texts_a_bucket: the frontier integral has no interval that holds.
    """

    values: tuple[float, float] | None = None
    mauve: intervals.Estimate | None = None
    frontier_integral: intervals.Estimate | None = None
    problem: str | None = None
    few_texts_a_bucket: bool = False


def debiased_estimates(
    runs: Sequence[Histograms], config: MauveConfig, least_variance: float = 0.0, level: float | None = None
) -> Estimates:
    """The means of MAUVE and the frontier integral without bias over clusterings, and of the ends of their intervals.

    Each clustering's interval allows for the spread over all of them. Where the sets are more alike than two samples of
    one distribution are on average, the interval is widened by as much (see `intervals.widened_if_too_alike`).

    Args:
        least_variance: see `intervals.with_errors`. level: of the intervals; None: that of the config.
    """
    first, groups = runs[0], runs[0].groups
    if groups is not None and min((groups.p_sizes > 0).sum(), (groups.q_sizes > 0).sum()) < 2:
        return Estimates(problem="the texts of a side are all of one prompt")
    if min(first.p_counts.sum(), first.q_counts.sum()) < 2:
        return Estimates(problem="a side has a single text")
    c, level = config.mauve_scaling_factor, level or config.confidence_level
    scores = [intervals.debiased_scores(jackknife.frontier_of(run), c) for run in runs]
    values = np.array([[run.mauve, run.frontier_integral] for run in scores])
    if problem := next(filter(None, (intervals.too_few(run.frontier, least_variance) for run in scores)), None):
        return Estimates((float(values[:, 0].mean()), float(values[:, 1].mean())), problem=problem)
    too_alike = intervals.too_alike(scores)
    each = []
    for number, of_run in enumerate(scores):
        own_first = np.concatenate([values[number : number + 1], values[:number], values[number + 1 :]])
        variances = np.var(own_first, axis=0, ddof=1) if len(scores) > 1 else np.zeros(2)
        estimated = intervals.with_errors(of_run, level, float(variances[0]), float(variances[1]), least_variance)
        each.append(intervals.widened_if_too_alike(of_run, *estimated, level) if too_alike else estimated)
    mauve, integral = map(_mean, zip(*each, strict=True))
    few = few_texts_a_bucket(first.p_counts, first.q_counts)
    return Estimates((mauve.value, integral.value), mauve, integral, None, few)


def _mean(estimates: Sequence[intervals.Estimate]) -> intervals.Estimate:
    """Average estimates over clusterings: values, squared errors and ends."""
    values, errors, ends, freedoms, _ = zip(*estimates, strict=True)
    low, high = np.mean(ends, axis=0).tolist()
    error = float(np.sqrt(np.mean(np.square(errors))))
    return intervals.Estimate(float(np.mean(values)), error, (low, high), min(freedoms))


@dataclass(frozen=True)
class Bound:
    """Debiased MAUVE by one kind of partition; every partition gives an upper bound of that of the distributions.

    Attributes:
        kind: "groups" of similar texts, or the scores of a "classifier".
        labels: for each clustering the bucket of each text of both sides, (n_p,) and (n_q,).
        codes: of the groups of texts that are not independent, (n_p,) and (n_q,); None: each text is alone.
        p_value: of a test that both sides have one distribution; None: the interval is the test.
        auc: of the classifier.
        spread: see `debiased_estimates`.
        featurizer: its name, where there are several; empty for one, and for a classifier of the features of all.
        counts: the histogram of each clustering; None: they are counted.
    """

    kind: Literal["groups", "classifier"]
    labels: Sequence[tuple[Labels, Labels]]
    codes: tuple[Integers, Integers] | None
    p_value: float | None = None
    auc: float | None = None
    spread: float = 0.0
    featurizer: str = ""
    counts: Sequence[Histograms] | None = None
    _estimates: dict[tuple[float, float], Estimates] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of_learned(cls, learned: Learned, codes: tuple[Integers, Integers] | None) -> Bound:
        """The bound by a classifier's scores; an AUC of at most ½ is no difference."""
        p_value = learned.auc_p_value if learned.auc > 0.5 else 1.0
        labels, counts = [(learned.p_labels, learned.q_labels)], [learned.histograms]
        return cls("classifier", labels, codes, p_value, learned.auc, learned.spread, counts=counts)

    @cached_property
    def histograms(self) -> Sequence[Histograms]:
        """The histograms of each clustering."""
        if self.counts is not None:
            return self.counts
        codes = self.codes or (None, None)
        return [count_labels(p, q, int(max(p.max(), q.max())) + 1, *codes) for p, q in self.labels]

    def estimates(self, config: MauveConfig, level: float | None = None) -> Estimates:
        """The debiased scores with intervals at a level; None: that of the config."""
        options = config.mauve_scaling_factor, level or config.confidence_level
        if options not in self._estimates:
            self._estimates[options] = debiased_estimates(self.histograms, config, self.spread, level)
        return self._estimates[options]

    def is_below_equal_sets(self, config: MauveConfig, level: float | None = None) -> bool:
        """Return whether MAUVE of the histograms is lower than chance makes that of equal sets in these buckets."""
        runs, c = self.histograms, config.mauve_scaling_factor
        areas = [curve_area(divergence_curve(*run.probabilities(), c)) for run in runs]
        null = ceilings.null_scores(runs[0].p_counts, runs[0].q_counts, c, groups=runs[0].groups)
        deviations = t_quantile(level or config.confidence_level)
        return float(np.mean(areas)) < float(null.mean() - deviations * null.std(ddof=1))


class Closeness(NamedTuple):
    """The lowest of several bounds.

    value: in [0, 1]. ci: [lowest of the lows, lowest of the highs] of m intervals at level 1 - α/m: no interval that is
    right for its own partition ends below the true MAUVE with a higher probability than α/m. shown: numbers of the
    bounds that show a difference: by a test with a p-value of at most α/m, or by an interval that leaves out equal
    sets, which no test contradicts, nor scores of equal sets where there is none. p_value: the least of these tests',
    times m; None where no test shows a difference.
    """

    value: float
    ci: tuple[float, float] | None
    shown: tuple[int, ...]
    p_value: float | None


def closeness_of(bounds: Sequence[Bound], config: MauveConfig) -> Closeness | None:
    """The lowest of the bounds with its interval at the level of a config; None for no bound with a value.

    >>> labels = np.repeat(np.arange(10), 30)
    >>> found = closeness_of([Bound("groups", [(labels, labels)], None)], MauveConfig())
    >>> found.value, found.ci[1], found.shown
    (1.0, 1.0, ())
    """
    level = max(1 - (1 - config.confidence_level) / max(len(bounds), 1), config.confidence_level)
    alpha = 1 - config.confidence_level + _ROUNDING
    values, ends, shown, tests = list[float](), list[tuple[float, float]](), list[int](), list[float]()
    for number, bound in enumerate(bounds):
        estimate, p_value = bound.estimates(config, level), bound.p_value
        if estimate.values and estimate.mauve is not None:
            values.append(estimate.values[0])
            ends.append(estimate.mauve.ci)
        is_shown = p_value is not None and p_value <= 1 - level + _ROUNDING
        if not is_shown and estimate.mauve is not None and estimate.mauve.ci[1] < 1:
            is_shown = bound.is_below_equal_sets(config, level) if p_value is None else p_value <= alpha
        if is_shown:
            shown.append(number)
            if p_value is not None and p_value * len(bounds) <= alpha:
                tests.append(p_value * len(bounds))
    # a score that has no interval may be far too low
    values = values or [both[0] for bound in bounds if (both := bound.estimates(config, level).values)]
    ci = (min(ends)[0], min(high for _, high in ends)) if ends else None
    return Closeness(min(values), ci, tuple(shown), min(tests, default=None)) if values else None


def joint_covariance(
    bounds: Sequence[Bound], estimates: Sequence[intervals.Estimate | None], scaling_factor: float
) -> Floats:
    """Estimate how scores of several models against one P vary together, (m, m), each on buckets of its own.

    The texts of P, and prompts, are shared.

    Args:
        bounds: of each model. estimates: of these; None where there is no error, which leaves the row at 0.
    """
    variances = np.array([0.0 if estimate is None else estimate.stderr**2 for estimate in estimates])
    covariance = np.diag(variances)
    with_error = [number for number, estimate in enumerate(estimates) if estimate is not None]
    if with_error:
        frontiers = [jackknife.frontier_of(bounds[number].histograms[0]) for number in with_error]
        pairs, codes = zip(*((bounds[number].labels[0], bounds[number].codes) for number in with_error), strict=True)
        covariance[np.ix_(with_error, with_error)] = effect_covariance(frontiers, pairs, scaling_factor, codes)
    over_runs: Floats = np.diag(np.maximum(variances - np.diag(covariance), 0.0))
    return covariance + over_runs
