"""Evaluate a model: generate texts and score them, without a change to the model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from mauve_metric.apps.generation.conversations import first_row, has_template, is_conversational, template_entry
from mauve_metric.apps.generation.decoding import Prompt, describe_settings, generation_settings, max_positions
from mauve_metric.apps.generation.evaluation import Evaluation, PromptGroups, ReferenceScorer, continuation_statistics
from mauve_metric.apps.generation.prompts import NEW_TOKENS, PromptSource
from mauve_metric.apps.generation.writer import Writer, WritingModel, WrittenPart, needed, refuse_sharded, sharded_by
from mauve_metric.apps.generation.writing_options import ModelKeywords, WritingOptions, split_writing
from mauve_metric.apps.generation.writing_state import random_states_kept
from mauve_metric.apps.generation.written_file import check_new, save_written
from mauve_metric.features.feature_set import FeatureSet, InputSide
from mauve_metric.features.sides import check_texts_alone
from mauve_metric.features.text_functions import name_of, named_featurizers
from mauve_metric.options import FEATURIZER_SETS, Featurizer, Options, check_option_names, with_options
from mauve_metric.results.result import MauveResult, WrittenText
from mauve_metric.runtime.checks import check_path
from mauve_metric.runtime.model_state import bare_model, release_memory
from mauve_metric.runtime.outputs import make_folder
from mauve_metric.runtime.plain_text import is_blank
from mauve_metric.runtime.processes import agree, gather, rank_and_size
from mauve_metric.scoring.featurizers import add_pooled_score, join_featurizers, try_each
from mauve_metric.uncertainty.score_warnings import ScoreWarning

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

logger = logging.getLogger(__name__)


class ModelEvaluator:
    """State shared by all evaluations of a model.

    Args:
        prompts, references: see `mauve_metric.apps.generation.writing_options.WritingOptions`.
        keep_going: count texts that fail and go on.
        featurizers: see `compute_mauve`; the references must be texts then.
        **options: the other fields of `WritingOptions`, and the options of `compute_mauve`. `seed` is that of the
            sampling too, and `featurize_model_name` may be "self": the model that writes. With `distributed` every
            process of the torch process group evaluates; each writes its share, the first one scores.

    Attributes:
        scorers: by the featurizer's name, the first one's first; key "" if there is only one.
        conversational: whether the model is being trained on conversations, so that `chat_template="auto"` means True;
            None: not known.

    Raises:
        TypeError, ValueError: an argument is not what it should be.
    """

    @with_options(first=fields(WritingOptions))
    def __init__(
        self,
        prompts: Iterable[object] | None = None,
        references: Iterable[object] | FeatureSet | str | Path | None = None,
        *,
        keep_going: bool = False,
        featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
        **options: Unpack[ModelKeywords],
    ) -> None:
        check_option_names(options, ModelEvaluator.__init__)
        writing, scoring = split_writing({"prompts": prompts, "references": references, **options})
        model = scoring.get("featurize_model_name")
        if featurizers is None and isinstance(model, str) and model in FEATURIZER_SETS:
            featurizers = FEATURIZER_SETS[model]
            scoring["featurize_model_name"] = featurizers[0]
        if featurizers is None:
            self.scorers = {"": ReferenceScorer(scoring)}
        else:  # that of `featurize_model_name` is the first if it is given
            named = named_featurizers(featurizers, scoring.get("featurize_model_name"))
            each = {name: Options(**{**scoring, "featurize_model_name": encoder}) for name, encoder in named.items()}
            self.scorers = {name: ReferenceScorer(keywords) for name, keywords in each.items()}
        self.scorer, *others = self.scorers.values()
        settings = generation_settings(writing.generation_config)
        marked = "reasoning" in str(getattr(self.scorer.config, "strip", ""))  # often with special tokens
        seed, batch_size = self.scorer.config.seed, writing.generation_batch_size
        self.writer = Writer(settings, batch_size, seed, marked, writing.generate_fn, keep_going)
        self.source = PromptSource(writing, settings, self.scorer.run.text_field)
        self.keep_going, self.distributed = keep_going, self.scorer.run.distributed
        self.conversational: bool | None = None
        self._prompts: tuple[Prompt, ...] = ()
        self._made_for: tuple[int, int | None, bool | None] | None = None  # tokenizer, positions, conversational
        self.scorer.set_references(references)
        if others and self.scorer.reference is not None:
            check_texts_alone([InputSide("set", "references", references)])
        for other in others:
            other.set_references(self.scorer.human)
            other.dropped = self.scorer.dropped
        self._whole, self._is_cut = self.scorer.human, False  # the references as given; whether some were cut

    @property
    def others(self) -> tuple[str, ...]:
        """The names of the featurizers after the first."""
        return tuple(self.scorers)[1:]

    # --- before the first evaluation ------------------------------------------------------------------------------

    def prepare(
        self, model: torch.nn.Module | None, tokenizer: PreTrainedTokenizerBase | None, *, embed: bool = False
    ) -> None:
        """Cut prompts and check early that the model can take them.

        Args:
            model, tokenizer: that write.
            embed: featurize the references now, on the first process; they are kept.

        Raises:
            TypeError, ValueError: prompts, tokenizer and model do not fit.
            Exception: on every process, if the featurizer cannot be loaded or fails.
        """
        bare = bare_model(model)
        self._tokenize(bare, tokenizer)

        def embed_references() -> None:
            for scorer in self.scorers.values():
                with random_states_kept(), scorer.featurizing(WritingModel(bare, tokenizer, False)) as job:
                    scorer.embedded(job)

        if embed:
            self.on_first(embed_references)

    def _tokenize(self, model: LanguageModel | None, tokenizer: PreTrainedTokenizerBase | None) -> tuple[Prompt, ...]:
        """The prompts as token ids, made once for a tokenizer and a length."""
        author = self.writer.model(model)
        if author is not None:
            refuse_sharded(author, self.distributed)
        if author is not None or tokenizer is not None:
            needed(tokenizer)
        itself = any(scorer.itself for scorer in self.scorers.values())
        if itself and model is not None and sharded_by(model) is not None:
            raise ValueError(
                f"featurize_model_name='self' needs a whole model in the first process, and {sharded_by(model)} has "
                "sharded its weights: name another featurizer"
            )
        made_for = (id(tokenizer), max_positions(author), self.conversational)
        if self._made_for == made_for:
            return self._prompts
        options, num_references = self.source.options, len(self.scorer)
        if options.dataset is None:
            conversational = bool(self.conversational)
            prompts = self.source.as_given(author, tokenizer, self._whole, num_references, conversational)
            if author is not None and tokenizer is not None and self._whole is not None:
                self._take_references(self.source.cut_to_length(self._whole, author, tokenizer, prompts))
        else:  # which gives the human texts too, if there are no others
            prompts, texts = self.source.of_dataset(options.dataset, author, tokenizer)
            if options.references is None:
                self._take_references(texts)
        self._prompts, self._made_for = tuple(prompts), made_for
        return self._prompts

    def _take_references(self, texts: list[str]) -> None:
        """Compare with these human texts from now on; say once that they were cut."""
        for scorer in self.scorers.values():
            if texts != scorer.human:
                scorer.human, scorer.reference = texts, None
        cut = 0 if self._whole is None else sum(map(str.__ne__, texts, self._whole))
        if cut and not self._is_cut:
            logger.warning(
                "references: %d of %d texts are cut to the length that is generated, so that length does not tell the "
                "sets apart; cut_references=False leaves them whole",
                cut,
                len(texts),
            )
        self._is_cut = self._is_cut or cut > 0

    def see_training_data(self, datasets: Iterable[object], tokenizer: PreTrainedTokenizerBase | None) -> None:
        """Decide what `chat_template="auto"` means in a training, from the first dataset that shows a row."""
        undecided = self.conversational is None and self.source.may_be_wrapped and self.writer.function is None
        if not undecided or tokenizer is None or not has_template(tokenizer):
            return
        row = next((row for row in map(first_row, datasets) if row is not None), None)
        if row is None:
            return
        self.conversational = is_conversational(row, tokenizer)
        if self.conversational:
            logger.warning(
                "chat_template='auto': the training data are conversations, so that each prompt is put into the "
                "tokenizer's chat template and the answer alone is scored; chat_template=False continues the prompts"
            )

    # --- one evaluation -------------------------------------------------------------------------------------------

    def evaluate(
        self,
        model: torch.nn.Module | None,
        tokenizer: PreTrainedTokenizerBase | None,
        *,
        verbose: bool = False,
        save_texts: str | Path | None = None,
        new: bool = True,
    ) -> Evaluation:
        """Write, gather, score; the same on every process.

        Args:
            model: the model; a tokenizer's random state, mode, caches and settings are afterwards what they were.
            tokenizer: of the model.
            verbose: progress bars on the first process.
            save_texts: the file in which the first process leaves the texts, also where there is no score. new: never
                replace it.

        Raises:
            Exception: unless `keep_going`, on every process; prompts that do not fit are refused in any case.
        """
        rank, size = self.rank_and_size()
        writing = WritingModel(bare_model(model), tokenizer, verbose and rank == 0)
        prompts = self._tokenize(writing.model, tokenizer)
        judged: Evaluation | None = None
        with random_states_kept():
            started = time.perf_counter()
            part, failure = self.writer.part(writing, prompts, (rank, size))
            parts = gather(part) if size > 1 else [part]
            if rank == 0:
                seconds = {"generate": time.perf_counter() - started}
                try:
                    judged = self._judge(writing, prompts, parts, seconds)
                except Exception as error:  # the other processes wait for it
                    failure = error if failure is None else failure
                    judged = Evaluation(None, failed=len(prompts), error=repr(error), seconds=seconds)
            release_memory()
        evaluation = agree(judged) if self.distributed else judged
        if evaluation is None:
            raise RuntimeError("the first process gave no evaluation")
        if save_texts is not None:
            file = Path(save_texts)
            self.on_first(lambda: self._save(file, evaluation, new))
        if not self.keep_going:
            self._raise_together(failure, evaluation.error)
        elif evaluation.error is not None and rank == 0:
            logger.warning("there is no MAUVE this time: %s", evaluation.error)
        return evaluation

    def _save(self, file: Path, evaluation: Evaluation, new: bool) -> None:
        """Write the texts to a file, in a new folder if need be: the name of an evaluation set may hold a /."""
        try:
            make_folder(file.parent)
            save_written(file, evaluation.written, evaluation.decoder, self.writer.seed, new=new)
        except OSError as error:
            if not self.keep_going:
                raise
            logger.warning("the texts of this evaluation are not saved: %s", error)

    def _judge(
        self, writing: WritingModel, prompts: Sequence[Prompt], parts: Sequence[WrittenPart], seconds: dict[str, float]
    ) -> Evaluation:
        """Join the processes' texts and score them."""
        for rank, part in enumerate(parts):
            if part.fatal:
                process = f"process {rank}: " if len(parts) > 1 else ""
                return Evaluation(None, failed=len(prompts), error=f"{process}{part.error}", seconds=seconds)
        size = len(parts)
        written = [parts[number % size].written[number // size] for number in range(len(prompts))]
        done = [(prompt, output) for prompt, output in zip(prompts, written, strict=True) if output is not None]
        author = self.writer.model(writing.model)
        inside = self.source.scores_prompt(author, prompts)
        kept = tuple(output.written(prompt, inside) for prompt, output in done)
        evaluation = Evaluation(
            None,
            continuation_statistics(writing.tokenizer, [output for _, output in done]) if done else {},
            kept,
            name_of(self.writer.function) if author is None else describe_settings(self.source.settings, author),
            empty=sum(is_blank(output.continuation) for _, output in done),
            failed=len(prompts) - len(done),
            seconds=seconds,
        )
        seconds |= {"featurize": 0.0, "score": 0.0}
        rows = [number for number, output in enumerate(written) if output is not None]
        filled = [(row, text.text) for row, text in zip(rows, kept, strict=True) if not is_blank(text.text)]
        texts = [text for _, text in filled]
        dropped = len(kept) - len(texts)
        if dropped:
            empty = "%d of %d completions are empty and not scored: a model that says nothing is a finding of its own"
            logger.warning(empty, dropped, len(kept))
        if not texts:
            why = next((part.error for part in parts if part.error is not None), "every text is empty")
            return replace(evaluation, error=f"none of {len(prompts)} texts can be scored: {why}")
        try:
            groups = self._groups(prompts, [row for row, _ in filled])
            scored, missing = try_each(
                self.scorers, lambda name, scorer: scorer.score(writing, texts, dropped, seconds, groups)
            )
            started = time.perf_counter()
            result = self._joined(scored, missing, self._entries(writing, prompts, size), kept)
            seconds["score"] += time.perf_counter() - started
        except Exception as error:
            if not self.keep_going:
                raise
            logger.debug("scoring failed", exc_info=True)
            return replace(evaluation, error=repr(error))
        return replace(evaluation, result=result)

    def _joined(
        self,
        scored: Mapping[str, tuple[MauveResult, Sequence[FeatureSet]]],
        missing: Sequence[ScoreWarning],
        entries: Mapping[str, object],
        kept: tuple[WrittenText, ...],
    ) -> MauveResult:
        """The result by all featurizers, with those of each, the texts and the entries that determine them."""
        signed = {}
        for name, (result, sets) in scored.items():  # what determines the texts is before the package's version
            *before, version = result.signature_entries.items()
            signature = dict([*before, *entries.items(), version])
            signed[name] = replace(result, signature_entries=signature, texts=kept), sets
        if self.others:
            return join_featurizers(signed, add_pooled_score, self.scorer.config, missing)
        return next(iter(signed.values()))[0]

    def _groups(self, prompts: Sequence[Prompt], rows: Sequence[int]) -> PromptGroups:
        """The prompt of each human text and of the model's texts of these rows, as far as texts share one.

        The rows of a dataset give a prompt and the human text that begins with it. Other prompts may occur several
        times; what is written from nothing shares no prompt.
        """
        options = self.source.options
        if options.dataset is not None and options.references is None:
            return range(len(prompts)), rows
        texts = [None if prompts[row].text == "" else repr((prompts[row].text, prompts[row].messages)) for row in rows]
        return None, texts

    def _entries(self, writing: WritingModel, prompts: Sequence[Prompt], processes: int) -> dict[str, object]:
        """Signature entries that determine the texts."""
        author, options = self.writer.model(writing.model), self.source.options
        chat = any(prompt.messages is not None for prompt in prompts)
        entries: dict[str, object] = {"include_prompt": self.source.scores_prompt(author, prompts)}
        if options.dataset is not None:
            entries["prompt_tokens"] = options.prompt_tokens
        else:
            entries["prompts"] = "none" if options.prompts is None else "conversations" if chat else "given"
        if chat and author is not None and writing.tokenizer is not None:
            entries["chat_template"] = template_entry(writing.tokenizer)
        if author is None:
            entries["generation"] = name_of(self.writer.function)
        else:
            config = self.source.settings
            entries["generation"] = describe_settings(config, author)
            like_references = self.scorer.human is not None and config.max_length is None
            default = "as the references" if like_references else config.max_length or NEW_TOKENS
            entries["max_new_tokens"] = options.max_new_tokens or config.max_new_tokens or default
            entries["generation_batch_size"] = self.writer.batch_size
        if self._is_cut:
            entries["references"] = "cut"
        return entries | {"processes": processes}

    # --- several processes ----------------------------------------------------------------------------------------

    def rank_and_size(self) -> tuple[int, int]:
        """The rank of this process and the number of processes that write."""
        return rank_and_size() if self.distributed else (0, 1)

    def on_first(self, work: Callable[[], object]) -> None:
        """Call a function on the first process; raise its error on every process."""
        failure: Exception | None = None
        if self.rank_and_size()[0] == 0:
            try:
                work()
            except Exception as error:  # the other processes wait for it
                failure = error
        reason = None if failure is None else repr(failure)
        self._raise_together(failure, agree(reason) if self.distributed else reason)

    def _raise_together(self, failure: Exception | None, error: str | None) -> None:
        """Raise on every process if anything failed on any: the error itself where it happened."""
        if failure is not None:
            raise failure
        if error is not None:
            raise RuntimeError(f"evaluating the model failed: {error}")


@with_options(first=fields(WritingOptions))
def evaluate_model(
    model: torch.nn.Module | None,
    tokenizer: PreTrainedTokenizerBase | None,
    prompts: Iterable[object] | None = None,
    references: Iterable[object] | FeatureSet | str | Path | None = None,
    *,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | None = None,
    save_texts: str | Path | None = None,
    **options: Unpack[ModelKeywords],
) -> MauveResult:
    """MAUVE of a model: generate texts with it, and compare them with human ones (Pillutla et al. 2021, §4).

    Model, tokenizer and random states are left as they were. The signature says how the texts were made.

    Args:
        model: a transformers model with `generate` (an adapter's or data parallelism's shell around it is fine).
        tokenizer: its tokenizer.
        prompts, references, dataset, prompt_tokens, include_prompt: see `WritingOptions`.
        chat_template, num_samples, generation_config, max_new_tokens, cut_references, generate_fn: likewise.
        featurizers: several, as in `compute_mauve`; the references must be texts then.
        save_texts: a new .jsonl file of the texts, as `mauve-metric generate` writes it; also where there is no score.
        distributed: every process of the torch process group calls; each writes its share, the first one scores.
        **options: the others are those of `compute_mauve`.

    Returns:
        A `MauveResult`; P are the references, Q the model's texts, which are in its `texts`.

    Raises:
        TypeError, ValueError: an argument is not what it should be, or no text can be scored.
        Exception: whatever model or featurizer raise.

    Example:
        evaluate_model(model, tokenizer, dataset=human_texts, num_samples=500, featurize_model_name="minilm").mauve
    """
    if save_texts is not None:
        check_path("save_texts", save_texts)
    evaluator = ModelEvaluator(prompts, references, featurizers=featurizers, **options)
    if save_texts is not None:
        evaluator.on_first(lambda: check_new(save_texts))
    evaluation = evaluator.evaluate(model, tokenizer, verbose=evaluator.scorer.run.verbose, save_texts=save_texts)
    if evaluation.result is None:
        raise ValueError(f"there is no score: {evaluation.error}")
    return evaluation.result
