"""Number of texts needed to tell two models, or a model and people, apart, by resampling the given sets.

A formula with error² ∝ 1/n fails where it matters: close to 1 errors fall about as fast as 1/n, and near the floor
intervals are lopsided. So sets are drawn from the histograms, each model's mixed with P's until its score is the
debiased one (a histogram of few texts looks further away than it is), and the test is made on them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mauve_metric.arrays import Counts, Floats
from mauve_metric.measures import frontier
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.uncertainty import intervals, jackknife
from mauve_metric.uncertainty.forecast import LEAST_FORECAST, MOST_FORECAST, POWER

DRAWS = 24  # sets of each size; the sizes tried share a fitted line
STEPS = 8  # sizes tried at most
_STRONG = 0.3  # below, a test statistic is noise and does not show its growth


def texts_needed(
    p_counts: Counts,
    counts: tuple[Counts, Counts],
    scores: tuple[float, float],
    n: int,
    scaling_factor: float = 5.0,
    level: float = 0.95,
    seed: int = 0,
    run_variance: float = 0.0,
) -> int | None:
    """Texts a set at which a test at 1 - level finds the difference with 80 % probability, on the same buckets.

    The statistic |difference| / error grows about like a power of n: a line through the logarithms of those sizes that
    were tried leads to the next, until it stays. Sets are drawn as of independent texts.

    Args:
        p_counts: histogram (k,) of the human texts. counts, scores: of both models, debiased MAUVE. n: texts a set.
        scaling_factor: c. level: in (0, 1). seed: of the draws. run_variance: of the difference over clusterings.

    Returns:
        None where there is no difference, or it takes more than a billion texts.
    """
    if scores[0] == scores[1]:
        return None
    p = p_counts / p_counts.sum()
    models = [at_score(p, q / q.sum(), score, scaling_factor) for q, score in zip(counts, scores, strict=True)]
    rng = np.random.default_rng(seed)

    def statistic(size: int) -> float:
        """|difference| / error that this share of sets of a size exceeds."""
        estimates: tuple[list[intervals.Estimate], list[intervals.Estimate]] = ([], [])
        for _ in range(DRAWS):
            drawn = rng.multinomial(size, p)
            for of_model, q in zip(estimates, models, strict=True):
                frontier = jackknife.debiased_frontier(drawn, rng.multinomial(size, q))
                of_model.append(intervals.estimate_scores(frontier, scaling_factor)[0])
        values = np.array([[estimate.value for estimate in of_model] for of_model in estimates])
        spread = values.std(axis=1).prod()
        correlation = float(np.cov(values, ddof=0)[0, 1] / spread) if spread > 0 else 0.0
        pairs = zip(*estimates, strict=True)
        errors = [intervals.estimate_difference(a, b, min(max(correlation, -1.0), 1.0)).stderr for a, b in pairs]
        runs = run_variance * n / size
        differences = (values[0] - values[1]) * math.copysign(1.0, scores[0] - scores[1])
        differences = differences + math.sqrt(runs) * rng.normal(size=DRAWS)
        error = np.sqrt(np.array(errors) ** 2 + runs)
        return float(np.quantile(differences / np.maximum(error, 1e-12), 1 - POWER))

    return _size_for(statistic, n, level)


def texts_to_tell(
    p_counts: Counts,
    q_counts: Counts,
    score: float,
    n: int,
    scaling_factor: float = 5.0,
    level: float = 0.95,
    seed: int = 0,
) -> int | None:
    """Texts a set at which the interval of a score ends below 1 with 80 % probability, on the same buckets.

    Args:
        p_counts, q_counts: histograms (k,). score: debiased MAUVE, taken for the true one. n: texts a set.
        scaling_factor: c. level: in (0, 1). seed: of the draws.

    Returns:
        None where the score is 1, or it takes more than a billion texts.
    """
    if score >= 1:
        return None
    p = p_counts / p_counts.sum()
    q = at_score(p, q_counts / q_counts.sum(), score, scaling_factor)
    rng = np.random.default_rng(seed)

    def statistic(size: int) -> float:
        """Frontier integral / error that this share of sets of a size exceeds: the interval ends where it is z."""
        drawn = [jackknife.debiased_frontier(rng.multinomial(size, p), rng.multinomial(size, q)) for _ in range(DRAWS)]
        return float(np.quantile([intervals.integral_over_error(frontier) for frontier in drawn], 1 - POWER))

    return _size_for(statistic, n, level)


def _size_for(statistic: Callable[[int], float], n: int, level: float) -> int | None:
    """The size of sets, tried from n on, at which a statistic reaches that of a test at 1 - level."""
    wanted = math.log(max(t_quantile(level), 1e-12))  # above 0 for every level
    tried: list[tuple[float, float]] = []
    size = n
    for step in range(STEPS):
        value = statistic(size)
        if value > _STRONG:
            tried.append((math.log(size), math.log(value)))
        new = 4.0 * size
        if tried:  # where the line through the sizes nearest to the goal reaches it
            x, y = np.array(sorted(tried, key=lambda point: abs(point[1] - wanted))[:4]).T
            slope = float(np.polyfit(x, y, 1)[0]) if len(set(x.tolist())) > 1 else 0.6
            step_up = (wanted - float(y.mean())) / min(max(slope, 0.4), 1.5)
            new = math.exp(min(float(x.mean()) + step_up, 40.0))
        if new > MOST_FORECAST:
            return None
        new = round(min(max(new, size / 8, LEAST_FORECAST), size * 8))
        if step >= 2 and abs(math.log(new / size)) < 0.2:
            return new
        size = new
    return size if tried else None


def at_score(p: Floats, q: Floats, score: float, scaling_factor: float = 5.0) -> Floats:
    """The mixture of histograms q and p, (k,), whose exact MAUVE against p is `score`; q itself if that is higher."""
    if frontier.exact_area(p, q, scaling_factor) >= score:
        return q
    low, high = 0.0, 1.0
    for _ in range(25):
        share = (low + high) / 2
        if frontier.exact_area(p, p + share * (q - p), scaling_factor) >= score:
            low = share
        else:
            high = share
    mixed: Floats = p + low * (q - p)
    return mixed
