"""Debiased scores with their standard errors and intervals."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.clustering.histograms import too_many_singles
from mauve_metric.measures import p_values
from mauve_metric.measures.frontier import exact_area, frontier_integral, mauve_floor
from mauve_metric.measures.groups import FEWEST_GROUPS
from mauve_metric.uncertainty.jackknife import (
    WEIGHTS,
    DebiasedFrontier,
    area_and_slopes,
    delete_one_variance,
    hidden_overlap,
    monotone,
)

LEAST_TEXTS_A_BUCKET = 2  # of the smaller side: below, the jackknife leaves more bias than the interval is wide

# What each of the two divergences adds to the frontier integral, (2, m).
_INTEGRAL_WEIGHTS = 2 * (WEIGHTS[1] - WEIGHTS[0]) * np.stack([1 - WEIGHTS, WEIGHTS])


class Estimate(NamedTuple):
    """A debiased score, or a difference of two, with its standard error, two-sided interval and degrees of freedom.

    p_value: of "there is no difference"; of a difference alone.
    """

    value: float
    stderr: float
    ci: tuple[float, float]
    freedom: float = math.inf
    p_value: float = math.nan


class DebiasedScores(NamedTuple):
    """MAUVE, in [floor, 1], and the frontier integral, in [0, 1], without sampling bias, and the input of their errors.

    frontier: of the histograms. scaling_factor: c. area, slopes: under the curve, and its derivatives by the
    divergences (2, m). raw_integral: of the divergences as they are; clipped_integral: as a frontier must be.
    """

    mauve: float
    frontier_integral: float
    frontier: DebiasedFrontier
    scaling_factor: float
    area: float
    slopes: Floats
    raw_integral: float
    clipped_integral: float


def debiased_scores(frontier: DebiasedFrontier, scaling_factor: float = 5.0) -> DebiasedScores:
    """MAUVE and the frontier integral of a debiased frontier."""
    type_one, type_two = monotone(frontier)
    area, slopes = area_and_slopes(type_one, type_two, scaling_factor)
    raw = float((_INTEGRAL_WEIGHTS * np.stack([frontier.type_one, frontier.type_two])).sum())
    clipped = float((_INTEGRAL_WEIGHTS * np.stack([type_one, type_two])).sum())
    mauve = min(max(area, mauve_floor(scaling_factor)), 1.0)
    return DebiasedScores(mauve, _unit(raw), frontier, scaling_factor, area, slopes, raw, clipped)


def estimate_scores(
    frontier: DebiasedFrontier, scaling_factor: float = 5.0, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """`with_errors` of the scores of a debiased frontier on one clustering."""
    return with_errors(debiased_scores(frontier, scaling_factor), level)


def with_errors(
    scores: DebiasedScores,
    level: float = 0.95,
    mauve_run_variance: float = 0.0,
    integral_run_variance: float = 0.0,
    least_variance: float = 0.0,
) -> tuple[Estimate, Estimate]:
    """MAUVE and the frontier integral without sampling bias, with standard errors and intervals.

    The interval of the frontier integral is estimate ± z·error. That of MAUVE is the same interval carried over by
    the score's local form f (see `local_form`): close to 1 MAUVE is a steep, one-sided function of the divergences,
    and ± would cover the truth in as little as half of all cases. Both hold the scores of `hidden_overlap`, since
    histograms without a common bucket vary in no sample.

    Args:
        scores: of the histograms.
        level: of the intervals, in (0, 1).
        mauve_run_variance, integral_run_variance: variance over other clusterings, added to that of sampling.
        least_variance: of the frontier integral under sampling, of learned buckets that were joined (see `Learned`):
            joining takes away noise that another sample would show.

    Returns:
        MAUVE (value in [0, 1]) and frontier integral (value in [0, 1]).
    """
    groups = scores.frontier.groups
    freedom = math.inf if groups is None else groups.freedom(groups.weighted(_INTEGRAL_WEIGHTS))
    z = _quantile(level, freedom)
    area_error = math.sqrt(delete_one_variance(scores.frontier, scores.slopes) + mauve_run_variance)
    error = math.sqrt(max(integral_variance(scores.frontier), least_variance) + integral_run_variance)
    low, high = _carry_over(scores, error * z, error)
    floor, value, integral = mauve_floor(scores.scaling_factor), scores.mauve, scores.raw_integral
    highest, least = _without_overlap(scores.frontier.independent, level, scores.scaling_factor)
    high = max(min(high, 1.0), value, highest)
    mauve = Estimate(value, area_error, (min(max(low, floor), value), high), freedom)
    interval = (_unit(min(integral - z * error, least)), _unit(integral + z * error))
    return mauve, Estimate(scores.frontier_integral, error, interval, freedom)


@functools.lru_cache(maxsize=64)
def _without_overlap(number: int, level: float, scaling_factor: float) -> tuple[float, float]:
    """The highest MAUVE and the lowest integral of sets whose overlap is not seen (see `hidden_overlap`)."""
    shares = hidden_overlap(number, level)
    return exact_area(*shares, scaling_factor), frontier_integral(*shares)


def _quantile(level: float, freedom: float) -> float:
    """Half-width of an interval in standard errors; above 0, which a level below 1e-16 would make it by rounding."""
    return max(p_values.t_quantile(level, freedom), 1e-12)


def too_few(frontier: DebiasedFrontier, least_variance: float = 0.0) -> str | None:
    """The reason why so few texts or prompts allow no error estimate, in words; None if they allow one.

    Args:
        least_variance: see `with_errors`.
    """
    groups, buckets = frontier.groups, len(frontier.p_counts)
    texts = int(min(frontier.p_counts.sum(), frontier.q_counts.sum()))
    if (number := frontier.independent) < FEWEST_GROUPS:
        units = "texts on a side" if groups is None else "prompts"
        return f"there are only {number} {units}, and an error needs at least {FEWEST_GROUPS}"
    if texts < LEAST_TEXTS_A_BUCKET * buckets:
        least = f"an interval needs at least {LEAST_TEXTS_A_BUCKET} texts a bucket"
        return f"there are only {texts} texts on a side for {buckets} buckets, and {least}"
    totals = frontier.p_counts + frontier.q_counts
    if too_many_singles(totals):
        singles, filled = int((totals == 1).sum()), int((totals > 0).sum())
        return f"{singles} of {filled} filled buckets hold a single text, and their bias is larger than the error"
    apart = not (frontier.p_counts * frontier.q_counts).any()  # at the floor, whatever prompt is left out
    if groups is not None and not (apart or least_variance or groups.weighted(_INTEGRAL_WEIGHTS).any()):
        alike = "every prompt or pair of equal texts is in one bucket"
        return f"{alike}, so that their variation cannot be estimated: is one set given twice?"
    return None


def too_alike(scores: Sequence[DebiasedScores]) -> bool:
    """Return whether the interval of the mean over clusterings would be too narrow.

    No two distributions have a frontier integral below 0. An estimate below by more than its standard error would give
    an interval of next to no width. Texts that share prompts or undeclared copies do that, and chance in
    about one of six pairs of equal sets.
    """
    error = math.sqrt(float(np.mean([integral_variance(run.frontier) for run in scores])))
    return float(np.mean([run.raw_integral for run in scores])) < -error


def widened_if_too_alike(
    scores: DebiasedScores, mauve: Estimate, integral: Estimate, level: float
) -> tuple[Estimate, Estimate]:
    """Widen the intervals of MAUVE and of the frontier integral of sets that are more alike than two samples are.

    The debiased integral of such sets is below 0, where no integral of distributions is: its distance from 0 is a lower
    bound of its error. The lower end of MAUVE follows from that error, as it does in `with_errors`.

    Args:
        scores: of one clustering, `too_alike`. mauve, integral: with intervals at `level`.

    Returns:
        MAUVE with a lower end, and the integral with an upper end, that are at least as far away as before.
    """
    distance = max(-scores.raw_integral, integral.stderr)
    z = _quantile(level, integral.freedom)
    low, _ = _carry_over(scores, z * distance, distance)
    low = min(max(low, mauve_floor(scores.scaling_factor)), mauve.value)
    wider = Estimate(mauve.value, max(mauve.stderr, (mauve.value - low) / z), (low, mauve.ci[1]), mauve.freedom)
    high = _unit(scores.raw_integral + z * distance)
    return wider, Estimate(integral.value, distance, (integral.ci[0], high), integral.freedom)


def integral_variance(frontier: DebiasedFrontier) -> float:
    """Delete-one variance of the frontier integral."""
    return delete_one_variance(frontier, _INTEGRAL_WEIGHTS)


def integral_over_error(frontier: DebiasedFrontier) -> float:
    """The frontier integral in standard errors, by which both intervals leave out equal sets or do not."""
    integral = float((_INTEGRAL_WEIGHTS * np.stack([frontier.type_one, frontier.type_two])).sum())
    return integral / max(math.sqrt(integral_variance(frontier)), 1e-12)


def estimate_difference(a: Estimate, b: Estimate, correlation: float, level: float = 0.95) -> Estimate:
    """The difference a - b of two correlated estimates from their own, possibly lopsided, intervals.

    The interval is that of Zou and Donner (2008): with the distances of both ends from the estimates,
    low = a - b - √((a - l_a)² + (u_b - b)² - 2ρ(a - l_a)(u_b - b)), and high likewise with the other ends; an upper end
    that was cut off at 1 counts as at least z standard errors away. The p-value is 1 minus the level at which that
    interval would touch 0 if its width grew as that of a normal one.

    Args:
        a, b: with intervals at `level`.
        correlation: ρ of the two estimates, in [-1, 1].
        level: in (0, 1).

    Returns:
        Standard error near 0; interval within [-1, 1]; p-value in (0, 1], below 1 - level if and only if the interval
        leaves 0 out.

    >>> a, b = Estimate(0.8, 0.03, (0.74, 0.86)), Estimate(0.7, 0.04, (0.62, 0.78))
    >>> [round(end, 6) for end in estimate_difference(a, b, 0.0).ci]
    [0.0, 0.2]
    """
    freedom = min(a.freedom, b.freedom)
    z = _quantile(level, freedom)
    value = a.value - b.value
    # to the upper ends; where one was cut off at 1, at least z standard errors
    a_up, b_up = (
        side.ci[1] - side.value if side.ci[1] < 1 else max(side.ci[1] - side.value, z * side.stderr) for side in (a, b)
    )
    down = _combine(a.value - a.ci[0], b_up, correlation)
    up = _combine(a_up, b.value - b.ci[0], correlation)
    margin = down if value > 0 else up if value < 0 else max(down, up)
    p_value = 1.0 if value == 0 else p_values.two_sided(z * abs(value) / margin if margin > 0 else math.inf, freedom)
    return Estimate(value, margin / z, (max(value - down, -1.0), min(value + up, 1.0)), freedom, p_value)


def _combine(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0))


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _carry_over(scores: DebiasedScores, margin: float, error: float) -> tuple[float, float]:
    """The interval raw integral ± margin on MAUVE's scale.

    Close to 1, MAUVE = f(3c·FI). Away from 1 the factor is the one that makes the two estimates agree, drawn
    towards 1 by one standard error where both are within the noise.
    """
    unit, integral, clipped = 3 * scores.scaling_factor, scores.raw_integral, scores.clipped_integral
    factor = (
        (local_form_inverse(scores.area) + unit * error) / (unit * clipped + unit * error)
        if clipped + error > 0
        else 1.0
    )
    least, most = max(factor * unit * (integral - margin), 0.0), max(factor * unit * (integral + margin), 0.0)
    return local_form(most), local_form(least)


def local_form(a: float) -> float:
    """MAUVE where KL(p‖r_λ) ≈ D(1-λ)² and KL(q‖r_λ) ≈ Dλ², a = cD: e^(-a) + e^(-a/2)·√(πa/2)·erf(√(a/2)).

    >>> round(local_form(0.5), 7)
    0.9657767
    """
    return math.exp(-a) + math.exp(-a / 2) * math.sqrt(math.pi * a / 2) * math.erf(math.sqrt(a / 2))


def local_form_inverse(value: float) -> float:
    """The a ≥ 0 with local_form(a) = value, for value in (0, 1], by bisection to the last bit.

    >>> round(local_form_inverse(local_form(2.0)), 9)
    2.0
    """
    if value >= 1:
        return 0.0
    low, high = 0.0, 1.0
    while local_form(high) > value:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if local_form(middle) > value else (low, middle)
    return middle
