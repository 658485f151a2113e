"""Discriminators against scikit-learn on the same folds, and on sets whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from mauve_metric.apps.describing.distances import discriminators


def two_sides(seed: int, n_p: int, n_q: int, d: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    return rng.normal(size=(n_p, d)) @ mixing, rng.normal(size=(n_q, d)) @ mixing + shift


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
    same = discriminators.discriminate(p, p).auc
    assert same.value == 0.5


def test_the_number_format_of_a_side_is_no_difference() -> None:
    p, q = np.random.default_rng(0).normal(size=(2, 100, 4))
    p[:, 0] = q[:, 0] = 0.1  # in each format another number
    found = discriminators.discriminate(p.astype(np.float32), q)
    assert found.auc.value == pytest.approx(discriminators.discriminate(p, q).auc.value, abs=0.01)


def test_logistic_regression_rarely_tells_equal_sets_apart() -> None:
    missed = 0
    for run in range(8):
        found = discriminators.discriminate(*two_sides(run, 30, 30, 3, 0.0), seed=run, level=0.9).auc
        assert found.ci is not None
        missed += not found.ci[0] <= 0.5 <= found.ci[1]
    assert missed <= binom.isf(norm.sf(4), 8, 0.1)  # as rare as four standard deviations


def test_too_few_texts_are_named() -> None:
    p, q = two_sides(6, 30, 1, 2, 0.0)
    with pytest.raises(ValueError, match=r"at least 10 texts a side .* got 30 in the first set and 1 in the second$"):
        discriminators.discriminate(p, q)
    with pytest.raises(ValueError, match=r"at least 10 texts a side .* got 1 in the first set and 30 in the second$"):
        discriminators.discriminate(np.tile(p[:1], (30, 1)), p)
    with pytest.raises(ValueError, match=r"^features must be \(n, d\) with one d"):
        discriminators.discriminate(p, p[:, :1])
    with pytest.raises(ValueError, match=r"^groups of p must have one entry a row, got 1 for 30 rows$"):
        discriminators.discriminate(p, p, groups_p=["a"])
    with pytest.raises(ValueError, match=r"^level must be between 0 and 1, got 2$"):
        discriminators.discriminate(p, p, level=2)
    with pytest.raises(ValueError, match=r"at least 10 texts a side .* got 1 in the first set and 20 in the second$"):
        discriminators.discriminate_words(["a"], [f"text {index}" for index in range(20)])
    with pytest.raises(ValueError, match=r"^prompts must have one entry for each of model_texts, got 1 for 2$"):
        discriminators.discriminate_words(["a"], ["b", "c"], prompts=(["x"], ["y"]))


@pytest.mark.slow
def test_bag_of_words_finds_a_telling_word() -> None:
    rng = np.random.default_rng(0)
    words = np.array("rain sea ship harbour wind night day road".split())
    human = [" ".join(rng.choice(words, size=12)) for _ in range(30)]
    model = [" ".join(rng.choice(words, size=12)) for _ in range(30)]
    equal = discriminators.discriminate_words(human, model).auc
    assert equal.ci is not None and equal.ci[0] < 0.5 < equal.ci[1]
    marked = discriminators.discriminate_words(human, [f"{text} indeed" for text in model])
    assert marked.auc.value == marked.accuracy.value == 1.0
    ids = [[len(word) for word in text.split()] for text in human]
    doubled = [text * 2 for text in ids]
    assert discriminators.discriminate_words(ids, doubled, prompts=(range(30), range(30))).auc.value > 0.95
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
    assert alone == discriminators.discriminate(p, p[::-1] + 0.5).auc
    with pytest.raises(ValueError, match="models must hold at least one model"):
        discriminators.transfer_table(p, {})
