"""The score on learned buckets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from mauve_metric import compare, compute_mauve, explain
from mauve_metric.clustering.histograms import Histograms, count_labels
from mauve_metric.features.row_blocks import ArrayRows
from mauve_metric.options import MauveConfig
from mauve_metric.uncertainty.learned_score import (
    Learned,
    _Stacked,
    debiased,
    learned_estimates,
    learned_score,
    permuted_aucs,
)


def _gaussian_mauve(shift: float) -> float:
    """MAUVE of N(0, 1) and N(shift, 1), by the trapezoid rule."""
    x = np.linspace(-9, 9 + shift, 4001)
    p, q = norm.pdf(x), norm.pdf(x - shift)
    weights = np.linspace(0.005, 0.995, 199)[:, None]
    mixture = weights * p + (1 - weights) * q
    one, two = (np.exp(-5 * np.trapezoid(side * np.log(side / mixture), x)) for side in (q, p))
    return float(abs(np.trapezoid(np.r_[0, two, 1], np.r_[1, one, 0])))


@pytest.mark.more
def test_it_comes_near_the_truth_where_k_means_does_not() -> None:
    rng, truth = np.random.default_rng(0), _gaussian_mauve(1.0)
    assert truth == pytest.approx(0.632, abs=0.002)
    p, q = rng.normal(size=(2, 1000, 20))
    q[:, 0] += 1
    found = compute_mauve(p_features=p, q_features=q, num_runs=1)
    assert found.mauve_debiased is not None and found.mauve_debiased > truth + 0.15
    # an upper bound, whose standard error is .02 here: 4 of them below, and .05 more above for what 20 columns cost
    assert found.mauve_classifier is not None and truth - 0.08 < found.mauve_classifier < truth + 0.13
    assert found.auc == pytest.approx(norm.cdf(1 / np.sqrt(2)), abs=0.06)  # standard error .011
    assert found.auc_p_value is not None and found.auc_p_value < 1e-6


def test_equal_sets_are_not_told_apart() -> None:
    p, q = np.random.default_rng(1).normal(size=(2, 200, 30))
    found = compute_mauve(p_features=p, q_features=q)
    assert found.mauve_classifier_ci is not None and found.mauve_classifier_ci[1] == 1
    assert found.auc_ci is not None and found.auc_ci[0] < 0.5 < found.auc_ci[1]
    assert found.auc_p_value is not None and found.auc_p_value > 0.001


def test_the_published_score_does_not_change_and_the_dict_has_the_new_ones() -> None:
    p, q = np.random.default_rng(2).normal(size=(2, 60, 5))
    found = compute_mauve(p_features=p, q_features=q, num_runs=1)
    assert {"mauve_classifier", "mauve_classifier_ci", "auc", "auc_ci", "auc_p_value"} <= set(found.to_dict())
    assert "learned" not in found.to_dict()
    assert found.learned is not None and len(found.learned.p_labels) == 60


@pytest.mark.slow
def test_of_many_texts_some_are_fitted_to_whatever_their_order_and_all_are_scored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(4)
    p, q = rng.normal(size=(1300, 5)), rng.normal(0.3, size=(1200, 5))
    exact = learned_score(p, q, None, MauveConfig())
    assert "learned_rows" not in compute_mauve(p_features=p, q_features=q, num_runs=1).signature_entries
    monkeypatch.setattr("mauve_metric.uncertainty.learned_score.MOST_FITTED", 1000)
    monkeypatch.setattr("mauve_metric.results.signature.MOST_FITTED", 1000)
    some, order = learned_score(p, q, None, MauveConfig()), rng.permutation(1300)
    other = learned_score(p[order], q, None, MauveConfig())
    in_blocks = learned_score(ArrayRows(p[order]), ArrayRows(q), None, MauveConfig())
    assert exact is not None and some is not None and other is not None and in_blocks is not None
    assert len(some.p_labels) == 1300 and some.auc != exact.auc
    assert some.auc == pytest.approx(exact.auc, abs=0.04)  # four standard errors of a difference of fits
    assert some.mauve == other.mauve and np.array_equal(some.p_labels[order], other.p_labels)
    assert in_blocks.auc == pytest.approx(some.auc, abs=1e-3)  # sums in another order move last bits
    assert compute_mauve(p_features=p, q_features=q, num_runs=1).signature_entries["learned_rows"] == 1000


def test_copies_are_one_text_and_few_texts_have_no_learned_score() -> None:
    rng = np.random.default_rng(3)
    human, nine = rng.normal(size=(60, 4)), rng.normal(size=(9, 4))
    assert learned_score(human, np.concatenate([nine, human[:1] + 1]), None, MauveConfig()) is not None
    assert learned_score(human, nine, None, MauveConfig()) is None
    assert learned_score(nine, human, None, MauveConfig()) is None
    collapsed = learned_score(human, np.tile(nine, (5, 1)), None, MauveConfig())
    assert collapsed is not None and collapsed.auc > 0.7  # each text is a real share of the set, and a draw
    copies = np.tile(rng.normal(size=(12, 4)), (5, 1))
    found = learned_score(human, copies, None, MauveConfig())
    # without groups the copies would be separated from new texts by what was learned of them
    assert found is not None and found.auc_ci[0] < 0.6


def test_groups_go_with_their_rows() -> None:
    rng = np.random.default_rng(7)
    p, q, groups = (
        rng.normal(size=(60, 3)),
        rng.normal(0.3, size=(60, 3)),
        (np.arange(60) // 2, 100 + np.arange(60) // 3),
    )
    orders = rng.permutation(60), rng.permutation(60)
    found = learned_score(p, q, groups, MauveConfig())
    moved = learned_score(p[orders[0]], q[orders[1]], (groups[0][orders[0]], groups[1][orders[1]]), MauveConfig())
    assert found is not None and moved is not None
    assert (found.ci, found.auc, found.auc_ci) == (moved.ci, moved.auc, moved.auc_ci)


@pytest.mark.parametrize("kinds", [(np.float16, np.float32), (np.float32, np.float64), (np.float64, np.float16)])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_the_number_format_of_a_side_is_no_difference(kinds: tuple[type, type], in_blocks: bool) -> None:
    p, q = np.random.default_rng(3).normal(size=(2, 120, 8))
    p[:, 0] = q[:, 0] = 0.1  # in each format another number
    p[0, 1] = q[0, 1] = 60_000  # float16 holds this one
    sides = [side.astype(kind) for side, kind in zip((p, q), kinds, strict=True)]
    found = learned_score(*(ArrayRows(side) if in_blocks else side for side in sides), None, MauveConfig())
    assert found is not None and found.auc < 0.7  # 1 where the number tells
    if not in_blocks:
        result = compute_mauve(p_features=sides[0], q_features=sides[1], quantizer="classifier", num_runs=1)
        assert result.mauve > 0.5  # the floor, .004


def test_one_side_may_be_read_in_blocks() -> None:
    p, q = np.random.default_rng(5).normal(size=(2, 40, 3))
    found = [learned_score(*sides, None, MauveConfig()) for sides in ((p, ArrayRows(q)), (ArrayRows(p), ArrayRows(q)))]
    assert found[0] is not None and found[1] is not None and found[0].auc == found[1].auc


def test_the_seed_draws_other_permutations() -> None:
    p, q = np.random.default_rng(6).normal(size=(2, 40, 3))
    aucs = [permuted_aucs(p, q, None, MauveConfig(seed=seed, permutations=5)) for seed in (1, 1, 2)]
    assert np.array_equal(aucs[0], aucs[1]) and (aucs[0] != aucs[2]).any()


@pytest.mark.parametrize("verb", [compute_mauve, explain])
def test_the_quantizer_gives_every_score_on_learned_buckets(verb: object) -> None:
    rng = np.random.default_rng(4)
    p, q = rng.normal(size=(150, 6)), rng.normal(0.8, 1, size=(150, 6))
    found = compute_mauve(p_features=p, q_features=q, quantizer="classifier", num_runs=1, permutations=19)
    plain = compute_mauve(p_features=p, q_features=q, num_runs=1)
    assert found.num_buckets == 10 and found.p_value == 0.05
    assert found.mauve_debiased == pytest.approx(plain.mauve_classifier, abs=0.05)
    assert "quantizer:classifier" in found.signature
    if verb is explain:
        explained = explain(p_features=p, q_features=q, quantizer="classifier", buckets=2)
        assert explained.buckets[0].rank == 1


@pytest.mark.slow
def test_the_permutation_test_on_learned_buckets_holds_its_level() -> None:
    rng, low = np.random.default_rng(6), 0
    for seed in range(40):
        p, q = rng.normal(size=(2, 30, 8))
        found = compute_mauve(
            p_features=p, q_features=q, quantizer="classifier", num_runs=1, permutations=9, seed=seed, knn=False
        )
        low += found.p_value is not None and found.p_value <= 0.2
    assert low <= 8 + 4 * np.sqrt(40 * 0.2 * 0.8)


def test_several_texts_a_prompt_widen_the_interval_and_the_p_value_allows_for_them() -> None:
    rng = np.random.default_rng(8)
    prompts = np.repeat(np.arange(40), 5)
    p, q = (np.repeat(rng.normal(size=(40, 60)), 5, axis=0) + 0.5 * rng.normal(size=(200, 60)) for _ in "pq")
    config = MauveConfig()
    alone, grouped = learned_score(p, q, None, config), learned_score(p, q, (prompts, 40 + prompts), config)
    assert alone is not None and grouped is not None
    # as independent texts they are told apart by prompts that the classifier has seen
    assert alone.auc_p_value < 0.001 and grouped.auc_p_value > 0.001
    assert grouped.auc_ci[0] < 0.5 < grouped.auc_ci[1]
    assert grouped.ci is not None and grouped.ci[1] == 1


def _style_sets(shifts: tuple[float, ...], n: int, seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Human rows and those of models, all of the same topics, each model shifted in one column."""
    rng = np.random.default_rng(seed)
    topics = np.repeat(10 * rng.normal(size=(10, 6)), n // 10, axis=0)
    sets = [np.column_stack([topics + rng.normal(size=(n, 6)), rng.normal(size=n) + shift]) for shift in (0, *shifts)]
    return sets[0], sets[1:]


@pytest.mark.more
def test_models_are_ranked_by_what_k_means_does_not_see() -> None:
    human, (near, far, twin) = _style_sets((0.7, 2.5, 0.7), 200, 0)
    found = compare(p_features=human, models={"far": far, "near": near, "twin": twin}, num_runs=1)
    assert set(found.learned_ranking[:2]) == {"near", "twin"} and found.learned_ranking[2] == "far"
    real = {frozenset((item.a, item.b)): item.real for item in found.learned_differences}
    assert real == {
        frozenset(("near", "far")): True, frozenset(("twin", "far")): True, frozenset(("near", "twin")): False
    }  # fmt: skip
    scores = {name: result.mauve_classifier or 0.0 for name, result in found.models.items()}
    for item in found.learned_differences:
        assert item.difference == pytest.approx(scores[item.a] - scores[item.b], abs=1e-12) and item.difference >= 0
    values = found.to_dict()
    assert values["learned_ranking"] == list(found.learned_ranking) and len(values["learned_differences"]) == 3
    assert "Differences by classifier" in found.document().terminal()


@pytest.mark.slow
@pytest.mark.parametrize("aligned", [False, True])
def test_the_covariance_of_learned_scores_is_that_of_leaving_out_each_text(aligned: bool) -> None:
    human, models = _style_sets((0.8, 1.2), 150, 1)
    config = MauveConfig()
    codes = np.arange(150) if aligned else None
    pair = None if codes is None else (codes, codes)
    found = [one for side in models if (one := learned_score(human, side, pair, config)) is not None]
    _, covariance = learned_estimates(found, [pair] * 2, config)

    def score(one: Learned, p_kept: np.ndarray, q_kept: np.ndarray) -> float:
        groups = (None, None) if codes is None else (codes[p_kept], codes[q_kept])
        counted = count_labels(one.p_labels[p_kept], one.q_labels[q_kept], len(one.histograms.p_counts), *groups)
        return debiased(counted, one.spread, config).value

    everyone = np.arange(150)
    without = [np.delete(everyone, row) for row in everyone]
    shared = np.array([[score(one, kept, kept if aligned else everyone) for kept in without] for one in found])
    expected = np.cov(shared, ddof=0) * 149
    if not aligned:
        own = [np.var([score(one, everyone, kept) for kept in without]) * 149 for one in found]
        expected += np.diag(own)
    # of a smooth function of the counts; the curvature of the score is left out of one of them
    np.testing.assert_allclose(covariance, expected, rtol=0.15, atol=0.02 * np.max(expected))


@pytest.mark.parametrize("aligned", [False, True])
def test_debiased_numbers_follow_from_the_counts_that_are_said_to_make_them(aligned: bool) -> None:
    p, q = np.random.default_rng(4).normal(size=(2, 300, 10))
    q[:, 0] += 0.4
    found = compute_mauve(p_features=p, q_features=q, aligned=aligned)
    config = MauveConfig()
    by_groups, learned = found.bounds[0], found.bounds[-1]
    assert by_groups.estimates(config).mauve.value == found.mauve_debiased
    value, error, ends, *_ = learned.estimates(config).mauve
    assert (value, error) == pytest.approx((found.mauve_classifier, found.mauve_classifier_stderr), abs=1e-12)
    assert ends == pytest.approx(found.mauve_classifier_ci, abs=1e-12)
    (counts,) = learned.histograms
    assert counts.p_counts.tolist() == list(found.learned_p_counts)
    assert counts.q_counts.tolist() == list(found.learned_q_counts)
    if not aligned:
        alone = Histograms(np.array(found.learned_p_counts), np.array(found.learned_q_counts))
        assert debiased(alone, 0.0, config).value == pytest.approx(found.mauve_classifier, abs=1e-12)
    # the shares shown are those of the published buckets
    assert found.p_hist.tolist() == (np.bincount(found.p_labels, minlength=found.num_buckets) / 300).tolist()


def test_of_many_rows_the_same_are_fitted_to_in_memory_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mauve_metric.uncertainty.learned_score.MOST_FITTED", 20)
    p, q = np.split(np.random.default_rng(9).normal(size=(65, 3)), [50])
    in_memory, blocks = _Stacked.of(p, q, None), _Stacked.of(ArrayRows(p), ArrayRows(q), None)
    rows, chosen, of_blocks = np.asarray(in_memory.rows), in_memory.fitted(3), blocks.fitted(3)
    assert isinstance(chosen, np.ndarray) and chosen.dtype == bool and isinstance(of_blocks, np.ndarray)
    assert chosen[:50].sum() == 20 and chosen[50:].all() and not np.array_equal(chosen, in_memory.fitted(4))
    texts = np.concatenate([p, q])[of_blocks]
    assert {*map(tuple, texts.tolist())} == {*map(tuple, rows[chosen].tolist())}
    assert _Stacked.of(p[:20], q, None).fitted(3) is None


@pytest.mark.parametrize(
    ("n", "divisions", "permutations"), [(90, 10, 49), (101, 9, 49), (501, 1, 13), (1001, 1, 9), (2000, 1, 9)]
)
def test_many_texts_are_divided_and_permuted_less_often(
    n: int, divisions: int, permutations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}

    def fit(*_: object, **options: object) -> None:
        asked.update(options)
        raise InterruptedError

    monkeypatch.setattr("mauve_metric.uncertainty.learned_score.cross_fit_repeatedly", fit)
    monkeypatch.setattr("mauve_metric.uncertainty.learned_score._MOST_PERMUTED", 39 * 501)
    p, q = np.split(np.random.default_rng(0).normal(size=(3 * n, 1)), [n])
    for sides in ((p, q), (q, p)):
        with pytest.raises(InterruptedError):
            learned_score(*sides, None, MauveConfig(seed=3))
        assert (asked["divisions"], asked["seed"], asked["trained_on"]) == (divisions, 3, None)
        assert asked["permutations"] == permutations
    monkeypatch.setattr("mauve_metric.uncertainty.learned_score.MOST_FITTED", n)
    with pytest.raises(InterruptedError):
        learned_score(p, q, None, MauveConfig())
    assert asked["trained_on"].sum() == 2 * n


def test_sets_that_are_apart_are_told_apart_without_an_error() -> None:
    """In the last rows of one set and the first of the other too."""
    rng = np.random.default_rng(11)
    p, q = rng.normal(size=(15, 2)), 50 + rng.normal(size=(12, 2))
    found = learned_score(p, q, None, MauveConfig())
    assert found is not None and found.auc == permuted_aucs(p, q, None, MauveConfig(permutations=1))[0] == 1
    assert found.auc_ci[0] > 0.5 and found.auc_ci[1] == 1 and found.p_ranks.max() < found.q_ranks.min()
    counts = found.histograms
    assert (counts.p_counts + counts.q_counts).all()
    assert counts.p_counts.tolist() == np.bincount(found.p_labels, minlength=len(counts.p_counts)).tolist()


def test_the_spread_before_neighbours_were_joined_widens_the_interval() -> None:
    counts = Histograms(np.array([40, 30, 30]), np.array([30, 30, 40]))
    (narrow, _), (wide, high) = (debiased(counts, spread, MauveConfig()).ci for spread in (0.0, 0.01))
    assert wide < narrow - 0.01 and high == 1


def test_permuted_classifiers_are_those_of_the_quantizer() -> None:
    """They see that one set is wider than the other, which no line tells, and take copies for one text."""
    rng, config = np.random.default_rng(12), MauveConfig(permutations=1)
    p = rng.normal(size=(60, 3))
    assert permuted_aucs(p, 4 * rng.normal(size=(60, 3)), None, config)[0] > 0.75
    copies = np.tile(rng.normal(size=(12, 3)), (5, 1))
    assert permuted_aucs(p, copies, None, config)[0] < 0.6


def test_folds_of_rows_in_blocks_do_not_depend_on_their_order() -> None:
    rng, config = np.random.default_rng(13), MauveConfig(permutations=1)
    p, q, order = rng.normal(size=(40, 3)), rng.normal(0.5, size=(40, 3)), rng.permutation(40)
    pairs = [(ArrayRows(p), ArrayRows(q)), (ArrayRows(p[order]), ArrayRows(q[::-1]))]
    one, other = (learned_score(*sides, None, config) for sides in pairs)
    assert one is not None and other is not None and one.auc == pytest.approx(other.auc, abs=1e-3)  # last bits
    aucs = [permuted_aucs(*sides, None, config) for sides in pairs]
    assert aucs[0] == pytest.approx(aucs[1], abs=1e-3)
