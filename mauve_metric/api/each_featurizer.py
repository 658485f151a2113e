"""One thing made with each of several featurizers; those that cannot be used are named in warnings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TypeVar

from mauve_metric.runtime.failures import EXPECTED, message_of
from mauve_metric.uncertainty.score_warnings import ScoreWarning

Given = TypeVar("Given")
Made = TypeVar("Made")

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
