"""Several runs of one model, such as seeds: means of their scores, and differences of these, with intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from mauve_metric.measures.p_values import t_quantile, two_sided
from mauve_metric.results.result import MauveResult
from mauve_metric.uncertainty.intervals import Estimate

_RUN = re.compile(r"(.+) \(run \d+\)")  # see `names_of_runs`


class RunsSummary(NamedTuple):
    """The scores of several runs of one model.

    runs: the names of the runs. closeness, mauve: their means; closeness is None where a run has none. deviation,
    mauve_deviation: standard deviations between runs. ci: the interval of the mean closeness over other runs and other
    texts; None where a run has none.
    """

    runs: tuple[str, ...]
    closeness: float | None
    deviation: float | None
    ci: tuple[float, float] | None
    mauve: float
    mauve_deviation: float


def summarize_runs(results: Mapping[str, MauveResult], mauve_of: Mapping[str, float], level: float) -> RunsSummary:
    """The mean over runs of one model, with an interval for other runs and other texts.

    With the deviation s between R runs, and the lower halves h of the runs' own intervals, which are over other texts:
    mean - √(t² s²/R + mean h²), the upper end likewise, within [0, 1]. The runs share the human texts, so that their
    own errors do not average out; the model's part of them is in s² too, which makes the interval wide rather than
    narrow.

    Args:
        results: of two runs or more, by name. mauve_of: MAUVE of each run on its own buckets. level: of the interval;
            that of the runs' own.

    Raises:
        ValueError: fewer than two runs.
    """
    if len(results) < 2:
        raise ValueError(f"results must be of two runs or more, got {len(results)}")
    mauve = np.array([mauve_of[name] for name in results])
    closeness = [result.closeness for result in results.values() if result.closeness is not None]
    summary = RunsSummary(tuple(results), None, None, None, float(mauve.mean()), float(mauve.std(ddof=1)))
    if len(closeness) < len(results):
        return summary
    mean, deviation = float(np.mean(closeness)), float(np.std(closeness, ddof=1))
    summary = summary._replace(closeness=mean, deviation=deviation)
    intervals = [result.closeness_ci for result in results.values() if result.closeness_ci is not None]
    if len(intervals) < len(results):
        return summary
    estimates = [Estimate(value, math.nan, ci) for value, ci in zip(closeness, intervals, strict=True)]
    return summary._replace(ci=mean_of_runs(estimates, level).ci)


def mean_of_runs(estimates: Sequence[Estimate], level: float) -> Estimate:
    """The mean of one score over runs of one model: see `summarize_runs`; of one run, its own estimate."""
    if len(estimates) < 2:
        return estimates[0]
    values = np.array([estimate.value for estimate in estimates])
    mean, freedom = float(values.mean()), len(values) - 1
    between = float(values.var(ddof=1)) / len(values)
    halves = np.abs(np.array([estimate.ci for estimate in estimates]) - values[:, None])
    within = np.square(halves).mean(axis=0)
    down, up = np.sqrt(t_quantile(level, freedom) ** 2 * between + within)
    error = math.sqrt(between + float(within.max()) / t_quantile(level) ** 2)
    return Estimate(mean, error, (max(mean - down, 0.0), min(mean + up, 1.0)), _freedom(error**2, [(between, freedom)]))


def difference_of_runs(
    pairs: Mapping[tuple[str, str], Estimate], a: Sequence[str], b: Sequence[str], level: float
) -> Estimate:
    """The mean score over the runs of model a minus that over the runs of model b, for other runs and other texts.

    With s² between the R runs of a model, t of R - 1 degrees of freedom and the half-width w of other texts,

        half-width² = t_a² s_a²/R_a + t_b² s_b²/R_b + w²,    w² = v · mean squared half-width of the pairs of a and b,
        v = (mean V(a_i - b_j) - ½ mean V(a_i - a_j) - ½ mean V(b_i - b_j)) / mean V(a_i - b_j),

    the variance of the difference of means over that of two runs: human texts that all runs share do not average out,
    the model's do. These are in s² too, which makes the interval wide rather than narrow. The p-value has Welch and
    Satterthwaite's degrees of freedom.

    Args:
        pairs: of every two runs the difference, first minus second, with its interval; in any order of the two.
        a, b: the names of the runs, two or more each. level: of the intervals.
    """
    across = [_signed(pairs, first, second) for first, second in product(a, b)]
    values = np.array([pair.value for pair in across])
    value, z = float(values.mean()), t_quantile(level)
    shrunk = _variance_of_means(pairs, a, b)
    within = shrunk * np.square(np.array([pair.ci for pair in across]) - values[:, None]).mean(axis=0)
    between = [(_between(pairs, runs), len(runs) - 1) for runs in (a, b)]
    spread = sum(t_quantile(level, freedom) ** 2 * variance for variance, freedom in between)
    down, up = map(float, np.sqrt(spread + within))
    margin = down if value > 0 else up if value < 0 else max(down, up)
    total = sum(variance for variance, _ in between) + float(within.max()) / z**2
    freedom = _freedom(total, between)
    p_value = two_sided(t_quantile(level, freedom) * abs(value) / margin if margin > 0 else math.inf, freedom)
    ci = (max(value - down, -1.0), min(value + up, 1.0))
    return Estimate(value, math.sqrt(total), ci, freedom, p_value if value else 1.0)


def _signed(pairs: Mapping[tuple[str, str], Estimate], first: str, second: str) -> Estimate:
    """The difference of two runs, first minus second."""
    if (pair := pairs.get((first, second))) is not None:
        return pair
    pair = pairs[second, first]
    return pair._replace(value=-pair.value, ci=(-pair.ci[1], -pair.ci[0]))


def _between(pairs: Mapping[tuple[str, str], Estimate], runs: Sequence[str]) -> float:
    """The variance of the mean over runs, s²/R, from the differences of every two."""
    squares = sum(_signed(pairs, *pair).value ** 2 for pair in combinations(runs, 2))
    return squares / (len(runs) ** 2 * (len(runs) - 1))


def _variance_of_means(pairs: Mapping[tuple[str, str], Estimate], a: Sequence[str], b: Sequence[str]) -> float:
    """v of `difference_of_runs`; not less than if nothing were shared by the runs, and not above 1."""

    def mean_variance(chosen: Iterable[tuple[str, str]]) -> float:
        widths = [0.0 if pair[0] == pair[1] else np.ptp(_signed(pairs, *pair).ci) for pair in chosen]
        return float(np.square(widths).mean())

    across = mean_variance(product(a, b))
    of_means = across - (mean_variance(product(a, a)) + mean_variance(product(b, b))) / 2
    return min(max(of_means / across, 1 / max(len(a), len(b))), 1.0) if across > 0 else 1.0


def _freedom(total: float, between: Iterable[tuple[float, int]]) -> float:
    """Welch and Satterthwaite's degrees of freedom of a variance, of parts with few of them and a rest with many."""
    parts = sum(variance**2 / freedom for variance, freedom in between)
    return total**2 / parts if parts > 0 else math.inf


def runs_of_names(names: Iterable[str]) -> dict[str, list[str]]:
    """The runs of each model that has several, by names of `names_of_runs`.

    >>> runs_of_names(["m (run 1)", "n", "m (run 2)", "o (run 1)"])
    {'m': ['m (run 1)', 'm (run 2)']}
    """
    runs: dict[str, list[str]] = {}
    for name in names:
        if is_run := _RUN.fullmatch(name):
            runs.setdefault(is_run[1], []).append(name)
    return {model: of_model for model, of_model in runs.items() if len(of_model) > 1}


def names_of_runs(names: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Names that differ, "m (run 1)", "m (run 2)" for a name that occurs twice; and the runs of each such name.

    >>> names_of_runs(["m", "n", "m"])
    (['m (run 1)', 'n', 'm (run 2)'], {'m': ['m (run 1)', 'm (run 2)']})
    """
    runs: dict[str, list[str]] = {}
    different = []
    for name in names:
        is_run = names.count(name) > 1
        different.append(f"{name} (run {len(runs.get(name, ())) + 1})" if is_run else name)
        if is_run:
            runs.setdefault(name, []).append(different[-1])
    return different, runs
