"""The exact precision-recall curve of two histograms against published digits and a naive sweep over λ."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric.measures.precision_recall import prd_curve

Floats = NDArray[np.float64]

# area, F_8, F_{1/8} of the exact curve computed apart, eight digits each
ORACLES = [
    ([0.5, 0.5], [0.9, 0.1], 0.70986123, 0.94202899, 0.98784195),
    ([0.5, 0.5], [1.0, 0.0], 0.5, 0.50387597, 0.98484848),
    ([0.4, 0.4, 0.2], [0.5, 0.5, 0.0], 0.8, 0.80246914, 0.99616858),
    ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 0.79325815, 0.97744361, 0.97744361),
]
EIGHT_DIGITS = 0.51e-8


def pairs(count: int, seed: int) -> list[tuple[Floats, Floats]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        k = int(rng.integers(2, 30))
        p, q = rng.multinomial(200, rng.dirichlet(np.ones(k))), rng.multinomial(300, rng.dirichlet(np.ones(k)))
        found.append((p / 200, q / 300))
    return found


def naive(p: Floats, q: Floats, step: float) -> tuple[Floats, Floats]:
    """λ from 1e-6 to 1e6 in equal ratios e^step, α(λ) = Σ min(λp, q) and β(λ) = α(λ)/λ, one λ at a time."""
    weights = np.exp(np.arange(-np.log(1e6), np.log(1e6) + step, step))
    alpha = np.array([sum(min(lam * a, b) for a, b in zip(p, q, strict=True)) for lam in weights])
    return alpha, alpha / weights


@pytest.mark.parametrize(("p", "q", "area", "f8", "f18"), ORACLES)
def test_analytic_oracles(p: list[float], q: list[float], area: float, f8: float, f18: float) -> None:
    curve = prd_curve(p, q)
    assert curve.area == pytest.approx(area, rel=0, abs=EIGHT_DIGITS)
    assert curve.prd_recall == pytest.approx(f8, rel=0, abs=EIGHT_DIGITS)
    assert curve.prd_precision == pytest.approx(f18, rel=0, abs=EIGHT_DIGITS)


def test_scores_against_a_naive_sweep() -> None:
    step = 0.01
    for p, q in pairs(15, seed=0):
        alpha, beta = naive(p, q, step)
        curve = prd_curve(p, q)
        # β falls and α rises with λ: rectangles bracket ∫α|dβ|. Below the first λ = 1e-6 every bucket of P with
        # q > 0 counts fully (ratios are above 1/300), β is constant; above the last, α is constant and β → 0.
        widths = beta[:-1] - beta[1:]
        low, high = widths @ alpha[:-1] + alpha[-1] * beta[-1], widths @ alpha[1:] + alpha[-1] * beta[-1]
        assert low - 1e-12 <= curve.area <= high + 1e-12  # rounding of 3000 terms
        assert high - low < 1.1 * step  # α grows by at most e^step a step
        for score, b in ((curve.prd_recall, 8.0), (curve.prd_precision, 1 / 8)):
            swept = float(np.max((1 + b * b) * alpha * beta / (b * b * alpha + beta)))
            # between two weights F grows by at most their ratio
            assert swept - 1e-12 <= score <= swept * np.exp(step)


def test_points_lie_on_the_curve() -> None:
    for p, q in pairs(15, seed=1):
        curve = prd_curve(p, q)
        inner = (curve.recall > 0) & (curve.precision > 0)
        for recall, precision in zip(curve.recall[inner], curve.precision[inner], strict=True):
            lam = precision / recall
            # the definition at that λ; relative rounding of a sum of 30 numbers and of λ
            assert np.minimum(lam * p, q).sum() == pytest.approx(precision, rel=1e-12)
        assert (np.diff(curve.recall) <= 1e-15).all() and (np.diff(curve.precision) >= -1e-15).all()
        assert curve.recall.shape == curve.precision.shape


def test_points_between_two_ratios_are_at_even_steps_of_the_logarithm() -> None:
    curve = prd_curve([0.5, 0.5], [0.9, 0.1])
    np.testing.assert_allclose(curve.precision[1:-1] / curve.recall[1:-1], np.geomspace(0.2, 1.8, 33), rtol=1e-12)
    many = prd_curve(*np.random.default_rng(6).dirichlet(np.ones(400), size=2))
    assert len(many.recall) == 400 + 2  # no point between two of many ratios


def test_probabilities_of_less_precision_are_used_as_they_are() -> None:
    p, q = np.random.default_rng(7).dirichlet(np.ones(50), size=2).astype(np.float32)
    one, two = prd_curve(p, q), prd_curve(p.astype(np.float64), q.astype(np.float64))
    assert (one.area, one.prd_precision, one.prd_recall) == (two.area, two.prd_precision, two.prd_recall)
    np.testing.assert_array_equal(one.recall, two.recall)
    one = prd_curve(p.astype(np.float64), q)
    assert (one.area, one.prd_precision, one.prd_recall) == (two.area, two.prd_precision, two.prd_recall)


def test_ends_of_the_curve_are_the_masses_of_the_common_support() -> None:
    p, q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.0, 0.5, 0.4])
    curve = prd_curve(p, q)
    assert (curve.recall[0], curve.precision[0]) == (pytest.approx(0.7, rel=1e-15), 0.0)  # β₀ = P(supp Q)
    assert (curve.recall[-1], curve.precision[-1]) == (0.0, pytest.approx(0.6, rel=1e-15))  # α_∞ = Q(supp P)


def test_collapsed_model_has_precision_and_no_recall() -> None:
    p = np.full(20, 0.05)
    q = np.r_[1.0, np.zeros(19)]
    curve = prd_curve(p, q)
    # Q inside P's support: α_∞ = 1; only a twentieth of P is reached: F_8 ≤ 65·β₀/64 by its definition
    assert curve.prd_precision > 0.7 and curve.prd_recall < 0.051
    assert prd_curve(q, p).prd_recall > 0.7 and prd_curve(q, p).prd_precision < 0.051


def test_swapping_the_sides_swaps_precision_and_recall() -> None:
    for p, q in pairs(15, seed=2):
        one, other = prd_curve(p, q), prd_curve(q, p)
        # 1/λ for λ: the same real numbers through other divisions, a few of 1e-16 each
        assert one.prd_precision == pytest.approx(other.prd_recall, rel=1e-12)
        assert one.prd_recall == pytest.approx(other.prd_precision, rel=1e-12)
        assert one.area == pytest.approx(other.area, rel=0, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 500])
def test_identical_histograms(k: int) -> None:
    p = np.random.default_rng(k).dirichlet(np.ones(k))
    curve = prd_curve(p, p)
    # cumulative sums of k numbers may miss 1 by k roundings of 1.1e-16
    for score in (curve.area, curve.prd_precision, curve.prd_recall):
        assert 1 - 1.2e-16 * (k + 1) <= score <= 1
    assert (curve.recall <= 1).all() and (curve.precision <= 1).all()


def test_disjoint_histograms() -> None:
    curve = prd_curve([0.5, 0.5, 0.0], [0.0, 0.0, 1.0])
    assert (curve.area, curve.prd_precision, curve.prd_recall) == (0.0, 0.0, 0.0)
    assert curve.recall.tolist() == curve.precision.tolist() == [0.0, 0.0]


def test_scores_stay_in_range_and_order() -> None:
    for p, q in pairs(50, seed=3):
        curve = prd_curve(p, q)
        tau = abs(p - q).sum() / 2
        for score in (curve.prd_precision, curve.prd_recall):
            assert 1 - tau - 1e-12 <= score <= 1  # F at λ = 1 is α(1) = β(1) = 1 - τ
        assert 0 <= curve.area <= 1


def test_invariances() -> None:
    rng = np.random.default_rng(4)
    for p, q in pairs(10, seed=5):
        reference = prd_curve(p, q)
        order = rng.permutation(len(p))
        for a, b in (
            (p[order], q[order]),
            (np.insert(p, 1, 0), np.insert(q, 1, 0)),
            (np.r_[p[0] / 4, p[0] * 3 / 4, p[1:]], np.r_[q[0] / 4, q[0] * 3 / 4, q[1:]]),
        ):
            variant = prd_curve(a, b)
            # other orders of summation of up to 30 numbers
            assert variant.area == pytest.approx(reference.area, rel=0, abs=1e-13)
            assert variant.prd_precision == pytest.approx(reference.prd_precision, rel=0, abs=1e-13)
            assert variant.prd_recall == pytest.approx(reference.prd_recall, rel=0, abs=1e-13)


def test_extreme_ratios_do_not_overflow() -> None:
    tiny = 1e-300
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        curve = prd_curve([1, tiny], [tiny, 1])
    assert np.isfinite(curve.recall).all() and np.isfinite(curve.precision).all()
    # all mass apart: what is left is of the order of 1e-300·log(1e600)
    assert max(curve.area, curve.prd_precision, curve.prd_recall) < 1e-290


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.5], [1.0], r"p and q must be vectors of one length, got shapes \(2,\) and \(1,\)"),
        ([[0.5, 0.5]], [[0.5, 0.5]], "must be vectors"),
        (1.0, 1.0, "must be vectors"),
    ],
)
def test_errors(p: object, q: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prd_curve(p, q)  # type: ignore[arg-type]
