"""Tables of people's judgements: choices between the texts of two models, and guesses of where a machine took over."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from mauve_metric.inputs.records import Record, Rows, WrongEncoding, check_content, decode, read_bytes
from mauve_metric.inputs.tables import csv_rows, workbook_rows
from mauve_metric.runtime.checks import check_count, check_file, check_number, is_bool, listed, quoted, shown
from mauve_metric.runtime.errors import DamagedFile, NoSuchField, UnknownEnding

logger = logging.getLogger(__name__)

TableData: TypeAlias = str | Path | Iterable[Mapping[str, object]]  # a file, or its rows by column
TABLE_ENDINGS = (".csv", ".tsv", ".xlsx")
_FIRST = ("model_a", "model1", "system_a", "model_1", "a")
_SECOND = ("model_b", "model2", "system_b", "model_2", "b")
_ANSWERS = ("winner", "answer", "preference", "preferred", "choice", "judgement", "judgment", "vote")
ANNOTATORS = ("annotator", "annotator_id", "worker", "worker_id", "workerid", "rater", "rater_id", "judge", "user")
_SECONDS = ("seconds", "te", "time", "duration")
_QUESTION = re.compile(r"(?:answer\.)?q\d+", re.IGNORECASE)
_WORDS = {
    1.0: ("a", "2a", "1a", "definitely a", "slightly a", "much a", "model a", "first"),
    0.5: ("tie", "0", "draw", "equal", "same", "neither", "no preference", "tie (bothbad)", "tie (both bad)"),
    0.0: ("b", "2b", "1b", "definitely b", "slightly b", "much b", "model b", "second"),
}
OUTCOMES = {word: outcome for outcome, words in _WORDS.items() for word in words}
_FORMS = "a, b or tie; 2a, 1a, 0, 1b, 2b; definitely a, slightly a, …; or a model's name"

MOST_SENTENCES = 1_000_000
_MOST_VALUES, _RANGES = 8, 5  # more numbers than that make so many groups of nearly equal size
_NONE = ("", "none", "human", "all human", "all-human", "never")
_TEXTS = ("generation", "gen_id", "text_id", "item", "text")
_PLAYERS = (*ANNOTATORS, "player")
_TIMES = ("sentence_seconds", "seconds_per_sentence")


class Table(NamedTuple):
    """Rows with the same columns, as dicts of texts, "" for a missing one. name: what errors call the table."""

    name: str
    columns: list[str]
    lines: list[Record]

    def column(self, *names: str) -> str | None:
        """The first column with one of these names, see `plain_name`; None where there is none."""
        by_name = {plain_name(column): column for column in reversed(self.columns)}
        return next((by_name[name] for name in names if name in by_name), None)


def open_table(name: str, data: TableData) -> Table:
    """A table of a `.csv`, `.tsv` or `.xlsx` file, or of dicts with the same keys.

    Raises:
        FileNotFoundError: no such file. TypeError, ValueError: no such table, or one without rows.
    """
    if isinstance(data, (str, Path)):
        path = Path(data)
        name, rows = str(path), _rows_of_table(path)
        columns = list(rows.columns)
        lines = [row._replace(value={key: _cell(value) for key, value in row.value.items()}) for row in rows]
    else:
        is_one = getattr(data, "ndim", 1) == 0  # an array of no dimension has an iterator that only raises
        if isinstance(data, (bytes, Mapping)) or not isinstance(data, Iterable) or is_one:
            raise TypeError(f"{name} must be a path or a list of dicts, got {type(data).__name__}")
        dicts = list(data)
        odd = next((row for row in dicts if not isinstance(row, Mapping)), None)
        if odd is not None:
            raise TypeError(f"{name} must hold dicts, got {type(odd).__name__}: {odd!r:.60}")
        columns = [str(column) for column in (dicts[0] if dicts else ())]
        lines = [
            Record({str(key): _cell(value) for key, value in row.items()}, f"{name}, row {number}")
            for number, row in enumerate(dicts)
        ]
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise ValueError(f"{name} has two columns called {twice!r}")
    if not lines:
        raise ValueError(f"{name} has no rows")
    for line in lines:
        missing = [column for column in columns if column not in line.value]
        if missing:
            raise ValueError(f"{line.where}: no value for {missing[0]!r}")
    return Table(name, columns, lines)


def _rows_of_table(path: Path) -> Rows:
    """The rows of a file with a header."""
    check_file(path)
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return workbook_rows(path)
    check_content(path)
    if suffix not in TABLE_ENDINGS:
        raise UnknownEnding(f"{' '.join(str(path).split())} is no table: expected {listed(TABLE_ENDINGS, 'or')}")
    try:
        content = decode(read_bytes(path), str(path))
    except WrongEncoding as error:
        raise DamagedFile(f"{path} is not UTF-8: save it as .xlsx, or as CSV UTF-8") from error
    return csv_rows(content, str(path), tabs=suffix == ".tsv", header=True)


def _cell(value: object) -> str:
    """A value as text; empty for None and NaN."""
    unequal: object = value != value  # an array of these for an array
    return "" if value is None or (is_bool(unequal) and bool(unequal)) else str(value).strip()


def plain_name(column: str) -> str:
    """A column's name without capitals, spaces, and the prefix of Mechanical Turk.

    >>> plain_name("Input.model_a"), plain_name("Answer.q3"), plain_name("Model A"), plain_name("WorkerId")
    ('model_a', 'q3', 'model_a', 'workerid')
    """
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    return name.removeprefix("input.").removeprefix("answer.")


def number_at(line: Record, column: str, meaning: str) -> float:
    """The finite number in a column; `ValueError` with the place of a value that is none."""
    try:
        value = float(line.value[column])
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got {line.value[column]!r:.60}")
    return value


class Question(NamedTuple):
    """The judgements on one question, one each: two models' names, 1 if the first was preferred, 0 if the second was.

    outcome: 0.5 for a tie. annotators: of each judgement; None where the table does not say.
    """

    first: list[str]
    second: list[str]
    outcome: list[float]
    annotators: list[str] | None

    def models(self) -> list[str]:
        """The models' names, in the order in which they come."""
        return list(dict.fromkeys(name for pair in zip(self.first, self.second, strict=True) for name in pair))


def read_preferences(
    data: TableData, *, answers: Sequence[str] | None = None, min_seconds: float | None = None
) -> tuple[str, dict[str, Question], int]:
    """The judgements in a table: `winner` and `loser` on each row, or two models and what was answered.

    Columns are known by their usual names, whatever their capitals: the models are `model_a` and `model_b` (`model1`
    and `model2`, `a` and `b`), the answer `winner`, `answer`, `preference`, … or, one for each question, `q1`, `q2`, …;
    `annotator` (`worker_id`, `rater`, `judge`, …) says who judged. The files of Chatbot Arena and of Pillutla et al.
    2021 are read as they are. Answers are a, b or tie; of five points 2a, 1a, 0, 1b, 2b or definitely a … definitely b
    (how strong a preference is does not count, as in Pillutla et al. 2021, App. E); or the preferred model's name.

    Args:
        data: a `.csv`, `.tsv` or `.xlsx` file with a header, or a list of dicts.
        answers: the columns of the answers; None: those that are known.
        min_seconds: judgements made in less (column `seconds` or `Answer.te`) are left out.

    Returns:
        The name of the table for errors, its questions, and how many judgements were too quick.

    Raises:
        FileNotFoundError, TypeError, ValueError: with the line, what was expected and what came.

    >>> _, questions, _ = read_preferences([{"winner": "human", "loser": "gpt2"}])
    >>> questions["winner"].outcome
    [1.0]
    """
    table = open_table("preferences", data)
    lines = table.lines
    if min_seconds is not None:
        min_seconds = check_number("min_seconds", min_seconds, 0, math.inf, low_included=True)
        column = table.column(*_SECONDS)
        if column is None:
            has = quoted(table.columns)
            raise NoSuchField(f"{table.name} has no column {_SECONDS[0]!r} for min_seconds: it has {has}")
        lines = [line for line in lines if number_at(line, column, "seconds") >= min_seconds]
        if not lines:
            raise ValueError(f"{table.name}: no judgement took {min_seconds:g} seconds or more")
    who = table.column(*ANNOTATORS)
    annotators = None if who is None else [_require(line, who, "an annotator") for line in lines]
    winner, loser = table.column("winner"), table.column("loser")
    if winner is not None and loser is not None:
        if answers:
            raise ValueError(f"{table.name} has the columns {winner!r} and {loser!r}: leave answers (--answer) out")
        pairs = [_pair(line, winner, loser) for line in lines]
        outcomes = {winner: [1.0] * len(lines)}
    else:
        expected = "'winner' and 'loser', or 'model_a', 'model_b' and 'winner'"
        a, b = _pair_of_columns(table, zip(_FIRST, _SECOND, strict=True), expected)
        pairs = [_pair(line, a, b) for line in lines]
        outcomes = {
            column: [_outcome(line, column, *pair) for line, pair in zip(lines, pairs, strict=True)]
            for column in _answer_columns(table, answers)
        }
    _tell_second_answers(table, lines, annotators, [tuple(sorted(pair)) for pair in pairs])
    first, second = [model for model, _ in pairs], [model for _, model in pairs]
    questions = {name: Question(first, second, values, annotators) for name, values in outcomes.items()}
    return table.name, questions, len(table.lines) - len(lines)


def _tell_second_answers(
    table: Table, lines: Sequence[Record], annotators: Sequence[str] | None, writers: Sequence[tuple[str, ...]]
) -> None:
    """Log how many texts have several answers by one annotator, which may be two people without a name."""
    columns = [column for column in (table.column("file"), table.column(*_TEXTS)) if column is not None]
    if annotators is None or table.column(*_TEXTS) is None:
        return
    texts = (tuple(str(line.value[column]) for column in columns) for line in lines)
    answers = Counter(zip(annotators, texts, writers, strict=True))
    again = [(who, text[-1]) for (who, text, _), number in answers.items() if number > 1]
    if again:
        logger.warning(
            "%s: annotator %s answered more than once to text %s, as with %d of %d texts: are these two people under "
            "one name? Intervals take them for one",
            table.name,
            *map(repr, again[0]),
            len(again),
            len(answers),
        )


def _pair_of_columns(table: Table, names: Iterable[tuple[str, str]], expected: str) -> tuple[str, str]:
    """The first of some pairs of columns that the table has."""
    for first, second in names:
        a, b = table.column(first), table.column(second)
        if a is not None and b is not None:
            return a, b
    raise ValueError(f"{table.name} must have the columns {expected}: it has {quoted(table.columns)}")


def _answer_columns(table: Table, answers: Sequence[str] | None) -> list[str]:
    for name in answers or ():
        if name not in table.columns:
            raise NoSuchField(f"{table.name} has no column {name!r}: it has {quoted(table.columns)}")
    if answers:
        return list(dict.fromkeys(answers))
    answer = table.column(*_ANSWERS)
    columns = [column for column in table.columns if _QUESTION.fullmatch(column.strip())]
    if answer is None and not columns:
        raise NoSuchField(
            f"{table.name} has no column 'winner' with the answers: name it with answers (--answer); "
            f"it has {quoted(table.columns)}"
        )
    return columns if answer is None else [answer]


def _pair(line: Record, first_column: str, second_column: str) -> tuple[str, str]:
    first, second = _require(line, first_column, "a model"), _require(line, second_column, "a model")
    if first == second:
        raise ValueError(f"{line.where}: {first!r} is compared with itself")
    return first, second


def _require(line: Record, column: str, meaning: str) -> str:
    value: str = line.value[column]
    if not value:
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got nothing")
    return value


def _outcome(line: Record, column: str, first: str, second: str) -> float:
    """1 for the first model, 0 for the second, 0.5 for a tie."""
    said = line.value[column]
    outcomes = {OUTCOMES.get(" ".join(said.lower().replace("_", " ").split()))} - {None}
    outcomes |= {outcome for name, outcome in ((first, 1.0), (second, 0.0)) if said == name}
    if len(outcomes) == 1 and (outcome := outcomes.pop()) is not None:
        return outcome
    if outcomes:
        raise ValueError(
            f"{line.where}: {said!r} in column {column!r} is a side and the name of the model on the other"
        )
    raise ValueError(f"{line.where}: expected {_FORMS} in column {column!r}, got {said!r:.60}")


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
        data: a `.csv`, `.tsv` or `.xlsx` file with a header, or a list of dicts. sentences: of each text.
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
    names = (("boundary", "guess"), ("true_boundary_index", "predicted_boundary_index"))
    expected = "'boundary' and 'guess', or 'true_boundary_index' and 'predicted_boundary_index'"
    true, said = _pair_of_columns(table, names, expected)
    first = plain_name(true) == "boundary"  # the columns name the first sentence by a machine
    times = table.column(*_TIMES)
    players = _words(table, lines, *_PLAYERS)
    _tell_second_answers(table, lines, players, [()] * len(lines))
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


def _groups(table: Table, lines: list[Record], players: list[str] | None, by: str) -> list[str]:
    """The group of each round: the value of a column, or a range of its numbers."""
    if not isinstance(by, str) or by not in [*table.columns, "round"]:
        raise NoSuchField.of(
            "by", f'must be "round" or a column of {table.name}, {quoted(table.columns)}, got {shown(by)}'
        )
    if by not in table.columns:
        rounds: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))
        values = [str(next(rounds[player])) for player in players or [""] * len(lines)]
    else:
        values = [line.value[by] or "(none)" for line in lines]
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        return values
    if len(np.unique(numbers)) <= _MOST_VALUES or not np.isfinite(numbers).all():
        return values
    ends = np.unique([part[-1] for part in np.array_split(np.sort(numbers), _RANGES)])
    range_index = np.searchsorted(ends, numbers)  # the first end that is no smaller
    inside = [numbers[range_index == number] for number in range(len(ends))]
    return [f"{inside[number].min():g} to {inside[number].max():g}" for number in range_index.tolist()]


def _date(line: Record, column: str) -> datetime:
    """A row's date, in UTC where it has no time zone; `ValueError` for a text that is none, or may be one of two."""
    text = line.value[column]
    try:
        date = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(
            f"{line.where}: expected a date such as 2021-12-31 or 2021-12-31 23:59:59 (ISO 8601) in column {column!r}, "
            f"got {text!r:.60}"
        ) from error
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date


def _sentence(line: Record, column: str, sentences: int, first: bool) -> int:
    """The number of the first sentence by a machine."""
    lowest, highest = (2, sentences + 1) if first else (0, sentences - 1)
    if first and line.value[column].lower() in _NONE:
        return sentences + 1
    meaning = f"a sentence from {lowest} to {highest}" + (", or none," if first else "")
    number = number_at(line, column, meaning)
    if number != int(number) or not lowest <= number <= highest:
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got {line.value[column]!r}")
    return int(number) + (0 if first else 2)


def _words(table: Table, lines: list[Record], *names: str) -> list[str] | None:
    """The values of a column that is known by one of these names."""
    column = table.column(*names)
    if column is None:
        return None
    empty = next((line for line in lines if not line.value[column]), None)
    if empty is not None:
        raise ValueError(f"{empty.where}: nothing in column {column!r}")
    return [line.value[column] for line in lines]


def _seconds(line: Record, column: str) -> list[float]:
    try:
        seconds = [float(number) for number in line.value[column].replace(";", " ").replace("|", " ").split()]
    except ValueError:
        seconds = []
    if not seconds or not all(0 <= number < float("inf") for number in seconds):
        raise ValueError(f"{line.where}: expected seconds in column {column!r}, got {line.value[column]!r:.60}")
    return seconds
