"""Judgements of pairs: a person's choice between the texts of two models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mauve_metric.runtime.checks import quoted
from mauve_metric.runtime.errors import NoSuchField
from mauve_metric.texts.columns import Line, Table, TableData, number_at, open_table

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


class Preferences(NamedTuple):
    """The judgements of a table. name: what errors call it. quick: how many were left out for being too quick."""

    name: str
    questions: dict[str, Question]
    quick: int


def read_preferences(
    data: TableData, *, answers: Sequence[str] | None = None, min_seconds: float | None = None
) -> Preferences:
    """The judgements in a table: `winner` and `loser` on each row, or two models and what was answered.

    Columns are known by their usual names, whatever their capitals: the models are `model_a` and `model_b` (`model1`
    and `model2`, `a` and `b`), the answer `winner`, `answer`, `preference`, … or, one for each question, `q1`, `q2`, …;
    `annotator` (`worker_id`, `rater`, `judge`, …) says who judged. The files of Chatbot Arena and of Pillutla et al.
    2021 are read as they are. Answers are a, b or tie; of five points 2a, 1a, 0, 1b, 2b or definitely a … definitely b
    (how strong a preference is does not count, as in Pillutla et al. 2021, App. E); or the preferred model's name.

    Args:
        data: a `.csv` or `.tsv` file with a header, or a list of dicts.
        answers: the columns of the answers; None: those that are known.
        min_seconds: judgements made in less (column `seconds` or `Answer.te`) are left out.

    Raises:
        FileNotFoundError, TypeError, ValueError: with the line, what was expected and what came.

    >>> read_preferences([{"winner": "human", "loser": "gpt2"}]).questions["winner"].outcome
    [1.0]
    """
    table = open_table("preferences", data)
    lines = _slow_enough(table, min_seconds)
    who = table.column(*ANNOTATORS)
    annotators = None if who is None else [_require(line, who, "an annotator") for line in lines]
    winner, loser = table.column("winner"), table.column("loser")
    if winner is not None and loser is not None:
        if answers:
            raise ValueError(f"{table.name} has the columns {winner!r} and {loser!r}: leave answers (--answer) out")
        pairs = [_pair(line, winner, loser) for line in lines]
        outcomes = {winner: [1.0] * len(lines)}
    else:
        a, b = _model_columns(table)
        pairs = [_pair(line, a, b) for line in lines]
        outcomes = {
            column: [_outcome(line, column, *pair) for line, pair in zip(lines, pairs, strict=True)]
            for column in _answer_columns(table, answers)
        }
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    questions = {name: Question(first, second, values, annotators) for name, values in outcomes.items()}
    return Preferences(table.name, questions, len(table.lines) - len(lines))


def _slow_enough(table: Table, min_seconds: float | None) -> list[Line]:
    """The rows that are not too quick; `ValueError` if there are none."""
    if min_seconds is None:
        return table.lines
    column = table.column(*_SECONDS)
    if column is None:
        raise NoSuchField(f"{table.name} has no column {_SECONDS[0]!r} for min_seconds: it has {quoted(table.columns)}")
    lines = [line for line in table.lines if number_at(line, column, "seconds") >= min_seconds]
    if not lines:
        raise ValueError(f"{table.name}: no judgement took {min_seconds:g} seconds or more")
    return lines


def _model_columns(table: Table) -> tuple[str, str]:
    for one, two in zip(_FIRST, _SECOND, strict=True):
        a, b = table.column(one), table.column(two)
        if a is not None and b is not None:
            return a, b
    raise ValueError(
        f"{table.name} must have the columns 'winner' and 'loser', or 'model_a', 'model_b' and 'winner': "
        f"it has {quoted(table.columns)}"
    )


def _answer_columns(table: Table, answers: Sequence[str] | None) -> list[str]:
    if answers:
        return [table.column_called(name) for name in dict.fromkeys(answers)]
    known = table.column(*_ANSWERS)
    columns = [column for column in table.columns if _QUESTION.fullmatch(column.strip())]
    if known is None and not columns:
        raise NoSuchField(
            f"{table.name} has no column 'winner' with the answers: name it with answers (--answer); "
            f"it has {quoted(table.columns)}"
        )
    return columns if known is None else [known]


def _pair(line: Line, one: str, two: str) -> tuple[str, str]:
    first, second = _require(line, one, "a model"), _require(line, two, "a model")
    if first == second:
        raise ValueError(f"{line.where}: {first!r} is compared with itself")
    return first, second


def _require(line: Line, column: str, meaning: str) -> str:
    if not line.values[column]:
        raise ValueError(f"{line.where}: expected {meaning} in column {column!r}, got nothing")
    return line.values[column]


def _outcome(line: Line, column: str, first: str, second: str) -> float:
    """1 for the first model, 0 for the second, 0.5 for a tie."""
    said = line.values[column]
    found = {OUTCOMES.get(" ".join(said.lower().replace("_", " ").split()))} - {None}
    found |= {outcome for name, outcome in ((first, 1.0), (second, 0.0)) if said == name}
    if len(found) == 1 and (outcome := found.pop()) is not None:
        return outcome
    if found:
        raise ValueError(
            f"{line.where}: {said!r} in column {column!r} is a side and the name of the model on the other"
        )
    raise ValueError(f"{line.where}: expected {_FORMS} in column {column!r}, got {said!r:.60}")
