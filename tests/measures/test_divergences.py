"""f-divergences along the mixtures against closed forms, brute force and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from mauve_metric.measures.divergences import (
    DIVERGENCES,
    Divergence,
    divergence,
    divergence_area,
    divergence_frontier,
    divergence_frontier_curve,
    divergence_integral,
    divergence_midpoint,
    exponentiated_kl,
)
from mauve_metric.measures.frontier import curve_area, divergence_curve, exact_area, frontier_integral, mauve_floor

Floats = NDArray[np.float64]

PAIRS = [
    ([0.5, 0.5], [0.9, 0.1]),
    ([0.5, 0.5], [1.0, 0.0]),
    ([0.4, 0.4, 0.2, 0.0], [0.5, 0.0, 0.0, 0.5]),
    ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]),
    ([1.0, 0.0], [0.0, 1.0]),
]

# f of D_f(p‖r) = Σ r·f(p/r), each as the papers write it
GENERATORS = {
    "kl": lambda t: t * np.log(t),
    "chi_square": lambda t: (t - 1) ** 2,
    "hellinger": lambda t: (1 - np.sqrt(t)) ** 2,
    "total_variation": lambda t: np.abs(t - 1) / 2,
    "le_cam": lambda t: (1 - t) ** 2 / (2 * (1 + t)),
    "jensen_shannon": lambda t: t / 2 * np.log(2 * t / (1 + t)) + np.log(2 / (1 + t)) / 2,
}
BOUNDS = {"hellinger": 2.0, "total_variation": 1.0, "le_cam": 1.0, "jensen_shannon": math.log(2)}


def random_pair(seed: int, k: int = 12) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(k, 0.7), size=2)
    return p, q


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_each_is_its_generator(kind: Divergence) -> None:
    for seed in range(5):
        p, q = random_pair(seed)
        expected = float((q * GENERATORS[kind](p / q)).sum())
        assert divergence(p, q, kind) == pytest.approx(expected, rel=1e-11)  # k additions of terms of this size
        lam = np.array([0.1, 0.5, 0.8])
        one, two = divergence_frontier(p, q, lam, kind)
        for weight, first, second in zip(lam, one, two, strict=True):
            r = weight * p + (1 - weight) * q
            assert first == pytest.approx(float((r * GENERATORS[kind](q / r)).sum()), rel=1e-10)
            assert second == pytest.approx(float((r * GENERATORS[kind](p / r)).sum()), rel=1e-10)


def test_single_numbers_against_scipy() -> None:
    p, q = random_pair(7)
    assert divergence(p, q) == pytest.approx(float(entropy(p, q)), rel=1e-12)
    assert divergence(p, q, "jensen_shannon") == pytest.approx(jensenshannon(p, q) ** 2, rel=1e-11)
    assert exponentiated_kl(p, q) == pytest.approx(math.exp(-0.1 * entropy(p, q)), rel=1e-12)


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_equal_and_disjoint_histograms(kind: Divergence) -> None:
    p = [0.25, 0.25, 0.5]
    assert divergence(p, p, kind) == divergence_integral(p, p, kind) == divergence_midpoint(p, p, kind) == 0
    assert divergence_area(p, p, kind) == 1
    assert divergence([1, 0], [0, 1], kind) == pytest.approx(BOUNDS.get(kind, math.inf), rel=1e-14)
    assert divergence([1, 0, 0], [0.5, 0.5, 0], kind) < math.inf  # q is spread wider than p


def test_infinite_kl_is_infinite() -> None:
    assert divergence([0.5, 0.5], [1, 0]) == divergence([0.5, 0.5], [1, 0], "chi_square") == math.inf
    assert divergence([1, 0], [0.5, 0.5]) == pytest.approx(math.log(2), rel=1e-15)
    assert exponentiated_kl([0.5, 0.5], [1, 0]) == 0


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_kl_is_mauve(p: list[float], q: list[float]) -> None:
    assert divergence_area(p, q) == pytest.approx(max(exact_area(p, q), mauve_floor()), abs=1e-13)
    assert divergence_integral(p, q) == pytest.approx(frontier_integral(p, q), abs=1e-12)  # the last panel is 2⁻⁴⁵ wide
    assert np.array_equal(divergence_frontier_curve(p, q), divergence_curve(p, q))


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_closed_forms(p: list[float], q: list[float]) -> None:
    # FI of χ² is twice that of KL; the frontier of total variation τ is the segment (λτ, (1-λ)τ)
    assert divergence_integral(p, q, "chi_square") == pytest.approx(2 * frontier_integral(p, q), abs=1e-11)
    tau = divergence(p, q, "total_variation")
    assert divergence_integral(p, q, "total_variation") == pytest.approx(2 * tau / 3, abs=1e-13)
    assert divergence_midpoint(p, q, "total_variation") == pytest.approx(tau / 2, abs=1e-15)
    for c in (0.3, 1.0, 5.0, 20.0):
        form = math.exp(-c * tau) * (1 + c * tau)
        assert divergence_area(p, q, "total_variation", c) == pytest.approx(form, abs=1e-12)
    one, two = divergence_frontier(p, q, [0.3], "total_variation")
    assert (one[0], two[0]) == pytest.approx((0.3 * tau, 0.7 * tau), abs=1e-15)
    # at the even mixture: χ² ½Σ(p-q)²/(p+q) = Le Cam's between p and q; KL is Jensen–Shannon
    assert divergence_midpoint(p, q, "chi_square") == pytest.approx(divergence(p, q, "le_cam"), abs=1e-14)
    assert divergence_midpoint(p, q) == pytest.approx(divergence(p, q, "jensen_shannon"), abs=1e-14)


@pytest.mark.parametrize("kind", DIVERGENCES)
@pytest.mark.parametrize(("p", "q"), PAIRS[:4])
def test_area_and_integral_by_brute_force(p: list[float], q: list[float], kind: Divergence) -> None:
    # weights close to both ends, where the curve goes from (1, 0) to the points
    lam = (1 - np.cos(np.linspace(0, math.pi, 40_002)[1:-1])) / 2
    one, two = divergence_frontier(p, q, lam, kind)
    x, y = np.exp(-5 * one), np.exp(-5 * two)
    area = curve_area(np.column_stack([np.r_[1, x, 0], np.r_[0, y, 1]]))
    # trapezoids of a curve of length below 2, at steps of 1e-4 whose second derivative is below about 100
    assert divergence_area(p, q, kind) == pytest.approx(area, abs=2e-6)
    integral = 2 * float(np.trapezoid((1 - lam) * one + lam * two, lam))
    assert divergence_integral(p, q, kind) == pytest.approx(integral, abs=1e-6)


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_merging_buckets_never_raises_a_divergence(kind: Divergence) -> None:
    p, q = random_pair(3)
    merged = [side.reshape(-1, 2).sum(axis=1) for side in (p, q)]
    assert divergence(*merged, kind) <= divergence(p, q, kind)
    assert divergence_area(*merged, kind) >= divergence_area(p, q, kind)
    order = np.random.default_rng(0).permutation(len(p))
    padded = [np.append(side[order], [0, 0]) for side in (p, q)]
    assert divergence(*padded, kind) == pytest.approx(divergence(p, q, kind), rel=1e-13)
    assert divergence_area(*padded, kind) == pytest.approx(divergence_area(q, p, kind), rel=1e-13)


def test_near_equal_histograms_keep_their_precision() -> None:
    """With p = q·(1 + e·s) each is f''(1)/2·e²·Σqs² to first order, far below the rounding of Σr·f(p/r)."""
    q, s, e = np.full(4, 0.25), np.array([1, -1, 1, -1.0]), 1e-9
    second = {"kl": 1, "chi_square": 2, "hellinger": 0.5, "le_cam": 0.5, "jensen_shannon": 0.25}
    for kind, curvature in second.items():
        if kind == "kl":  # its terms are not squares: the sum cancels to 1e-16
            continue
        found = divergence(q * (1 + e * s), q, kind)  # type: ignore[arg-type]
        assert found == pytest.approx(curvature / 2 * e**2, rel=1e-6), kind  # 1 + e·s is rounded to 1e-16, e is 1e-9


def test_unknown_kinds_and_bad_histograms_are_refused() -> None:
    with pytest.raises(ValueError, match=r"kind must be one of kl, chi_square, .* got 'renyi'"):
        divergence([1.0], [1.0], "renyi")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="same number of buckets"):
        divergence_area([0.5, 0.5], [1.0])
    with pytest.raises(ValueError, match="non-negative probabilities"):
        divergence_integral([0.5, 0.6], [1.0, 0.0])
