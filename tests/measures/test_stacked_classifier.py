"""The stacked classifier sees what a linear one does not, and its weights are those of scipy's bounded regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from scipy.linalg import eigh
from scipy.optimize import nnls
from sklearn.neighbors import NearestNeighbors

from mauve_metric.arrays import Array, Integers
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.measures import stacked_classifier
from mauve_metric.measures.cross_fitting import cross_fit
from mauve_metric.measures.linear_classifier import Standardised, fit_and_score
from mauve_metric.measures.stacked_classifier import (
    _axes_of_folds,
    _first_eigenvectors,
    _least_squares,
    _nearest,
    _votes,
    combined_scores,
    largest_eigenvectors,
    views,
)
from mauve_metric.runtime.threads import one_blas_thread, run_when_asked

Sets = tuple[Array, Array]


@pytest.mark.parametrize("nearly_one", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_weights_are_those_of_scipys_regression_with_bounds(seed: int, nearly_one: bool) -> None:
    """(C + δδᵀ/4) with a ridge, by its square root: nnls minimises ‖A w - b‖ with AᵀA the sum and Aᵀb = δ/2."""
    rng = np.random.default_rng(seed)
    rows, difference = rng.normal(size=(200, 6)) @ (np.eye(6) + 0.2 * rng.normal(size=(6, 6))), rng.normal(size=6)
    if nearly_one:  # as the two directions of the linear classifier are
        rows[:, 1], difference[1] = rows[:, 0] + 0.01 * rows[:, 1], difference[0]
    covariance = np.cov(rows.T)
    total = covariance + np.outer(difference, difference) / 4
    scale = 1 / np.sqrt(total.diagonal())
    root = np.linalg.cholesky(total * np.outer(scale, scale) + 1e-3 * np.eye(6)).T
    expected = scale * nnls(root, np.linalg.solve(root.T, difference / 2 * scale))[0]
    found = _least_squares(covariance[None], difference[None], 6)[0]
    assert (found >= 0).all() and (found == 0).any() and (found > 0).any()
    np.testing.assert_allclose(found, expected, atol=1e-9 * expected.max())
    free = _least_squares(covariance[None], difference[None], 0)[0]
    exact = np.linalg.solve(root.T @ root, difference / 2 * scale) * scale
    np.testing.assert_allclose(free, exact, atol=1e-9 * np.abs(exact).max())
    assert (free < 0).any()


@pytest.mark.parametrize("converges", [True, False])
def test_eigenvectors_of_a_device_are_those_of_scipy(converges: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(2).normal(size=(30, 8)).astype(np.float32) * np.geomspace(9, 1, 8, dtype=np.float32)
    expected = _first_eigenvectors(rows.T @ rows, 3, None)
    if not converges:
        monkeypatch.setattr(torch.linalg, "eigh", Mock(side_effect=torch.linalg.LinAlgError))
    found = _first_eigenvectors(rows.T @ rows, 3, torch.device("cpu"))
    assert found.shape == (8, 3) and found.dtype == np.float32
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1, atol=1e-4)


def test_each_of_several_problems_has_its_own_weights() -> None:
    rng = np.random.default_rng(15)
    covariances = np.array([np.cov((rng.normal(size=(50, 5)) @ rng.normal(size=(5, 5))).T) for _ in range(12)])
    differences = rng.normal(size=(12, 5))
    covariances[3, 2], covariances[3, :, 2], differences[3, 2] = 0, 0, 0  # a view that does not vary
    expected = [_least_squares(*pair, 4) for pair in zip(covariances[:, None], differences[:, None], strict=True)]
    found = _least_squares(covariances.reshape(3, 4, 5, 5), differences.reshape(3, 4, 5), 4)
    np.testing.assert_allclose(found.reshape(12, 5), np.concatenate(expected), rtol=1e-9)
    assert (found[..., :4] >= 0).all() and len(np.unique((found > 0).reshape(12, 5), axis=0)) > 5


@pytest.mark.parametrize("d", [6, 50])
def test_the_axes_of_a_fold_are_those_of_the_others(d: int) -> None:
    rows = np.random.default_rng(3).normal(size=(40, d)) * np.geomspace(3, 1, d)
    fold_of = np.arange(40) % 4
    for fold, axes in enumerate(_axes_of_folds(rows, fold_of, 3, None, run_when_asked)):
        expected = np.linalg.svd(rows[fold_of != fold])[2][:3]
        np.testing.assert_allclose(np.abs(expected @ axes), np.eye(3), atol=1e-5)  # float32, and either sign


def test_there_are_no_more_axes_than_rows_of_the_other_folds() -> None:
    rows, fold_of = np.random.default_rng(12).normal(size=(12, 50)).astype(np.float32), np.arange(12) % 3
    rows[:, 30:] = 0
    for d, width, number in ((50, 64, 8), (50, 5, 5), (4, 64, 4)):
        axes = _axes_of_folds(rows[:, :d], fold_of, width, None, run_when_asked)
        assert [of_fold.shape for of_fold in axes] == [(d, number)] * 3


@pytest.mark.parametrize(("most", "width"), [(60 * 25 + 59, 25), (60 * 10, 20), (60 * 1000, 64)])
def test_axes_are_as_many_as_fit_and_of_some_rows(most: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, fit = [], stacked_classifier._axes_of_folds

    def spy(sample: Array, fold_of: Integers, number: int, *options: Any) -> list[Array]:
        asked.append((len(sample), len(fold_of), number))
        return fit(sample, fold_of, number, *options)

    monkeypatch.setattr(stacked_classifier, "_axes_of_folds", spy)
    monkeypatch.setattr(stacked_classifier, "_MOST_LEADING", most)
    monkeypatch.setattr(stacked_classifier, "_MOST_OF_AXES", 22)
    rows, fold_of = Standardised(np.random.default_rng(14).normal(size=(60, 3))), np.arange(60) // 2 % 5
    sides = (np.arange(60) % 2).astype(np.float32)[:, None]
    views(rows, fold_of, sides, np.ones(60, dtype=bool), np.arange(60), 25)
    assert asked == [(44, 44, width)]


def test_of_large_sets_some_rows_are_fitted_to_and_some_are_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 10 020 texts a side: 10 000 for squares, 4096 for axes, and 2000 among which neighbours are looked for."""
    n, numbers = 20_040, {"axes": 0, "squares": 0, "neighbours": 0}

    def axes(sample: Array, *_: Any) -> list[Array]:
        numbers["axes"] += len(sample)
        return [np.eye(2, dtype=np.float32)] * 5

    def squares(sample: Any, *_: Any) -> Array:
        numbers["squares"] += len(sample.numbers)
        return np.zeros((n, 1), dtype=np.float32)

    def nearest(rows: Array, references: Array, number: int, _: Any) -> tuple[Integers, Array]:
        numbers["neighbours"] += len(references)
        return np.zeros((len(rows), number), dtype=np.int64), np.zeros((len(rows), number), dtype=np.float32)

    for name, spy in (("_axes_of_folds", axes), ("_squares_view", squares), ("_nearest", nearest)):
        monkeypatch.setattr(stacked_classifier, name, spy)
    rows, fold_of = Standardised(np.random.default_rng(17).normal(size=(n, 2))), np.arange(n) // 2 % 5
    sides = (np.arange(n) % 2).astype(np.float32)[:, None]
    views(rows, fold_of, sides, np.ones(n, dtype=bool), np.arange(n), 25)
    # each of the neighbours is one for the rows of four folds
    assert numbers == {"axes": 2 * 4096, "squares": 2 * 10_000, "neighbours": 4 * 2 * 2000}


def test_rows_are_drawn_from_the_sides_that_are_not_permuted(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draw = [], stacked_classifier._Sample.of
    monkeypatch.setattr(stacked_classifier._Sample, "of", lambda *options: drawn.append(options[3]) or draw(*options))
    rng = np.random.default_rng(13)
    is_model, rows, fold_of = np.arange(60) % 2 == 0, Standardised(rng.normal(size=(60, 3))), np.arange(60) // 2 % 5
    sides = np.stack([is_model, rng.permutation(is_model), rng.permutation(is_model)], axis=1).astype(np.float32)
    views(rows, fold_of, sides, np.ones(60, dtype=bool), np.arange(60), 25)
    np.testing.assert_array_equal(drawn, [is_model])


def test_views_are_combined_by_the_moments_of_the_other_folds_for_each_division() -> None:
    rng = np.random.default_rng(2)
    sides, fold_of = rng.integers(2, size=(90, 2)).astype(np.float32), np.arange(90) % 3
    rising, free = [sides + rng.normal(size=(90, 2)) for _ in range(2)], [rng.normal(size=(90, 1))]
    seen = rng.random(90) < 0.8
    found = combined_scores(rising, free, sides, fold_of, seen)
    for column, fold in np.ndindex(2, 3):
        rows = np.column_stack([rising[0][:, column], rising[1][:, column], free[0]])
        of_sides = [rows[seen & (fold_of != fold) & (sides[:, column] == side)] for side in (0, 1)]
        means = np.array([part.mean(axis=0) for part in of_sides])
        covariance = np.mean([np.cov(part.T, ddof=0) for part in of_sides], axis=0)
        weights = _least_squares(covariance[None], (means[1] - means[0])[None], 2)[0]
        expected = (rows[fold_of == fold] - means.mean(axis=0)) @ weights
        np.testing.assert_allclose(found[fold_of == fold, column], expected, atol=1e-6)  # float32


@pytest.mark.filterwarnings("error")
def test_a_single_text_of_a_side_is_its_mean() -> None:
    """Two of the model's in two of three folds, so that the third is scored by both, and theirs by one; or by none."""
    rng = np.random.default_rng(16)
    sides, fold_of = np.isin(np.arange(24), (0, 1)).astype(np.float32)[:, None], np.arange(24) % 3
    rising, seen = [sides + rng.normal(size=(24, 1)) for _ in range(2)], np.ones(24, dtype=bool)
    found, rows = combined_scores(rising, [], sides, fold_of, seen), np.hstack(rising)
    for fold in range(3):
        of_sides = [rows[(fold_of != fold) & (sides[:, 0] == side)] for side in (0, 1)]
        means = np.array([part.mean(axis=0) for part in of_sides])
        covariance = np.mean([np.cov(part.T, ddof=0) for part in of_sides], axis=0)
        weights = _least_squares(covariance[None], (means[1] - means[0])[None], 2)[0]
        expected = (rows[fold_of == fold] - means.mean(axis=0)) @ weights
        np.testing.assert_allclose(found[fold_of == fold, 0], expected, atol=1e-5)  # float32
    alone = np.isin(np.arange(24), (0, 3)).astype(np.float32)[:, None]
    assert np.isfinite(combined_scores(rising, [], alone, fold_of, seen)).all()


def test_a_view_that_leans_to_the_wrong_side_is_left_out_and_not_turned_round() -> None:
    rng = np.random.default_rng(0)
    sides, fold_of = (np.arange(400) % 2).astype(np.float32)[:, None], np.arange(400) // 2 % 5
    right, wrong = sides + rng.normal(size=(400, 1)), 0.5 - sides + rng.normal(size=(400, 1))
    seen = np.ones(400, dtype=bool)
    both, alone = (
        combined_scores([right, wrong], [], sides, fold_of, seen),
        combined_scores([right], [], sides, fold_of, seen),
    )
    assert np.corrcoef(both[:, 0], alone[:, 0])[0, 1] > 0.999
    turned = combined_scores([right], [wrong], sides, fold_of, seen)  # a view of no direction may be
    assert np.corrcoef(turned[:, 0], wrong[:, 0])[0, 1] < -0.5


def test_a_fold_has_no_part_in_its_own_weights() -> None:
    rng = np.random.default_rng(1)
    sides, fold_of = (np.arange(100) % 2).astype(np.float32)[:, None], np.arange(100) // 2 % 5
    view = sides + rng.normal(size=(100, 1))
    other = np.where(fold_of == 0, -100, 1)[:, None] * (sides - 0.5) + rng.normal(size=(100, 1))
    found = combined_scores([view, other], [], sides, fold_of, np.ones(100, dtype=bool))[fold_of == 0, 0]
    assert np.corrcoef(found, other[fold_of == 0, 0])[0, 1] > 0.9  # weighed as the other folds say


def test_votes_are_those_of_scikit_learns_neighbours() -> None:
    rng = np.random.default_rng(2)
    rows, sides = rng.normal(size=(50, 4)).astype(np.float32), (rng.random((30, 3)) < 0.5).astype(np.float32)
    distances, expected = NearestNeighbors(n_neighbors=15).fit(rows[:30]).kneighbors(rows)
    found, logs = _nearest(rows, rows[:30], 15, None)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(np.exp(logs[30:] / 2), distances[30:], rtol=1e-3)
    for k, votes in zip((5, 15), _votes(found, sides, (5, 15)), strict=True):
        of_model = sides[expected[:, :k]].sum(axis=1)
        np.testing.assert_allclose(votes, np.log((of_model + 0.5) / (k - of_model + 0.5)), rtol=1e-6)


def test_squares_are_all_products_of_two_axes_and_the_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacked_classifier, "_AXES_OF_SQUARES", 2)
    rows = np.array([[1.0, 2, 3], [4, -5, 6]], dtype=np.float32)
    expected = [[1, 2, 4, np.log(14)], [16, -20, 25, np.log(77)]]
    np.testing.assert_allclose(stacked_classifier._squares(rows), expected, rtol=1e-6)
    # squares below the rounding of their mean, 1e-7 of it
    logs = stacked_classifier._log(np.array([0.0, 1e-20, 9, 7], dtype=np.float32))
    np.testing.assert_allclose(logs, np.log([2.0**-21, 2.0**-21, 9, 7]), rtol=1e-5)
    assert np.isfinite(stacked_classifier._log(np.zeros(3, dtype=np.float32))).all()


def test_rows_are_fitted_to_in_a_random_order_of_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    rows, fold_of, is_model = rng.normal(size=(60, 3)), np.arange(60) % 5, np.arange(60) % 3 == 0
    seen, order = np.arange(60) < 50, rng.permutation(60)
    for most in (12, 100):
        monkeypatch.setattr(stacked_classifier, "_MOST_FITTED", most)
        standardised = Standardised(rows)
        sample = stacked_classifier._Sample.of(standardised, fold_of, seen, is_model, order, 25)
        assert len({*sample.numbers.tolist()}) == len(sample.numbers) and seen[sample.numbers].all()
        sizes = [min(most, int((seen & (is_model == side)).sum())) for side in (False, True)]
        assert is_model[sample.numbers].tolist() == [False] * sizes[0] + [True] * sizes[1]
        assert sample.ranks.tolist() == [*range(sizes[0]), *range(sizes[1])]
        np.testing.assert_array_equal(sample.rows, standardised.take(sample.numbers))
        np.testing.assert_array_equal(sample.fold_of, fold_of[sample.numbers])
        other = stacked_classifier._Sample.of(standardised, fold_of, seen, is_model, order, 26)
        assert other.numbers.tolist() != sample.numbers.tolist()


def test_neighbours_are_of_other_folds_and_among_the_first_rows_of_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty rows a side the first twenty are candidates; a row and its fold are none of its own."""
    monkeypatch.setattr(stacked_classifier, "MOST_REFERENCES", 20)
    rng = np.random.default_rng(9)
    rows, fold_of, is_model = rng.normal(size=(60, 4)), np.arange(60) % 5, np.arange(60) >= 30
    standardised = Standardised(rows)
    sample = stacked_classifier._Sample.of(
        standardised, fold_of, np.ones(60, dtype=bool), is_model, np.arange(60), seed=25
    )
    axes = [np.linalg.qr(rng.normal(size=(4, 3)))[0].astype(np.float32) for _ in range(5)]
    leading = stacked_classifier._on_axes(standardised, fold_of, axes, None)
    held = np.concatenate(list(standardised))
    nearest, logs = stacked_classifier._neighbours(sample, axes, leading, fold_of, None)
    candidates = sample.numbers[sample.ranks < 20]
    assert nearest.shape == logs.shape == (60, min((fold_of[candidates] != fold).sum() for fold in range(5)))
    for row in range(60):
        np.testing.assert_allclose(leading[row], held[row] @ axes[fold_of[row]], atol=1e-5)
        others = candidates[fold_of[candidates] != fold_of[row]]
        squares = np.square((held[others] - held[row]) @ axes[fold_of[row]]).sum(axis=1)
        order = np.argsort(squares)[: nearest.shape[1]]
        assert set(nearest[row, :10].tolist()) == set(others[order[:10]].tolist())
        np.testing.assert_allclose(logs[row], np.log(squares[order]), atol=1e-2)  # float32 of 1e-4 and more


def test_squares_are_scored_by_the_classifier_of_the_other_folds() -> None:
    rng = np.random.default_rng(10)
    rows, fold_of, is_model = rng.normal(size=(80, 3)), np.arange(80) % 4, np.arange(80) >= 40
    standardised, sides = Standardised(rows), rng.permuted(np.stack([is_model] * 2, axis=1), axis=0).astype(np.float32)
    seen = np.arange(80) % 7 > 0
    sample = stacked_classifier._Sample.of(standardised, fold_of, seen, is_model, np.arange(80), seed=25)
    axes = [np.eye(3, dtype=np.float32)[:, [1, 0, 2]] for _ in range(4)]
    leading = stacked_classifier._on_axes(standardised, fold_of, axes, None)
    found = stacked_classifier._squares_view(sample, axes, leading, fold_of, sides, run_when_asked)
    squares = stacked_classifier._squares(leading)
    for fold in range(4):
        outside, inside = seen & (fold_of != fold), fold_of == fold
        expected = fit_and_score(squares[outside], sides[outside], squares[inside])
        np.testing.assert_allclose(found[inside], expected, atol=1e-3 * np.abs(expected).max())


def test_views_are_of_as_many_neighbours_as_they_say() -> None:
    """Log distances to the sixth and the 45th, or the last of fewer."""
    rng = np.random.default_rng(11)
    for texts, last in ((120, 45), (40, 20)):
        rows, fold_of = Standardised(rng.normal(size=(texts, 3))), np.arange(texts) // 2 % 2
        sides = (np.arange(texts) % 2).astype(np.float32)[:, None]
        rising, free = views(rows, fold_of, sides, np.ones(texts, dtype=bool), np.arange(texts), 25)
        held = np.concatenate(list(rows))
        for row in range(texts):  # all three axes: distances are those of the rows
            others = fold_of != fold_of[row]
            away = np.square(held[others] - held[row]).sum(axis=1)
            order = np.argsort(away)
            assert [float(view[row, 0]) for view in free] == pytest.approx(np.log(away[order[[5, last - 1]]]), abs=1e-2)
            for view, k in zip(rising[3:], (5, 15), strict=texts > 40):
                of_model = sides[others][order[:k], 0].sum()
                assert view[row, 0] == pytest.approx(np.log((of_model + 0.5) / (k + 0.5 - of_model)), abs=1e-5)


def test_votes_of_fewer_neighbours_are_those_of_all() -> None:
    sides = np.array([[1, 0], [1, 0], [0, 0], [1, 1]], dtype=np.float32)
    (votes,) = _votes(np.array([[0, 1, 2], [3, 2, 1]] * 4), sides, (5,))
    np.testing.assert_allclose(votes, np.log([[2.5 / 1.5, 0.5 / 3.5], [2.5 / 1.5, 1.5 / 2.5]] * 4), rtol=1e-6)


def spread(rng: np.random.Generator, n: int) -> Sets:
    """A low temperature: all but one direction."""
    p, q = rng.normal(size=(n, 20)), 0.8 * rng.normal(size=(n, 20))
    p[:, 0], q[:, 0] = p[:, 0] + 5, rng.normal(size=n) + 5
    return p, q


def correlation(rng: np.random.Generator, n: int) -> Sets:
    rows = rng.normal(size=(2, n, 8))
    rows[:, :, 1] = 0.9 * np.array([[1], [-1]]) * rows[:, :, 0] + np.sqrt(0.19) * rows[:, :, 1]
    return rows[0], rows[1]


def shift_by_kind(rng: np.random.Generator, n: int) -> Sets:
    """Of five kinds of texts, each shifted in another direction, so that the means of both sets are equal."""
    centres, shifts = 6 * rng.normal(size=(5, 10)), rng.normal(size=(5, 10))
    shifts = 2 * (shifts - shifts.mean(axis=0)) / np.linalg.norm(shifts, axis=1, keepdims=True)
    kinds = [np.arange(n) % 5] * 2
    p, q = (centres[kind] + rng.normal(size=(n, 10)) for kind in kinds)
    return p, q + shifts[kinds[1]]


N = 300
ERROR = np.sqrt((2 * N + 1) / (12 * N * N))  # of the AUC of equal sets, .024


@pytest.mark.parametrize("sets", [spread, correlation, shift_by_kind])
def test_differences_beyond_the_means_are_seen(sets: Callable[[np.random.Generator, int], Sets]) -> None:
    rows = np.concatenate(sets(np.random.default_rng(3), N))
    is_model = np.arange(2 * N) >= N
    linear, stacked = (cross_fit(rows, is_model, stacked=way, permutations=19) for way in (False, True))
    assert abs(linear.auc - 0.5) < 4 * ERROR < stacked.auc - 0.5
    assert stacked.p_value < 1e-4


@pytest.mark.more
def test_equal_sets_are_not_told_apart_and_have_uniform_p_values() -> None:
    """Of 40 uniform numbers those below .2 are 8 with a standard error of 2.5, and all are above 1e-4."""
    aucs, p_values = [], []
    for seed in range(40):
        rows = np.random.default_rng(seed).normal(size=(120, 6))
        fitted = cross_fit(rows, np.arange(120) >= 60, seed=seed, stacked=True, permutations=9)
        aucs.append(fitted.auc)
        p_values.append(fitted.p_value)
    error = np.sqrt(121 / (12 * 60 * 60))
    assert np.mean(aucs) == pytest.approx(0.5, abs=4 * error / np.sqrt(40) + 0.02)  # held-out texts lean away a bit
    assert max(np.abs(np.array(aucs) - 0.5)) < 6 * error
    assert np.mean(np.array(p_values) < 0.2) < 0.2 + 4 * 0.063 and min(p_values) > 1e-4


def test_answers_to_the_same_prompts_are_not_told_apart() -> None:
    """Neighbours across the sides lean to the wrong side, and weights that are not negative do not turn them round."""
    rng = np.random.default_rng(4)
    prompts = rng.normal(size=(200, 10))
    rows = np.concatenate([prompts + 0.3 * rng.normal(size=(200, 10)) for _ in range(2)])
    pairs = np.tile(np.arange(200), 2)
    fitted = cross_fit(rows, np.arange(400) >= 200, pairs, stacked=True, permutations=19)
    assert fitted.p_value > 0.01


def test_rows_in_blocks_are_scored_alike() -> None:
    rng = np.random.default_rng(5)
    rows, is_model = np.concatenate(spread(rng, 100)), np.arange(200) >= 100
    one, two = (cross_fit(some, is_model, stacked=True) for some in (rows, ArrayRows(rows)))
    np.testing.assert_allclose(one.held_out.scores, two.held_out.scores, atol=1e-4 * np.abs(one.held_out.scores).max())


def test_the_side_of_a_row_that_is_not_trained_on_plays_no_part() -> None:
    """It is among no one's neighbours, axes, means or weights."""
    rng = np.random.default_rng(7)
    rows, fold_of, seen = Standardised(rng.normal(size=(120, 6))), np.arange(120) // 2 % 5, np.arange(120) < 100
    sides, found = np.arange(120) % 2 == 0, []
    for is_model in (sides, sides ^ ~seen):
        column = is_model[:, None].astype(np.float32)
        found.append(combined_scores(*views(rows, fold_of, column, seen, np.arange(120), 25), column, fold_of, seen))
    np.testing.assert_array_equal(*found)
    assert np.ptp(found[0][100:]) > 0


@pytest.mark.parametrize(("texts", "voters"), [(20, 1), (58, 1), (60, 2), (180, 2)])
def test_few_rows_have_few_neighbours(texts: int, voters: int) -> None:
    """Of the rows of the other fold at least half are no voters."""
    rng = np.random.default_rng(6)
    rows, fold_of = Standardised(rng.normal(size=(texts, 3))), np.arange(texts) % 2
    sides = np.repeat([0, 1], texts // 2).astype(np.float32)[:, None]
    rising, free = views(rows, fold_of, sides, np.ones(texts, dtype=bool), np.arange(texts), 25)
    assert all(np.isfinite(view).all() and view.shape == (texts, 1) for view in (*rising, *free))
    assert len(rising) == 3 + voters  # both linear ones, squares, and the votes


def test_rows_far_outside_of_those_that_are_fitted_to_overflow_nothing() -> None:
    sides, fold_of = (np.arange(40) % 2).astype(np.float32)[:, None], np.arange(40) // 2 % 5
    view = np.where(fold_of == 0, 1e30, 1e-30).astype(np.float32)[:, None] * (1 + sides)
    with np.errstate(over="raise", invalid="raise"):
        assert np.isfinite(combined_scores([view], [], sides, fold_of, np.ones(40, dtype=bool))).all()
        near = (1e-37 * (1 + sides)).astype(np.float32)
        assert np.isfinite(fit_and_score(near, sides, np.ones((5, 1), dtype=np.float32))).all()


@pytest.mark.parametrize(("n", "number"), [(1, 1), (2, 1), (5, 5), (40, 7), (200, 64)])
@pytest.mark.parametrize("rank", [3, 1000])
def test_eigenvectors_are_those_of_scipy(n: int, number: int, rank: int) -> None:
    rows = np.random.default_rng(n).normal(size=(rank, n)).astype(np.float32)
    matrix = rows.T @ rows
    before = matrix.copy()
    with one_blas_thread():
        vectors = largest_eigenvectors(matrix, number)
        expected = eigh(matrix, subset_by_index=[n - number, n - 1])[1]
    assert vectors.dtype == np.float32 and vectors.shape == (n, number)
    assert np.array_equal(vectors, expected) and np.array_equal(matrix, before)


def test_the_upper_half_of_a_symmetric_matrix_is_not_read() -> None:
    matrix = np.diag(np.arange(1, 6, dtype=np.float32))
    assert np.array_equal(
        largest_eigenvectors(matrix + np.triu(np.full((5, 5), np.nan, np.float32), 1), 2)[3:], np.eye(2)
    )


def test_what_the_routine_does_not_find_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacked_classifier, "_ssyevr", lambda: lambda *arguments: None)
    with pytest.raises(np.linalg.LinAlgError, match="found 0 of 2 eigenvectors"):
        largest_eigenvectors(np.eye(5, dtype=np.float32), 2)
