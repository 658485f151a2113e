"""Agreement of several featurizers on the same two sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mauve_metric.results.digits import percent
from mauve_metric.results.document import Column, Table, TableRow, ends, row_from
from mauve_metric.results.names import shown_names
from mauve_metric.results.signature import signature_number
from mauve_metric.results.wording.verdict import finding
from mauve_metric.results.wording.words import listed
from mauve_metric.uncertainty.blind_spots import BlindSpots, blind_spots

if TYPE_CHECKING:
    from mauve_metric.results.result import MauveResult

FEATURIZER_COLUMNS = (
    Column("featurizer", "featurizer"),
    Column("mauve_debiased", "debiased", ".4f"),
    *ends(".4f"),
    Column("mauve", "MAUVE", ".4f"),
    Column("precision", "precision", ".3f"),
    Column("recall", "recall", ".3f"),
    Column("p_value", "p", ".2g"),
    Column("finding", "a difference is"),
)


def joint_verdict(results: Mapping[str, MauveResult]) -> str:
    """Agreement of featurizers that two sets differ, in sentences; empty for fewer than two of them.

    Args:
        results: of the same two sets, by the featurizer's name.

    Each has its own level: where only some show a difference, the words say how often chance alone does that
    (at most the number of featurizers times the level, Bonferroni), and which errors the others were measured not to
    see (see `mauve_metric.uncertainty.blind_spots`).
    """
    if len(results) < 2:
        return ""
    labels = shown_names(list(results))
    shown, unseen, undecided, withheld = (
        [labels[name] for name, result in results.items() if finding(result) == said]
        for said in ("shown", "not shown", "undecided", "withheld")
    )
    if len(shown) == len(results):
        return f"{every_one(len(results)).capitalize()} featurizers show a difference between the two sets."
    doubt = [f"with {listed(undecided)} there are too few texts to tell"] if undecided else []
    doubt += [f"with {listed(withheld)} no verdict is given"] if withheld else []
    if not shown:
        same = [f"with {listed(unseen)} these texts do not show one"] if unseen else []
        return f"No featurizer shows a difference: {'; '.join([*same, *doubt])}.{shared_blindness(results)}"
    sees = f"{listed(shown)} {'shows' if len(shown) == 1 else 'show'} one"
    others = f" that {listed(unseen)} {'does' if len(unseen) == 1 else 'do'} not show" if unseen else ""
    sentences = [f"The featurizers do not agree on a difference: {'; '.join([sees + others, *doubt])}."]
    sentences += [
        f"{labels[name]} was measured not to see: {spots}."
        for name, result in results.items()
        if labels[name] not in shown and (spots := unseen_errors(result))
    ]
    level = signature_number(next(iter(results.values())).signature_entries, "confidence_level")
    return " ".join([*sentences, by_chance(len(results), level)])


def shared_blindness(results: Mapping[str, MauveResult]) -> str:
    """The errors that no featurizer was measured to see; empty where that is not known of all."""
    known = [known_blind_spots(result) for result in results.values()]
    spots = [found for found in known if found is not None]
    if len(spots) < len(known):
        return ""
    errors = tuple(error for error in spots[0].errors if all(error in other.errors for other in spots))
    shared = BlindSpots(errors, min(found.texts for found in spots))
    return f" Errors that {every_one(len(results))} were measured not to see: {shared.said}." if errors else ""


def every_one(number: int) -> str:
    """Words for all of so many featurizers."""
    return "both" if number == 2 else f"all {number}"


def known_blind_spots(result: MauveResult) -> BlindSpots | None:
    """Errors that a result's featurizer was measured not to detect; None if unknown or without any."""
    return blind_spots({name: str(value) for name, value in result.signature_entries.items()})


def unseen_errors(result: MauveResult) -> str:
    """The errors that a result's featurizer was measured not to see; empty where that is not known."""
    spots = known_blind_spots(result)
    return "" if spots is None else spots.said


def by_chance(number: int, level: float) -> str:
    """Words for the chance that one of so many featurizers shows a difference between equal sets."""
    most = percent(min(number * (1 - level), 1.0), 1.0)
    return f"Between equal sets, one of {number} featurizers shows a difference in up to {most} of all cases."


def featurizers_table(results: Mapping[str, MauveResult]) -> Table:
    """One row a featurizer, with the columns that hold anything."""
    labels = shown_names(list(results))
    rows: list[TableRow] = []
    for name, result in results.items():
        low, high = result.mauve_ci or (None, None)
        own = {"featurizer": labels[name], "low": low, "high": high, "finding": finding(result)}
        rows.append(row_from(FEATURIZER_COLUMNS, result, **own))
    return Table([column for column in FEATURIZER_COLUMNS if any(row[column.key] is not None for row in rows)], rows)
