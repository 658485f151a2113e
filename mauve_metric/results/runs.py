"""Several runs of one model, such as seeds: the mean of their scores, its deviation and an interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.measures.p_values import t_quantile
from mauve_metric.results.result import MauveResult


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


def summarize_runs(results: Mapping[str, MauveResult], level: float) -> RunsSummary:
    """The mean over runs of one model, with an interval for other runs and other texts.

    With the deviation s between R runs, and the lower halves h of the runs' own intervals, which are over other texts:
    mean - √(t² s²/R + mean h²), the upper end likewise, within [0, 1]. The runs share the human texts, so that their
    own errors do not average out; the model's part of them is in s² too, which makes the interval wide rather than
    narrow.

    Args:
        results: of two runs or more, by name. level: of the interval; that of the runs' own.

    Raises:
        ValueError: fewer than two runs.
    """
    if len(results) < 2:
        raise ValueError(f"results must be of two runs or more, got {len(results)}")
    mauve = np.array([result.mauve for result in results.values()])
    closeness = [result.closeness for result in results.values() if result.closeness is not None]
    summary = RunsSummary(tuple(results), None, None, None, float(mauve.mean()), float(mauve.std(ddof=1)))
    if len(closeness) < len(results):
        return summary
    mean, deviation = float(np.mean(closeness)), float(np.std(closeness, ddof=1))
    summary = summary._replace(closeness=mean, deviation=deviation)
    intervals = [result.closeness_ci for result in results.values() if result.closeness_ci is not None]
    if len(intervals) < len(results):
        return summary
    between = t_quantile(level, len(results) - 1) ** 2 * deviation**2 / len(results)
    halves = np.abs(np.array(intervals) - np.array(closeness)[:, None])
    down, up = (math.sqrt(between + float(np.mean(side**2))) for side in halves.T)
    return summary._replace(ci=(max(mean - down, 0.0), min(mean + up, 1.0)))


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
