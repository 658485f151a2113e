"""Scores of models from people's preferences, and their correlation with measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias, get_args

import numpy as np

from mauve_metric.apps.judging.judgement import (
    Agreement,
    Judgement,
    ModelScore,
    QuestionScores,
    Reading,
    ScoreDifference,
)
from mauve_metric.apps.judging.judgement_tables import (
    TABLE_ENDINGS,
    Question,
    Table,
    TableData,
    number_at,
    open_table,
    read_preferences,
)
from mauve_metric.apps.judging.statistics import bradley_terry
from mauve_metric.apps.judging.statistics.judgement_options import Errors, Ties
from mauve_metric.apps.judging.statistics.rank_correlation import spearman
from mauve_metric.arrays import Array, Floats
from mauve_metric.inputs.json_rows import read_json
from mauve_metric.results.scores import REGISTRY
from mauve_metric.runtime.checks import check_bool, check_count, check_known, check_number, quoted, shown
from mauve_metric.version import __version__

MOST_WINS = 1e9  # most pseudo-wins per pair: all scores are then equal to nine digits
MOST_MODELS = 1_000  # of which all pairs are compared: half a million rows
_NOTHING = 1e-9  # a variance below this part of Fisher's is due to rounding
Measures: TypeAlias = str | Path | Mapping[str, Mapping[str, float | None]]


def rank_by_preferences(
    preferences: TableData,
    measures: Measures | Sequence[str | Path] | None = None,
    *,
    answers: Sequence[str] | None = None,
    human: str = "human",
    ties: Ties = "half",
    errors: Errors = "robust",
    pseudo_wins: float = 0.0,
    min_seconds: float | None = None,
    common_models: bool = False,
    confidence_level: float = 0.95,
    seed: int = 25,
) -> Judgement:
    """Compute Bradley–Terry scores of models from judgements of pairs, and how well measures agree with them.

    Args:
        preferences: a table of judgements, or a list of dicts, see `read_preferences`.
        measures: what `describe` or `compare` wrote as JSON, a table, several such files (see `read_measures`), or for
            each measure the models' values, a score's or a measure's of
            `describe` in its better direction, else larger is better.
        answers: the columns of the answers, a question each; None: those that are known by name.
        human: the name of the people's own texts among the models; it is left out of correlations.
        ties: "half" a win for each; "random" as in the paper, by a coin of `seed`; "drop".
        errors: of the intervals: "robust" lets the judgements of one annotator depend on each other; "fisher".
        pseudo_wins: added for every model against every other, so that every model loses at least in part.
        min_seconds: judgements made in less are left out.
        common_models: correlate over the models that were both judged and measured, instead of refusing others.
        confidence_level: of the intervals.

    Returns:
        A `Judgement`: a question each with scores, intervals, differences, and Spearman's correlations.

    Raises:
        TypeError, ValueError, OSError: bad input. ValueError: judgements that leave models without comparison, or that
            are of more than 1000 models.

    Pillutla et al. 2021, §4.3 and App. E.

    >>> rows = [("human", "gpt2")] * 3 + [("gpt2", "human")]
    >>> judgement = rank_by_preferences([{"winner": winner, "loser": loser} for winner, loser in rows])
    >>> judgement.questions["winner"].models[0].model
    'human'
    """
    level = check_number("confidence_level", confidence_level, 0, 1)
    pseudo_wins = check_number("pseudo_wins", pseudo_wins, 0, MOST_WINS, low_included=True)
    seed = check_count("seed", seed, low=0)
    if min_seconds is not None:
        min_seconds = check_number("min_seconds", min_seconds, 0, math.inf, low_included=True)
    check_known("ties", ties, get_args(Ties))
    check_known("errors", errors, get_args(Errors))
    if not isinstance(human, str):
        raise TypeError(f"human must be a model's name, got {shown(human)}")
    is_list = isinstance(answers, (list, tuple)) and all(isinstance(name, str) for name in answers)
    if answers is not None and not is_list:
        raise TypeError(f"answers must be a list of columns' names, got {shown(answers)}")
    check_bool("common_models", common_models)
    table, questions, quick = read_preferences(preferences, answers=answers, min_seconds=min_seconds)
    measured = _measures(measures, human)
    judged = list(dict.fromkeys(name for question in questions.values() for name in question.models()))
    if len(judged) > MOST_MODELS:
        raise ValueError(f"{table} judges {len(judged)} models, expected at most {MOST_MODELS}")
    ordered, left_out = _common(table, [name for name in judged if name != human], measured, common_models)
    scores = {}
    for name, question in questions.items():
        try:
            scored = _score_question(name, question, ties, errors, pseudo_wins, level, seed)
        except ValueError as error:
            raise ValueError(f"{table}, {name!r}: {error}") from error
        agreement, failed = _agreement({score.model: score.score for score in scored.models}, measured, ordered, seed)
        scores[name] = replace(scored, agreement=agreement, failed=failed)
    entries: dict[str, object] = {"ties": ties, "errors": errors, "pseudo_wins": pseudo_wins}
    entries |= {"seed": seed} if ties == "random" else {}
    entries |= {} if min_seconds is None else {"min_seconds": min_seconds}
    judgements = max(scored.judgements for scored in scores.values())
    entries |= {"confidence_level": level, "judgements": judgements, "mauve_metric": __version__}
    return Judgement(scores, level, quick, human if human in judged else None, left_out, entries)


def _measures(measures: Measures | Sequence[str | Path] | None, human: str) -> dict[str, Measured]:
    """Measures by name; the name of one that is in several files includes the file's."""
    if measures is None:
        return {}
    if isinstance(measures, Mapping):
        return given_measures(measures, human)
    paths = [measures] if isinstance(measures, (str, Path)) else measures
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, (str, Path)) for path in paths):
        raise TypeError(
            f"measures must be a file, a list of files, or a dict from measures to values, got {shown(measures)}"
        )
    files = {str(path): read_measures(path, human) for path in paths}
    names = [name for of_file in files.values() for name in of_file]
    return {
        name if names.count(name) == 1 else f"{name} ({path})": measured
        for path, of_file in files.items()
        for name, measured in of_file.items()
    }


def _common(
    name: str, judged: list[str], measures: Mapping[str, Measured], common_models: bool
) -> tuple[list[str], tuple[str, ...]]:
    """The models that measures are compared on, and those that are only judged or only measured."""
    if not measures:
        return judged, ()
    measured = list(dict.fromkeys(model for measure in measures.values() for model in measure.values))
    unknown = [model for model in judged if model not in measured]
    if unknown and not common_models:
        raise ValueError(
            f"{name} judges {quoted(unknown)}, of which there are no measures: they are of {quoted(measured)}; call "
            "them the same, say which are the people's own texts with human (--human), or leave them out with "
            "common_models (--common-models)"
        )
    both = [model for model in judged if model in measured]
    return both, (*unknown, *(model for model in measured if model not in judged))


def _score_question(
    name: str, question: Question, ties: Ties, errors: Errors, pseudo_wins: float, level: float, seed: int
) -> QuestionScores:
    """The scores of the models of one question, without correlations."""
    models = question.models()
    outcome, counted = bradley_terry.settle_ties(np.array(question.outcome), ties, seed)
    codes = {model: number for number, model in enumerate(models)}
    first, second = (np.array([codes[name] for name in side])[counted] for side in (question.first, question.second))
    if not counted.any():
        raise ValueError("every judgement is a tie, and ties are dropped: there is nothing to score")
    judges = None if question.annotators is None else np.array(question.annotators)[counted]
    units = bradley_terry.unit_wins(first, second, outcome[counted], len(models))
    wins = np.asarray(units.sum(axis=0)).reshape(len(models), -1)
    scores = bradley_terry.bradley_terry(wins, names=models, pseudo_wins=pseudo_wins)
    widths = _half_widths(units, judges, scores, errors, pseudo_wins, level)
    order = np.argsort(-scores, kind="stable")
    a, b = (order[positions] for positions in np.triu_indices(len(order), k=1))
    each, values = widths(np.diag), scores[a] - scores[b]
    of_pairs = widths(lambda c: c[a, a] - c[b, a] - (c[a, b] - c[b, b]))
    numbers = [scores, scores - each, scores + each, wins.sum(axis=1), wins.sum(axis=0) + wins.sum(axis=1)]
    scored = [
        ModelScore(model, score, (low, high), won, round(judged))
        for model, score, low, high, won, judged in zip(models, *np.array(numbers).tolist(), strict=True)
    ]
    return QuestionScores(
        question=name,
        judgements=int(counted.sum()),
        ties=int((np.array(question.outcome) == 0.5).sum()),
        annotators=None if judges is None else len(np.unique(judges)),
        models=tuple(scored[i] for i in order),
        differences=tuple(
            ScoreDifference(models[i], models[j], value, (value - width, value + width))
            for i, j, value, width in zip(a, b, values.tolist(), of_pairs.tolist(), strict=True)
        ),
    )


def _half_widths(
    units: Array, judges: Array | None, scores: Floats, errors: Errors, pseudo_wins: float, level: float
) -> Callable[[Callable[[Floats], Floats]], Floats]:
    """Make a function that turns variances, given as a function of a covariance (m, m) → (k,), into half widths."""
    fisher = bradley_terry.score_covariance(units, scores, errors="fisher", pseudo_wins=pseudo_wins)
    covariances, number = [fisher], None
    if errors == "robust":  # annotators are the units where there are several, but make no interval narrower
        together = units[:1] if judges is None else bradley_terry.joined_units(units, judges)
        each = [units, together] if together.shape[0] >= 2 else [units]
        covariances = [bradley_terry.score_covariance(some, scores, pseudo_wins=pseudo_wins) for some in each]
        number = each[-1].shape[0]

    def widths(variances: Callable[[Floats], Floats]) -> Floats:
        largest = np.max([variances(covariance) for covariance in covariances], axis=0)
        chosen = np.where(largest > _NOTHING * variances(fisher), largest, variances(fisher))  # 0 if all agree
        return bradley_terry.half_width(chosen, number, level)

    return widths


def _agreement(
    strength: Mapping[str, float], measures: Mapping[str, Measured], ordered: list[str], seed: int
) -> tuple[tuple[Agreement, ...], dict[str, str]]:
    """The correlation of every measure that has one with the models' scores, and the reason for the others."""
    models = [model for model in ordered if model in strength]
    agreements, failed = [], {}
    for name, measured in measures.items():
        try:
            if len(models) < 3:
                raise ValueError(f"a rank correlation needs at least three models, got {len(models)}")
            values = measured.orders(models)
            if len(set(values)) == 1:
                raise ValueError("it is the same for all models")
            estimate = spearman(values, [strength[model] for model in models], seed=seed)
        except ValueError as error:
            failed[name] = str(error)
            continue
        p_value = math.nan if estimate.p_value is None else estimate.p_value
        pearson = float(np.corrcoef(values, [strength[model] for model in models])[0, 1])
        agreements.append(Agreement(name, estimate.value, p_value, pearson, len(models), measured.reading))
    agreements.sort(key=lambda agreement: -agreement.correlation)
    return tuple(agreements), failed


class Measured(NamedTuple):
    """One measure of several models.

    values: by the model's name; None where it could not be computed. human: of the human texts, if it is known.
    reading: the better direction: "higher", "lower", "human" for closer to `human`; "as it is" if unknown.
    """

    values: dict[str, float | None]
    human: float | None
    reading: Reading

    def orders(self, models: list[str]) -> list[float]:
        """A number for each of these models, the larger the better; `ValueError` that names a model without one.

        >>> Measured({"a": 3.0, "b": 8.0}, 5.0, "human").orders(["a", "b"])
        [-2.0, -3.0]
        """
        lacking = [model for model in models if self.values.get(model) is None]
        if lacking:
            raise ValueError(f"it has no value for {quoted(lacking)}")
        values = [value for model in models if (value := self.values[model]) is not None]
        if self.reading == "human":
            if self.human is None:
                raise ValueError("the human texts' value, which it is compared with, is missing")
            # without the rounding error of the subtraction, which would break ties
            return [float(f"{-abs(value - self.human):.12g}") for value in values]
        return [-value for value in values] if self.reading == "lower" else values


def reading_of(measure: str) -> Reading:
    """Return the better direction of a measure.

    >>> reading_of("mauve"), reading_of("frontier_integral"), reading_of("my_score")
    ('higher', 'lower', 'as it is')
    """
    return REGISTRY[measure].better if measure in REGISTRY else "as it is"


def read_measures(path: str | Path, human: str = "human") -> dict[str, Measured]:
    """The measures in a file, by name.

    `.json`: what `mauve-metric describe --json` or `compare --json` printed. A table (see `open_table`): a column
    `model` and one for each measure; the row of the human texts is called `human`, and a measure that has one and is
    not known by name counts as the better the closer to it.

    Raises:
        FileNotFoundError, ValueError: the file has no measures of several models.
    """
    path = Path(path)
    if path.suffix.lower() in TABLE_ENDINGS:
        return _of_table(open_table("measures", path), human)
    content = read_json(path)
    models = content.get("models") if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(models, Mapping) or not models:
        raise ValueError(f"{path} must be what describe --json or compare --json printed: it has no 'models'")
    numbers = {str(name): _numbers(values) for name, values in models.items()}
    of_human = _numbers(content.get("human"))
    names = dict.fromkeys(name for values in numbers.values() for name, value in values.items() if value is not None)
    if not names:
        raise ValueError(f"{path} holds no measure of {quoted(list(numbers))}")
    return {
        name: Measured(
            {model: values.get(name) for model, values in numbers.items()}, of_human.get(name), reading_of(name)
        )
        for name in names
    }


def _numbers(values: object) -> dict[str, float | None]:
    """The measures of one set: an entry with a value, or a number under the name of a score."""
    if not isinstance(values, Mapping):
        return {}
    numbers = {}
    for name, entry in values.items():
        if isinstance(entry, Mapping) and "value" in entry:
            numbers[str(name)] = _number(entry["value"])
        elif name in REGISTRY:
            numbers[str(name)] = _number(entry)
    return numbers


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def _of_table(table: Table, human: str) -> dict[str, Measured]:
    column = table.column("model", "name")
    if column is None:
        raise ValueError(f"{table.name} must have a column 'model': it has {quoted(table.columns)}")
    columns: dict[str, dict[str, float | None]] = {name: {} for name in table.columns if name not in (column, "")}
    for line in table.lines:
        model = line.value[column]
        for name, values in columns.items():
            if model in values:
                raise ValueError(f"{line.where}: {model!r} is given twice")
            values[model] = number_at(line, name, "a number") if line.value[name] else None
    return {name: _with_human(name, values, values.pop(human, None)) for name, values in columns.items()}


def _with_human(name: str, values: dict[str, float | None], human: float | None) -> Measured:
    reading = reading_of(name)
    return Measured(values, human, "human" if reading == "as it is" and human is not None else reading)


def given_measures(measures: Mapping[str, Mapping[str, float | None]], human: str = "human") -> dict[str, Measured]:
    """Check the caller's measures, a mapping from models to values each; directions as in `read_measures`.

    >>> given_measures({"perplexity": {"human": 12.6, "a": 23.8, "b": 101.9}})["perplexity"].reading
    'human'
    """
    measured = {}
    for name, values in measures.items():
        if not isinstance(values, Mapping):
            raise TypeError(f"measures[{name!r}] must map models to numbers, got {type(values).__name__}")
        numbers = {str(model): None if value is None else _number(float(value)) for model, value in values.items()}
        measured[str(name)] = _with_human(str(name), numbers, numbers.pop(human, None))
    return measured
