"""`Evaluation`: a human set and the sets of models on their way to scores; each stage is computed once."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mauve_metric.clustering.partition import Partition, partition_sets
from mauve_metric.clustering.quantizers import num_buckets_of, quantizer_options, scoring_options
from mauve_metric.features.dependence import codes_of, paired, with_dependence
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, InputSide
from mauve_metric.features.sides import By, Inputs, Subgroups, check_columns, check_same_encoder, open_sides
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import MauveConfig, ResolvedConfig, RunOptions, config_fields, options_of_stage
from mauve_metric.results.comparison import Comparison, OwnScore, Subgroup, comparable_without_layout
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_signature, groups_entry, human_entries, signature_entries
from mauve_metric.runtime.checks import wrong
from mauve_metric.runtime.errors import UnlikeFeatures, WrongOption
from mauve_metric.runtime.progress import watched
from mauve_metric.runtime.tensors import ProjectedRows, is_read_only_in_blocks
from mauve_metric.runtime.threads import Start, one_blas_thread, run_when_asked
from mauve_metric.scoring import score
from mauve_metric.scoring.gap import explain_buckets
from mauve_metric.scoring.phrases import Readable
from mauve_metric.scoring.ranking import ranked_by_closeness, ranked_by_learned_score
from mauve_metric.scoring.subgroups import config_of_subgroup, enough_rows, recall_of_subgroups
from mauve_metric.scoring.verdict import judged
from mauve_metric.scoring.without_layout import needs_trial, warning_of, without_layout
from mauve_metric.uncertainty.score_warnings import comparison_warnings, partition_warnings

logger = logging.getLogger(__name__)

KNN_AUTO_ROWS = 10_000  # rows per side up to which nearest neighbours take at most two seconds
FEW_TEXTS_FOR_RUNS = 1000  # below, the seed of the clustering moves the score almost as much as sampling does
RUNS_OF_FEW_TEXTS = 5
MOST_READ_TWICE = 10_000  # texts of a set that are scored once more in another reading
_KEPT_PARTITIONS = 4
_MOST_IN_ONE_THREAD = 2**18  # numbers of a set, whose projection and clustering take milliseconds


class Evaluation:
    """One way from texts to results: featurize, find dependent texts, cluster, score, compare, explain.

    A stage is computed when it is first asked for, and kept. `with_options` gives an evaluation of the same sets that
    takes over what the changed options do not concern. Use it as a context manager where texts are featurized, which
    closes the cache.

    Args:
        inputs: the sides, the human one first, then those of models, with their design.
        config: may hold "auto"; features that are given may determine what it says of the featurizer.
        run: has the device and the checkpoint folder.
        chosen: the names of the options that the caller gave.
        job: featurizes; None: one that loads the model when first needed.
        clusterings, every_row: see `partition_sets`.
        listed: whether the texts that are given beside features are read, one for each row.
        watch: called before a stage with its name, "featurize", "cluster", "score" or "try", and the number of the set.
        memory: of another evaluation, whose clusterings are used again where they would be the same.
    """

    def __init__(
        self,
        inputs: Inputs,
        config: MauveConfig,
        run: RunOptions | None = None,
        *,
        chosen: frozenset[str] = frozenset(),
        job: FeaturizeJob | None = None,
        clusterings: int | None = None,
        every_row: bool = False,
        listed: bool = False,
        watch: Callable[[str, int], object] | None = None,
        memory: dict[Any, tuple[object, Partition]] | None = None,
    ) -> None:
        self.inputs, self.config, self.run, self.chosen = inputs, config, run or RunOptions(), chosen
        self.job = FeaturizeJob(config, self.run, chosen) if job is None else job
        self.clusterings, self.every_row, self.listed = clusterings, every_row, listed
        self.memory = {} if memory is None else memory
        self.watch = watch or (lambda *_: None)
        self._read: dict[int, list[str]] = {}  # the texts of sides, by their number

    @classmethod
    def open(
        cls,
        verb: str,
        options: Mapping[str, Any],
        sides: Mapping[str, InputSide],
        aligned: object = False,
        *,
        common_rows: bool = False,
        by: By | None = None,
        listed: bool = False,
        every_row: bool = False,
    ) -> Evaluation:
        """Check what a public function was given, and read its files.

        Args:
            verb: the name of the function. options: of the caller. sides, aligned, common_rows, by: see `open_sides`.
            listed: whether texts are needed: streams are read into lists, and those given beside features too.
            every_row: see `partition_sets`.
        """
        config, run = scoring_options(options, verb)
        inputs = open_sides(sides, config, run, aligned, common_rows=common_rows, by=by)
        if "prompts" in str(config.strip) and inputs.prompts:
            run = replace(run, prompts=inputs.prompts)
        inputs = inputs.materialised() if listed else inputs
        return cls(inputs, config, run, chosen=frozenset(options), every_row=every_row, listed=listed)

    @classmethod
    def of_sets(
        cls,
        sets: Sequence[FeatureSet] | Mapping[str, FeatureSet],
        config: MauveConfig,
        run: RunOptions | None = None,
        **settings: Any,
    ) -> Evaluation:
        """The evaluation of features of checked sets.

        Args:
            sets: the human one and a model's; or by name, as `sides_of_models` names them. settings: of the class.
        """
        named = sets if isinstance(sets, Mapping) else dict(zip(("p_features", "q_features"), sets, strict=True))
        check_columns(named)
        inputs = Inputs({name: InputSide("set", name, features) for name, features in named.items()})
        evaluation = cls(inputs, config, run, **settings)
        evaluation.declared = [*named.values()]
        return evaluation

    def __enter__(self) -> Evaluation:
        return self

    def __exit__(self, *_: object) -> None:
        self.job.__exit__()

    def with_options(self, **changes: Any) -> Evaluation:
        """The evaluation of the same sets with other options, fields of `MauveConfig` or of `RunOptions`."""
        of_config = {name: value for name, value in changes.items() if name in config_fields()}
        of_run = {name: value for name, value in changes.items() if name not in of_config}
        config, run = replace(self.config, **of_config), replace(self.run, **of_run)
        settings = {name: getattr(self, name) for name in ("clusterings", "every_row", "listed", "watch", "memory")}
        chosen = self.chosen | {*changes}
        other = Evaluation(self.inputs, config, run, chosen=chosen, **settings)
        if "declared" in vars(self) and not {*of_config} & {*options_of_stage(config, "featurize")}:
            other.declared, other._read = self.declared, self._read
        return other

    # --- texts and features

    @property
    def names(self) -> list[str]:
        """The names of the models."""
        return [name.removeprefix("model ") for name in [*self.inputs.sides][1:]]

    @cached_property
    def declared(self) -> list[FeatureSet]:
        """The features of all sets, the human one first, with the groups that were declared.

        Raises:
            TypeError, ValueError, OSError, ImportError: as `compute_mauve`.
        """
        features: dict[str, FeatureSet] = {}
        for number, (name, side) in enumerate(self.job.prepared(self.inputs.sides).items()):
            self.watch("featurize", number)
            features[name] = self._with_texts_beside(self.job.side(side), number)
        sides = self.inputs.with_design(features)
        arguments = {side.argument: sides[name] for name, side in self.inputs.sides.items()}
        check_columns(arguments)
        human, *models = arguments.values()
        for name, features_of in arguments.items():
            if len(features_of) < 2 and models and "human" in self.inputs.sides:
                raise ValueError(f"{name} must hold at least 2 texts to be compared, got {len(features_of)}")
            for other in (human, *models[:1]) if features_of is not human else ():
                check_same_encoder(other.identity, features_of.identity)
        return [*sides.values()]

    def _with_texts_beside(self, features: FeatureSet, number: int) -> FeatureSet:
        """The features of a side, beside which texts may be given, one for each row."""
        side = [*self.inputs.sides.values()][number]
        if side.kind == "text" or side.beside is None:
            return features
        if not self.listed:
            logger.warning("%s is not read: the score is of %s", side.choices[-1], side.argument)
            return features
        source = self.job.source(side.choices[-1], side.beside)
        texts = self._read[number] = list(source.texts)
        if len(features) != len(texts):
            expected = f"must hold one text for each row of {side.argument}"
            raise UnlikeFeatures.of(side.choices[-1], f"{expected}, got {len(texts)} for {len(features)}")
        return replace(features, dropped=max(features.dropped, source.dropped))  # of the same texts

    @cached_property
    def texts(self) -> list[list[str] | None]:
        """The texts of each set as they are featurized, a list each; None for streams, and where none are given."""
        for number, side in enumerate(self.inputs.sides.values()):
            if side.kind == "text" and hasattr(side.content, "__len__"):
                self._read[number] = self.job.texts_of(side)
        return [self._read.get(number) for number in range(len(self.inputs.sides))]

    @cached_property
    def readable(self) -> Readable:
        """The texts of all sets and their phrases."""
        return Readable.of(self.texts)

    # --- groups and buckets

    @cached_property
    def sides(self) -> list[FeatureSet]:
        """The features of all sets, with the groups of texts that depend on each other."""
        return with_dependence(self.declared, self.config.seed, independent=self.config.independent)

    @property
    def divisible(self) -> list[FeatureSet]:
        """The features of all sets, to take parts of: pairs that were found are kept, since fewer texts show fewer.

        Repeats are looked for in each part.
        """
        return self.sides if any(side.design == "found" for side in self.sides) else self.declared

    @cached_property
    def resolved(self) -> ResolvedConfig:
        """The options with the values that "auto" and presets stand for."""
        return resolve_config(self.config, *map(len, self.sides))

    @cached_property
    def pairs(self) -> list[tuple[FeatureSet, FeatureSet]]:
        """The human side and that of each model, with the groups of their own comparison."""
        human, *models = self.sides
        return [paired(human, model) for model in models]

    @cached_property
    def partition(self) -> Partition:
        """The texts of all sets in buckets."""
        return self._partition()

    def _partition(
        self, on_projected: Callable[[Sequence[ProjectedRows]], object] | None = None, run: Start = run_when_asked
    ) -> Partition:
        """The same; on_projected, run: see `partition_sets`, where the texts are not in buckets yet."""
        rows, groups = [side.features for side in self.sides], [side.groups for side in self.sides]
        key = (
            self.clusterings,
            self.every_row,
            str(options_of_stage(self.resolved, "quantize")),
            *map(id, rows),
            *(None if codes is None else codes.tobytes() for codes in groups),
        )
        if key not in self.memory:
            self.watch("cluster", 0)
            settings: dict[str, Any] = {"clusterings": self.clusterings, "every_row": self.every_row}
            settings |= {"keys": [side.row_keys for side in self.sides], "on_projected": on_projected, "start": run}
            while len(self.memory) >= _KEPT_PARTITIONS:
                del self.memory[next(iter(self.memory))]
            few = max(math.prod(features.shape) for features in rows) <= _MOST_IN_ONE_THREAD
            with one_blas_thread() if few else nullcontext():
                partition = partition_sets(rows, self.resolved, self._run_of("common"), groups=groups, **settings)
            self.memory[key] = rows, partition  # the rows too, so that their numbers stay theirs
        return self.memory[key][1]

    def _run_of(self, part: str) -> RunOptions:
        """The run of one of several clusterings: its checkpoint is in a folder of its own."""
        run = self.run
        if run.checkpoint is None or "human" not in self.inputs.sides:
            return run
        return replace(run, checkpoint=Path(run.checkpoint) / part)

    # --- results

    def _neighbours(self, config: ResolvedConfig, run: Start) -> Callable[[], dict[str, Any]]:
        """Cluster the rows of both sides; their neighbours, which `run` starts before that where it can."""
        p, q = self.sides
        started: list[Callable[[], dict[str, Any]]] = []

        def start(rows: Sequence[ProjectedRows]) -> None:
            started.append(score.neighbours_of(p, q, rows, config, run))

        if "partition" not in vars(self):
            self.partition = self._partition(start, run)
        if not started:
            start(self.partition.rows)
        return started[0]

    def result(self) -> MauveResult:
        """The result of the only model, with what the layout that separates its set does to it."""
        p, q = self.sides
        with score.side_by_side_of(self.sides) as run:
            learned = run(score.learned_of, p, q, self.resolved, run)
            neighbours = self._neighbours(self.resolved, run)
            p_value = score.permutation_p_value(p, q, self.partition, self.resolved)
            self.watch("score", 1)
            scores = neighbours(), p_value, learned()
        result = score.score_buckets(p, q, self.partition, 1, self.resolved, *scores)
        result = self._without_layout(self._with_other_reading(result), p, q, 1)
        result = judged(result, self.resolved)
        return result.with_reference_name(self.run.reference_name)

    def _with_other_reading(self, result: MauveResult) -> MauveResult:
        """Add what closeness would be if the model's near-alike texts were answers to undeclared prompts."""
        warning, (p, q) = warning_of(result, "repeated_texts"), self.sides
        repetition = q.dependence and q.dependence.repetition
        if warning is None or repetition is None or max(len(p), len(q)) > MOST_READ_TWICE:
            return result
        codes = np.where(repetition.groups >= 0, repetition.groups, repetition.groups.max() + 1 + np.arange(len(q)))
        declared = [
            replace(side, groups=groups, dependence=None)
            for side, groups in ((p, codes.max() + 1 + np.arange(len(p))), (q, codes))
        ]
        other = Evaluation.of_sets(declared, replace(self.resolved, knn=False)).result()
        if other.closeness is None or other.closeness_ci is None:
            return result
        reading = (other.closeness, *other.closeness_ci)
        return replace(result, repeated_groups=warning.numbers["groups"], closeness_as_prompts=reading)

    def _without_layout(self, result: MauveResult, p: FeatureSet, q: FeatureSet, number: int) -> MauveResult:
        """The result of the model with this number, with the effect of layout that separates its sets."""
        if not needs_trial(result):
            return result
        self.watch("try", number)
        texts, codes = [self.texts[0], self.texts[number]], pair_of_groups(p.groups, q.groups)
        return without_layout(result, texts, codes, self.job.config, self.job, self.inputs.prompts)

    def _own_score(self) -> OwnScore:
        """MAUVE of the only model; the signature is that of `compute_mauve`."""
        (p, q), partition, resolved = self.sides, self.partition, self.resolved
        signature = format_signature(signature_entries(p, q, resolved))
        histograms = score.count_buckets(p, q, partition, 1, resolved)[0]
        mauve, ceiling = score.mauve_of(histograms, resolved), score.equal_sets(histograms, resolved).mean()
        p_value = score.permutation_p_value(p, q, partition, resolved)
        return OwnScore(mauve, resolved.num_buckets, p_value, signature, float(ceiling))

    @cached_property
    def _compared(self) -> Comparison:
        """The comparison of all models on common buckets, but with the neighbours of `compute_mauve`."""
        resolved, subgroups = self.resolved, self.subgroups
        if subgroups and any(is_read_only_in_blocks(side.features) for side in self.sides):
            raise WrongOption.of("by", "needs features in memory, as an array")
        results: dict[str, MauveResult] = {}
        own_scores: dict[str, OwnScore] = {}
        recalls, of_labels = list[Subgroup](), (subgroups, self.sides[0].groups, resolved)
        with score.side_by_side_of(self.sides) as run:
            learned_of_pairs = [run(score.learned_of, *pair, resolved, run) for pair in self.pairs]
            partition, names = self.partition, self.names
            parts = list(zip(names, self.pairs, learned_of_pairs, strict=True))
            for number, (name, (human, model), learned) in enumerate(
                watched("compare", parts, self.run.verbose, " models"), start=1
            ):
                self.watch("score", number)
                run_alone, clusterings = self._run_of(f"model-{number}"), 2 if self.config.permutations else 1
                alone = Evaluation.of_sets([human, model], self.config, run_alone, clusterings=clusterings)
                neighbours = alone._neighbours(resolved, run)
                own_scores[name] = alone._own_score()
                scores = neighbours(), own_scores[name].p_value, learned()
                entries = {"partition": f"common to {', '.join(names)}", "model": name}
                results[name] = score.score_buckets(human, model, partition, number, resolved, *scores, entries)
                recalls += recall_of_subgroups(alone.partition.rows, name, number, *of_labels)
        tried = list(zip(self.names, self.pairs, strict=True))
        verbose = self.run.verbose and any(map(needs_trial, results.values()))
        for number, (name, pair) in enumerate(watched("without layout", tried, verbose, " models"), start=1):
            result = judged(self._without_layout(results[name], *pair, number), resolved)
            results[name] = result.with_reference_name(self.run.reference_name)
        results = comparable_without_layout(results)
        p, models = self.sides[0], dict(zip(self.names, self.sides[1:], strict=True))
        learned_ranking, learned_differences = ranked_by_learned_score(
            {
                name: (result.learned, codes_of(*pair))
                for (name, result), pair in zip(results.items(), self.pairs, strict=True)
                if result.learned is not None
            },
            resolved,
        )
        on_both = {name: (results[name].mauve, own_scores[name].mauve) for name in models}
        return Comparison(
            models=results,
            own=own_scores,
            **ranked_by_closeness(results, resolved),
            confidence_level=resolved.confidence_level,
            design=p.design,
            warnings=(*comparison_warnings(models), *partition_warnings(on_both)),
            signature_entries=_signature_entries(p, models, resolved),
            explanations={},
            subgroups=tuple(recalls),
            learned_ranking=learned_ranking,
            learned_differences=learned_differences,
        )

    def comparison(self, buckets: int = 0, texts: int = 3) -> Comparison:
        """The comparison of all models on common buckets, and of the texts of each label on buckets of their own.

        Args:
            buckets: of each model's gap to explain. texts: of each side to show for one.

        Raises:
            ValueError: labels of features that are not in memory.
        """
        explained = {name: self.explanation(name, buckets, texts) for name in self.names} if buckets else {}
        return replace(self._compared, explanations=explained, by_subgroup=self._compare_subgroups(self.subgroups))

    @cached_property
    def subgroups(self) -> Subgroups:
        """The rows of the texts of each label, on each side."""
        return self.inputs.rows_of_subgroups(dict(zip(self.inputs.sides, map(len, self.declared), strict=True)))

    def _compare_subgroups(self, subgroups: Subgroups) -> dict[str, Comparison]:
        """The comparison of the texts of each label, of the models that have enough of them."""
        comparisons = {}
        all_human, *of_models = self.divisible
        models = dict(zip(self.names, of_models, strict=True))
        for label, rows in subgroups.items():
            human, rows_of_models = enough_rows(models, rows)
            if human is not None and rows_of_models:
                sides = {"human": all_human.of_rows(human)}
                sides |= {f"model {name}": models[name].of_rows(of_model) for name, of_model in rows_of_models.items()}
                config = config_of_subgroup(self.config, *sides.values())
                comparisons[label] = Evaluation.of_sets(sides, config, self.run).comparison()
        return comparisons

    def result_of(self, name: str) -> MauveResult:
        """The result of one model: on its own buckets where it is the only one, else as the comparison has it."""
        return self._only if len(self.names) == 1 else self._compared.models[name]

    @cached_property
    def _only(self) -> MauveResult:
        return self.result()

    def explanation(
        self,
        name: str,
        buckets: int | Sequence[int],
        texts: int,
        result: MauveResult | None = None,
        *,
        with_extremes: bool = True,
    ) -> Explanation:
        """The parts of a model's gap.

        Args:
            buckets: how many to describe, the largest first, or the numbers of those to describe.
            texts: of each side to show.
            result: of the model; None: see `result_of`.
            with_extremes: also the texts and n-grams by which the classifier separates its set.
        """
        number, subgroups = self.names.index(name) + 1, self.subgroups
        result = self.result_of(name) if result is None else result
        readable = self.readable.pair(0, number)
        described = readable, buckets, texts, subgroups
        return explain_buckets(self.partition, number, result, self.resolved, *described, with_extremes=with_extremes)


def resolve_config(config: MauveConfig, *sizes: int) -> ResolvedConfig:
    """Replace every "auto" and preset in the config by its value for sets of these sizes, P's first."""
    if isinstance(config, ResolvedConfig):
        num_buckets_of(config, *sizes)
        return config
    smaller = min(sizes)
    is_asked = config.knn is True or (config.knn == "auto" and config.knn_k != MauveConfig.knn_k)
    if is_asked and smaller <= config.knn_k:
        raise wrong("knn_k", f"below the number of texts of the smallest set, {smaller}", config.knn_k)
    runs = (RUNS_OF_FEW_TEXTS if smaller < FEW_TEXTS_FOR_RUNS else 1) if config.num_runs == "auto" else config.num_runs
    knn = max(sizes) <= KNN_AUTO_ROWS and smaller > config.knn_k if config.knn == "auto" else config.knn
    resolved = {"num_buckets": num_buckets_of(config, *sizes), "num_runs": runs, "knn": knn}
    resolved |= quantizer_options(config, *sizes)
    auto = frozenset(name for name in resolved if getattr(config, name) == "auto")
    return ResolvedConfig(**vars(config) | resolved, auto=auto)


def _signature_entries(p: FeatureSet, models: Mapping[str, FeatureSet], config: MauveConfig) -> dict[str, object]:
    """Signature entries of a comparison: number of texts and file of each model, and the options."""
    sizes = {_size_key(name): len(side) for name, side in models.items()}
    digests = {f"digest_{name}": side.digest for name, side in models.items()}
    more = {**sizes, **digests, "design": p.design, **groups_entry(p, *models.values())}
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
