"""How far a score can be trusted: bias, standard error, interval, what pure noise would give, a test.

The plug-in score of a fixed partition is biased downwards by sampling noise. Every divergence is a sum over buckets
of a function of two binomial counts, so that its bias is removed bucket by bucket with the binomial jackknife, which
is exact to second order and, unlike a Taylor correction, stays good at a handful of texts a bucket. The same
differences give the delete-one standard error. Nothing is resampled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric import divergence

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

WEIGHTS = np.linspace(0, 1, 102)[1:-1]  # mixture weights λ of the debiased curve
CEILING_DRAWS = 40  # standard error of the ceiling: about .002 at 500 texts, .0008 at 5000


@dataclass(frozen=True)
class DebiasedFrontier:
    """The two divergences along the mixtures without their sampling bias, and how each text moves them.

    type_one, type_two: KL(q‖r_λ) and KL(p‖r_λ) on `WEIGHTS`, shape (m,), jackknifed; they may be negative.
    p_influence, q_influence: shape (2, m, k): (type one, type two) by bucket of a text of that side.
    p_counts, q_counts: shape (k,).
    """

    type_one: Floats
    type_two: Floats
    p_influence: Floats
    q_influence: Floats
    p_counts: Counts
    q_counts: Counts


class Estimate(NamedTuple):
    """A debiased score with its standard error and two-sided interval."""

    value: float
    stderr: float
    ci: tuple[float, float]


def debiased_frontier(p_counts: Counts, q_counts: Counts) -> DebiasedFrontier:
    """Jackknife of KL(q‖r_λ) and KL(p‖r_λ) at a fixed partition.

    For a sum of functions f(x, y) of a binomial share x of n texts, the jackknife takes off
    (n-1)·[x·f(x⁻) + (1-x)·f(x⁰) - f(x)] with x⁻ and x⁰ the share after a text of this bucket, or of another one, was
    left out; the same for y.

    Args:
        p_counts, q_counts: shape (k,), at least 2 texts each.
    """
    n_p, n_q = int(p_counts.sum()), int(q_counts.sum())
    if min(n_p, n_q) < 2:
        raise ValueError(f"the jackknife needs at least 2 texts on each side, got {n_p} and {n_q}")
    p, q = p_counts / n_p, q_counts / n_q
    full = _terms(p, q)
    value = full.copy()
    p_without, p_other = _terms(np.maximum(p_counts - 1, 0) / (n_p - 1), q), _terms(p_counts / (n_p - 1), q)
    q_without, q_other = _terms(p, np.maximum(q_counts - 1, 0) / (n_q - 1)), _terms(p, q_counts / (n_q - 1))
    value += (n_p - 1) * (full - p * p_without - (1 - p) * p_other)
    value += (n_q - 1) * (full - q * q_without - (1 - q) * q_other)
    p_influence, q_influence = (n_p - 1) * (p_other - p_without), (n_q - 1) * (q_other - q_without)
    sums = value.sum(axis=-1)
    return DebiasedFrontier(sums[0], sums[1], p_influence, q_influence, p_counts, q_counts)


def _terms(p: Floats, q: Floats) -> Floats:
    """What each bucket adds to KL(q‖r_λ) and KL(p‖r_λ): (k,) → (2, m, k)."""
    type_one = divergence.kl_terms(q, p, 1 - WEIGHTS, WEIGHTS)
    type_two = divergence.kl_terms(p, q, WEIGHTS, 1 - WEIGHTS)
    return np.stack([type_one, type_two])


def estimate_scores(
    frontier: DebiasedFrontier,
    scaling_factor: float = 5.0,
    level: float = 0.95,
    mauve_run_variance: float = 0.0,
    integral_run_variance: float = 0.0,
) -> tuple[Estimate, Estimate]:
    """MAUVE and the frontier integral without sampling bias, with standard errors and intervals.

    The interval of the frontier integral is estimate ± z·error. That of MAUVE is the same interval carried over by
    the score's local form f (see `local_form`): close to 1 MAUVE is a steep, one-sided function of the divergences,
    and ± would cover the truth in as little as half of all cases.

    Args:
        frontier: of the histograms.
        scaling_factor: c.
        level: of the intervals, in (0, 1).
        mauve_run_variance, integral_run_variance: variance over other clusterings, added to that of sampling.

    Returns:
        MAUVE (value in [0, 1]) and frontier integral (value in [0, 1]).
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    step = WEIGHTS[1] - WEIGHTS[0]
    weights = 2 * step * np.stack([1 - WEIGHTS, WEIGHTS])
    integral = float((weights * np.stack([frontier.type_one, frontier.type_two])).sum())
    integral_error = math.sqrt(_variance(frontier, weights) + integral_run_variance)

    one, two = _monotone(frontier)
    area, slopes = _area(one, two, scaling_factor)
    area_error = math.sqrt(_variance(frontier, slopes) + mauve_run_variance)

    clipped = float((weights * np.stack([one, two])).sum())
    low, high = _carry_over(area, integral, integral_error * z, clipped, integral_error, scaling_factor)
    floor = divergence.mauve_floor(scaling_factor)
    value = min(max(area, floor), 1.0)
    mauve = Estimate(value, area_error, (min(max(low, floor), value), max(min(high, 1.0), value)))
    interval = (_unit(integral - z * integral_error), _unit(integral + z * integral_error))
    return mauve, Estimate(_unit(integral), integral_error, interval)


class DifferenceEstimate(NamedTuple):
    """The difference of two scores: its interval, its standard error near 0, and the p-value of "there is none"."""

    value: float
    ci: tuple[float, float]
    stderr: float
    p_value: float


def estimate_difference(a: Estimate, b: Estimate, correlation: float, level: float = 0.95) -> DifferenceEstimate:
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
        Interval within [-1, 1]; p-value in [0, 1], below 1 - level if and only if the interval leaves 0 out.

    >>> a, b = Estimate(0.8, 0.03, (0.74, 0.86)), Estimate(0.7, 0.04, (0.62, 0.78))
    >>> [round(end, 6) for end in estimate_difference(a, b, 0.0).ci]
    [0.0, 0.2]
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    value = a.value - b.value
    a_up, b_up = _upwards(a, z), _upwards(b, z)
    down = _joined(a.value - a.ci[0], b_up, correlation)
    up = _joined(a_up, b.value - b.ci[0], correlation)
    margin = down if value > 0 else up if value < 0 else max(down, up)
    p_value = 1.0 if value == 0 else 0.0 if margin == 0 else 2 * NormalDist().cdf(-z * abs(value) / margin)
    return DifferenceEstimate(value, (max(value - down, -1.0), min(value + up, 1.0)), margin / z, p_value)


def _upwards(estimate: Estimate, z: float) -> float:
    """Distance to the upper end; where that was cut off at 1, at least z standard errors."""
    distance = estimate.ci[1] - estimate.value
    return distance if estimate.ci[1] < 1 else max(distance, z * estimate.stderr)


def _joined(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(a * a + b * b - 2 * correlation * a * b, 0.0))


def mauve_effects(frontier: DebiasedFrontier, scaling_factor: float = 5.0) -> tuple[Floats, Floats]:
    """How a text of each bucket moves the debiased MAUVE: delete-one effects of a text of P and of Q, (k,) each.

    The variance of the effects over the texts of a side, divided by their number, is that side's part of the score's
    variance; the covariance of one text's effects on two scores is its part of theirs.
    """
    _, slopes = _area(*_monotone(frontier), scaling_factor)
    return np.tensordot(slopes, frontier.p_influence, axes=2), np.tensordot(slopes, frontier.q_influence, axes=2)


class CurveBand(NamedTuple):
    """The debiased divergence curve and its pointwise band, (m, 2) each as in `divergence_curve`, λ rising."""

    curve: Floats
    low: Floats
    high: Floats


def frontier_band(frontier: DebiasedFrontier, scaling_factor: float = 5.0, level: float = 0.95) -> CurveBand:
    """How far sampling may have moved each point of the divergence curve, on this partition.

    In the plane of the two divergences the tangent of the frontier at λ has the normal (1-λ, λ), so that to first
    order only the linear cost L_λ = (1-λ)·KL(q‖r_λ) + λ·KL(p‖r_λ) says where the curve runs. Moving both divergences
    by ±z·stderr(L_λ) moves L_λ by as much; the ends are carried over by exp(-c·), and no divergence falls below 0.

    Args:
        frontier: of the histograms.
        scaling_factor: c.
        level: of the band at each point, in (0, 1); a whole curve leaves it more often.

    Returns:
        Curves in [0, 1] with low ≤ curve ≤ high in both coordinates.

    >>> band = frontier_band(debiased_frontier(np.array([40, 10]), np.array([10, 40])))
    >>> bool((band.low < band.curve).all() and (band.curve < band.high).all())
    True
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    normals = np.stack([1 - WEIGHTS, WEIGHTS])
    variance = np.zeros(len(WEIGHTS))
    for influence, counts in ((frontier.p_influence, frontier.p_counts), (frontier.q_influence, frontier.q_counts)):
        effect, share = np.einsum("im,imk->mk", normals, influence), counts / counts.sum()
        variance += (effect**2 @ share - (effect @ share) ** 2) / counts.sum()
    margin = z * np.sqrt(np.maximum(variance, 0.0))
    costs = np.stack(_monotone(frontier))
    low, curve, high = (np.exp(-scaling_factor * np.maximum(costs + sign * margin, 0.0)).T for sign in (1, 0, -1))
    return CurveBand(curve, low, high)


def _area(one: Floats, two: Floats, scaling_factor: float) -> tuple[float, Floats]:
    """The area under the curve of two divergences (m,), and its derivatives by them (2, m)."""
    x, y = np.exp(-scaling_factor * one), np.exp(-scaling_factor * two)
    area = divergence.curve_area(np.column_stack([np.r_[1, x, 0], np.r_[0, y, 1]]))
    slopes = -scaling_factor / 2 * np.stack([x * _central(np.r_[0, y, 1]), -y * _central(np.r_[1, x, 0])])
    return area, slopes


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _central(values: Floats) -> Floats:
    """Differences between the neighbours of each inner value."""
    return values[2:] - values[:-2]


def _monotone(frontier: DebiasedFrontier) -> tuple[Floats, Floats]:
    """The debiased divergences as a frontier must be: at least 0, type one rising in λ, type two falling."""
    one, two = np.maximum(frontier.type_one, 0.0), np.maximum(frontier.type_two, 0.0)
    return _rising(one), _rising(two[::-1])[::-1]


def _rising(values: Floats) -> Floats:
    """The mean of the lowest rising curve above the values and the highest one below them."""
    rising: Floats = (np.maximum.accumulate(values) + np.minimum.accumulate(values[::-1])[::-1]) / 2
    return rising


def _variance(frontier: DebiasedFrontier, weights: Floats) -> float:
    """Delete-one variance of Σ weights·divergence, weights (2, m)."""
    total = 0.0
    for influence, counts in ((frontier.p_influence, frontier.p_counts), (frontier.q_influence, frontier.q_counts)):
        effect = np.tensordot(weights, influence, axes=2)
        share, n = counts / counts.sum(), int(counts.sum())
        total += float(share @ effect**2 - (share @ effect) ** 2) / n
    return max(total, 0.0)


def _carry_over(
    area: float, integral: float, margin: float, clipped: float, error: float, scaling_factor: float
) -> tuple[float, float]:
    """The interval integral ± margin on MAUVE's scale.

    Close to 1, MAUVE = f(3c·FI). Away from 1 the factor is the one that makes the two estimates agree, drawn
    towards 1 by one standard error where both are within the noise.
    """
    unit = 3 * scaling_factor
    factor = (local_form_inverse(area) + unit * error) / (unit * clipped + unit * error) if clipped + error > 0 else 1.0
    low, high = (local_form(max(factor * unit * bound, 0.0)) for bound in (integral + margin, integral - margin))
    return low, high


def local_form(a: float) -> float:
    """MAUVE where KL(p‖r_λ) ≈ D(1-λ)² and KL(q‖r_λ) ≈ Dλ², a = cD: e^(-a) + e^(-a/2)·√(πa/2)·erf(√(a/2)).

    >>> round(local_form(0.5), 7)
    0.9657767
    """
    return math.exp(-a) + math.exp(-a / 2) * math.sqrt(math.pi * a / 2) * math.erf(math.sqrt(a / 2))


def local_form_inverse(value: float) -> float:
    """The a ≥ 0 with local_form(a) = value, for value in (0, 1]; by bisection.

    >>> round(local_form_inverse(local_form(2.0)), 9)
    2.0
    """
    if value >= 1:
        return 0.0
    low, high = 0.0, 1.0
    while local_form(high) > value and high < 1e6:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if local_form(middle) > value else (low, middle)
    return (low + high) / 2


def mauve_ceiling(p_counts: Counts, q_counts: Counts, scaling_factor: float = 5.0, seed: int = 25) -> float:
    """The plug-in MAUVE to expect from two samples of one distribution of these sizes, on this partition.

    Mean of `null_scores`. In [0, 1]; about .96 at ten texts a bucket, whatever the size.
    """
    return float(null_scores(p_counts, q_counts, scaling_factor, seed).mean())


def null_scores(p_counts: Counts, q_counts: Counts, scaling_factor: float = 5.0, seed: int = 25) -> Floats:
    """The plug-in MAUVE of `CEILING_DRAWS` random splits of the pooled counts into sets of these sizes."""
    p_draws, q_draws = _random_splits(p_counts, q_counts, CEILING_DRAWS, np.random.default_rng(seed))
    weights = np.linspace(1e-6, 1 - 1e-6, 25)
    type_one, type_two = divergence.frontier(p_draws, q_draws, weights)
    x, y = np.exp(-scaling_factor * type_one), np.exp(-scaling_factor * type_two)
    ones, zeros = np.ones((len(x), 1)), np.zeros((len(x), 1))
    curves = np.stack([np.hstack([ones, x, zeros]), np.hstack([zeros, y, ones])], axis=-1)
    return np.array([divergence.curve_area(curve) for curve in curves])


def _random_splits(p_counts: Counts, q_counts: Counts, draws: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Histograms of random splits of the pooled texts into two sets of the same sizes, (draws, k) each."""
    pooled, n_p, n_q = p_counts + q_counts, int(p_counts.sum()), int(q_counts.sum())
    drawn = rng.multivariate_hypergeometric(pooled, n_p, size=draws, method="marginals")
    return drawn / n_p, (pooled - drawn) / n_q


def permutation_test(
    p_labels: Counts,
    q_labels: Counts,
    num_buckets: int,
    permutations: int = 999,
    paired: bool = False,
    seed: int = 25,
) -> float:
    """p-value of "both sets are samples of one distribution", with the frontier integral as the statistic.

    (1 + number of random splits with an integral at least as large) / (permutations + 1). The buckets must not know
    which set a row came from: cluster shuffled rows.

    Args:
        p_labels, q_labels: bucket of each text, shape (n_p,) and (n_q,).
        num_buckets: k.
        permutations: random splits.
        paired: text i of both sets shares a prompt: swap within pairs only (n_p = n_q).
        seed: of the splits.

    Returns:
        In (0, 1]; small: the sets differ.

    Raises:
        ValueError: paired with unequal sizes.
    """
    if paired and len(p_labels) != len(q_labels):
        raise ValueError(f"paired=True needs sets of equal size, got {len(p_labels)} and {len(q_labels)}")
    rng = np.random.default_rng(seed)
    p_counts, q_counts = _count(p_labels, num_buckets), _count(q_labels, num_buckets)
    observed = _integrals(p_counts / len(p_labels), q_counts / len(q_labels))
    exceeded = 0
    for draws in _blocks(permutations, max(1, 2_000_000 // max(num_buckets, len(p_labels)))):
        if paired:
            splits = _swapped_pairs(p_labels, q_labels, num_buckets, draws, rng)
        else:
            splits = _random_splits(p_counts, q_counts, draws, rng)
        exceeded += int((_integrals(*splits) >= observed - 1e-12).sum())
    return (1 + exceeded) / (permutations + 1)


def _integrals(p: Floats, q: Floats) -> Floats:
    total: Floats = divergence.frontier_integral_terms(p, q).sum(axis=-1)
    return total


def _blocks(total: int, size: int) -> list[int]:
    return [min(size, total - start) for start in range(0, total, size)]


def _swapped_pairs(
    p_labels: Counts, q_labels: Counts, num_buckets: int, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Histograms after swapping the two texts of each pair with probability ½, (draws, k) each."""
    n = len(p_labels)
    swap = rng.random((draws, n)) < 0.5
    p_counts = np.stack([_count(np.where(row, q_labels, p_labels), num_buckets) for row in swap])
    pooled = _count(p_labels, num_buckets) + _count(q_labels, num_buckets)
    return p_counts / n, (pooled - p_counts) / n


def _count(labels: Counts, num_buckets: int) -> Counts:
    return np.bincount(labels, minlength=num_buckets).astype(np.int64)
