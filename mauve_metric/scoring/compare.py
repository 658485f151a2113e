"""Several models against one human set: scores on common buckets, and which differences are real."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from mauve_metric.arrays import FeatureData, Floats, TextData, TokenData
from mauve_metric.features.dependence import Groups, codes_of, paired, with_dependence
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, given_side
from mauve_metric.features.sides import By, Inputs, Subgroups, read_sides
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import Featurizer, MauveConfig, Options, RunOptions, with_options
from mauve_metric.results.comparison import Comparison, Difference, OwnScore
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_signature, human_entries, signature_entries
from mauve_metric.runtime.checks import check_count
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.progress import watched
from mauve_metric.runtime.tensors import is_read_only_in_blocks
from mauve_metric.scoring import score
from mauve_metric.scoring.compute import joined_sides, judged_together, score_with_each
from mauve_metric.scoring.explain import explain_learned, explain_model
from mauve_metric.scoring.opening import check_sides, open_several
from mauve_metric.scoring.phrases import Readable
from mauve_metric.scoring.pipeline import Clustered, cluster, resolve_config
from mauve_metric.scoring.subgroups import enough_rows, recall_of_subgroups
from mauve_metric.scoring.without_layout import needs_trial, without_layout
from mauve_metric.uncertainty import forecast, intervals
from mauve_metric.uncertainty.closeness import Bound, joint_covariance
from mauve_metric.uncertainty.differences import difference_of
from mauve_metric.uncertainty.gap_buckets import holm
from mauve_metric.uncertainty.learned_score import Learned, learned_estimates
from mauve_metric.uncertainty.score_warnings import comparison_warnings, partition_warnings

NEAR_0 = 0.05  # closeness of sets that next to every text tells apart: there it does not order models


@with_options()
def compare(
    p_text: TextData | TextFile | None = None,
    models: Mapping[str, FeatureData | FeatureSet | TextFile | str] | None = None,
    *,
    p_features: FeatureData | None = None,
    p_tokens: TokenData | None = None,
    p: FeatureSet | None = None,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Mapping[str, Sequence[Hashable]] | None = None,
    common_rows: bool = False,
    buckets: int = 0,
    texts: int = 3,
    by: By | None = None,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare models with each other by their MAUVE against one human set.

    The human texts and those of all models are projected and clustered together, once, so that all scores use one
    partition; "auto" buckets follow from the smallest set. A difference has an interval that allows for the human
    texts that both scores share.

    Args:
        p_text, p_features, p_tokens, p: the human side, as in `compute_mauve`; texts beside another form are read only.
            Where the models are files with human texts beside theirs, on which they agree, it can be left out.
        models: for each name its texts, features (n, d), `FeatureSet`, or a file of texts, by name or as `TextFile`.
        aligned: row i of every set, the human one included, answers prompt i; see `compute_mauve`. Files that name the
            document of each row are matched by it without this option.
        p_groups: the prompt of each human text. q_groups: for models by name, the prompt of each text; see
            `compute_mauve`.
        common_rows: leave out the rows that not all of these files have, which are an error else.
        buckets: how many buckets of each model's gap to explain, see `explain`; 0 for none.
        texts: how many texts of each side to keep for a bucket.
        by: the field of a label of each text in the files, such as its topic, source or language; or the labels, a list
            for "human" and for each model that has some. The result then has the recall of the human texts of each
            label, in `subgroups`, and a comparison of the texts of each, in `by_subgroup` (Le Bronnec et al. 2024, §8).
        featurizers: several, each as `featurize_model_name`; a dict gives them names. Each compares the texts of all
            sets. The first one's comparison is the result (that of `featurize_model_name` if it is given too), with the
            buckets; those of all are in its `by_featurizer`, the learned scores of one classifier of all their features
            in each model's `together`, and in `together_ranking` and `together_differences`. Closeness, verdicts and
            ranking follow from all. Another one that cannot be used is named in a warning. The other options hold for
            all of them.
        **options: see `compute_mauve`.

    Returns:
        A `Comparison`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; `ValueError` too for no model, sets of fewer
            than two texts, aligned sets of unequal size, and groups that do not fit
            the texts.

    >>> rng = np.random.default_rng(0)
    >>> human, good, bad = (rng.normal(shift, 1, size=(200, 8)) for shift in (0, 0.1, 1))
    >>> found = compare(p_features=human, models={"bad": bad, "good": good}, seed=1)
    >>> found.ranking, [(item.a, item.b, item.real) for item in found.differences]
    (('good', 'bad'), [('good', 'bad', True)])
    """
    buckets = check_count("buckets", buckets, low=0)
    texts = check_count("texts", texts, low=0)
    human = given_side("p", {"set": p, "features": p_features, "tokens": p_tokens, "text": p_text}, p_groups)
    names, job, inputs = open_several("compare", options, human, models, q_groups, aligned, common_rows, by)
    return score_with_each(featurizers, inputs, job, partial(_compare_one, names, buckets, texts), compare_together)


def compare_together(comparison: Comparison, sets: Sequence[Sequence[FeatureSet]], config: MauveConfig) -> Comparison:
    """Add the learned scores of one classifier of the features of all featurizers, their ranking and differences.

    Args:
        sets: by each featurizer the human texts and those of each model, in the order of the comparison.
        config: of the comparison.
    """
    joined = joined_sides(sets, config)
    pairs = [paired(joined[0], side) for side in joined[1:]]  # none where features cannot be joined
    learned_scores = _learned(
        {
            name: (score.learned_of(human, model, config), (human, model))
            for name, (human, model) in zip(comparison.models, pairs, strict=False)
        }
    )
    ranking, differences = _by_learned_score(learned_scores, config)
    models = {}
    for name, result in comparison.models.items():
        learned, codes = learned_scores.get(name, (None, None))
        each = {label: single.models[name] for label, single in comparison.by_featurizer.items()}
        models[name] = judged_together(result, each, learned, codes, config)
    ranked = ranked_by_closeness(models, config)
    return replace(comparison, models=models, together_ranking=ranking, together_differences=differences, **ranked)


def _compare_one(
    names: Sequence[str], buckets: int, texts: int, job: FeaturizeJob, inputs: Inputs, is_first: bool
) -> tuple[Comparison, list[FeatureSet]]:
    """The comparison of one featurizer, the first one's with buckets, and its features of all sets.

    job: featurizes, and has the options.
    """
    config, buckets = job.config, buckets if is_first else 0
    with job:
        read = read_sides(job, inputs)
        check_sides({inputs.sides[name].argument: side for name, (side, _) in read.items()})
        (human, human_texts), *reads = read.values()
        sides = [human, *(side for side, _ in reads)]
        dependent = with_dependence(sides, config.seed, independent=config.independent)
        comparison = compare_features(
            dependent[0],
            dict(zip(names, dependent[1:], strict=True)),
            config,
            run=job.run,
            readable=Readable.of([human_texts, *(read for _, read in reads)]) if buckets else None,
            buckets=buckets,
            texts=texts,
            subgroups=inputs.rows_of_subgroups({name: len(side) for name, (side, _) in read.items()}),
        )
        texts_of_sides = [human_texts, *(model_texts for _, model_texts in reads)]
        comparison = try_without_layout(comparison, dependent, texts_of_sides, job, inputs.prompts)
    return comparison, sides


def try_without_layout(
    comparison: Comparison,
    sides: Sequence[FeatureSet],
    texts: Sequence[Sequence[str] | None],
    job: FeaturizeJob,
    prompts: Sequence[str] = (),
) -> Comparison:
    """Add to each result the effect of layout that separates its sets.

    Args:
        sides: the human one first, with their groups. texts: of each side, as they were compared; None: not known.
        job, prompts: see `without_layout`.
    """
    if not any(map(needs_trial, comparison.models.values())):
        return comparison
    results = {}
    for (name, result), model_texts, side in zip(comparison.models.items(), texts[1:], sides[1:], strict=True):
        codes = pair_of_groups(*(side_in_pair.groups for side_in_pair in paired(sides[0], side)))
        results[name] = without_layout(result, [texts[0], model_texts], codes, job.config, job, prompts)
    return replace(comparison, models=results)


def compare_features(
    p: FeatureSet,
    models: Mapping[str, FeatureSet],
    config: MauveConfig,
    *,
    run: RunOptions | None = None,
    readable: Readable | None = None,
    buckets: int = 0,
    texts: int = 3,
    clustered: Clustered | None = None,
    watch: Callable[[str], None] | None = None,
    subgroups: Subgroups | None = None,
) -> Comparison:
    """Project and cluster all sets together, score each model against P, and compare the scores.

    Args:
        p, models: checked sides. config: may hold "auto". run: has the device and the checkpoint folder.
        readable: the texts of P and of the models in order, needed for buckets > 0.
        buckets, texts: see `compare`.
        clustered: the same sides in buckets; None: they are put there.
        watch: called with the name of each model before it is scored.
        subgroups: rows of the texts of each label; they are compared on buckets of their own.
    """
    run, subgroups = run or RunOptions(), subgroups or {}
    if clustered is None:
        common, every_row = _with_checkpoint(run, "common"), readable is not None
        clustered = cluster([p, *models.values()], config, common, every_row=every_row)
    (p, *sides), resolved, partition = clustered.sides, clustered.config, clustered.partition
    models = dict(zip(models, sides, strict=True))
    if subgroups and any(is_read_only_in_blocks(side.features) for side in clustered.sides):
        raise WrongOption.of("by", "needs features in memory, as an array")
    results: dict[str, MauveResult] = {}
    own_scores: dict[str, OwnScore] = {}
    explanations: dict[str, Explanation] = {}
    pairs = [clustered.pair(number) for number in range(1, len(clustered.sides))]
    named_pairs = [*zip(models, pairs, strict=True)]
    for number, (name, (human, model)) in enumerate(watched("compare", named_pairs, run.verbose, " models"), start=1):
        if watch is not None:
            watch(name)
        own_scores[name] = separate = _own_score(human, model, config, _with_checkpoint(run, f"model-{number}"))
        entries = {"partition": f"common to {', '.join(models)}", "model": name}
        learned = score.learned_of(human, model, resolved)
        result = score.score_buckets(human, model, partition, number, resolved, separate.p_value, learned, entries)
        results[name] = result
        if readable is not None and buckets:
            gap = explain_model(partition, number, result, resolved, readable, buckets=buckets, texts=texts)
            texts_of_pair, pair = readable.pair(0, number).texts, pair_of_groups(human.groups, model.groups)
            explanations[name] = explain_learned(gap, texts_of_pair, pair, resolved, texts)
    learned_scores = _learned(
        {name: (result.learned, pair) for (name, result), pair in zip(results.items(), pairs, strict=True)}
    )
    learned_ranking, learned_differences = _by_learned_score(learned_scores, resolved)
    on_common, alone = ({name: scores[name].mauve for name in models} for scores in (results, own_scores))
    return Comparison(
        models=results,
        own=own_scores,
        **ranked_by_closeness(results, resolved),
        confidence_level=resolved.confidence_level,
        design=p.design,
        warnings=(*comparison_warnings(models), *partition_warnings(on_common, alone)),
        signature_entries=_signature_entries(p, models, resolved),
        explanations=explanations,
        learned_ranking=learned_ranking,
        learned_differences=learned_differences,
        subgroups=tuple(recall_of_subgroups(partition.rows, [*models], subgroups, p.groups, resolved)),
        by_subgroup=_compare_subgroups(p, models, subgroups, config, run),
    )


def _compare_subgroups(
    p: FeatureSet, models: Mapping[str, FeatureSet], subgroups: Subgroups, config: MauveConfig, run: RunOptions
) -> dict[str, Comparison]:
    """The comparison of the texts of each label, of the models that have enough of them."""
    comparisons = {}
    for label, rows in subgroups.items():
        human, rows_of_models = enough_rows(models, rows)
        if human is not None and rows_of_models:
            sides = {name: models[name].of_rows(model_rows) for name, model_rows in rows_of_models.items()}
            comparisons[label] = compare_features(p.of_rows(human), sides, config, run=run)
    return comparisons


def _learned(
    scored: Mapping[str, tuple[Learned | None, tuple[FeatureSet, FeatureSet]]],
) -> dict[str, tuple[Learned, Groups]]:
    """The learned scores of the models that have one, with the codes of the groups of both sides."""
    return {name: (learned, codes_of(*pair)) for name, (learned, pair) in scored.items() if learned is not None}


def _by_learned_score(
    scored: Mapping[str, tuple[Learned, Groups]], config: MauveConfig
) -> tuple[tuple[str, ...], tuple[Difference, ...]]:
    """Models that have a learned score, in falling order of it, and the differences of all their pairs.

    Args:
        scored: the learned score of each, with the codes of the groups of both sides.
    """
    if not scored:
        return (), ()
    scores = {name: learned.mauve for name, (learned, _) in scored.items()}
    ranking = tuple(sorted(scores, key=lambda name: scores[name], reverse=True))
    learned, groups = [learned_score for learned_score, _ in scored.values()], [codes for _, codes in scored.values()]
    estimates, covariance = learned_estimates(learned, groups, config)
    by_name = dict(zip(scored, estimates, strict=True))
    return ranking, ranked_differences(by_name, scores, ranking, covariance, config.confidence_level)


def _signature_entries(p: FeatureSet, models: Mapping[str, FeatureSet], config: MauveConfig) -> dict[str, object]:
    """Signature entries of a comparison: number of texts and file of each model, and the options."""
    sizes = {_size_key(name): len(side) for name, side in models.items()}
    digests = {f"digest_{name}": side.digest for name, side in models.items()}
    more = {**sizes, **digests, "design": p.design}
    entries = human_entries(p, next(iter(models.values())), config, more)
    if len({side.origin for side in models.values()}) == 1:
        return entries
    entries.pop("q_texts", None)
    return {f"texts_{name}": side.origin for name, side in models.items() if side.origin is not None} | entries


def _size_key(name: str) -> str:
    """The signature's key for a model's number of texts: `n_` and its name, unless another entry has that key.

    >>> _size_key("gpt2"), _size_key("p"), _size_key("model_p")
    ('n_gpt2', 'n_model_p', 'n_model_model_p')
    """
    return f"n_model_{name}" if re.fullmatch("(model_)*[pq]", name) else f"n_{name}"


def ranked_by_closeness(results: Mapping[str, MauveResult], config: MauveConfig) -> dict[str, Any]:
    """The fields of a comparison on order and differences: by closeness, or by groups where it is near 0 for all.

    The errors of a difference are those of the sharpest partition of each model, and allow for shared human texts.
    """
    all_near_0 = all((result.closeness or 0.0) < NEAR_0 for result in results.values())
    ranked_by: Literal["closeness", "groups"] = "groups" if len(results) > 1 and all_near_0 else "closeness"
    bounds: dict[str, Bound] = {}
    estimates: dict[str, intervals.Estimate | None] = {}
    values: dict[str, float] = {}
    for name, result in results.items():
        candidates = [(bound, bound.estimates(config)) for bound in result.bounds]
        if ranked_by == "groups":
            candidates = [pair for pair in candidates if pair[0].kind == "groups"]
        bounds[name], lowest = min(
            candidates, key=lambda pair: (pair[1].mauve is None, pair[1].values[0] if pair[1].values else np.inf)
        )
        estimates[name], values[name] = lowest.mauve, lowest.values[0] if lowest.values else result.mauve
    ranking = tuple(sorted(results, key=lambda name: (values[name], _quality(results[name])), reverse=True))
    covariance = joint_covariance([*bounds.values()], [*estimates.values()], config.mauve_scaling_factor)
    differences = ranked_differences(estimates, values, ranking, covariance, config.confidence_level)
    smallest, needed = _forecasts(differences, results, config)
    return {
        "ranking": ranking,
        "ranked_by": ranked_by,
        "differences": differences,
        "smallest_difference": smallest,
        "texts_needed": needed,
    }


def _forecasts(
    differences: Sequence[Difference], results: Mapping[str, MauveResult], config: MauveConfig
) -> tuple[float | None, int | None]:
    """Return the smallest difference of the two best models that these sets would show, and texts a set to show theirs.

    With 80 % probability; None where a score has no interval. At 1 the score has no slope, so its delta-method error is
    0 there: for a model whose interval reaches 1, the difference is at least the width of that. Errors fall with the
    root of the number of texts.
    """
    best = differences[0] if differences else None
    if best is None or best.stderr is None:
        return None, None
    pair = results[best.a], results[best.b]
    smallest = forecast.detectable_difference(best.stderr, config.confidence_level)
    reaching_1 = [result.closeness_ci[0] for result in pair if result.closeness_ci and result.closeness_ci[1] >= 1]
    smallest = max(smallest, 1 - min(reaching_1, default=1.0))
    n = min(min(result.n_p, result.n_q) for result in pair)
    needed = n * (smallest / best.difference) ** 2 if best.difference else np.inf
    texts = max(round(needed), forecast.LEAST_TEXTS) if needed < forecast.MOST_TEXTS else None
    return min(smallest, 1.0), texts


def _with_checkpoint(run: RunOptions, job: str) -> RunOptions:
    """Options of one of several clusterings: its checkpoint is in a folder of its own."""
    return run if run.checkpoint is None else replace(run, checkpoint=Path(run.checkpoint) / job)


def _own_score(p: FeatureSet, q: FeatureSet, config: MauveConfig, run: RunOptions) -> OwnScore:
    """MAUVE of the pair on its own buckets; the signature is that of `compute_mauve`."""
    resolved = resolve_config(config, len(p), len(q))
    once = replace(resolved, knn=False, frechet_distance=False)
    few = 2 if config.permutations else 1
    result = score.score_features(p, q, once, run=run, clusterings=few, with_learned=False)
    signature = format_signature(signature_entries(p, q, resolved))
    return OwnScore(result.mauve, result.num_buckets, result.p_value, signature)


def _quality(result: MauveResult) -> tuple[float, float, float]:
    """Ranking key of a model: debiased MAUVE, then the debiased frontier integral, then MAUVE."""
    debiased, integral = result.mauve_debiased, result.frontier_integral_debiased
    return (
        result.mauve if debiased is None else debiased,
        -result.frontier_integral if integral is None else -integral,
        result.mauve,
    )


def ranked_differences(
    estimates: Mapping[str, intervals.Estimate | None],
    values: Mapping[str, float],
    ranking: Sequence[str],
    covariance: Floats,
    level: float,
) -> tuple[Difference, ...]:
    """Every pair in the order of the ranking, with Holm's correction over all that are tested.

    Args:
        estimates: by name; those of scores without an interval are None. covariance: in the order of the estimates.
    """
    names, pairs, tested = list(estimates), list(itertools.combinations(ranking, 2)), {}
    for a, b in pairs:
        i, j = names.index(a), names.index(b)
        estimate_a, estimate_b = estimates[a], estimates[b]
        if estimate_a is not None and estimate_b is not None:
            tested[a, b] = difference_of({i: estimate_a, j: estimate_b}, covariance, i, j, level)
    corrected = dict(zip(tested, holm([test.p_value for test in tested.values()]), strict=True))
    return tuple(
        Difference(a, b, test.value, test.ci, test.p_value, bool(corrected[a, b] < 1 - level), test.stderr)
        if (test := tested.get((a, b))) is not None
        else Difference(a, b, values[a] - values[b], None, None, False, None)
        for a, b in pairs
    )
