"""Area under the ROC curve and accuracy against scikit-learn, and how often equal sets are told apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm, t
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from mauve_metric.apps.describing.distances import discriminators
from mauve_metric.apps.describing.distances.discriminators import accuracy_of_scores
from mauve_metric.measures.cross_fitting import assign_folds
from mauve_metric.measures.roc_auc import HeldOut, auc_of_scores


def two_sides(seed: int, n_p: int, n_q: int, d: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    return rng.normal(size=(n_p, d)) @ mixing, rng.normal(size=(n_q, d)) @ mixing + shift


def test_auc_and_accuracy_are_scikit_learns_within_folds() -> None:
    p, q = two_sides(2, 70, 70, 5, 0.3)
    found = discriminators.discriminate(p, q)
    held_out = found.held_out
    pairs = right = 0.0
    for fold in range(5):
        inside = held_out.fold_of == fold
        truth = held_out.is_model[inside]
        weight = truth.sum() * (~truth).sum()
        pairs, right = pairs + weight, right + weight * roc_auc_score(truth, held_out.scores[inside])
    assert found.auc.value == pytest.approx(right / pairs, abs=1e-12)
    accuracy = balanced_accuracy_score(held_out.is_model, held_out.scores > 0)
    assert found.accuracy.value == pytest.approx(accuracy, abs=1e-12)


def interval_of_pairs(held_out: HeldOut, level: float) -> tuple[float, tuple[float, float], float]:
    """Value, interval and p-value text by text, from the formulas of the docstring."""
    folds, sides = np.unique(held_out.fold_of), (False, True)
    masks = {(k, side): (held_out.fold_of == k) & (held_out.is_model == side) for k in folds for side in sides}
    sizes = {key: int(mask.sum()) for key, mask in masks.items()}
    of_pairs = {}
    for k in folds:
        human, model = held_out.scores[masks[k, False]], held_out.scores[masks[k, True]]
        of_pairs[k] = np.array([[(b > a) + 0.5 * (b == a) for b in model] for a in human])
    total = sum(table.size for table in of_pairs.values())
    value = sum(table.sum() for table in of_pairs.values()) / total

    def variance(theta: float) -> float:
        parts = []
        for table in of_pairs.values():
            shape = (1 - theta) / (2 - theta) + theta / (1 + theta)
            of_fold = theta * (1 - theta) * (1 + (sum(table.shape) / 2 - 1) * shape) / table.size
            parts.append((table.size / total) ** 2 * of_fold)
        return sum(parts)

    spread, freedoms, is_grouped = 0.0, [], False
    shifts: dict[int, float] = {}
    for side in sides:
        own_groups = held_out.groups[held_out.is_model == side]
        for group in np.unique(own_groups):
            shift = 0.0
            for k in folds:
                chosen = held_out.groups[masks[k, side]] == group
                share = of_pairs[k].mean(axis=0 if side else 1)[chosen]
                m = sizes[k, side]
                shift += of_pairs[k].size / total * float((share - value).sum()) / np.sqrt(m * max(m - 1, 1))
            shifts[group] = shifts.get(group, 0.0) + shift / max(1 - (own_groups == group).mean(), 1 / len(own_groups))
        counts = np.unique(own_groups, return_counts=True)[1]
        freedoms.append(counts.sum() ** 2 / (counts**2).sum() - 1)
        is_grouped |= bool(counts.max() > 1)
    spread = sum(shift**2 for shift in shifts.values())
    factor = 2 * max(1.0, spread / variance(value))
    freedom = max(min(freedoms), 1.0) if is_grouped else np.inf
    z = t.isf((1 - level) / 2, freedom)
    ends = [
        brentq(lambda theta: (value - theta) ** 2 - z**2 * factor * variance(theta), value, end) for end in (0.0, 1.0)
    ]
    return value, (ends[0], ends[1]), float(t.sf((value - 0.5) / np.sqrt(factor * variance(0.5)), freedom))


@pytest.mark.parametrize("groups_of", [1, 2, 7, 39])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_is_that_of_the_formula(groups_of: int, level: float) -> None:
    rng = np.random.default_rng(groups_of)
    is_model = np.arange(70) >= 40
    groups = np.arange(70) // groups_of  # one of seven has texts of both sides
    fold_of = np.arange(70) // min(groups_of, 7) % 3
    scores = np.round(rng.normal(size=groups.max() + 1)[groups] + rng.normal(size=70) + 0.9 * is_model, 1)
    held_out = HeldOut(scores, is_model, fold_of, groups)
    value, ci, p_value = interval_of_pairs(held_out, level)
    measured = auc_of_scores(held_out, level)
    assert measured.value == pytest.approx(value, abs=1e-12)
    assert measured.ci == pytest.approx(ci, abs=1e-9)
    assert measured.p_value == pytest.approx(p_value, rel=1e-9)


@pytest.mark.parametrize("groups_of", [1, 2])
def test_the_interval_of_folds_with_a_single_text_of_a_side(groups_of: int) -> None:
    is_model = np.array([False, True, True, True, False, False, False, False, True])
    fold_of = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    held_out = HeldOut(
        np.array([2.0, 1.0, 3.0, 4.0, 1.0, 2.0, 5.0, 3.0, 3.0]), is_model, fold_of, np.arange(9) // groups_of
    )
    value, ci, p_value = interval_of_pairs(held_out, 0.9)
    measured = auc_of_scores(held_out, 0.9)
    assert measured.value == pytest.approx(value, abs=1e-12)
    assert measured.ci == pytest.approx(ci, abs=1e-9)
    assert measured.p_value == pytest.approx(p_value, rel=1e-9)


@pytest.mark.parametrize("in_pairs", [False, True])
def test_the_interval_of_scores_that_are_mostly_equal_and_of_folds_of_one_pair(in_pairs: bool) -> None:
    """Ties leave less variance than the formula has, which is not made smaller by them."""
    is_model, groups = np.arange(60) % 2 == 0, np.arange(60)
    scores = (np.random.default_rng(0).random(60) < 0.1 + 0.1 * is_model).astype(np.float64)
    held_out = HeldOut(scores, is_model, groups // 2 if in_pairs else groups // 30, groups)
    value, ci, p_value = interval_of_pairs(held_out, 0.9)
    measured = auc_of_scores(held_out, 0.9)
    assert measured.value == pytest.approx(value, abs=1e-12)
    assert measured.ci == pytest.approx(ci, abs=1e-9)
    assert measured.p_value == pytest.approx(p_value, rel=1e-9)


@pytest.mark.filterwarnings("error")
def test_folds_without_a_side_play_no_part() -> None:
    rng = np.random.default_rng(0)
    is_model, fold_of = np.arange(40) % 2 == 0, np.repeat([0, 1, 2, 3], 10)
    is_model[fold_of == 1], is_model[fold_of == 3] = True, False
    scores = rng.normal(size=40) + is_model
    measured = auc_of_scores(HeldOut(scores, is_model, fold_of, np.arange(40)))
    of_folds = [roc_auc_score(is_model[fold_of == fold], scores[fold_of == fold]) for fold in (0, 2)]
    assert measured.value == pytest.approx(np.mean(of_folds), abs=1e-12)
    assert measured.ci is not None and measured.ci[0] < measured.value < measured.ci[1]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5])
def test_a_level_outside_of_its_range_is_refused(level: float) -> None:
    is_model = np.arange(8) >= 4
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        auc_of_scores(HeldOut(np.arange(8.0), is_model, np.zeros(8, dtype=np.int64), np.arange(8)), level)


@pytest.mark.parametrize("right", [True, False])
def test_perfect_scores_have_an_end_at_the_bound_and_one_inside(right: bool) -> None:
    is_model = np.arange(20) >= 10
    scores = is_model * (1.0 if right else -1.0)
    measured = auc_of_scores(HeldOut(scores, is_model, np.zeros(20, dtype=np.int64), np.arange(20)))
    assert measured.value == float(right) and measured.ci is not None
    assert measured.ci[int(right)] == float(right)
    theta = measured.ci[int(not right)]
    variance = theta * (1 - theta) * (1 + 9 * ((1 - theta) / (2 - theta) + theta / (1 + theta))) / 100
    assert (measured.value - theta) ** 2 == pytest.approx(norm.isf(0.025) ** 2 * 2 * variance, rel=1e-9)
    null = (1 + 9 * (1 / 3 + 1 / 3)) / 400
    z = (0.5 if right else -0.5) / np.sqrt(2 * null)
    assert measured.p_value == pytest.approx(norm.sf(z), rel=1e-9)


def test_without_any_error_the_largest_groups_widen_the_interval() -> None:
    """All pairs in the right order: the factor is the mean size of a text's group."""
    is_model = np.arange(24) >= 12
    held_out = HeldOut(is_model * 1.0, is_model, np.zeros(24, dtype=np.int64), np.arange(24) // 3)
    measured = auc_of_scores(held_out)
    assert measured.value == 1.0 and measured.ci is not None and measured.ci[1] == 1.0
    z2, theta = t.isf(0.025, 12 / 3 - 1) ** 2, measured.ci[0]
    variance = theta * (1 - theta) * (1 + 11 * ((1 - theta) / (2 - theta) + theta / (1 + theta))) / 144
    assert (1 - theta) ** 2 == pytest.approx(z2 * 2 * 3 * variance, rel=1e-9)


def test_where_all_scores_are_equal_the_largest_groups_widen_the_interval() -> None:
    is_model = np.arange(24) >= 12
    held_out = HeldOut(np.zeros(24), is_model, np.zeros(24, dtype=np.int64), np.arange(24) // 3)
    measured = auc_of_scores(held_out)
    assert measured.value == 0.5 and measured.p_value == 0.5 and measured.ci is not None
    z2, theta = t.isf(0.025, 12 / 3 - 1) ** 2, measured.ci[0]
    variance = theta * (1 - theta) * (1 + 11 * ((1 - theta) / (2 - theta) + theta / (1 + theta))) / 144
    assert (0.5 - theta) ** 2 == pytest.approx(z2 * 2 * 3 * variance, rel=1e-9)


def by_mean_difference(rows: np.ndarray, is_model: np.ndarray, fold_of: np.ndarray) -> np.ndarray:
    """Scores by the simplest classifier there is, cross-fitted: fast enough for hundreds of runs."""
    scores = np.zeros(len(rows))
    for fold in range(5):
        seen = fold_of != fold
        direction = rows[seen & is_model].mean(axis=0) - rows[seen & ~is_model].mean(axis=0)
        scores[~seen] = (rows[~seen] - rows[seen].mean(axis=0)) @ direction
    return scores


@pytest.mark.more
@pytest.mark.parametrize(("n", "d", "copies"), [(25, 2, 1), (60, 50, 1), (60, 10, 3)])
def test_equal_sets_are_rarely_told_apart(n: int, d: int, copies: int) -> None:
    runs, level = 200, 0.9
    is_model = np.repeat([False, True], n)
    groups = np.arange(2 * n) // copies
    missed, convinced, values = np.zeros(2), np.zeros(2), np.zeros((runs, 2))
    for run in range(runs):
        rng = np.random.default_rng(run)
        rows = np.repeat(rng.normal(size=(2 * n // copies, d)), copies, axis=0) + 0.5 * rng.normal(size=(2 * n, d))
        fold_of = assign_folds(groups, is_model, run)
        held_out = HeldOut(by_mean_difference(rows, is_model, fold_of), is_model, fold_of, groups)
        for number, estimate in enumerate((auc_of_scores(held_out, level), accuracy_of_scores(held_out, level))):
            assert estimate.ci is not None and estimate.p_value is not None
            values[run, number] = estimate.value
            missed[number] += not estimate.ci[0] <= 0.5 <= estimate.ci[1]
            convinced[number] += estimate.p_value < (1 - level) / 2
    # more than the binomial's quantile at four standard deviations would say that the level is not kept; the variance
    # of independent folds or of independent texts leaves ½ out twice as often and more
    assert (missed <= binom.isf(norm.sf(4), runs, 1 - level)).all()
    assert (convinced <= binom.isf(norm.sf(4), runs, (1 - level) / 2)).all()
    # ½ on average: within four standard errors
    assert (np.abs(values.mean(axis=0) - 0.5) < 4 * values.std(axis=0) / np.sqrt(runs)).all()


@pytest.mark.more
@pytest.mark.parametrize("sizes", [[120] + [1] * 297, [100, 100] + [2] * 100])
def test_equal_sets_with_a_few_large_prompts_are_rarely_told_apart(sizes: list[int]) -> None:
    runs, level = 150, 0.95
    codes = np.repeat(np.arange(len(sizes)), sizes)
    is_model = np.arange(300 + len(codes)) >= 300
    groups = np.concatenate([len(sizes) + np.arange(300), codes])
    missed = np.zeros(2)
    for run in range(runs):
        rng = np.random.default_rng(run)
        of_groups, of_texts = rng.normal(size=(groups.max() + 1, 20)), rng.normal(size=(len(groups), 20))
        rows = np.sqrt(0.7) * of_groups[groups] + np.sqrt(0.3) * of_texts
        fold_of = assign_folds(groups, is_model, run)
        held_out = HeldOut(by_mean_difference(rows, is_model, fold_of), is_model, fold_of, groups)
        for number, estimate in enumerate((auc_of_scores(held_out, level), accuracy_of_scores(held_out, level))):
            assert estimate.ci is not None
            missed[number] += not estimate.ci[0] <= 0.5 <= estimate.ci[1]
    # four standard deviations of the binomial; deviations from the mean of a fold that is one prompt miss ½ in a third
    assert (missed <= binom.isf(norm.sf(4), runs, 1 - level)).all(), missed
