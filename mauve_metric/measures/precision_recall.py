"""Precision against recall: the exact curve of two histograms (Sajjadi et al. 2018; Simon et al. 2019).

Precision is about the model's text (Q): how much of it looks like human text. Recall is about the human text (P):
how much of it the model can write. Swapping P and Q swaps the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.arrays import Floats

_DRAWN_POINTS = 256  # about as many points of the curve are kept for drawing; the scores do not depend on it


@dataclass(frozen=True)
class PRDCurve:
    """The exact precision-recall curve of two histograms, with the scores read off it.

    recall, precision: shape (m,), in [0, 1], recall falling and precision rising, from (β₀, 0) to (0, α_∞).
    prd_precision, prd_recall: max F_{1/8} and max F_8 along the curve, in [0, 1], higher is better.
    area: area under the curve, in [0, 1], higher is better; 1 iff p = q.
    """

    recall: Floats
    precision: Floats
    prd_precision: float
    prd_recall: float
    area: float


def prd_curve(p: ArrayLike, q: ArrayLike) -> PRDCurve:
    """Precision α(λ) = Σ min(λp, q) against recall β(λ) = Σ min(p, q/λ) for every λ in (0, ∞).

    Between two neighbouring ratios q_i/p_i the curve is α = Aλ + B, β = A + B/λ with constant A and B, so that the
    area and the largest F_β are exact (Sajjadi et al. 2018, §3; Simon et al. 2019, §3).

    Args:
        p: probabilities of the reference (human) texts, shape (k,).
        q: probabilities of the model's texts, shape (k,).

    Raises:
        ValueError: the two are not vectors of one length.

    >>> curve = prd_curve([0.5, 0.5], [1.0, 0.0])
    >>> round(curve.area, 6), round(curve.prd_recall, 6), round(curve.prd_precision, 6)
    (0.5, 0.503876, 0.984848)
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if p.shape != q.shape or p.ndim != 1:
        raise ValueError(f"p and q must be vectors of one length, got shapes {p.shape} and {q.shape}")
    both = (p > 0) & (q > 0)
    if not both.any():
        return PRDCurve(np.zeros(2), np.zeros(2), 0.0, 0.0, 0.0)
    ratios, bucket = np.unique(q[both] / p[both], return_inverse=True)
    p_passed = np.cumsum(np.bincount(bucket, weights=p[both]))
    q_passed = np.cumsum(np.bincount(bucket, weights=q[both]))
    above = np.append(p_passed[-1], p_passed[-1] - p_passed)  # A: mass of P where q/p > λ, on each segment of λ
    below = np.append(0.0, q_passed)  # B: mass of Q where q/p ≤ λ
    at_ratios = np.minimum(above[1:] * ratios + below[1:], 1.0)
    # ∫ α |dβ| by segment: B = 0 on the first, A = 0 on the last, which is unbounded
    a, b = above[1:-1], below[1:-1]
    inner = a * b * (np.log(ratios[1:]) - np.log(ratios[:-1])) + b**2 * (1 / ratios[:-1] - 1 / ratios[1:])
    recall, precision = _points(ratios, above, below)
    return PRDCurve(
        recall=recall,
        precision=precision,
        prd_precision=_max_f_score(at_ratios, ratios, 1 / 8),
        prd_recall=_max_f_score(at_ratios, ratios, 8),
        area=min(float(inner.sum() + below[-1] ** 2 / ratios[-1]), 1.0),
    )


def _max_f_score(precision: Floats, ratios: Floats, beta: float) -> float:
    """The largest F_β = (1+β²)α/(1+β²λ); F is monotone between two ratios, so that one of them attains it."""
    return min(float(np.max((1 + beta**2) * precision / (1 + beta**2 * ratios))), 1.0)


def _points(ratios: Floats, above: Floats, below: Floats) -> tuple[Floats, Floats]:
    """Points of the curve for drawing: every ratio and some λ between two of them."""
    between = max(1, min(32, _DRAWN_POINTS // len(ratios)))
    steps = np.linspace(0, 1, between, endpoint=False)
    lam = np.append((ratios[:-1, None] ** (1 - steps) * ratios[1:, None] ** steps).ravel(), ratios[-1])
    segment = np.append(np.repeat(np.arange(1, len(ratios)), between), len(ratios))
    recall = np.concatenate([above[:1], above[segment] + below[segment] / lam, [0.0]])
    precision = np.concatenate([[0.0], above[segment] * lam + below[segment], below[-1:]])
    return np.clip(recall, 0, 1), np.clip(precision, 0, 1)
