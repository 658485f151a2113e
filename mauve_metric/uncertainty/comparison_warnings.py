"""Warnings about a comparison of several models."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.rows import equal_rows
from mauve_metric.uncertainty.score_warnings import ScoreWarning

BLURRED = 0.1  # common buckets that lift a score by more hide a difference as large as that between two models
ALIGNED_SHARE = 0.5  # of rows whose texts open alike in two models: they answer the same prompts


def comparison_warnings(models: Mapping[str, FeatureSet]) -> Iterator[ScoreWarning]:
    """Equal sets under two names, unequal sizes, rows that look aligned."""
    sizes = {name: len(side) for name, side in models.items()}
    if len(set(sizes.values())) > 1:
        message = (
            f"the models' sets differ in size ({min(sizes.values())} to {max(sizes.values())} texts): compare "
            "the debiased scores, `mauve` falls with fewer texts"
        )
        yield ScoreWarning("unequal_models", message, sizes)
    alike = []
    for a, b in itertools.combinations(models, 2):
        one, two = models[a], models[b]
        if equal_rows(one.features, two.features):
            yield ScoreWarning("equal_models", f"{a} and {b} hold the same texts", {"a": a, "b": b})
        elif _same_openings(one, two) > ALIGNED_SHARE:
            alike.append((a, b))
    if alike and all(side.groups is None for side in models.values()):
        message = (
            f"row by row the texts of {alike[0][0]} and {alike[0][1]} open alike: if row i of every model answers "
            "prompt i, aligned=True gives truer intervals"
        )
        yield ScoreWarning("rows_look_aligned", message, {"pairs": alike})


def partition_warnings(common: Mapping[str, float], own: Mapping[str, float]) -> Iterator[ScoreWarning]:
    """Warnings about models that separate from human text better on own buckets than on common ones.

    Args:
        common, own: MAUVE of each model on either.
    """
    for name, mauve in common.items():
        alone = own[name]
        if mauve - alone > BLURRED:
            message = (
                f"{name} scores {alone:.3f} on buckets of its own, {mauve:.3f} on the common ones: these are "
                "too coarse to show all its differences; compare fewer models at once, or take more texts"
            )
            numbers = {"model": name, "mauve": mauve, "mauve_own": alone}
            yield ScoreWarning("coarse_common_buckets", message, numbers)


def _same_openings(one: FeatureSet, two: FeatureSet) -> float:
    """Share of rows whose texts open with the same words; 0 where that is not known."""
    a, b = one.opening_hashes, two.opening_hashes
    return 0.0 if a is None or b is None or len(a) != len(b) else float(np.mean(a == b))
