"""Maximum mean discrepancy against loops over all pairs, torchmetrics and closed forms for Gaussians."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from mauve_metric.apps.describing.distances import mmd as module
from mauve_metric.apps.describing.distances.mmd import median_distance, mmd, mmd_gaussian

Floats = NDArray[np.float64]


def rows(seed: int, n: int, d: int = 3) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, d))


def naive(p: Floats, q: Floats, kernel: Callable[[Floats, Floats], float]) -> float:
    inside = [np.mean([kernel(a[i], a[j]) for i in range(len(a)) for j in range(len(a)) if i != j]) for a in (p, q)]
    return float(sum(inside) - 2 * np.mean([kernel(x, y) for x in p for y in q]))


def cubic(x: Floats, y: Floats) -> float:
    return float((x @ y / len(x) + 1) ** 3)


def bell(width: float) -> Callable[[Floats, Floats], float]:
    return lambda x, y: math.exp(-float((x - y) @ (x - y)) / (2 * width**2))


@pytest.mark.parametrize("tile", [4, 2048])
@pytest.mark.parametrize(("n", "m"), [(2, 2), (7, 12), (9, 5)])
def test_equal_to_the_loop_over_all_pairs(monkeypatch: pytest.MonkeyPatch, tile: int, n: int, m: int) -> None:
    monkeypatch.setattr(module, "_TILE_ROWS", tile)
    p, q = rows(0, n), rows(1, m) + 0.5
    # sums of some hundred kernel values of about 1 to 30 in another order
    assert mmd(p, q).value == pytest.approx(naive(p, q, cubic), rel=1e-12, abs=1e-12)
    assert mmd_gaussian(p, q, bandwidth=1.5).value == pytest.approx(naive(p, q, bell(1.5)), rel=1e-12, abs=1e-12)


def test_equal_to_the_kid_of_torchmetrics() -> None:
    torch = pytest.importorskip("torch")
    kid = pytest.importorskip("torchmetrics.image.kid")
    p, q = rows(2, 40, 16), rows(3, 40, 16) * 1.2
    expected = float(kid.poly_mmd(torch.tensor(p), torch.tensor(q)))
    assert mmd(p, q).value == pytest.approx(expected, rel=1e-10)  # float64, in another order


def test_a_shifted_gaussian_has_the_value_of_the_closed_form() -> None:
    d, width, shift = 3, 2.0, 1.0
    share = (1 + 2 / width**2) ** (-d / 2)
    truth = 2 * share * (1 - math.exp(-(shift**2) / (2 * (width**2 + 2))))
    values, covered = [], 0
    for seed in range(100):
        q = rows(1000 + seed, 60) + np.array([shift, 0, 0])
        value, ci, _ = mmd_gaussian(rows(seed, 50), q, bandwidth=width, permutations=99)
        assert ci is not None
        values.append(value)
        covered += ci[0] <= truth <= ci[1]
    # the mean of 100 unbiased values: within 4 of its standard errors
    assert abs(np.mean(values) - truth) < 4 * np.std(values) / 10
    assert covered >= 89  # 95 expected, 2.2 the standard deviation; 2.7 of them


def all_divisions(p: Floats, q: Floats, kernel: Callable[[Floats, Floats], float]) -> float:
    """The exact p-value: every division of the rows into sets of these sizes."""
    everything, count, larger = np.concatenate([p, q]), 0, 0
    observed = naive(p, q, kernel)
    for first in combinations(range(len(everything)), len(p)):
        chosen = np.isin(np.arange(len(everything)), first)
        count += 1
        larger += naive(everything[chosen], everything[~chosen], kernel) >= observed - 1e-12
    return larger / count


def test_the_p_value_is_that_of_all_divisions() -> None:
    p, q = rows(4, 4, 2), rows(5, 4, 2) + 1.2
    exact = all_divisions(p, q, bell(1.0))
    found = mmd_gaussian(p, q, bandwidth=1.0, permutations=1999).p_value
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 1999) + 1 / 2000)
    assert 0.03 < exact < 0.5


@pytest.mark.more
@pytest.mark.parametrize("measure", [mmd, mmd_gaussian])
@pytest.mark.parametrize("level", [0.9, 0.5])
def test_on_equal_sets_the_interval_misses_0_as_often_as_its_level_says(
    measure: Callable[..., module.Estimate], level: float
) -> None:
    draws, missed, p_values = 200, 0, []
    for seed in range(draws):
        both = np.random.default_rng(seed).exponential(size=(45, 2))
        _, ci, p_value = measure(both[:20], both[20:], seed=seed, level=level, permutations=79)
        assert ci is not None
        assert p_value is not None
        missed += not ci[0] <= 0 <= ci[1]
        p_values.append(p_value)
    expected = draws * (1 - level)
    # binomial at most: 3 standard deviations above; the normal part makes it less
    assert missed <= expected + 3 * math.sqrt(expected * level)
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_sets_that_share_their_rows_are_not_called_different() -> None:
    p = rows(20, 60)
    for measure in (mmd, mmd_gaussian):
        value, ci, p_value = measure(p, p[::-1])
        assert ci is not None
        assert value < 0 <= ci[1]
        assert p_value is not None
        assert p_value > 0.9


def test_an_interval_needs_enough_divisions() -> None:
    p, q = rows(6, 20), rows(7, 20)
    assert mmd(p, q, permutations=39).ci is not None
    assert mmd(p, q, permutations=38).ci is None
    assert mmd(p, q, level=0.99).ci is not None
    assert mmd(p, q, level=0.999).ci is None


def test_the_value_does_not_depend_on_order_seed_or_sides_and_the_gaussian_not_on_place() -> None:
    p, q = rows(8, 30), rows(9, 20) + 1
    expected, gaussian = mmd(p, q).value, mmd_gaussian(p, q).value
    assert mmd(p[::-1], q, seed=3).value == pytest.approx(expected, rel=1e-12)
    assert mmd(q, p).value == pytest.approx(expected, rel=1e-12)
    # rows 1e6 away lose 6 of 16 digits
    assert mmd_gaussian(p + 1e6, q + 1e6).value == pytest.approx(gaussian, rel=1e-8)
    assert mmd_gaussian(1000 * p, 1000 * q).value == pytest.approx(gaussian, rel=1e-12)


def test_the_same_seed_gives_the_same_and_float32_rows_that_of_float64() -> None:
    p, q = rows(10, 30).astype(np.float32), rows(11, 20).astype(np.float32)
    before = p.copy()
    assert mmd(p, q) == mmd(p, q) == mmd(p.astype(np.float64), q.astype(np.float64))
    assert mmd(p, q, seed=1).p_value != mmd(p, q, seed=2).p_value
    np.testing.assert_array_equal(p, before)


def test_the_median_rule() -> None:
    p, q = rows(12, 20), rows(13, 31) + 1
    both = np.concatenate([p, q])
    distances = [math.dist(a, b) for a, b in combinations(both, 2)]
    assert median_distance(p, q) == pytest.approx(float(np.median(distances)), rel=1e-14)
    assert mmd_gaussian(p, q).value == pytest.approx(mmd_gaussian(p, q, bandwidth=float(np.median(distances))).value)
    copies = np.concatenate([np.zeros((30, 2)), np.array([[3.0, 4.0]])])
    assert median_distance(copies, np.zeros((5, 2))) == 5.0
    large = np.random.default_rng(14).normal(size=(6000, 2))
    # distances of two draws in the plane: √2 times a Rayleigh variable, with median 2·√(log 2)
    assert median_distance(large[:3000], large[3000:], seed=0) == pytest.approx(2 * math.sqrt(math.log(2)), rel=0.05)


@pytest.mark.parametrize("measure", [mmd, mmd_gaussian])
def test_rows_that_are_all_the_same_are_no_difference(measure: Callable[..., module.Estimate]) -> None:
    value, ci, p_value = measure(np.ones((5, 2)), np.ones((4, 2)))
    assert value == pytest.approx(0, abs=1e-14)
    assert ci is not None
    assert ci[0] <= 1e-14
    assert p_value == 1.0


@pytest.mark.parametrize("measure", [mmd, mmd_gaussian])
def test_what_cannot_be_computed_is_refused(measure: Callable[..., module.Estimate]) -> None:
    p = rows(15, 5)
    for arguments, message in (
        ((p[:1], p), r"^p must have at least 2 rows of features, got an array of shape \(1, 3\)"),
        ((p, p[:1]), r"^q must have at least 2 rows"),
        ((p, p[:, :2]), "^p and q must have rows of one length, got 3 and 2"),
    ):
        with pytest.raises(ValueError, match=message):
            measure(*arguments)
    with pytest.raises(ValueError, match=r"^level must be inside \(0, 1\), got 95"):
        measure(p, p, level=95)
    with pytest.raises(ValueError, match=r"^permutations must be at least 1, got 0"):
        measure(p, p, permutations=0)


@pytest.mark.filterwarnings("error")
def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^p and q must be finite, and not too large"):
        mmd(rows(16, 5) * 1e120, rows(17, 5))
    with pytest.raises(ValueError, match=r"^p and q must be finite"):
        mmd(np.full((5, 3), np.nan), rows(17, 5))
    for width in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match=r"^bandwidth must be above 0, got"):
            mmd_gaussian(rows(18, 5), rows(19, 5), bandwidth=width)
