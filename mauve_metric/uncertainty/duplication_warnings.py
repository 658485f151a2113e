"""Warnings about near duplicates and copied passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mauve_metric.uncertainty.score_warnings import ScoreWarning, percent

NEAR_SHARE = 0.01  # of model texts that nearly repeat a human one: as for equal ones, they lift the score
COPIED_SHARE = 0.01  # of model tokens in copied passages: some five times what models copy from all of the web
WITHIN_MORE = 0.01  # more near duplicates than the human set has: fewer texts than it seems
REPEATED_MORE = 0.05  # more tokens in repeated passages than the human set has: boilerplate

_TABLE = {  # measure: threshold, code, sentence; one that names {human} is above what the human texts have
    "near_duplicates_across": (
        NEAR_SHARE,
        "near_duplicates_between",
        "of the model's texts nearly repeat a human text: a model that copies its references scores close to 1",
    ),
    "copied_substrings": (
        COPIED_SHARE,
        "copied_passages",
        "of the model's words are in passages of 50 words that the human set has too: copies lift the score",
    ),
    "near_duplicates": (
        WITHIN_MORE,
        "near_duplicates_within",
        "of the model's texts nearly repeat another one of the set ({human} of the human texts do): they count for "
        "fewer texts than there are, and intervals are too narrow",
    ),
    "repeated_substrings": (
        REPEATED_MORE,
        "repeated_passages",
        "of the model's words are in passages of 50 that the set repeats ({human} of the human words do)",
    ),
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
    for name, (threshold, code, said) in _TABLE.items():
        own = {"human": (human or {}).get(name, 0.0)} if "{human}" in said else {}
        value, usual = model.get(name, 0.0), sum(own.values())
        if value > usual + threshold:
            message = f"{percent(value)} {said.format(human=percent(usual))}"
            yield ScoreWarning(code, message, {"share": value, **own, "threshold": threshold})
