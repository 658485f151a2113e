"""Prompts are found where the order of the rows shows them, and files in the order of topics or dates show none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mauve_metric.measures.prompt_order import find_prompt_order
from mauve_metric.measures.shared_prompts import standardised

Rows = np.ndarray


def answers(rng: np.random.Generator, prompts: Rows, number: int, correlation: float, rounds: bool = False) -> Rows:
    """Rows that share a part with the row of their prompt."""
    of = np.tile(np.arange(len(prompts)), number) if rounds else np.repeat(np.arange(len(prompts)), number)
    noise = rng.normal(size=(len(of), prompts.shape[1]))
    return np.sqrt(correlation) * prompts[of] + np.sqrt(1 - correlation) * noise


@pytest.mark.parametrize("rounds", [False, True])
@pytest.mark.parametrize("number", [2, 5])
def test_weak_correlations_in_few_columns_are_found_in_one_set(number: int, rounds: bool) -> None:
    """The excess is 10 standard errors and more in the mean, and 5 are asked for."""
    rng = np.random.default_rng(number)
    prompts = rng.normal(size=(300 // number, 20))
    model = answers(rng, prompts, number, 0.3, rounds)
    for rows in ((rng.normal(size=(250, 20)), model), (model, rng.normal(size=(250, 20)))):
        codes, shared = find_prompt_order(*standardised(*rows))
        side = 0 if rows[0] is model else 1
        expected = np.arange(300) % len(prompts) if rounds else np.arange(300) // number
        np.testing.assert_array_equal(codes[side], expected)
        assert codes[1 - side] is None and not shared


@pytest.mark.parametrize("numbers", [(1, 1), (1, 4), (3, 1), (3, 2)])
def test_sets_in_step_have_the_prompts_of_each_other(numbers: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    prompts = rng.normal(size=(120, 20))
    codes, shared = find_prompt_order(*standardised(*(answers(rng, prompts, number, 0.4) for number in numbers)))
    assert shared
    for side, number in zip(codes, numbers, strict=True):
        np.testing.assert_array_equal(side, np.repeat(np.arange(120), number))
    other = answers(rng, prompts[rng.permutation(120)], numbers[1], 0.4)
    assert not find_prompt_order(*standardised(answers(rng, prompts, numbers[0], 0.4), other))[1]


def independent(rng: np.random.Generator) -> Rows:
    return rng.normal(size=(120, 10))


def heavy_tails(rng: np.random.Generator) -> Rows:
    return rng.standard_cauchy(size=(120, 10))


def topics(rng: np.random.Generator) -> Rows:
    """About ten rows of each topic follow each other."""
    return rng.normal(size=(15, 10))[np.sort(rng.integers(15, size=120))] + rng.normal(size=(120, 10))


def drift(rng: np.random.Generator) -> Rows:
    return 0.1 * rng.normal(size=(120, 10)).cumsum(axis=0) + rng.normal(size=(120, 10))


@pytest.mark.parametrize("rows", [independent, heavy_tails, topics, drift])
def test_files_without_prompts_show_none(rows: Callable[[np.random.Generator], Rows]) -> None:
    """5 standard errors are exceeded by chance once in thousands of files, and so never twice in 30."""
    rng = np.random.default_rng(1)
    shown = [find_prompt_order(*standardised(rows(rng), rows(rng))) for _ in range(30)]
    assert sum(shared or any(side is not None for side in codes) for codes, shared in shown) <= 1


def test_few_prompts_are_not_looked_for() -> None:
    rng = np.random.default_rng(2)
    model = answers(rng, rng.normal(size=(9, 50)), 2, 0.9)
    assert find_prompt_order(*standardised(model, rng.normal(size=(40, 50)))) == ([None, None], False)
