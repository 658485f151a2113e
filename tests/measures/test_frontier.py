"""Divergence curve, areas and frontier integral against closed forms, published digits and defining properties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon
from scipy.special import erf, ndtr

from mauve_metric.measures.frontier import (
    area_by_quadrature,
    as_frontier,
    curve_area,
    divergence_curve,
    exact_area,
    frontier,
    frontier_integral,
    frontier_integral_terms,
    jensen_shannon,
    mauve_floor,
    quadrature,
)

Floats = NDArray[np.float64]

# computed apart, ten digits each: exact area c=5 | exact area c=1 | the literature's grid, c=5 | frontier integral
ORACLES = [
    ([0.5, 0.5], [0.9, 0.1], 0.6712722986, 0.9756045959, 0.6710958126, 0.1375602629),
    ([0.5, 0.5], [1.0, 0.0], 0.2774765170, 0.8926990817, 0.2781137254, 1 - math.log(2)),
    ([0.4, 0.4, 0.2], [0.5, 0.5, 0.0], 0.7509861806, 0.9815967627, 0.7508266883, 0.1074257947),
    ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 0.8216512693, 0.9892816050, 0.8214099836, 0.0891395121),
]
TEN_DIGITS = 0.51e-10  # the oracles are rounded to ten digits

# computed apart, eight digits each: N(0, 1) against N(shift, scale²): MAUVE c=5 | frontier integral
GAUSSIANS = [
    (0.25, 1.0, 0.99622237, 0.01035195),
    (0.5, 1.0, 0.95124065, 0.04064906),
    (1.0, 1.0, 0.63158737, 0.15141812),
    (1.5, 1.0, 0.27973445, 0.30499999),
    (2.0, 1.0, 0.10492862, 0.47051663),
    (0.0, 2.0, 0.69785674, 0.12812911),
    (0.0, 0.5, 0.69785674, 0.12812911),
    (1.0, 2.0, 0.55271554, 0.17786654),
]
DISJOINT_ON_GRID = 0.0040720962619612555  # c=5, 25 weights

SCALES = [0.2, 1.0, 5.0, 20.0]


def grid_area(p: object, q: object, c: float = 5.0, points: int = 25) -> float:
    return curve_area(divergence_curve(p, q, c, points))  # type: ignore[arg-type]


def random_pairs(count: int, seed: int, empty: bool = True) -> list[tuple[Floats, Floats]]:
    """Histograms of several sizes and degrees of overlap, some buckets empty on one side or both."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        k = int(rng.integers(2, 40))
        p, q = rng.dirichlet(np.full(k, rng.uniform(0.1, 3)), size=2)
        if empty and k > 4:
            p[rng.random(k) < 0.3], q[rng.random(k) < 0.3] = 0, 0
            p[0], q[1] = max(p[0], 0.1), max(q[1], 0.1)
        pairs.append((p / p.sum(), q / q.sum()))
    return pairs


def multinomial_pairs(count: int, seed: int) -> list[tuple[Floats, Floats]]:
    """Histograms like those of k-means: counts of n texts in n/10 buckets from distributions near and far."""
    rng = np.random.default_rng(seed)
    pairs = []
    for index in range(count):
        k = (100, 200, 500)[index % 3]
        truth = rng.dirichlet(np.ones(k))
        other = truth * np.exp(rng.uniform(0, 1.5) * rng.normal(size=k))
        p, q = rng.multinomial(10 * k, truth), rng.multinomial(10 * k, other / other.sum())
        pairs.append((p / p.sum(), q / q.sum()))
    return pairs


# --- oracles ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "q", "area", "area_one", "grid", "integral"), ORACLES)
def test_analytic_oracles(
    p: list[float], q: list[float], area: float, area_one: float, grid: float, integral: float
) -> None:
    assert exact_area(p, q) == pytest.approx(area, rel=0, abs=TEN_DIGITS)
    assert exact_area(p, q, 1.0) == pytest.approx(area_one, rel=0, abs=TEN_DIGITS)
    assert grid_area(p, q) == pytest.approx(grid, rel=0, abs=TEN_DIGITS)
    assert frontier_integral(p, q) == pytest.approx(integral, rel=0, abs=TEN_DIGITS)


@pytest.mark.parametrize("c", [*SCALES, 100.0])
def test_closed_form_of_half_against_one(c: float) -> None:
    # 2^-c + c ∫_½^1 (4s(1-s))^{c/2} s^{c-1} ds. With s = ½ + ½ sin²θ… the integrand's root at s=1
    # (power c/2) is smoothed by s = 1 - t^m/2, m = 20: an integer power of t for all c here, then Gauss–Legendre.
    m = 20
    nodes, weights = np.polynomial.legendre.leggauss(200)
    t, w = (nodes + 1) / 2, weights / 2
    s = 1 - t**m / 2
    integrand = (4 * s * (1 - s)) ** (c / 2) * s ** (c - 1) * m * t ** (m - 1) / 2
    closed = 2**-c + c * float(integrand @ w)
    # both sides are sums of a few thousand positive terms below 1: 1e-12 is a thousand times their rounding
    assert exact_area([0.5, 0.5], [1.0, 0.0], c) == pytest.approx(closed, rel=0, abs=1e-12)


@pytest.mark.more
@pytest.mark.parametrize(("shift", "scale", "area", "integral"), GAUSSIANS)
def test_fine_partition_of_gaussians(shift: float, scale: float, area: float, integral: float) -> None:
    width = 0.01
    edges = np.arange(-20, 20 + width, width)
    p, q = (np.diff(ndtr((edges - mean) / sd)) for mean, sd in ((0.0, 1.0), (shift, scale)))
    p, q = p / p.sum(), q / q.sum()
    # A partition of bin width h lowers KL(a‖r) by h²/24·E_a[(d/dx log a/r)²] to leading order, and the slope of
    # log a/r is at most that of log p/q. Those expectations for the two Gaussians:
    under_p = (1 / scale**2 - 1) ** 2 + (shift / scale**2) ** 2
    under_q = shift**2 + (1 / scale - scale) ** 2
    loss = width**2 / 24 * (under_p + under_q)
    # The area moves by at most c times that (each coordinate of the curve by c·loss at most), FI by at most the
    # loss; twice that covers the higher orders in h, and the published numbers have eight digits.
    digits = 0.51e-8
    assert -digits <= exact_area(p, q) - area <= 2 * 5 * loss + digits
    assert -digits <= integral - frontier_integral(p, q) <= 2 * loss + digits


@pytest.mark.parametrize(("a", "published"), [(0.1, 0.9983985), (0.5, 0.9657767), (1.0, 0.8868419)])
def test_local_form(a: float, published: float) -> None:
    form = math.exp(-a) + math.exp(-a / 2) * math.sqrt(math.pi * a / 2) * erf(math.sqrt(a / 2))
    assert form == pytest.approx(published, rel=0, abs=0.51e-7)  # seven digits
    # p(1 ± e) in equal parts: K_P = e²/2·(1-λ)² + O(e⁴), K_Q likewise (odd orders cancel), so that with c = 2a/e²
    # the area is f(a) up to O(a·e²); e = 1e-3 and a factor of ten on that.
    e = 1e-3
    p = np.full(4, 0.25)
    q = p * (1 + e * np.array([1, -1, 1, -1]))
    assert float(area_by_quadrature(p, q, 2 * a / e**2, 64, 40)) == pytest.approx(form, rel=0, abs=10 * a * e**2)


@pytest.mark.parametrize(
    ("c", "overlap", "expected"), [(5.0, 0.9, math.pi / 4), (5.0, 0.8, 0.5), (1.0, 0.5, math.pi / 4)]
)
def test_lower_bound_attained_by_overlapping_uniforms(c: float, overlap: float, expected: float) -> None:
    # two uniforms of equal size with TV = 1 - overlap; cτ = ½ gives π/4, cτ = 1 gives ½
    own = round(10 * (1 - overlap))
    p = np.r_[np.full(10, 0.1), np.zeros(own)]
    assert exact_area(p, p[::-1], c) == pytest.approx(expected, rel=0, abs=1e-12)  # a sum of some 2000 terms


@pytest.mark.parametrize("c", SCALES)
def test_lower_bound_by_total_variation(c: float) -> None:
    for p, q in random_pairs(40, seed=1):
        tau = abs(p - q).sum() / 2
        bound = math.exp(2 * math.lgamma(1 + c * tau) - math.lgamma(1 + 2 * c * tau))
        assert bound - 1e-12 <= exact_area(p, q, c) <= 1


def test_disjoint_supports_give_the_floor() -> None:
    p, q = [0.25, 0.75, 0.0, 0.0], [0.0, 0.0, 0.1, 0.9]
    for c in (1, 2, 5, 8):
        assert mauve_floor(c) == pytest.approx(1 / math.comb(2 * c, c), rel=1e-13)
        assert exact_area(p, q, c) == pytest.approx(1 / math.comb(2 * c, c), rel=1e-11)  # rounding of exp(-c·KL)
    assert grid_area(p, q) == pytest.approx(DISJOINT_ON_GRID, rel=1e-13)
    assert frontier_integral(p, q) == 1.0


@pytest.mark.parametrize("k", [1, 2, 4, 64, 500])
def test_identical_histograms_give_exactly_one(k: int) -> None:
    rng = np.random.default_rng(k)
    for p in (np.full(k, 1 / k), rng.multinomial(7 * k, np.full(k, 1 / k)) / (7 * k)):
        assert exact_area(p, p) == 1.0
        assert grid_area(p, p) == 1.0
        assert frontier_integral(p, p) == 0.0


def test_nearly_identical_histograms_stay_below_one() -> None:
    p = np.full(4, 0.25)
    for size in (1e-3, 1e-6, 1e-9, 1e-12, 1e-15):
        q = p + size * np.array([1, -1, 1, -1])
        assert 0.99 < exact_area(p, q) <= 1 and 0.99 < grid_area(p, q) <= 1
        # FI = Σ(p-q)²/(6p)·(1 + O(size)) = 8/3·size² for these (the first term of its series in p - q); the
        # relative rounding of p - q is 2^-53·0.25/size
        expected = 8 / 3 * size**2
        assert frontier_integral(p, q) == pytest.approx(expected, rel=1e-2 if size > 1e-14 else 0.5)


# --- properties ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", SCALES)
def test_invariances(c: float) -> None:
    rng = np.random.default_rng(2)
    for p, q in random_pairs(10, seed=3):
        area, grid, integral = exact_area(p, q, c), grid_area(p, q, c), frontier_integral(p, q)
        order = rng.permutation(len(p))
        share = rng.uniform(0.1, 0.9)
        variants = {
            "swapped": (q, p),
            "permuted": (p[order], q[order]),
            "with empty buckets": (np.insert(p, [0, 2], 0), np.insert(q, [0, 2], 0)),
            "first bucket split": (
                np.r_[share * p[0], (1 - share) * p[0], p[1:]],
                np.r_[share * q[0], (1 - share) * q[0], q[1:]],
            ),
        }
        for name, (a, b) in variants.items():
            # the same real numbers summed in another order: about 1e-16·c in the exponent for each of 40 terms
            assert exact_area(a, b, c) == pytest.approx(area, rel=0, abs=1e-13 * max(c, 1)), name
            assert grid_area(a, b, c) == pytest.approx(grid, rel=0, abs=1e-13 * max(c, 1)), name
            assert frontier_integral(a, b) == pytest.approx(integral, rel=0, abs=1e-14 * len(a)), name


def test_merging_buckets_never_lowers_the_area() -> None:
    changed = 0
    for p, q in random_pairs(30, seed=4):
        merged_p, merged_q = np.r_[p[0] + p[1], p[2:]], np.r_[q[0] + q[1], q[2:]]
        gain = exact_area(merged_p, merged_q) - exact_area(p, q)
        assert gain >= -1e-12  # rounding of two quadratures
        assert frontier_integral(merged_p, merged_q) <= frontier_integral(p, q) + 1e-14
        changed += gain > 1e-6
    assert changed > 15  # the property is not met by doing nothing


def test_strictly_decreasing_in_the_scaling_factor() -> None:
    for p, q in random_pairs(20, seed=5):
        areas = [exact_area(p, q, c) for c in (0.1, 0.5, 1, 2, 5, 10, 50)]
        assert all(later < earlier for earlier, later in itertools.pairwise(areas))


@pytest.mark.parametrize("c", SCALES)
def test_staircases_bracket_the_exact_area(c: float) -> None:
    # the curve falls from (1, ·) to (·, 1), so that rectangles from either corner bound the area for any weights
    weights = np.r_[0, np.sort(np.random.default_rng(6).random(400)), 1]
    for p, q in random_pairs(20, seed=7):
        x, y = np.exp(-c * np.stack(frontier(p, q, weights)))
        x, y = np.r_[1, x, 0], np.r_[0, y, 1]
        widths = x[:-1] - x[1:]
        low, high = widths @ y[:-1], widths @ y[1:]
        assert low - 1e-12 <= exact_area(p, q, c) <= high + 1e-12  # rounding of 400 terms
        assert high - low < 0.1 * max(1, c / 5)  # steps of about 1/400 in λ: not an empty statement


@pytest.mark.more
def test_grid_is_within_a_thousandth_of_the_exact_area() -> None:
    # -5e-4 … +5e-4 seen on 500 buckets at c = 5 and 25 weights: twice that is asked for. With fewer
    # buckets and far distributions it can be a little more (1.08e-3 seen): twice that bound there.
    for p, q in multinomial_pairs(30, seed=8):
        assert abs(grid_area(p, q) - exact_area(p, q)) < (1e-3 if len(p) == 500 else 2e-3)


def test_finer_grids_converge_to_the_exact_area() -> None:
    # the trapezoidal error falls as 1/m² away from the ends; a factor of 16 in m must gain at least 16
    for p, q in multinomial_pairs(6, seed=9):
        exact = exact_area(p, q)
        coarse, fine = (abs(grid_area(p, q, points=m) - exact) for m in (25, 400))
        assert fine <= max(coarse / 16, 1e-5)  # 2 ends of weight 1e-6, c = 5


def test_frontier_integral_is_the_integral_of_its_definition() -> None:
    # FI = 2∫λKL(p‖r)+(1-λ)KL(q‖r) dλ; the half above ½ is the half below it with p and q swapped
    lam, weights = quadrature(16, 60)
    for p, q in random_pairs(20, seed=10):
        numeric = 0.0
        for a, b in ((p, q), (q, p)):
            kl_b, kl_a = frontier(a, b, lam)
            numeric += 2 * float((lam * kl_a + (1 - lam) * kl_b) @ weights)
        assert frontier_integral(p, q) == pytest.approx(numeric, rel=0, abs=1e-12)


def test_frontier_integral_bounds() -> None:
    for p, q in random_pairs(40, seed=11):
        total = np.where(p + q > 0, p + q, 1)
        low, tau = (
            ((p - q) ** 2 / total).sum() / 3,
            abs(p - q).sum() / 2,
        )
        assert low - 1e-14 <= frontier_integral(p, q) <= tau + 1e-14
        assert frontier_integral_terms(p, q).shape == p.shape and (frontier_integral_terms(p, q) >= 0).all()


def test_frontier_integral_series_meets_the_plain_formula() -> None:
    # |u| = |p-q|/(p+q) on both sides of 0.1, where the formula changes: no jump beyond what u itself moves
    below, above = np.array([0.1 - 1e-12]), np.array([0.1 + 1e-12])
    terms = [float(frontier_integral_terms(1 + u, 1 - u)[0]) for u in (below, above)]
    assert terms[1] == pytest.approx(terms[0], rel=1e-10)  # d log term / du = 2/u = 20, times 2e-12


def test_frontier_matches_a_naive_loop() -> None:
    weights = [0.01, 0.3, 0.5, 0.99]
    for p, q in random_pairs(10, seed=12):
        type_one, type_two = frontier(p, q, weights)
        for index, lam in enumerate(weights):
            r = [lam * a + (1 - lam) * b for a, b in zip(p, q, strict=True)]
            kl_q = math.fsum(b * math.log(b / m) for b, m in zip(q, r, strict=True) if b > 0)
            kl_p = math.fsum(a * math.log(a / m) for a, m in zip(p, r, strict=True) if a > 0)
            assert type_one[index] == pytest.approx(kl_q, rel=0, abs=1e-14 * len(p))  # one rounding a term
            assert type_two[index] == pytest.approx(kl_p, rel=0, abs=1e-14 * len(p))


def test_the_jensen_shannon_divergence_is_that_of_scipy() -> None:
    for p, q in random_pairs(10, seed=19):
        assert jensen_shannon(p, q) == pytest.approx(float(jensenshannon(p, q)) ** 2, rel=0, abs=1e-12)


def test_estimates_become_the_mean_of_the_monotone_curves_around_them() -> None:
    rng = np.random.default_rng(20)
    for m in (1, 2, 9):
        one, two = rng.normal(size=(2, m)) + 0.5
        first, second = as_frontier(one, two)
        one, two = np.maximum(one, 0), np.maximum(two, 0)
        rising = [(max(one[: i + 1]) + min(one[i:])) / 2 for i in range(m)]
        falling = [(max(two[i:]) + min(two[: i + 1])) / 2 for i in range(m)]
        np.testing.assert_allclose((first, second), (rising, falling), rtol=1e-15)


def test_the_scaling_factor_is_five_and_the_weights_are_25_unless_given() -> None:
    p, q = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    assert mauve_floor() == mauve_floor(5.0) and exact_area(p, q) == exact_area(p, q, 5.0)
    np.testing.assert_array_equal(divergence_curve(p, q), divergence_curve(p, q, 5.0, 25))


def test_frontier_directions() -> None:
    # P on two buckets, Q collapsed to one: KL(p‖q) is infinite (human text missed), KL(q‖p) = ln 2
    type_one, type_two = frontier([0.5, 0.5], [1.0, 0.0], [0.0, 1.0])
    assert type_two[0] == math.inf and type_two[1] == 0.0
    assert type_one[0] == 0.0 and type_one[1] == pytest.approx(math.log(2), rel=1e-15)


def test_divergence_curve_shape_and_order() -> None:
    p, q = multinomial_pairs(1, seed=13)[0]
    for points in (2, 25, 100):
        curve = divergence_curve(p, q, 5.0, points)
        assert curve.shape == (points + 2, 2)
        assert curve[0].tolist() == [1, 0] and curve[-1].tolist() == [0, 1]
        assert (np.diff(curve[1:, 0]) <= 0).all() and (np.diff(curve[:, 1]) >= 0).all()
        assert (curve >= 0).all() and (curve <= 1).all()
    # column 0 is exp(-c·KL(q‖r)), the first weight is 1e-6
    curve = divergence_curve([0.5, 0.5], [1.0, 0.0])
    assert curve[1, 0] == pytest.approx(math.exp(-5 * -math.log1p(-0.5e-6)), rel=1e-12)


def test_curve_area_is_between_its_rectangles_and_plain() -> None:
    assert curve_area([[1, 0], [0, 1]]) == 0.5
    assert curve_area([[1, 0], [1, 1], [0, 1]]) == 1.0
    assert curve_area([[1, 0], [0, 0], [0, 1]]) == 0.0


# --- numerical extremes -------------------------------------------------------------------------------------------


def test_extreme_probabilities() -> None:
    tiny = 1e-300
    # the tiny buckets weigh nothing: as disjoint, as p = q, and as [½,½]/[1,0] without them (differences 1e-298)
    assert exact_area([1, tiny], [tiny, 1]) == pytest.approx(1 / 252, rel=1e-11)
    assert grid_area([1, tiny], [tiny, 1]) == pytest.approx(DISJOINT_ON_GRID, rel=1e-12)
    assert exact_area([1, tiny], [1, 0]) == 1.0
    assert exact_area([0.5, 0.5, tiny], [1, tiny, 0]) == pytest.approx(0.2774765170, rel=0, abs=TEN_DIGITS)
    assert frontier_integral([1, tiny], [tiny, 1]) == pytest.approx(1, rel=1e-12)
    with np.errstate(all="raise", under="ignore"):
        assert math.isfinite(frontier_integral([0.5, 0.5, tiny], [1, tiny, 0]))
        for least in (0.0, 5e-324, tiny):  # quotients of 0, by 0 and beyond float64
            assert np.isfinite(frontier([0.5, 0.5, least, 0], [1, least, least, 0], [0.1, 0.9])).all()


@pytest.mark.more
def test_many_buckets_and_large_scaling_factors() -> None:
    rng = np.random.default_rng(14)
    p, q = rng.dirichlet(np.full(1000, 0.1), size=2)
    for c in (1e-6, 5, 100):
        assert mauve_floor(c) <= exact_area(p, q, c) <= 1
    assert exact_area(p, q, 1e-6) == pytest.approx(1, abs=1e-5)  # 1 - MAUVE ≤ 2cτ·(1 + log 2)


# --- stacks and errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1.0, 5.0])
def test_stack_equals_loop(c: float) -> None:
    rng = np.random.default_rng(15)
    p, q = rng.dirichlet(np.ones(12), size=(2, 3, 4))
    p[0, 0, :4] = 0
    p /= p.sum(axis=-1, keepdims=True)
    stacked = area_by_quadrature(p, q, c, 8, 24)
    assert stacked.shape == (3, 4)
    for index in np.ndindex(3, 4):
        # the same arithmetic in another memory layout; n=8, J=24 is within 2e-13 of the exact area
        assert stacked[index] == pytest.approx(float(area_by_quadrature(p[index], q[index], c, 8, 24)), abs=1e-14)
        assert stacked[index] == pytest.approx(exact_area(p[index], q[index], c), abs=1e-12)


def test_errors_of_a_stack_are_those_of_its_pairs() -> None:
    p, q = np.random.default_rng(18).dirichlet(np.ones(6), size=(2, 3))
    found = frontier(p, q, [0.2, 0.7])
    expected = [frontier(*pair, [0.2, 0.7]) for pair in zip(p, q, strict=True)]
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-12)
    with pytest.raises(ValueError, match="p must hold"):
        frontier(p * [[0.5], [1.5], [1.0]], q, [0.5])  # whose mean sum is 1


def test_panels_halve_towards_zero() -> None:
    nodes, weights = quadrature(3, 4)
    ends = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.0]
    assert len(nodes) == len(weights) == 3 * 5
    for panel, (high, low) in enumerate(itertools.pairwise(ends)):
        some = slice(3 * panel, 3 * panel + 3)
        assert (low < nodes[some]).all() and (nodes[some] < high).all()
        assert weights[some] @ nodes[some] ** 5 == pytest.approx((high**6 - low**6) / 6, rel=1e-12)  # exact for n = 3


def test_few_nodes_give_the_promised_digits() -> None:
    for p, q in random_pairs(20, seed=16):
        few = float(area_by_quadrature(p, q, 5.0, num_nodes=4, num_panels=6))
        assert few == pytest.approx(exact_area(p, q), rel=0, abs=1e-5)  # 1e-5 with 4 panels already


@pytest.mark.parametrize(("excess", "is_refused"), [(0.5e-6, False), (-0.5e-6, False), (2e-6, True), (-2e-6, True)])
def test_sums_may_miss_one_by_a_millionth(excess: float, is_refused: bool) -> None:
    off, exact = [0.5, 0.5 + excess], [0.25, 0.75]
    for pair in ((off, exact), (exact, off)):
        if is_refused:
            with pytest.raises(ValueError, match="must hold non-negative probabilities that sum to 1"):
                frontier(*pair, [0.5])
        else:
            assert frontier(*pair, [0.5])[0] > 0


def test_probabilities_of_less_precision_are_used_as_they_are() -> None:
    p, q = np.random.default_rng(5).dirichlet(np.ones(50), size=2).astype(np.float32)
    expected = frontier(p.astype(np.float64), q.astype(np.float64), [0.3])
    np.testing.assert_array_equal(frontier(p, q, [0.3]), expected)
    weights, curve = np.float32([0.1, 0.9]), divergence_curve([0.5, 0.5], [0.75, 0.25]).astype(np.float32)
    np.testing.assert_array_equal(frontier(p, q, weights), frontier(p, q, weights.astype(np.float64)))
    assert curve_area(curve) == curve_area(curve.astype(np.float64))


def test_arguments_are_not_mutated() -> None:
    p, q = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    p.setflags(write=False)
    q.setflags(write=False)
    exact_area(p, q), grid_area(p, q), frontier_integral(p, q)
    assert p.tolist() == [0.5, 0.5] and q.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("function", [exact_area, frontier_integral, divergence_curve])
@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.5], [1.0], r"p and q must have the same number of buckets, got shapes \(2,\) and \(1,\)"),
        (1.0, 1.0, "same number of buckets"),
        ([0.5, 0.6], [0.5, 0.5], "p must hold non-negative probabilities that sum to 1"),
        ([0.5, 0.5], [1.5, -0.5], "q must hold non-negative probabilities"),
        ([0.5, float("nan")], [0.5, 0.5], "p must hold"),
        ([0.5, 0.5], [float("inf"), 0.5], "q must hold"),
        ([3, 1], [2, 2], "p must hold non-negative probabilities that sum to 1"),
    ],
)
def test_errors(function: object, p: object, q: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(p, q)  # type: ignore[operator]


@pytest.mark.slow
def test_memory_of_the_exact_area_is_bounded() -> None:
    # c = 300 on 2000 buckets: 136 nodes on 61 panels would be arrays of 133 MB; chunks of 2^20 numbers are 8 MB
    import tracemalloc

    rng = np.random.default_rng(17)
    p, q = rng.dirichlet(np.ones(2000), size=2)
    tracemalloc.start()
    try:
        area = exact_area(p, q, 300)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert mauve_floor(300) <= area < 1
    assert peak < 120e6  # about ten temporaries
