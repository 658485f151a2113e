"""Call a function with each of several featurizers; name those that cannot be used in warnings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from mauve_metric.features.feature_set import FeatureSet, Featurizing
from mauve_metric.features.sides import OpenedSides, check_texts_alone
from mauve_metric.features.text_functions import named_featurizers
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import Featurizer, MauveConfig
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.result import LearnedScore, MauveResult
from mauve_metric.runtime import tensors
from mauve_metric.runtime.errors import EXPECTED, message_of
from mauve_metric.uncertainty.learned import Learned, learned_score
from mauve_metric.uncertainty.score_warnings import ScoreWarning

Given = TypeVar("Given")
Made = TypeVar("Made")
Scored = TypeVar("Scored", bound=MauveResult | Comparison)

logger = logging.getLogger(__name__)


def with_each(
    featurizers: Mapping[str, Given], make: Callable[[str, Given], Made]
) -> tuple[dict[str, Made], list[ScoreWarning]]:
    """Call `make` with each featurizer; return its values by name, and a warning for each that fails.

    Raises:
        Exception: any error of the first one, and an unexpected error of another.
    """
    found: dict[str, Made] = {}
    missing: list[ScoreWarning] = []
    for name, featurizer in featurizers.items():
        try:
            found[name] = make(name, featurizer)
        except EXPECTED as error:
            if not found:
                raise
            reason = message_of(error)
            message = f"the featurizer {name} could not be used, and has no part in what the others say: {reason}"
            missing.append(ScoreWarning("featurizer_missing", message, {"featurizer": name}))
            logger.warning("featurizer_missing: %s", message)
    return found, missing


def of_each(
    featurizers: object,
    opened: OpenedSides,
    job: Featurizing,
    score: Callable[[Featurizing, OpenedSides, bool], tuple[Scored, Sequence[FeatureSet]]],
    together: Callable[[Scored, Sequence[Sequence[FeatureSet]], MauveConfig], Scored],
) -> Scored:
    """The result of the first of several featurizers, with those of all in its `by_featurizer`; None: that of `job`.

    Args:
        score: the result of one featurizer, and its features of all sets; True for the first one.
        together: adds to a result what one classifier of the features of all featurizers finds.

    Raises:
        TypeError, ValueError: wrong featurizers; sides that are not texts.
    """
    if featurizers is None:
        return score(job, opened, True)[0]
    asked = job.config.featurize_model_name if "featurize_model_name" in job.given else None
    named = named_featurizers(featurizers, asked)
    check_texts_alone(opened.sides.values())
    kept, first, given = opened.kept(), next(iter(named)), job.given | {"featurize_model_name"}

    def score_with(name: str, featurizer: Featurizer) -> tuple[Scored, Sequence[FeatureSet]]:
        own = Featurizing(replace(job.config, featurize_model_name=featurizer), job.run, given)
        return score(own, kept, name == first)

    found, missing = with_each(named, score_with)
    result: Any = together(found[first][0], [sets for _, sets in found.values()], job.config)
    each = {name: one for name, (one, _) in found.items()}
    whole: Scored = replace(result, by_featurizer=each, warnings=(*result.warnings, *missing))
    return whole


def with_together(result: MauveResult, sides: Sequence[Sequence[FeatureSet]], config: MauveConfig) -> MauveResult:
    """Add the learned score of one classifier of the features of all featurizers, if there is one."""
    found = learned_together(sides, config)
    return result if found is None else replace(result, together=LearnedScore.of(found))


def learned_together(sides: Sequence[Sequence[FeatureSet]], config: MauveConfig) -> Learned | None:
    """The learned score of one classifier of the features of all featurizers, side by side.

    Args:
        sides: P and Q of the same texts by each featurizer.

    Returns:
        None for one featurizer, features that are not in memory, and too few texts.
    """
    rows = [[tensors.in_memory(side.features) for side in every] for every in zip(*sides, strict=True)]
    known = [[part for part in of_side if part is not None] for of_side in rows]
    if len(sides) < 2 or min(map(len, known)) < len(sides):
        return None
    p, q = (np.concatenate(of_side, axis=1) for of_side in known)
    return learned_score(p, q, pair_of_groups(sides[0][0].groups, sides[0][1].groups), config)
