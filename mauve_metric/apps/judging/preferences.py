"""Scores of models from people's preferences or ratings, and their correlation with measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np

from mauve_metric.apps.judging.judgement import (
    Agreement,
    Judgement,
    Kind,
    ModelScore,
    QuestionScores,
    ScoreDifference,
)
from mauve_metric.apps.judging.judgement_tables import TableData, order_of_group
from mauve_metric.apps.judging.measured_values import Measured, Measures, check_directions, measured_by_name
from mauve_metric.apps.judging.preference_tables import Question, Ratings, read_preferences
from mauve_metric.apps.judging.ratings import score_ratings
from mauve_metric.apps.judging.statistics import bradley_terry
from mauve_metric.apps.judging.statistics.judgement_options import Errors, Ties
from mauve_metric.apps.judging.statistics.rank_correlation import bootstrap_correlations, spearman
from mauve_metric.arrays import Array, Floats, MeasuredValue
from mauve_metric.runtime.checks import check_bool, check_count, check_known, check_number, quoted, shown
from mauve_metric.version import __version__

MOST_WINS = 1e9  # most pseudo-wins per pair: all scores are then equal to nine digits
MOST_MODELS = 1_000  # of which all pairs are compared: half a million rows
_NOTHING = 1e-9  # a variance below this part of Fisher's is due to rounding


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
    by: str | None = None,
    better: Mapping[str, str] | None = None,
    common_models: bool = False,
    confidence_level: float = 0.95,
    seed: int = 25,
) -> Judgement:
    """Score models by people's judgements of pairs or by their ratings, and compare measures with these scores.

    Pairs give Bradley–Terry scores. Ratings give means, with intervals over other annotators and other items.

    Args:
        preferences: a table of judgements or ratings, or a list of dicts, see `read_preferences`.
        measures: what `describe`, `compare` or `preferences` wrote as JSON, a table, several such files (see
            `read_measures`), or for each measure the models' values, a score's or a measure's of `describe` in its
            better direction, else larger is better.
        answers: the columns of the answers or ratings, a question each; None: those that are known by name.
        human: the name of the people's own texts among the models, or in `measures`; it is left out of correlations.
        ties: "half" a win for each; "random" as in the paper, by a coin of `seed`; "drop".
        errors: of the intervals: "robust" lets the judgements of one annotator depend on each other; "fisher".
        pseudo_wins: added for every model against every other, so that every model loses at least in part.
        min_seconds: judgements made in less are left out.
        by: a column, such as the domain: the judgements of each of its values are scored by themselves too.
        better: "higher", "lower" or, of a measure, "human" (close to the human texts' value), by the name of a
            question of ratings or of a measure.
        common_models: correlate over the models that were both judged and measured, instead of refusing others.
        confidence_level: of the intervals.

    Returns:
        A `Judgement`: a question each with scores, intervals, differences, and Spearman's correlations.

    Raises:
        TypeError, ValueError, OSError: bad input. ValueError: judgements that leave models without comparison, or that
            are of more than 1000 models.

    Pillutla et al. 2021, §4.3 and App. E; Cameron, Gelbach and Miller 2011.

    >>> rows = [("human", "gpt2")] * 3 + [("gpt2", "human")]
    >>> judgement = rank_by_preferences([{"winner": winner, "loser": loser} for winner, loser in rows])
    >>> judgement.questions["winner"].models[0].model
    'human'
    >>> rows = [("gpt2", 3), ("gpt2", 5), ("human", 5), ("human", 4)]
    >>> judgement = rank_by_preferences([{"model": model, "fluency": rating} for model, rating in rows])
    >>> judgement.questions["fluency"].models[0].score
    4.5
    """
    level = check_number("confidence_level", confidence_level, "(0, 1)")
    pseudo_wins = check_number("pseudo_wins", pseudo_wins, f"[0, {MOST_WINS:g})")
    seed = check_count("seed", seed, low=0)
    if min_seconds is not None:
        min_seconds = check_number("min_seconds", min_seconds, "[0, inf)")
    check_known("ties", ties, get_args(Ties))
    check_known("errors", errors, get_args(Errors))
    if not isinstance(human, str):
        raise TypeError(f"human must be a model's name, got {shown(human)}")
    is_list = isinstance(answers, (list, tuple)) and all(isinstance(name, str) for name in answers)
    if answers is not None and not is_list:
        raise TypeError(f"answers must be a list of columns' names, got {shown(answers)}")
    check_bool("common_models", common_models)
    table, questions, quick = read_preferences(preferences, answers=answers, min_seconds=min_seconds, by=by)
    measured = measured_by_name(measures, human)
    check_directions(better, [*questions], [*measured])
    directions = dict(better or {})
    measured = {name: measure.towards(directions.get(name)) for name, measure in measured.items()}
    judged = list(dict.fromkeys(name for question in questions.values() for name in question.models()))
    if human not in ("human", *judged) and all(measure.human is None for measure in measured.values()):
        raise ValueError(f"human must be a name among the models of {table} ({quoted(judged)}), got {human!r}")
    if len(judged) > MOST_MODELS:
        raise ValueError(f"{table} judges {len(judged)} models, expected at most {MOST_MODELS}")
    ordered, left_out = _common(table, [name for name in judged if name != human], measured, common_models)
    how = _How(ties, errors, pseudo_wins, level, seed)
    scores: dict[str, QuestionScores] = {}
    failed_groups = {}
    for name, (question, group, rows) in _with_groups(questions).items():
        part = questions[question] if rows is None else questions[question].part(rows)
        try:
            scored = replace(_score(question, part, how, directions.get(question)), group=group)
        except ValueError as error:
            if group is None:
                raise ValueError(f"{table}, {name!r}: {error}") from error
            failed_groups[name] = str(error)
            continue
        scores[name] = _with_agreement(scored, measured, ordered, how)
    kind: Kind = "pairs" if isinstance(next(iter(questions.values())), Question) else "ratings"
    entries: dict[str, object] = {"ties": ties, "errors": errors, "pseudo_wins": pseudo_wins} if kind == "pairs" else {}
    entries |= {"seed": seed} if ties == "random" and kind == "pairs" else {}
    entries |= {} if min_seconds is None else {"min_seconds": min_seconds}
    entries |= {} if by is None else {"by": by}
    entries |= {f"better_{name}": direction for name, direction in directions.items()}
    judgements = max(scored.judgements for scored in scores.values())
    entries |= {"confidence_level": level, "judgements": judgements, "mauve_metric": __version__}
    return Judgement(kind, scores, level, quick, human if human in judged else None, left_out, failed_groups, entries)


class _How(NamedTuple):
    """The options of scoring."""

    ties: Ties
    errors: Errors
    pseudo_wins: float
    level: float
    seed: int


def _with_groups(
    questions: Mapping[str, Question | Ratings],
) -> dict[str, tuple[str, str | None, list[int] | None]]:
    """Each question and each of its groups: question, group, and the rows of the group."""
    every: dict[str, tuple[str, str | None, list[int] | None]] = {name: (name, None, None) for name in questions}
    for name, question in questions.items():
        rows: dict[str, list[int]] = {}
        for row, group in enumerate(question.groups or ()):
            rows.setdefault(group, []).append(row)
        every |= {f"{name}, {group}": (name, group, rows[group]) for group in sorted(rows, key=order_of_group)}
    return every


def _score(name: str, question: Question | Ratings, how: _How, better: str | None) -> QuestionScores:
    """The scores of the models of one question, without correlations."""
    if isinstance(question, Question):
        return _score_pairs(name, question, how)
    return score_ratings(name, question, how.level, "lower" if better == "lower" else "higher")


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


def _score_pairs(name: str, question: Question, how: _How) -> QuestionScores:
    """The Bradley–Terry scores of the models of one question."""
    ties, errors, pseudo_wins, level, seed = how
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


def _with_agreement(
    scores: QuestionScores, measured: Mapping[str, Measured], ordered: list[str], how: _How
) -> QuestionScores:
    """The scores with the correlation of every measure that has one, and the reason for the others."""
    strengths = scores.strengths()
    models = [model for model in ordered if model in strengths]
    strength = [strengths[model] for model in models]
    estimates: list[tuple[MeasuredValue, str, list[float]]] = []
    failed = {}
    for name, measure in measured.items():
        try:
            if len(models) < 3:
                raise ValueError(f"a rank correlation needs at least three models, got {len(models)}")
            values = measure.orders(models)
            if len(set(values)) == 1:
                raise ValueError("it is the same for all models")
            estimates.append((spearman(values, strength, seed=how.seed), name, values))
        except ValueError as error:
            failed[name] = str(error)
    if not estimates:
        return replace(scores, failed=failed)
    estimates.sort(key=lambda entry: -entry[0].value)
    columns = [values for *_, values in estimates]
    intervals = bootstrap_correlations(columns, strength, level=how.level, seed=how.seed)
    agreement = [
        Agreement(
            measure=name,
            correlation=estimate.value,
            ci=ci,
            p_value=math.nan if estimate.p_value is None else estimate.p_value,
            pearson=float(np.corrcoef(values, strength)[0, 1]),
            models=len(models),
            reading=measured[name].reading,
        )
        for (estimate, name, values), ci in zip(estimates, intervals.intervals, strict=True)
    ]
    leading = None
    if len(agreement) > 1:
        first, second = agreement[:2]
        difference = first.correlation - second.correlation
        leading = ScoreDifference(first.measure, second.measure, difference, intervals.leading)
    return replace(scores, agreement=tuple(agreement), leading=leading, failed=failed)
