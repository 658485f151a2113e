"""Groups of texts that are not independent of each other, such as the answers to one prompt: their codes and counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Bools, Counts, Integers, Labels

Design = Literal["undeclared", "independent", "aligned", "prompts", "found"]
DECLARED: tuple[Design, ...] = ("aligned", "prompts")  # designs in which a user says which texts share a prompt
SHARED: tuple[Design, ...] = (*DECLARED, "found")  # designs in which texts depend on each other

FEWEST_GROUPS = 10  # below, no interval: a variance of so few numbers is too uncertain
# From `benchmarks/results/coverage_prompts.csv`.
FEW_GROUPS = 50  # up to here, intervals of texts that share prompts cover 87 to 99 %
GROUPS_A_BUCKET = 2  # below, the bias left over is larger than the error
UNEVEN = 1.25  # ratio of texts a group on two sides from which k-means takes the groups of one for kinds of texts


def code_groups(
    groups: Mapping[str, Sequence[Hashable] | None], sizes: Mapping[str, int]
) -> dict[str, Integers] | None:
    """Number the groups of the texts of several sides, so that equal groups have equal numbers on all of them.

    Args:
        groups: of each text, such as its prompt or the number of its document, by side; None, as an entry or in place
            of all entries of a side: a text that depends on no other.
        sizes: number of texts, by side.

    Returns:
        Codes (n,) from 0 by side; None where every text is independent of all others, as also texts of one single
        prompt are, given that prompt.

    Raises:
        ValueError: a side has another number of groups than texts.

    >>> code_groups({"p": ["a", "b"], "q": ["b", "b", "c"]}, {"p": 2, "q": 3})["q"].tolist()
    [1, 1, 2]
    >>> code_groups({"p": None, "q": [1, 1]}, {"p": 2, "q": 2})["p"].tolist()
    [0, 1]
    >>> code_groups({"p": ["a", "a"], "q": ["a", "a"]}, {"p": 2, "q": 2}) is None
    True
    """
    numbers: dict[object, int] = {}
    codes = {}
    for side, size in sizes.items():
        labels = groups.get(side)
        if labels is not None and len(labels) != size:
            raise ValueError(f"{side} must hold one group for each of {size} texts, got {len(labels)}")
        side_codes = np.empty(size, dtype=np.int64)
        for row in range(size):
            label = None if labels is None else labels[row]
            side_codes[row] = numbers.setdefault((side, row) if label is None else (label,), len(numbers))
        codes[side] = side_codes
    return None if len(numbers) in (1, sum(sizes.values())) else codes


def number_items(items: Sequence[Hashable]) -> Integers:
    """Equal numbers for equal items, from 0 in order of appearance, (n,).

    >>> number_items(["to", "be", "to"])
    array([0, 1, 0])
    """
    number = {entry: index for index, entry in enumerate(dict.fromkeys(items))}
    return np.fromiter(map(number.__getitem__, items), dtype=np.int64, count=len(items))


def design_of(*groups: Integers | None) -> Design:
    """The design that follows from the codes of the groups of several sides.

    "independent": every text is alone. "aligned": each group has one text on each side. "prompts": anything else.

    >>> design_of(np.array([0, 1]), np.array([1, 0])), design_of(np.array([0, 1]), np.array([1, 1])), design_of(None)
    ('aligned', 'prompts', 'independent')
    """
    sides = [side for side in groups if side is not None]
    if len(sides) < len(groups) or len(np.unique(np.concatenate(sides))) == sum(map(len, sides)):
        return "independent"
    ordered = [np.sort(side) for side in sides]
    same = all(np.array_equal(side, ordered[0]) for side in ordered[1:])
    return "aligned" if same and bool((np.diff(ordered[0]) > 0).all()) and len(sides) > 1 else "prompts"


def pair_of_groups(p_groups: Integers | None, q_groups: Integers | None) -> tuple[Integers, Integers] | None:
    """The codes of both sides; None where every text is independent of all others."""
    if p_groups is None or q_groups is None or design_of(p_groups, q_groups) == "independent":
        return None
    return p_groups, q_groups


def sizes_of_groups(groups: Integers, is_model: Bools) -> Counts:
    """Texts of P and of Q in each group, (2, G).

    Args:
        groups: numbers from 0, (n,). is_model: the texts of Q, (n,).

    >>> sizes_of_groups(np.array([0, 1, 1, 0]), np.array([False, False, False, True])).tolist()
    [[1, 2], [1, 0]]
    """
    number = int(groups.max()) + 1
    return np.bincount(groups + number * is_model, minlength=2 * number).reshape(2, number)


def codes_by_content(labels: Sequence[Labels], codes: Sequence[Integers]) -> list[Integers]:
    """New codes of the same groups, in an order that follows from what is in them and not from that of the texts.

    Args:
        labels: bucket of each text of each side, (n_i,). codes: of its group, (n_i,).

    >>> [side.tolist() for side in codes_by_content([np.array([1, 0])], [np.array([5, 9])])] == [
    ...     side[::-1].tolist() for side in codes_by_content([np.array([0, 1])], [np.array([5, 9])])
    ... ]
    True
    """
    distinct, number = np.unique(np.concatenate(codes), return_inverse=True)
    content = np.zeros(len(distinct), dtype=np.uint64)
    ends = np.cumsum([len(side) for side in codes])
    for set_index, (side, numbers) in enumerate(zip(labels, np.split(number, ends[:-1]), strict=True)):
        np.add.at(content, numbers, mix(side.astype(np.uint64) * np.uint64(2 * len(codes)) + np.uint64(set_index)))
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.argsort(content, kind="stable")] = np.arange(len(distinct))
    return np.split(rank[number], ends[:-1])


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hashes of 64 bits, whose sums tell sets of integers apart: the last step of SplitMix64 (Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))


def stand_ins(set_of: Integers, codes: Integers, seed: int) -> Integers | None:
    """For each row the one that stands for it where k-means is fitted, so that each set has as many rows a group.

    Answers to a prompt that one set alone has, and copies, are close to each other: k-means takes them for a kind of
    text, which the other sets lack, however alike they are. Of such groups no more rows are kept, at random, than
    the set with the fewest has in one on average; the others follow them. Groups with rows of P and of Q stay whole.

    Args:
        set_of: number of the set of each row, 0: P, (n,). codes: of its group, (n,). seed: of the choice.

    Returns:
        Numbers of rows, (n,), each row its own if it is kept; None where a set has no such group.

    >>> stand_ins(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 2]), seed=0).tolist()
    [0, 1, 2, 2]
    >>> stand_ins(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), seed=0) is None
    True
    """
    mixed = np.isin(codes, codes[set_of == 0]) & np.isin(codes, codes[set_of > 0])
    group = np.unique(np.stack([set_of, codes]), axis=1, return_inverse=True)[1].ravel()
    sizes = [np.bincount(group[(set_of == number) & ~mixed]) for number in range(int(set_of.max()) + 1)]
    means = [float(of_set[of_set > 0].mean()) for of_set in sizes if of_set.any()]
    if len(means) < 2:
        return None
    order = np.lexsort([np.random.default_rng([seed, 3]).permutation(len(codes)), group])
    firsts = np.searchsorted(group[order], group[order])
    kept = round(min(means))
    row = np.arange(len(codes))
    substitutes = np.empty_like(row)
    substitutes[order] = order[np.where(mixed[order], row, firsts + (row - firsts) % kept)]
    return substitutes


def is_uneven(answers: Sequence[float]) -> bool:
    """Return whether sets differ by `UNEVEN` or more in the mean number of texts of a group that one set alone has."""
    return max(answers) >= UNEVEN * min(answers)


def answers_of_one_side(p_sizes: Counts, q_sizes: Counts) -> tuple[float, float]:
    """Texts a group of P, and of Q, in the mean over groups that the other side is not in; 1, 1 if a side has none.

    Args:
        p_sizes, q_sizes: texts of each group, (G,).

    >>> answers_of_one_side(np.array([1, 1, 0, 4]), np.array([0, 0, 3, 4]))
    (1.0, 3.0)
    """
    alone = p_sizes[q_sizes == 0], q_sizes[p_sizes == 0]
    return (float(alone[0].mean()), float(alone[1].mean())) if all(map(len, alone)) else (1.0, 1.0)


@dataclass(frozen=True)
class GroupCounts:
    """Texts of each group in each bucket, without the zeros.

    Attributes:
        group, bucket, p, q: the number of the group, the bucket, and its texts of P and of Q there, (entries,) each.
        p_sizes, q_sizes: texts of each group, (G,). codes: of the groups, (G,).
    """

    group: Integers
    bucket: Integers
    p: Counts
    q: Counts
    p_sizes: Counts
    q_sizes: Counts
    codes: Integers


def count_groups(
    p_labels: Labels, q_labels: Labels, p_groups: Integers | None, q_groups: Integers | None, num_buckets: int
) -> GroupCounts | None:
    """Count the texts of each group in each bucket; the groups are numbered by what is in them.

    Args:
        p_labels, q_labels: bucket of each text, (n_p,) and (n_q,).
        p_groups, q_groups: codes of `code_groups`, (n_p,) and (n_q,).
        num_buckets: k.

    Returns:
        None where no group has two texts.

    >>> labels, groups = np.array([0, 1]), np.array([4, 7])
    >>> counts = count_groups(labels, np.array([0, 0]), groups, groups, 2)
    >>> counts.group.tolist(), counts.bucket.tolist(), counts.p.tolist(), counts.q.tolist()
    ([0, 1, 1], [0, 0, 1], [1, 0, 1], [1, 1, 0])
    """
    pair = pair_of_groups(p_groups, q_groups)
    if pair is None:
        return None
    number = np.concatenate(codes_by_content((p_labels, q_labels), pair))
    codes = np.empty(int(number.max()) + 1, dtype=np.int64)
    codes[number] = np.concatenate(pair)
    cells, cell_of = np.unique(number * num_buckets + np.concatenate([p_labels, q_labels]), return_inverse=True)
    n_p = len(p_labels)
    return GroupCounts(
        group=cells // num_buckets,
        bucket=cells % num_buckets,
        p=np.bincount(cell_of[:n_p], minlength=len(cells)),
        q=np.bincount(cell_of[n_p:], minlength=len(cells)),
        p_sizes=np.bincount(number[:n_p], minlength=len(codes)),
        q_sizes=np.bincount(number[n_p:], minlength=len(codes)),
        codes=codes,
    )


def same_origin(*columns: Sequence[Hashable | None]) -> Integers:
    """Groups of items that share an entry of any column, directly or through others, numbered from 0, (n,).

    Args:
        columns: one entry an item, (n,) each; None is shared with no item.

    >>> same_origin(["a", "b", "c", "d"], [1, 2, 1, None]).tolist()
    [0, 1, 0, 2]
    """
    return linked_groups(
        *(np.where([entry is None for entry in column], -1, number_items(column)) for column in columns)
    )


def linked_groups(*columns: Integers) -> Integers:
    """`same_origin` of numbers; one below 0 is shared with no item.

    >>> linked_groups(np.array([0, 1, 0, 2]), np.array([-1, 3, -1, 3])).tolist()
    [0, 1, 0, 1]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(columns[0])
    first_rows = []
    for numbers in columns:
        _, first, kind_of = np.unique(numbers, return_index=True, return_inverse=True)
        first_rows.append(np.where(numbers >= 0, first[kind_of], np.arange(n)))
    links = np.concatenate(first_rows), np.tile(np.arange(n), len(columns))
    graph = coo_array((np.ones(len(links[0])), links), shape=(n, n))
    groups: Integers = connected_components(graph, directed=False)[1].astype(np.int64)
    return groups
