"""Intervals of nearest-neighbour precision and recall against redraws of both sets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t

from mauve_metric.measures.knn_precision_recall import ROUNDING, support_scores
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.uncertainty.mean_intervals import wilson_interval
from mauve_metric.uncertainty.precision_recall_intervals import (
    SPLITS,
    SupportErrors,
    SupportIntervals,
    _Balls,
    support_errors,
    support_intervals,
)

Floats = NDArray[np.float32]
REDRAWS, N = 40, 60


def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Two normal sets of which precision is high and recall is low."""
    return rng.normal(size=(N, 3)).astype("f4"), (0.6 * rng.normal(size=(N, 3)) + 0.5).astype("f4")


def intervals_of(p: Floats, q: Floats, seed: int = 0, groups: bool = False) -> SupportIntervals:
    codes = (np.arange(len(p)) // 2, len(p) + np.arange(len(q)) // 2) if groups else None
    return support_intervals(support_scores(p, q), support_errors(p, q, codes, 4, seed), 0.95)


@pytest.mark.more
def test_intervals_hold_for_other_texts_on_both_sides() -> None:
    rng = np.random.default_rng(0)
    scores, found = [], []
    for seed in range(REDRAWS):
        p, q = draw(rng)
        scores.append(support_scores(p, q)[:2])
        found.append(intervals_of(p, q, seed))
    means = np.mean(scores, axis=0)
    for number, name in enumerate(("precision_ci", "recall_ci")):
        ends = [getattr(one, name) for one in found]
        inside = np.mean([low <= means[number] <= high for low, high in ends])
        assert inside >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / REDRAWS), (name, inside)
        assert all(low <= one[number] <= high for one, (low, high) in zip(scores, ends, strict=True))
        # of REDRAWS values the deviation is off by 11 %: four times as much, and the width of Student's quantile
        deviation = np.std([one[number] for one in scores], ddof=1)
        assert 0.5 < np.mean([high - low for low, high in ends]) / (4 * deviation) < 2


def test_two_halves_reach_what_two_human_sets_reach() -> None:
    rng = np.random.default_rng(1)
    halves = [intervals_of(rng.normal(size=(N, 3)).astype("f4"), draw(rng)[1]).human_halves for _ in range(10)]
    sets = [support_scores(*(rng.normal(size=(N // 2, 3)).astype("f4") for _ in "pq"))[0] for _ in range(40)]
    error = np.hypot(np.std(halves, ddof=1) / np.sqrt(10), np.std(sets, ddof=1) / np.sqrt(40))
    assert abs(np.mean(halves) - np.mean(sets)) < 4 * error


@pytest.mark.parametrize(("n_p", "n_q", "shrink"), [(80, 40, 1.0), (40, 80, 1.0), (80, 120, 0.75)])
def test_the_variance_of_a_sample_is_that_of_as_many_texts_as_there_are(
    n_p: int, n_q: int, shrink: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of samples of 60 whose halves score .4 and .6: a standard deviation of .1, and 25 texts with this variance."""

    class Halves:
        def __init__(self, *_: object) -> None:
            pass

        def scores_of_halves(self, *_: object) -> np.ndarray:
            return np.array([[0.4, 0.6]] * 2)

    monkeypatch.setattr("mauve_metric.uncertainty.precision_recall_intervals.MOST_ROWS", 60)
    monkeypatch.setattr("mauve_metric.uncertainty.precision_recall_intervals._Balls", Halves)
    rows = np.random.default_rng(0).normal(size=(n_p + n_q, 2)).astype("f4")
    scores = support_scores(rows[:n_p], rows[n_p:])._replace(precision=0.5, recall=0.5)
    found = support_intervals(scores, support_errors(rows[:n_p], rows[n_p:], None, 4, 0), 0.95)
    expected = wilson_interval(0.5, 25 / shrink, t_quantile(0.95, SPLITS))
    assert found.precision_ci == pytest.approx(expected) and found.recall_ci == pytest.approx(expected)


@pytest.mark.parametrize(
    ("variance", "texts"), [(0.0, (60, 200)), (1e-9, (60, 200)), (0.005, (50, 50)), (0.0025, (60, 100))]
)
def test_precision_has_at_most_the_model_texts_and_recall_the_human_ones(
    variance: float, texts: tuple[int, int]
) -> None:
    """As many as have the variance, of a share of a half: a quarter over it."""
    p = np.random.default_rng(0).normal(size=(60, 2)).astype("f4")
    scores = support_scores(p, p)._replace(precision=0.5, recall=0.5)
    found = support_intervals(scores, SupportErrors(np.full(2, variance), (60, 200), 0.7), 0.9)
    unknown = support_intervals(scores, SupportErrors(None, (60, 200), 0.7), 0.9)
    assert unknown == SupportIntervals(human_halves=0.7)
    z = t.ppf(0.95, SPLITS)
    assert found.recall_ci == pytest.approx(wilson_interval(0.5, texts[0], z))
    assert found.precision_ci == pytest.approx(wilson_interval(0.5, texts[1], z)) and found.human_halves == 0.7


def test_a_half_has_more_rows_than_the_number_of_the_neighbour() -> None:
    """Each half of 26 human texts has 13; those of both sets together have about a half of each."""
    rows = np.random.default_rng(1).normal(size=(100, 2)).astype("f4")
    for n_p, is_known in ((26, True), (25, False)):
        found = support_errors(rows[:n_p], rows[n_p:], None, 12, 0)
        assert (found.human_halves is not None) is is_known
    alone = np.arange(50), 50 + np.arange(50)
    variances = support_errors(rows[:50], rows[50:], None, 12, 0).variances
    assert variances is not None and (variances == support_errors(rows[:50], rows[50:], alone, 12, 0).variances).all()
    assert support_errors(rows[:50], rows[50:], None, 30, 0).variances is None


@pytest.mark.parametrize(("rows", "k", "is_known"), [(10, 3, True), (9, 3, False), (13, 12, True), (12, 12, False)])
def test_halves_of_ten_rows_and_of_one_more_than_the_neighbour_have_errors(rows: int, k: int, is_known: bool) -> None:
    """Of two groups on either side, each half has one."""
    p, q = np.random.default_rng(2).normal(size=(2, 2 * rows, 2)).astype("f4")
    codes = np.arange(2 * rows) // rows
    found = support_errors(p, q, (codes, codes), k, 0)
    assert (found.variances is not None, found.human_halves is not None) == (is_known, is_known)


def test_texts_of_a_group_are_one_draw() -> None:
    p, q = (np.repeat(side[: N // 2], 2, axis=0) for side in draw(np.random.default_rng(2)))
    alone, together = intervals_of(p, q), intervals_of(p, q, groups=True)
    assert alone.recall_ci is not None and together.recall_ci is not None
    assert together.recall_ci[1] - together.recall_ci[0] > alone.recall_ci[1] - alone.recall_ci[0]


def test_the_seed_fixes_them_and_few_texts_have_none() -> None:
    p, q = draw(np.random.default_rng(3))
    assert intervals_of(p, q) == intervals_of(p, q) != intervals_of(p, q, seed=1)
    few = intervals_of(p[:19], q)
    assert few == SupportIntervals() and intervals_of(p, q[:19]).precision_ci is None


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shares_at_an_end_have_an_interval_inside(share: float) -> None:
    p = np.random.default_rng(4).normal(size=(N, 3)).astype("f4")
    found = intervals_of(p, p + np.float32(0 if share else 99))
    assert found.precision_ci is not None and share in found.precision_ci
    low, high = found.precision_ci
    assert 0 <= low < high <= 1 and high - low < 0.2


@pytest.mark.parametrize("scale", [1.0, 1e5, 1e-7])
@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.1])  # of a tenth, the nearest of a half are among many of the other
def test_scores_of_halves_are_those_of_the_halves_alone(share: float, copies: bool, scale: float) -> None:
    rng = np.random.default_rng(5)
    p, q = (side * np.float32(scale) for side in draw(rng))
    if copies:  # ties
        p, q = p[rng.integers(0, 20, N)], np.concatenate([p[:9], q[rng.integers(0, 20, N - 9)]])
    p_first, q_first = (rng.random(N) < share for _ in "pq")
    halves = [(p[p_first], q[q_first]), (p[~p_first], q[~q_first])]
    expected = [support_scores(*pair, 4, tolerance=ROUNDING)[:2] for pair in halves]
    assert _Balls(p, q, 4).scores_of_halves(p_first, q_first).tolist() == [
        list(pair) for pair in zip(*expected, strict=True)
    ]
