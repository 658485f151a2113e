"""Groups of texts that share prompts: their codes, the design that these tell, their counts."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from mauve_metric.measures.groups import (
    answers_of_one_side,
    code_groups,
    codes_by_content,
    count_groups,
    design_of,
    is_uneven,
    same_origin,
    stand_ins,
)


def test_equal_labels_have_equal_codes_on_all_sides() -> None:
    sides = {"human": ["a", "b", "c"], "x": ["c", "c", None], "y": None}
    found = code_groups(sides, {"human": 3, "x": 3, "y": 2})
    assert found is not None
    assert found["x"][0] == found["x"][1] == found["human"][2]
    assert len({*found["human"], *found["x"], *found["y"]}) == 3 + 1 + 2
    assert code_groups({"p": [1, 2], "q": [3, 4]}, {"p": 2, "q": 2}) is None
    with pytest.raises(ValueError, match="q must hold one group for each of 3 texts, got 2"):
        code_groups({"p": None, "q": [1, 2]}, {"p": 1, "q": 3})


@pytest.mark.parametrize(
    ("p", "q", "design"),
    [
        ([0, 1, 2], [2, 0, 1], "aligned"),
        ([0, 1, 2], [3, 4, 5], "independent"),
        ([0, 1, 2], [2, 3, 4], "prompts"),
        ([0, 0, 1], [0, 1, 1], "prompts"),
        ([0, 0, 1], [0, 1, 0], "prompts"),
        ([0, 1, 2], [3, 3, 4], "prompts"),
    ],
)
def test_the_design_follows_from_the_codes(p: list[int], q: list[int], design: str) -> None:
    assert design_of(np.array(p), np.array(q)) == design
    counts = count_groups(np.zeros(3, int), np.zeros(3, int), np.array(p), np.array(q), 1)
    assert (counts is None) == (design == "independent")


def test_counts_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    sides = [(rng.integers(4, size=n), rng.integers(7, size=n)) for n in (30, 20)]
    (p_labels, p_groups), (q_labels, q_groups) = sides
    found = count_groups(p_labels, q_labels, p_groups, q_groups, 4)
    assert found is not None
    naive = [collections.Counter(zip(groups.tolist(), labels.tolist(), strict=True)) for labels, groups in sides]
    cells = {
        (int(found.codes[group]), int(bucket)): (int(p), int(q))
        for group, bucket, p, q in zip(found.group, found.bucket, found.p, found.q, strict=True)
    }
    assert cells == {cell: (naive[0][cell], naive[1][cell]) for cell in {*naive[0], *naive[1]}}
    assert dict(zip(found.codes.tolist(), found.p_sizes.tolist(), strict=True)) == {
        code: int((p_groups == code).sum()) for code in found.codes.tolist()
    }


def test_groups_of_one_side_have_no_texts_on_the_other() -> None:
    """Whichever comes last: groups are numbered by hashes of what is in them, and of two of three one side has none."""
    are_last = set()
    for bucket in range(8):
        p_labels, p_groups = np.array([bucket, 1, 2]), np.array([4, 4, 9])
        q_labels, q_groups = np.array([1, bucket, 0]), np.array([6, 6, 4])
        found = count_groups(p_labels, q_labels, p_groups, q_groups, 8)
        assert found is not None and sorted(found.codes.tolist()) == [4, 6, 9]
        for sizes, groups in ((found.p_sizes, p_groups), (found.q_sizes, q_groups)):
            assert sizes.tolist() == [(groups == code).sum() for code in found.codes]
        for texts, labels, groups in ((found.p, p_labels, p_groups), (found.q, q_labels, q_groups)):
            assert texts.tolist() == [
                ((groups == found.codes[group]) & (labels == cell)).sum()
                for group, cell in zip(found.group, found.bucket, strict=True)
            ]
        are_last.add((found.p_sizes[-1] > 0, found.q_sizes[-1] > 0))
    assert len(are_last) == 3


def test_the_order_of_groups_follows_from_their_content_alone() -> None:
    """Each of six groups has other buckets, on one side or both; their codes are given in another order."""
    labels = [np.array([0, 1, 2, 3, 3]), np.array([0, 1, 2, 3, 1])]
    codes = [np.array([0, 1, 2, 3, 4]), np.array([5, 6, 7, 3, 4])]
    expected = codes_by_content(labels, codes)
    assert sorted({*expected[0].tolist(), *expected[1].tolist()}) == list(range(8))
    for seed in range(4):
        renamed = np.random.default_rng(seed).permutation(8)
        found = codes_by_content(labels, [renamed[side] for side in codes])
        assert [side.tolist() for side in found] == [side.tolist() for side in expected]
    labels, codes = [*labels, np.array([0, 2])], [*codes, np.array([8, 7])]
    expected = codes_by_content(labels, codes)
    assert [len(side) for side in expected] == [5, 5, 2]
    found = codes_by_content(labels, [8 - side for side in codes])
    assert [side.tolist() for side in found] == [side.tolist() for side in expected]
    assert expected[2][1] == expected[1][2] and expected[0][3] == expected[1][3]


def test_sets_are_uneven_from_a_quarter_more_texts_a_group() -> None:
    assert [is_uneven(answers) for answers in ([4, 5], [5.0, 4.0], [4, 4.9], [1, 1], [4, 4.5, 5])] == [
        *(True, True), *(False, False), True
    ]  # fmt: skip
    assert answers_of_one_side(np.array([2, 1, 4, 0]), np.array([0, 0, 3, 5])) == (1.5, 5.0)
    # no group is on one side alone, or those of one side only
    assert answers_of_one_side(np.array([2, 1]), np.array([1, 3])) == (1.0, 1.0)
    assert answers_of_one_side(np.array([2, 3]), np.array([1, 0])) == (1.0, 1.0)


def test_of_three_sets_the_one_with_the_fewest_rows_a_group_says_how_many_stay() -> None:
    set_of, codes = np.repeat([0, 1, 2], [10, 12, 8]), np.repeat(np.arange(9), [5, 5, 4, 4, 4, 2, 2, 2, 2])
    found = stand_ins(set_of, codes, seed=0)
    assert found is not None
    assert [len(np.unique(found[codes == code])) for code in range(9)] == [2] * 9


def test_a_set_without_groups_of_its_own_says_nothing_about_another() -> None:
    assert stand_ins(np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 0, 1, 5, 5]), seed=0) is None


def test_rows_stand_for_those_of_their_group_and_set_alone() -> None:
    rng = np.random.default_rng(0)
    set_of = rng.permutation(np.repeat([0, 1], 60))
    codes = np.where(set_of == 0, rng.integers(20, size=120), 100 + rng.integers(10, size=120))  # 3 and 6 texts a group
    found = stand_ins(set_of, codes, seed=1)
    assert found is not None
    np.testing.assert_array_equal(set_of[found], set_of)
    np.testing.assert_array_equal(codes[found], codes)
    np.testing.assert_array_equal(found[found], found)  # who stands for others stands for itself
    for code in np.unique(codes):
        assert len(np.unique(found[codes == code])) == min((codes == code).sum(), 3)
    assert not np.array_equal(stand_ins(set_of, codes, seed=2), found)


def test_rows_of_prompts_of_both_sets_stand_for_themselves() -> None:
    codes = np.concatenate([np.arange(20), np.repeat(np.arange(10), 5), np.repeat([50, 51], 10)])
    found = stand_ins(np.repeat([0, 1], [20, 70]), codes, seed=0)
    assert found is not None
    np.testing.assert_array_equal(found[:70], np.arange(70))
    assert len(np.unique(found[70:])) == 2


def test_items_of_one_origin_are_the_components() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 25, size=(2, 40)).tolist()
    linked = np.array([[any(c[i] == c[j] for c in columns) for j in range(40)] for i in range(40)])
    reached = np.linalg.matrix_power(linked.astype(float), 40) > 0
    groups = same_origin(*columns)
    assert 1 < len(set(groups)) < 25
    assert np.array_equal(groups[:, None] == groups[None, :], reached)
