"""Share of a model's text that is copied from the human set, exactly or nearly, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mauve_metric.arrays import Estimate, Integers
from mauve_metric.duplicates.near_duplicates import near_duplicate_partners
from mauve_metric.duplicates.repeated_substrings import LENGTH, copied_tokens
from mauve_metric.runtime.errors import EmptyTexts

RESAMPLES = 1000
FEWEST_COPIES = 10  # texts with copies; fewer do not show how much the size of copies varies


def near_duplicates_across(
    human: Sequence[str], model: Sequence[str], *, seed: int = 25, level: float = 0.95
) -> Estimate:
    """Share of model texts with a near duplicate among the human texts; in [0, 1], lower is better.

    What a near duplicate is: `texts.near_duplicates`. The interval is Wilson's for a share of independent texts,
    against these human texts (Wilson 1927). More human texts can only raise it. Lee et al. 2022, §4.2.

    Args:
        human, model: texts.
        seed: not used; nothing is drawn.
        level: of the interval.

    >>> near_duplicates_across(["a story"], ["a story", "another one"]).value
    0.5
    """
    from scipy.stats import binomtest

    if not len(model):
        raise EmptyTexts.of("model", "holds no texts")
    found = int((near_duplicate_partners(model, human) >= 0).sum())
    low, high = binomtest(found, len(model)).proportion_ci(level, method="wilson")
    return Estimate(found / len(model), (float(low), float(high)))


def copied_substrings(human: Sequence[str], model: Sequence[str], *, seed: int = 25, level: float = 0.95) -> Estimate:
    """Share of the model's tokens in passages of 50 tokens of the human texts; in [0, 1], lower is better.

    Exact copies; tokens are separated by blanks (Lee et al. 2022, §5.1). The interval is from a bootstrap over the
    model's texts, against these human texts; there is none if fewer than `FEWEST_COPIES` texts have such a passage.

    Args:
        human, model: texts.
        seed: of the bootstrap.
        level: of the interval.

    Raises:
        ValueError: no model text has 50 tokens.

    >>> story = " ".join(map(str, range(60)))
    >>> copied_substrings([story], [story, "another one"]).value  # 60 of 62 tokens
    0.967741935483871
    """
    copied, lengths = copied_tokens(human, model, LENGTH)
    value = float(copied.sum() / lengths.sum())
    if np.count_nonzero(copied) < FEWEST_COPIES:
        return Estimate(value)
    return Estimate(value, _ratio_interval(copied, lengths, seed, level))


def _ratio_interval(parts: Integers, wholes: Integers, seed: int, level: float) -> tuple[float, float]:
    """Interval of Σ parts / Σ wholes by drawing texts again."""
    rng, n = np.random.default_rng(seed), len(parts)
    draws = (rng.integers(n, size=n) for _ in range(RESAMPLES))
    ratios = [parts[rows].sum() / max(wholes[rows].sum(), 1) for rows in draws]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
