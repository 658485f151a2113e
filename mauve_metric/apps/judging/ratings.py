"""Scores of models from people's ratings."""

from __future__ import annotations

from typing import Literal

import numpy as np

from mauve_metric.apps.judging.judgement import ModelScore, QuestionScores, ScoreDifference
from mauve_metric.apps.judging.preference_tables import Ratings
from mauve_metric.apps.judging.statistics.bradley_terry import half_width
from mauve_metric.apps.judging.statistics.mean_ratings import mean_ratings, rating_errors
from mauve_metric.arrays import Array, Floats
from mauve_metric.measures.groups import number_items


def score_ratings(
    name: str, ratings: Ratings, level: float, better: Literal["higher", "lower"] = "higher"
) -> QuestionScores:
    """The mean rating of each model and the differences, with intervals over other annotators and items.

    Args:
        name: of the question. level: of the intervals, in (0, 1). better: whether a higher rating is better.
    """
    models = ratings.models()
    values, codes = np.array(ratings.values), number_items(ratings.model)
    means, number = mean_ratings(values, codes, len(models)), np.bincount(codes, minlength=len(models))
    order = np.argsort(means if better == "lower" else -means, kind="stable")
    a, b = (order[positions] for positions in np.triu_indices(len(order), k=1))
    each, of_pairs = _half_widths(ratings, values, codes, (a, b), level)
    scores = [
        ModelScore(models[i], float(means[i]), _around(means[i], each[i], number[i] > 1), None, int(number[i]))
        for i in order
    ]
    differences = [
        ScoreDifference(models[i], models[j], float(means[i] - means[j]), _around(means[i] - means[j], width, both))
        for i, j, width, both in zip(a, b, of_pairs, (number[a] > 1) & (number[b] > 1), strict=True)
    ]
    return QuestionScores(
        question=name,
        judgements=len(values),
        ties=None,
        annotators=None if ratings.annotators is None else len(set(ratings.annotators)),
        items=None if ratings.items is None else len(set(ratings.items)),
        missing=ratings.missing,
        better=better,
        models=tuple(scores),
        differences=tuple(differences),
    )


def _half_widths(
    ratings: Ratings, values: Floats, codes: Array, pairs: tuple[Array, Array], level: float
) -> tuple[Floats, Floats]:
    """Half of the interval of each mean, and of the difference of each pair; 0 where all models have one rating."""
    count, (a, b) = int(codes.max()) + 1, pairs
    if len(values) <= count:
        return np.zeros(count), np.zeros(len(a))
    clusters = [number_items(names) for names in (ratings.annotators, ratings.items) if names is not None]
    errors = rating_errors(values, codes, count, clusters)
    each = np.max([np.diag(c) for c in errors.covariances], axis=0)
    of_pairs = np.max([c[a, a] + c[b, b] - 2 * c[a, b] for c in errors.covariances], axis=0)
    return half_width(each, errors.units, level), half_width(of_pairs, errors.units, level)


def _around(value: float, width: float, is_measured: bool) -> tuple[float, float] | None:
    return (float(value - width), float(value + width)) if is_measured else None
