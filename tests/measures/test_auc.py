"""Area under the ROC curve and accuracy against scikit-learn, and how often equal sets are told apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from mauve_metric.apps.describing.distances import discriminators
from mauve_metric.apps.describing.distances.discriminators import accuracy_of_scores
from mauve_metric.measures.auc import HeldOut, auc_of_scores
from mauve_metric.measures.cross_fitting import assign_folds


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


def by_mean_difference(rows: np.ndarray, is_model: np.ndarray, fold_of: np.ndarray) -> np.ndarray:
    """Scores by the simplest classifier there is, cross-fitted: fast enough for hundreds of runs."""
    scores = np.zeros(len(rows))
    for fold in range(5):
        seen = fold_of != fold
        direction = rows[seen & is_model].mean(axis=0) - rows[seen & ~is_model].mean(axis=0)
        scores[~seen] = (rows[~seen] - rows[seen].mean(axis=0)) @ direction
    return scores


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
