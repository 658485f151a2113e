"""Folds: even shares of both sides, groups and copies together."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GroupKFold

from mauve_metric.measures import discriminators
from mauve_metric.measures.folds import assign_folds


def two_sides(seed: int, n_p: int, n_q: int, d: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    return rng.normal(size=(n_p, d)) @ mixing, rng.normal(size=(n_q, d)) @ mixing + shift


def test_groups_and_copies_stay_in_one_fold() -> None:
    p, q = two_sides(3, 80, 80, 3, 0.0)
    q[:20] = q[20:40] = p[:20]
    prompts = [index // 2 for index in range(80)]
    held_out = discriminators.discriminate(p, q, groups_p=prompts, groups_q=prompts).held_out
    folds_p, folds_q = held_out.fold_of[:80], held_out.fold_of[80:]
    assert (folds_p == folds_q).all()  # row i of both sides has one prompt
    assert (folds_p[0::2] == folds_p[1::2]).all()
    assert (folds_q[:20] == folds_q[20:40]).all()
    # GroupKFold makes the same promise: no group in two folds, every fold with both sides
    assert len(list(GroupKFold(5).split(folds_p, groups=held_out.fold_of[:80]))) == 5
    assert all(len(set(held_out.fold_of[held_out.groups == group])) == 1 for group in held_out.groups)


def test_folds_hold_even_shares_of_both_sides() -> None:
    groups = np.repeat(np.arange(60), 2)
    set_of = np.random.default_rng(0).integers(0, 2, size=120)
    fold_of = assign_folds(groups, set_of, 5, 0, ("p", "q"))
    for side in (0, 1):
        counts = np.bincount(fold_of[set_of == side], minlength=5)
        assert counts.max() - counts.min() <= 3
