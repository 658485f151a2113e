"""Texts that are not independent draws: declared prompts, copies, and pairs that were not declared.

Folds, halves, permutations and errors keep texts of one group together. Copies join the groups that the caller gave.
Without any, texts that belong together are found from equal openings, features (`measures.shared_prompts`), and the
order of the rows (`measures.prompt_order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from mauve_metric.arrays import Hashes, Integers, Rows
from mauve_metric.features.feature_set import Dependence, FeatureSet
from mauve_metric.features.row_blocks import as_rows, content_keys, copies, order_of_keys, some_numbers
from mauve_metric.measures.groups import FEWEST_GROUPS, design_of, pair_of_groups, same_origin
from mauve_metric.measures.prompt_order import find_prompt_order
from mauve_metric.measures.shared_prompts import find_pairs, find_repeats, standardised

Groups: TypeAlias = tuple[Integers, Integers] | None  # codes of both sides; None: each text is alone

MOST_SEARCHED = 10_000  # rows a side whose neighbours are looked for; of larger sets as many at random
MOST_PAIRED = 50_000  # the same once some of these texts are known to share prompts
MOST_NUMBERS_PAIRED = 2**26  # of the rows of a side, 256 MiB
IN_STEP_SHARE = 0.5  # of the texts that belong together: below, the rows of two sets are not aligned
OPENING_SHARE = 0.1  # of a model's texts that open like a human one: they continue the same prompts
COMMON_OPENING = 0.1  # of all texts: an opening that more have is a manner of writing, and no prompt


def with_dependence(sides: Sequence[FeatureSet], seed: int = 25) -> list[FeatureSet]:
    """Return the sides, the human one first, with the codes of all groups of texts that are not independent.

    The groups of a model's texts and the human ones do not depend on other models; of several models `paired` has the
    human side for each. Sides that have been through this stay as they are. `groups` is None where every text is alone.

    Args:
        seed: of the random splits that show what is chance.
    """
    if all(side.dependence is not None for side in sides):
        return list(sides)
    human, *models = (replace(side, content_keys=content_keys(side.features)) for side in sides)
    pairs = [_groups_of_pair(human, model, seed) for model in models]
    prompts = np.concatenate([q_codes[q_codes >= 0] for _, q_codes, _ in pairs])  # models may share them
    if len(np.unique(prompts)) == len(prompts) and all(pair_of_groups(*codes) is None for *codes, _ in pairs):
        models = [
            replace(model, groups=None, dependence=shared) for model, (_, _, shared) in zip(models, pairs, strict=True)
        ]
        return [replace(human, groups=None, dependence=Dependence(models[0].design)), *models]
    # together in each pair; the number of the first text, so that `Dependence.human` has an entry for it
    every = np.stack([p_codes for p_codes, _, _ in pairs])
    _, first, kind_of = np.unique(every, axis=1, return_index=True, return_inverse=True)
    models = [
        replace(model, groups=q_codes, dependence=shared._replace(human=p_codes))
        for model, (p_codes, q_codes, shared) in zip(models, pairs, strict=True)
    ]
    design = next((model.design for model in models if model.design != "independent"), models[0].design)
    return [replace(human, groups=first[kind_of.ravel()], dependence=Dependence(design)), *models]


def paired(human: FeatureSet, model: FeatureSet) -> tuple[FeatureSet, FeatureSet]:
    """The human side and a model's with the groups of their own comparison.

    `groups` is None where each text is alone and declares no prompt, which another model could share.
    """
    dependence = model.dependence
    if dependence is None or dependence.human is None or human.groups is None:
        return human, model
    codes: tuple[Integers | None, Integers | None] = dependence.human[human.groups], model.groups
    if pair_of_groups(*codes) is None and (model.groups is None or (model.groups < 0).all()):
        codes = None, None
    return replace(human, groups=codes[0], dependence=Dependence(dependence.design)), replace(model, groups=codes[1])


def codes_of(human: FeatureSet, model: FeatureSet) -> Groups:
    """The codes of the groups of both sides, also of prompts that other models alone share; None: there are none."""
    return None if human.groups is None or model.groups is None else (human.groups, model.groups)


def _groups_of_pair(human: FeatureSet, model: FeatureSet, seed: int) -> tuple[Integers, Integers, Dependence]:
    """The codes of the groups of both sides, numbered alike for every model that declares the same prompts.

    A group has the number of its first human text, else that of a declared prompt after those; other groups have
    negative numbers, which say nothing about other models.
    """
    sides = human, model
    prompts = [side.groups for side in sides if side.groups is not None]
    if len(prompts) < 2 or len(np.unique(np.concatenate(prompts))) == 1:
        prompts = []  # texts of one prompt are independent given it
    declared = prompts if prompts and design_of(*prompts) != "independent" else []
    design = design_of(*declared) if declared else design_of(None)
    pairs, repeats, across = np.empty((0, 2), dtype=np.int64), np.full(0, -1), False
    if design != "prompts":
        pairs, repeats, across = _search(human, model, seed, declared=bool(declared))
    size, n_p = len(human) + len(model), len(human)
    copied = copies([side.features for side in sides], [side.row_keys() for side in sides])
    # answers such as "yes" are draws, not copies
    few_kinds = any(
        (side < 0).sum() + len(np.unique(side[side >= 0])) < FEWEST_GROUPS for side in np.split(copied, [n_p])
    )
    columns = [[] if few_kinds else _entries(copied)]
    if declared:
        columns.append(np.concatenate(declared).tolist())
    else:
        # a pair by chance would join two prompts
        in_pairs = _paired(pairs, n_p, size) if len(pairs) and not across else []
        together = [column for column in (in_pairs, _entries(repeats), _shared_openings(sides)) if column]
        columns += together
        design = "found" if together else design
    origins = same_origin([None] * size, *filter(None, columns))
    names = np.concatenate([np.arange(n_p), n_p + prompts[1] if prompts else -1 - np.arange(len(model))])
    _, first, group_of = np.unique(origins, return_index=True, return_inverse=True)
    codes = names[first[group_of]]
    partners = int(np.isin(codes[n_p:], codes[:n_p]).sum())
    return codes[:n_p], codes[n_p:], Dependence(design, partners, _share_in_step(pairs, *(declared or (None, None))))


def _entries(codes: Integers) -> list[object]:
    """The codes as a column of `same_origin`; empty where all are negative, which stands for a text alone."""
    return [code if code >= 0 else None for code in codes.tolist()] if (codes >= 0).any() else []


def _share_in_step(pairs: Integers, human: Integers | None, model: Integers | None) -> float | None:
    """The share of the found pairs whose texts are of one declared group; without any, in the same row of both sets."""
    if not len(pairs):
        return None
    p_rows, q_rows = pairs.T
    same = p_rows == q_rows if human is None or model is None else human[p_rows] == model[q_rows]
    return float(np.mean(same))


def _search(human: FeatureSet, model: FeatureSet, seed: int, *, declared: bool) -> tuple[Integers, Integers, bool]:
    """Look for texts that belong together: pairs of both sides, and, unless prompts are declared, several answers.

    Returns:
        The pairs, of more than `MOST_PAIRED` texts a side among random ones; none for sets of a few texts or one
        column. For each text of both sides the number of its group of answers to one prompt, (n_p + n_q,), -1 for
        those in none; and whether these groups have texts of both sides, so that they hold the pairs too.
    """
    sizes = len(human), len(model)
    groups = np.full(sum(sizes), -1)
    if min(sizes) < 4 or human.features.shape[1] < 2:
        return np.empty((0, 2), dtype=np.int64), groups, False
    numbers, rows = _standardised_sample(human, model, MOST_SEARCHED, seed)
    pairs = find_pairs(*rows, seed)
    most = min(MOST_PAIRED, MOST_NUMBERS_PAIRED // human.features.shape[1])
    if len(pairs) and max(sizes) > MOST_SEARCHED and not declared and most > MOST_SEARCHED:
        numbers, rows = _standardised_sample(human, model, most, seed)
        pairs = find_pairs(*rows, seed)
    pairs = np.stack([side[column] for side, column in zip(numbers, pairs.T, strict=True)], axis=1)
    if declared or max(sizes) > MOST_SEARCHED:
        return pairs, groups, False
    in_order, shared = find_prompt_order(*rows, [np.argsort(some) for some in numbers])
    share = _share_in_step(pairs, *in_order) if shared else None
    if shared and (share is None or share >= IN_STEP_SHARE):
        return pairs, np.concatenate([codes for codes in in_order if codes is not None]), True
    of_sides, across = find_repeats(*rows, seed, shared=len(pairs) > 0)
    groups[np.concatenate([numbers[0], sizes[0] + numbers[1]])] = np.concatenate(of_sides)
    if not (across or shared):
        for start, codes in zip((0, sizes[0]), in_order, strict=True):
            if codes is not None:
                groups[start : start + len(codes)] = sum(sizes) + start + codes
    return pairs, groups, across


def _standardised_sample(
    human: FeatureSet, model: FeatureSet, most: int, seed: int
) -> tuple[list[Integers], tuple[Rows, Rows]]:
    """The numbers of at most so many random texts of each side, in the order by content, and their rows."""
    sides = human, model
    numbers = [order_of_keys(side.row_keys())[some_numbers(len(side), min(len(side), most), seed)] for side in sides]
    taken = [as_rows(side.features).take(some) for side, some in zip(sides, numbers, strict=True)]
    return numbers, standardised(*taken)


def _paired(pairs: Integers, start: int, size: int) -> list[object]:
    """One entry for each text of all sides: the number of its pair, or None. start: of the model's texts."""
    entries: list[object] = [None] * size
    for number, (p_row, q_row) in enumerate(pairs.tolist()):
        entries[p_row] = entries[start + q_row] = number
    return entries


def _shared_openings(sides: Sequence[FeatureSet]) -> list[object]:
    """The hash of the opening of each text of all sides, None for common ones; empty if few occur on both sides."""
    hashes: list[Hashes] = [side.opening_hashes for side in sides if side.opening_hashes is not None]
    if len(hashes) < len(sides):
        return []
    kinds, kind_of, times = np.unique(np.concatenate(hashes), return_inverse=True, return_counts=True)
    usable = times <= max(COMMON_OPENING * len(kind_of), 2)
    prompts = hashes[0][np.isin(hashes[0], kinds[usable])]
    if max(np.isin(side, prompts).mean() for side in hashes[1:]) <= OPENING_SHARE:
        return []
    return [int(kind) if usable[kind] else None for kind in kind_of.tolist()]
