"""f-divergences along the mixtures of two histograms: the same frontier, area, integral and mid-point as for KL.

D_f(p‖r) = Σ r·f(p/r), along r_λ = λp + (1-λ)q. Only for KL are the mixtures the best trade-off between both soft errors
(Pillutla et al. 2023); for the others the curve through them is what these functions mean by a frontier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Floats
from mauve_metric.measures import frontier
from mauve_metric.measures.frontier import KL, FDivergence, check_pair, curve_through, mixture_weights
from mauve_metric.runtime.checks import check_known

Divergence = Literal["kl", "chi_square", "hellinger", "total_variation", "le_cam", "jensen_shannon"]

_NODES, _PANELS = 14, 44  # of the quadrature, as for the exact area


def _of_shares(
    term: Callable[[Floats, Floats, Floats], Floats], slope: Callable[[Floats, Floats, Floats], Floats]
) -> FDivergence:
    """The divergence with these terms of the shares a and r and of their exact difference a - r.

    slope: f(t) - t·f'(t) with t = a/r, likewise; times b - a it is the derivative of D_f(a‖(1-u)a + ub) in u.
    """

    def terms(a: Floats, b: Floats, weight_a: Floats, weight_b: Floats) -> Floats:
        a, b = a[..., None, :], b[..., None, :]
        weight_a, weight_b = weight_a[:, None], weight_b[:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = term(a, weight_a * a + weight_b * b, weight_b * (a - b))
        return np.where((a > 0) | (weight_b * b > 0), found, 0.0)

    def slopes(a: Floats, b: Floats, u: Floats) -> Floats:
        a, b, u = a[..., None, :], b[..., None, :], u[:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = (b - a) * slope(a, (1 - u) * a + u * b, u * (a - b))
        total: Floats = np.where((a > 0) | (b > 0), found, 0.0).sum(axis=-1)
        return total

    return FDivergence(terms, slopes)


def _jensen_shannon_term(a: Floats, r: Floats, change: Floats) -> Floats:
    """½·a·log(a/m) + ½·r·log(r/m) with m = (a + r)/2."""
    u = change / (a + r)
    logs = (1 + u) * np.log1p(u) + np.where(u < 1, (1 - u) * np.log1p(-u), 0.0)
    logs = np.where(u > -1, logs, 2 * np.log(2))
    total: Floats = (a + r) / 4 * np.where(np.abs(u) < 1e-4, u * u, np.where(u < 1, logs, 2 * np.log(2)))
    return total


DIVERGENCES: dict[Divergence, FDivergence] = {
    # f(t) = t·log t, in nats
    "kl": KL,
    # (t - 1)²
    "chi_square": _of_shares(lambda a, r, change: change * change / r, lambda a, r, change: -change * (a + r) / r**2),
    # (1 - √t)², twice the square of the distance that is normed to 1
    "hellinger": _of_shares(
        lambda a, r, change: np.square(change / (np.sqrt(a) + np.sqrt(r))),
        lambda a, r, change: -change / (r + np.sqrt(a * r)),
    ),
    # ½|t - 1|
    "total_variation": _of_shares(lambda a, r, change: np.abs(change) / 2, lambda a, r, change: -np.sign(change) / 2),
    # (1 - t)² / (2(1 + t))
    "le_cam": _of_shares(
        lambda a, r, change: change * change / (2 * (a + r)),
        lambda a, r, change: -change * (r + 3 * a) / (2 * (a + r) ** 2),
    ),
    # ½·t·log t - ½(1 + t)·log((1 + t)/2), in nats
    "jensen_shannon": _of_shares(_jensen_shannon_term, lambda a, r, change: -np.log1p(change / (2 * r)) / 2),
}


def divergence_terms(p: Floats, q: Floats, kind: Divergence = "kl") -> Floats:
    """Contribution of each bucket to D_f(p‖q), for shares of any sum; +∞ where f is not finite; (..., k) → (..., k)."""
    return DIVERGENCES[kind].terms(p, q, np.zeros(1), np.ones(1))[..., 0, :]


def divergence(p: ArrayLike, q: ArrayLike, kind: Divergence = "kl") -> float:
    """D_f(p‖q) as a single number (for KL both ways: Pimentel et al. 2023).

    KL Σp·log(p/q) in nats; χ² Σ(p-q)²/q; squared Hellinger Σ(√p-√q)²; total variation ½Σ|p-q|;
    Le Cam ½Σ(p-q)²/(p+q); Jensen–Shannon ½KL(p‖m) + ½KL(q‖m) in nats, m = (p+q)/2.

    Args:
        p, q: probabilities, shape (k,). kind: which.

    Returns:
        At least 0, lower is better, 0 only for p = q. KL and χ² have no bound and are +∞ where q leaves out a bucket of
        p; squared Hellinger is at most 2, total variation and Le Cam 1, Jensen–Shannon log 2.

    Raises:
        ValueError: an unknown kind, or p and q are not probabilities over the same buckets.

    >>> divergence([0.5, 0.5], [1.0, 0.0]), divergence([0.5, 0.5], [1.0, 0.0], "total_variation")
    (inf, 0.5)
    """
    p, q = check_pair(p, q)
    check_known("kind", kind, DIVERGENCES)
    return float(max(divergence_terms(p, q, kind).sum(), 0.0))


def exponentiated_kl(p: ArrayLike, q: ArrayLike, scale: float = 0.1) -> float:
    """exp(-scale·KL(p‖q)), in [0, 1], higher is better (Pimentel et al. 2023); 0 where KL is infinite.

    >>> exponentiated_kl([0.5, 0.5], [1.0, 0.0]), exponentiated_kl([0.5, 0.5], [0.5, 0.5])
    (0.0, 1.0)
    """
    return float(np.exp(-scale * divergence(p, q)))


def divergence_frontier(
    p: ArrayLike, q: ArrayLike, weights: ArrayLike, kind: Divergence = "kl"
) -> tuple[Floats, Floats]:
    """D_f(q‖r_λ) and D_f(p‖r_λ) along the mixtures, for p, q (k,) and weights (m,): (m,) each, at least 0.

    Finite for λ between 0 and 1; for KL the same as `frontier.frontier`.

    >>> [part.round(6).tolist() for part in divergence_frontier([0.5, 0.5], [1, 0], [0.25], "total_variation")]
    [[0.125], [0.375]]
    """
    check_known("kind", kind, DIVERGENCES)
    return frontier.frontier(p, q, weights, DIVERGENCES[kind])


def divergence_frontier_curve(
    p: ArrayLike, q: ArrayLike, kind: Divergence = "kl", scaling_factor: float = 5.0, num_points: int = 25
) -> Floats:
    """exp(-c·D_f(q‖r_λ)) and exp(-c·D_f(p‖r_λ)) on the literature's grid, (num_points + 2, 2), as `divergence_curve`.

    >>> divergence_frontier_curve([0.5, 0.5], [0.5, 0.5], "le_cam", num_points=1).tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    return curve_through(*divergence_frontier(p, q, mixture_weights(num_points), kind), scaling_factor)


def divergence_area(p: ArrayLike, q: ArrayLike, kind: Divergence = "kl", scaling_factor: float = 5.0) -> float:
    """The area under the continuous curve of an f-divergence: MAUVE's definition with D_f for KL, every weight λ.

    Args:
        p, q: probabilities, shape (k,). kind: which. scaling_factor: c > 0.

    Returns:
        In (0, 1], higher is better, 1 for p = q. For total variation τ it is e^(-cτ)·(1 + cτ).

    >>> round(divergence_area([0.5, 0.5], [1.0, 0.0], "total_variation", 2.0), 10)
    0.7357588823
    """
    p, q = check_pair(p, q)
    check_known("kind", kind, DIVERGENCES)
    if np.array_equal(p, q):
        return 1.0
    nodes = _NODES + int(np.ceil(2 * scaling_factor / 5))
    area = frontier.area_by_quadrature(p, q, scaling_factor, nodes, _PANELS, DIVERGENCES[kind])
    return float(np.clip(area, 0.0, 1.0))


def divergence_integral(p: ArrayLike, q: ArrayLike, kind: Divergence = "kl") -> float:
    """2∫₀¹ [λ·D_f(p‖r_λ) + (1-λ)·D_f(q‖r_λ)] dλ, the frontier integral with D_f for KL (Liu et al. 2021, §3).

    Returns:
        At least 0, lower is better. For χ² twice that of KL; for total variation τ it is 2τ/3.

    >>> round(divergence_integral([0.5, 0.5], [1.0, 0.0], "total_variation"), 10)
    0.3333333333
    """
    u, width = frontier.quadrature(_NODES, _PANELS)
    cost = np.zeros(len(u))
    for lam in (u, 1 - u):
        one, two = divergence_frontier(p, q, lam, kind)
        cost += (1 - lam) * one + lam * two
    return float(2 * width @ cost)


def divergence_midpoint(p: ArrayLike, q: ArrayLike, kind: Divergence = "kl") -> float:
    """½D_f(p‖m) + ½D_f(q‖m) with m = ½(p + q): for KL the Jensen–Shannon divergence, for total variation τ it is τ/2.

    >>> round(divergence_midpoint([0.5, 0.5], [1.0, 0.0]), 6)
    0.215762
    """
    one, two = divergence_frontier(p, q, [0.5], kind)
    return float(one[0] + two[0]) / 2
