"""Warnings about duplicates, by the measures of duplication: each threshold once, with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mauve_metric.uncertainty.score_warnings import GUIDE, ScoreWarning, share_in_percent, warn

NEAR_SHARE = 0.01  # of model texts that nearly repeat a human one: as for equal ones, they lift the score
COPIED_SHARE = 0.01  # of model tokens in copied passages: some five times what models copy from all of the web
WITHIN_MORE = 0.01  # more near duplicates than the human set has: fewer texts than it seems
REPEATED_MORE = 0.05  # more tokens in repeated passages than the human set has: boilerplate

DUPLICATION = {  # measure: threshold, code; where the message names what is usual, above that of the human texts
    "near_duplicates_across": (NEAR_SHARE, "near_duplicates_between"),
    "copied_substrings": (COPIED_SHARE, "copied_passages"),
    "near_duplicates": (WITHIN_MORE, "near_duplicates_within"),
    "repeated_substrings": (REPEATED_MORE, "repeated_passages"),
}


def duplication_warnings(
    model: Mapping[str, float], human: Mapping[str, float] | None = None
) -> Iterator[ScoreWarning]:
    """Warnings from the values of the measures of duplication, by their names; a missing one gives none.

    Args:
        model: values of the model's texts.
        human: values of the human texts; None: as if they had no duplicates.

    >>> [warning.code for warning in duplication_warnings({"near_duplicates_across": 0.2})]
    ['near_duplicates_between']
    """
    for name, (threshold, code) in DUPLICATION.items():
        of_human = {"human": (human or {}).get(name, 0.0)} if "{usual}" in GUIDE[code].message else {}
        value, usual = model.get(name, 0.0), sum(of_human.values())
        if value > usual + threshold:
            yield warn(code, {"share": value, **of_human, "threshold": threshold}, usual=share_in_percent(usual))
