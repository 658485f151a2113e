"""Scores of a model's texts against the same human ones, whose features are kept, and the values that are logged."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mauve_metric.apps.generation.decoding import Generation, token_ids
from mauve_metric.apps.generation.writer import WritingModel
from mauve_metric.apps.lexical import diversity
from mauve_metric.apps.lexical.tokens import Tokens
from mauve_metric.clustering.quantizers import scoring_options
from mauve_metric.features.encoder import Encoder
from mauve_metric.features.feature_files import is_feature_file
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, check_featurizer, given_side
from mauve_metric.features.text_functions import is_text_function
from mauve_metric.inputs.file_types import read_endings
from mauve_metric.inputs.files import read_texts
from mauve_metric.inputs.sources import text_source
from mauve_metric.options import Options
from mauve_metric.results.result import MauveResult, WrittenText
from mauve_metric.runtime.errors import UnlikeFeatures, WrongOption
from mauve_metric.runtime.model_state import release_memory
from mauve_metric.scoring.evaluation import Evaluation as Score
from mauve_metric.scoring.score import log_warnings

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)
_warnings_of_scores = logging.getLogger("mauve_metric.scoring.score")

PromptGroups = tuple[Sequence[Hashable] | None, Sequence[Hashable | None] | None]
SELF = "self"  # the name of the featurizer that is the model itself
DISTINCT_N = 4
LOGGED_SCORES = (
    "closeness",
    "closeness_ci_low",
    "closeness_ci_high",
    "verdict",
    "mauve",
    "mauve_debiased",
    "mauve_debiased_stderr",
    "mauve_classifier",
    "auc",
    "precision",
    "recall",
    "frontier_integral",
)
_LEFT_OUT = ("precision", "recall")  # where they are not computed, such as with `knn=False`
STATISTICS = ("repetition", f"distinct_{DISTINCT_N}", "mean_length")
COUNTS = ("mauve_empty", "mauve_failed")


class ReferenceScorer:
    """The human side of all evaluations of a model, and the featurizer.

    Args:
        options: those of `compute_mauve`; `featurize_model_name` may be "self": the model that writes.

    Attributes:
        human: the human texts, None where a `FeatureSet` was given. dropped: how many empty ones were left out of them.
        reference: their features, once they are known.

    Raises:
        TypeError, ValueError: an option is not what it should be.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.config, self.run = scoring_options(options)
        check_featurizer(self.config, self.run)
        if self.config.independent:
            raise WrongOption.of("independent", "must be left out: the prompts say which texts depend on each other")
        if "prompts" in str(self.config.strip).split(","):
            raise WrongOption.of("strip", "must be without 'prompts': include_prompt says whether they are scored")
        self.itself = self.config.featurize_model_name == SELF
        self.reference: FeatureSet | None = None
        self.human: list[str] | None = None
        self.dropped = 0
        self._encoder: Encoder | None = None
        self._warned: set[object] = set()  # the codes of the warnings that were shown

    def __len__(self) -> int:
        return len(self.reference) if self.reference is not None else len(self.human or ())

    def set_references(self, references: Iterable[object] | FeatureSet | str | Path | None) -> None:
        """Take the human side: texts, a `FeatureSet`, or a file of either; None if they are those of a dataset.

        Raises:
            OSError: there is no such file. TypeError, ValueError: it is not what it should be, or does not fit the
            options.
        """
        if self.itself:
            logger.warning(
                "featurize_model_name='self': the texts are judged by the model that wrote them, whose features change "
                "as it learns, so that its scores compare neither over time nor with those of others"
            )
        if isinstance(references, (str, Path)):
            is_texts = Path(references).suffix.lower() in read_endings() or Path(references).is_dir()
            if is_texts and not is_feature_file(references):
                references = read_texts(references, self.run.text_field, side="reference")
            else:
                references = FeatureSet.load(references)
        if isinstance(references, FeatureSet):
            option = "featurize_model_name='self'" if self.itself else f"match_lengths={self.config.match_lengths!r}"
            if self.itself or self.config.match_lengths != "no":
                raise ValueError(f"{option} needs the references as texts, got a FeatureSet")
            job = FeaturizeJob(self.config, self.run, given=frozenset(self.options))
            job.follow(references)
            job.check_asked()
            other, identity = job.made_otherwise(references), references.identity or {}
            if "revision" in identity and not is_text_function(self.config.featurize_model_name):
                other.pop("featurize_model_name", None)  # a model may have two names
            if other:
                options = ", ".join(f"{name}={value!r}" for name, value in other.items())
                made = f"are features made by {identity.get('model')} in another way than {options}"
                raise UnlikeFeatures.of("references", f"{made}: leave these out, or give the texts")
            self.reference = references
        elif references is not None:
            source = text_source(
                "references", references, text_field=self.run.text_field, empty_texts=self.config.empty_texts
            )
            self.human, self.dropped = list(source.texts), source.dropped

    def score(
        self, writing: WritingModel, texts: list[str], dropped: int, seconds: dict[str, float], groups: PromptGroups
    ) -> tuple[MauveResult, Sequence[FeatureSet]]:
        """The score of a model's texts, and the features of both sides with their groups.

        Args:
            given: has the model that wrote them, which is the featurizer if the options say "self".
            texts: without empty ones. dropped: how many were empty.
            seconds: where the time of "featurize" and "score" is added.
            groups: the prompt of each human text, and of each of these texts; see `compute_mauve`.
        """
        matched = self.config.match_lengths != "no"  # to a length that depends on both sets: nothing can be kept
        started = time.perf_counter()
        with self.featurizing(writing) as job:
            p = q = None
            if matched:
                changes = Options(verbose=job.run.verbose, cache=job.run.cache, distributed=False)
                if job.run.device_id is None:
                    changes["device"] = job.run.device
            else:
                p = self.embedded(job)
                job.follow(p)
                q = job.of_texts("q_text", texts)
                q = replace(q, dropped=q.dropped + dropped)
                changes = Options(checkpoint=None, score_device=None)  # the features are there, and in memory
            featurized = time.perf_counter()
            changes["featurize_model_name"] = job.config.featurize_model_name
            options: Options = {**self.options, **changes}
            sides = {
                "p": given_side("p", {"set": p, "text": self.human}, groups[0]),
                "q": given_side("q", {"set": q, "text": texts}, groups[1]),
            }
            scoring = Score.open("compute_mauve", options, sides, listed=True)
            if not matched:
                scoring.job = job  # which may have to read the texts once more, without their layout
            _warnings_of_scores.addFilter(self._is_new)
            try:
                with scoring:
                    result, sets = scoring.result(), scoring.declared
                log_warnings(result)
            finally:
                _warnings_of_scores.removeFilter(self._is_new)
        seconds["featurize"] += featurized - started
        seconds["featurize" if matched else "score"] += time.perf_counter() - featurized
        return result, sets

    def _is_new(self, record: logging.LogRecord) -> bool:
        """Pass the first warning of each code: every evaluation of a training would repeat it."""
        code = record.args[0] if isinstance(record.args, tuple) and record.args else record.msg
        is_new = code not in self._warned
        self._warned.add(code)
        return is_new

    @contextlib.contextmanager
    def featurizing(self, writing: WritingModel) -> Iterator[FeaturizeJob]:
        """A job with the encoder of the last one, which waits in the host's memory in between."""
        config, run = self.config, replace(self.run, distributed=False, verbose=writing.verbose)
        if run.device is None and run.device_id is None:
            run = replace(run, device=str(getattr(writing.model, "device", "cpu")))
        if self.itself:
            config, run = replace(config, featurize_model_name=writing[:2]), replace(run, cache=False)
        encoder = None if self.itself else self._encoder
        job = FeaturizeJob(config, run, given=frozenset(self.options), encoder=encoder)
        if self.reference is not None and not self.itself:
            job.follow(self.reference)
        if job.encoder is not None and job.encoder.device != str(job.encoder.model.device):
            job.encoder.model.to(job.encoder.device)
        try:
            with job:
                yield job
        finally:
            owned = not self.itself and not isinstance(job.config.featurize_model_name, tuple)
            if owned and job.encoder is not None:
                self._encoder = job.encoder
                if not job.encoder.device.startswith("cpu"):
                    job.encoder.model.to("cpu")
                    release_memory()

    def embedded(self, job: FeaturizeJob) -> FeatureSet:
        """The references' features, computed once (each time if the model itself is the featurizer)."""
        if self.reference is None or self.itself:
            reference = job.of_texts("references", self.human)
            self.reference = replace(reference, dropped=reference.dropped + self.dropped)
        return self.reference


@dataclass(frozen=True)
class Evaluation:
    """Result of one evaluation of a model.

    result: the scores, None if there are none. statistics: of the continuations. written: every text, and decoder: how
    they were decoded, in words. empty: continuations without a word. failed: prompts without a text. error: why there
    is no result. seconds: of "generate", "featurize" and "score".
    """

    result: MauveResult | None
    statistics: dict[str, float] = field(default_factory=dict)
    written: tuple[WrittenText, ...] = ()
    decoder: str = ""
    empty: int = 0
    failed: int = 0
    error: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """The prompt of each text and what was written behind it."""
        return tuple((text.prompt, text.continuation) for text in self.written)

    def without_texts(self) -> Evaluation:
        """The same numbers without the texts, for a long training."""
        result = self.result
        if result is not None:
            others = {name: replace(other, texts=()) for name, other in result.by_featurizer.items()}
            result = replace(result, texts=(), by_featurizer=others)
        return replace(self, result=result, written=())


def continuation_statistics(
    tokenizer: PreTrainedTokenizerBase | None, written: Sequence[Generation]
) -> dict[str, float]:
    """Repetition, distinct n-grams and mean length in tokens, or in words where no tokenizer is known."""
    tokens: Sequence[Tokens] = [generation.ids for generation in written if generation.ids is not None]
    if len(tokens) < len(written):
        texts = [generation.continuation for generation in written]
        tokens = [text.split() for text in texts] if tokenizer is None else token_ids(tokenizer, texts, special=False)
    return {
        "repetition": diversity.repetition(tokens),
        f"distinct_{DISTINCT_N}": diversity.distinct_n(tokens, DISTINCT_N),
        "mean_length": diversity.mean_length(tokens),
    }


def value_names(others: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of all values to log; others: the featurizers after the first.

    >>> value_names(["ngrams"])[-1]
    'frontier_integral_ngrams'
    """
    return (*LOGGED_SCORES, *STATISTICS, *COUNTS, *(f"{name}_{other}" for other in others for name in LOGGED_SCORES))


def values_of(evaluation: Evaluation, others: Sequence[str] = ()) -> dict[str, float]:
    """The values to log, plain floats; scores and statistics that there should be and are not are NaN.

    The verdict is a number: 1 like human, 0 undecided, -1 different, NaN no verdict.

    others: the featurizers after the first, whose scores have their names behind them.
    """
    result, values = evaluation.result, dict[str, float]()
    for other in ("", *others):
        scores = result if other == "" or result is None else result.by_featurizer.get(other)
        numbers = dict.fromkeys(LOGGED_SCORES, math.nan) if scores is None else scores.numbers(LOGGED_SCORES)
        for name, value in numbers.items():
            if scores is None or name not in _LEFT_OUT or not math.isnan(value):
                values[f"{name}_{other}" if other else name] = value
    values |= {name: float(evaluation.statistics.get(name, math.nan)) for name in STATISTICS}
    return values | dict(zip(COUNTS, (float(evaluation.empty), float(evaluation.failed)), strict=True))
