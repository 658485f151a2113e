"""Discriminators against scikit-learn on the same folds, and on sets whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauve_metric.measures import discriminators, logistic
from mauve_metric.measures.folds import assign_folds
from mauve_metric.measures.separation import HeldOut, accuracy_of_scores, auc_of_scores


def two_sides(seed: int, n_p: int, n_q: int, d: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    return rng.normal(size=(n_p, d)) @ mixing, rng.normal(size=(n_q, d)) @ mixing + shift


@pytest.mark.parametrize("strength", [1e-5, 1e-3, 0.1, 1.0])
def test_logistic_regression_is_scikit_learns(strength: float) -> None:
    p, q = two_sides(0, 120, 80, 6, 0.5)
    rows, truth = np.concatenate([p, q]) + 100, np.arange(200) >= 120
    oracle = LogisticRegression(C=strength, class_weight="balanced", tol=1e-10, max_iter=10_000)
    expected = make_pipeline(StandardScaler(), oracle).fit(rows, truth).decision_function(rows)
    # both stop near a minimum of curvature 1/C and more: odds to about the gradient that is left, 1e-6 a row
    np.testing.assert_allclose(logistic.fit_logistic(rows, truth, strength)(rows), expected, atol=2e-4)


def test_sparse_counts_are_not_standardised() -> None:
    from scipy.sparse import csr_array

    counts = np.random.default_rng(0).poisson(0.4, size=(90, 30)).astype(float)
    truth = np.arange(90) % 3 == 0
    oracle = LogisticRegression(C=0.1, class_weight="balanced", tol=1e-10, max_iter=10_000).fit(counts, truth)
    found = logistic.fit_logistic(csr_array(counts), truth, 0.1)
    np.testing.assert_allclose(found.weights, oracle.coef_[0], atol=1e-4)


def test_cross_fitting_and_the_choice_of_the_penalty_by_hand() -> None:
    p, q = two_sides(1, 90, 60, 8, 0.4)
    rows, truth = np.concatenate([p, q]), np.arange(150) >= 90
    held_out = discriminators.discriminate(p, q, seed=3).held_out
    # scikit-learn on our folds: in each, the strength of the least log loss over the other folds
    expected = np.zeros(150)
    for fold in range(5):
        seen = held_out.fold_of != fold
        losses = []
        for strength in logistic.STRENGTHS:
            model = make_pipeline(
                StandardScaler(), LogisticRegression(C=strength, class_weight="balanced", tol=1e-6, max_iter=1000)
            )
            odds = cross_val_predict(
                model,
                rows[seen],
                truth[seen],
                groups=held_out.fold_of[seen],
                cv=LeaveOneGroupOut(),
                method="decision_function",
            )
            side = truth[seen]
            loss = np.logaddexp(0, np.where(side, -odds, odds))
            losses.append(loss[side].mean() + loss[~side].mean())
        model.set_params(logisticregression__C=logistic.STRENGTHS[int(np.argmin(losses))])
        expected[~seen] = model.fit(rows[seen], truth[seen]).decision_function(rows[~seen])
    np.testing.assert_allclose(held_out.scores, expected, atol=1e-3)


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


def test_groups_and_copies_stay_in_one_fold() -> None:
    p, q = two_sides(3, 80, 80, 3, 0.0)
    q[:20] = q[20:40] = p[:20]
    prompts = [index // 2 for index in range(80)]
    held_out = discriminators.discriminate(p, q, groups_p=prompts, groups_q=prompts).held_out
    folds_p, folds_q = held_out.fold_of[:80], held_out.fold_of[80:]
    assert (folds_p == folds_q).all()  # row i of both sides has one prompt
    assert (folds_p[0::2] == folds_p[1::2]).all()
    assert (folds_q[:20] == folds_q[20:40]).all()
    # GroupKFold makes the same promise: no group in two folds, every fold with both sides
    assert len(list(GroupKFold(5).split(folds_p, groups=held_out.fold_of[:80]))) == 5
    assert all(len(set(held_out.fold_of[held_out.groups == group])) == 1 for group in held_out.groups)


def test_copies_do_not_teach_the_test() -> None:
    # texts without any pattern, each five times: a classifier that meets copies of its training texts knows the side
    p, q = two_sides(4, 30, 30, 200, 0.0)
    assert discriminators.discriminate(np.tile(p, (5, 1)), np.tile(q, (5, 1))).auc.value < 0.75
    seeds = np.random.default_rng(0).random(300)
    kept_apart = np.concatenate([np.tile(p, (5, 1)), np.tile(q, (5, 1))]) + 1e-9 * seeds[:, None]
    assert discriminators.discriminate(kept_apart[:150], kept_apart[150:]).auc.value > 0.95


def test_separable_and_equal_sets() -> None:
    p, q = two_sides(5, 40, 50, 3, 30.0)
    found = discriminators.discriminate(p, q)
    assert found.auc.value == found.accuracy.value == 1.0
    for estimate in (found.auc, found.accuracy):
        assert estimate.ci is not None and estimate.p_value is not None
        assert 0.8 < estimate.ci[0] < 1.0 == estimate.ci[1]  # twenty right answers leave room for some wrong ones
        assert estimate.p_value < 1e-6
    same = discriminators.discriminator_auc(p, p)
    assert same.value == 0.5


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
        fold_of = assign_folds(groups, is_model.astype(int), 5, run, ("p", "q"))
        held_out = HeldOut(by_mean_difference(rows, is_model, fold_of), is_model, fold_of, groups)
        for number, estimate in enumerate((auc_of_scores(held_out, level), accuracy_of_scores(held_out, level))):
            assert estimate.ci is not None and estimate.p_value is not None
            values[run, number] = estimate.value
            missed[number] += not estimate.ci[0] <= 0.5 <= estimate.ci[1]
            convinced[number] += estimate.p_value < (1 - level) / 2
    # more than the binomial's 99.9 % quantile would say that the level is not kept; the variance of independent folds
    # or of independent texts leaves ½ out twice as often and more
    assert (missed <= binom.ppf(0.999, runs, 1 - level)).all()
    assert (convinced <= binom.ppf(0.999, runs, (1 - level) / 2)).all()
    # ½ on average: within four standard errors
    assert (np.abs(values.mean(axis=0) - 0.5) < 4 * values.std(axis=0) / np.sqrt(runs)).all()


def test_logistic_regression_rarely_tells_equal_sets_apart() -> None:
    missed = 0
    for run in range(8):
        found = discriminators.discriminate(*two_sides(run, 30, 30, 3, 0.0), seed=run, level=0.9).auc
        assert found.ci is not None
        missed += not found.ci[0] <= 0.5 <= found.ci[1]
    assert missed <= binom.ppf(0.999, 8, 0.1)


def test_too_few_texts_are_named() -> None:
    p, q = two_sides(6, 30, 1, 2, 0.0)
    with pytest.raises(ValueError, match=r"^q must have at least 10 texts .* got 1$"):
        discriminators.discriminate(p, q)
    with pytest.raises(ValueError, match=r"^p must have at least 10 texts .* got 1$"):
        discriminators.discriminate(np.tile(p[:1], (30, 1)), p)
    with pytest.raises(ValueError, match=r"^features must be \(n, d\) with one d"):
        discriminators.discriminate(p, p[:, :1])
    with pytest.raises(ValueError, match=r"^groups of p must have one entry a row, got 1 for 30 rows$"):
        discriminators.discriminate(p, p, groups_p=["a"])
    with pytest.raises(ValueError, match=r"^folds must be at least 3"):
        discriminators.discriminate(p, p, folds=2)
    with pytest.raises(ValueError, match=r"^level must be between 0 and 1, got 2$"):
        discriminators.discriminate(p, p, level=2)
    with pytest.raises(ValueError, match=r"^human_texts must have at least 10 texts .* got 1$"):
        discriminators.bag_of_words_auc(["a"], [f"text {index}" for index in range(20)])
    with pytest.raises(ValueError, match=r"^prompts must have one entry for each of model_texts, got 1 for 2$"):
        discriminators.bag_of_words_auc(["a"], ["b", "c"], prompts=(["x"], ["y"]))


def test_folds_hold_even_shares_of_both_sides() -> None:
    groups = np.repeat(np.arange(60), 2)
    set_of = np.random.default_rng(0).integers(0, 2, size=120)
    fold_of = assign_folds(groups, set_of, 5, 0, ("p", "q"))
    for side in (0, 1):
        counts = np.bincount(fold_of[set_of == side], minlength=5)
        assert counts.max() - counts.min() <= 3


def test_bag_of_words_knows_a_word() -> None:
    rng = np.random.default_rng(0)
    words = np.array("rain sea ship harbour wind night day road".split())
    human = [" ".join(rng.choice(words, size=12)) for _ in range(60)]
    model = [" ".join(rng.choice(words, size=12)) for _ in range(60)]
    equal = discriminators.bag_of_words_auc(human, model)
    assert equal.ci is not None and equal.ci[0] < 0.5 < equal.ci[1]
    marked = discriminators.discriminate_words(human, [f"{text} indeed" for text in model])
    assert marked.auc.value == marked.accuracy.value == 1.0
    ids = [[len(word) for word in text.split()] for text in human]
    doubled = [text * 2 for text in ids]
    assert discriminators.bag_of_words_auc(ids, doubled, prompts=(range(60), range(60))).value > 0.95
    # order alone: one word cannot tell, two can
    human, model = ([f"{a} {b} {index}" for index in range(40)] for a, b in (("up", "down"), ("down", "up")))
    assert discriminators.discriminate_words(human, model).auc.value < 0.8
    assert discriminators.discriminate_words(human, model, n=2).auc.value == 1.0


def test_transfer_table() -> None:
    p, q = two_sides(7, 60, 60, 2, 30.0)
    table = discriminators.transfer_table(p, {"one": q, "other": 2 * p.mean(axis=0) - q, "human-like": p + 1e-6})
    assert table.auc["one"]["one"].value == table.auc["other"]["other"].value == 1.0
    assert table.auc["one"]["other"].value == table.auc["other"]["one"].value == 0.0
    assert abs(table.auc["one"]["human-like"].value - 0.5) < 0.01
    assert table.mixed["one"].auc.value <= 1.0
    # the diagonal is the ordinary discriminator where the folds are the same
    alone = discriminators.transfer_table(p, {"one": q[:, ::-1] * 0 + p[::-1] + 0.5}).auc["one"]["one"]
    assert alone == discriminators.discriminator_auc(p, p[::-1] + 0.5)
    with pytest.raises(ValueError, match="models must hold at least one model"):
        discriminators.transfer_table(p, {})
