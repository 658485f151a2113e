"""Pairs of a human text and a model's, from a harness → the numbers that the harness reports."""

from __future__ import annotations

import logging
import math
from collections.abc import Hashable, Iterable
from typing import Unpack

from mauve_metric.clustering.quantizers import scoring_options
from mauve_metric.features.feature_set import check_featurizer, prompts_of
from mauve_metric.inputs.stripping import Stripping
from mauve_metric.options import Options
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.devices import check_device
from mauve_metric.runtime.errors import WrongOption, message_of
from mauve_metric.runtime.plain_text import is_blank
from mauve_metric.scoring.compute import compute_mauve

logger = logging.getLogger(__name__)

SCORES = (
    "mauve",
    "closeness",
    "closeness_ci_low",
    "closeness_ci_high",
    "verdict",
    "mauve_debiased",
    "mauve_classifier",
    "auc",
    "precision",
    "recall",
)


def scalar_scores(result: MauveResult) -> dict[str, float]:
    """`SCORES` of a result as plain floats.

    Args:
        result: what `compute_mauve` returned.

    Returns:
        The numbers by name; one that is not given (see `MauveResult`) is NaN. `closeness_ci_low` and
        `closeness_ci_high` are the ends of the interval of `closeness`; `verdict` is 1 for "like human", 0 for
        "undecided", -1 for "different" and NaN for "no verdict".

    Raises:
        AttributeError: it is no result.

    >>> from mauve_metric import compute_mauve
    >>> scalar_scores(compute_mauve(p_features=[[0.0, 1.0]] * 9, q_features=[[0.0, 1.0]] * 9))["mauve"]
    1.0
    """
    return result.numbers(SCORES)


class Notes(dict[str, object]):
    """Verdict, signature and warnings of the last score. A deep copy is the same object, which copied configs get."""

    def __deepcopy__(self, memo: object) -> Notes:
        return self


class PairScores:
    """The scores of pairs, computed once, then returned one number per request.

    Both texts of a pair belong to one document, so that they are not independent: they are scored as aligned.

    Pairs are scored in the order in which the harness passes them, which is that of the documents in one process.
    Closeness, its interval and the verdict do not depend on it; the published `mauve` does. A failed
    score does not end a run of hours: it is NaN, and the log gives the reason.

    Args:
        **options: those of `compute_mauve`.

    Raises:
        TypeError, ValueError: a wrong option, at once.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        config, run = scoring_options(options)
        if config.independent:
            raise WrongOption.of("independent", "must be left out: the two texts of a document depend on each other")
        Stripping(str(config.strip), prompts_of(run))  # which is refused without prompts that it needs
        check_featurizer(config, run)
        if run.score_device is not None:
            check_device(run.score_device)
        self._options = options
        self.notes = Notes()
        self._last: tuple[object, dict[str, float]] | None = None

    def score(self, pairs: Iterable[tuple[str, str]], documents: Iterable[Hashable] | None = None) -> dict[str, float]:
        """`SCORES` of pairs of a human text and a model's; NaN, and an error in the log, where they cannot be scored.

        Args:
            pairs: of each document. documents: that the pairs belong to; None: each pair is of one of its own.
        """
        samples = list(pairs)
        groups = list(range(len(samples)) if documents is None else documents)
        if self._last is not None and self._last[0] == (samples, groups):
            return dict(self._last[1])
        self.notes.clear()
        scores = dict.fromkeys(SCORES, math.nan)
        try:
            human, model = [human for human, _ in samples], [model for _, model in samples]
            for texts, name in ((human, "human texts"), (model, "texts of the model")):
                empty = sum(map(is_blank, texts))
                if empty and self._options.get("empty_texts") != "drop":
                    raise ValueError(f'{empty} of {len(samples)} {name} are empty: empty_texts="drop" leaves them out')
            result = compute_mauve(p_text=human, q_text=model, p_groups=groups, q_groups=groups, **self._options)
        except Exception as error:
            logger.error("the texts are not scored, MAUVE is NaN: %s", message_of(error))
        else:
            logger.info("%s; signature %s", result.summary(), result.signature)
            warnings = [f"{warning.code}: {warning.message}" for warning in result.warnings]
            self.notes.update(verdict=result.verdict, signature=result.signature, warnings=warnings)
            scores = scalar_scores(result)
        self._last = (samples, groups), scores
        return dict(scores)


def check_text(name: str, text: object) -> str:
    """Return a text of a document; `TypeError` that names the field for anything else."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be one text, got {type(text).__name__}: {text!r:.60}")
    return text
