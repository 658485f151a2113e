"""Clipped density and coverage against the loop, another package and their calibration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from prdc import compute_prdc
from scipy.spatial.distance import cdist

from mauve_metric.apps.describing.distances.clipped_support import _expected_coverage, clipped_coverage, clipped_density
from mauve_metric.measures.knn_precision_recall import ball_counts

Floats = NDArray[np.float64]


def rows(seed: int, n: int, d: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, d))


def radii(p: Floats, k: int) -> Floats:
    return np.array([np.sort(np.delete(row, i))[k - 1] for i, row in enumerate(cdist(p, p))])


def naive_density(p: Floats, q: Floats, k: int) -> float:
    reach = np.minimum(radii(p, k), np.median(radii(p, k)))
    model = np.minimum((cdist(q, p) <= reach).sum(axis=1) / k, 1).mean()
    human = np.minimum(((cdist(p, p) <= reach).sum(axis=1) - 1) / k, 1).mean()
    return min(float(model / human), 1.0)


def drawn_coverage(n: int, m: int, k: int, total: int, draws: int = 400) -> float:
    """Mean clipped coverage of m good rows among `total`, drawn on a line: it depends on ranks alone."""
    rng, found = np.random.default_rng(0), []
    for _ in range(draws):
        p, q = rng.uniform(size=(n, 1)), np.append(rng.uniform(size=m), np.full(total - m, 99.0))[:, None]
        found.append(np.minimum((cdist(p, q) <= radii(p, k)[:, None]).sum(axis=1) / k, 1).mean())
    return float(np.mean(found))


@pytest.mark.parametrize(("n", "m", "d", "k"), [(30, 40, 3, 5), (41, 12, 2, 1), (6, 9, 4, 5), (50, 50, 30, 4)])
def test_density_is_that_of_the_loop(n: int, m: int, d: int, k: int) -> None:
    p, q = rows(0, n, d), 1.2 * rows(1, m, d) + 0.2
    # counts, exact: one division
    assert clipped_density(p, q, k=k) == pytest.approx(naive_density(p, q, k), rel=1e-14)


@pytest.mark.parametrize(
    ("n", "m", "d", "k", "shift", "scale", "density", "coverage"),
    [
        # seqme 0.5.1, _compute_clipped_density and _compute_clipped_coverage in float64; it widens radii by 1e-8
        (60, 60, 3, 5, 0.0, 1.0, 0.946601924, 56 / 60),
        (60, 60, 3, 5, 0.7, 1.0, 0.815534021, 32 / 60),
        (50, 80, 8, 3, 0.0, 0.5, 1.0, 1.0),
        (80, 40, 2, 4, 0.5, 2.0, 0.578947368, 29 / 40),
        (300, 200, 4, 5, 0.0, 1.3, 0.648648654, 143 / 200),
    ],
)
def test_seqme_gives_the_same(
    n: int, m: int, d: int, k: int, shift: float, scale: float, density: float, coverage: float
) -> None:
    p, q = rows(0, n, d), rows(1, m, d) * scale + shift
    assert clipped_density(p, q, k=k) == pytest.approx(density, abs=1e-7)
    assert clipped_coverage(p, q, k=k) == pytest.approx(coverage, abs=1e-12)


@pytest.mark.parametrize(("n", "total", "k"), [(20, 15, 2), (12, 30, 3)])
def test_coverage_is_calibrated_by_the_expectation(n: int, total: int, k: int) -> None:
    expected = _expected_coverage(n, total, k)
    for m in (0, 1, total // 2, total - 1):
        # means over 400 draws of numbers that scatter by less than 0.15: 4 · 0.15 / 20
        assert expected[m] == pytest.approx(drawn_coverage(n, m, k, total), abs=0.03)


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("measure", [clipped_density, clipped_coverage])
def test_a_share_of_good_rows_is_the_score(measure: Callable[..., float], share: float) -> None:
    found = []
    for seed in range(10):
        p, q = rows(seed, 200, 4), rows(100 + seed, 200, 4)
        q[int(share * 200) :] += 50
        found.append(measure(p, q))
    # single scores scatter by about 0.05; at share 1 clipping at 1 takes some of it off
    assert np.mean(found) == pytest.approx(share, abs=0.06)


def test_an_outlier_inflates_density_and_not_the_clipped_one() -> None:
    p = np.concatenate([rows(2, 100, 2), np.full((4, 2), 30.0) + rows(3, 4, 2)])  # balls of human outliers reach far
    q = rows(4, 100, 2) + np.array([9.0, 9.0])  # nowhere near the human texts, but between them and the outliers
    density = compute_prdc(p, q, nearest_k=5)["density"]
    assert density > 0.5
    assert clipped_density(p, q) == 0.0
    many = np.concatenate([rows(5, 60, 2), np.zeros((40, 2))])  # copies in the middle of many balls
    assert compute_prdc(rows(6, 100, 2), many, nearest_k=5)["density"] > 1.1
    assert clipped_density(rows(6, 100, 2), many) <= 1.0


def test_without_clipping_the_counts_are_those_of_prdc() -> None:
    p, q = rows(7, 60, 3), rows(8, 50, 3) * 1.1
    around, inside = ball_counts(p, q, k=4)
    expected = compute_prdc(p, q, nearest_k=4)
    assert around.mean() / 4 == pytest.approx(expected["density"], rel=1e-14)
    assert (inside > 0).mean() == pytest.approx(expected["coverage"], rel=1e-14)


def test_copies_of_rows_count_as_often_as_they_occur() -> None:
    p = np.concatenate([rows(9, 20, 2), rows(9, 20, 2)[:7], rows(9, 20, 2)[:3]])
    q = np.concatenate([p[:15], p[:5], rows(10, 9, 2)])
    for k in (1, 2, 5):
        assert clipped_density(p, q, k=k) == pytest.approx(naive_density(p, q, k), rel=1e-14)
    same = np.ones((10, 2))
    assert clipped_density(same, same) == clipped_coverage(same, same) == 1.0


@pytest.mark.parametrize("measure", [clipped_density, clipped_coverage])
def test_rotation_place_and_units_do_not_matter(measure: Callable[..., float]) -> None:
    p, q = rows(11, 50, 4), rows(12, 60, 4) * 1.3
    turn = np.linalg.qr(rows(13, 4, 4))[0]
    expected = measure(p, q)
    assert 0 < expected < 1
    assert measure(p @ turn * 1e3 + 5, q @ turn * 1e3 + 5) == expected
    assert measure(p.astype(np.float32), q.astype(np.float32)) == expected


@pytest.mark.parametrize("measure", [clipped_density, clipped_coverage])
def test_what_cannot_be_computed_is_refused(measure: Callable[..., float]) -> None:
    p = rows(14, 6, 3)
    with pytest.raises(ValueError, match=r"^p must have more than k=5 rows for nearest neighbours, got 5"):
        measure(p[:5], p)
    with pytest.raises(ValueError, match=r"^q must have at least 1 row of features, got an array"):
        measure(p, p[:0])
    with pytest.raises(ValueError, match=r"^p and q must have rows of one length, got 3 and 2"):
        measure(p, p[:, :2])
    with pytest.raises(ValueError, match=r"^k must be at least 1, got 0"):
        measure(p, p, k=0)
