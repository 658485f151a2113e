"""Texts → features → results for the page: one encoder in memory, stored features, runs that can be stopped."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.clustering.partition import Partition
from mauve_metric.features.dependence import paired, with_dependence
from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, InputSide
from mauve_metric.features.sides import Inputs, check_columns
from mauve_metric.features.text_functions import is_text_function
from mauve_metric.hosts.space.session.run import READ, Run, Speeds
from mauve_metric.inputs.sources import TextSource
from mauve_metric.inputs.stripping import Stripping
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import (
    MauveConfig,
    ResolvedConfig,
    RunOptions,
    config_fields,
    encoder_options,
    options_of_stage,
)
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.devices import resolve_device
from mauve_metric.runtime.model_state import settings_kept
from mauve_metric.scoring.compare import compare_features, compare_together, try_without_layout
from mauve_metric.scoring.compute import add_pooled_score, join_featurizers, score_with_trial
from mauve_metric.scoring.explain import explain_learned, explain_model
from mauve_metric.scoring.opening import check_sides
from mauve_metric.scoring.phrases import Readable, telling_phrases
from mauve_metric.scoring.pipeline import Clustered, cluster, resolve_config

Featurizer = Callable[[list[str]], ArrayLike]
Prompts = tuple[Sequence[Hashable] | None, ...]  # of each set, the human one first; empty where none is shared

_KEPT_ENCODERS = 2
_KEPT_TRIALS = 32  # sets of texts without their layout, of a session
_PHRASES = 24  # that tell one set from the other
_COUNTED_TOGETHER = 256  # texts that are tokenized at a time when tokens are counted
SCORING, TRYING = 0.9, 0.95  # shares of a run that are done when the scores and the trials begin
REPORT_BUCKETS, REPORT_TEXTS = 5, 3  # of a model's gap, and texts of each side of one, in the report


class Encoders:
    """The encoders in memory, least recently used dropped first; one run at a time uses them (see `Turns`).

    Args:
        functions: featurizers that are functions from texts to an array, by the name under which they are offered.
    """

    def __init__(self, functions: Mapping[str, Featurizer] | None = None) -> None:
        self.functions = dict(functions or {})
        self.speeds = Speeds()
        self._kept: dict[tuple[object, ...], Encoder] = {}

    def config(self, options: Mapping[str, object]) -> MauveConfig:
        """The config of a visitor's options; the name of a function is replaced by the function."""
        name = str(options["featurize_model_name"])
        values: dict[str, Any] = {option: value for option, value in options.items() if option in config_fields()}
        values["featurize_model_name"] = self.functions.get(name, name)  # checked there
        return MauveConfig(**values)

    def get(self, config: MauveConfig) -> Encoder | None:
        """The encoder of a config, loaded once; None for a function."""
        name = config.featurize_model_name
        if not isinstance(name, str) or is_text_function(name):
            return None
        options = encoder_options(config)
        key = name, *options.values()
        encoder = self._kept.pop(key, None)
        if encoder is None:
            while len(self._kept) >= _KEPT_ENCODERS:
                del self._kept[next(iter(self._kept))]
            encoder = load_encoder(name, device=resolve_device(), **options)
        self._kept[key] = encoder
        return encoder


@dataclass(frozen=True)
class Embedded:
    """Features of the human set and of the models' sets, the options that determine them, and the given texts.

    sets, texts: the human one first. without_layout: features of texts without their layout, which were tried.
    """

    key: tuple[tuple[str, object], ...]
    sets: tuple[FeatureSet, ...]
    texts: tuple[list[str], ...]
    without_layout: dict[tuple[str, ...], FeatureSet] = field(default_factory=dict, compare=False, repr=False)

    def fits(self, texts: Sequence[list[str]], config: MauveConfig) -> bool:
        """Return whether the same texts under this config would have the same features."""
        return self.key == feature_key(config) and self.texts == tuple(texts)

    def features_of(self, texts: list[str], config: MauveConfig) -> FeatureSet | None:
        """The stored features of one set; None if there are none or they depend on the other sets."""
        if self.key != feature_key(config) or config.match_lengths == "truncate":
            return None
        return next((side for side, old in zip(self.sets, self.texts, strict=True) if old == texts), None)

    def kept(self, number: int) -> list[str]:
        """The texts behind the rows of a set: stripped, and without the empty ones."""
        return kept_texts(self.texts[number], str(dict(self.key)["strip"]))

    @cached_property
    def readable(self) -> Readable:
        """The texts and their phrases."""
        return Readable.of([self.kept(number) for number in range(len(self.texts))])


@dataclass
class TrialJob(FeaturizeJob):
    """A job that reads texts without their layout, each once, and loads the model only for new ones."""

    encoders: Encoders = field(kw_only=True)
    tried: dict[tuple[str, ...], FeatureSet] = field(kw_only=True)

    def load(self) -> Encoder:
        """See `FeaturizeJob.load`."""
        self.encoder = self.encoders.get(self.config)
        return super().load()

    def of_texts(self, name: str, data: object) -> FeatureSet:
        """See `FeaturizeJob.of_texts`."""
        if self.progress is not None:
            self.progress(name, 0, None)
        source = data if isinstance(data, TextSource) else self.source(name, data)
        texts = tuple(source.texts)
        if texts not in self.tried:
            self.tried[texts] = super().of_texts(name, replace(source, texts=list(texts)))
        return self.tried[texts]


def unread(texts: Sequence[list[str]], config: MauveConfig, kept: Embedded | None) -> list[list[str]]:
    """The sets whose features under this config are not among those that are kept."""
    if kept is None:
        return list(texts)
    if kept.fits(texts, config):
        return []
    return [part for part in texts if kept.features_of(part, config) is None]


def kept_texts(texts: Sequence[str], strip: str) -> list[str]:
    """Apply `strip` to texts and drop the empty ones."""
    return [text for text in Stripping(strip).each(texts) if text.strip()]


def embed(
    sets: Mapping[str, list[str]],
    config: MauveConfig,
    encoders: Encoders,
    run: Run,
    last: Embedded | None = None,
) -> Embedded:
    """Compute the features of all sets; no text is stored on disk.

    Args:
        sets: the texts by what errors call them, the human ones first.
        config, encoders, run: options, models in memory, progress and limits.
        last: features that may be used again.

    Raises:
        Cancelled: stopped. ValueError, TypeError, OSError, ImportError: as `compute_mauve`.
    """
    texts = list(sets.values())
    if last is not None and last.fits(texts, config):
        return last
    run.stage(0.0, "loading the model")
    encoder, new = encoders.get(config), unread(texts, config, last)
    if encoder is not None:
        spend_tokens(encoder, new, run)
    sides = {name: InputSide("text", name, part) for name, part in sets.items()}
    read: list[FeatureSet] = []
    with FeaturizeJob(config, RunOptions(cache=False), encoder=encoder, progress=run.texts_done) as job:
        if config.match_lengths == "truncate":
            sides = job.matched(sides)
        tokens = math.inf if encoder is None else encoder.max_text_length
        with encoders.speeds.reading(config.featurize_model_name, new, tokens, run):
            run.begin_reading([len(side.content) for side in sides.values()], sum(map(len, new)))
            for number, (side, part) in enumerate(zip(sides.values(), texts, strict=True)):
                features = None if last is None else last.features_of(part, config)
                if features is None:
                    run.begin_set(number)
                    features = job.of_texts(side.argument, side.content)
                read.append(features)
    check_columns(dict(zip(sets, read, strict=True)))
    tried = {} if last is None else dict([*last.without_layout.items()][-_KEPT_TRIALS:])
    return Embedded(feature_key(config), tuple(read), tuple(texts), tried)


def spend_tokens(encoder: Encoder, sets: Sequence[Sequence[object]], run: Run) -> None:
    """Count the tokens of all sets before any is read; items that are no texts are refused later."""
    prefix = encoder.text_prefix
    texts = [prefix + text.encode(errors="replace").decode() for part in sets for text in part if isinstance(text, str)]
    options = {"padding": False, "return_attention_mask": False, "return_token_type_ids": False, "verbose": False}
    for start in range(0, len(texts), _COUNTED_TOGETHER):
        with settings_kept(encoder.tokenizer):
            some = texts[start : start + _COUNTED_TOGETHER]
            ids = encoder.tokenizer(some, truncation=True, max_length=encoder.max_text_length, **options)["input_ids"]
        run.spend(sum(map(len, ids)))


def feature_key(config: MauveConfig) -> tuple[tuple[str, object], ...]:
    """The values of the options on which the features of given texts depend."""
    return tuple(options_of_stage(config, "featurize").items())


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The results of the models by their names, the comparison of several, and the options without "auto"."""

    results: dict[str, MauveResult]
    comparison: Comparison | None
    resolved: MauveConfig

    @property
    def result(self) -> Any:
        """The comparison, or the result of the only model."""
        return self.comparison or next(iter(self.results.values()))

    @property
    def best_first(self) -> list[str]:
        """The models' names, in the order of the ranking."""
        return list(self.results if self.comparison is None else self.comparison.ranking)


@dataclass(frozen=True)
class Scored(Outcome):
    """The result of one model or several against the human texts.

    grouped: the sets of `embedded`, with their declared groups. sides: with all groups. config: as given. resolved:
    without "auto". job: tries texts without their layout. results: of each model by its name, in order; of one model as
    `compute_mauve`. comparison: as `compare`; None for one model. each: with several featurizers, the results by their
    names, the first featurizer first.
    """

    embedded: Embedded
    grouped: list[FeatureSet]
    sides: list[FeatureSet]
    config: MauveConfig
    resolved: ResolvedConfig = field(kw_only=True)
    job: TrialJob
    partition: Partition
    aligned: bool = False
    each: Mapping[str, Scored] = field(default_factory=dict)

    def with_features_of(self, config: MauveConfig) -> Scored:
        """The result for the featurizer of a config, if there are several; else this one."""
        same = (scored for scored in self.each.values() if scored.embedded.key == feature_key(config))
        return next(same, self)

    def explain(self, name: str, buckets: int | Sequence[int] = 0, texts: int = 0) -> Explanation:
        """The parts of a model's gap, see `explain_model`."""
        number = [*self.results].index(name) + 1
        readable = self.embedded.readable
        result = self.results[name]
        return explain_model(self.partition, number, result, self.resolved, readable, buckets=buckets, texts=texts)

    def explain_learned(self, name: str) -> Explanation:
        """Explain how a classifier separates a model's texts from the human ones, see `explain_learned`."""
        if name not in self._explanations:
            number = [*self.results].index(name) + 1
            texts = self.embedded.readable.pair(0, number).texts
            human, model = paired(self.sides[0], self.sides[number])
            groups = pair_of_groups(human.groups, model.groups)
            self._explanations[name] = explain_learned(
                self.explain(name), texts, groups, self.resolved, REPORT_TEXTS, self.job
            )
        return self._explanations[name]

    def phrases(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The phrases that tell the human texts from a model's, and the other way round."""
        return phrases_of_sides(self.embedded.readable.pair(0, [*self.results].index(name) + 1))

    @cached_property
    def _explanations(self) -> dict[str, Explanation]:
        return {}

    @cached_property
    def compared(self) -> Comparison:
        """The comparison, computed also for one model."""
        return self.comparison or self._compare()

    def for_report(self) -> Comparison:
        """The comparison with the largest parts of the gaps explained."""
        by_featurizer = {name: scored.compared for name, scored in self.each.items()}
        comparison = try_without_layout(self._compare(self.embedded.readable), self.sides, self._texts, self.job)
        return replace(comparison, by_featurizer=by_featurizer)

    @property
    def _texts(self) -> list[list[str]]:
        return [*map(self.embedded.kept, range(len(self.sides)))]

    def _compare(self, readable: Readable | None = None) -> Comparison:
        return compare_features(
            self.sides[0],
            dict(zip(self.results, self.sides[1:], strict=True)),
            self.config,
            readable=readable,
            buckets=REPORT_BUCKETS,
            texts=REPORT_TEXTS,
            clustered=Clustered(self.sides, self.resolved, self.partition),
        )


def score(
    embedded: Embedded,
    names: Mapping[str, str],
    config: MauveConfig,
    encoders: Encoders,
    *,
    aligned: bool = False,
    prompts: Prompts = (),
    last: Scored | None = None,
    run: Run | None = None,
) -> Scored:
    """Score one model as `compute_mauve` does, several as `compare` does.

    Args:
        embedded: the features.
        names: of the models, mapped to their titles in errors.
        config: of the scores. encoders: read texts without their layout.
        aligned: see `compare`. prompts: of the texts of each set, the human one first, where some share prompts.
        last: its clustering is reused where it would be the same.
        run: receives the progress.
    """
    run = run or Run()
    grouped = _with_groups(embedded, names.values(), aligned, prompts)
    sides = with_dependence(grouped, config.seed, independent=config.independent)
    run.stage(READ[1], "clustering")
    resolved = resolve_config(config, *map(len, sides))
    if last is not None and last.embedded is embedded and _clusters_alike(last, sides, resolved):
        clustered = Clustered(sides, resolved, last.partition)
    else:
        clustered = cluster(sides, resolved, every_row=True)
    run.stage(SCORING, "scoring")
    job = TrialJob(config, RunOptions(cache=False), encoders=encoders, tried=embedded.without_layout)
    trying = replace(job, progress=lambda *_: run.stage(TRYING, "trying the texts without their layout"))
    texts = [*map(embedded.kept, range(len(sides)))]
    comparison: Comparison | None = None
    if len(names) == 1:
        results = {next(iter(names)): score_with_trial(clustered, lambda: texts, trying)}
    else:
        titles, shares = dict(zip(names.values(), sides[1:], strict=True)), np.linspace(SCORING, TRYING, len(names) + 1)
        check_sides({"the human texts": sides[0]} | titles)
        messages = {
            name: (share, f"scoring model {number} of {len(names)}")
            for number, (name, share) in enumerate(zip(names, shares.tolist(), strict=False), start=1)
        }
        models = dict(zip(names, sides[1:], strict=True))
        comparison = compare_features(
            sides[0], models, config, clustered=clustered, watch=lambda name: run.stage(*messages[name])
        )
        comparison = try_without_layout(comparison, sides, texts, trying)
        results = dict(comparison.models)
    return Scored(
        embedded=embedded,
        grouped=grouped,
        sides=sides,
        config=config,
        job=job,
        partition=clustered.partition,
        aligned=aligned,
        resolved=resolved,
        results=results,
        comparison=comparison,
    )


def _with_groups(embedded: Embedded, names: Iterable[str], aligned: bool, prompts: Prompts) -> list[FeatureSet]:
    """The sets, the human one first, with the number of each row as its group if aligned, else with its prompt."""
    sides = dict(zip(["human", *names], embedded.sets, strict=True))
    if not aligned and not any(prompts):
        return list(embedded.sets)
    groups = [None] * len(sides) if aligned else prompts
    inputs = {
        name: InputSide("text", name, texts, groups=of_side)
        for name, texts, of_side in zip(sides, embedded.texts, groups, strict=True)
    }
    return list(Inputs(inputs, aligned).with_groups(sides).values())


def with_all(each: Mapping[str, Scored]) -> Scored:
    """The result by the first of several featurizers, with the results by all of them."""
    first = next(iter(each.values()))
    if len(each) == 1:
        return first
    pairs = {name: (scored.result, scored.grouped) for name, scored in each.items()}
    if first.comparison is not None:
        comparison = join_featurizers(pairs, compare_together, first.config)
        return replace(first, results=comparison.models, comparison=comparison, each=each)
    return replace(
        first, results=dict.fromkeys(first.results, join_featurizers(pairs, add_pooled_score, first.config)), each=each
    )


def _clusters_alike(last: Scored, sides: Sequence[FeatureSet], config: MauveConfig) -> bool:
    """Return whether the last clustering is of the same groups of texts, under the same options."""
    same = all(np.array_equal(a.groups, b.groups) for a, b in zip(last.sides, sides, strict=True))  # type: ignore[arg-type]
    return same and options_of_stage(last.resolved, "quantize") == options_of_stage(config, "quantize")


def phrases_of_sides(readable: Readable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The phrases that tell the texts of P from those of Q, and those that tell Q's from P's."""
    p, q = (
        np.arange(0 if texts is None else len(texts)) + start
        for texts, start in zip(readable.texts, readable.starts, strict=True)
    )
    table, skip = readable.table, readable.functional
    return telling_phrases(table, p, q, skip, _PHRASES), telling_phrases(table, q, p, skip, _PHRASES)
