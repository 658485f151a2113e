"""Prompts that the order of the rows shows: several answers one after the other, rounds of answers, sets in step.

Features of texts that share a prompt correlate. Where the correlation is weak or the columns are few, neighbours do
not show it; means over all the rows that would share a prompt do. They are compared with rows that lie as far apart
in the file and would not share one, so that files in the order of topics or dates show nothing.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence

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
    sides = list(zip((p, q), places or [np.arange(len(rows)) for rows in (p, q)], strict=True))
    alone = [_answers_in_order(*side) for side in sides]
    numbers = [len(rows) if order is None else len(order) for (rows, _), order in zip(sides, alone, strict=True)]
    tried = [
        [order] if order is not None else [in_file[:, None], *_orders(in_file, len(in_file) / other)]
        for (_, in_file), order, other in zip(sides, alone, reversed(numbers), strict=True)
    ]
    in_step = [pair for pair in itertools.product(*tried) if len(pair[0]) == len(pair[1])]
    excess = [_excess(_more_alike(_means(p, of_p), _means(q, of_q))) for of_p, of_q in in_step]
    shared = bool(in_step) and max(excess) > ORDER_ERRORS
    orders = in_step[int(np.argmax(excess))] if shared else alone
    codes = [
        None if order is None else _codes(order)[in_file] for (_, in_file), order in zip(sides, orders, strict=True)
    ]
    return codes, shared


def _orders(places: Integers, answers: float) -> list[Integers]:
    """The rows of each prompt, (G, answers), where answers to one follow each other, and where they come in rounds."""
    number = len(places) / answers
    if answers != int(answers) or not 2 <= answers <= MOST_IN_ORDER or number != int(number) or number < FEWEST_GROUPS:
        return []
    return [places.reshape(int(number), -1), places.reshape(-1, int(number)).T]


def _codes(order: Integers) -> Integers:
    """The number of the prompt of each row, (n,), of the rows of each prompt, (G, answers)."""
    codes = np.empty(order.size, dtype=np.int64)
    codes[order] = np.arange(len(order))[:, None]
    return codes


def _answers_in_order(rows: Rows, places: Integers) -> Integers | None:
    """The rows of each prompt of one side, (G, answers), as its order shows them; None where it shows none."""
    tried = [
        (excess_of(rows[order[: _MOST_TESTED // answers]]), order)
        for answers in range(2, MOST_IN_ORDER + 1)
        for excess_of, order in zip((_excess_in_turn, _excess_in_rounds), _orders(places, answers), strict=False)
    ]
    excess, order = max(tried, key=operator.itemgetter(0), default=(0.0, places))
    return order if excess > ORDER_ERRORS else None


def _excess_in_rounds(prompts: Rows) -> float:
    """Standard errors by which answers to one prompt, (G, answers, d), are more alike than to the next in its round."""
    totals = prompts.sum(axis=1)
    in_one_round = sum(_more_alike(of_round, of_round) for of_round in prompts.swapaxes(0, 1))
    return _excess(_more_alike(totals, totals) - in_one_round)


def _excess_in_turn(prompts: Rows) -> float:
    """The same of answers that follow each other, against answers to the next prompt that are as far apart."""
    answers = prompts.shape[1]
    of_one, of_next = prompts @ prompts.swapaxes(1, 2), prompts[:-1] @ prompts[1:].swapaxes(1, 2)
    total = np.zeros(len(of_next))
    for lag in range(1, answers):
        same, other = of_one.diagonal(lag, 1, 2)[:-1], of_next.diagonal(lag - answers, 1, 2)
        total += lag * (answers - lag) * (same.mean(axis=1) - other.mean(axis=1))
    return _excess(total)


def _means(rows: Rows, order: Integers) -> Rows:
    """The directions of the mean rows of the first prompts, (G, d)."""
    means = rows[order[:_MOST_TESTED]].sum(axis=1)
    directions: Rows = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return directions


def _more_alike(p: Rows, q: Rows) -> Floats:
    """The products of rows with the same number, less those with numbers that differ by one, (n - 1,)."""
    same, after, before = (
        np.einsum("ij,ij->i", *pair) for pair in ((p[:-1], q[:-1]), (p[:-1], q[1:]), (p[1:], q[:-1]))
    )
    differences: Floats = same - (after + before) / 2
    return differences


def _excess(differences: Floats) -> float:
    """The mean in standard errors."""
    error = differences.std(ddof=1) / math.sqrt(len(differences))
    return float(differences.mean() / max(error, np.finfo(np.float32).tiny))
