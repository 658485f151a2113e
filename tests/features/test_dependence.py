"""The groups of texts that are not independent: declared, copies, and found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from mauve_metric.features import dependence
from mauve_metric.features.dependence import paired, with_dependence
from mauve_metric.features.feature_set import FeatureSet, Repetition
from mauve_metric.measures.cross_fitting import without_large


def pairs(n: int = 100, d: int = 50, seed: int = 0) -> tuple[FeatureSet, FeatureSet]:
    """Sets whose rows belong together in their order."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, d))
    one, two = (FeatureSet(common + 0.3 * rng.normal(size=(n, d))) for _ in range(2))
    return one, two


def test_pairs_that_nobody_declared_are_groups() -> None:
    human, model = with_dependence(pairs())
    assert human.design == model.design == "found" and model.dependence is not None
    assert human.groups is not None and model.groups is not None
    assert np.mean(human.groups == model.groups) > 0.9
    assert model.dependence.partners > 90 and model.dependence.in_step == 1.0
    assert with_dependence([human, model])[1] is model  # not looked for twice


def test_pairs_in_another_order_of_rows_are_found_by_their_features() -> None:
    human, model = pairs()
    order = np.random.default_rng(1).permutation(100)
    _, expected = with_dependence([human, model])
    first, found = with_dependence([human, model.of_rows(order)])
    assert first.groups is not None and expected.groups is not None and found.groups is not None
    here = {(row, int(first.groups[row])) for row in range(100)}
    joined = {row for row, code in here if code in set(found.groups.tolist())}
    assert len(joined) == found.dependence.partners == expected.dependence.partners
    assert found.dependence.in_step < 0.2


def test_pairs_of_large_sets_are_found_among_all_texts_once_a_sample_shows_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dependence, "MOST_SEARCHED", 150)
    human, model = pairs(300)
    found = with_dependence([human, model.of_rows(np.random.default_rng(1).permutation(300))])[1].dependence
    assert found is not None and found.partners > 285  # of a sample of 150 a side about 75 have their partner in it
    apart = with_dependence([human, pairs(300, seed=9)[1]])[1].dependence
    assert apart is not None and apart.partners == 0


def test_declared_groups_stay_and_copies_join_them() -> None:
    human, model = (FeatureSet(np.random.default_rng(seed).normal(size=(20, 4))) for seed in (0, 1))
    rows = np.array(human.features)
    rows[3] = rows[0]
    declared = [replace(human, features=rows, groups=np.arange(20)), replace(model, groups=np.arange(20))]
    one, two = with_dependence(declared)
    assert one.design == two.design == "aligned" and one.groups is not None and two.groups is not None
    assert one.groups[0] == one.groups[3] == two.groups[0] == two.groups[3]
    assert len(np.unique(np.concatenate([one.groups, two.groups]))) == 19


def test_one_prompt_for_all_texts_is_no_group() -> None:
    human, model = (FeatureSet(np.random.default_rng(seed).normal(size=(20, 4))) for seed in (0, 1))
    same = np.zeros(20, dtype=np.int64)
    sides = with_dependence([replace(human, groups=same), replace(model, groups=same)])
    assert [side.groups for side in sides] == [None, None] and sides[1].design == "undeclared"


def test_several_models_share_the_groups_of_the_human_texts() -> None:
    human, first = pairs()
    _, second = pairs()
    sides = with_dependence([human, first, second, FeatureSet(np.random.default_rng(9).normal(size=(100, 50)))])
    codes = [side.groups for side in sides]
    assert all(part is not None for part in codes)
    assert np.mean(codes[0] == codes[2]) > 0.9
    assert sides[3].dependence is not None and sides[3].dependence.partners < 10


def partition(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes, return_inverse=True)[1][:, None] == np.unique(codes, return_inverse=True)[1]


def test_the_groups_of_a_model_do_not_depend_on_another_model() -> None:
    human, good = pairs()
    order = np.random.default_rng(1).permutation(100)
    other = FeatureSet(np.random.default_rng(9).normal(size=(100, 50)))
    for groups in (None, np.arange(100)):
        sides = [replace(side, groups=groups) for side in (human, good, good.of_rows(order), other)]
        together = with_dependence(sides)
        for number in (1, 2, 3):
            found, expected = paired(together[0], together[number]), with_dependence([sides[0], sides[number]])
            assert found[1].design == expected[1].design
            assert found[1].dependence is not None and expected[1].dependence is not None
            assert found[1].dependence[:3] == expected[1].dependence[:3]
            codes = [[side.groups for side in pair if side.groups is not None] for pair in (found, expected)]
            assert len(codes[0]) == len(codes[1])
            if codes[0]:
                np.testing.assert_array_equal(*(partition(np.concatenate(own)) for own in codes))
    some = np.arange(50, 100)
    part = [side.of_rows(some) for side in together]
    np.testing.assert_array_equal(paired(*part[:2])[0].groups, paired(*together[:2])[0].groups[some])


def test_equal_openings_are_prompts_unless_most_texts_begin_so() -> None:
    rng = np.random.default_rng(0)
    openings = np.arange(40, dtype=np.uint64)
    human, model = (FeatureSet(rng.normal(size=(40, 3)), opening_hashes=openings) for _ in range(2))
    assert with_dependence([human, model])[1].dependence.partners == 40
    common = np.zeros(40, dtype=np.uint64)
    human, model = (FeatureSet(rng.normal(size=(40, 3)), opening_hashes=common) for _ in range(2))
    assert with_dependence([human, model])[1].design == "undeclared"


def test_declared_groups_in_another_order_of_rows_are_in_step() -> None:
    human, model = pairs()
    order = np.random.default_rng(1).permutation(100)
    declared = [replace(human, groups=np.arange(100)), replace(model.of_rows(order), groups=order)]
    right = with_dependence(declared)[1].dependence
    wrong = with_dependence([declared[0], replace(declared[1], groups=np.arange(100))])[1].dependence
    assert right is not None and wrong is not None and right.design == wrong.design == "aligned"
    assert right.in_step == 1.0 and wrong.in_step is not None and wrong.in_step < 0.2


def normal(n: int, d: int = 50, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def answers(prompts: int, times: int, seed: int, d: int = 100, noise: float = 0.5) -> np.ndarray:
    """Shuffled rows of several answers to each of so many prompts; without noise they are copies."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(rng.normal(size=(prompts, d)), times, axis=0)
    return rng.permutation(rows + noise * rng.normal(size=rows.shape))


def complete(human: np.ndarray, model: np.ndarray, **options: bool) -> tuple[FeatureSet, FeatureSet, Repetition]:
    sides = with_dependence([FeatureSet(human), FeatureSet(model)], **options)
    repetition = sides[1].dependence and sides[1].dependence.repetition
    assert repetition is not None
    return sides[0], sides[1], repetition


@pytest.mark.parametrize("noise", [0.0, 0.2, 0.5])
def test_a_model_that_repeats_itself_more_than_the_human_set_keeps_each_row_as_a_draw(noise: float) -> None:
    human, model, found = complete(normal(150, 100), answers(30, 5, 1, noise=noise))
    assert (human.groups, model.groups, model.design) == (None, None, "undeclared")
    assert found.p_share < 0.05 and found.q_share > 0.9
    assert found.excess is not None and found.excess < 1e-6 and not found.both
    assert len(np.unique(found.groups[found.groups >= 0])) == pytest.approx(30, abs=2)
    # one fold for each text, so that a classifier does not learn them by heart
    assert len(np.unique(found.units[1])) == pytest.approx(30, abs=2) and (found.units[0] < 0).mean() > 0.9


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("both", [False, True])
def test_repeats_of_the_human_set_or_of_both_alike_are_groups(noise: float, both: bool) -> None:
    human, model, found = complete(
        answers(50, 3, 2, noise=noise), answers(50, 3, 3, noise=noise) if both else normal(150, 100)
    )
    assert found.excess is None and found.p_share > 0.9 and human.groups is not None and model.groups is not None
    # of near copies as many links as possible are looked for, one in ten of them by chance
    assert len(np.unique(human.groups)) == pytest.approx(50, abs=10 if noise else 8)
    assert len(np.unique(model.groups)) == pytest.approx(50 if both else 150, abs=10 if noise else 8)
    if not noise:
        equal = human.features[:, :1] == human.features[:, 0]
        assert (human.groups[:, None] == human.groups)[equal].all()
    assert found.both is (both and noise > 0)  # copies are no answers to a prompt
    assert model.design == "undeclared"


@pytest.mark.parametrize(("more", "own"), [(0, False), (5, False), (30, True)])
def test_the_excess_must_be_a_twentieth_and_three_standard_errors(more: int, own: bool) -> None:
    human, model = normal(200, 20, 4), normal(200, 20, 5)
    model[1 : 1 + more] = model[0]
    found = complete(human, model)[2]
    share = (more + 1) / 200 if more else 0.0
    assert found.q_share == pytest.approx(share) and (found.excess is not None) == own
    if found.excess is not None:  # of repeats that depend on each other in twos
        error = np.sqrt(2 * share * (1 - share) / 200)
        assert found.excess == pytest.approx(norm.sf(share / error), rel=1e-6)


def test_a_text_that_is_a_real_share_of_a_side_is_in_every_fold() -> None:
    model = normal(200, 20, 6)
    model[1:25], model[26:31] = model[0], model[25]
    every = np.concatenate(complete(normal(200, 20, 7), model)[2].units)
    units = without_large(every, np.arange(400) >= 200)[200:]
    assert (every[200:225] >= 0).all() and (units[:25] == -1).all()
    assert (units[25:31] == units[25]).all() and units[25] >= 0 and (units[31:] == -1).all()


def test_the_same_few_texts_on_both_sides_are_draws() -> None:
    """Such as 30 answers of a few words with Zipf's shares."""
    rng, kinds = np.random.default_rng(8), normal(30, 20, 8)
    shares = 1 / np.arange(1, 31)
    human, model = (kinds[rng.choice(30, size=300, p=shares / shares.sum())] for _ in range(2))
    first, second, found = complete(human, model)
    assert found.excess is None and not found.both
    for side in (first, second):  # but for rare ones that one side alone has
        assert side.groups is None or len(np.unique(side.groups)) > 290


def test_a_text_that_each_side_has_once_is_a_pair() -> None:
    human, model = normal(100, 20, 9), normal(100, 20, 10)
    model[:3] = human[7:10]
    sides = complete(human, model)
    assert sides[0].groups is not None and sides[1].groups is not None
    assert sides[1].groups[:3].tolist() == sides[0].groups[7:10].tolist()
    assert len(np.unique(np.concatenate([side.groups for side in sides[:2]]))) == 197


@pytest.mark.parametrize(("times", "whole"), [(1, 1), (2, 2), (3, 3)])
def test_a_file_with_each_text_several_times_is_named(times: int, whole: int) -> None:
    human = np.tile(normal(40, 20, 11), (times, 1))
    assert complete(human, normal(100, 20, 12))[2].whole == (whole, 1)
    assert complete(human[:-1] if times > 1 else human, normal(100, 20, 12))[2].whole == (1, 1)


def test_prompts_of_its_own_in_each_set_are_said_and_independent_rows_are_not_looked_at() -> None:
    sides = answers(50, 4, 13), answers(50, 4, 14)
    assert complete(*sides)[2].both and not complete(sides[0], normal(200, 100, 15))[2].both
    declared = with_dependence([*map(FeatureSet, sides)], independent=True)
    assert [side.design for side in declared] == ["independent"] * 2
    assert all(side.groups is None and side.dependence.repetition is None for side in declared)


def test_equal_answers_to_one_declared_prompt_are_its_texts() -> None:
    """Those of two prompts join them."""
    codes = np.repeat(np.arange(40), 2)
    for rows, joined in (([1, 0], 0), ([2, 0], 1)):
        model = normal(80, 20, 16)
        model[rows[0]] = model[rows[1]]
        sides = [replace(FeatureSet(part), groups=codes) for part in (normal(80, 20, 17), model)]
        found = with_dependence(sides)[1]
        assert found.groups is not None and len(np.unique(found.groups)) == 40 - joined


def test_rows_that_are_in_step_in_part_are_found_by_their_features() -> None:
    """A text that is missing in one file moves all rows after it."""
    human, model = pairs()
    rows = np.delete(np.arange(100), 30)
    found = with_dependence([human.of_rows(np.arange(99)), model.of_rows(rows)])[1]
    together = with_dependence([human, model])[1]
    assert found.dependence is not None and together.dependence is not None and found.groups is not None
    assert found.dependence.in_step is not None and found.dependence.in_step < 0.5
    assert together.dependence.partners == 100
    assert np.mean(found.groups == rows) > 0.8


def test_answers_to_prompts_of_both_sides_join_the_human_texts() -> None:
    """Each human text and the nearest of the answers to its prompt are a pair."""
    rng = np.random.default_rng(4)
    prompts = 1.5 * rng.normal(size=(60, 100))
    of = np.repeat(np.arange(60), 3)
    human, model = (FeatureSet(prompts[own] + rng.normal(size=(len(own), 100))) for own in (np.arange(60), of))
    first, found = with_dependence([human, model])
    assert first.groups is not None and found.groups is not None and found.dependence is not None
    joined = np.isin(found.groups, first.groups)
    assert joined.sum() == found.dependence.partners >= 55
    assert np.mean(found.groups[joined] == first.groups[of][joined]) > 0.9
