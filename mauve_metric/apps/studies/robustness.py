"""Stability of a ranking of models under other settings, and the factors that change it."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from mauve_metric.apps.studies import robustness_settings as plans
from mauve_metric.apps.studies.robustness_result import DEFAULT, DESIGN, Robustness, Setting, SettingScore
from mauve_metric.arrays import FeatureData, Integers, TextData
from mauve_metric.clustering.quantizers import quantizer_options
from mauve_metric.features.encoder import Encoder
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, given_side
from mauve_metric.features.featurize import estimated_seconds
from mauve_metric.features.sides import sides_of_models
from mauve_metric.features.text_functions import is_text_function
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import Featurizer, MauveConfig, Options, config_fields, with_options
from mauve_metric.results.comparison import comparable_without_layout
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import human_entries
from mauve_metric.runtime.checks import check_bool, shown
from mauve_metric.runtime.errors import EXPECTED, message_of
from mauve_metric.runtime.plain_text import duration
from mauve_metric.runtime.progress import watched
from mauve_metric.scoring.evaluation import Evaluation, resolve_config
from mauve_metric.scoring.ranking import ranked_by_closeness
from mauve_metric.scoring.score import learned_of, neighbours_of, score_buckets
from mauve_metric.scoring.verdict import judged
from mauve_metric.scoring.without_layout import needs_trial, with_effect_of, without_layout
from mauve_metric.uncertainty.learned_score import Learned

logger = logging.getLogger(__name__)
_Key = tuple[tuple[str, object], ...]


@with_options()
def robustness(
    p_text: TextData | TextFile | None = None,
    models: Mapping[str, FeatureData | FeatureSet | TextFile | str] | None = None,
    *,
    p_features: FeatureData | None = None,
    p: FeatureSet | None = None,
    featurizers: Sequence[Featurizer] = (),
    vary: str | Sequence[str] | None = None,
    design: bool = True,
    aligned: bool = False,
    p_groups: Sequence[Hashable] | None = None,
    q_groups: Mapping[str, Sequence[Hashable]] | None = None,
    common_rows: bool = False,
    **options: Unpack[Options],
) -> Robustness:
    """Rank models under many settings; report if the ranking holds and which factor changes each difference.

    Each setting ranks by closeness, without the layout that differs where that is known, and tests differences as
    `compare` does. The options make the default setting. From
    it each factor is changed alone, and then about half of them at once in the twelve settings of a small design (see
    `robustness_settings.small_design`). Features are computed once for each featurizer, pooling and length. What takes
    the time, and how long, is logged before it starts.

    Args:
        p_text, p_features, p: the human side, as in `compare`. models: likewise, two at least. With features instead of
            texts, featurizer, pooling and length cannot be varied.
        featurizers: to try: names, folders, (model, tokenizer) pairs or functions; featurize_model_name comes before
            them if it is given too. One that cannot be loaded is named in `failed`, and the others still run; the
            first that can is the default.
        vary: factors, joined by commas or a list: featurize_model_name, pooling, max_text_length, quantizer,
            num_buckets, mauve_scaling_factor, seed, n (random halves and quarters of the texts), row_order, knn_k (the
            neighbour of precision and recall, which every setting then has). None: all but knn_k.
        design: whether to try the small design too.
        aligned, p_groups, q_groups, common_rows: see `compare`.
        **options: see `compute_mauve`.

    Returns:
        A `Robustness`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compare`; ValueError too for fewer than two models, sets of
            fewer than 20 texts, and an unknown factor.

    >>> rng = np.random.default_rng(0)
    >>> human, good, bad = (rng.normal(shift, 1, size=(100, 8)) for shift in (0, 0.1, 2))
    >>> result = robustness(p_features=human, models={"bad": bad, "good": good}, vary="seed", design=False)
    >>> result.holds, result.ranking, [pair.verdict for pair in result.pairs]
    (True, ('good', 'bad'), ['holds'])
    """
    start = time.perf_counter()
    check_bool("design", design)
    factors = plans.chosen_factors(vary)
    human = given_side("p", {"set": p, "features": p_features, "text": p_text}, p_groups)
    sides = sides_of_models(human, models, q_groups)
    evaluation = Evaluation.open("robustness", options, sides, aligned, common_rows=common_rows, listed=True)
    if len(evaluation.names) < 2:
        raise ValueError(f"models must hold at least two models to be ranked, got {len(evaluation.names)}")
    work = _Work(evaluation, plans.NEIGHBOURS in factors)
    tried = _featurizers(featurizers, evaluation.config, factors, "featurize_model_name" in options)
    result = work.analyse(tried, factors, design)
    return replace(result, seconds=time.perf_counter() - start)


def _featurizers(
    featurizers: Sequence[Featurizer], config: MauveConfig, factors: Sequence[str], asked: bool
) -> list[Featurizer]:
    """The default's featurizer and the others, each once; the packaged ones if none is given.

    asked: True if the user named the default's.
    """
    if isinstance(featurizers, str) or not isinstance(featurizers, (list, tuple)):
        raise TypeError(f"featurizers must be a list of featurizers, got {shown(featurizers, 80)}")
    check = config_fields()["featurize_model_name"].metadata["check"]
    others = [check("featurizers", featurizer) for featurizer in featurizers] or ["minilm", "ngrams"]
    chosen: list[Featurizer] = [config.featurize_model_name] if asked or not featurizers else []
    for featurizer in others if "featurize_model_name" in factors or featurizers else []:
        if not any(featurizer is other or featurizer == other for other in chosen):
            chosen.append(featurizer)
    return chosen


def _rows_of_part(sides: Sequence[FeatureSet], part: plans.Level | None) -> list[Integers]:
    """The rows of a random part of every set; sets of one size keep the same rows.

    Texts of one group, of all sets, are all in the part or all left out.
    """
    if not isinstance(part, plans.SetPart):
        return [np.arange(len(side)) for side in sides]
    kept = [plans.part_rows(len(side), part) for side in sides]
    codes = [side.groups for side in sides if side.groups is not None]
    if codes:
        groups = np.unique(np.concatenate(codes))
        chosen = groups[plans.part_rows(len(groups), part)]
        kept = [np.flatnonzero(np.isin(of_side, chosen)) for of_side in codes]
    return kept


@dataclass
class _Work:
    """State of an analysis while it is computed.

    evaluation: has the options. neighbours: whether precision and recall are computed. sets: see `_featurize`. failed:
    featurizers and settings that failed, with the reason. default: the buckets of the default setting. learned: the
    scores of each model's classifier, which do not depend on those buckets. tried: results with the effect of the
    layout that differs, which does not either.
    """

    evaluation: Evaluation
    neighbours: bool = False
    sets: dict[_Key, tuple[Sequence[FeatureSet], Sequence[FeatureSet]]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    default: Evaluation | None = None
    learned: dict[_Key, Sequence[Learned | None]] = field(default_factory=dict)
    tried: dict[tuple[_Key, str], MauveResult] = field(default_factory=dict)

    def analyse(self, featurizers: Sequence[Featurizer], factors: Sequence[str], design: bool) -> Robustness:
        """Compute all settings, the default first; name those that fail."""
        base = self._base(featurizers)
        levels_of, left_out, small_design = plans.planned(base, factors, design)
        tried: list[tuple[str, str, plans.Changes]] = [
            (plans.setting_name({factor: level}), factor, {factor: level})
            for factor, levels in levels_of.items()
            for level in levels
        ]
        times = Counter(_key(changes) for changes in small_design)
        planned = {(), *(_key(changes) for _, _, changes in tried)}
        of_design = {_key(changes): changes for changes in small_design if _key(changes) not in planned}
        tried += [
            (f"{DESIGN} {number}: {plans.setting_name(changes)}", DESIGN, changes)
            for number, changes in enumerate(of_design.values(), start=1)
        ]
        start = time.perf_counter()
        default = self._setting(base, DEFAULT, DEFAULT, {}, None, times[()])
        self._announce(base, levels_of, left_out, [changes for _, _, changes in tried], time.perf_counter() - start)
        settings = [default]
        for name, factor, changes in watched("settings", tried, self.evaluation.run.verbose, " settings"):
            try:
                settings.append(self._setting(base, name, factor, changes, default, times[_key(changes)]))
            except Exception as error:
                self._note(name, error)
        sides, _ = self._featurize(base.config)
        entries = human_entries(sides[0], sides[1], base.config)
        return Robustness(tuple(settings), self.failed, left_out, 0.0, base.config.confidence_level, entries)

    def _base(self, featurizers: Sequence[Featurizer]) -> plans.Base:
        """The default setting: its featurizer is the first that can be loaded."""
        has_texts, first_config = self.evaluation.inputs.are_texts, self.evaluation.config
        for number, featurizer in enumerate(featurizers):
            config = replace(first_config, featurize_model_name=featurizer)
            try:
                sides, _ = self._featurize(config)
                break
            except Exception as error:
                if not has_texts or number == len(featurizers) - 1:
                    raise
                self._note(plans.setting_name({"featurize_model_name": featurizer}), error)
        titles = "the human set", *(f"model {name}" for name in self.evaluation.names)
        for name, side in zip(titles, sides, strict=True):
            if len(side) < plans.LEAST_OF_A_SET:
                raise ValueError(
                    f"{name} must hold at least {plans.LEAST_OF_A_SET} texts to vary settings, got {len(side)}"
                )
        identity, lengths, sizes = sides[0].identity or {}, sides[0].lengths, tuple(map(len, sides))
        median_length = None if lengths is None else float(np.median(lengths))
        resolved = replace(resolve_config(config, *sizes), knn=self.neighbours)
        others, auto_buckets = tuple(featurizers[number + 1 :]), first_config.num_buckets == "auto"
        by_size = tuple(quantizer_options(config, *sizes))
        return plans.Base(resolved, sizes, identity, median_length, has_texts, others, auto_buckets, by_size)

    def _note(self, name: str, error: BaseException) -> None:
        self.failed[name] = message_of(error)
        logger.warning("%s is missing: %s", name, self.failed[name])

    def _featurize(self, config: MauveConfig) -> tuple[Sequence[FeatureSet], Sequence[FeatureSet]]:
        """All sides, and those that parts are taken of, computed once for a featurizer, pooling and length."""
        key = _key({name: getattr(config, name) for name in plans.OF_TEXTS})
        if key not in self.sets:
            text_options = plans.OF_TEXTS if self.evaluation.inputs.are_texts else ()
            changes = {name: getattr(config, name) for name in (*text_options, "seed")}
            with self.evaluation.with_options(**changes) as evaluation:
                self.sets[key] = evaluation.sides, evaluation.divisible
        return self.sets[key]

    def _announce(
        self,
        base: plans.Base,
        levels: Mapping[str, Sequence[plans.Level]],
        left_out: Mapping[str, str],
        tried: Sequence[plans.Changes],
        each: float,
    ) -> None:
        """Log the plan and its estimated duration, from the seconds that one setting takes; functions take none."""
        of_texts = [{name: changes[name] for name in plans.OF_TEXTS if name in changes} for changes in tried]
        ways = {plans.setting_name(changes): changes for changes in of_texts if changes}
        lengths = [side.lengths for side in self._featurize(base.config)[0] if side.lengths is not None]
        seconds, models = len(tried) * each, dict[str, Encoder]()
        for config in (plans.changed(base, changes) for changes in ways.values()):
            name = plans.level_name(config.featurize_model_name)
            if is_text_function(config.featurize_model_name):
                continue
            with contextlib.suppress(*EXPECTED), FeaturizeJob(config, self.evaluation.run) as job:
                tokens = sum(float(np.minimum(of_side, config.max_text_length or np.inf).sum()) for of_side in lengths)
                models[name] = models[name] if name in models else job.load()
                seconds += estimated_seconds(models[name], tokens)
        what = "%d more settings of %d models, texts featurized in %d more ways: about %s, less what is in the cache"
        logger.info(what, len(tried), len(self.evaluation.names), len(ways), duration(seconds))
        for level in set(levels.get("quantizer", ())) - {plans.KMEANS}:
            logger.info("quantizer=%s may take longer than that: what it needs to train is not counted", level)
        for name, reason in left_out.items():
            logger.info("%s is not varied: %s", name, reason)

    def _setting(
        self, base: plans.Base, name: str, factor: str, changes: plans.Changes, default: Setting | None, in_design: int
    ) -> Setting:
        """The models under one setting."""
        config = plans.changed(base, changes)
        part, divisible = self._featurize(config)
        rows = _rows_of_part(part, changes.get("n"))
        if "n" in changes:
            part = [side.of_rows(of_side) for side, of_side in zip(divisible, rows, strict=True)]
        evaluation = self._clustered(part, config, changes)
        sides, config = evaluation.sides, evaluation.resolved
        key = _key({name: level for name, level in changes.items() if name not in plans.OF_BUCKETS})
        if key not in self.learned:
            self.learned[key] = [learned_of(human, model, config) for human, model in evaluation.pairs]
        results = {
            name: score_buckets(
                *(human, model, evaluation.partition, number, config),
                neighbours_of(human, model, [evaluation.partition.rows[at] for at in (0, number)], config)(),
                learned=learned,
            )
            for number, (name, (human, model), learned) in enumerate(
                zip(evaluation.names, evaluation.pairs, self.learned[key], strict=True), start=1
            )
        }
        results = self._without_layout(key, results, evaluation, rows)
        ranked = ranked_by_closeness(results, config)
        ranking = ranked["ranking"]
        of_models = {
            model: SettingScore(
                rank=rank,
                closeness=result.closeness,
                ci=result.closeness_ci,
                closeness_without_layout=result.closeness_without_layout,
                closeness_without_layout_ci=result.closeness_without_layout_ci,
                differs_by_layout=result.verdict_reason == "layout",
                mauve_debiased=result.mauve_debiased,
                mauve=result.mauve,
                precision=result.precision,
                recall=result.recall,
            )
            for rank, (model, result) in enumerate(((model, results[model]) for model in ranking), start=1)
        }
        tau = 1.0
        if default is not None:
            from scipy.stats import kendalltau

            places = [of_models[model].rank for model in default.ranking]
            tau = float(kendalltau(range(len(places)), places).statistic)
        return Setting(
            name=name,
            factor=factor,
            changes={name: plans.level_name(level) for name, level in changes.items()},
            num_buckets=config.num_buckets,
            texts=min(map(len, sides)),
            ranking=ranking,
            ranked_by=ranked["ranked_by"],
            models=of_models,
            differences=ranked["differences"],
            tau=tau,
            in_design=in_design,
        )

    def _without_layout(
        self, key: _Key, results: Mapping[str, MauveResult], evaluation: Evaluation, rows: Sequence[Integers]
    ) -> dict[str, MauveResult]:
        """The results with the effect of the layout that separates their sets, tried once for each classifier."""
        config, tried = evaluation.resolved, dict(results)
        for number, (name, result) in enumerate(results.items(), start=1):
            if (key, name) in self.tried:
                tried[name] = with_effect_of(self.tried[key, name], result)
            elif needs_trial(result):
                human, model = evaluation.pairs[number - 1]
                texts = [self._texts_of(side, rows[side]) for side in (0, number)]
                codes, prompts = pair_of_groups(human.groups, model.groups), self.evaluation.inputs.prompts
                with FeaturizeJob(config, self.evaluation.run, self.evaluation.chosen) as job:
                    tried[name] = without_layout(result, texts, codes, config, job, prompts)
                self.tried[key, name] = tried[name]
        return comparable_without_layout({name: judged(result, config) for name, result in tried.items()})

    def _texts_of(self, side: int, rows: Integers) -> list[str] | None:
        """The texts of some rows of a side; None where features are given without texts."""
        texts = self.evaluation.texts[side]
        return None if texts is None else [texts[row] for row in rows]

    def _clustered(self, sides: Sequence[FeatureSet], config: MauveConfig, changes: plans.Changes) -> Evaluation:
        """The evaluation of the sets; the scaling factor and the neighbour change no buckets."""
        if self.default is not None and set(changes) <= plans.SAME_BUCKETS:
            return self.default.with_options(**{name: getattr(config, name) for name in changes})
        named = dict(zip(self.evaluation.inputs.sides, sides, strict=True))
        quiet = replace(self.evaluation.run, verbose=False, checkpoint=None)
        evaluation = Evaluation.of_sets(named, config, quiet)
        self.default = self.default or evaluation
        return evaluation


def _key(changes: Mapping[str, object]) -> _Key:
    """Cache key of these values; models and functions are compared by identity, not by name."""
    return tuple(
        (name, changes[name] if isinstance(changes[name], (str, int, float, plans.SetPart)) else id(changes[name]))
        for name in plans.FACTORS
        if name in changes
    )
