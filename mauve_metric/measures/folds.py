"""Folds that keep groups of texts together and hold texts of all sets."""

from __future__ import annotations

import numpy as np

from mauve_metric.arrays import Integers

FOLDS = 5
_LEAST_GROUPS = 2  # of each set in a fold


def assign_folds(groups: Integers, set_of: Integers, folds: int, seed: int, names: tuple[str, ...]) -> Integers:
    """A fold for every text, (n,): a group stands in one fold, and each set is spread evenly.

    The largest groups come first, those of one size in random order; each goes to the fold that has the smallest
    shares so far of the sets it holds.

    Args:
        groups: of each text, numbered from 0, (n,).
        set_of: the number of the set that each text belongs to, (n,).
        names: of the sets, for messages.

    Raises:
        ValueError: folds below 2, or a set with fewer than two groups a fold.

    >>> assign_folds(np.array([0, 0, 1, 2, 3, 4]), np.array([0, 1, 0, 1, 0, 1]), 1, 0, ("p_features", "q_features"))
    Traceback (most recent call last):
    ValueError: folds must be at least 2, got 1
    """
    if folds < 2:
        raise ValueError(f"folds must be at least 2, got {folds}")
    sizes = np.zeros((int(groups.max()) + 1, len(names)))
    np.add.at(sizes, (groups, set_of), 1)
    for name, found in zip(names, (sizes > 0).sum(axis=0).tolist(), strict=True):
        if found < _LEAST_GROUPS * folds:
            raise ValueError(
                f"{name} must have at least {_LEAST_GROUPS * folds} texts that are neither copies nor of one prompt, "
                f"two for each of {folds} folds, got {found}"
            )
    chosen = _spread(sizes / sizes.sum(axis=0), folds, seed)[groups]
    for name, number in zip(names, range(len(names)), strict=True):
        empty = folds - len(np.unique(chosen[set_of == number]))
        if empty:
            raise ValueError(f"{name} cannot be spread over {folds} folds: too many of its texts have one prompt")
    return chosen


def _spread(shares: np.ndarray, folds: int, seed: int) -> Integers:
    """A fold for every group, from its shares of the sets, (groups, sets)."""
    order = np.random.default_rng(seed).permutation(len(shares))
    order = order[np.argsort(-shares[order].sum(axis=1), kind="stable")]
    filled = np.zeros((folds, shares.shape[1]))
    fold_of = np.zeros(len(shares), dtype=np.int64)
    for group in order:
        share = shares[group]
        fold = int(np.argmin(filled @ share + 1e-9 * filled.sum(axis=1)))
        filled[fold] += share
        fold_of[group] = fold
    return fold_of
