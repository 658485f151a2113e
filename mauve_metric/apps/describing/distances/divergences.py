"""f-divergences of two histograms, bucket by bucket: D_f(p‖q) = Σ q·f(p/q)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.measures.frontier import kl_terms

Divergence = Literal["kl", "chi_square", "hellinger", "total_variation", "le_cam", "jensen_shannon"]


def _kl(p: Floats, q: Floats) -> Floats:
    return kl_terms(p, q, np.zeros(1), np.ones(1))[..., 0, :]


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    """½·p·log(p/m) + ½·q·log(q/m) with m = (p + q)/2."""
    u = (p - q) / (p + q)
    logs = (1 + u) * np.log1p(u) + np.where(u < 1, (1 - u) * np.log1p(-u), 0.0)
    logs = np.where(u > -1, logs, 2 * np.log(2))
    total: Floats = (p + q) / 4 * np.where(np.abs(u) < 1e-4, u * u, np.where(u < 1, logs, 2 * np.log(2)))
    return total


DIVERGENCES: dict[Divergence, Callable[[Floats, Floats], Floats]] = {
    # f(t) = t·log t, in nats
    "kl": _kl,
    # (t - 1)²
    "chi_square": lambda p, q: (p - q) * (p - q) / q,
    # (1 - √t)², twice the square of the distance that is normed to 1
    "hellinger": lambda p, q: np.square((p - q) / (np.sqrt(p) + np.sqrt(q))),
    # ½|t - 1|
    "total_variation": lambda p, q: np.abs(p - q) / 2,
    # (1 - t)² / (2(1 + t))
    "le_cam": lambda p, q: (p - q) * (p - q) / (2 * (p + q)),
    # ½·t·log t - ½(1 + t)·log((1 + t)/2), in nats
    "jensen_shannon": _jensen_shannon,
}


def divergence_terms(p: Floats, q: Floats, kind: Divergence = "kl") -> Floats:
    """Compute the contribution of each bucket to D_f(p‖q), for shares of any sum: (..., k) → (..., k).

    KL Σp·log(p/q) in nats; χ² Σ(p-q)²/q; squared Hellinger Σ(√p-√q)²; total variation ½Σ|p-q|;
    Le Cam ½Σ(p-q)²/(p+q); Jensen–Shannon ½KL(p‖m) + ½KL(q‖m) in nats, m = (p+q)/2.

    Returns:
        Terms whose sum over probabilities is at least 0, lower is better, 0 only for p = q. KL and χ² have no bound and
        are +∞ where q leaves out a bucket of p; squared Hellinger is at most 2, total variation and Le Cam 1,
        Jensen–Shannon log 2.

    >>> p, q = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    >>> divergence_terms(p, q).sum(), divergence_terms(p, q, "total_variation").sum()
    (np.float64(inf), np.float64(0.5))
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((p > 0) | (q > 0), DIVERGENCES[kind](p, q), 0.0)
