"""k-means as faiss does it, faster: the same starts, updates, empty-bucket rule and choice among restarts.

Each iteration gives every row its nearest centre, exactly, but looks at few of them in full (`nearest_centres`): the
result is that of plain Lloyd iterations at about a fifth of their work. Where rows and centres are few, what counts is
how often something is called: there the restarts go on in step, with one product for the centres of all.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from functools import partial
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mauve_metric.arrays import Integers, Labels, Rows
from mauve_metric.clustering import on_device
from mauve_metric.clustering.nearest_centres import AllCentres, BoundedCentres, assign, nearest_centres
from mauve_metric.runtime.checks import wrong
from mauve_metric.runtime.errors import TooManyBuckets
from mauve_metric.runtime.optional_imports import import_faiss
from mauve_metric.runtime.tensors import ProjectedRows, is_tensor, on_cpu
from mauve_metric.runtime.threads import one_blas_thread

logger = logging.getLogger(__name__)
NearestCentres: TypeAlias = AllCentres | BoundedCentres | on_device.DeviceCentres
MAX_ROWS_PER_CENTRE = 256  # faiss fits on a random subset above this
_RESTART_STEP = 15_486_557  # between the seeds of two restarts, as in faiss
_SPLIT_SEED = 1234  # of the draw of a bucket to split, as in faiss
_DRAWS = 8  # numbers for each bucket, drawn at once
_SEEDING_ROWS = 5  # for each centre, among which k-means++ looks for starts
_LEAST_SEEDING_ROWS = 2500
_DRAWN_TOGETHER = 32  # centres of k-means++ where there are more products: a third of the time, an equal cost
_MOST_PRODUCTS = 2**24  # distances of the rows of a start from each other, computed at once: 64 MiB
_SPLIT_SHIFT = 1 / 1024  # relative distance between the halves of a split bucket, as in faiss
_MOST_DISTANCES = 2**22  # of all rows to all centres of the runs that go on in step
_NO_GAIN = 1e-6  # relative: smaller differences of cost are rounding


def sample_numbers(n: int, num_buckets: int, seed: int) -> Integers:
    """The rows that the centres are fitted on: all, or 256 for each centre at random."""
    limit = num_buckets * MAX_ROWS_PER_CENTRE
    return np.arange(n) if n <= limit else _random_order(n, seed)[:limit].astype(np.int64)


def _kinds(rows: Rows) -> int:
    """Number of different rows."""
    keys = np.ascontiguousarray(rows + np.float32(0)).view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))  # -0 → 0
    return len(np.unique(keys.ravel()))


def fit(
    rows: ProjectedRows, num_buckets: int, num_redo: int, max_iter: int, seed: int, plus_plus: bool | int = False
) -> Rows:
    """The centres (k, r) with the smallest sum of squared distances among the restarts."""
    return _best_run(rows, num_buckets, num_redo, max_iter, seed, plus_plus).centres


def _best_run(
    rows: ProjectedRows, num_buckets: int, num_redo: int, max_iter: int, seed: int, plus_plus: bool | int
) -> _End:
    """The first restart with the smallest sum of squared distances.

    Where a random start holds equal centres, the published result depends on how ties between them are broken, by a
    rule of faiss's kernels: such a restart is left to faiss. Ties do not matter where there are no more kinds of rows
    than centres: then each kind has a bucket of its own in the end.
    """
    search: NearestCentres = on_device.DeviceCentres(rows) if is_tensor(rows) else nearest_centres(rows, num_buckets)
    draws = 2 + int(np.log(num_buckets)) if plus_plus is True else int(plus_plus)
    choose = partial(_spread_start, draws=draws) if draws else _start
    starts = np.stack([on_cpu(rows[choose(rows, num_buckets, restart, seed)]) for restart in range(num_redo)])
    tied = [] if draws else [restart for restart, start in enumerate(starts) if _kinds(start) < num_buckets]
    if tied and _kinds(on_cpu(rows)) <= num_buckets:
        tied = []
    ends = {restart: _by_faiss(search, starts[restart], max_iter) for restart in tied}
    others = [restart for restart in range(num_redo) if restart not in tied]
    together = max(1, _MOST_DISTANCES // (len(rows) * num_buckets)) if isinstance(search, AllCentres) else 1
    for first in range(0, len(others), together):
        some = others[first : first + together]
        ends |= zip(some, _lloyd(search, starts[some], max_iter), strict=True)
    count = sum(end.iterations for end in ends.values())
    logger.info("k-means: %d rows, %d buckets, %d iterations in %d runs", len(rows), num_buckets, count, num_redo)
    return min((ends[restart] for restart in range(num_redo)), key=attrgetter("cost"))


class _End(NamedTuple):
    """Result of a run: centres (k, r), the nearest of them for each row, (n,), their cost as of `AllCentres`."""

    centres: Rows
    labels: Labels
    cost: float
    iterations: int


def _lloyd(search: NearestCentres, centres: Rows, max_iter: int) -> list[_End]:
    """Iterate in each run, all in step, until none of its rows changes its bucket, or splitting gains nothing.

    A run whose rounding errors decide repeats a few states for ever. Where a state comes again, it ends with the state
    that it would have after max_iter iterations (Brent 1980). centres: the first ones of each run, (runs, k, r).
    """
    means = _Means(search.rows, *centres.shape[:2])
    runs = set(range(len(centres)))
    ends: dict[int, _End] = {}
    labels, lowest = search.start(centres), [float("inf")] * len(runs)
    kept = 0, centres, labels  # an earlier state: iteration, centres, and the buckets before it
    last = [max_iter] * len(runs)
    for iteration in range(1, max_iter + 1):
        updated, was_split = means.update(labels, centres)
        moved = (updated != centres).any(axis=2)
        for run in runs - ends.keys():
            goes_on = moved[run].any()
            if was_split[run]:
                cost = search.cost(run)
                if cost >= lowest[run] - _NO_GAIN * abs(lowest[run]):  # never at the first split: ∞ - ∞ is NaN
                    goes_on = False  # fewer kinds of rows than centres: splitting would go on for ever
                lowest[run] = min(cost, lowest[run])
            if not goes_on:
                ends[run] = _End(centres[run], labels[run], search.cost(run), iteration)
            elif np.array_equal(labels[run], kept[2][run]) and np.array_equal(updated[run], kept[1][run]):
                last[run] = iteration + (max_iter - iteration) % (iteration - kept[0])
        moved[list(ends)] = False
        centres = updated
        if iteration & (iteration - 1) == 0:
            kept = iteration, centres, labels
        new = search.follow(centres, moved)
        for run in runs - ends.keys():
            if iteration == last[run]:
                ends[run] = _End(centres[run], new[run], search.cost(run), iteration)
            elif np.array_equal(new[run], labels[run]):
                ends[run] = _End(centres[run], new[run], search.cost(run), iteration + 1)
        if len(ends) == len(runs):
            break
        labels = new
    return [ends[run] for run in sorted(ends)]


def _by_faiss(search: NearestCentres, start: Rows, max_iter: int) -> _End:
    """Iterate as faiss itself does, on the CPU."""
    clustering = import_faiss().Kmeans(
        start.shape[1],
        len(start),
        niter=max_iter,
        update_index=True,
        min_points_per_centroid=1,
        max_points_per_centroid=MAX_ROWS_PER_CENTRE,
    )
    clustering.train(on_cpu(search.rows), init_centroids=start)
    centres = np.asarray(clustering.centroids)
    labels = search.start(centres[None])[0]
    return _End(centres, labels, search.cost(0), len(clustering.obj))


class _Means:
    """Sums and sizes of the buckets of each run, kept up to date by the rows that change theirs.

    Bucket b of run i of those with k buckets is number i·k + b.
    """

    def __init__(self, rows: ProjectedRows, runs: int, num_buckets: int) -> None:
        self.rows = rows
        self.shape = runs, num_buckets
        self.counts = np.zeros(runs * num_buckets, dtype=np.int64)
        self.sums = np.zeros((runs * num_buckets, rows.shape[1]))
        self.means = np.zeros((runs * num_buckets, rows.shape[1]), dtype=np.float32)
        self.labels: Labels | None = None

    def update(self, labels: Labels, centres: Rows) -> tuple[Rows, NDArray[np.bool_]]:
        """The means of the rows of each bucket, and which runs have an empty one, which takes half of another.

        labels: (runs, n). centres, means: (runs, k, r).
        """
        if is_tensor(self.rows):
            self.sums = on_device.bucket_sums(self.rows, labels[0], len(self.counts))
            self.counts = np.bincount(labels[0], minlength=len(self.counts))
            self._renew(np.arange(len(self.counts)))
        else:
            changed = np.flatnonzero(labels != self.labels) if self.labels is not None else np.arange(labels.size)
            runs, numbers = np.divmod(changed, labels.shape[1])
            first = runs * self.shape[1]
            left = first[:0] if self.labels is None else self.labels[runs, numbers] + first
            self._move(self.rows, numbers, left, labels[runs, numbers] + first)
        self.labels = labels
        filled = (self.counts > 0).reshape(self.shape)
        updated: Rows = np.where(filled[:, :, None], self.means.reshape(centres.shape), centres)
        was_split: NDArray[np.bool_] = np.logical_not(filled.all(axis=1))
        for run in np.flatnonzero(was_split):
            _split(updated[run], self.counts.reshape(self.shape)[run].astype(np.float32), len(self.rows))
        return updated, was_split

    def _move(self, rows: Rows, numbers: Labels, left: Labels, joined: Labels) -> None:
        """Take rows off the sums of the buckets that they left, if any, and add them to those that they joined."""
        count = len(self.counts)
        sizes = np.bincount(np.concatenate([left, joined + count]), minlength=2 * count)
        touched = np.flatnonzero(sizes)
        places = (np.cumsum(sizes > 0) - 1)[np.concatenate([left, joined + count])]
        sums = _sums_by_place(rows, np.concatenate([numbers[: len(left)], numbers]), places, len(touched))
        num_left = int(np.searchsorted(touched, count))
        self.sums[touched[:num_left]] -= sums[:num_left]
        self.sums[touched[num_left:] - count] += sums[num_left:]
        self.counts += sizes[count:] - sizes[:count]
        self._renew(np.flatnonzero(sizes[:count] + sizes[count:]))

    def _renew(self, buckets: Labels) -> None:
        """The means of these buckets, where they are not empty."""
        filled = buckets[self.counts[buckets] > 0]
        self.means[filled] = self.sums[filled] / self.counts[filled, None]


def _sums_by_place(rows: Rows, numbers: Labels, places: Labels, count: int) -> Rows:
    """The float32 sums (count, r) of the rows with these numbers at each place, each added up in the order given."""
    from scipy.sparse import csr_array

    ends = np.append(0, np.cumsum(np.bincount(places, minlength=count)))
    sortable = places.astype(np.uint16) if count <= 2**16 else places  # which numpy sorts by radix
    ones, in_order = np.ones(len(numbers), dtype=np.float32), numbers[np.argsort(sortable, kind="stable")]
    sums: Rows = csr_array((ones, in_order, ends), shape=(count, len(rows))) @ rows  # one row after the other
    return sums


def _split(centres: Rows, counts: NDArray[np.float32], n: int) -> None:
    """Fill each empty bucket, in place: a bucket drawn by its size is split into two that lie close together.

    The draw cycles through the k buckets and takes each with probability (size - 1) / (n - k); the largest if none can
    be taken.
    """
    k, random = len(counts), np.random.RandomState(_SPLIT_SEED)
    shift = np.where(np.arange(centres.shape[1]) % 2 == 0, _SPLIT_SHIFT, -_SPLIT_SHIFT).astype(np.float32)
    drawn = np.empty(0, dtype=np.float32)
    for empty in np.nonzero(counts == 0)[0]:
        donor = int(counts.argmax())
        chances = (counts - 1) / max(n - k, 1)
        while n > k:
            if len(drawn) < k:
                more = random.randint(0, 2**32, size=_DRAWS * k, dtype=np.uint32).astype(np.float32)
                drawn = np.concatenate([drawn, more / np.float32(2**32 - 1)])
            taken = drawn[:k] < chances
            first = int(taken.argmax())
            drawn = drawn[first + 1 if taken[first] else k :]
            if taken[first]:
                donor = first
                break
        centres[empty] = centres[donor] * (1 + shift)
        centres[donor] *= 1 - shift
        counts[empty] = counts[donor] / 2
        counts[donor] -= counts[empty]


def _start(rows: ProjectedRows, num_buckets: int, restart: int, seed: int) -> NDArray[np.int32]:
    """The rows that a restart of faiss begins with as centres: random ones."""
    return _random_order(len(rows), seed + 1 + restart * _RESTART_STEP)[:num_buckets]


def _spread_start(rows: ProjectedRows, num_buckets: int, restart: int, seed: int, draws: int) -> NDArray[np.int32]:
    """The rows that greedy k-means++ begins with as centres (Arthur & Vassilvitskii 2007), chosen from a sample.

    Each next centre is, of so many rows drawn with a probability in proportion to their squared distance from the
    nearest centre so far, the one that leaves the smallest sum of these; where there are many centres, the rows for
    32 of them are drawn at once. scikit-learn's takes a second to import.
    """
    most = max(_SEEDING_ROWS * num_buckets, _LEAST_SEEDING_ROWS)
    sample = _random_order(len(rows), seed + 1 + restart * _RESTART_STEP)[:most]
    sampled = rows[sample]
    candidates, few = on_cpu(sampled), len(sample) ** 2 <= _MOST_PRODUCTS
    squares, rng = np.einsum("ij,ij->i", candidates, candidates), np.random.default_rng([seed, restart])
    columns = np.ascontiguousarray(candidates.T)  # packed once, and not for each product with a few rows

    def distances(places: Integers) -> Rows:
        """Squared distances (m, n) of the candidates from some of them."""
        away: Rows = on_device.inner(sampled, places) if is_tensor(sampled) else candidates[places] @ columns
        away *= -2
        away += squares[places][:, None] + squares
        away[np.arange(len(places)), places] = 0
        return np.maximum(away, 0, out=away)

    chosen = [0]
    with one_blas_thread() if few else nullcontext():  # for many small products
        distances_of = distances(np.arange(len(sample))).__getitem__ if few else distances
        nearest = distances_of(np.array([0]))[0]
        while len(chosen) < num_buckets:
            count = min(1 if few else _DRAWN_TOGETHER, num_buckets - len(chosen))
            sums = np.cumsum(nearest, dtype=np.float64)
            drawn = np.searchsorted(sums, rng.random(count * draws) * sums[-1])
            away = distances_of(drawn).reshape(count, draws, -1)
            for of_centre, places in zip(away, drawn.reshape(count, draws), strict=True):
                np.minimum(of_centre, nearest, out=of_centre)
                best = int(of_centre.sum(axis=1).argmin())
                chosen.append(int(places[best]))
                nearest = of_centre[best]
    return sample[chosen]


def _random_order(n: int, seed: int) -> NDArray[np.int32]:
    """faiss's own permutation of 0 … n - 1, so that the starts are the same."""
    faiss = import_faiss()
    order = np.empty(n, dtype=np.int32)
    faiss.rand_perm(faiss.swig_ptr(order), n, seed)
    return order


def kmeans(
    rows: ProjectedRows,
    num_buckets: int,
    num_redo: int = 5,
    max_iter: int = 500,
    seed: int = 25,
    plus_plus: bool | int = False,
) -> Integers:
    """Bucket of each row by k-means as faiss does it: the best of `num_redo` starts, nearest final centre.

    Above 256 rows a bucket the centres are fitted on a random subset of that size.

    Args:
        rows: projected features, shape (n, r), float32: an array, or a torch tensor, which stays on its device.
        num_buckets: k, at most n.
        num_redo, max_iter, seed: restarts, most iterations of each, seed.
        plus_plus: start from centres that k-means++ spreads out, and not from random rows as faiss: the best of so
            many draws each, 2 + log(k) for True.

    Returns:
        Shape (n,), in 0 … k - 1.
    """
    if num_buckets > len(rows):
        most = f"at most the number of texts of both sets, {len(rows)}"
        raise wrong("num_buckets", most, num_buckets, TooManyBuckets)
    if not is_tensor(rows):
        rows = np.ascontiguousarray(rows, dtype=np.float32)
    if (rows == rows[0]).all():
        return np.zeros(len(rows), dtype=np.int64)
    seed += 2  # faiss's own
    if len(rows) <= num_buckets * MAX_ROWS_PER_CENTRE:
        return _best_run(rows, num_buckets, num_redo, max_iter, seed, plus_plus).labels
    sample = rows[sample_numbers(len(rows), num_buckets, seed)]
    centres = fit(sample, num_buckets, num_redo, max_iter, seed, plus_plus)
    return on_device.DeviceCentres(rows).start(centres[None])[0] if is_tensor(rows) else assign(rows, centres)
