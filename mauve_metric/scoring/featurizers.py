"""Scores by several featurizers: each makes its own, and one classifier of all their features another."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from mauve_metric.features.dependence import PairGroups, codes_of, paired, with_dependence
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.features.sides import check_texts_alone
from mauve_metric.features.text_functions import named_featurizers
from mauve_metric.options import FEATURIZER_SETS, Featurizer, MauveConfig
from mauve_metric.results.comparison import Comparison, comparable_without_layout
from mauve_metric.results.result import LearnedScore, MauveResult
from mauve_metric.results.signature import featurizers_entries
from mauve_metric.runtime import tensors
from mauve_metric.runtime.errors import message_of
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.ranking import ranked_by_closeness, ranked_by_learned_score
from mauve_metric.scoring.score import learned_of
from mauve_metric.scoring.verdict import LAYOUT, bounds_of, bounds_without_layout, decides, judged, layout_warnings
from mauve_metric.uncertainty.closeness import Bound, closeness_of
from mauve_metric.uncertainty.learned_score import Learned
from mauve_metric.uncertainty.score_warnings import ScoreWarning, warn

Argument = TypeVar("Argument")
Made = TypeVar("Made")
Scored = TypeVar("Scored", bound=MauveResult | Comparison)

logger = logging.getLogger(__name__)


def try_each(
    featurizers: Mapping[str, Argument], make: Callable[[str, Argument], Made]
) -> tuple[dict[str, Made], list[ScoreWarning]]:
    """Call `make` with each featurizer; return its values by name, and a warning for each that fails.

    Raises:
        Exception: any error of the first one.
    """
    made: dict[str, Made] = {}
    missing: list[ScoreWarning] = []
    for name, featurizer in featurizers.items():
        try:
            made[name] = make(name, featurizer)
        except Exception as error:
            if not made:
                raise
            reason = message_of(error)
            message = f"the featurizer {name} could not be used, and has no part in what the others say: {reason}"
            missing.append(warn("featurizer_missing", {"featurizer": name}, said=message))
            logger.warning("featurizer_missing: %s", message)
    return made, missing


def score_with_each(
    featurizers: object,
    evaluation: Evaluation,
    score: Callable[[Evaluation, bool], Scored],
    together: Callable[[Scored, Sequence[Sequence[FeatureSet]], MauveConfig], Scored],
) -> Scored:
    """Score with every featurizer and return the first result, with those of all in its `by_featurizer`.

    Args:
        featurizers: None: that of the evaluation alone.
        score: the result of one featurizer's evaluation; True for the first one.
        together: adds to a result what one classifier of the features of all featurizers finds.

    Raises:
        TypeError, ValueError: wrong featurizers; sides that are not texts.
    """
    config, model = evaluation.config, evaluation.config.featurize_model_name
    if featurizers is None and not (isinstance(model, str) and model in FEATURIZER_SETS):
        with evaluation:
            return score(evaluation, True)
    asked = model if "featurize_model_name" in evaluation.chosen else None
    named = named_featurizers(model if featurizers is None else featurizers, asked)
    check_texts_alone(evaluation.inputs.sides.values())
    evaluation.inputs, first = evaluation.inputs.materialised(), next(iter(named))

    def score_with(name: str, featurizer: Featurizer) -> tuple[Scored, Sequence[FeatureSet]]:
        with evaluation.with_options(featurize_model_name=featurizer) as by_featurizer:
            return score(by_featurizer, name == first), by_featurizer.declared

    scored, missing = try_each(named, score_with)
    return join_featurizers(scored, together, config, missing)


def join_featurizers(
    scored: Mapping[str, tuple[Scored, Sequence[FeatureSet]]],
    together: Callable[[Scored, Sequence[Sequence[FeatureSet]], MauveConfig], Scored],
    config: MauveConfig,
    missing: Sequence[ScoreWarning] = (),
) -> Scored:
    """The result of the first featurizer, with those of all in its `by_featurizer`.

    Args:
        scored: by name the result of each featurizer, and its features of all sets.
        together, config: see `score_with_each`.
        missing: warnings about featurizers that failed.
    """
    first: Any = next(iter(scored.values()))[0]
    results = {name: result_of for name, (result_of, _) in scored.items()}
    result = replace(first, by_featurizer=results, warnings=(*first.warnings, *missing))
    return together(result, [sets for _, sets in scored.values()], config)


def add_pooled_score(result: MauveResult, sides: Sequence[Sequence[FeatureSet]], config: MauveConfig) -> MauveResult:
    """Judge by all featurizers, with the learned score of one classifier of all their features, if there is one."""
    if joined := joined_sides(sides, config):
        human, model = joined
        learned, codes = learned_of(human, model, config), codes_of(human, model)
    else:
        learned, codes = None, None
    return judged_together(result, result.by_featurizer, learned, codes, config)


def compare_together(comparison: Comparison, sets: Sequence[Sequence[FeatureSet]], config: MauveConfig) -> Comparison:
    """Add the learned scores of one classifier of the features of all featurizers, their ranking and differences.

    Args:
        sets: by each featurizer the human texts and those of each model, in the order of the comparison.
        config: of the comparison.
    """
    joined = joined_sides(sets, config)
    pairs = [paired(joined[0], side) for side in joined[1:]]  # none where features cannot be joined
    learned_scores = {
        name: (learned, codes_of(human, model))
        for name, (human, model) in zip(comparison.models, pairs, strict=False)
        if (learned := learned_of(human, model, config)) is not None
    }
    ranking, differences = ranked_by_learned_score(learned_scores, config)
    models = {}
    for name, result in comparison.models.items():
        learned, codes = learned_scores.get(name, (None, None))
        each = {label: single.models[name] for label, single in comparison.by_featurizer.items()}
        models[name] = judged_together(result, each, learned, codes, config)
    models = comparable_without_layout(models)
    of_featurizers = [single.signature for single in comparison.by_featurizer.values()]
    entries = featurizers_entries(comparison.signature_entries, of_featurizers)
    compared = replace(comparison, models=models, signature_entries=entries, **ranked_by_closeness(models, config))
    return replace(compared, together_ranking=ranking, together_differences=differences)


def judged_together(
    result: MauveResult,
    each: Mapping[str, MauveResult],
    learned: Learned | None,
    codes: PairGroups,
    config: MauveConfig,
) -> MauveResult:
    """Judge a result by the partitions of all featurizers.

    Args:
        each: the result of the same two sets by each featurizer. learned: of all features together.
        codes: of the groups of both sides, as `learned` takes them; None: each text is alone.
    """
    bounds, together = bounds_of(each), None
    if learned is not None:
        bounds = (*bounds, Bound.of_learned(learned, codes))
        together = LearnedScore.of(learned)
    entries = featurizers_entries(result.signature_entries, [of_each.signature for of_each in each.values()])
    result = replace(result, together=together, bounds=bounds, signature_entries=entries)
    if len(each) > 1 and layout_warnings(each.values()):
        closeness = closeness_of(bounds, config)
        layout = layout_warnings(each[name] for name in decides(each, closeness and closeness.value))
        others = [warning for warning in result.warnings if warning.code not in LAYOUT]
        plain = bounds_without_layout(each)
        result = replace(result, warnings=(*layout, *others), bounds_without_layout=plain)
    return judged(result, config)


def joined_sides(sets: Sequence[Sequence[FeatureSet]], config: MauveConfig) -> list[FeatureSet]:
    """The features of all featurizers, side by side, of each set, with the groups of dependent texts.

    Args:
        sets: the human texts and those of each model by each featurizer.

    Returns:
        Nothing for one featurizer, and for features that are not in memory.
    """
    joined = []
    for every in zip(*sets, strict=True):
        rows = [tensors.in_memory(side.features) for side in every]
        in_memory = [part for part in rows if part is not None]
        if len(sets) < 2 or len(in_memory) < len(sets):
            return []
        joined.append(replace(every[0], features=np.concatenate(in_memory, axis=1)))
    return with_dependence(joined, config.seed, independent=config.independent)
