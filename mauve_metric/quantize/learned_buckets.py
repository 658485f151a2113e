"""Buckets of the scores of a cross-fitted classifier."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Features, Integers, Labels
from mauve_metric.measures.cross_fitting import buckets_of_ranks, cross_fit, same_rows


def learned_labels(
    rows: Features, is_model: np.ndarray[tuple[int], np.dtype[np.bool_]], groups: Integers | None, k: int, seed: int
) -> Labels:
    """The bucket of each row, from the most human to the most model-like score, (n,) in 0 … k - 1.

    Args:
        rows: of all sets, (n, d). is_model: the side of each, (n,); with several models all of theirs.
        groups: equal numbers are texts that are not independent, (n,). k: number of buckets. seed: of the folds.

    Raises:
        ValueError: fewer than two texts a side that are neither copies nor of one group.
    """
    return buckets_of_ranks(cross_fit(rows, is_model, same_rows(rows, groups), seed=seed).ranks, k)
