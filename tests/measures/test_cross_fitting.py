"""The cross-fitted classifier, against scikit-learn's and against what must hold for equal sets."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm, rankdata, t
from sklearn.covariance import LedoitWolf
from sklearn.covariance import ledoit_wolf as sklearn_ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

from mauve_metric.arrays import Array
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.measures import cross_fitting, linear_classifier
from mauve_metric.measures.cross_fitting import (
    CrossFitted,
    assign_folds,
    buckets_of_ranks,
    check_groups,
    cross_fit,
    cross_fit_repeatedly,
    monotone_buckets,
    permuted_sides,
    ranks_in_folds,
    same_rows,
    without_large,
)
from mauve_metric.measures.linear_classifier import (
    Standardised,
    fit_and_score,
    held_out_scores,
    ledoit_wolf,
    without_noise,
)


def _two_sets(n: int, d: int, shift: float, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2 * n, d)) * np.geomspace(1, 5, d)
    rows[n:, 0] += shift
    return rows, np.arange(2 * n) >= n


@pytest.mark.parametrize("n, d", [(100, 12), (40, 200)])  # more rows than columns, and the space that few rows span
def test_scores_are_those_of_the_discriminant_of_the_other_folds(n: int, d: int) -> None:
    rows, is_model = _two_sets(n, d, 2.5)
    fold_of = np.arange(2 * n) % 5
    found = held_out_scores(Standardised(rows), fold_of, is_model[:, None].astype(np.float32), np.ones(2 * n, bool))
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    assert len(found) == (2 if n > d else 1)
    for fold in range(5):
        seen, held_out = fold_of != fold, fold_of == fold
        covariance = np.cov(standard[seen].T, ddof=0)
        fourth = float(np.square(np.square(standard[seen]).sum(axis=1)).mean())
        shrinkage = ledoit_wolf(covariance, fourth, float(seen.sum()), d)
        shrunk = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / d * np.eye(d)
        means = [standard[seen & (is_model == side)].mean(axis=0) for side in (False, True)]
        difference = means[1] - means[0]
        of_sides = [(seen & (is_model == side)).sum() for side in (False, True)]
        directions = [difference, without_noise(difference[:, None], 1 / of_sides[0] + 1 / of_sides[1])[:, 0]]
        assert n < d or np.ptp(directions[1] / difference) > 0.5
        for scores, direction in zip(found, directions, strict=False):
            weights = np.linalg.solve(shrunk, direction)
            expected = standard[held_out] @ weights - (means[0] + means[1]) / 2 @ weights
            # float32 products: 1e-7 a term, times the condition of the shrunk covariance, below 1000
            np.testing.assert_allclose(scores[held_out, 0], expected, rtol=0, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param(
            "cuda",
            marks=[
                pytest.mark.gpu,
                pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
            ],
        ),
    ],
)
@pytest.mark.parametrize("n, d, stacked", [(100, 12, False), (100, 12, True), (40, 200, True)])
def test_products_on_a_device_are_those_of_numpy(n: int, d: int, stacked: bool, device: str) -> None:
    rows, is_model = _two_sets(n, d, 1.5)
    options = {"permutations": 19, "stacked": stacked}
    expected, found = (cross_fit(rows, is_model, device=on, **options) for on in (None, torch.device(device)))
    # float32 sums in another order: 1e-7 a term, times the condition of the shrunk covariance, below 1000
    scores = expected.held_out.scores
    np.testing.assert_allclose(found.held_out.scores, scores, atol=1e-3 * np.abs(scores).max())
    assert found.auc == pytest.approx(expected.auc, abs=2e-3)  # of 2000 pairs a fold
    np.testing.assert_allclose(found.permuted, expected.permuted, atol=5e-3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-1000, -100, 100, 1000])
def test_the_unit_of_the_features_does_not_matter(exponent: int) -> None:
    """Powers of two, so that float64 holds the same digits: also where squares leave float32 or float64."""
    rows, is_model = _two_sets(60, 6, 1.5)
    scores = [cross_fit(unit * rows, is_model).held_out.scores for unit in (1.0, 2.0**exponent)]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-4 * np.abs(scores[0]).max())


@pytest.mark.parametrize("largest", [1e5, 1e15])
def test_the_unit_of_a_single_column_does_not_matter(largest: float) -> None:
    """float32 does not hold the squares of 1e-33, which columns of real encoders are."""
    rng = np.random.default_rng(5)
    rows = (rng.normal(size=(120, 3)) + np.repeat([[0.0], [1.0]], 60, axis=0)).astype(np.float32)
    side = np.arange(120) >= 60
    expected = cross_fit(rows, side).held_out.scores
    found = cross_fit(rows * np.array([1e-33, 1, largest], dtype=np.float32), side).held_out.scores
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_the_shrinkage_is_that_of_scikit_learn(scale: float) -> None:
    rows = np.random.default_rng(1).normal(size=(60, 30)) * np.geomspace(1, 3, 30) * scale
    rows -= rows.mean(axis=0)
    fourth = float(np.square(np.square(rows).sum(axis=1)).mean())
    found = ledoit_wolf(np.cov(rows.T, ddof=0), fourth, 60.0, 30)
    assert found == pytest.approx(sklearn_ledoit_wolf(rows)[1], rel=1e-9)


def test_the_shrinkage_is_at_least_a_thousandth() -> None:
    covariance = np.diag([1.0, 4.0])
    assert ledoit_wolf(covariance, 17.0, 10.0, 2) == 1e-3  # rows of one length, whose products do not vary
    assert ledoit_wolf(covariance, 17.0 + 10 * 4.5 * 0.25, 10.0, 2) == pytest.approx(0.25)


def test_the_shrinkage_is_whole_where_rows_vary_as_much_as_noise_in_all_directions() -> None:
    assert ledoit_wolf(np.array([[2.0]]), 4.0, 10.0, 1) == 1.0
    assert ledoit_wolf(np.diag([1.0, 1.1]), 1e3, 10.0, 2) == 1.0


def test_auc_is_the_mean_of_the_folds_and_near_that_of_scikit_learns_classifier() -> None:
    rows, is_model = _two_sets(150, 20, 0.0)
    rows[150:] += 0.2 * rows.std(axis=0)  # in all columns alike, of which none is noise
    fitted = cross_fit(rows, is_model)
    folds = [fitted.held_out.fold_of == fold for fold in range(5)]
    of_folds = [roc_auc_score(is_model[inside], fitted.held_out.scores[inside]) for inside in folds]
    assert fitted.auc == pytest.approx(np.mean(of_folds), abs=1e-9)  # folds of 30 + 30: equal weights
    other = []
    for inside in folds:
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(rows[~inside], is_model[~inside])
        other.append(roc_auc_score(is_model[inside], model.decision_function(rows[inside])))
    assert fitted.auc == pytest.approx(np.mean(other), abs=0.01)  # within the sides, not over all: nearly one direction


def test_rows_in_blocks_and_rows_in_memory_give_one_answer() -> None:
    rows, is_model = _two_sets(300, 10, 0.5)
    one, two = cross_fit(rows, is_model, permutations=5), cross_fit(ArrayRows(rows), is_model, permutations=5)
    np.testing.assert_allclose(one.held_out.scores, two.held_out.scores, atol=1e-5)
    np.testing.assert_allclose(one.permuted, two.permuted, atol=1e-3)


def test_constant_and_copied_columns_change_nothing_that_matters() -> None:
    rows, is_model = _two_sets(50, 4, 3.0)
    more = np.concatenate([rows, np.full((100, 1), 7.0), rows], axis=1)
    assert cross_fit(more, is_model).auc == pytest.approx(cross_fit(rows, is_model).auc, abs=0.02)
    constant = cross_fit(np.ones((100, 3)), is_model, permutations=9)
    assert constant.auc == 0.5 and constant.p_value == 1.0 and set(constant.held_out.scores) == {0.0}


@pytest.mark.parametrize("n, d", [(200, 150), (40, 300)])
def test_columns_that_nearly_coincide_can_be_fitted(n: int, d: int) -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(n, 1)) + 1e-5 * rng.normal(size=(n, d))
    rows[n // 2 :] += 6
    fitted = cross_fit(rows, np.arange(n) >= n // 2)
    assert np.isfinite(fitted.held_out.scores).all() and fitted.auc > 0.99


def test_folds_keep_groups_together_and_both_sides_even() -> None:
    rng = np.random.default_rng(2)
    groups = np.concatenate([np.arange(60), rng.integers(0, 90, 100)])  # some prompts on both sides, some on one
    groups = np.unique(groups, return_inverse=True)[1]
    is_model = np.arange(160) >= 60
    fold_of = assign_folds(groups, is_model)
    assert all(len(set(fold_of[groups == group])) == 1 for group in set(groups.tolist()))
    for side in (False, True):
        sizes = np.bincount(fold_of[is_model == side], minlength=5)
        assert sizes.min() >= 0.6 * sizes.mean()
    singles = assign_folds(np.arange(160), is_model)
    assert {len(set(np.bincount(singles[is_model == side]))) for side in (False, True)} == {1}
    assert set(assign_folds(np.array([0, 1, 2, 3]), np.array([False, False, True, True]))) == {0, 1}
    with pytest.raises(ValueError, match="at least 2 texts a side"):
        assign_folds(np.array([0, 1, 2]), np.array([False, False, True]))


def test_permuted_sides_keep_the_design() -> None:
    pairs, is_model = np.tile(np.arange(40), 2), np.arange(80) >= 40
    fold_of = assign_folds(pairs, is_model)
    swapped = permuted_sides(is_model, pairs, fold_of, 200, np.random.default_rng(0))
    assert (swapped[:40] != swapped[40:]).all()
    # each pair is swapped with probability 1/2: of 8000, 4 standard errors are 0.022
    assert swapped[:40].mean() == pytest.approx(0.5, abs=0.022)
    clusters = np.repeat(np.arange(16), 5)
    fold_of = assign_folds(clusters, is_model)
    whole = permuted_sides(is_model, clusters, fold_of, 100, np.random.default_rng(0)).reshape(16, 5, 100)
    assert (whole == whole[:, :1]).all() and len(np.unique(whole[:, 0], axis=1).T) > 20
    singles = permuted_sides(is_model, np.arange(80), np.arange(80) % 4, 50, np.random.default_rng(0))
    for fold in range(4):
        inside = np.arange(80) % 4 == fold
        assert (singles[inside].sum(axis=0) == is_model[inside].sum()).all()


def test_permuted_sides_of_unequal_size_keep_their_numbers_in_each_fold() -> None:
    """A third of the texts is the model's, but for those of one group of two texts of both sides."""
    is_model, fold_of = np.arange(62) % 3 == 0, np.arange(62) // 4 % 5
    groups = np.r_[np.arange(60), 60, 60]
    fold_of[60:] = 2
    found = permuted_sides(is_model, groups, fold_of, 40, np.random.default_rng(1))
    assert (found[60] != found[61]).all() and 0 < found[60].mean() < 1
    for fold in range(5):
        inside = fold_of == fold
        assert (found[inside].sum(axis=0) == is_model[inside].sum()).all()
        assert len(np.unique(found[inside], axis=1).T) > 20


def test_groups_go_to_the_folds_by_kind_and_the_largest_first() -> None:
    """Of P alone 3, 1 and 2 texts; of both 1 + 2, 2 + 1 and 2 + 2; of Q alone 1 and 4."""
    human, model = np.array([3, 1, 2, 1, 2, 2, 0, 0]), np.array([0, 0, 0, 2, 1, 2, 1, 4])
    groups = np.concatenate([np.repeat(np.arange(8), human), np.repeat(np.arange(8), model)])
    is_model = np.arange(len(groups)) >= human.sum()
    order = [0, 2, 1, 5, 4, 3, 7, 6]  # of equal sizes the one with fewer of the model's
    for folds, number in ((2, 2), (3, 3), (9, 5)):  # at most as many as there are groups of the model
        fold_of = assign_folds(groups, is_model, folds=folds)
        of_groups = [int(fold_of[groups == group][0]) for group in range(8)]
        assert of_groups == [order.index(group) % number for group in range(8)]


def test_too_few_groups_are_counted_for_each_side() -> None:
    groups, is_model = np.array([0, 0, 1, 2, 3, 3]), np.arange(6) >= 3
    assert check_groups(groups, is_model, 2) == 2
    with pytest.raises(ValueError, match=r"at least 3 texts .* got 2 in the first set and 2 in the second"):
        check_groups(groups, is_model, 3)
    with pytest.raises(ValueError, match="got 3 in the first set and 1 in the second"):
        check_groups(groups[:5], np.arange(5) >= 4, 2)


def test_units_of_a_tenth_of_a_side_are_no_units() -> None:
    units = np.full(40, -1)
    units[[0, 1]], units[[2, 20]], units[[23, 3]], units[[21, 22]] = 0, 1, 2, 3
    expected = np.full(40, -1)
    expected[[2, 20]], expected[[23, 3]] = 1, 2
    assert without_large(units, np.arange(40) >= 20).tolist() == expected.tolist()
    assert without_large(units, np.arange(40) < 20).tolist() == expected.tolist()
    more = np.r_[units, -1, -1]  # 2 of 21 are less than a tenth
    assert without_large(more, np.r_[np.arange(40) >= 20, False, True]).tolist() == more.tolist()


def test_equal_rows_and_rows_of_equal_groups_are_joined() -> None:
    rows = np.array([[1.0, 2], [3, 4], [1, 2], [5, 6], [3, 4], [7, 8]])
    for some in (rows, ArrayRows(rows)):
        assert same_rows(some).tolist() == [0, 1, 0, 2, 1, 3]
        assert same_rows(some, np.array([0, 1, 2, 2, 3, 4])).tolist() == [0, 1, 0, 0, 1, 2]
    assert same_rows(np.arange(4.0)[:, None], np.array([7, 2, 7, 9])).tolist() == [1, 0, 1, 2]


def test_permutations_that_do_not_vary_are_no_test() -> None:
    fitted = cross_fit(*_two_sets(10, 2, 1.0), permutations=3)
    same = CrossFitted(fitted.held_out, fitted.ranks, 0.7, np.full(5, 0.5))
    assert same.p_value == 1.0


def test_the_order_in_which_rows_come_does_not_matter_if_one_is_given() -> None:
    """Folds, permutations, the rows that squares are fitted to and groups follow the order."""
    rows, is_model = _two_sets(30, 4, 1.0)
    rng = np.random.default_rng(3)
    groups = rng.integers(40, size=60)
    units = groups // 2
    shuffled = rng.permutation(60)
    places = np.argsort(shuffled)
    for stacked in (False, True):
        options = {"permutations": 3, "stacked": stacked}
        one = cross_fit(rows, is_model, groups, units=units, **options)
        two = cross_fit(
            rows[shuffled], is_model[shuffled], groups[shuffled], units=units[shuffled], order=places, **options
        )
        for name in ("fold_of", "groups", "is_model"):
            np.testing.assert_array_equal(getattr(two.held_out, name)[places], getattr(one.held_out, name))
        scale = np.abs(one.held_out.scores).max()
        np.testing.assert_allclose(two.held_out.scores[places], one.held_out.scores, atol=1e-3 * scale)
        np.testing.assert_allclose(two.permuted, one.permuted, atol=0.02)
        assert len(one.permuted) == 3
        assert {len({*one.held_out.fold_of[units == unit].tolist()}) for unit in units.tolist()} == {1}
        assert len({*one.held_out.groups.tolist()}) == len({*groups.tolist()}) > len({*units.tolist()})


def test_the_auc_of_several_divisions_is_that_of_their_mean_ranks() -> None:
    rows, is_model = _two_sets(30, 4, 1.0)
    groups = np.tile(np.arange(30), 2)
    found = cross_fit_repeatedly(rows, is_model, groups, divisions=2, permutations=4)
    assert found.auc == pytest.approx(roc_auc_score(is_model, found.held_out.scores), abs=1e-12)
    assert found.held_out.fold_of.tolist() == [0] * 60
    first = cross_fit(rows, is_model, groups, permutations=4, stacked=True)
    np.testing.assert_allclose(found.permuted, first.permuted, atol=0.02)  # a pair of a fold of 6 + 6 is .006
    plain = cross_fit(rows, is_model, groups, stacked=True)
    assert len(plain.permuted) == len(cross_fit_repeatedly(rows, is_model, groups, divisions=1).permuted) == 0
    of_seed = cross_fit(rows, is_model, groups, seed=25).held_out.fold_of
    np.testing.assert_array_equal(plain.held_out.fold_of, of_seed)
    np.testing.assert_array_equal(assign_folds(groups, is_model), assign_folds(groups, is_model, 25, 5))
    assert first.auc == pytest.approx(plain.auc, abs=0.02)
    np.testing.assert_allclose(first.held_out.scores, plain.held_out.scores, atol=1e-3)
    other = cross_fit(rows, is_model, groups, permutations=4, stacked=True, seed=7)
    assert not np.array_equal(other.held_out.fold_of, first.held_out.fold_of)
    again = cross_fit_repeatedly(rows, is_model, groups, divisions=2, permutations=4, seed=7)
    np.testing.assert_allclose(again.permuted, other.permuted, atol=0.02)
    one = cross_fit_repeatedly(rows, is_model, groups, divisions=1, permutations=4)
    np.testing.assert_allclose(one.held_out.scores, first.held_out.scores, atol=1e-3)
    assert one.auc == pytest.approx(first.auc, abs=0.02) and one.held_out.fold_of.max() == 4


def test_aucs_of_tied_scores_are_those_of_scikit_learn_for_every_division() -> None:
    rng = np.random.default_rng(8)
    scores, sides = rng.integers(4, size=(60, 3)).astype(np.float32), rng.random((60, 3)) < 0.4
    fold_of = rng.integers(3, size=60)
    sides[fold_of == 2, 2] = True  # no pairs there
    expected = []
    for column in range(3):
        right = pairs = 0.0
        for fold in range(3):
            is_model, of_fold = sides[fold_of == fold, column], scores[fold_of == fold, column]
            if (weight := is_model.sum() * (~is_model).sum()) > 0:
                right, pairs = right + weight * roc_auc_score(is_model, of_fold), pairs + weight
        expected.append(right / pairs)
    found = cross_fitting._mean_auc(scores, sides.astype(np.float32), fold_of)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_the_unit_is_a_power_of_two_where_squares_could_leave_float32() -> None:
    for largest, exponent in ((3e15, -52), (4e-15, 47), (1.0e12, -40), (1e-12, 39), (1.7e308, -1023), (1e-310, 1000)):
        for sign in (1, -1):
            rows = np.array([[largest, 0.0], [-largest / 2, largest / 3]]) * sign
            for kind in (rows, ArrayRows(rows)):
                assert linear_classifier._unit(linear_classifier._largest(kind)) == 2.0**exponent
    for largest in (0.0, 1.1e-12, 1.0, 0.9e12):
        assert linear_classifier._unit(largest) == 1.0


@pytest.mark.parametrize("factor, unit", [(1e5, 1.0), (1e9, 1.0), (1e9, 1e20)])
@pytest.mark.parametrize("kind", [np.asarray, ArrayRows])
def test_one_row_far_from_all_others_does_not_hide_a_difference(
    factor: float, unit: float, kind: Callable[[Any], Any]
) -> None:
    rows, is_model = np.random.default_rng(5).normal(size=(400, 20)) * unit, np.arange(400) >= 200
    rows[is_model, 0] += unit
    without = cross_fit(rows, is_model).auc
    rows[207] *= factor
    assert abs(cross_fit(kind(rows), is_model).auc - without) < 0.02


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n, d", [(60, 8), (40, 100)])
def test_scores_of_each_division_are_those_of_the_discriminant(n: int, d: int) -> None:
    """Of two random divisions, and of two with a single text of a side, which is in the first fold."""
    rng = np.random.default_rng(11)
    rows, fold_of = rng.normal(size=(n, d)) * np.geomspace(1, 3, d), np.arange(n) % 5
    sides = np.stack([rng.random(n) < 0.3, rng.random(n) < 0.6, np.arange(n) == 5, np.arange(n) != 5], axis=1)
    found = held_out_scores(Standardised(rows), fold_of, sides.astype(np.float32), np.ones(n, dtype=bool))[0]
    assert np.isfinite(found).all()
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    for column, fold in np.ndindex(4, 5):
        part, held, is_model = fold_of != fold, fold_of == fold, sides[:, column]
        if min((part & is_model).sum(), (part & ~is_model).sum()) == 0:
            continue  # nothing to learn from
        covariance = np.cov(standard[part].T, ddof=0)
        fourth = float(np.square(np.square(standard[part]).sum(axis=1)).mean())
        shrinkage = ledoit_wolf(covariance, fourth, float(part.sum()), d)
        shrunk = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / d * np.eye(d)
        means = [standard[part & (is_model == side)].mean(axis=0) for side in (False, True)]
        expected = (standard[held] - (means[0] + means[1]) / 2) @ np.linalg.solve(shrunk, means[1] - means[0])
        # float32 products: 1e-7 a term, times the condition of the shrunk covariance, below 1000
        np.testing.assert_allclose(found[held, column], expected, rtol=0, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("d, number", [(100, 1), (81, 1), (80, 2), (5, 2)])
def test_a_second_direction_needs_as_many_rows_without_a_fold_as_columns(d: int, number: int) -> None:
    rows, fold_of = np.random.default_rng(12).normal(size=(101, d)), np.arange(101) % 5
    sides, seen = (np.arange(101) % 2).astype(np.float32)[:, None], np.arange(101) > 0
    found = held_out_scores(Standardised(rows), fold_of, sides, seen)
    assert [scores.shape for scores in found] == [(101, 1)] * number


class _ShortBlocks(ArrayRows):
    def blocks(self) -> Iterator[Array]:
        return (self.array[start : start + 7] for start in range(0, len(self.array), 7))


def test_blocks_of_rows_have_the_scores_of_all() -> None:
    rows, is_model = _two_sets(40, 5, 1.0)
    fold_of, seen = np.random.default_rng(13).integers(5, size=80), np.arange(80) % 9 > 0
    sides = np.stack([is_model, np.roll(is_model, 17)], axis=1).astype(np.float32)
    for one, two in zip(
        *(held_out_scores(Standardised(some), fold_of, sides, seen) for some in (rows, _ShortBlocks(rows))), strict=True
    ):
        np.testing.assert_allclose(two, one, atol=1e-3 * np.abs(one).max())
    one, two = (cross_fit(some, is_model, stacked=True) for some in (rows, _ShortBlocks(rows)))
    np.testing.assert_allclose(two.held_out.scores, one.held_out.scores, atol=1e-3 * np.abs(one.held_out.scores).max())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [1.0, 1e20])
def test_rows_are_standardised_over_all_blocks(dtype: type, unit: float) -> None:
    rng = np.random.default_rng(9)
    rows = ((rng.normal(size=(300, 4)) * [1, 5, 0.1, 0] + [3, 0, -7, 0]) * unit).astype(dtype)
    held = rows.astype(np.float64)
    expected = (held - held.mean(axis=0)) / np.where(np.arange(4) == 3, 1, held.std(axis=0))
    numbers = np.array([299, 4, 150])
    for some in (Standardised(rows), Standardised(ArrayRows(rows))):
        np.testing.assert_allclose(np.concatenate(list(some)), expected, rtol=0, atol=1e-4)  # float32
        np.testing.assert_allclose(some.take(numbers), expected[numbers], rtol=0, atol=1e-4)


def test_a_classifier_of_some_rows_scores_others() -> None:
    """Of rows standardised as those that it is fitted to, for each division into sides."""
    rng = np.random.default_rng(10)
    fitted, rows = rng.normal(size=(50, 4)) * [1, 3, 0.2, 1] + 2, rng.normal(size=(7, 4)) * 2
    sides = rng.random((50, 2)) < 0.4
    found = fit_and_score(fitted.astype(np.float32), sides.astype(np.float32), rows.astype(np.float32))
    standard, others = ((some - fitted.mean(axis=0)) / fitted.std(axis=0) for some in (fitted, rows))
    oracle = LedoitWolf().fit(standard)
    assert found.shape == (7, 2)
    for column in range(2):
        means = [standard[sides[:, column] == side].mean(axis=0) for side in (False, True)]
        expected = (others - (means[0] + means[1]) / 2) @ np.linalg.solve(oracle.covariance_, means[1] - means[0])
        np.testing.assert_allclose(found[:, column], expected, rtol=0, atol=1e-3 * np.abs(expected).max())  # float32


def test_scores_of_one_direction_are_taken_as_they_are() -> None:
    rows, is_model = _two_sets(20, 100, 2.0)
    held_out = cross_fit(rows, is_model).held_out
    sides = is_model[:, None].astype(np.float32)
    (expected,) = held_out_scores(Standardised(rows), held_out.fold_of, sides, np.ones(40, dtype=bool))
    np.testing.assert_allclose(held_out.scores, expected[:, 0], atol=1e-3 * np.abs(expected).max())


@pytest.mark.filterwarnings("error")
def test_a_single_permutation_is_no_test() -> None:
    rows, is_model = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) >= 10
    assert cross_fit(rows, is_model, permutations=1).p_value == cross_fit(rows, is_model).p_value == 1.0
    assert cross_fit(rows, is_model, permutations=2).p_value < 1


@pytest.mark.slow
def test_p_value_is_uniform_for_equal_sets() -> None:
    rng, found = np.random.default_rng(5), []
    for seed in range(200):
        rows = rng.normal(size=(80, 10))
        found.append(cross_fit(rows, np.arange(80) >= 40, seed=seed, permutations=19).p_value)
    # of 200 uniform numbers .5 are below .5 with a standard error of .035, .1 below .1 with one of .021
    assert np.mean(np.array(found) < 0.5) == pytest.approx(0.5, abs=0.14)
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.085)


def test_ranks_and_buckets() -> None:
    rng = np.random.default_rng(3)
    scores, fold_of = rng.normal(size=60), np.arange(60) % 3
    ranks = ranks_in_folds(scores, fold_of)
    assert (np.bincount(buckets_of_ranks(ranks, 4)) == 15).all()
    np.testing.assert_allclose(ranks_in_folds(np.exp(scores), fold_of), ranks)


def test_buckets_are_joined_as_by_scikit_learns_isotonic_regression() -> None:
    rng = np.random.default_rng(13)
    for k, most in ((2, 3), (8, 4), (30, 20), (30, 200)):
        p_counts, q_counts = 1 + rng.integers(most, size=(2, k))
        p, q = p_counts / p_counts.sum(), q_counts / q_counts.sum()
        shares = IsotonicRegression().fit_transform(np.arange(k), q / (p + q), sample_weight=p + q)
        expected = np.r_[0, np.cumsum(np.diff(shares) > 1e-9)]
        np.testing.assert_array_equal(monotone_buckets(p_counts, q_counts), expected)


def test_folds_of_uneven_groups_hold_both_sides() -> None:
    # groups of P and of Q that alternate in size: dealt out by size alone, each fold would have one side
    sizes = np.arange(8, 0, -1)
    groups, is_model = np.repeat(np.arange(8), sizes), np.repeat(np.arange(8) % 2 == 1, sizes)
    fold_of = assign_folds(groups, is_model)
    assert len(set(fold_of)) == 4
    assert all(set(is_model[fold_of == fold]) == {False, True} for fold in range(4))


def test_each_kind_of_group_is_spread_evenly_whatever_the_sizes() -> None:
    """Five groups of either side, and those of the model alone are of a size between them."""
    human, model = np.array([1] * 5 + [2] * 2 + [1] * 3 + [0] * 3), np.array([0] * 5 + [2] * 2 + [1] * 3 + [3] * 3)
    groups = np.concatenate([np.repeat(np.arange(13), human), np.repeat(np.arange(13), model)])
    fold_of = assign_folds(groups, np.arange(len(groups)) >= human.sum())
    mixed = [fold_of[groups == group][0] for group in range(5, 10)]
    assert sorted(mixed) == list(range(5))


def test_rows_that_are_not_trained_on_are_scored_only() -> None:
    rng = np.random.default_rng(5)
    rows, is_model = rng.normal(size=(90, 3)), np.arange(90) % 2 == 0
    seen, fold_of = np.arange(90) < 80, np.arange(90) % 5
    standard = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    found = np.hstack(held_out_scores(Standardised(rows), fold_of, is_model[:, None].astype(np.float32), seen))
    for fold in range(5):
        part, held = seen & (fold_of != fold), fold_of == fold
        oracle = LedoitWolf().fit(standard[part])
        means = [standard[part & (is_model == side)].mean(axis=0) for side in (False, True)]
        difference = (means[1] - means[0])[:, None]
        of_sides = [(part & (is_model == side)).sum() for side in (False, True)]
        both = np.hstack([difference, without_noise(difference, 1 / of_sides[0] + 1 / of_sides[1])])
        expected = (standard[held] - (means[0] + means[1]) / 2) @ np.linalg.solve(oracle.covariance_, both)
        np.testing.assert_allclose(found[held], expected, rtol=0, atol=1e-4)  # float32


@pytest.mark.parametrize(
    ("dtype", "offset"),  # float32 holds 7 digits
    [*((np.float64, 10.0**power) for power in range(3, 9)), *((np.float32, offset) for offset in (1e3, -1e4, 1e5))],
)
@pytest.mark.parametrize("d", [20, 150])  # fewer columns than rows, and more
def test_a_common_offset_changes_nothing_that_the_features_still_hold(dtype: type, offset: float, d: int) -> None:
    rows = np.random.default_rng(0).normal(size=(120, d))
    rows[60:, 0] += 5
    is_model = np.arange(120) >= 60
    moved = (rows + offset).astype(dtype)
    held = moved.astype(np.float64) - offset  # what is left after the rounding of the sum
    plain, moved_too = cross_fit(held, is_model), cross_fit(moved, is_model)
    assert moved_too.auc > 0.75
    scale = np.abs(plain.held_out.scores).max()
    # float32 products: 1e-7 a term, times the condition of the shrunk covariance, below 1000
    np.testing.assert_allclose(moved_too.held_out.scores, plain.held_out.scores, rtol=0, atol=1e-3 * scale)


def test_a_column_that_varies_by_rounding_alone_is_constant() -> None:
    rng = np.random.default_rng(0)
    is_model = np.arange(120) >= 60
    rows = rng.normal(size=(120, 3)).astype(np.float32)
    rows[:, 2] = np.float32(7)
    rounded = rows.copy()
    rounded[is_model, 2] = np.nextafter(np.float32(7), np.float32(8))
    assert cross_fit(rounded, is_model).held_out.scores.tolist() == cross_fit(rows, is_model).held_out.scores.tolist()


def test_the_p_value_is_that_of_the_next_draw_of_a_normal_variable() -> None:
    """By Python's statistics and scipy: with m permutations, t = (AUC - mean) / (stdev √(1 + 1/m)), m - 1 degrees."""
    rows = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0], [0.4]], 30, axis=0)
    fitted = cross_fit(rows, np.arange(60) >= 30, permutations=5)
    drawn = fitted.permuted.tolist()
    away = (fitted.auc - statistics.fmean(drawn)) / (statistics.stdev(drawn) * (1 + 1 / 5) ** 0.5)
    assert fitted.p_value == pytest.approx(float(t.sf(away, 4)), rel=1e-6)


def test_the_divisions_are_different_ones_and_their_mean_ranks_are_ranked() -> None:
    rows, is_model = _two_sets(30, 4, 1.0)
    each = [cross_fit(rows, is_model, seed=25 + number, stacked=True).ranks for number in range(3)]
    found = cross_fit_repeatedly(rows, is_model, divisions=3)
    np.testing.assert_allclose(found.held_out.scores, np.mean(each, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.ranks, (rankdata(np.mean(each, axis=0)) - 0.5) / 60, rtol=1e-12)
    assert not np.array_equal(each[0], each[1])


def test_rows_are_standardised_once_for_all_divisions(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Array] = []

    class Counted(Standardised):
        def __init__(self, rows: Array) -> None:
            made.append(rows)
            super().__init__(rows)

    monkeypatch.setattr(cross_fitting, "Standardised", Counted)
    cross_fit_repeatedly(*_two_sets(30, 4, 1.0), divisions=3)
    assert len(made) == 1


def test_a_group_is_in_one_fold() -> None:
    rows, is_model = _two_sets(30, 4, 1.0)
    groups = np.arange(60) % 20
    folds = cross_fit(rows, is_model, groups).held_out.fold_of
    assert all(len({*folds[groups == one].tolist()}) == 1 for one in range(20)) and len({*folds.tolist()}) == 5


@pytest.mark.parametrize("n, d, error, with_noise", [(400, 300, 0.009, 0.73), (200, 60, 0.019, 0.77)])
def test_one_column_of_many_is_seen(n: int, d: int, error: float, with_noise: float) -> None:
    """Φ(1.5 / √2) = .856; with the noise of all columns in the direction it was about `with_noise`."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2 * n, d))
    rows[n:, 0] += 1.5
    fitted = cross_fit(rows * np.geomspace(1, 100, d), np.arange(2 * n) >= n)
    assert fitted.auc > norm.cdf(1.5 / 2**0.5) - 4 * error > with_noise


def test_copies_of_the_other_side_are_no_difference() -> None:
    """Permuted sides of equal rows change nothing, and their AUCs are those of one division into folds."""
    for seed in range(3):
        rows = np.random.default_rng(seed).normal(size=(60, 8))
        both, is_model = np.concatenate([rows, rows[:30]]), np.arange(90) >= 60
        units = np.concatenate([np.arange(60), np.arange(30)])
        options = {"units": units, "permutations": 99, "divisions": 10}
        fitted = cross_fit_repeatedly(both, is_model, units, **options)
        one = cross_fit(both, is_model, units, units=units, permutations=99, stacked=True)
        assert fitted.compared == one.auc != fitted.auc and fitted.p_value == one.p_value > 0.01
    far = cross_fit_repeatedly(
        rows + 3 * (np.arange(60) < 30)[:, None], np.arange(60) < 30, permutations=19, divisions=10
    )
    assert far.compared is None and far.p_value < 1e-3
