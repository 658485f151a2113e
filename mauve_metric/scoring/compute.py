"""`compute_mauve`: texts, tokens or features in, a `MauveResult` out, by one featurizer or each of several."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, Unpack

import numpy as np

from mauve_metric.arrays import FeatureData, TextData, TokenData
from mauve_metric.features.dependence import Groups, codes_of, with_dependence
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, InputSide, given_side
from mauve_metric.features.sides import Inputs, check_columns, check_same_encoder, check_texts_alone
from mauve_metric.features.text_functions import named_featurizers
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import FEATURIZER_SETS, Featurizer, MauveConfig, Options, with_options
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.result import LearnedScore, MauveResult
from mauve_metric.runtime import tensors
from mauve_metric.runtime.errors import EXPECTED, message_of
from mauve_metric.scoring.opening import listed_texts, open_two
from mauve_metric.scoring.pipeline import Clustered, cluster
from mauve_metric.scoring.score import learned_of, log_warnings, score_clustered
from mauve_metric.scoring.verdict import bounds_of, judged
from mauve_metric.scoring.without_layout import needs_trial, without_layout
from mauve_metric.uncertainty.closeness import Bound
from mauve_metric.uncertainty.learned_score import Learned
from mauve_metric.uncertainty.score_warnings import ScoreWarning, warn

Argument = TypeVar("Argument")
Made = TypeVar("Made")
Scored = TypeVar("Scored", bound=MauveResult | Comparison)

logger = logging.getLogger(__name__)


@with_options()
def compute_mauve(
    p_features: FeatureData | None = None,
    q_features: FeatureData | None = None,
    p_tokens: TokenData | None = None,
    q_tokens: TokenData | None = None,
    p_text: TextData | TextFile | None = None,
    q_text: TextData | TextFile | None = None,
    *,
    p: FeatureSet | None = None,
    q: FeatureSet | None = None,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Sequence[Hashable] | None = None,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
    **options: Unpack[Options],
) -> MauveResult:
    """Compute MAUVE between human texts P and model texts Q (Pillutla et al. 2021), with mauve-text's keywords.

    Each side is given as a `FeatureSet`, features, tokens or texts; the first of these that is given is used, and the
    two sides may differ in form. Where one side is a `FeatureSet`, texts of the other are featurized as it was.

    Args:
        p_features, q_features: finite arrays (n_p, d) and (n_q, d) of one featurizer.
        p_tokens, q_tokens: lists of token id lists of the featurizer's tokenizer, used as they are.
        p_text, q_text: texts: a list, a `datasets` column, a stream (see `sources.text_source`), a file's name or a
            `TextFile`. Where q_text is a file with human texts beside the model's, the side P can be left out.
        p, q: features kept with their origin (see `FeatureSet`).
        aligned: row i of both sides answers prompt i, as where a model continues the beginnings of the human texts.
            Scores of aligned sets are higher than those of sets with other prompts: compare them only with each other.
        p_groups, q_groups: for each text of a side its prompt, or anything else that is equal for texts which are not
            independent, such as the number of a document; equal groups on both sides are one. None, as an entry or in
            place of those of a side, stands for texts that depend on no other. Bias, error, interval, ceiling and test
            allow for the groups (docs/mathematics.md). A file with human texts beside the model's is aligned unasked.
        featurizers: several, each as `featurize_model_name`; a dict gives them names. Each featurizes the texts of both
            sides and makes a score. The first one's is the result (that of `featurize_model_name` if it is given too);
            those of all are in its `by_featurizer`, the learned score of one classifier of all their features in its
            `together`. Its closeness and verdict follow from all. Another one that cannot be used is named in a
            warning. The other options hold for all of them.
        **options: the fields of `MauveConfig` (what can change the score) and of `RunOptions` (what cannot), and
            mauve-text's `use_float64`, which means `dtype="float64"`.

    Returns:
        A `MauveResult`.

    Raises:
        TypeError: an unknown option, or an argument of the wrong type.
        ValueError: a value out of range, or data that cannot be scored; features or tokens with several featurizers.
        OSError, ImportError: the model or a package is not there.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> human, model = rng.normal(size=(200, 8)), rng.normal(size=(200, 8)) + 1
    >>> out = compute_mauve(p_features=human, q_features=model, seed=1)
    >>> 0 < out.mauve < 1, out.num_buckets, out.divergence_curve.shape
    (True, 20, (27, 2))
    """
    sides = {
        "p": given_side("p", {"set": p, "features": p_features, "tokens": p_tokens, "text": p_text}, p_groups),
        "q": given_side("q", {"set": q, "features": q_features, "tokens": q_tokens, "text": q_text}, q_groups),
    }
    return score_sides(sides, options, aligned, featurizers)


def score_sides(
    sides: Mapping[str, InputSide],
    options: Mapping[str, Any],
    aligned: object = False,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
) -> MauveResult:
    """`compute_mauve` of the sides "p" and "q", which errors name by their arguments."""
    job, inputs = open_two("compute_mauve", options, sides, aligned)
    return score_with_each(featurizers, inputs, job, _score_one, add_pooled_score)


def _score_one(job: FeaturizeJob, inputs: Inputs, is_first: bool) -> tuple[MauveResult, Sequence[FeatureSet]]:
    """Score with one featurizer; return its features of both sides too. is_first: log the warnings."""
    config = job.config  # that of the job may follow a `FeatureSet`
    with job:
        sides = {name: inputs.with_origin(name, job.side(side)) for name, side in job.prepared(inputs.sides).items()}
        p_side, q_side = inputs.with_groups(sides).values()
        check_columns({side.argument: sides[name] for name, side in inputs.sides.items()})
        check_same_encoder(p_side.identity, q_side.identity)

        def texts() -> list[list[str] | None]:  # None for a stream and for sides without texts
            return [
                listed_texts(job, side) if side.kind == "text" and hasattr(side.content, "__len__") else None
                for side in inputs.sides.values()
            ]

        result = score_with_trial(cluster([p_side, q_side], config, job.run), texts, job, inputs.prompts)
        if is_first:
            log_warnings(result)
        return result, (p_side, q_side)


def score_with_trial(
    clustered: Clustered,
    texts: Callable[[], Sequence[Sequence[str] | None]],
    job: FeaturizeJob,
    prompts: Sequence[str] = (),
) -> MauveResult:
    """The result of two sides in buckets, with the effect of layout that separates them.

    Args:
        texts: lists the texts of both sides, None where they are not known. job, prompts: see `without_layout`.
    """
    result = score_clustered(clustered)
    if not needs_trial(result):
        return result
    return without_layout(result, texts(), pair_of_groups(*clustered.groups), job.config, job, prompts)


def try_each(
    featurizers: Mapping[str, Argument], make: Callable[[str, Argument], Made]
) -> tuple[dict[str, Made], list[ScoreWarning]]:
    """Call `make` with each featurizer; return its values by name, and a warning for each that fails.

    Raises:
        Exception: any error of the first one, and an unexpected error of another.
    """
    made: dict[str, Made] = {}
    missing: list[ScoreWarning] = []
    for name, featurizer in featurizers.items():
        try:
            made[name] = make(name, featurizer)
        except EXPECTED as error:
            if not made:
                raise
            reason = message_of(error)
            message = f"the featurizer {name} could not be used, and has no part in what the others say: {reason}"
            missing.append(warn("featurizer_missing", {"featurizer": name}, said=message))
            logger.warning("featurizer_missing: %s", message)
    return made, missing


def score_with_each(
    featurizers: object,
    inputs: Inputs,
    job: FeaturizeJob,
    score: Callable[[FeaturizeJob, Inputs, bool], tuple[Scored, Sequence[FeatureSet]]],
    together: Callable[[Scored, Sequence[Sequence[FeatureSet]], MauveConfig], Scored],
) -> Scored:
    """Score with every featurizer and return the first result, with those of all in its `by_featurizer`.

    Args:
        featurizers: None: that of `job` alone.
        score: the result of one featurizer, and its features of all sets; True for the first one.
        together: adds to a result what one classifier of the features of all featurizers finds.

    Raises:
        TypeError, ValueError: wrong featurizers; sides that are not texts.
    """
    model = job.config.featurize_model_name
    if featurizers is None and not (isinstance(model, str) and model in FEATURIZER_SETS):
        return _named(score(job, inputs, True)[0], job)
    asked = model if "featurize_model_name" in job.given else None
    named = named_featurizers(model if featurizers is None else featurizers, asked)
    check_texts_alone(inputs.sides.values())
    sides, first, options = inputs.materialised(), next(iter(named)), job.given | {"featurize_model_name"}

    def score_with(name: str, featurizer: Featurizer) -> tuple[Scored, Sequence[FeatureSet]]:
        job_of_featurizer = FeaturizeJob(replace(job.config, featurize_model_name=featurizer), job.run, options)
        return score(job_of_featurizer, sides, name == first)

    scored, missing = try_each(named, score_with)
    return _named(join_featurizers(scored, together, job.config, missing), job)


def _named(result: Scored, job: FeaturizeJob) -> Scored:
    """The result, whose sentences have the job's name of the reference."""
    of_any_kind: Any = result
    named: Scored = of_any_kind.with_reference_name(job.run.reference_name)
    return named


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


def judged_together(
    result: MauveResult,
    each: Mapping[str, MauveResult],
    learned: Learned | None,
    codes: Groups,
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
    return judged(replace(result, together=together, bounds=bounds), config)


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
