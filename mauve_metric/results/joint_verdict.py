"""What several featurizers say of the same two sets: whether they agree, and which sees what others do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mauve_metric.results.digits import percent
from mauve_metric.results.names import shown_names
from mauve_metric.results.signature import signature_number
from mauve_metric.results.table_forms import Column, TableRow
from mauve_metric.results.verdict import finding
from mauve_metric.results.words import listed
from mauve_metric.uncertainty.blind_spots import BlindSpots, blind_spots

if TYPE_CHECKING:
    from mauve_metric.results.numbers import ResultNumbers

FEATURIZER_COLUMNS = (
    Column("featurizer", "featurizer"),
    Column("mauve_debiased", "debiased", ".4f"),
    Column("low", "low", ".4f"),
    Column("high", "high", ".4f"),
    Column("mauve", "MAUVE", ".4f"),
    Column("precision", "precision", ".3f"),
    Column("recall", "recall", ".3f"),
    Column("p_value", "p", ".2g"),
    Column("finding", "the sets are"),
)


def joint_verdict(results: Mapping[str, ResultNumbers]) -> str:
    """Whether featurizers agree that two sets differ, in sentences; empty for fewer than two of them.

    Args:
        results: of the same two sets, by the featurizer's name.

    Each speaks at its own level: where only some see a difference, the words say how often chance alone does that
    (at most the number of featurizers times the level, Bonferroni), and which errors the others were measured not to
    see (see `mauve_metric.uncertainty.blind_spots`).
    """
    if len(results) < 2:
        return ""
    labels = shown_names(list(results))
    apart, alike, undecided = (
        [labels[name] for name, result in results.items() if finding(result) == said]
        for said in ("apart", "alike", "undecided")
    )
    every = every_one(len(results))
    if len(apart) == len(results):
        return f"{every.capitalize()} featurizers see a difference between the two sets."
    if len(alike) == len(results):
        return f"As far as these texts can tell, the two sets are alike to {every} featurizers."
    doubt = [f"with {listed(undecided)} there are too few texts to tell"] if undecided else []
    if not apart:
        same = [f"to {listed(alike)} the two sets are alike"] if alike else []
        return f"No featurizer sees a difference: {'; '.join([*same, *doubt])}."
    sees = f"{listed(apart)} {'sees' if len(apart) == 1 else 'see'} one"
    unseen = f" that {listed(alike)} {'does' if len(alike) == 1 else 'do'} not see" if alike else ""
    sentences = [f"The featurizers do not agree on a difference: {'; '.join([sees + unseen, *doubt])}."]
    sentences += [
        f"{labels[name]} was measured not to see: {spots}."
        for name, result in results.items()
        if labels[name] not in apart and (spots := unseen_errors(result))
    ]
    level = signature_number(next(iter(results.values())).signature_entries, "confidence_level")
    return " ".join([*sentences, by_chance(len(results), level)])


def every_one(number: int) -> str:
    """So many featurizers, all of them."""
    return "both" if number == 2 else f"all {number}"


def known_blind_spots(result: ResultNumbers) -> BlindSpots | None:
    """What a result's featurizer was measured not to see; None where that is not known, or nothing."""
    return blind_spots({name: str(value) for name, value in result.signature_entries.items()})


def unseen_errors(result: ResultNumbers) -> str:
    """The errors that a result's featurizer was measured not to see; empty where that is not known."""
    spots = known_blind_spots(result)
    return "" if spots is None else spots.said


def by_chance(number: int, level: float) -> str:
    """How often one of so many featurizers, each with this level, sees a difference where there is none."""
    most = percent(min(number * (1 - level), 1.0), 1.0)
    return f"Where there is none, one of {number} featurizers sees a difference in up to {most} of all cases."


def featurizer_rows(results: Mapping[str, ResultNumbers]) -> list[TableRow]:
    """One row a featurizer, by the keys of `FEATURIZER_COLUMNS`."""
    labels = shown_names(list(results))
    rows: list[TableRow] = []
    for name, result in results.items():
        low, high = result.mauve_ci or (None, None)
        row: TableRow = {"featurizer": labels[name], "low": low, "high": high, "finding": finding(result)}
        for key in ("mauve", "mauve_debiased", "precision", "recall", "p_value"):
            row[key] = getattr(result, key)
        rows.append(row)
    return rows


def featurizer_columns(results: Mapping[str, ResultNumbers]) -> list[Column]:
    """The columns that hold anything."""
    rows = featurizer_rows(results)
    return [column for column in FEATURIZER_COLUMNS if any(row[column.key] is not None for row in rows)]
