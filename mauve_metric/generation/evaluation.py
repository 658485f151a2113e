"""Result of one evaluation of a model, and the values of it that are logged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mauve_metric.generation.generator import Generation, token_ids
from mauve_metric.lexical import diversity
from mauve_metric.lexical.tokens import Tokens
from mauve_metric.results.result import MauveResult

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DISTINCT_N = 4
LOGGED_SCORES = (
    "mauve",
    "mauve_debiased",
    "mauve_stderr",
    "mauve_ci_low",
    "mauve_ci_high",
    "mauve_classifier",
    "auc",
    "precision",
    "recall",
    "frontier_integral",
)
_UNKNOWN_AT_TIMES = ("mauve_debiased", "mauve_stderr", "mauve_ci_low", "mauve_ci_high", "mauve_classifier", "auc")
STATISTICS = ("repetition", f"distinct_{DISTINCT_N}", "mean_length")
COUNTS = ("mauve_empty", "mauve_failed")


@dataclass(frozen=True)
class Evaluation:
    """Result of one evaluation of a model.

    result: the scores, None if there are none. statistics: of the continuations. texts: a prompt and what was written
    behind it, for each text. empty: continuations without a word. failed: prompts without a text. error: why there is
    no result. seconds: of "generate", "featurize" and "score".
    """

    result: MauveResult | None
    statistics: dict[str, float] = field(default_factory=dict)
    texts: tuple[tuple[str, str], ...] = ()
    empty: int = 0
    failed: int = 0
    error: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)


def continuation_statistics(
    tokenizer: PreTrainedTokenizerBase | None, written: Sequence[Generation]
) -> dict[str, float]:
    """Repetition, distinct n-grams and mean length in tokens, or in words where no tokenizer is known."""
    tokens: Sequence[Tokens] = [item.ids for item in written if item.ids is not None]
    if len(tokens) < len(written):
        texts = [item.continuation for item in written]
        tokens = [text.split() for text in texts] if tokenizer is None else token_ids(tokenizer, texts, special=False)
    return {
        "repetition": diversity.repetition(tokens),
        f"distinct_{DISTINCT_N}": diversity.distinct_n(tokens, DISTINCT_N),
        "mean_length": diversity.mean_length(tokens),
    }


def value_names(others: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of all values to log; others: the featurizers after the first.

    >>> value_names(["ngrams"])[-1]
    'frontier_integral_ngrams'
    """
    return (*LOGGED_SCORES, *STATISTICS, *COUNTS, *(f"{name}_{other}" for other in others for name in LOGGED_SCORES))


def values_of(evaluation: Evaluation, others: Sequence[str] = ()) -> dict[str, float]:
    """The values to log, plain floats; scores and statistics that there should be and are not are NaN.

    others: the featurizers after the first, whose scores have their names behind them.
    """
    result = evaluation.result
    scores = _scores_of(result)
    for other in others:
        own = _scores_of(None if result is None else result.by_featurizer.get(other))
        scores |= {f"{name}_{other}": value for name, value in own.items()}
    statistics = {name: float(evaluation.statistics.get(name, math.nan)) for name in STATISTICS}
    counts = dict(zip(COUNTS, (float(evaluation.empty), float(evaluation.failed)), strict=True))
    return scores | statistics | counts


def _scores_of(result: MauveResult | None) -> dict[str, float]:
    if result is None:
        return dict.fromkeys(LOGGED_SCORES, math.nan)
    ends = dict(zip(("mauve_ci_low", "mauve_ci_high"), result.mauve_ci or (None, None), strict=True))
    found = {name: ends[name] if name in ends else getattr(result, name) for name in LOGGED_SCORES}
    found |= {name: math.nan for name in _UNKNOWN_AT_TIMES if found[name] is None}
    return {name: float(value) for name, value in found.items() if value is not None}
