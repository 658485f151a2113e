"""From log p/q at points of P and of Q to the frontier, its area and its integral: scores without buckets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Array, Floats
from mauve_metric.measures.frontier import as_frontier, curve_area, curve_through, mauve_floor, mixture_weights
from mauve_metric.runtime.checks import check_sets

_WEIGHTS = np.linspace(0, 1, 202)[1:-1]  # mixture weights λ of the area and of the integral
_MOST_LOG = 700.0  # of p/q: its exponential is a number


class LogRatios(NamedTuple):
    """log p(x)/q(x) at points x drawn from P, (m,), and from Q, (m',)."""

    p: Floats
    q: Floats


class RatioScores(NamedTuple):
    """Scores of an estimate of log p/q. There is no bias to take off, no interval and no bucket to explain.

    mauve: in [floor, 1], higher is better. frontier_integral: in [0, 1], lower is better. divergence_curve:
    (num_points + 2, 2) as in `frontier.divergence_curve`.
    """

    mauve: float
    frontier_integral: float
    divergence_curve: Floats


def frontier_of_ratios(ratios: LogRatios, weights: ArrayLike) -> tuple[Floats, Floats]:
    """KL(q‖r_λ) and KL(p‖r_λ) as means over points, at least 0, the first rising in λ, the second falling, (m,) each.

    K_P(λ) = -mean_P log(λ + (1-λ)e^(-t)) and K_Q(λ) = -mean_Q log(λe^t + 1-λ) with t = log p/q. weights: rising, inside
    (0, 1).

    >>> one, two = frontier_of_ratios(LogRatios(np.array([np.log(4)]), np.array([-np.log(4)])), [0.5])
    >>> one.round(6).tolist(), two.round(6).tolist()
    ([0.470004], [0.470004])
    """
    lam = np.asarray(weights, dtype=np.float64)
    to_q, to_p = (np.exp(np.clip(t, -_MOST_LOG, _MOST_LOG)) for t in (ratios.q, -ratios.p))
    one = np.array([-np.log(weight * to_q + (1 - weight)).mean() for weight in lam])
    two = np.array([-np.log(weight + (1 - weight) * to_p).mean() for weight in lam])
    return as_frontier(one, two)


def ratio_scores(ratios: LogRatios, scaling_factor: float = 5.0, num_points: int = 25) -> RatioScores:
    """MAUVE, frontier integral and divergence curve of log p/q at points of both sides (Pillutla et al. 2023).

    Args:
        ratios: of one of `ratio_estimators.ESTIMATORS`. scaling_factor: c > 0. num_points: of the curve.

    >>> same = ratio_scores(LogRatios(np.zeros(5), np.zeros(5)))
    >>> same.mauve, round(same.frontier_integral, 12)
    (1.0, 0.0)
    """
    one, two = frontier_of_ratios(ratios, _WEIGHTS)
    area = curve_area(curve_through(one, two, scaling_factor))
    integral = 2 * float(((1 - _WEIGHTS) * one + _WEIGHTS * two).sum()) * float(_WEIGHTS[1] - _WEIGHTS[0])
    curve = curve_through(*frontier_of_ratios(ratios, mixture_weights(num_points)), scaling_factor)
    return RatioScores(max(area, mauve_floor(scaling_factor)), min(integral, 1.0), curve)


def check_rows(p: Array, q: Array, least: int) -> tuple[Floats, Floats]:
    """Both sets as float64 rows of one width, at least `least` each.

    Raises:
        ValueError: other shapes, fewer rows, entries that are no finite numbers.
    """
    sides = {name: np.asarray(side, dtype=np.float64) for name, side in (("p", p), ("q", q))}
    check_sets(sides, least)
    for name, side in sides.items():
        if not np.isfinite(side).all():
            raise ValueError(f"{name} must hold finite numbers, got some that are not")
    return sides["p"], sides["q"]
