"""Real or Fake Text: scores of guesses of the sentence at which a machine took over.

A text has `sentences` sentences. Its boundary is the number of the first one by a machine, from 2, and `sentences` + 1
where there is none; a guess is the same number as a player gave it. Pure functions of arrays.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.apps.judging.statistics.judgement_options import FULL_POINTS, RUN, SENTENCES
from mauve_metric.arrays import Array, Floats, Integers


def boundary_points(
    boundary: ArrayLike, guess: ArrayLike, sentences: int = SENTENCES, *, all_human_points: float = FULL_POINTS
) -> Floats:
    """The points of each round.

    5 for guess = boundary, max(5 - (guess - boundary), 0) after it, 0 before it.

    Args:
        boundary, guess: shape (n,), in 2 … sentences + 1, the last one meaning "no machine".
        sentences: of each text.
        all_human_points: for the right guess that a text is human throughout, which the paper leaves open.

    Returns:
        Shape (n,), in [0, 5], higher is better: the machine's text is found sooner.

    Raises:
        ValueError: numbers that are no sentences of the text.

    Dugan et al. 2020, §3; Dugan et al. 2023, §4.

    >>> boundary_points([4, 4, 4, 11], [4, 6, 3, 11]).tolist()
    [5.0, 3.0, 0.0, 5.0]
    """
    true, said = _places("boundary", boundary, sentences), _places("guess", guess, sentences)
    if len(true) != len(said):
        raise ValueError(f"boundary and guess must have the same length, got {len(true)} and {len(said)}")
    late = said - true
    points = np.where(late >= 0, np.maximum(FULL_POINTS - late, 0.0), 0.0)
    return np.where((true == sentences + 1) & (late == 0), all_human_points, points)


def chance_points(
    boundary: ArrayLike, sentences: int = SENTENCES, *, all_human_points: float = FULL_POINTS
) -> tuple[float, float]:
    """The mean points of two strategies without reading: guess at random, and always "no machine".

    1.30 and 1.50 where every boundary is equally frequent.

    >>> chance_points(range(2, 12))
    (1.3, 1.5)
    """
    true = _places("boundary", boundary, sentences)
    counts = np.bincount(true, minlength=sentences + 2)[2:].astype(np.float64)  # of each boundary, no machine the last
    points = FULL_POINTS - np.arange(min(math.ceil(FULL_POINTS), sentences))  # of a guess so many sentences too late
    totals = np.convolve(counts, points)[:sentences]
    totals[-1] += counts[-1] * (all_human_points - FULL_POINTS)
    means = totals / len(true)
    return math.fsum(means) / sentences, float(means[-1])


def krippendorff_alpha(values: ArrayLike, units: ArrayLike) -> float:
    """Krippendorff's α for categories: how far judges agree on what they judged together.

    α = 1 - D_o / D_e, with D_o the share of unequal pairs within units, each unit of m judgements weighing m, and D_e
    that share among all judgements.

    Args:
        values: the category of each judgement, (n,). units: what it is about, (n,); units with a single judgement do
            not count.

    Returns:
        At most 1, which is full agreement; 0 is chance, below 0 are judges who disagree more often than that.

    Raises:
        ValueError: no unit with two judgements, or a single category, for which α is not defined.

    Krippendorff 2011.

    >>> krippendorff_alpha([1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2]).__round__(4)
    0.4444
    """
    _, category = np.unique(np.asarray(values), return_inverse=True)
    _, unit = np.unique(np.asarray(units), return_inverse=True)
    counts = np.zeros((unit.max() + 1 if len(unit) else 0, category.max() + 1 if len(category) else 0))
    np.add.at(counts, (unit, category), 1)
    sizes = counts.sum(axis=1)
    counts, sizes = counts[sizes > 1], sizes[sizes > 1]
    total = sizes.sum()
    if not total:
        raise ValueError("no two judgements are about the same text: there is no agreement to measure")
    unequal = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    shares = counts.sum(axis=0)
    expected = total**2 - (shares**2).sum()
    if not expected:
        raise ValueError("all judgements are the same: agreement beyond chance is not defined")
    return float(1 - (total - 1) * unequal.sum() / expected)


def in_runs(guess: ArrayLike, players: ArrayLike, length: int = RUN) -> Array:
    """Mark guesses in a run of at least `length` equal ones by the same player, in the order given: (n,) bool.

    >>> in_runs([3, 3, 3, 4], ["a", "a", "a", "a"], length=3).tolist()
    [True, True, True, False]
    """
    said = np.asarray(guess)
    _, who = np.unique(np.asarray(players), return_inverse=True)
    order = np.argsort(who, kind="stable")  # each player's guesses one after the other
    ordered, of = said[order], who[order]
    changes = (ordered[1:] != ordered[:-1]) | (of[1:] != of[:-1])
    starts = np.flatnonzero(np.r_[True, changes]) if len(said) else np.zeros(0, dtype=np.int64)
    sizes = np.diff(np.r_[starts, len(said)])
    is_in_run = np.zeros(len(said), dtype=bool)
    is_in_run[order] = np.repeat(sizes >= length, sizes)
    return is_in_run


def _places(name: str, values: ArrayLike, sentences: int) -> Integers:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or not len(numbers):
        raise ValueError(f"{name} must be at least one number, got the shape {numbers.shape}")
    if numbers.dtype.kind not in "iu" or numbers.min() < 2 or numbers.max() > sentences + 1:
        wrong = next((number for number in numbers.tolist() if number not in range(2, sentences + 2)), numbers.dtype)
        raise ValueError(
            f"{name} must be whole numbers from 2 to {sentences + 1} (no machine in {sentences} sentences), got {wrong}"
        )
    return numbers.astype(np.int64)
