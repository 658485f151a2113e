"""What several featurizers say of the same two sets: whether they agree, and which sees what others do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mauve_metric.results.digits import percent
from mauve_metric.results.names import printable, shown_names
from mauve_metric.results.signature import signature_number
from mauve_metric.results.table_forms import Column, TableRow
from mauve_metric.results.verdict import finding
from mauve_metric.results.words import listed
from mauve_metric.uncertainty.blind_spots import blind_spots

if TYPE_CHECKING:
    from mauve_metric.results.numbers import ResultNumbers
    from mauve_metric.uncertainty.score_warnings import ScoreWarning

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
    every = "both" if len(results) == 2 else f"all {len(results)}"
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
        if labels[name] not in apart and (spots := _unseen(result))
    ]
    return " ".join([*sentences, _by_chance(results)])


def _unseen(result: ResultNumbers) -> str:
    """The errors that a result's featurizer was measured not to see; empty where that is not known."""
    spots = blind_spots({name: str(value) for name, value in result.signature_entries.items()})
    return "" if spots is None else spots.said


def _by_chance(results: Mapping[str, ResultNumbers]) -> str:
    """How often one of so many featurizers sees a difference where there is none."""
    level = 1 - signature_number(next(iter(results.values())).signature_entries, "confidence_level")
    most = percent(min(len(results) * level, 1.0), 1.0)
    return f"Where there is none, one of {len(results)} featurizers sees a difference in up to {most} of all cases."


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


def own_warnings(results: Mapping[str, ResultNumbers]) -> list[tuple[str, ScoreWarning]]:
    """The warnings of each featurizer that the first one does not have, with its name."""
    first, *_ = results.values()
    known = {(warning.code, warning.message) for warning in first.warnings}
    return [
        (printable(name), warning)
        for name, result in results.items()
        for warning in result.warnings
        if (warning.code, warning.message) not in known
    ]
