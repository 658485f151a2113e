"""Texts that are not independent draws: declared prompts, pairs that were not declared, and repeats within a set.

Folds, halves, permutations and errors keep texts of one group together. Texts that are copies of another one of their
set, or nearly so, are a group where that is a property of the data: in the human set, or in both sets alike. Where the
model repeats itself more than the human set does, its repeats are the model's own and count as often as it wrote them.
Without declared prompts, pairs of both sets are found from equal openings and from features
(`measures.undeclared_pairs`). Several answers to prompts of one set alone look like a model that repeats itself:
they are named, and no number depends on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from mauve_metric.arrays import Bools, Hashes, Integers, Rows
from mauve_metric.features.feature_set import Dependence, FeatureSet, Repetition
from mauve_metric.features.row_blocks import as_rows, copies, order_of_keys, some_numbers
from mauve_metric.measures.groups import (
    DECLARED,
    FEWEST_GROUPS,
    Design,
    design_of,
    linked_groups,
    pair_of_groups,
    sizes_of_groups,
)
from mauve_metric.measures.p_values import upper_tail
from mauve_metric.measures.repeats import LEAST_SHARE, find_repeats
from mauve_metric.measures.undeclared_pairs import find_pairs, standardised

PairGroups: TypeAlias = tuple[Integers, Integers] | None  # codes of both sides; None: each text is alone

MOST_SEARCHED = 10_000  # rows a side whose neighbours are looked for; of larger sets as many at random
MOST_PAIRED = 50_000  # the same once some of these texts are known to share prompts
MOST_NUMBERS_PAIRED = 2**26  # of the rows of a side, 256 MiB
IN_STEP_SHARE = 0.5  # of the texts that belong together: below, the rows of two sets are not aligned
OPENING_SHARE = 0.1  # of a model's texts that open like a human one: they continue the same prompts
COMMON_OPENING = 0.1  # of all texts: an opening that more have is a manner of writing, and no prompt
LEAST_EXCESS = 0.05  # of the share of a model's repeats over that of the human set's
EXCESS_ERRORS = 3.0  # standard errors by which a model must repeat itself more than the human set does
BOTH_REPEAT = 0.15  # share of repeats in each set from which both may answer prompts of their own


def with_dependence(sides: Sequence[FeatureSet], seed: int = 25, *, independent: bool = False) -> list[FeatureSet]:
    """Return the sides, the human one first, with the codes of all groups of texts that are not independent.

    The groups of a model's texts and the human ones do not depend on other models; of several models `paired` has the
    human side for each. Sides that were through this keep their groups. `groups` is None where every text is alone.

    Args:
        seed: of the random splits that show what is chance.
        independent: every row is declared to be a draw of its own: nothing is looked for.
    """
    if all(side.dependence is not None for side in sides):
        return [sides[0], *(_with_repetition(sides[0], side, seed) for side in sides[1:])]
    groups, dependences = list[Integers | None]([None] * len(sides)), [Dependence("independent")] * len(sides)
    if not independent:
        of_human, of_models, shared = zip(*(_groups_of_pair(sides[0], model, seed) for model in sides[1:]), strict=True)
        designs = [of_model.design for of_model in shared if of_model.design != "undeclared"]
        dependences = [Dependence(designs[0] if designs else "undeclared"), *shared]
        prompts = np.concatenate([codes[codes >= 0] for codes in of_models])  # models may share them
        if len(np.unique(prompts)) < len(prompts) or any(map(pair_of_groups, of_human, of_models)):
            # together in each pair; the number of the first text, so that `Dependence.human` has an entry for it
            _, first, kind_of = np.unique(np.stack(of_human), axis=1, return_index=True, return_inverse=True)
            groups = [first[kind_of.ravel()], *of_models]
            dependences[1:] = [of_model._replace(human=codes) for of_model, codes in zip(shared, of_human, strict=True)]
    return [
        replace(side, groups=codes, dependence=dependence, content_keys=side.row_keys)
        for side, codes, dependence in zip(sides, groups, dependences, strict=True)
    ]


def _with_repetition(human: FeatureSet, model: FeatureSet, seed: int) -> FeatureSet:
    """A side with its groups, and with its repeats, which parts of a side have not."""
    dependence = model.dependence
    if dependence is None or dependence.repetition is not None or dependence.design == "independent":
        return model
    codes = codes_of(human, model) if dependence.design in DECLARED else None
    _, _, repetition = _repetition(human, model, codes or (), seed)
    return replace(model, dependence=dependence._replace(repetition=repetition))


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


def codes_of(human: FeatureSet, model: FeatureSet) -> PairGroups:
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
    design: Design = design_of(*declared) if declared else "undeclared"
    pairs = np.empty((0, 2), dtype=np.int64)
    if design != "prompts":
        pairs = _search_pairs(human, model, seed, declared=bool(declared))
    size, n_p = len(human) + len(model), len(human)
    copied, of_side, repetition = _repetition(human, model, declared, seed)
    columns = [copied, of_side]
    if declared:
        columns.append(np.unique(np.concatenate(declared), return_inverse=True)[1])
    else:  # a pair by chance would join two declared prompts
        in_pairs, openings = np.full(size, -1), _shared_openings(sides)
        in_pairs[pairs[:, 0]] = in_pairs[n_p + pairs[:, 1]] = np.arange(len(pairs))
        columns += [in_pairs] if openings is None else [in_pairs, openings]
        design = "found" if len(pairs) or openings is not None else design
    origins = linked_groups(*columns)
    names = np.concatenate([np.arange(n_p), n_p + prompts[1] if prompts else -1 - np.arange(len(model))])
    _, first, group_of = np.unique(origins, return_index=True, return_inverse=True)
    codes = names[first[group_of]]
    partners = int(np.isin(codes[n_p:], codes[:n_p]).sum())
    p_rows, q_rows = pairs.T
    same = declared[0][p_rows] == declared[1][q_rows] if declared else p_rows == q_rows
    in_step = float(np.mean(same)) if len(pairs) else None
    return codes[:n_p], codes[n_p:], Dependence(design, partners, in_step, repetition=repetition)


def _repetition(
    human: FeatureSet, model: FeatureSet, declared: Sequence[Integers], seed: int
) -> tuple[Integers, Integers, Repetition]:
    """Find the texts that repeat others, and decide whose the repeats are.

    Returns:
        Codes of texts of both sides, (n_p + n_q,), -1 for those that are no copy of one text of the other side; the
        same of texts that repeat others of their side and are a group; and all that is known of repeats.
    """
    sizes, n_p = (len(human), len(model)), len(human)
    is_model = np.arange(sum(sizes)) >= n_p
    copied = copies([side.features for side in (human, model)], [side.row_keys for side in (human, model)])
    # of each code the texts of either side, after a column of 0 for texts without one, (2, c + 1)
    times = sizes_of_groups(copied + 1, is_model)
    times[:, 0] = 0
    own_times = times[is_model.astype(np.int64), copied + 1]
    near, is_near, spaced = _near_of_all(human, model, copied, None if declared else seed)
    exact = _exact_repeats(copied, own_times, is_model, declared)
    repeated = exact | is_near
    p_share, q_share = float(repeated[:n_p].mean()), float(repeated[n_p:].mean())
    error, excess = _error(p_share, q_share, *sizes), q_share - p_share
    is_own = excess > max(LEAST_EXCESS, EXCESS_ERRORS * error)
    groups = np.where(near >= 0, near + copied.max() + 1, np.where(exact, copied, -1))
    across, per_side = np.full((2, sum(sizes)), -1)
    texts_of_sides = np.split(copied, [n_p])  # answers of few kinds, such as "yes", are draws
    if all((side < 0).sum() + len(np.unique(side[side >= 0])) >= FEWEST_GROUPS for side in texts_of_sides):
        of_both = (times.min(axis=0) > 0)[copied + 1]  # and so is a repeated text that both sides have
        across = np.where(of_both & (times.sum(axis=0)[copied + 1] == 2), copied, -1)
        data = (groups >= 0) & ~of_both & ~(is_own & is_model)
        per_side = np.where(data, 2 * groups + is_model, -1)
    # a classifier would learn by heart what is in another fold
    units = linked_groups(copied, near)
    units = np.where(np.bincount(units)[units] > 1, units, -1)
    written = np.split(np.maximum(own_times, 1), [n_p])
    p_times, q_times = (int(side[0]) if (side == side[0]).all() else 1 for side in written)
    repetition = Repetition(
        p_share,
        q_share,
        upper_tail(excess / max(error, 1 / min(sizes))) if is_own else None,  # no error where all are repeats
        (units[:n_p], units[n_p:]),
        groups[n_p:],
        spaced > BOTH_REPEAT,
        (p_times, q_times),
    )
    return across, per_side, repetition


def _near_of_all(
    human: FeatureSet, model: FeatureSet, copied: Integers, seed: int | None
) -> tuple[Integers, Bools, float]:
    """`_near_repeats` of the different texts, for all texts; none are looked for without a seed or among few texts."""
    n_p = len(human)
    if seed is None or min(n_p, len(model)) < 4 or human.features.shape[1] == 1:
        return np.full(len(copied), -1), np.zeros(len(copied), dtype=bool), 0.0
    codes = np.where(copied >= 0, 2 * copied + (np.arange(len(copied)) >= n_p), -1 - np.arange(len(copied)))
    _, first, kind_of = np.unique(codes, return_index=True, return_inverse=True)
    first_of, first = first[kind_of], np.sort(first)
    near, is_near, spaced = _near_repeats(human, model, [first[first < n_p], first[first >= n_p] - n_p], seed)
    return near[first_of], is_near[first_of], spaced


def _exact_repeats(copied: Integers, own_times: Integers, is_model: Bools, declared: Sequence[Integers]) -> Bools:
    """Mark the texts that their side has several times; where prompts are declared, in answer to several prompts."""
    exact: Bools = own_times > 1
    if not declared or not exact.any():
        return exact
    for side in (0, 1):
        rows = np.flatnonzero(is_model == side)
        kinds = np.unique(np.stack([copied[rows], declared[side]]), axis=1)[0]  # one of each text and prompt
        exact[rows] &= np.bincount(kinds + 1, minlength=copied.max() + 2)[copied[rows] + 1] > 1
    return exact


def _near_repeats(
    human: FeatureSet, model: FeatureSet, distinct: Sequence[Integers], seed: int
) -> tuple[Integers, Bools, float]:
    """Look for near copies among the different texts of each side.

    Returns:
        The number of the group of each text of both sides, (n_p + n_q,), -1 for those in none; which texts are certain
        repeats, (n_p + n_q,); and the smaller share of those that lie closer than by chance, whatever their distances.

    Where both sides have as many of these, they are repeats in both.
    """
    sides, numbers, taken = (human, model), [], []
    for side, some in zip(sides, distinct, strict=True):
        in_order = some[np.argsort(side.row_keys[some], kind="stable")]
        numbers.append(in_order[some_numbers(len(some), min(len(some), MOST_SEARCHED), seed)])
        taken.append(as_rows(side.features).take(numbers[-1]))
    of_sides = find_repeats(*standardised(*taken), seed)
    spaced = of_sides[0].spaced, of_sides[1].spaced
    error = _error(*spaced, len(numbers[0]), len(numbers[1]))
    are_alike = abs(spaced[1] - spaced[0]) <= max(LEAST_SHARE, EXCESS_ERRORS * error)
    shares = spaced if min(spaced) > LEAST_SHARE and are_alike else (of_sides[0].grouped, of_sides[1].grouped)
    groups, certain, offset = [], [], 0
    for side, some, repeats, share in zip(sides, numbers, of_sides, shares, strict=True):
        codes, is_certain = np.full(len(side), -1), np.zeros(len(side), dtype=bool)
        if share > LEAST_SHARE:
            codes[some] = np.where(repeats.groups >= 0, repeats.groups + offset, -1)
            is_certain[some] = repeats.repeated
        groups.append(codes)
        certain.append(is_certain)
        offset += len(some)
    return np.concatenate(groups), np.concatenate(certain), min(spaced) if are_alike else 0.0


def _error(p_share: float, q_share: float, n_p: int, n_q: int) -> float:
    """Standard error of the difference of two shares of texts, of which two depend on each other."""
    return math.sqrt(2 * (p_share * (1 - p_share) / n_p + q_share * (1 - q_share) / n_q))


def _search_pairs(human: FeatureSet, model: FeatureSet, seed: int, *, declared: bool) -> Integers:
    """Look for pairs of both sides that belong together, (m, 2); of many texts a side among random ones.

    None for sets of a few texts or one column.
    """
    sizes = len(human), len(model)
    if min(sizes) < 4 or human.features.shape[1] < 2:
        return np.empty((0, 2), dtype=np.int64)
    numbers, rows = _standardised_sample(human, model, MOST_SEARCHED, seed)
    pairs = find_pairs(*rows, seed)
    most = min(MOST_PAIRED, MOST_NUMBERS_PAIRED // human.features.shape[1])
    if len(pairs) and max(sizes) > MOST_SEARCHED and not declared and most > MOST_SEARCHED:
        numbers, rows = _standardised_sample(human, model, most, seed)
        pairs = find_pairs(*rows, seed)
    return np.stack([side[column] for side, column in zip(numbers, pairs.T, strict=True)], axis=1)


def _standardised_sample(
    human: FeatureSet, model: FeatureSet, most: int, seed: int
) -> tuple[list[Integers], tuple[Rows, Rows]]:
    """The numbers of at most so many random texts of each side, in the order by content, and their rows."""
    sides = human, model
    numbers = [order_of_keys(side.row_keys)[some_numbers(len(side), min(len(side), most), seed)] for side in sides]
    taken = [as_rows(side.features).take(some) for side, some in zip(sides, numbers, strict=True)]
    return numbers, standardised(*taken)


def _shared_openings(sides: Sequence[FeatureSet]) -> Integers | None:
    """The number of the opening of each text of all sides, -1 for common ones; None if few occur on both sides."""
    hashes: list[Hashes] = [side.opening_hashes for side in sides if side.opening_hashes is not None]
    if len(hashes) < len(sides):
        return None
    kinds, kind_of, times = np.unique(np.concatenate(hashes), return_inverse=True, return_counts=True)
    usable = times <= max(COMMON_OPENING * len(kind_of), 2)
    texts = [side.text_hashes for side in sides if side.text_hashes is not None]
    if len(texts) == len(sides):  # an opening that is a whole text is no prompt, however often that is written
        of_text = np.unique(np.stack([kind_of, np.concatenate(texts).view(np.int64)]), axis=1)[0]
        usable &= np.bincount(of_text, minlength=len(kinds)) > 1
    prompts = hashes[0][np.isin(hashes[0], kinds[usable])]
    if max(np.isin(side, prompts).mean() for side in hashes[1:]) <= OPENING_SHARE:
        return None
    return np.where(usable[kind_of], kind_of, -1)
