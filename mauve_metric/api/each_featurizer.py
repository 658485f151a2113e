"""One thing made with each of several featurizers; those that cannot be used are named in warnings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from mauve_metric.features.feature_set import Featurizing
from mauve_metric.features.named_featurizers import named_featurizers
from mauve_metric.features.sides import OpenedSides, check_texts_alone
from mauve_metric.options import Featurizer
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.failures import EXPECTED, message_of
from mauve_metric.uncertainty.score_warnings import ScoreWarning

Given = TypeVar("Given")
Made = TypeVar("Made")
Result = TypeVar("Result", bound=MauveResult | Comparison)

logger = logging.getLogger(__name__)


def with_each(
    featurizers: Mapping[str, Given], make: Callable[[str, Given], Made]
) -> tuple[dict[str, Made], list[ScoreWarning]]:
    """What is made with each featurizer by its name, and a warning for each that cannot be used.

    Raises:
        Exception: what making raises with the first one, and what nobody expects with another.
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


def by_each(
    featurizers: object,
    opened: OpenedSides,
    job: Featurizing,
    make: Callable[[Featurizing, OpenedSides, bool], Result],
) -> Result:
    """The result of one featurizer, or that of the first of several with those of all; missing ones are warnings.

    Args:
        featurizers: as in `compute_mauve`. job: has the options. make: takes the job of a featurizer, the sides, and
            whether it is the first.
    """
    if featurizers is None:
        return make(job, opened, True)
    named = named_featurizers(
        featurizers, job.config.featurize_model_name if "featurize_model_name" in job.given else None
    )
    check_texts_alone(opened.sides.values())
    first, lists = next(iter(named)), opened.kept()

    def made(name: str, featurizer: Featurizer) -> Result:
        config = replace(job.config, featurize_model_name=featurizer)
        return make(Featurizing(config, job.run, job.given | {"featurize_model_name"}), lists, name == first)

    found, missing = with_each(named, made)
    warnings = (*found[first].warnings, *missing)
    return replace(found[first], by_featurizer=found, warnings=warnings)  # type: ignore[arg-type]
