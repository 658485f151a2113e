"""Tables of people's preferences between two texts, and of their ratings of single ones."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mauve_metric.apps.judging.judgement_tables import (
    ANNOTATORS,
    MODELS,
    JudgementTable,
    TableData,
    groups_of_rows,
    is_count,
    number_at,
    open_table,
    pair_of_columns,
    plain_name,
    tell_second_answers,
)
from mauve_metric.inputs.records import Record
from mauve_metric.runtime.checks import check_number, quoted
from mauve_metric.runtime.errors import NoSuchField

_FIRST = ("model_a", "model1", "system_a", "model_1", "a")
_SECOND = ("model_b", "model2", "system_b", "model_2", "b")
_ANSWERS = ("winner", "answer", "preference", "preferred", "choice", "judgement", "judgment", "vote")
_RATINGS = ("score", "rating")
_ITEMS = (
    "item",
    "item_id",
    "doc",
    "doc_id",
    "segment",
    "segment_id",
    "text_id",
    "question_id",
    "prompt",
    "input",
    "id",
)
_SECONDS = ("seconds", "te", "time", "duration")
_QUESTION = re.compile(r"(?:answer\.)?q\d+", re.IGNORECASE)
_WORDS = {
    1.0: ("a", "2a", "1a", "definitely a", "slightly a", "much a", "model a", "first"),
    0.5: ("tie", "0", "draw", "equal", "same", "neither", "no preference", "tie (bothbad)", "tie (both bad)"),
    0.0: ("b", "2b", "1b", "definitely b", "slightly b", "much b", "model b", "second"),
}
OUTCOMES = {word: outcome for outcome, words in _WORDS.items() for word in words}
_FORMS = "a, b or tie; 2a, 1a, 0, 1b, 2b; definitely a, slightly a, …; or a model's name"


class Question(NamedTuple):
    """The judgements on one question, one each: two models' names, 1 if the first was preferred, 0 if the second was.

    outcome: 0.5 for a tie. annotators: of each judgement; None where the table does not say. groups: likewise.
    """

    first: list[str]
    second: list[str]
    outcome: list[float]
    annotators: list[str] | None
    groups: list[str] | None = None

    def models(self) -> list[str]:
        """The models' names, in the order in which they come."""
        return list(dict.fromkeys(name for pair in zip(self.first, self.second, strict=True) for name in pair))

    def part(self, rows: Sequence[int]) -> Question:
        """The judgements with these numbers."""
        return self._replace(**_parts(self._asdict(), rows))


class Ratings(NamedTuple):
    """The ratings on one question, one each: the model's name and a number.

    annotators, items, groups: who rated, what was rated, and the part of the data; None where the table does not say.
    missing: rows with an empty cell, which are no ratings.
    """

    model: list[str]
    values: list[float]
    annotators: list[str] | None
    items: list[str] | None
    groups: list[str] | None = None
    missing: int = 0

    def models(self) -> list[str]:
        """The models' names, in the order in which they come."""
        return list(dict.fromkeys(self.model))

    def part(self, rows: Sequence[int]) -> Ratings:
        """The ratings with these numbers."""
        return self._replace(missing=0, **_parts(self._asdict(), rows))


def _parts(columns: Mapping[str, Any], rows: Sequence[int]) -> dict[str, Any]:
    return {name: [column[row] for row in rows] for name, column in columns.items() if isinstance(column, list)}


def read_preferences(
    data: TableData,
    *,
    answers: Sequence[str] | None = None,
    min_seconds: float | None = None,
    by: str | None = None,
) -> tuple[str, dict[str, Question | Ratings], int]:
    """The judgements in a table: preferences between two models' texts, or ratings of one model's.

    Preferences: `winner` and `loser` on each row, or two models and what was answered. Columns are known by their usual
    names, whatever their capitals: the models are `model_a` and `model_b` (`model1` and `model2`, `a` and `b`), the
    answer `winner`, `answer`, `preference`, … or, one for each question, `q1`, `q2`, …; `annotator` (`worker_id`,
    `rater`, `judge`, …) says who judged. The files of Chatbot Arena and of Pillutla et al. 2021 are read as they are.
    Answers are a, b or tie; of five points 2a, 1a, 0, 1b, 2b or definitely a … definitely b (how strong a preference is
    does not count, as in Pillutla et al. 2021, App. E); or the preferred model's name.

    Ratings: `model` (`system`) on each row, and the ratings in `score` or `rating`, else a question in each column that
    holds nothing but numbers; `annotator` says who rated and `item` (`doc_id`, `segment_id`, `prompt`, …) what was
    rated. An empty cell is no rating. A column `n_NAME` beside NAME, the number of its ratings, is no question.

    Args:
        data: a `.csv`, `.tsv` or `.xlsx` file with a header, a `.json` or `.jsonl` file of objects (see `open_table`),
            or a list of dicts.
        answers: the columns of the answers or ratings; None: those that are known.
        min_seconds: judgements made in less (column `seconds` or `Answer.te`) are left out.
        by: a column that groups the judgements.

    Returns:
        The name of the table for errors, its questions, and how many judgements were too quick.

    Raises:
        FileNotFoundError, TypeError, ValueError: with the line, what was expected and what came.

    >>> _, questions, _ = read_preferences([{"winner": "human", "loser": "gpt2"}])
    >>> questions["winner"].outcome
    [1.0]
    >>> read_preferences([{"model": "gpt2", "fluency": 3, "grammar": 4}])[1]["grammar"].values
    [4.0]
    """
    table = open_table("preferences", data)
    lines = table.lines
    if min_seconds is not None:
        lines = _slow_enough(table, check_number("min_seconds", min_seconds, "[0, inf)"))
    who = table.column(*ANNOTATORS)
    annotators = None if who is None else [_require(line, who, "an annotator") for line in lines]
    groups = None if by is None else groups_of_rows(table, lines, by, None, rounds_too=False)
    model = _model_column(table)
    questions: dict[str, Question | Ratings]
    if model is None:
        questions = {**_pairs(table, lines, answers, annotators, groups)}
    else:
        questions = {**_ratings(table._replace(lines=lines), model, answers, annotators, groups, by)}
    return table.name, questions, len(table.lines) - len(lines)


def _slow_enough(table: JudgementTable, min_seconds: float) -> list[Record]:
    """The judgements that took as many seconds or more."""
    column = table.column(*_SECONDS)
    if column is None:
        has = quoted(table.columns)
        raise NoSuchField(f"{table.name} has no column {_SECONDS[0]!r} for min_seconds: it has {has}")
    lines = [line for line in table.lines if number_at(line, column, "seconds") >= min_seconds]
    if not lines:
        raise ValueError(f"{table.name}: no judgement took {min_seconds:g} seconds or more")
    return lines


def _model_column(table: JudgementTable) -> str | None:
    """The column of the models of a table of ratings; None for a table of pairs."""
    if table.column("winner") is not None and table.column("loser") is not None:
        return None
    if table.column("guess") is not None and table.column("boundary") is not None:
        raise ValueError(f"{table.name} has the columns of boundary guesses: mauve-metric boundaries reads it")
    pairs = [names for names in zip(_FIRST, _SECOND, strict=True) if all(map(table.column, names))]
    if pairs and (pairs != [("a", "b")] or table.column(*_ANSWERS) is not None):
        return None
    return table.column(*MODELS)


def _pairs(
    table: JudgementTable,
    lines: list[Record],
    answers: Sequence[str] | None,
    annotators: list[str] | None,
    groups: list[str] | None,
) -> dict[str, Question]:
    """The questions of a table of pairs."""
    winner, loser = table.column("winner"), table.column("loser")
    if winner is not None and loser is not None:
        if answers:
            raise ValueError(f"{table.name} has the columns {winner!r} and {loser!r}: leave answers (--answer) out")
        pairs = [_pair(line, winner, loser) for line in lines]
        outcomes = {winner: [1.0] * len(lines)}
    else:
        expected = "'winner' and 'loser', or 'model_a', 'model_b' and 'winner', or 'model' and a column of ratings"
        a, b = pair_of_columns(table, zip(_FIRST, _SECOND, strict=True), expected)
        pairs = [_pair(line, a, b) for line in lines]
        outcomes = {
            column: [_outcome(line, column, *pair) for line, pair in zip(lines, pairs, strict=True)]
            for column in _answer_columns(table, answers)
        }
    tell_second_answers(table, lines, annotators, [tuple(sorted(pair)) for pair in pairs])
    first, second = [model for model, _ in pairs], [model for _, model in pairs]
    return {name: Question(first, second, values, annotators, groups) for name, values in outcomes.items()}


def _ratings(
    table: JudgementTable,
    model: str,
    answers: Sequence[str] | None,
    annotators: list[str] | None,
    groups: list[str] | None,
    by: str | None,
) -> dict[str, Ratings]:
    """The questions of a table of ratings."""
    item_column = table.column(*_ITEMS)
    models = [_require(line, model, "a model") for line in table.lines]
    items = None if item_column is None else [line.value[item_column] for line in table.lines]
    questions = {}
    for column in _rating_columns(table, [model, item_column, by, table.column(*ANNOTATORS)], answers):
        rows = [number for number, line in enumerate(table.lines) if line.value[column]]
        if not rows:
            raise ValueError(f"{table.name} has no rating in column {column!r}")
        values = [number_at(line, column, "a rating") if line.value[column] else math.nan for line in table.lines]
        missing = len(table.lines) - len(rows)
        questions[column] = Ratings(models, values, annotators, items, groups).part(rows)._replace(missing=missing)
    return questions


def _rating_columns(table: JudgementTable, taken: Sequence[str | None], answers: Sequence[str] | None) -> list[str]:
    """The columns that hold ratings."""
    if answers:
        return _answer_columns(table, answers)
    named = table.column(*_RATINGS)
    if named is not None:
        return [named]
    free = [name for name in table.columns if name and name not in taken and plain_name(name) not in _SECONDS]
    numeric = [name for name in free if _are_numbers([line.value[name] for line in table.lines])]
    columns = [name for name in numeric if not is_count(name, free)]
    if not columns:
        raise NoSuchField(
            f"{table.name} has models in column {taken[0]!r} and no column of ratings, "
            f"nothing but numbers: name it with answers (--answer); it has {quoted(table.columns)}"
        )
    return columns


def _are_numbers(cells: Sequence[str]) -> bool:
    """Return whether the cells that are not empty hold nothing but finite numbers, and there is one."""
    try:
        return any(cells) and all(math.isfinite(float(cell)) for cell in cells if cell)
    except ValueError:
        return False


def _answer_columns(table: JudgementTable, answers: Sequence[str] | None) -> list[str]:
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
