"""Features of several sets → the buckets of their texts, on one common partition, for all functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from mauve_metric.arrays import Array, FeatureRows, Features, Floats, Integers, Labels
from mauve_metric.clustering import blocks, kmeans, projection
from mauve_metric.clustering.histograms import Quantized, too_many_singles
from mauve_metric.clustering.nearest_centres import assign
from mauve_metric.clustering.num_buckets import auto_num_buckets, is_auto
from mauve_metric.clustering.quantizers import QUANTIZERS, StackedSets
from mauve_metric.features.array_files import is_sequential
from mauve_metric.features.row_blocks import (
    MOST_NUMBERS_AT_ONCE,
    ArrayRows,
    ConcatenatedRows,
    OrderedRows,
    all_rows,
    as_rows,
    content_order,
    in_one_format,
    order_of_keys,
    read_in_blocks,
    some_numbers,
    some_rows,
)
from mauve_metric.measures.groups import GROUPS_A_BUCKET, stand_ins
from mauve_metric.measures.roc_auc import average_ranks
from mauve_metric.options import ResolvedConfig, RunOptions, config_fields, options_of_quantizer
from mauve_metric.runtime import tensors
from mauve_metric.runtime.devices import check_device
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.progress import progress_bar, watch_blocks
from mauve_metric.runtime.tensors import ProjectedRows
from mauve_metric.runtime.threads import Start, fitting_threads, run_when_asked

if TYPE_CHECKING:
    import torch

Item = TypeVar("Item")
Rows = TypeVar("Rows", Labels, ProjectedRows)

USUAL_FOR_CLOSENESS = ("quantizer", "kmeans_num_redo", "kmeans_max_iter")  # whatever the options are
FINER_FROM = 50  # texts of the smallest set: fewer are too few for a finer clustering
FINER_TEXTS, MOST_FINER = 2.5, 2000  # texts of the smallest set in each finer bucket, and its most buckets
FINER_RUNS = 3  # finer clusterings of few texts; one of more, which takes a second
FEW_FOR_FINER_RUNS = 2500  # texts of the smallest set: fewer are few here
FINER_ROWS = 8  # for each finer bucket, to which it is fitted
MANY_ROWS, MOST_OF_MANY = 100_000, 5000  # of all sets, above which closeness has at most so many buckets
ROWS_OF_MANY = 16  # for each bucket where they are more than finer ones may be and rows are many
MOST_NUMBERS_READ = 2**26  # of features that are not in memory, which are read and then treated like those that are
MANY_TEXTS = 100_000  # of the largest set, from which one projection serves both orders, whatever its last bits
KNN_MOST_ROWS = 20_000  # above, so many random rows a side, drawn by the seed; the time grows with the square


class Stacking(NamedTuple):
    """Order of stacked sets: their sizes, P's first, and whether P comes first, or last."""

    sizes: tuple[int, ...]
    p_first: bool

    def ordered(self, sets: Sequence[Item]) -> list[Item]:
        """The sets, P's first, in the order in which they are stacked."""
        return [*sets] if self.p_first else [*sets[1:], sets[0]]

    def split(self, rows: Rows) -> list[Rows]:
        """Stacked rows, or their labels, as one part for each set, P's first."""
        ends: list[int] = np.cumsum(self.ordered(self.sizes)).tolist()
        parts: list[Rows] = [rows[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
        return parts if self.p_first else parts[-1:] + parts[:-1]


@dataclass(frozen=True)
class Partition:
    """Projection and clustering of the features of several sets, P's first.

    rows: projected, one array or tensor (n_i, r) a set; for features read in blocks only the sample used
    for nearest neighbours; empty without them.
    labels: for each clustering one array (n_i,) of buckets a set. The first one was started from the sets as they are
    stacked, as in the literature. The others were started from an order by content, by k-means++: they do not depend
    on the order of the rows, nor on which set a row is of. Of a single column they are of its ranks, since rows of
    length 1 keep the sign alone. From `MANY_TEXTS` on they use the first one's projection, whose last bits may depend
    on the order.
    problems: what the quantizer says is wrong with its buckets, once for each clustering that has something.
    closeness: the clusterings that closeness is judged by, in lists of equal numbers of buckets: by k-means in the
    order by content, whatever the quantizer and its number of buckets, with those of "auto", and finer ones with one
    for every `FINER_TEXTS` texts: where there are more kinds of texts than buckets, those of the first hold several
    kinds. Of more than `MANY_ROWS` rows there are `MOST_OF_MANY` buckets at most, fitted to a sample. Where too
    many finer buckets hold a single text, these texts are in the bucket of the nearest other one (`_without_singles`).
    """

    rows: Sequence[ProjectedRows]
    labels: Sequence[Sequence[Labels]]
    problems: Sequence[str] = ()
    closeness: Sequence[Sequence[Sequence[Labels]]] = ()

    @property
    def labels_without_sets(self) -> Sequence[Labels]:
        """Buckets that do not depend on the sets, for a permutation test: the first clustering by content."""
        return without_first(self.labels)[0]


def without_first(runs: Sequence[Item]) -> Sequence[Item]:
    """The clusterings that the debiased score is the mean of: all but the first one, if there are others.

    >>> without_first(["published", "by content"]), without_first(["published"])
    (['by content'], ['published'])
    """
    return runs[1:] or runs


def number_of_clusterings(config: ResolvedConfig) -> int:
    """Number of clusterings of a score: the published one and at least one by content.

    Two or more by content where a spread over clusterings is asked for (num_runs of 2 or more).
    """
    return 1 + max(config.num_runs - 1, min(config.num_runs, 2))


@fitting_threads()
def partition_sets(
    sets: Sequence[Features],
    config: ResolvedConfig,
    run: RunOptions | None = None,
    *,
    clusterings: int | None = None,
    every_row: bool = False,
    groups: Sequence[Integers | None] | None = None,
    keys: Sequence[Floats] | None = None,
    on_projected: Callable[[Sequence[ProjectedRows]], object] | None = None,
    start: Start = run_when_asked,
) -> Partition:
    """Project and cluster sets together: where `run.score_device` or tensors say, in memory, or block by block.

    Args:
        sets: features (n_i, d) with one d, P's first.
        run: has the device, the checkpoint folder, and whether passes over features in blocks are shown.
        clusterings: how many, with as many seeds; None: `number_of_clusterings`.
        every_row: all projected rows are needed, as for explanations.
        groups: codes of the texts of each set that are not independent, (n_i,) each; of use to learned buckets.
        keys: by which rows are sorted by content, (n_i,) each; None: they are computed (`row_blocks.content_keys`).
        on_projected: called with `Partition.rows` before they are clustered, where they are in memory.
        start: starts finer clusterings beside the others, see `side_by_side`.

    Raises:
        ValueError: every row is needed of features that are read in blocks, or the device is not there.
    """
    run = run or RunOptions()
    stacking = Stacking(tuple(features.shape[0] for features in sets), config.row_order == "pq")
    count = number_of_clusterings(config) if clusterings is None else clusterings
    device = tensors.device_of(sets) if run.score_device is None else check_device(run.score_device)
    quantizer = QUANTIZERS[config.quantizer]
    on_features = quantizer.on == "features"
    if quantizer.in_one_format:
        sets = in_one_format(*sets)
    at_once = _at_once(sets, config, run, device, every_row)
    if at_once is None:
        return _in_blocks(sets, config, run, stacking, count, groups, keys)
    sets = at_once
    # where the projection does not depend on the rows' order by more than the last bits, one serves both orders
    n, d = sum(stacking.sizes), sets[0].shape[1]
    order_shows = 0 < config.pca_max_data < n or projection.is_scikit_learns_choice(n, d)
    if count > 1 or not order_shows:
        rows, places = _ordered_by_content(sets, stacking, keys)
    projected: ProjectedRows | None
    if order_shows:
        projected = _projected(stacking.ordered(sets), config, device)
    else:
        sorted_rows = _projected([rows], config, device)
        projected = _at(sorted_rows, places)
    if on_projected is not None:
        on_projected(stacking.split(projected))
    sets_of_rows, runs = _sets_of_rows(stacking, groups), range(1, count)
    lists = [*closeness_configs(config, sets_of_rows, runs)] if count > 1 else []

    def start_finer() -> list[list[Callable[[], Integers]]]:
        """Start the finer clusterings of each list."""
        begin = partial(start, _finer, sorted_rows, places, sets_of_rows)
        return [[begin(of_list, offset) for offset in offsets if is_finer] for of_list, offsets, is_finer in lists]

    from_projected = order_shows and max(stacking.sizes) >= MANY_TEXTS and (d > 1 or on_features)
    if count > 1 and not from_projected:
        if d == 1 and not on_features:
            sorted_rows = _stacked([_ranks(all_rows(rows))], device)
        elif order_shows:
            sorted_rows = _projected([rows], config, device)
        finer = start_finer()
    as_stacked = _stacked(stacking.ordered(sets), device) if on_features else projected
    quantized = [_cluster(as_stacked, sets_of_rows, config, 0, run.verbose)]
    del as_stacked
    labels_by_content: list[Integers] = []
    closeness: list[list[Integers]] = []
    if count > 1:
        if from_projected:
            sorted_rows = _at(projected, np.argsort(places))
            projected = None  # as large as what follows
            finer = start_finer()
        by_content = config_by_content(config, sets_of_rows)
        of_features = _stacked([rows], device) if on_features else sorted_rows
        made = _by_content(of_features, places, sets_of_rows, by_content, runs, run.verbose)
        quantized += made
        labels_by_content = [result.labels for result in made]
        del of_features
        for (of_closeness, offsets, is_finer), started in zip(lists, finer, strict=True):
            if is_finer:
                closeness.append([labels() for labels in started])
            elif of_closeness == by_content:
                closeness.append(labels_by_content)
            else:
                coarse = _by_content(sorted_rows, places, sets_of_rows, of_closeness, offsets, run.verbose)
                closeness.append([result.labels for result in coarse])
    if projected is None:
        projected = _at(sorted_rows, places)
    labels = [stacking.split(result.labels) for result in quantized]
    return Partition(
        stacking.split(projected),
        labels,
        [result.problem for result in quantized if result.problem],
        [labels[1:] if of_size is labels_by_content else [*map(stacking.split, of_size)] for of_size in closeness],
    )


def _at_once(
    sets: Sequence[Features], config: ResolvedConfig, run: RunOptions, device: torch.device | None, every_row: bool
) -> Sequence[Features] | None:
    """The sets for work in memory, those of files read whole where they fit; None where all are processed in blocks.

    Raises:
        ValueError: every row is needed of features that are read in blocks.
    """
    in_files = [tensors.is_read_only_in_blocks(features) for features in sets]
    if every_row and device is None and any(in_files):
        raise ValueError(
            "features must be in memory to be explained, as arrays: those of files, data sets and streams are read in "
            "blocks, and only scored and compared"
        )
    numbers = sum(math.prod(features.shape) for features in sets)
    if QUANTIZERS[config.quantizer].on == "features":
        if numbers > MOST_NUMBERS_AT_ONCE and any(in_files):
            return None
        is_read = in_files
    elif device is None and any(map(read_in_blocks, sets)):
        small = numbers <= MOST_NUMBERS_READ and run.checkpoint is None
        small |= sets[0].shape[1] == 1  # whose ranks need all rows
        if not small and not every_row and not _fit_together(sets, config, run):
            return None
        is_read = [small or is_sequential(features) for features in sets]
    else:
        return sets
    return [all_rows(features) if whole else features for features, whole in zip(sets, is_read, strict=True)]


def _ordered_by_content(
    sets: Sequence[Features], stacking: Stacking, keys: Sequence[Floats] | None
) -> tuple[FeatureRows, Integers]:
    """The rows of all sets in their order by content, (Σ n_i, d), and the place there of each stacked row, (Σ n_i,).

    Among equal rows P's are the first, however the sets are stacked.
    """
    order = content_order(*sets) if keys is None else order_of_keys(*keys)
    places = stacking._replace(p_first=True).split(np.argsort(order))
    rows = OrderedRows(ConcatenatedRows([as_rows(features) for features in sets]), order)
    return rows, np.concatenate(stacking.ordered(places))


def _at(rows: ProjectedRows, numbers: Integers) -> ProjectedRows:
    """Projected rows in another order."""
    return rows[tensors.index_of(numbers, rows) if tensors.is_tensor(rows) else numbers]


def _ranks(rows: Array) -> Array:
    """The ranks of one column, as a share of the rows; equal numbers share one, (n, 1) → (n, 1)."""
    return (average_ranks(rows[:, 0]) / len(rows)).astype(np.float32)[:, None]


def _by_content(
    rows: ProjectedRows, places: Integers, sets: StackedSets, config: ResolvedConfig, offsets: range, verbose: bool
) -> list[Quantized]:
    """Clusterings of rows in their order by content, with these offsets of the seed; labels as the rows are stacked.

    Args:
        rows, places: see `_ordered_by_content`. sets: of the stacked rows.
    """
    sorted_sets = sets.take(np.argsort(places))
    quantized = []
    for offset in offsets:
        kept, number = _stand_ins(sorted_sets, config.seed + offset)
        fitted_to = rows if len(kept) == len(places) else _at(rows, kept)
        result = _cluster(fitted_to, sorted_sets.take(kept), config, offset, verbose, by_content=True)
        quantized.append(result._replace(labels=result.labels[number][places]))
    return quantized


def closeness_configs(
    config: ResolvedConfig, sets: StackedSets, runs: range
) -> Iterator[tuple[ResolvedConfig, range, bool]]:
    """The k-means options of each list of clusterings that closeness is judged by, their offsets, and if it is finer.

    They depend on the sizes of the sets and their groups alone. Of over `MANY_ROWS` rows, clusterings with more buckets
    than finer ones have are fitted like these, to `ROWS_OF_MANY` a bucket.

    Args:
        runs: offsets of the seed of the clusterings by content.
    """
    stacked_sizes = np.bincount(sets.set_of)
    fewest = int(stacked_sizes.min())
    usual = {name: config_fields()[name].metadata["usual"] for name in USUAL_FOR_CLOSENESS}
    usual |= {"kmeans_num_redo": 1, "auto": frozenset({*USUAL_FOR_CLOSENESS, "num_buckets"})}
    num_buckets = _at_most_groups(auto_num_buckets(fewest, fewest), sets)
    is_large = len(sets.set_of) > MANY_ROWS and num_buckets > MOST_FINER
    coarse = replace(config, **usual, num_buckets=min(num_buckets, MOST_OF_MANY) if is_large else num_buckets)
    yield coarse, runs, is_large
    effective = fewest if sets.groups is None else min(_effective(sets, number) for number in range(len(stacked_sizes)))
    finer = replace(coarse, num_buckets=min(max(round(effective / FINER_TEXTS), 2), MOST_FINER))
    if fewest >= FINER_FROM and finer.num_buckets > coarse.num_buckets:
        yield finer, range(1, 1 + (FINER_RUNS if fewest < FEW_FOR_FINER_RUNS else 1)), True


def _effective(sets: StackedSets, number: int) -> float:
    """The number of independent texts that hold as much as those of a set, (Σ m)²/Σ m² for groups of m (Kish 1965)."""
    of_set = sets.set_of == number
    sizes = np.unique(sets.groups[of_set], return_counts=True)[1] if sets.groups is not None else np.ones(of_set.sum())
    return float(sizes.sum() ** 2 / np.square(sizes).sum())


def _finer(rows: ProjectedRows, places: Integers, sets: StackedSets, config: ResolvedConfig, offset: int) -> Integers:
    """The buckets of one clustering by content with many buckets, fitted to some of the rows; as rows are stacked."""
    sorted_sets, seed = sets.take(np.argsort(places)), config.seed + offset
    kept, number = _stand_ins(sorted_sets, seed)
    fitted_to = rows if len(kept) == len(places) else _at(rows, kept)
    options = options_of_quantizer(config, "kmeans")
    k = min(config.num_buckets, len(kept))
    few = _rows_of_finer(len(kept), k, seed)
    if len(few) == len(kept):
        labels, centres = kmeans.kmeans(fitted_to, k, seed=seed, plus_plus=1, **options), None
    else:
        centres = kmeans.fit(_at(fitted_to, few), k, seed=seed + 2, plus_plus=1, **options)
        labels = assign(tensors.on_cpu(fitted_to), centres)
    return _without_singles(lambda numbers: tensors.on_cpu(_at(rows, numbers)), labels[number], centres)[places]


def _rows_of_finer(number: int, num_buckets: int, seed: int) -> Integers:
    """Of so many rows, those that a clustering with many buckets is fitted to."""
    of_bucket = FINER_ROWS if num_buckets <= MOST_FINER else ROWS_OF_MANY
    return some_numbers(number, min(number, of_bucket * num_buckets), seed)


def _without_singles(rows_at: Callable[[Integers], Array], labels: Labels, centres: Array | None = None) -> Labels:
    """Move each text that is alone in its bucket to the nearest bucket of several, if too many are alone.

    The sides play no part, so that equal sets stay equal.

    Args:
        rows_at: returns the projected rows with these numbers.
        centres: of the buckets, of which the nearest counts if these are fitted to a sample; None: the nearest text's.

    >>> rows = np.array([[0.0], [0.1], [3.0], [3.1], [2.0], [0.5], [9.0], [-5.0], [5.0]], dtype=np.float32)
    >>> _without_singles(rows.__getitem__, np.array([0, 0, 1, 1, 2, 3, 4, 5, 6])).tolist()
    [0, 0, 1, 1, 1, 0, 1, 0, 1]
    """
    totals = np.bincount(labels)
    if not too_many_singles(totals):
        return labels
    is_alone, joined = totals[labels] == 1, labels.copy()
    alone = np.flatnonzero(is_alone)
    if centres is None:
        others = np.flatnonzero(~is_alone)
        joined[alone] = labels[others[assign(rows_at(alone), rows_at(others))]]
    else:
        several = np.flatnonzero(totals > 1)
        joined[alone] = several[assign(rows_at(alone), centres[several])]
    without_gaps: Labels = np.unique(joined, return_inverse=True)[1]
    return without_gaps


def _stand_ins(sets: StackedSets, seed: int) -> tuple[Integers, Integers]:
    """The rows that a clustering by content is fitted to, and for each row the place of that whose bucket it takes."""
    chosen = None if sets.groups is None else stand_ins(sets.set_of, sets.groups, seed)
    if chosen is None:
        return np.arange(len(sets.set_of)), np.arange(len(sets.set_of))
    kept, number = np.unique(chosen, return_inverse=True)
    return kept, number


def _stacked(sets: Sequence[Features], device: torch.device | None) -> ProjectedRows:
    """The features of all sets, (Σ n_i, d); on a torch device if one is given."""
    if device is None:
        return np.concatenate([all_rows(features) for features in sets])
    return tensors.stacked(sets, device)


def _fit_together(sets: Sequence[Features], config: ResolvedConfig, run: RunOptions) -> bool:
    """Return whether sets to read in blocks are better read at once: scikit-learn's solver takes all rows."""
    n, d = sum(features.shape[0] for features in sets), sets[0].shape[1]
    return run.checkpoint is None and projection.is_scikit_learns_choice(n, d, config.pca_max_data)


def _projected(sets: Sequence[Features], config: ResolvedConfig, device: torch.device | None) -> ProjectedRows:
    """The rows of all sets, stacked in this order and projected, (Σ n_i, r); on a torch device if one is given."""
    options = (config.kmeans_explained_var, config.pca_max_data, config.seed)
    if device is None:
        return projection.project(ConcatenatedRows([as_rows(features) for features in sets]), *options)
    return projection.project(tensors.stacked(sets, device), *options)


def _sets_of_rows(stacking: Stacking, groups: Sequence[Integers | None] | None) -> StackedSets:
    """The set and group of each stacked row; texts of a set without groups are each alone."""
    set_of = np.repeat(stacking.ordered(range(len(stacking.sizes))), stacking.ordered(stacking.sizes))
    if groups is None or all(codes is None for codes in groups):
        return StackedSets(set_of)
    next_code = 1 + max(int(codes.max()) for codes in groups if codes is not None)
    ends = next_code + np.cumsum(stacking.sizes)
    codes_of_sets = [
        np.arange(end - size, end) if codes is None else codes
        for codes, size, end in zip(groups, stacking.sizes, ends, strict=True)
    ]
    return StackedSets(set_of, np.concatenate(stacking.ordered(codes_of_sets)))


def _cluster(
    rows: ProjectedRows, sets: StackedSets, config: ResolvedConfig, offset: int, verbose: bool, by_content: bool = False
) -> Quantized:
    """The bucket of each row; `offset` is added to the seed. by_content: the rows are in their order by content."""
    quantizer = QUANTIZERS[config.quantizer]
    label = (by_content and quantizer.by_content) or quantizer.label
    with progress_bar(config.quantizer, verbose and quantizer.on == "features", unit=" steps") as advance:
        return label(rows, sets, config, config.seed + offset, advance)


def config_by_content(config: ResolvedConfig, sets: StackedSets) -> ResolvedConfig:
    """The options of k-means for clusterings in the order by content: one start, unless another number was given.

    Where the number of buckets is that of "auto", each bucket has two groups at least, since texts of one group tell
    less.
    """
    if config.quantizer != "kmeans":
        return config
    num_redo = 1 if "kmeans_num_redo" in config.auto else config.kmeans_num_redo
    is_usual = is_auto(config, int(np.bincount(sets.set_of).min()))
    num_buckets = _at_most_groups(config.num_buckets, sets) if is_usual else config.num_buckets
    return replace(config, kmeans_num_redo=num_redo, num_buckets=num_buckets)


def _at_most_groups(num_buckets: int, sets: StackedSets) -> int:
    """A number of buckets, or the largest that has two groups of each set in a bucket, if that is lower."""
    if sets.groups is None:
        return num_buckets
    fewest = min(len(np.unique(sets.groups[sets.set_of == number])) for number in range(int(sets.set_of.max()) + 1))
    return min(num_buckets, max(fewest // GROUPS_A_BUCKET, 2))


def _in_blocks(
    sets: Sequence[Features],
    config: ResolvedConfig,
    run: RunOptions,
    stacking: Stacking,
    clusterings: int,
    groups: Sequence[Integers | None] | None,
    keys: Sequence[Floats] | None,
) -> Partition:
    """The same for features that are not in memory, or hardly fit.

    Raises:
        ValueError: the quantizer goes through the features again and again.
    """
    stacked = ConcatenatedRows([as_rows(features) for features in stacking.ordered(sets)])
    labels: Sequence[Labels]
    quantizer, of_rows = QUANTIZERS[config.quantizer], _sets_of_rows(stacking, groups)
    if quantizer.on == "features":
        if quantizer.in_blocks is None:
            most, size = f"at most {MOST_NUMBERS_AT_ONCE} numbers in all sets together", math.prod(stacked.shape)
            raise WrongOption(f"quantizer={config.quantizer!r} does not work in blocks, and reads {most}, got {size}")
        seeds = range(config.seed, config.seed + clusterings)
        labels = [quantizer.in_blocks(stacked, of_rows, config, seed, None).labels for seed in seeds]
        fitted = projection.fit_projection(stacked, config.kmeans_explained_var, config.pca_max_data, config.seed)
        return Partition(_sampled(fitted, sets, config), [stacking.split(run_labels) for run_labels in labels])
    places = _ordered_by_content(sets, stacking, keys)[1]
    order, offsets = np.argsort(places), range(1, clusterings)
    by_content = config_by_content(config, of_rows)
    runs = [(by_content, offset, False) for offset in offsets]
    lists = list(closeness_configs(config, of_rows, offsets)) if clusterings > 1 else []
    for of_closeness, of_list, is_finer in lists:
        runs += [(of_closeness, offset, is_finer) for offset in of_list if is_finer or of_closeness != by_content]
    chosen = [_stand_ins(of_rows.take(order), config.seed + offset) for _, offset, _ in runs]
    fits: list[blocks.Run] = []
    for (run_config, offset, finer), (kept, _) in zip(runs, chosen, strict=True):
        numbers = order[kept]
        if finer:
            numbers = numbers[_rows_of_finer(len(kept), run_config.num_buckets, config.seed + offset)]
        fits.append(blocks.Run(numbers, run_config, config.seed + 2 + offset, 1 if finer else True))
    labels, made = blocks.label_rows(
        stacked,
        config,
        fits,
        checkpoint=None if run.checkpoint is None else Path(run.checkpoint).expanduser(),
        watch=watch_blocks if run.verbose else blocks.unwatched,
    )
    labels[1:] = [
        of_run[order[kept][number][places]] for of_run, (kept, number) in zip(labels[1:], chosen, strict=True)
    ]
    rows_at = partial(blocks.projected, OrderedRows(stacked, order), made.projection)
    for index, ((_, _, is_finer), fit, (kept, _)) in enumerate(zip(runs, fits, chosen, strict=True), start=1):
        if is_finer:
            centres = None if len(fit.order) == len(kept) else made.centres[index]
            labels[index] = _without_singles(rows_at, labels[index][order], centres)[places]
    others, closeness = iter(labels[clusterings:]), []
    for of_closeness, of_list, is_finer in lists:
        of_others = is_finer or of_closeness != by_content
        closeness.append([next(others) for _ in of_list] if of_others else labels[1:clusterings])
    return Partition(
        _sampled(made.projection, sets, config),
        [stacking.split(run_labels) for run_labels in labels[:clusterings]],
        closeness=[[stacking.split(of_run) for of_run in of_list] for of_list in closeness],
    )


def _sampled(fitted: projection.Projection, sets: Sequence[Features], config: ResolvedConfig) -> list[ProjectedRows]:
    """The projected rows of each set among which nearest neighbours are looked for."""
    most_rows = KNN_MOST_ROWS if config.knn else 0
    return [fitted.apply_all(ArrayRows(some_rows(features, most_rows, config.seed))) for features in sets]
