"""Authenticity and the copying test against loops, seqme's numbers and SciPy's Mann–Whitney test."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import binomtest, fisher_exact, kstest, mannwhitneyu

from mauve_metric.apps.describing.distances.authenticity import _mann_whitney, _nearest, authenticity, data_copying
from mauve_metric.arrays import MeasuredValue

Floats = NDArray[np.float64]


def rows(seed: int, n: int, d: int = 3) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, d))


def naive_authenticity(model: Floats, training: Floats) -> float:
    count = 0
    for row in model:
        distances = [math.dist(row, other) for other in training]
        nearest = int(np.argmin(distances))
        own = min(math.dist(training[nearest], other) for i, other in enumerate(training) if i != nearest)
        count += distances[nearest] > own
    return count / len(model)


@pytest.mark.parametrize(("n", "m"), [(30, 20), (2, 5), (12, 40)])
def test_authenticity_is_that_of_the_loop(n: int, m: int) -> None:
    training, model, human = rows(0, n), 1.1 * rows(1, m), rows(2, 25)
    value, ci, p_value = authenticity(human, model, training)
    assert value == naive_authenticity(model, training)
    assert ci is not None
    exact = binomtest(round(value * m), m).proportion_ci(0.95)
    assert ci == pytest.approx((exact.low, exact.high), abs=1e-9)  # the roots that SciPy looks for
    counts = [
        [round(share * len(side)), len(side)]
        for side in (model, human)
        for share in [naive_authenticity(side, training)]
    ]
    expected = fisher_exact([[count, total - count] for count, total in counts]).pvalue
    assert p_value == pytest.approx(float(expected))


def test_seqme_gives_the_same_authenticity() -> None:
    # seqme 0.5.1, compute_authenticity (scikit-learn's neighbours)
    for n, d, scale, shift, expected in (
        (60, 3, 1.0, 0.0, 26 / 60),
        (40, 2, 2.0, 0.5, 17 / 40),
        (200, 4, 1.3, 0.0, 0.58),
    ):
        model = rows(1, n, d) * scale + shift
        assert authenticity(rows(0, 9, d), model, rows(2, 70, d)).value == pytest.approx(expected)


def test_copies_are_not_authentic_and_strangers_are() -> None:
    human, training = rows(3, 60), rows(4, 80)
    assert authenticity(human, training[:50], training).value == 0.0
    assert authenticity(human, training[:50] + 1e-6, training).value == 0.0
    assert authenticity(human, rows(5, 50) + 40, training).value == 1.0
    doubled = np.concatenate([training, training])  # a training text with a copy: a third one is no stranger than that
    assert authenticity(human, training[:50], doubled).value == 0.0


def naive_copying(human: Floats, model: Floats, training: Floats) -> float:
    """One cell: the normal statistic of Mann and Whitney, without correction for continuity, from its p-value."""
    of_human, of_model = (cdist(side, training).min(axis=1) for side in (human, model))
    u = sum((b > a) + 0.5 * (b == a) for a in of_human for b in of_model)
    n, m = len(human), len(model)
    return float((u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12))


@pytest.mark.parametrize(("factor", "shift"), [(1.0, 0.0), (0.5, 0.0), (1.0, 2.0)])
def test_one_cell_is_the_mann_whitney_test(factor: float, shift: float) -> None:
    human, model, training = rows(6, 40), factor * rows(7, 30) + shift, rows(8, 50)
    value, ci, p_value = data_copying(human, model, training, num_cells=1)
    assert value == pytest.approx(naive_copying(human, model, training), rel=1e-10)
    distances = (cdist(side, training).min(axis=1) for side in (model, human))
    expected = mannwhitneyu(*distances, method="asymptotic", use_continuity=False)
    assert p_value == pytest.approx(float(expected.pvalue), rel=1e-8)
    assert ci is not None
    assert ci[0] <= value - 1.95 < value + 1.95 <= ci[1]  # no narrower than under equality


def test_ties_count_half() -> None:
    rng = np.random.default_rng(9)
    for _ in range(5):
        human, model = rng.integers(0, 4, 12).astype(float), rng.integers(1, 5, 9).astype(float)
        score, variance = _mann_whitney(human, model)
        expected = mannwhitneyu(model, human, method="asymptotic", use_continuity=False)
        half = 12 * 9 / 2
        assert math.copysign(1, score) == math.copysign(1, expected.statistic - half)
        assert math.erfc(abs(score) / math.sqrt(2)) == pytest.approx(float(expected.pvalue), rel=1e-10)
        shares = [
            [np.mean((b > human) + 0.5 * (b == human)) for b in model],
            [np.mean((model > a) + 0.5 * (model == a)) for a in human],
        ]
        delong = sum(np.var(side, ddof=1) / len(side) for side in shares)
        at_equality = ((expected.statistic / 108 - 0.5) / score) ** 2
        assert variance == pytest.approx(max(float(delong / at_equality), 1.0), rel=1e-9)
    assert _mann_whitney(np.ones(4), np.ones(3)) == (0.0, 1.0)


def test_cells_are_weighted_by_human_rows() -> None:
    places = np.array([[0.0, 0.0, 0.0], [100.0, 0.0, 0.0], [0.0, 100.0, 0.0]])
    training = np.concatenate([rows(10 + i, 40) + place for i, place in enumerate(places)])
    human = np.concatenate(
        [rows(20 + i, n) + place for i, (n, place) in enumerate(zip((30, 10, 25), places, strict=True))]
    )
    # the third cell has 19 rows of the model and does not count
    sizes = (25, 40, 19)
    model = np.concatenate(
        [0.8 * rows(30 + i, m) + place for i, (m, place) in enumerate(zip(sizes, places, strict=True))]
    )
    scores = [naive_copying(human[a:b], model[c:d], training) for a, b, c, d in ((0, 30, 0, 25), (30, 40, 25, 65))]
    expected = (30 * scores[0] + 10 * scores[1]) / 40
    found = [data_copying(human, model, training, num_cells=3, seed=seed).value for seed in range(8)]
    assert any(value == pytest.approx(expected, rel=1e-9) for value in found)  # k-means finds the three for most seeds
    one = data_copying(human, model, training, num_cells=3, seed=1)
    assert one == data_copying(human, model, training, num_cells=3, seed=1)


def test_the_nearest_row() -> None:
    one, other = rows(40, 37), rows(41, 25)
    index, distance = _nearest(one, other)
    np.testing.assert_array_equal(index, cdist(one, other).argmin(axis=1))
    np.testing.assert_allclose(distance, cdist(one, other).min(axis=1), rtol=1e-12)
    index, distance = _nearest(one, one, same=True)
    own = cdist(one, one) + np.diag(np.full(37, np.inf))
    np.testing.assert_array_equal(index, own.argmin(axis=1))
    np.testing.assert_allclose(distance, own.min(axis=1), rtol=1e-12)


@pytest.mark.slow
def test_on_equal_sets_0_is_missed_as_often_as_the_level_says() -> None:
    draws, level, missed, fisher = 100, 0.9, 0, 0
    p_values = []
    for seed in range(draws):
        drawn = np.random.default_rng(seed).exponential(size=(150, 2))
        human, model, training = drawn[:45], drawn[45:100], drawn[100:]
        _, ci, p_value = data_copying(human, model, training, num_cells=1 + seed % 2, seed=seed, level=level)
        assert ci is not None
        assert p_value is not None
        missed += not ci[0] <= 0 <= ci[1]
        p_values.append(p_value)
        other = authenticity(human, model, training).p_value
        assert other is not None
        fisher += other <= 1 - level
    most = draws * (1 - level) + 4 * math.sqrt(draws * level * (1 - level))  # binomial, 4 standard deviations
    assert missed <= most
    assert fisher <= most
    assert kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("measure", [authenticity, data_copying])
def test_what_cannot_be_computed_is_refused(measure: Callable[..., MeasuredValue]) -> None:
    p = rows(42, 30)
    for arguments, message in (
        ((p[:0], p, p), r"^human must have at least 1 row"),
        ((p, p[:0], p), r"^model must have at least 1 row"),
        ((p, p, p[:1]), r"^training must have at least 2 rows of features, got an array of shape \(1, 3\)"),
        ((p, p, p[:, :2]), "^human, model and training must have rows of one length, got 3, 3 and 2"),
    ):
        with pytest.raises(ValueError, match=message):
            measure(*arguments)
    with pytest.raises(ValueError, match=r"^level must be inside \(0, 1\), got 95"):
        measure(p, p, p, level=95)


def test_too_few_rows_for_a_cell_are_refused() -> None:
    p = rows(43, 30)
    with pytest.raises(
        ValueError, match=r"^data_copying needs a cell with a human row and 20 model rows, got none: 30 h"
    ):
        data_copying(p, p[:19], p)
    with pytest.raises(ValueError, match=r"^num_cells must be from 1 to the 30 rows of training, got 31"):
        data_copying(p, p, p, num_cells=31)
