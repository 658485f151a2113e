"""Guesses of Real or Fake Text: the sentence where a player thinks that a machine took over."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from mauve_metric.runtime.checks import check_count, quoted, shown
from mauve_metric.runtime.errors import NoSuchField
from mauve_metric.texts.columns import Line, Table, TableData, number_at, open_table
from mauve_metric.texts.preferences import ANNOTATORS

MOST_SENTENCES = 1_000_000
_MOST_VALUES, _RANGES = 8, 5  # more numbers than that make so many groups of nearly equal size
_NONE = ("", "none", "human", "all human", "all-human", "never")
_TEXTS = ("generation", "gen_id", "text_id", "item", "text")
_PLAYERS = (*ANNOTATORS, "player")
_TIMES = ("sentence_seconds", "seconds_per_sentence")


class Guesses(NamedTuple):
    """Rounds of the game, in the order in which they were played.

    boundary, guess: the number of the first sentence by a machine, from 2; `sentences` + 1 for none. players, models,
    texts: of each round; None where the table does not say. seconds: on each sentence of each round, likewise.
    groups: of each round, by a column.
    """

    name: str
    sentences: int
    boundary: list[int]
    guess: list[int]
    players: list[str] | None
    models: list[str] | None
    texts: list[str] | None
    seconds: list[list[float]] | None
    groups: list[str] | None = None


def read_guesses(data: TableData, *, sentences: int = 10, by: str | None = None) -> Guesses:
    """The rounds in a table: the true boundary and the guess on each row.

    `boundary` and `guess` are the number of the first sentence by a machine, from 2, or `none` for a text that is human
    throughout. The columns of the published data are read as they are: `true_boundary_index` and
    `predicted_boundary_index` count from 0 and give the last human sentence. `annotator` (`player`, …), `model`,
    `generation` (`text_id`, `item`) and `sentence_seconds` (numbers with spaces between them) are used where they are
    there; rows with a `date` (ISO 8601: 2021-12-31, with a time or without) are taken in its order.

    Args:
        data: a `.csv` or `.tsv` file with a header, or a list of dicts. sentences: of each text.
        by: a column whose values group the rounds, more than eight different numbers in up to five ranges; "round",
            where no column is called so: how many rounds a player had played, from 1.

    Raises:
        FileNotFoundError, TypeError, ValueError: with the line, what was expected and what came.

    >>> read_guesses([{"boundary": 4, "guess": "none"}]).guess
    [11]
    """
    check_count("sentences", sentences, low=2)
    if sentences > MOST_SENTENCES:
        raise ValueError(f"sentences must be at most {MOST_SENTENCES}, got {sentences}")
    table = open_table("guesses", data)
    date = table.column("date")
    lines = table.lines if date is None else sorted(table.lines, key=lambda line: _date(line, date))
    true, said, first = _columns(table)
    times = table.column(*_TIMES)
    players = _words(table, lines, *_PLAYERS)
    return Guesses(
        table.name,
        sentences,
        [_sentence(line, true, sentences, first) for line in lines],
        [_sentence(line, said, sentences, first) for line in lines],
        players,
        _words(table, lines, "model", "system"),
        _words(table, lines, *_TEXTS),
        None if times is None else [_seconds(line, times) for line in lines],
        None if by is None else _groups(table, lines, players, by),
    )


def _groups(table: Table, lines: list[Line], players: list[str] | None, by: str) -> list[str]:
    """The group of each round: the value of a column, or a range of its numbers."""
    if not isinstance(by, str) or by not in [*table.columns, "round"]:
        raise NoSuchField.of(
            "by", f'must be "round" or a column of {table.name}, {quoted(table.columns)}, got {shown(by)}'
        )
    if by not in table.columns:
        played: Counter[str] = Counter()
        values: list[str] = []
        for player in players or [""] * len(lines):
            played[player] += 1
            values.append(str(played[player]))
    else:
        values = [line.values[by] or "(none)" for line in lines]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        return values
    if len(np.unique(numbers)) <= _MOST_VALUES or not np.isfinite(numbers).all():
        return values
    ends = np.unique([part[-1] for part in np.array_split(np.sort(numbers), _RANGES)])
    place = np.searchsorted(ends, numbers)  # the first end that is no smaller
    inside = [numbers[place == number] for number in range(len(ends))]
    return [f"{inside[number].min():g} to {inside[number].max():g}" for number in place.tolist()]


def _date(line: Line, column: str) -> datetime:
    """A row's date, in UTC where it has no time zone; `ValueError` for a text that is none, or may be one of two."""
    text = line.values[column]
    try:
        date = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{line.where}: expected a date such as 2021-12-31 or 2021-12-31 23:59:59 (ISO 8601) in column {column!r}, "
            f"got {text!r:.60}"
        ) from error
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date


def _columns(table: Table) -> tuple[str, str, bool]:
    """The columns of the truth and of the guess, and whether they name the first sentence by a machine."""
    pairs = (("boundary", "guess", True), ("true_boundary_index", "predicted_boundary_index", False))
    for truth, guess, first in pairs:
        one, two = table.column(truth), table.column(guess)
        if one is not None and two is not None:
            return one, two, first
    raise ValueError(
        f"{table.name} must have the columns 'boundary' and 'guess', or 'true_boundary_index' and "
        f"'predicted_boundary_index': it has {quoted(table.columns)}"
    )


def _sentence(line: Line, column: str, sentences: int, first: bool) -> int:
    """The number of the first sentence by a machine."""
    lowest, highest = (2, sentences + 1) if first else (0, sentences - 1)
    if first and line.values[column].lower() in _NONE:
        return sentences + 1
    meaning = f"a sentence from {lowest} to {highest}" + (", or none," if first else "")
    number = number_at(line, column, meaning)
    if number != int(number) or not lowest <= number <= highest:
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got {line.values[column]!r}")
    return int(number) + (0 if first else 2)


def _words(table: Table, lines: list[Line], *known: str) -> list[str] | None:
    """The values of a column that is known by one of these names."""
    column = table.column(*known)
    if column is None:
        return None
    empty = next((line for line in lines if not line.values[column]), None)
    if empty is not None:
        raise ValueError(f"{empty.where}: nothing in column {column!r}")
    return [line.values[column] for line in lines]


def _seconds(line: Line, column: str) -> list[float]:
    try:
        found = [float(number) for number in line.values[column].replace(";", " ").replace("|", " ").split()]
    except ValueError:
        found = []
    if not found or not all(0 <= number < float("inf") for number in found):
        raise ValueError(f"{line.where}: expected seconds in column {column!r}, got {line.values[column]!r:.60}")
    return found
