"""The human baseline: the spread of scores of equal sets, and the number of texts that shows a difference."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from mauve_metric.apps.studies import texts_needed
from mauve_metric.apps.studies.baseline_result import EqualSets, HumanBaseline, Needed, Source, Spread
from mauve_metric.arrays import Counts, FeatureData, Floats, Integers, TextData
from mauve_metric.clustering.histograms import Histograms, count_labels
from mauve_metric.features.feature_set import Dependence, FeatureSet, given_side
from mauve_metric.features.row_blocks import all_rows
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.frontier import exact_area, mauve_floor
from mauve_metric.measures.groups import design_of
from mauve_metric.options import MauveConfig, Options, ResolvedConfig, RunOptions, with_options
from mauve_metric.results.signature import human_entries
from mauve_metric.runtime.checks import integer_check
from mauve_metric.runtime.errors import NoSuchField
from mauve_metric.runtime.progress import progress_bar
from mauve_metric.scoring.evaluation import Evaluation, resolve_config
from mauve_metric.scoring.score import score_histograms
from mauve_metric.uncertainty import intervals, jackknife

DIFFERENCES = (0.01, 0.02, 0.05)
AROUND = 0.9  # the score near which two models differ
LEAST_TEXTS = 20  # of a part
_PARTS = (8, 4, 2)
_DRAWS = 200  # of forecast sets
_TILT = 2.0  # of the logarithms of bucket shares, for a model that departs in no special direction; more if it is near
_DOUBLINGS = 6


@with_options()
def human_baseline(
    p_text: TextData | TextFile | None = None,
    *,
    p_features: FeatureData | None = None,
    p: FeatureSet | None = None,
    p_groups: Sequence[Hashable] | None = None,
    splits: int = 50,
    **options: Unpack[Options],
) -> HumanBaseline:
    """Measure how scores of equal sets spread with these human texts, this featurizer and these buckets.

    The human texts are split at random into two sets of an eighth, a quarter and half of them, `splits` times each, and
    these are scored like a model against people. Sets as large as all of them, and how many texts would show a
    difference, are forecast by drawing from their histogram. Features are computed once.

    Args:
        p_text, p_features, p: the human side, as in `compare`; at least 40 texts.
        p_groups: the prompt of each text, or what a file says of it, see `compute_mauve`. Where several texts have one
            prompt, all of them go to one part, so that the parts share no prompt, and there are no forecasts, which
            would take texts for independent.
        splits: of each size, 2 to 10,000.
        **options: see `compute_mauve`, but for num_runs, permutations, knn, knn_k and frechet_distance. A num_buckets
            that a part is too small for leaves that size out.

    Returns:
        A `HumanBaseline`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; ValueError too for fewer than 40 texts.

    >>> human = np.random.default_rng(0).normal(size=(100, 8))
    >>> baseline = human_baseline(p_features=human, splits=2)
    >>> baseline.halves.texts, baseline.halves.num_buckets, [needed.difference for needed in baseline.needed]
    (50, 5, [0.01, 0.02, 0.05])
    """
    integer_check(2, 10_000)("splits", splits)
    human = given_side("p", {"set": p, "features": p_features, "text": p_text}, p_groups)
    with Evaluation.open("human_baseline", options, {"human": human}) as evaluation:
        named = isinstance(p_text, TextFile) and p_text.has_declared_prompts
        if named and evaluation.inputs.sides["human"].groups is None:
            raise NoSuchField("the human texts lack the field that was named for their prompts (--prompt-field)")
        (side,), config, run = evaluation.declared, evaluation.config, evaluation.run
    if len(side) < 2 * LEAST_TEXTS:
        least = f"{2 * LEAST_TEXTS} texts, for two halves of {LEAST_TEXTS}"
        raise ValueError(f"the human set must hold at least {least}, got {len(side)}")
    side, quiet = replace(side, features=all_rows(side.features)), replace(run, verbose=False, checkpoint=None)
    sizes = _sizes(len(side), config)
    with progress_bar("splits", run.verbose, unit=" splits", total=splits * len(sizes)) as bar:
        equal_sets = []
        for number, size in enumerate(sizes):
            of_size = resolve_config(config, size, size)
            scores = []
            for done, pair in enumerate(_split_histograms(side, size, splits, of_size, quiet)):
                scores.append(_scores(*pair, of_size))
                if bar is not None:
                    bar(number * splits + done + 1, splits * len(sizes))
            equal_sets.append(_equal_sets(size, of_size, "split", scores))
    whole = resolve_config(config, len(side))
    needed: tuple[Needed, ...] = ()
    if side.groups is None:
        alone = Evaluation.of_sets({"human": side}, replace(whole, independent=True), quiet, clusterings=1)
        counts = np.bincount(alone.partition.labels[0][0], minlength=whole.num_buckets).astype(np.int64)
        rng, shares = np.random.default_rng(config.seed), counts / counts.sum()
        drawn = (Histograms(*rng.multinomial(len(side), shares, size=2)) for _ in range(_DRAWS))
        scores = [_scores(histograms, histograms, whole) for histograms in drawn]
        equal_sets.append(_equal_sets(len(side), whole, "forecast", scores))
        needed = tuple(_texts_needed(counts, difference, whole) for difference in DIFFERENCES)
    designed = side if side.groups is None else replace(side, dependence=Dependence(design_of(side.groups)))
    entries = human_entries(designed, designed, whole, {"splits": splits})
    prompts, floor = (
        None if side.groups is None else len(np.unique(side.groups)),
        mauve_floor(whole.mauve_scaling_factor),
    )
    return HumanBaseline(len(side), floor, tuple(equal_sets), needed, whole.num_buckets, AROUND, prompts, entries)


def _sizes(n: int, config: MauveConfig) -> list[int]:
    """Sizes of the parts, the largest last: those with enough texts for k buckets, and always the halves."""
    least = LEAST_TEXTS if config.num_buckets == "auto" else max(LEAST_TEXTS, math.ceil(config.num_buckets / 2))
    sizes = [n // part for part in _PARTS]
    return [size for size in sizes[:-1] if size >= least] + sizes[-1:]


def _split_histograms(
    side: FeatureSet, size: int, splits: int, config: ResolvedConfig, run: RunOptions
) -> Iterator[tuple[Histograms, Histograms]]:
    """Histograms of disjoint random parts of a set, clustered as P and Q: as stacked, and by content.

    Texts that share a prompt are in one part.
    """
    once = replace(config, num_runs=1, independent=side.groups is None)
    rng = np.random.default_rng(config.seed)
    for _ in range(splits):
        parts = [side.of_rows(rows) for rows in _disjoint_parts(side, size, rng)]
        runs = Evaluation.of_sets(parts, once, run).partition.labels
        groups = [part.groups for part in parts]
        published, by_content = (count_labels(p, q, config.num_buckets, *groups) for p, q in (runs[0], runs[-1]))
        yield published, by_content


def _disjoint_parts(side: FeatureSet, size: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """The rows of two random parts of a set, of at most so many texts each, which share no prompt."""
    if side.groups is None:
        order = rng.permutation(len(side))
        return order[:size], order[size : 2 * size]
    parts: list[list[int]] = [[], []]
    for group in rng.permutation(np.unique(side.groups)):
        rows = np.flatnonzero(side.groups == group)
        smaller = min(parts, key=len)
        smaller.extend(rng.permutation(rows)[: size - len(smaller)].tolist())
    fewest = min(len(np.unique(side.groups[rows])) for rows in parts)
    if fewest < 2:
        raise ValueError(
            f"each of two parts of {size} human texts must have at least 2 prompts (p_groups, or the field of the "
            f"file), got {fewest}: give texts of more prompts"
        )
    return np.array(parts[0]), np.array(parts[1])


def _scores(published: Histograms, by_content: Histograms, config: MauveConfig) -> tuple[float, float]:
    """MAUVE, and MAUVE without sampling bias."""
    frontier = jackknife.frontier_of(by_content)
    debiased = intervals.debiased_scores(frontier, config.mauve_scaling_factor)
    return score_histograms(published, config)["mauve"], debiased.mauve


def _equal_sets(size: int, config: ResolvedConfig, source: Source, scores: list[tuple[float, float]]) -> EqualSets:
    mauve, debiased = np.array(scores).T
    return EqualSets(size, config.num_buckets, source, len(scores), _spread(mauve), _spread(debiased))


def _spread(values: Floats) -> Spread:
    low, high = np.quantile(values, (0.05, 0.95))
    return Spread(float(values.mean()), float(values.std(ddof=1)), float(low), float(high))


def _texts_needed(counts: Counts, difference: float, config: MauveConfig) -> Needed:
    """Number of texts that shows a difference, between models that depart from the human texts at random."""
    rng, n, c = np.random.default_rng(config.seed), int(counts.sum()), config.mauve_scaling_factor
    a, b = (_tilt(counts, AROUND - max(DIFFERENCES), c, rng) for _ in range(2))
    level = config.confidence_level
    return Needed(
        difference,
        texts_needed.texts_to_tell(counts, a, 1 - difference, n, c, level, seed=config.seed),
        texts_needed.texts_needed(counts, (a, b), (AROUND, AROUND - difference), n, c, level, seed=config.seed),
    )


def _tilt(counts: Counts, score: float, scaling_factor: float, rng: np.random.Generator) -> Counts:
    """A histogram whose shares are random multiples of these, so different that the pair has this score."""
    p, direction = counts / counts.sum(), rng.normal(size=len(counts))
    for doubling in range(_DOUBLINGS):
        shares = p * np.exp(_TILT * 2**doubling * (direction - direction.max()))
        if exact_area(p, shares / shares.sum(), scaling_factor) <= score:
            break
    tilted: Counts = np.rint(1e6 * shares / shares.sum()).astype(np.int64)
    return tilted
