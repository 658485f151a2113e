"""Recall of the human texts of each subgroup, such as a topic: which of them a model misses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import replace

import numpy as np

from mauve_metric.arrays import Integers
from mauve_metric.clustering.partition import KNN_MOST_ROWS
from mauve_metric.features.row_blocks import some_rows
from mauve_metric.features.sides import Subgroups
from mauve_metric.measures.knn_precision_recall import ROUNDING, ball_counts
from mauve_metric.options import MauveConfig
from mauve_metric.results.comparison import Subgroup
from mauve_metric.runtime.tensors import ProjectedRows, on_cpu
from mauve_metric.uncertainty.mean_intervals import difference_interval, mean_interval

FEWEST_OF_SUBGROUP = 10  # of a subgroup, for scores of it


def enough_rows(models: Iterable[str], rows: Sequence[Integers | None]) -> tuple[Integers | None, dict[str, Integers]]:
    """The rows of the human texts of one subgroup, None for too few, and those of each model that has enough of them.

    Args:
        models: their names. rows: of the human texts and of each model; None for a set without labels.
    """
    first, *others = (None if numbers is None or len(numbers) < FEWEST_OF_SUBGROUP else numbers for numbers in rows)
    return first, {name: numbers for name, numbers in zip(models, others, strict=True) if numbers is not None}


def config_of_subgroup(config: MauveConfig, *sets: Sized) -> MauveConfig:
    """The config for the texts of one subgroup, without scores of neighbours where a set has too few for them.

    >>> config_of_subgroup(MauveConfig(knn=True), range(10)).knn, config_of_subgroup(MauveConfig(knn=True), "ab").knn
    (True, False)
    """
    is_too_small = config.knn is not False and min(map(len, sets)) <= config.knn_k
    return replace(config, knn=False) if is_too_small else config


def recall_of_subgroups(
    rows: Sequence[ProjectedRows],
    model: str,
    number: int,
    subgroups: Subgroups,
    codes: Integers | None,
    config: MauveConfig,
) -> Iterator[Subgroup]:
    """Find a model's recall and coverage of the human texts of each subgroup (Le Bronnec et al. 2024, §8).

    Those of all human texts are the means over the subgroups, weighed by their texts. A subgroup is missed if its
    coverage is below that of all other human texts by the interval of the difference, with Bonferroni's correction for
    all subgroups and models. The balls of recall are the model's own and grow where it has few texts, which hides
    what it misses; those of coverage are the human texts'.

    Args:
        rows: projected, of the human texts and of the model, (n_i, r). model, number: its name, and its place from 1.
        subgroups: rows of the texts of each label. codes: of the prompts of the human texts.
        config: has the neighbour, the level, and whether neighbours are looked for.
    """
    if config.knn and subgroups:
        p, q = on_cpu(rows[0]), some_rows(on_cpu(rows[1]), KNN_MOST_ROWS, config.seed)
        # 1 for each human row in a ball around a model's row, and for each whose own ball holds one
        recalled = (ball_counts(q, p, config.knn_k, tolerance=ROUNDING)[0] > 0).astype(np.float64)
        covered = (ball_counts(p, q, config.knn_k, tolerance=ROUNDING)[1] > 0).astype(np.float64)
    for label, sides in subgroups.items():
        human_rows, of_model = np.asarray(sides[0]), sides[number]
        level = 1 - (1 - config.confidence_level) / (len(subgroups) * (len(sides) - 1))
        sizes = len(human_rows), None if of_model is None else len(of_model)
        if not config.knn or len(human_rows) < FEWEST_OF_SUBGROUP:
            yield Subgroup(label, model, *sizes)
            continue
        rest = np.setdiff1d(np.arange(len(rows[0])), human_rows)
        prompts = [None if codes is None else codes[some] for some in (human_rows, rest)]
        apart = difference_interval(covered[human_rows], covered[rest], level, *prompts) if len(rest) else None
        yield Subgroup(
            label,
            model,
            *sizes,
            float(recalled[human_rows].mean()),
            mean_interval(recalled[human_rows], config.confidence_level, prompts[0]),
            float(covered[human_rows].mean()),
            mean_interval(covered[human_rows], config.confidence_level, prompts[0]),
            float(covered[rest].mean()) if len(rest) else None,
            None if apart is None else apart[1] < 0,
        )
