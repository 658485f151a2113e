"""Near copies and answers to one prompt are found within each set, and independent draws are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.arrays import Integers
from mauve_metric.measures import repeats
from mauve_metric.measures.repeats import CHANCE, LEAST_SHARE, NEIGHBOURS, _groups, _nearest, find_repeats
from mauve_metric.measures.undeclared_pairs import standardised


def answers(rng: np.random.Generator, numbers: Integers, d: int = 100, correlation: float = 0.8) -> np.ndarray:
    """Shuffled rows of so many answers to each prompt."""
    prompts = np.repeat(rng.normal(size=(len(numbers), d)), numbers, axis=0)
    rows = np.sqrt(correlation) * prompts + np.sqrt(1 - correlation) * rng.normal(size=prompts.shape)
    return rows[rng.permutation(len(rows))]


def test_answers_in_groups_of_unequal_size_are_found_on_either_side() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(1, 10, size=60)
    model = answers(rng, numbers)
    human = rng.normal(size=model.shape)
    for sides, of_answers in (((human, model), 1), ((model, human), 0)):
        found = find_repeats(*standardised(*sides), seed=25)
        assert found[of_answers].grouped > 0.9 and found[1 - of_answers].grouped < LEAST_SHARE
        codes = found[of_answers].groups
        assert len(np.unique(codes[codes >= 0])) == pytest.approx((numbers > 1).sum(), abs=4)
        assert (found[1 - of_answers].groups < 0).all()


def test_both_sides_with_prompts_of_their_own_are_seen_by_the_ratio_of_distances() -> None:
    rng = np.random.default_rng(1)
    found = find_repeats(*standardised(*(answers(rng, np.full(60, 4)) for _ in range(2))))
    assert min(repeats.spaced for repeats in found) > 0.9


@pytest.mark.parametrize("kinds", [1, 5, 20, 60, 200])
def test_independent_draws_of_kinds_of_texts_repeat_nothing(kinds: int) -> None:
    """One text in a hundred is taken for a repeat: of 5 times 300, four standard errors are .010."""
    rng, shares = np.random.default_rng(kinds), []
    for _ in range(5):
        centres = 1.5 * rng.normal(size=(kinds, 50))
        sides = (centres[rng.integers(kinds, size=300)] + rng.normal(size=(300, 50)) for _ in range(2))
        shares += [repeats.grouped for repeats in find_repeats(*standardised(*sides))]
    assert np.mean(shares) < 2 * CHANCE + 0.01 and max(shares) < LEAST_SHARE + 0.02


def test_pairs_of_both_sides_are_no_repeats_of_one() -> None:
    rng = np.random.default_rng(2)
    common = rng.normal(size=(200, 50))
    p, q = (common + 0.3 * rng.normal(size=(200, 50)) for _ in range(2))
    assert max(repeats.spaced for repeats in find_repeats(*standardised(p, q))) < LEAST_SHARE


@pytest.mark.parametrize(("d", "shift"), [(20, 2.0), (20, 5.0), (384, 1.0)])
def test_sets_that_are_far_apart_repeat_nothing(d: int, shift: float) -> None:
    """All texts of the other set are then at about one distance, which is not that of chance."""
    p, q = np.random.default_rng(5).normal(size=(2, 200, d))
    found = find_repeats(*standardised(p, q + shift))
    assert max(max(repeats.grouped, repeats.spaced) for repeats in found) < LEAST_SHARE


def test_few_rows_have_no_repeats() -> None:
    rows = np.tile(np.random.default_rng(3).normal(size=(5, 4)), (2, 1)).astype(np.float32)
    assert len(rows) == NEIGHBOURS
    found = find_repeats(rows, rows)
    assert [(repeats.grouped, repeats.spaced, set(repeats.groups)) for repeats in found] == [(0.0, 0.0, {-1})] * 2


@pytest.mark.parametrize(
    ("seed", "correlation", "sizes"), [(2, 0.7, (1, 4)), (0, 0.7, (4, 4)), (0, 0.7, (3, 2)), (2, 0.3, (3, 2))]
)
def test_shares_and_groups_are_those_of_the_definitions(seed: int, correlation: float, sizes: tuple[int, int]) -> None:
    """All distances, a row at a time; answers of one size on each side, so that one, both or none repeat themselves."""
    rng = np.random.default_rng(seed)
    numbers = [np.full(n // size, size) for n, size in zip((60, 72), sizes, strict=True)]
    sides = standardised(*(answers(rng, of_side, 12, correlation) for of_side in numbers))
    rows = [side.astype(np.float64) for side in sides]

    def nearest(of: int, others: int) -> np.ndarray:
        away = np.linalg.norm(rows[of][:, None] - rows[others][None], axis=2)
        if of == others:
            np.fill_diagonal(away, np.inf)
        return np.sort(away, axis=1)

    within, across = [nearest(side, side) for side in (0, 1)], [nearest(side, 1 - side) for side in (0, 1)]
    is_near = [across[side][:, 0] <= within[side][:, 9] for side in (0, 1)]
    by_chance = np.concatenate([(across[side][:, 0] / across[side][:, 9])[is_near[side]] for side in (0, 1)])
    assert len(by_chance) >= 20
    for side, found in enumerate(find_repeats(*sides)):
        ratios = within[side][:, 0] / within[side][:, 9]
        repeated = ratios < np.quantile(by_chance, 0.01)
        is_close = within[side][:, 0] < np.quantile(within[1 - side][:, 0], 0.01)
        assert found.grouped == pytest.approx(np.mean(repeated & is_close), abs=1e-12)
        assert found.spaced == pytest.approx(np.mean(repeated & is_near[side]), abs=1e-12)
        if max(found.grouped, found.spaced) > 0.1:
            np.testing.assert_array_equal(found.repeated, repeated)
            codes, expected = _nearest(sides[side], sides[side], np.arange(len(rows[side])))
            groups = _groups(codes, expected, float(np.quantile(by_chance, 0.1)))
            np.testing.assert_array_equal(found.groups, groups)
        else:
            assert not found.repeated.any() and set(found.groups.tolist()) == {-1}


def test_copies_are_at_the_least_distance() -> None:
    rows = np.repeat(np.eye(11, dtype=np.float32), 2, axis=0)
    nearest, distances = _nearest(rows, rows, np.arange(22))
    assert nearest[:, 0].tolist() == (np.arange(22) ^ 1).tolist()
    np.testing.assert_allclose(distances, [[1e-3, *[2**0.5] * 9]] * 22, rtol=1e-4)  # float32


def test_sets_of_fifty_rows_are_searched() -> None:
    rng = np.random.default_rng(6)
    rows, others = answers(rng, np.full(25, 2)), answers(rng, np.full(26, 2))
    for sides, is_searched in (((rows, others), True), ((others, rows[:49]), False), ((rows[:49], others), False)):
        found = find_repeats(*standardised(*sides))
        assert all((repeats.spaced > 0.5) == is_searched for repeats in found)
        assert [len(repeats.groups) for repeats in found] == [len(repeats.repeated) for repeats in found]
        assert [len(repeats.groups) for repeats in found] == [len(side) for side in sides]


@pytest.mark.parametrize(("fewest", "is_searched"), [(102, True), (103, False)])
def test_chance_is_known_from_enough_rows(fewest: int, is_searched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """All 50 and 52 rows of the sides have a neighbour on the other one that is nearer than the tenth of their own."""
    rng = np.random.default_rng(7)
    sides = standardised(*(answers(rng, np.full(number, 2), 3, 0.9) for number in (25, 26)))
    away = [np.linalg.norm(one[:, None] - two[None], axis=2) for one, two in ((sides[0],) * 2, sides, (sides[1],) * 2)]
    assert (away[1].min(axis=1) <= np.sort(away[0], axis=1)[:, 10]).all()
    assert (away[1].min(axis=0) <= np.sort(away[2], axis=1)[:, 10]).all()
    monkeypatch.setattr(repeats, "FEWEST_BY_CHANCE", fewest)
    found = find_repeats(*sides)
    assert any(one.spaced > 0 for one in found) == is_searched
    assert [(len(one.groups), len(one.repeated)) for one in found] == [(50, 50), (52, 52)]


def test_five_hundred_rows_of_each_set_say_what_is_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    tested, find = [], repeats._nearest

    def spy(rows: np.ndarray, others: np.ndarray, *numbers: Integers) -> tuple[Integers, np.ndarray]:
        tested.append((len(rows), len(others)))
        return find(rows, others, *numbers)

    monkeypatch.setattr(repeats, "_nearest", spy)
    rng = np.random.default_rng(9)
    sides = standardised(rng.normal(size=(600, 3)), rng.normal(size=(520, 3)))
    found = find_repeats(*sides)
    assert sorted(tested) == [(500, 520)] * 2 + [(500, 600)] * 2 and max(one.spaced for one in found) < 0.1
    same = find_repeats(*sides, seed=25)
    assert [one[2:] for one in same] == [one[2:] for one in found]


def test_blocks_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    p, q = standardised(*np.random.default_rng(8).normal(size=(2, 20, 4)))
    expected = _nearest(p, p, np.arange(20)), _nearest(p, q)
    monkeypatch.setattr(repeats, "_BLOCK", 7 * 20)
    for found, one in zip((_nearest(p, p, np.arange(20)), _nearest(p, q)), expected, strict=True):
        np.testing.assert_array_equal(found[0], one[0])
        np.testing.assert_allclose(found[1], one[1], atol=1e-3)


def test_neighbours_are_those_of_all_distances_and_groups_the_connected_ones() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(40, 6)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest, found = _nearest(rows, rows, np.arange(40))
    np.testing.assert_array_equal(nearest, np.argsort(distances, axis=1)[:, :NEIGHBOURS])
    np.testing.assert_allclose(found, np.sort(distances, axis=1)[:, :NEIGHBOURS], atol=1e-3)
    chain = np.array([[1, 4], [0, 2], [1, 3], [4, 2], [3, 0]])  # 0 – 1 – 2, and 3 nearer to none
    last = np.array([1.0, 2.0, 0.5, 1.0, 3.0])[:, None]
    distances = np.array([[0.4, 1.0], [0.4, 1.0], [0.4, 1.0], [0.5, 1.0], [0.9, 1.0]]) * last
    assert _groups(chain, distances, 0.5).tolist() == [0, 0, 0, -1, -1]
    distances[1:3, 0] = last[1:3, 0]  # row 0 alone is near to one
    assert _groups(chain, distances, 0.5).tolist() == [0, 0, -1, -1, -1]
