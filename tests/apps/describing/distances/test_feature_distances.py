"""Extrapolated Fréchet, sliced Wasserstein and Vendi score against closed forms, a linear program and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial import distance
from scipy.stats import wasserstein_distance
from vendi_score import vendi

from mauve_metric.apps.describing.distances import feature_distances as module
from mauve_metric.apps.describing.distances.feature_distances import (
    coherence,
    frechet_infinity,
    sliced_wasserstein,
    vendi_score,
)
from mauve_metric.measures.frechet import frechet_distance

Floats = NDArray[np.float64]


def rows(seed: int, n: int, d: int, decay: float = 0.0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.exp(-decay * np.arange(d)) @ rng.normal(size=(d, d))


def test_the_extrapolation_takes_the_bias_off() -> None:
    d, spread = 16, np.linspace(1, 3, 16)
    plain, found = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p, q = rng.normal(size=(150, d)) * spread, rng.normal(size=(100, d)) * 1.5 * spread + 0.5
        plain.append(frechet_distance(p, q))
        found.append(frechet_infinity(p, q, seed=seed))
    # Gaussians whose covariances differ by a factor of 1.5² and whose means by 0.5: closed form
    truth = d * 0.25 + 0.25 * float(np.square(spread).sum())
    error = float(np.std(found)) / np.sqrt(20)
    assert np.mean(plain) > truth + 4 * error
    assert abs(np.mean(found) - truth) < 4 * error + 0.1 * (np.mean(plain) - truth)  # what 1/n² leaves: (d/n)² or so


def test_the_extrapolation_is_a_straight_line_in_one_over_n() -> None:
    p, q = rows(19, 40, 3), rows(20, 61, 3) + 1
    rng = np.random.default_rng(5)
    of_p, of_q = (np.array_split(rng.permutation(len(side)), 2) for side in (p, q))
    halves = np.mean([frechet_distance(p[some], q[other]) for some, other in zip(of_p, of_q, strict=True)])
    # through (1/n, whole) and (2/n, halves), at 0
    expected = np.polynomial.Polynomial.fit([1, 2], [frechet_distance(p, q), halves], 1)(0.0)
    assert frechet_infinity(p, q, halvings=1, seed=5) == pytest.approx(float(expected), rel=1e-10)
    assert frechet_infinity(p, q, seed=5) == frechet_infinity(p, q, seed=5) != frechet_infinity(p, q, seed=6)


def test_the_extrapolation_of_equal_sets_is_on_either_side_of_0() -> None:
    same = [frechet_infinity(*np.random.default_rng(seed).normal(size=(2, 80, 6)), seed=seed) for seed in range(30)]
    assert 5 <= np.count_nonzero(np.array(same) > 0) <= 25  # binomial around 15, standard deviation 2.7


def test_the_extrapolation_needs_rows_for_halves() -> None:
    with pytest.raises(ValueError, match=r"^q must have at least 4 rows for covariances of its halves, got 3"):
        frechet_infinity(rows(21, 5, 2), rows(22, 3, 2))
    with pytest.raises(ValueError, match=r"^halvings must be at least 1, got 0"):
        frechet_infinity(rows(21, 5, 2), rows(22, 5, 2), halvings=0)


# --- sliced Wasserstein ---------------------------------------------------------------------------------------------


def normal_rows(seed: int, n: int, d: int = 1) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, d))


def by_copies(p: Floats, q: Floats) -> float:
    """W2² in one dimension: each point as often as makes the sets equally large, both sorted."""
    common = math.lcm(len(p), len(q))
    p, q = (np.sort(np.repeat(side, common // len(side))) for side in (p, q))
    return float(np.mean((p - q) ** 2))


def by_transport(p: Floats, q: Floats) -> float:
    """W2² in one dimension as the cheapest transport plan."""
    n, m = len(p), len(q)
    sums = np.concatenate([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    return float(linprog(np.square(p[:, None] - q).ravel(), A_eq=sums, b_eq=masses).fun)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (6, 6), (4, 6), (7, 3), (1, 5)])
def test_sliced_in_one_dimension(n: int, m: int) -> None:
    p, q = normal_rows(0, n), 2 * normal_rows(1, m) + 0.3
    found = sliced_wasserstein(p, q, directions=3)
    assert found == pytest.approx(by_copies(p[:, 0], q[:, 0]), rel=1e-12)  # a few float64 operations
    assert found == pytest.approx(by_transport(p[:, 0], q[:, 0]), rel=1e-6)  # the solver's tolerance


def test_points_at_one_distance_agree_with_scipy() -> None:
    p, q = np.arange(5.0), np.arange(5.0) + 0.4  # the plan moves every point by 0.4: W2 = W1
    expected = wasserstein_distance(p, q) ** 2
    assert sliced_wasserstein(p[:, None], q[:, None]) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("block", [10, 4_000_000])
def test_mean_over_directions(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(module, "_BLOCK_ELEMENTS", block)
    p, q = normal_rows(2, 9, 4), normal_rows(3, 6, 4) + 1
    vectors = np.random.default_rng(7).normal(size=(20, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = np.mean([by_copies(p @ u, q @ u) for u in vectors])
    assert sliced_wasserstein(p, q, directions=20, seed=7) == pytest.approx(float(expected), rel=1e-12)


def test_closed_forms_of_a_shift_and_of_a_factor() -> None:
    d, p = 8, normal_rows(4, 200, 8)
    shift = np.arange(d) / 3
    # u·v has mean square ‖v‖²/d; one of 4000 directions has a standard deviation of at most √2 of it
    expected = float(shift @ shift) / d
    found = sliced_wasserstein(p, p + shift, directions=4000)
    assert found == pytest.approx(expected, rel=4 * math.sqrt(2 / 4000))
    # every projection is stretched about 0: its mean square, which has mean tr(XᵀX/n)/d
    expected = float(np.square(p).sum(axis=1).mean()) / d
    assert sliced_wasserstein(p, 2 * p, directions=4000) == pytest.approx(expected, rel=4 * math.sqrt(2 / 4000))


def test_equal_sets_sides_order_seeds_and_units() -> None:
    p, q = normal_rows(5, 30, 3), normal_rows(6, 20, 3) + 1
    assert sliced_wasserstein(p, p[::-1]) == pytest.approx(0, abs=1e-28)
    expected = sliced_wasserstein(p, q)
    assert sliced_wasserstein(q, p) == pytest.approx(expected, rel=1e-12)
    assert sliced_wasserstein(p, q) == expected
    assert sliced_wasserstein(p, q, seed=1) != expected
    assert sliced_wasserstein(10 * p, 10 * q) == pytest.approx(100 * expected, rel=1e-12)
    single = [side.astype(np.float32) for side in (p, q)]
    assert sliced_wasserstein(*single) == sliced_wasserstein(*(side.astype(np.float64) for side in single))


@pytest.mark.filterwarnings("error")
def test_what_cannot_be_computed_is_refused() -> None:
    p = normal_rows(8, 4, 3)
    with pytest.raises(ValueError, match=r"^q must have at least 1 row of features, got an array of shape \(0, 3\)"):
        sliced_wasserstein(p, p[:0])
    with pytest.raises(ValueError, match=r"^p and q must have rows of one length, got 3 and 2"):
        sliced_wasserstein(p, p[:, :2])
    with pytest.raises(ValueError, match=r"^directions must be at least 1, got 0"):
        sliced_wasserstein(p, p, directions=0)
    with pytest.raises(ValueError, match=r"^p and q must be finite, and not too large"):
        sliced_wasserstein(p * 1e200, p)


@pytest.mark.parametrize(("n", "d"), [(30, 5), (8, 20), (12, 12)])
def test_equal_to_the_package_of_its_authors(n: int, d: int) -> None:
    rows = np.random.default_rng(0).normal(size=(n, d)) * 7
    if n >= d:
        expected = vendi.score_dual(rows)
    else:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        expected = vendi.score_K(unit @ unit.T)
    assert vendi_score(rows) == pytest.approx(float(expected), rel=1e-10)  # eigenvalues good to 1e-15 · 30


def test_directions_are_counted() -> None:
    for copies, directions, d in ((1, 6, 6), (1, 6, 9), (4, 3, 5), (7, 1, 3)):
        rows = np.repeat(np.eye(d)[:directions], copies, axis=0) * np.arange(1, copies * directions + 1)[:, None]
        assert vendi_score(rows) == pytest.approx(directions, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_lengths_of_rows_do_not_matter(factor: float) -> None:
    rows = np.random.default_rng(2).normal(size=(10, 4))
    assert vendi_score(rows * factor) == pytest.approx(vendi_score(rows), rel=1e-12)
    single = rows.astype(np.float32)
    assert vendi_score(single) == vendi_score(single.astype(np.float64))


def test_what_has_no_score_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^features must have at least 1 row, got an array of shape \(0, 3\)"):
        vendi_score(np.empty((0, 3)))
    with pytest.raises(ValueError, match=r"^features must have no row of zeros, .* got one as row 1"):
        vendi_score(np.array([[1.0, 0.0], [0.0, 0.0]]))


def test_coherence_is_the_cosine_of_a_text_and_its_prompt() -> None:
    rng = np.random.default_rng(0)
    f, g = rng.normal(size=(2, 20, 5))
    expected = [1 - distance.cosine(a, b) for a, b in zip(f, g, strict=True)]
    assert coherence(f, g) == pytest.approx(expected, abs=1e-12)
    assert coherence(f, 3 * f) == pytest.approx(np.ones(20))
    with pytest.raises(ValueError, match=r"one shape \(n, d\), got \(20, 5\) and \(3, 5\)"):
        coherence(f, g[:3])
    with pytest.raises(ValueError, match="features of zeros"):
        coherence(f, 0 * g)
