"""f-divergences against their generators and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from mauve_metric.apps.describing.distances.divergence_intervals import DIVERGENCES, Divergence, divergence_terms
from mauve_metric.measures.frontier import jensen_shannon

Floats = NDArray[np.float64]

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


def divergence(p: ArrayLike, q: ArrayLike, kind: Divergence = "kl") -> float:
    return float(divergence_terms(np.asarray(p, dtype=float), np.asarray(q, dtype=float), kind).sum())


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


def test_single_numbers_against_scipy() -> None:
    p, q = random_pair(7)
    assert divergence(p, q) == pytest.approx(float(entropy(p, q)), rel=1e-12)
    assert divergence(p, q, "jensen_shannon") == pytest.approx(jensenshannon(p, q) ** 2, rel=1e-11)
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q) ** 2, rel=1e-11)


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_equal_and_disjoint_histograms(kind: Divergence) -> None:
    p = [0.25, 0.25, 0.5]
    assert divergence(p, p, kind) == 0
    assert divergence([1, 0], [0, 1], kind) == pytest.approx(BOUNDS.get(kind, math.inf), rel=1e-14)
    assert divergence([1, 0, 0], [0.5, 0.5, 0], kind) < math.inf  # q is spread wider than p


def test_infinite_kl_is_infinite() -> None:
    assert divergence([0.5, 0.5], [1, 0]) == divergence([0.5, 0.5], [1, 0], "chi_square") == math.inf
    assert divergence([1, 0], [0.5, 0.5]) == pytest.approx(math.log(2), rel=1e-15)


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_merging_buckets_never_raises_a_divergence(kind: Divergence) -> None:
    p, q = random_pair(3)
    merged = [side.reshape(-1, 2).sum(axis=1) for side in (p, q)]
    assert divergence(*merged, kind) <= divergence(p, q, kind)
    order = np.random.default_rng(0).permutation(len(p))
    padded = [np.append(side[order], [0, 0]) for side in (p, q)]
    assert divergence(*padded, kind) == pytest.approx(divergence(p, q, kind), rel=1e-13)


def test_near_equal_histograms_keep_their_precision() -> None:
    """With p = q·(1 + e·s) each is f''(1)/2·e²·Σqs² to first order, far below the rounding of Σr·f(p/r)."""
    q, s, e = np.full(4, 0.25), np.array([1, -1, 1, -1.0]), 1e-9
    second = {"kl": 1, "chi_square": 2, "hellinger": 0.5, "le_cam": 0.5, "jensen_shannon": 0.25}
    for kind, curvature in second.items():
        if kind == "kl":  # its terms are not squares: the sum cancels to 1e-16
            continue
        found = divergence(q * (1 + e * s), q, kind)  # type: ignore[arg-type]
        assert found == pytest.approx(curvature / 2 * e**2, rel=1e-6), kind  # 1 + e·s is rounded to 1e-16, e is 1e-9
