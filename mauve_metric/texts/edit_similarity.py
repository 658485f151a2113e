"""How alike two texts are, token by token in order."""

from __future__ import annotations

from mauve_metric.texts.tokens import Tokens


def edit_similarity(one: Tokens, other: Tokens) -> float:
    """1 minus the edit distance over the longer length; in [0, 1], 1 for equal texts.

    The Levenshtein distance (insertions, deletions, substitutions of tokens) column by column with the bits of one
    number for its rows (Myers 1999, in the form of Hyyrö 2003). Two empty texts have 1 (Lee et al. 2022, §4.2).

    >>> edit_similarity("kitten", "sitting")
    0.5714285714285714
    """
    longest = max(len(one), len(other))
    return 1.0 - edit_distance(one, other) / longest if longest else 1.0


def edit_distance(one: Tokens, other: Tokens) -> int:
    """The least number of tokens to insert, delete or replace that makes one text the other.

    >>> edit_distance("kitten", "sitting")
    3
    """
    one, other = _without_common_ends(one, other)
    if not one or not other:
        return len(one) + len(other)
    where: dict[object, int] = {}
    for row, token in enumerate(one):
        where[token] = where.get(token, 0) | 1 << row
    last, whole = 1 << (len(one) - 1), (1 << len(one)) - 1
    up, down, distance = whole, 0, len(one)  # bits of the rows where the next one is larger, or smaller, by one
    for token in other:
        equal = where.get(token, 0)
        diagonal = (((equal & up) + up) ^ up) | equal | down
        right_up = down | (whole & ~(diagonal | up))
        right_down = up & diagonal
        distance += bool(right_up & last) - bool(right_down & last)
        right_up = (right_up << 1 | 1) & whole
        right_down = (right_down << 1) & whole
        up = right_down | (whole & ~(diagonal | right_up))
        down = right_up & diagonal
    return distance


def _without_common_ends(one: Tokens, other: Tokens) -> tuple[Tokens, Tokens]:
    shorter, start, end = min(len(one), len(other)), 0, 0
    while start < shorter and one[start] == other[start]:
        start += 1
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]
