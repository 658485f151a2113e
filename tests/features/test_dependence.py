"""The groups of texts that are not independent: declared, copies, and found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mauve_metric.features import dependence
from mauve_metric.features.dependence import paired, with_dependence
from mauve_metric.features.feature_set import FeatureSet


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
    assert [side.groups for side in sides] == [None, None] and sides[1].design == "independent"


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
    assert with_dependence([human, model])[1].design == "independent"


def test_declared_groups_in_another_order_of_rows_are_in_step() -> None:
    human, model = pairs()
    order = np.random.default_rng(1).permutation(100)
    declared = [replace(human, groups=np.arange(100)), replace(model.of_rows(order), groups=order)]
    right = with_dependence(declared)[1].dependence
    wrong = with_dependence([declared[0], replace(declared[1], groups=np.arange(100))])[1].dependence
    assert right is not None and wrong is not None and right.design == wrong.design == "aligned"
    assert right.in_step == 1.0 and wrong.in_step is not None and wrong.in_step < 0.2


def test_answers_to_a_prompt_of_one_side_are_groups_whatever_the_order_of_rows() -> None:
    rng = np.random.default_rng(3)
    of = np.repeat(np.arange(30), 5)
    answers = FeatureSet(rng.normal(size=(30, 100))[of] + rng.normal(size=(150, 100)))
    human, order = FeatureSet(rng.normal(size=(150, 100))), rng.permutation(150)
    for model, own in ((answers, of), (answers.of_rows(order), of[order])):
        first, found = with_dependence([human, model])
        assert found.design == "found" and first.groups is not None and found.groups is not None
        assert len(np.unique(first.groups)) == 150
        assert np.mean([len(np.unique(own[found.groups == code])) == 1 for code in np.unique(found.groups)]) > 0.8
        assert np.mean([len(np.unique(found.groups[own == prompt])) == 1 for prompt in range(30)]) > 0.8
    human = with_dependence([answers, FeatureSet(human.features)])[0]
    assert human.groups is not None and len(np.unique(human.groups)) < 50


def test_weak_answers_in_order_are_groups() -> None:
    """Neighbours do not show them in 20 columns."""
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(60), 5)
    answers = FeatureSet(np.sqrt(0.3) * rng.normal(size=(60, 20))[of] + np.sqrt(0.7) * rng.normal(size=(300, 20)))
    human = FeatureSet(rng.normal(size=(300, 20)))
    for sides in ([human, answers], [answers, human]):
        groups = next(side for side in with_dependence(sides) if side.features is answers.features).groups
        assert groups is not None
        np.testing.assert_array_equal(groups[:, None] == groups, of[:, None] == of)
    assert with_dependence([human, answers.of_rows(rng.permutation(300))])[1].design == "independent"


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
    rng = np.random.default_rng(4)
    prompts = 1.5 * rng.normal(size=(60, 100))
    of = np.repeat(np.arange(60), 3)
    human, model = (FeatureSet(prompts[own] + rng.normal(size=(len(own), 100))) for own in (np.arange(60), of))
    first, found = with_dependence([human, model])
    assert first.groups is not None and found.groups is not None
    assert np.mean(found.groups == first.groups[of]) > 0.9
