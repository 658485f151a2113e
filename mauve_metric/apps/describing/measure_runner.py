"""The sets of a description in the forms that measures take, and one measure of all of them, with intervals."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mauve_metric.apps.decoder_settings import Decoder, describe_decoder
from mauve_metric.apps.describing.description import Described
from mauve_metric.apps.describing.distances.discriminators import TransferTable, transfer_table
from mauve_metric.apps.describing.distances.divergence_intervals import TEXTS_OF_ROUGH, chi_square
from mauve_metric.apps.describing.duplicates.near_duplicates import texts_of_one_origin
from mauve_metric.apps.describing.word_diversity.splitting import split_words
from mauve_metric.apps.lexical.tokens import NumberedTokens, number_tokens
from mauve_metric.arrays import Array, Floats, Integers, MeasuredValue
from mauve_metric.clustering.histograms import count_labels
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob
from mauve_metric.features.row_blocks import all_rows
from mauve_metric.features.sides import open_sides, side_of
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.measures.measure import Form, Measure
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.results.comparison import Comparison
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.errors import EXPECTED, USER_ERRORS, message_of
from mauve_metric.scoring.evaluation import Evaluation
from mauve_metric.scoring.subgroups import config_of_subgroup, enough_rows
from mauve_metric.uncertainty.mean_intervals import difference_interval, mean_interval
from mauve_metric.uncertainty.score_warnings import few_texts_a_bucket

if TYPE_CHECKING:
    from mauve_metric.apps.describing.likelihood.likelihoods import Likelihoods

logger = logging.getLogger(__name__)


@dataclass
class DescribedSet:
    """One set of texts in the forms that measures take."""

    name: str
    texts: list[str] | None
    side: FeatureSet | None = None
    groups: Integers | None = None  # codes of `measures.groups`
    tokenize: Callable[[str], Sequence[Hashable]] = split_words
    likely: Callable[..., Likelihoods] | None = None
    prompt_texts: list[str] | None = None
    prompt_features: Array | None = None
    of_decoders: dict[str, Likelihoods] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts) if self.texts is not None else len(self.side or ())

    @property
    def has_repeated_groups(self) -> bool:
        """True if several texts of the set have one prompt."""
        return self.groups is not None and len(np.unique(self.groups)) < len(self.groups)

    @property
    def answers_a_prompt(self) -> tuple[int, int] | None:
        """The fewest and the most texts of a prompt; None where all prompts have as many, or are not known."""
        if self.groups is None:
            return None
        counts = np.unique(self.groups, return_counts=True)[1]
        return None if counts.min() == counts.max() else (int(counts.min()), int(counts.max()))

    def form(self, form: Form) -> Any:
        """The set in the form that a measure takes."""
        return self.needed_texts() if form == "texts" else getattr(self, form)

    def needed_texts(self) -> list[str]:
        """The texts, or `ValueError`."""
        if self.texts is None:
            raise ValueError(f"it needs the texts of {self.name}, of which only features were given")
        return self.texts

    @property
    def prompts(self) -> list[Hashable]:
        """The group of each text."""
        return [] if self.groups is None else self.groups.tolist()

    @cached_property
    def tokens(self) -> NumberedTokens:
        """The tokens of each text."""
        return number_tokens([self.tokenize(text) for text in self.needed_texts()])

    def reference(self) -> FeatureSet:
        """The features with their origin, or `ValueError`."""
        if self.side is None:
            raise ValueError(f"it needs the features of {self.name}")
        return self.side

    @cached_property
    def features(self) -> Array:
        """The features, (n, d)."""
        return all_rows(self.reference().features)

    @cached_property
    def likelihoods(self) -> Likelihoods:
        """Likelihoods of the texts under the language model."""
        return self.decoded({})

    def decoded(self, decoder: Decoder) -> Likelihoods:
        """Likelihoods of the texts under the language model with a decoder."""
        if self.likely is None:
            raise ValueError("it needs a language model")
        words = describe_decoder(decoder)
        if words not in self.of_decoders:
            self.of_decoders[words] = self.likely(self.needed_texts(), **decoder)
        return self.of_decoders[words]

    @cached_property
    def continuations(self) -> Likelihoods:
        """Likelihoods of the texts' tokens after their prompts; a text that begins with its prompt holds it already."""
        from mauve_metric.apps.describing.likelihood.likelihoods import last_tokens

        if self.likely is None or self.prompt_texts is None:
            raise ValueError(f"it needs a language model, and the prompt of each text of {self.name}")
        whole = self.likely([*map(continued, self.prompt_texts, self.needed_texts())])
        different = list(dict.fromkeys(self.prompt_texts))
        before = dict(zip(different, self.likely(different).counts, strict=True))
        return last_tokens(whole, whole.counts - [before[prompt] for prompt in self.prompt_texts])

    def drawn(self, size: int, seed: int) -> DescribedSet:
        """A random sample of the texts in their order; the set itself if it is no larger."""
        if len(self) <= size:
            return self
        less = self.of_rows(np.sort(np.random.default_rng(seed).choice(len(self), size, replace=False)))
        less.groups = None
        return less

    def of_rows(self, chosen: Integers) -> DescribedSet:
        """The texts with these numbers, in this order."""
        texts = None if self.texts is None else [self.texts[row] for row in chosen]
        side = None if self.side is None else self.side.of_rows(chosen)
        groups = None if self.groups is None else self.groups[chosen]
        prompts = None if self.prompt_texts is None else [self.prompt_texts[row] for row in chosen]
        rows = None if self.prompt_features is None else self.prompt_features[chosen]
        less = replace(self, texts=texts, side=side, groups=groups, of_decoders={})
        less.prompt_texts, less.prompt_features = prompts, rows
        if "tokens" in vars(self):
            less.tokens = number_tokens([self.tokens[row] for row in chosen])
        return less


@dataclass
class DescribedSets:
    """The sets of a description, what their measures share, and the state of the work.

    human, models, training: the sets; training is None where none was given. config: of the features and scores.
    no_features: why the sets have none; empty where they have. decoders: of the models that have one.
    watch: called before each set is measured; what it raises ends the measure. before: called before each measure with
    its name, how many are done and how many there are in all; what it raises ends the work.
    compared: makes the comparison of the same sets under their config; None: it is made of their features.
    seconds, failed: of each measure its time, and the reason if it failed. comparison: holds the buckets.
    shared: results of which several measures are parts, by function and model.
    left_out: texts, or prompts, without a value, by measure and set.
    """

    human: DescribedSet
    models: dict[str, DescribedSet]
    training: DescribedSet | None
    config: MauveConfig
    run: RunOptions = field(default_factory=RunOptions)
    no_features: str = ""
    decoders: Mapping[str, Decoder] = field(default_factory=dict)
    watch: Callable[[], None] = lambda: None
    before: Callable[[str, int, int], None] | None = None
    compared: Callable[[], Comparison] | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict, init=False)
    comparison: Comparison | None = field(default=None, init=False)
    shared: dict[tuple[object, str], Any] = field(default_factory=dict, init=False)
    left_out: dict[str, dict[str, int]] = field(default_factory=dict, init=False)

    def of_rows(self, rows: Sequence[Integers | None]) -> DescribedSets | None:
        """The texts of one subgroup, of the models that have enough of them; None for too few human texts, or no model.

        rows: of the human texts and of each model; None for a set without labels.
        """
        human, some = enough_rows(self.models, rows)
        if human is None or not some:
            return None
        models = {name: self.models[name].of_rows(chosen) for name, chosen in some.items()}
        config = config_of_subgroup(self.config, human, *some.values())
        return replace(self, human=self.human.of_rows(human), models=models, config=config, seconds={})

    @property
    def smallest(self) -> int:
        """The size of the smallest set of the human texts and the models'."""
        return min(len(side) for side in (self.human, *self.models.values()))

    @contextlib.contextmanager
    def recorded(self, name: str) -> Iterator[None]:
        """Record the duration of a measure, and the reason if it fails."""
        start = time.perf_counter()
        try:
            yield
        except EXPECTED as error:
            self.failed[name] = message_of(error)
            if self.before is None:  # the callback shows progress itself; its log holds no words of texts
                logger.warning("%s is missing: %s", name, self.failed[name])
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def compare(self) -> None:
        """Make the comparison, which holds the scores and the buckets; record the reason if it fails."""
        with self.recorded("score"):
            if self.no_features:
                raise ValueError(self.no_features)
            if self.compared is not None:
                self.comparison = self.compared()
            else:
                models = {name: model.reference() for name, model in self.models.items()}
                sides = {"human": self.human.reference(), **{f"model {name}": side for name, side in models.items()}}
                self.comparison = Evaluation.of_sets(sides, self.config, self.run).comparison()

    def lacking(self, row: Measure) -> str:
        """The optional input of a measure that was not given, in words; empty if none."""
        needed, sides = row.inputs.given, (self.human, *self.models.values())
        if "prompts" in needed and not any(side.has_repeated_groups for side in sides):
            return "several texts of a prompt: give p_groups and q_groups (--prompt-field)"
        if "prompt texts" in needed and all(side.prompt_texts is None for side in sides):
            return "the prompts' texts: give p_groups and q_groups (--prompt-field)"
        if "a decoder" in needed and not self.decoders:
            return "the decoder of the models: give `decoder` (`--decoder`)"
        if "training" in needed and self.training is None:
            return "texts that the models were trained on: give `training` (`--training`)"
        return ""

    def measure(self, row: Measure) -> tuple[float | None, dict[str, Described]]:
        """Compute the human texts' value, where there is one, and that of each model."""
        level, entries = self.config.confidence_level, {}
        if lacking := self.lacking(row):
            raise ValueError(f"it needs {lacking}")
        if "features" in row.inputs.given and self.no_features:
            raise ValueError(self.no_features)
        if "a decoder" in row.inputs.given:
            for name, decoder in self.decoders.items():
                self.watch()
                values = np.asarray(row.compute(self.human.decoded(decoder)))
                entries[name] = entry_of(values, level, self.human.groups)
            return None, entries
        if row.inputs.sets > 1:
            return None, {name: self._of_both(row, name) for name in self.models}
        human, human_groups = self._of_one(row, self.human) or (None, None)
        for name, model in self.models.items():
            of_model = self._of_one(row, model)
            if of_model is not None:
                entries[name] = entry_of(of_model[0], level, of_model[1], human, human_groups)
        return None if human is None else float(np.mean(human)), entries

    def _of_one(self, row: Measure, side: DescribedSet) -> tuple[Floats, Integers | None] | None:
        """Values of a measure of one set and their groups; None if it lacks what it takes.

        The values are one number per text or prompt, or one for the set; a prompt has no group.
        """
        self.watch()
        if row.sizes_matter:
            side = side.drawn(self.smallest, self.config.seed)
        if "prompts" in row.inputs.forms and not side.has_repeated_groups:
            return None
        if "prompt texts" in row.inputs.given and side.prompt_texts is None:
            return None
        value = row.compute_on(side.form)
        values = np.atleast_1d(np.asarray(value.value if isinstance(value, MeasuredValue) else value, dtype=np.float64))
        if not len(values):
            raise ValueError("there is nothing to compute it on")
        if len(values) == 1 and np.isnan(values[0]):
            raise ValueError("it has no value for these texts")
        groups = None if "prompts" in row.inputs.forms or len(values) == 1 else side.groups
        return self._with_values(row, side.name, values, groups)

    def _with_values(
        self, row: Measure, name: str, values: Floats, groups: Integers | None
    ) -> tuple[Floats, Integers | None]:
        """Leave out NaN, with its groups; `ValueError` if the measure may not, or nothing would remain."""
        lacking = np.isnan(values)
        count = int(lacking.sum())
        if count and (not row.leaves_out or count == len(values)):
            raise ValueError(f"{count} texts have no value")
        if count:
            self.left_out.setdefault(row.title, {})[name] = count
        return values[~lacking], None if groups is None else groups[~lacking]

    def _of_both(self, row: Measure, name: str) -> Described:
        """The entry of a measure of two sets, with the reason for a missing interval if it is few texts a bucket."""
        self.watch()
        model, human = self.models[name], self.human
        if "histograms" in row.inputs.forms:
            return self._of_buckets(row, name)
        if row.sizes_matter and not row.grouped:
            model, human = (side.drawn(self.smallest, self.config.seed) for side in (model, human))
        options: dict[str, Any] = {"seed": self.config.seed, "level": self.config.confidence_level}
        if row.grouped and "texts" in row.inputs.forms:
            have_prompts = human.groups is not None and model.groups is not None
            options["prompts"] = (human.prompts, model.prompts) if have_prompts else None
        elif row.grouped:
            options |= _groups_of_folds({"groups_p": human, "groups_q": model}) or {}
        pair = pair_of_groups(human.groups, model.groups) if row.designed else None
        options |= {} if pair is None else {"groups": pair}
        third = [self.training.form] if row.inputs.sets == 3 and self.training is not None else []
        key = row.compute, name
        if not row.part or key not in self.shared:
            self.shared[key] = row._replace(part="").compute_on(human.form, model.form, *third, **options)
        measured = getattr(self.shared[key], row.part) if row.part else self.shared[key]
        if isinstance(measured, MeasuredValue):
            return Described(float(measured.value), None, measured.ci, measured.p_value)
        return Described(float(measured))

    def _of_buckets(self, row: Measure, name: str) -> Described:
        """The entry of a measure of the histograms of the human texts and a model's."""
        if self.comparison is None:
            raise ValueError(self.failed.get("score", "there are no buckets"))
        result = self.comparison.models[name]
        groups = self.human.groups, self.models[name].groups
        counts = count_labels(result.p_labels, result.q_labels, result.num_buckets, *groups)
        grouped = {} if counts.groups is None else {"groups": counts.groups}
        measured: MeasuredValue = row.compute(
            counts.p_counts, counts.q_counts, level=self.config.confidence_level, **grouped
        )
        few = measured.ci is None and few_texts_a_bucket(counts.p_counts, counts.q_counts, TEXTS_OF_ROUGH)
        reason = "none: few texts a bucket" if few and row.compute is not chi_square else ""
        return Described(float(measured.value), None, measured.ci, measured.p_value, reason)

    def transfer(self) -> TransferTable:
        """The discriminators of the features, each trained on one model's texts and tested on every model's."""
        groups = _groups_of_folds({"human": self.human, **self.models})
        features = {name: model.features for name, model in self.models.items()}
        return transfer_table(
            self.human.features, features, seed=self.config.seed, level=self.config.confidence_level, groups=groups
        )


def _groups_of_folds(sets: Mapping[str, DescribedSet]) -> dict[str, list[Hashable]] | None:
    """Groups of texts that must stay in one fold: copies, and answers to one prompt; None where neither is known."""
    groups: list[Hashable] | None = None
    if all(side.groups is not None for side in sets.values()):
        groups = [code for side in sets.values() for code in side.prompts]
    if all(side.texts is not None for side in sets.values()):
        groups = texts_of_one_origin([text for side in sets.values() for text in side.needed_texts()], groups).tolist()
    if groups is None:
        return None
    remaining = iter(groups)
    return {name: [*itertools.islice(remaining, len(side))] for name, side in sets.items()}


def entry_of(
    values: Floats,
    level: float,
    groups: Integers | None,
    human: Floats | None = None,
    human_groups: Integers | None = None,
) -> Described:
    """A model's value and its interval; where the human texts have values, the difference and its interval."""
    value = float(values.mean())
    if human is None:
        return Described(value, None, mean_interval(values, level, groups) if len(values) > 1 else None)
    several = len(values) > 1 and len(human) > 1
    ci = difference_interval(values, human, level, groups, human_groups) if several else None
    return Described(value, value - float(human.mean()), ci)


def tokenizing(tokenizer: object) -> Callable[[str], Sequence[Hashable]]:
    """The function from a text to its tokens; an unexpected error of a tokenizer is a `ValueError` of its measures."""
    if tokenizer is None:
        return split_words
    if isinstance(tokenizer, str):
        from mauve_metric.features.pretrained import load_tokenizer

        tokenizer = load_tokenizer(tokenizer)
    encode = getattr(tokenizer, "encode", None)
    if encode is not None:
        call = partial(encode, add_special_tokens=False)
    elif callable(tokenizer):
        call = partial(tokenizer)
    else:
        expected = "a name, a folder, a tokenizer or a function from a text to tokens"
        raise TypeError(f"tokenizer must be {expected}, got {shown(tokenizer)}")

    def tokens_of(text: str) -> Sequence[Hashable]:
        try:
            made = call(text)
        except USER_ERRORS:
            raise
        except Exception as error:
            raise ValueError(f"the tokenizer failed: {message_of(error)}") from error
        return _tokens_of(made) if encode is None else made

    return tokens_of


def _tokens_of(value: object) -> Sequence[Hashable]:
    """The tokens that a tokenizer of the caller returned, as a list; `TypeError` if they are none."""
    if isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping):
        tokens = list(value)
        if all(isinstance(token, Hashable) for token in tokens):
            return tokens
    raise TypeError(f"tokenizer must return a list of tokens for a text, got {shown(value)}")


def read_sets(
    evaluation: Evaluation,
    with_features: bool,
    tokenize: Callable[[str], Sequence[Hashable]],
    likely: Callable[..., Likelihoods],
) -> tuple[list[DescribedSet], str]:
    """Read all sets; return them, and the reason where texts cannot be featurized, else an empty one.

    Args:
        tokenize, likely: functions of texts that the sets call later.

    Raises:
        TypeError, ValueError, OSError, ImportError: invalid texts or features.
    """
    inputs, job, missing = evaluation.inputs, evaluation.job, ""
    features: Sequence[FeatureSet | None] = ()
    try:
        features = evaluation.declared if with_features else ()
    except EXPECTED as error:
        if not inputs.are_texts:
            raise
        missing = f"the texts have no features: {message_of(error)}"
    if not features:
        prepared = job.prepared(inputs.sides).values()
        features = [None if side.kind == "text" else job.side(side) for side in prepared]
    read = dict(zip(inputs.sides, zip(features, evaluation.texts, strict=True), strict=True))
    sizes = {name: len(form) for name, sides in read.items() for form in sides if form is not None}
    codes, prompts = inputs.codes(sizes) or {}, inputs.prompt_texts(sizes)
    sets = [
        DescribedSet(name, texts, side, codes.get(name), tokenize=tokenize, likely=likely, prompt_texts=prompts[name])
        for name, (side, texts) in read.items()
    ]
    return sets, missing


def continued(prompt: str, text: str) -> str:
    """A text after its prompt, with a blank between them where neither has one.

    >>> continued("Once upon", "a time"), continued("Once upon", "Once upon a time")
    ('Once upon a time', 'Once upon a time')
    """
    if text.startswith(prompt):
        return text
    return prompt + " " * (not prompt[-1:].isspace() and not text[:1].isspace()) + text


def read_prompts(sets: Collection[DescribedSet], job: FeaturizeJob) -> None:
    """Featurize the prompts of the sets that have some, each prompt once."""
    for side in sets:
        if side.prompt_texts is not None:
            rows = {prompt: row for row, prompt in enumerate(dict.fromkeys(side.prompt_texts))}
            features = all_rows(job.of_texts("prompts", list(rows)).features)
            side.prompt_features = features[[rows[prompt] for prompt in side.prompt_texts]]


def read_training(training: object, job: FeaturizeJob, with_features: bool) -> DescribedSet:
    """The training set: its texts, and its features when a measure needs them."""
    (side,) = open_sides({"training": side_of("training", training)}, job.config, job.run).sides.values()
    texts = job.texts_of(side) if side.kind == "text" else None
    if not with_features:
        return DescribedSet("training", texts)
    return DescribedSet("training", texts, job.side(side if texts is None else side.with_texts(texts)))
