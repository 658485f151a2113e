"""Texts that are not independent draws: declared prompts, copies, and pairs that were not declared.

Folds, halves, permutations and errors keep texts of one group together. Copies join the groups that the caller gave.
Without any, texts that belong together are found from equal openings and features (`measures.shared_prompts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mauve_metric.arrays import Hashes, Integers
from mauve_metric.duplicates.near_duplicates import same_origin
from mauve_metric.features.feature_set import Dependence, FeatureSet
from mauve_metric.features.row_blocks import as_rows, content_order, row_hashes, some_numbers
from mauve_metric.measures.groups import FEWEST_GROUPS, design_of
from mauve_metric.measures.shared_prompts import PairSearch, find_pairs

MOST_SEARCHED = 10_000  # rows a side whose neighbours are looked for; of larger sets as many at random
OPENING_SHARE = 0.1  # of a model's texts that open like a human one: they continue the same prompts
COMMON_OPENING = 0.1  # of all texts: an opening that more have is a manner of writing, and no prompt


def with_dependence(sides: Sequence[FeatureSet], seed: int = 25) -> list[FeatureSet]:
    """Return the sides, the human one first, with the codes of all groups of texts that are not independent.

    Sides that have been through this stay as they are. `groups` is None on all sides where every text is alone.

    Args:
        seed: of the random splits that show what is chance.
    """
    if all(side.dependence is not None for side in sides):
        return list(sides)
    declared = [side.groups for side in sides if side.groups is not None]
    if len(declared) < len(sides) or len(np.unique(np.concatenate(declared))) == 1:
        declared = []  # texts of one prompt are independent given it
    design = design_of(*declared) if declared else design_of(None)
    human, *models = sides
    searches = [_search(human, model, seed) if design != "prompts" else None for model in models]
    starts = np.cumsum([0, *map(len, sides)])
    hashes = [row_hashes(side.features) for side in sides]
    # answers such as "yes" are draws, not copies
    few_kinds = any(len(np.unique(side)) < FEWEST_GROUPS for side in hashes)
    columns: list[list[object]] = [[] if few_kinds else [*np.concatenate(hashes).tolist()]]
    openings = None if declared else _shared_openings(sides)
    if declared:
        columns.append(np.concatenate(declared).tolist())
    else:
        columns += [
            _paired(search, int(start), int(starts[-1]))
            for search, start in zip(searches, starts[1:-1], strict=True)
            if search
        ]
        columns += [] if openings is None else [openings]
    codes = same_origin([None] * int(starts[-1]), *filter(None, columns))
    parts = np.split(codes, starts[1:-1])
    alone = len(np.unique(codes)) == len(codes)
    has_pairs = any(search is not None and search.found for search in searches)
    if not declared and (openings is not None or has_pairs):
        design = "found"
    facts = [None, *searches]
    return [
        replace(
            side,
            groups=None if alone else part,
            dependence=Dependence(
                design,
                0 if side is human else int(np.isin(part, parts[0]).sum()),
                _share_in_step(search, human.groups if declared else None, side.groups if declared else None),
            ),
        )
        for side, part, search in zip(sides, parts, facts, strict=True)
    ]


def _share_in_step(search: PairSearch | None, human: Integers | None, model: Integers | None) -> float | None:
    """The share of the found pairs whose texts are of one declared group; without any, in the same row of both sets."""
    if search is None or not search.found:
        return None
    p_rows, q_rows = search.pairs.T
    same = p_rows == q_rows if human is None or model is None else human[p_rows] == model[q_rows]
    return float(np.mean(same))


def _search(human: FeatureSet, model: FeatureSet, seed: int) -> PairSearch | None:
    """Look for pairs; of large sets among random rows. None for sets of a single text or one column."""
    sizes = len(human), len(model)
    if min(sizes) < 4 or human.features.shape[1] < 2:
        return None
    features = human.features, model.features
    numbers = [
        content_order(of)[some_numbers(size, min(size, MOST_SEARCHED), seed)]
        for of, size in zip(features, sizes, strict=True)
    ]
    rows = [as_rows(of).take(some) for of, some in zip(features, numbers, strict=True)]
    search = find_pairs(rows[0], rows[1], seed)
    return search._replace(pairs=np.stack([of[own] for of, own in zip(numbers, search.pairs.T, strict=True)], axis=1))


def _paired(search: PairSearch, start: int, size: int) -> list[object]:
    """One entry for each text of all sides: the number of its pair, or None. start: of the model's texts."""
    entries: list[object] = [None] * size
    for number, (p_row, q_row) in enumerate(search.pairs.tolist()):
        entries[p_row] = entries[start + q_row] = number
    return entries


def _shared_openings(sides: Sequence[FeatureSet]) -> list[object] | None:
    """The hash of the opening of each text of all sides, None for common ones; None if few occur on both sides."""
    hashes: list[Hashes] = [side.opening_hashes for side in sides if side.opening_hashes is not None]
    if len(hashes) < len(sides):
        return None
    kinds, place, times = np.unique(np.concatenate(hashes), return_inverse=True, return_counts=True)
    usable = times <= max(COMMON_OPENING * len(place), 2)
    prompts = hashes[0][np.isin(hashes[0], kinds[usable])]
    if max(np.isin(side, prompts).mean() for side in hashes[1:]) <= OPENING_SHARE:
        return None
    return [int(kind) if usable[kind] else None for kind in place.tolist()]
