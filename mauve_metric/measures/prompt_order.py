"""Prompts that the order of the rows shows: several answers one after the other, rounds of answers, sets in step.

Features of texts that share a prompt correlate. Where the correlation is weak or the columns are few, neighbours do
not show it; means over all the rows that would share a prompt do. They are compared with rows that lie as far apart
in the file and would not share one, so that files in the order of topics or dates show nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Integers, Rows
from mauve_metric.measures.groups import FEWEST_GROUPS

MOST_IN_ORDER = 10  # answers to a prompt
ORDER_ERRORS = 5.0  # standard errors by which rows of one prompt must be more alike, since some 40 orders are tried
_MOST_TESTED = 600  # rows or prompts


def find_prompt_order(p: Rows, q: Rows, places: Sequence[Integers] | None = None) -> tuple[list[Integers | None], bool]:
    """Find the prompts of two sets of texts that the order of their rows shows.

    Args:
        p, q: rows of `standardised`, (n_p, d) and (n_q, d).
        places: of each text in them, in the order of the files, (n_p,) and (n_q,); None: as they are.

    Returns:
        The number of the prompt of each row of both sides, (n_p,) and (n_q,), None for a side whose order shows none,
        and whether the sets have the same prompts, in the same order.

    >>> from mauve_metric.measures.shared_prompts import standardised
    >>> rng = np.random.default_rng(0)
    >>> prompts, noise = rng.normal(size=(40, 20)), rng.normal(size=(120, 20))
    >>> sides = standardised(rng.normal(size=(100, 20)), np.repeat(prompts, 3, axis=0) + noise)
    >>> (human, model), shared = find_prompt_order(*sides)
    >>> human, model[:6].tolist(), shared
    (None, [0, 0, 0, 1, 1, 1], False)
    >>> find_prompt_order(*standardised(prompts, prompts + noise[:40]))[1]
    True
    """
    sides = [_InFile(rows, np.arange(len(rows))) for rows in (p, q)]
    if places is not None:
        sides = [side._replace(places=of_side) for side, of_side in zip(sides, places, strict=True)]
    codes = [_answers_in_order(side) for side in sides]
    numbers = [len(side.rows) if of is None else int(of.max()) + 1 for side, of in zip(sides, codes, strict=True)]
    orders = [
        [of] if of is not None else [np.arange(len(side.rows)), *_orders(len(side.rows), len(side.rows) / other)]
        for side, of, other in zip(sides, codes, reversed(numbers), strict=True)
    ]
    in_step = [(of_p, of_q) for of_p in orders[0] for of_q in orders[1] if of_p.max() == of_q.max()]
    excess = [_excess(_more_alike(_means(sides[0], of_p), _means(sides[1], of_q))) for of_p, of_q in in_step]
    if in_step and max(excess) > ORDER_ERRORS:
        return list(in_step[int(np.argmax(excess))]), True
    return codes, False


class _InFile(NamedTuple):
    """Rows, (n, d), and the place there of each text in the order of its file, (n,)."""

    rows: Rows
    places: Integers

    def of_prompts(self, of: Integers, most: int) -> Rows:
        """The rows of the first prompts, (at most `most`, answers, d)."""
        answers = len(of) // (int(of.max()) + 1)
        of_prompt = self.places.reshape(answers, -1).T if of[1] > 0 else self.places.reshape(-1, answers)
        return self.rows[of_prompt[:most]]


def _answers_in_order(side: _InFile) -> Integers | None:
    """The prompts of one side, (n,), as its order shows them; None where it shows none."""
    tried = [of for answers in range(2, MOST_IN_ORDER + 1) for of in _orders(len(side.rows), answers)]
    excess = [_excess_of_answers(side, of) for of in tried]
    return tried[int(np.argmax(excess))] if tried and max(excess) > ORDER_ERRORS else None


def _orders(n: int, answers: float) -> Iterator[Integers]:
    """The prompts of n rows, (n,), where answers to one follow each other, and where they come in rounds."""
    if answers == int(answers) and 2 <= answers <= MOST_IN_ORDER and n % answers == 0 and n / answers >= FEWEST_GROUPS:
        yield np.arange(n) // int(answers)
        yield np.arange(n) % (n // int(answers))


def _excess_of_answers(side: _InFile, of: Integers) -> float:
    """Standard errors by which rows of one prompt are more alike than other rows that are as far apart."""
    answers = len(of) // (int(of.max()) + 1)
    prompts = side.of_prompts(of, _MOST_TESTED // answers)
    if of[1] > 0:  # in rounds
        totals = prompts.sum(axis=1)
        in_one_round = sum(_more_alike(of_round, of_round) for of_round in prompts.swapaxes(0, 1))
        return _excess(_more_alike(totals, totals) - in_one_round)
    of_one, of_next = prompts @ prompts.swapaxes(1, 2), prompts[:-1] @ prompts[1:].swapaxes(1, 2)
    total = np.zeros(len(of_next))
    for lag in range(1, answers):
        same, other = of_one.diagonal(lag, 1, 2)[:-1], of_next.diagonal(lag - answers, 1, 2)
        total += lag * (answers - lag) * (same.mean(axis=1) - other.mean(axis=1))
    return _excess(total)


def _means(side: _InFile, of: Integers) -> Rows:
    """The directions of the mean rows of the first prompts, (G, d)."""
    means = side.of_prompts(of, _MOST_TESTED).sum(axis=1)
    directions: Rows = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return directions


def _more_alike(one: Rows, two: Rows) -> Floats:
    """The products of rows with the same number, less those with numbers that differ by one, (n - 1,)."""
    same, after, before = (
        np.einsum("ij,ij->i", *pair) for pair in ((one[:-1], two[:-1]), (one[:-1], two[1:]), (one[1:], two[:-1]))
    )
    differences: Floats = same - (after + before) / 2
    return differences


def _excess(differences: Floats) -> float:
    """The mean in standard errors."""
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    return float(differences.mean() / max(error, np.finfo(np.float32).tiny))
