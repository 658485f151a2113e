"""Sets of texts → their features, with a rough score from the first texts while the others are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mauve_metric.api.score import score_features
from mauve_metric.arrays import Features
from mauve_metric.features.feature_files import EACH_TEXT
from mauve_metric.features.feature_set import FeatureSet, Featurizing
from mauve_metric.features.rows import all_rows
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.options import MauveConfig

ROUGH_TEXTS = 256  # of each set, from which a first score is made while the others are read


def has_rough(texts: Sequence[list[str]], known: Sequence[FeatureSet | None]) -> bool:
    """Return whether a rough score comes first: a set is new, all its texts are valid, all sets are long enough."""
    new = [part for part, side in zip(texts, known, strict=True) if side is None]
    plain = all(isinstance(text, str) and text.strip() for part in new for text in part)
    return bool(new) and plain and min(map(len, texts)) > ROUGH_TEXTS


def read_sets(
    job: Featurizing,
    given: Sequence[tuple[str, list[str]]],
    known: Sequence[FeatureSet | None],
    run: Run,
    config: MauveConfig,
    rough: Sequence[str] | None,
) -> list[FeatureSet]:
    """The features of each set, those that are known included.

    Args:
        job: reads the texts. given: the argument and the texts of each set. known: its features, or None. run: receives
            the progress. config: of the scores. rough: names of the models, if the first texts are scored first.
    """
    sizes = [len(texts) for _, texts in given]
    run.begin_reading(sizes, sum(size for size, side in zip(sizes, known, strict=True) if side is not None))
    first: list[FeatureSet | None] = [None] * len(given)
    if rough is not None:
        for number, (name, texts) in enumerate(given):
            side = known[number]
            if side is None:
                run.begin_set(number)
                side = job.of_texts(name, texts[:ROUGH_TEXTS])
            first[number] = side
        parts = [side.of_rows(np.arange(min(ROUGH_TEXTS, len(side)))) for side in first if side is not None]
        run.rough(rough_score(parts, rough, config))
    read = []
    for number, (name, texts) in enumerate(given):
        side, start = known[number], first[number]
        if side is None:
            run.begin_set(number, 0 if start is None else ROUGH_TEXTS)
            side = job.of_texts(name, texts if start is None else texts[ROUGH_TEXTS:])
            side = side if start is None else _join_parts(start, side)
        read.append(side)
    return read


def rough_score(sides: Sequence[FeatureSet], names: Sequence[str], config: MauveConfig) -> str:
    """The debiased score of each model from the first texts, in words; empty if there is none."""
    quick = replace(config, num_buckets="auto", num_runs=1, knn=False, permutations=0, frechet_distance=False)
    said = []
    for name, side in zip(names, sides[1:], strict=True):
        result = score_features(sides[0], side, quick, quiet=True, with_learned=False)
        if result.mauve_ci is None or result.mauve_debiased is None:
            return ""
        low, high = result.mauve_ci
        score = f"{result.mauve_debiased:.2f} ({low:.2f} to {high:.2f})"
        said.append(score if len(names) == 1 else f"{name} {score}")
    return f"rough, from the first {len(sides[0])} texts of each set: debiased MAUVE {', '.join(said)}"


def _join_parts(first: FeatureSet, rest: FeatureSet) -> FeatureSet:
    """Join two parts of a set."""
    joined: dict[str, Any] = {}
    for name in EACH_TEXT:
        parts = [getattr(first, name), getattr(rest, name)]
        joined[name] = None if any(part is None for part in parts) else np.concatenate(parts)
    rows: Features = np.concatenate([all_rows(first.features), all_rows(rest.features)])
    counts: dict[str, Any] = {name: getattr(first, name) + getattr(rest, name) for name in ("truncated", "dropped")}
    counts["stripped"] = {name: first.stripped.get(name, 0) + times for name, times in rest.stripped.items()}
    counts["marks"] = None if first.marks is None or rest.marks is None else first.marks + rest.marks
    return replace(first, features=rows, **joined, **counts)
