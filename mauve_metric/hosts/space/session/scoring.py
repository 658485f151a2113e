"""Texts → features → results for the page: one encoder in memory, features that are kept, runs that can be stopped."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mauve_metric.features.encoder import Encoder, load_encoder
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, InputSide
from mauve_metric.features.sides import Inputs
from mauve_metric.features.text_functions import is_text_function
from mauve_metric.hosts.space.session.run import READ, Run, Speeds
from mauve_metric.inputs.sources import TextSource
from mauve_metric.options import (
    MauveConfig,
    RunOptions,
    config_fields,
    encoder_options,
    options_of_stage,
    page_fields,
)
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.devices import resolve_device
from mauve_metric.runtime.model_state import settings_kept
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.featurizers import add_pooled_score, compare_together, join_featurizers
from mauve_metric.scoring.phrases import Readable, telling_phrases

Featurizer = Callable[[list[str]], ArrayLike]
Kept = dict[tuple[object, ...], FeatureSet]  # features of texts, by the options that determine them and the texts
Prompts = tuple[Sequence[Hashable] | None, ...]  # of each set, the human one first; empty where none is shared

_KEPT_ENCODERS = 2
_KEPT_SETS = 40  # of a session, whose features are in memory: as given, and without their layout
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


@dataclass
class PageJob(FeaturizeJob):
    """A job that reads each list of texts once, and loads the model only for new ones.

    encoders: the models in memory. kept: the features of texts that were read, those used last at the end.
    """

    encoders: Encoders = field(kw_only=True)
    kept: Kept = field(kw_only=True)

    def load(self) -> Encoder:
        """See `FeaturizeJob.load`."""
        if self.encoder is None:
            self.encoder = self.encoders.get(self.config)
        return super().load()

    def of_texts(self, name: str, data: object, marks: bool = True) -> FeatureSet:
        """See `FeaturizeJob.of_texts`."""
        source = data if isinstance(data, TextSource) else self.source(name, data)
        key = self._key(data if isinstance(data, list) else source.texts, marks)
        features = self.kept.pop(key, None)
        if features is None:
            texts = data if isinstance(data, list) else replace(source, texts=list(key[-1]))
            features = super().of_texts(name, texts, marks)
        self.kept[key] = features
        return features

    def unread(self, sets: Sequence[list[str]]) -> list[list[str]]:
        """The sets whose features are not among those that are kept, all where they depend on each other."""
        if self.config.match_lengths == "truncate" and self.encoder is None:
            return list(sets)
        return [texts for texts in sets if self._key(texts) not in self.kept]

    def _key(self, texts: Any, marks: bool = True) -> tuple[Any, ...]:
        length = None if self.encoder is None else self.encoder.max_text_length
        matched = length if self.config.match_lengths == "truncate" else None
        return feature_key(self.config), matched, marks, tuple(texts)


def feature_key(config: MauveConfig) -> tuple[tuple[str, object], ...]:
    """The values of the options on which the features of given texts depend."""
    return tuple(options_of_stage(config, "featurize").items())


def stored_key(config: MauveConfig, texts: Sequence[str]) -> tuple[object, ...]:
    """The key of `Kept` for texts whose features do not depend on other sets."""
    return feature_key(config), None, True, tuple(texts)


def job_of(
    config: MauveConfig, encoders: Encoders, kept: Kept | None = None, options: Mapping[str, Any] | None = None
) -> PageJob:
    """The job that reads texts for a visitor; no text is stored on disk. options: may hold those of a run too."""
    latest = dict([*(kept or {}).items()][-_KEPT_SETS:])
    of_run = {name: value for name, value in (options or {}).items() if name in {*page_fields()} - {*config_fields()}}
    return PageJob(config, RunOptions(cache=False, **of_run), encoders=encoders, kept=latest)


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


def read(
    sets: Mapping[str, list[str]],
    names: Sequence[str],
    job: PageJob,
    run: Run,
    *,
    aligned: bool = False,
    prompts: Prompts = (),
    last: Scored | None = None,
) -> Evaluation:
    """Compute the features of all sets.

    Args:
        sets: the texts by what errors call them, the human ones first. names: of the models.
        job: reads the texts. run: progress and limits.
        aligned: see `compare`. prompts: of the texts of each set, the human one first, where some share prompts.
        last: its clusterings are used again where they would be the same.

    Raises:
        Cancelled: stopped. ValueError, TypeError, OSError, ImportError: as `compute_mauve`.
    """
    keys = ["human" if len(names) > 1 else "p", *(f"model {name}" for name in names)]
    groups = prompts if prompts and not aligned else [None] * len(sets)
    inputs = {
        key: InputSide("text", title, texts, groups=of_side)
        for key, (title, texts), of_side in zip(keys, sets.items(), groups, strict=True)
    }
    memory = None if last is None else last.evaluation.memory
    evaluation = Evaluation(
        Inputs(inputs, aligned, rules=str(job.config.strip)),
        job.config,
        job.run,
        job=job,
        every_row=True,
        memory=memory,
    )
    texts, config = list(sets.values()), job.config
    new = job.unread(texts)
    if new:
        run.stage(0.0, "loading the model")
        encoder = job.encoder = job.encoders.get(config)
        if encoder is not None:
            spend_tokens(encoder, new, run)
        tokens = math.inf if encoder is None else encoder.max_text_length
        job.progress = run.texts_done
        evaluation.watch = lambda _, number: run.begin_set(number) if texts[number] in new else None
        with job.encoders.speeds.reading(config.featurize_model_name, new, tokens, run):
            run.begin_reading([*map(len, texts)], sum(map(len, new)))
            evaluation.declared  # noqa: B018
    evaluation.declared  # noqa: B018
    return evaluation


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


@dataclass(frozen=True, kw_only=True)
class Scored(Outcome):
    """The result of one model or several against the human texts.

    evaluation: of one featurizer. results: of each model by its name, in order; of one model as `compute_mauve`.
    comparison: as `compare`; None for one model. each: with several featurizers, the results by their names, the first
    featurizer first.
    """

    evaluation: Evaluation
    each: Mapping[str, Scored] = field(default_factory=dict)

    @property
    def kept(self) -> Kept:
        """The features of the texts that were read."""
        job: Any = self.evaluation.job
        kept: Kept = job.kept
        return kept

    @property
    def aligned(self) -> bool:
        """True if row i of every set answers prompt i."""
        return self.evaluation.inputs.aligned

    def with_features_of(self, config: MauveConfig) -> Scored:
        """The result for the featurizer of a config, if there are several; else this one."""
        key = feature_key(config)
        return next((scored for scored in self.each.values() if feature_key(scored.evaluation.config) == key), self)

    def explain(self, name: str, buckets: int | Sequence[int] = 0, texts: int = 0) -> Explanation:
        """The parts of a model's gap."""
        return self.evaluation.explanation(name, buckets, texts, self.results[name], with_extremes=False)

    def explain_learned(self, name: str) -> Explanation:
        """The texts by which a classifier separates a model's set from the human one."""
        return self.evaluation.explanation(name, 0, REPORT_TEXTS, self.results[name])

    def phrases(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The phrases that tell the human texts from a model's, and the other way round."""
        return phrases_of_sides(self.evaluation.readable.pair(0, [*self.results].index(name) + 1))

    @cached_property
    def compared(self) -> Comparison:
        """The comparison, computed also for one model."""
        return self.comparison or self.evaluation.comparison()

    def for_report(self) -> Comparison:
        """The comparison with the largest parts of the gaps explained."""
        by_featurizer = {name: scored.compared for name, scored in self.each.items()}
        return replace(self.evaluation.comparison(REPORT_BUCKETS, REPORT_TEXTS), by_featurizer=by_featurizer)


def score(evaluation: Evaluation, run: Run | None = None) -> Scored:
    """Score one model as `compute_mauve` does, several as `compare` does; run: receives the progress."""
    run, names, job = run or Run(), evaluation.names, evaluation.job
    shares = np.linspace(SCORING, TRYING, len(names) + 1).tolist()

    def show(stage: str, number: int) -> None:
        if stage == "cluster":
            run.stage(READ[1], "clustering")
        elif stage == "score":
            run.stage(shares[number - 1], "scoring" if len(names) == 1 else f"scoring model {number} of {len(names)}")
        else:
            run.stage(TRYING, "trying the texts without their layout")

    run.stage(READ[1], "clustering")
    evaluation.watch, job.progress = show, lambda *_: show("try", 0)
    results = {name: evaluation.result_of(name) for name in names}
    comparison = None if len(names) == 1 else evaluation.comparison()
    evaluation.watch, job.progress, job.encoder = lambda *_: None, None, None
    return Scored(evaluation=evaluation, resolved=evaluation.resolved, results=results, comparison=comparison)


def with_all(each: Mapping[str, Scored]) -> Scored:
    """The result by the first of several featurizers, with the results by all of them."""
    first = next(iter(each.values()))
    if len(each) == 1:
        return first
    pairs = {name: (scored.result, scored.evaluation.declared) for name, scored in each.items()}
    config = first.evaluation.config
    if first.comparison is not None:
        comparison = join_featurizers(pairs, compare_together, config)
        return replace(first, results=comparison.models, comparison=comparison, each=each)
    joined = join_featurizers(pairs, add_pooled_score, config)
    return replace(first, results=dict.fromkeys(first.results, joined), each=each)


def phrases_of_sides(readable: Readable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The phrases that tell the texts of P from those of Q, and those that tell Q's from P's."""
    p, q = (
        np.arange(0 if texts is None else len(texts)) + start
        for texts, start in zip(readable.texts, readable.starts, strict=True)
    )
    table, skip = readable.table, readable.functional
    return telling_phrases(table, p, q, skip, _PHRASES), telling_phrases(table, q, p, skip, _PHRASES)
