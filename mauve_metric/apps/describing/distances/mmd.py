"""Maximum mean discrepancy of two sets of features: their distance under a kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from mauve_metric.apps.describing.distances.checked_sets import check_sets
from mauve_metric.arrays import Array, Floats, Integers, MeasuredValue
from mauve_metric.measures.cross_fitting import permuted_sides
from mauve_metric.measures.groups import FEWEST_GROUPS
from mauve_metric.measures.p_values import t_quantile
from mauve_metric.runtime.checks import check_least

_TILE_ROWS = 2048  # a tile of the kernel is 32 MB, and so are its rows at 2000 columns
_MEDIAN_ROWS = 2000  # whose pairwise distances give the bandwidth

Kernel = Callable[[Floats, Floats], Floats]  # rows (a, d) and (b, d) → values (a, b)


def _polynomial(a: Floats, b: Floats) -> Floats:
    """The kernel of KID."""
    values: Floats = a @ b.T / a.shape[1] + 1
    return values * values * values


def mmd(
    p: Array,
    q: Array,
    *,
    seed: int = 25,
    level: float = 0.95,
    permutations: int = 499,
    groups: tuple[Integers, Integers] | None = None,
    kernel: Kernel = _polynomial,
) -> MeasuredValue:
    """Unbiased squared maximum mean discrepancy with the kernel of KID (Gretton et al. 2012, lemma 6).

    mean of k(p_i, p_j) over i ≠ j + mean of k(q_i, q_j) over i ≠ j - 2·mean of k(p_i, q_j), with
    k(x, y) = (x·y/d + 1)³ (Bińkowski et al. 2018, §4) and over all pairs, not over subsets. The kernel knows the
    features' scale and origin. The same texts on both sides do not give exactly 0, since a row is compared with itself
    only across the sides.

    The p-value is of a permutation test: the share of random divisions of all rows into sets of these sizes, the real
    one among them, whose value is as large. The interval reaches as far as the normal one of the asymptotic variance
    (Gretton et al. 2012, §6.2), and no less far than the values of these divisions: near equality, where the normal one
    is wrong, it holds 0 at least as often as `level` says, and so more often than the test finds nothing.
    It never ends below 0, where no distribution's value is: sets that share texts or prompts have values there.

    Args:
        p, q: features, shapes (n_p, d) and (n_q, d), at least 2 rows each.
        seed: of the divisions. level: of the interval, inside (0, 1). permutations: how many divisions, at least 1.
        groups: codes (n_p,) and (n_q,) of rows that are not independent, such as those of one prompt, on both sides
            (see `measures.groups`): no pair of rows of one group counts, divisions keep the groups as
            `cross_fitting.permuted_sides` does, and the error is that of the sums over groups.
        kernel: in the place of KID's.

    Returns:
        value: unbounded above, about 0 for equal sets and then as often below it; lower is better. ci: None where
        `level` needs more divisions, 2 / (1 - level) - 1 at least. p_value: at least 1 / (permutations + 1).

    Raises:
        ValueError: fewer than 2 rows, no common d, a level or number out of range, features too large for float64.

    >>> rows = np.random.default_rng(0).normal(size=(60, 3))
    >>> value, ci, p_value = mmd(rows[:30], rows[30:] + 2)
    >>> round(value, 3), ci[0] > 0, p_value
    (139.046, True, 0.002)
    """
    _check(p, q, level, permutations)
    is_p, rng = np.repeat([True, False], [len(p), len(q)]), np.random.default_rng(seed)
    if groups is None:
        number = np.arange(len(is_p))
        divided = np.stack([rng.permutation(is_p) for _ in range(permutations)], axis=1)
    else:
        number = np.unique(np.concatenate(groups), return_inverse=True)[1]
        divided = ~permuted_sides(~is_p, number, np.zeros_like(number), permutations, rng)
    labels = np.concatenate([is_p[:, None], divided], axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        by_side, within = _sums(p, q, kernel, labels, number)
        values = _values(by_side, within, labels, number)
    if not np.isfinite(values).all():
        raise ValueError("p and q must be finite, and not too large for sums of their products in float64")
    value, others = float(values[0]), values[1:]
    rounding = 1e-12 * float(np.abs(by_side).sum()) / len(labels) ** 2
    p_value = (1 + int(np.count_nonzero(others >= value - rounding))) / (len(others) + 1)
    if groups is not None and min(len(np.unique(number[is_p == side])) for side in (True, False)) < FEWEST_GROUPS:
        return MeasuredValue(value, None, p_value)
    outside = math.floor((1 - level) / 2 * (len(others) + 1) + 1e-9)  # random divisions on either side of the interval
    if outside < 1:
        return MeasuredValue(value, None, p_value)
    ordered = np.sort(others)
    # the normal interval, or the one of the random divisions where that is wider
    half = t_quantile(level) * _error(by_side, len(p), number, groups is not None)
    high = value + max(half, -float(ordered[outside - 1]))
    return MeasuredValue(value, (value - max(half, float(ordered[-outside])), max(high, 0.0)), p_value)


def mmd_gaussian(
    p: Array,
    q: Array,
    *,
    seed: int = 25,
    level: float = 0.95,
    permutations: int = 499,
    bandwidth: float | None = None,
    groups: tuple[Integers, Integers] | None = None,
) -> MeasuredValue:
    """`mmd` with the Gaussian kernel k(x, y) = exp(-‖x - y‖² / 2h²) (Gretton et al. 2012, §8).

    Args:
        p, q, seed, level, permutations, groups: as for `mmd`.
        bandwidth: h > 0; by default the median of the pairwise distances among the rows of both sets together, or among
            2000 of them that the seed draws; where most are copies, the median of the distances that are not 0.

    Returns:
        As `mmd`; the value is at most 2.

    Raises:
        ValueError: as `mmd`, and a bandwidth that is not above 0.

    >>> rows = np.random.default_rng(0).normal(size=(60, 3))
    >>> value, ci, p_value = mmd_gaussian(rows[:30], rows[30:] + 2)
    >>> round(value, 3), ci[0] > 0, p_value
    (0.573, True, 0.002)
    """
    if bandwidth is not None and not bandwidth > 0:
        raise ValueError(f"bandwidth must be above 0, got {bandwidth}")
    _check(p, q, level, permutations)
    width = median_distance(p, q, seed) if bandwidth is None else bandwidth
    centre = p.mean(axis=0, dtype=np.float64)  # about which the squares lose least

    def kernel(a: Floats, b: Floats) -> Floats:
        a, b = (a - centre) / width, (b - centre) / width
        values: Floats = a @ b.T - np.square(a).sum(axis=1)[:, None] / 2 - np.square(b).sum(axis=1) / 2
        return np.exp(np.minimum(values, 0.0, out=values), out=values)

    return mmd(p, q, seed=seed, level=level, permutations=permutations, groups=groups, kernel=kernel)


def median_distance(p: Array, q: Array, seed: int = 25) -> float:
    """The median of the pairwise distances among the rows of both sets, 1 where all rows are the same.

    Of at most 2000 rows that the seed draws from both together; where it is 0, of the distances that are not 0.

    >>> median_distance(np.array([[0.0], [1.0]]), np.array([[3.0]]))
    2.0
    """
    from scipy.spatial.distance import pdist

    total = len(p) + len(q)
    chosen = np.sort(np.random.default_rng(seed).permutation(total)[:_MEDIAN_ROWS])
    rows = np.concatenate([p[chosen[chosen < len(p)]], q[chosen[chosen >= len(p)] - len(p)]]).astype(np.float64)
    distances = pdist(rows)
    median = float(np.median(distances))
    positive = distances[distances > 0]
    return median if median > 0 else float(np.median(positive)) if len(positive) else 1.0


def _check(p: Array, q: Array, level: float, permutations: int) -> None:
    check_sets({"p": p, "q": q}, least=2)
    if not 0 < level < 1:
        raise ValueError(f"level must be inside (0, 1), got {level}")
    check_least("permutations", permutations)


def _error(by_side: Floats, n: int, number: Integers, grouped: bool) -> float:
    """The standard error of the value, by how much each row moves it.

    h(x) is a row's mean kernel with its own set less that with the other. Independent rows: the root of
    4·Var h(p_i)/n_p + 4·Var h(q_j)/n_q. Groups: the same of sums of h over each group.
    """
    m = len(by_side) - n
    sizes_p, sizes_q = (np.bincount(number[side], minlength=number.max() + 1) for side in (slice(n), slice(n, None)))
    of_p = by_side[:n, 0] / (n - sizes_p[number[:n]]) - by_side[:n, 1] / (m - sizes_q[number[:n]])
    of_q = by_side[n:, 1] / (m - sizes_q[number[n:]]) - by_side[n:, 0] / (n - sizes_p[number[n:]])
    if not grouped:
        return math.sqrt(4 * float(of_p.var(ddof=1)) / n + 4 * float(of_q.var(ddof=1)) / m)
    effects = np.bincount(number, weights=np.concatenate([(of_p - of_p.mean()) / n, (of_q - of_q.mean()) / m]))
    total = len(sizes_p)
    return 2 * math.sqrt(float(effects @ effects) * total / (total - 1))


def _tiles(p: Array, q: Array) -> Iterator[tuple[slice, Floats]]:
    """Rows of p and then of q, at most `_TILE_ROWS` at a time in float64, with their place among all."""
    for rows, offset in ((p, 0), (q, len(p))):
        for start in range(0, len(rows), _TILE_ROWS):
            tile = np.asarray(rows[start : start + _TILE_ROWS], dtype=np.float64)
            yield slice(offset + start, offset + start + len(tile)), tile


def _sums(p: Array, q: Array, kernel: Kernel, labels: Array, number: Integers) -> tuple[Floats, Floats]:
    """Sums of the kernel over rows of different groups: of each row with those of p and of q, (n, 2), and of the pairs
    inside the first set of each division, (divisions,).

    One pass over the tiles of the kernel's upper triangle; each serves the true sides and all divisions.

    number: of the group of each row, its own where rows are independent.
    """
    by_side, within = np.zeros((len(labels), 2)), np.zeros(labels.shape[1])
    for here, rows in _tiles(p, q):
        chosen = labels[here].astype(np.float64)
        for there, others in _tiles(p, q):
            if there.start < here.start:
                continue
            values = kernel(rows, others)
            values[number[here][:, None] == number[there]] = 0.0
            if here != there:
                by_side[there, int(here.start >= len(p))] += values.sum(axis=0)
            by_side[here, int(there.start >= len(p))] += values.sum(axis=1)
            twice = 1 if here == there else 2
            within += twice * np.einsum("ij,ij->j", values @ labels[there].astype(np.float64), chosen)
    return by_side, within


def _values(by_side: Floats, within: Floats, labels: Array, number: Integers) -> Floats:
    """The discrepancy of every division, from xᵀKx and xᵀK1 of its label vector x, (divisions,)."""
    by_row = by_side.sum(axis=1)
    across = by_row @ labels - within
    second = by_row.sum() - within - 2 * across
    pairs = np.empty((3, len(within)))  # of rows of different groups: inside the first set, inside the second, across
    for division, first in enumerate(labels.T):
        ours, theirs = np.bincount(number, weights=first), np.bincount(number, weights=~first)
        n, m = ours.sum(), theirs.sum()
        pairs[:, division] = n * n - ours @ ours, m * m - theirs @ theirs, n * m - ours @ theirs
    values: Floats = within / pairs[0] + second / pairs[1] - 2 * across / pairs[2]
    return values
