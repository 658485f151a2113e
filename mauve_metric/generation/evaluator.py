"""A model instead of texts: it writes, its texts are scored, and nothing about it changes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mauve_metric.config import check_count
from mauve_metric.features.reference import name_of
from mauve_metric.generation.decoding import describe_settings, generation_settings
from mauve_metric.generation.evaluation import Evaluation, continuation_statistics
from mauve_metric.generation.generator import BATCH_SIZE, Generation, Generator, Prompt
from mauve_metric.generation.prompts import NEW_TOKENS, PROMPT_TOKENS, PromptSource
from mauve_metric.generation.scorer import ReferenceScorer
from mauve_metric.options import check_option_names, with_options
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.model_state import (
    bare_model,
    random_states_kept,
    refuse_sharded,
    release_memory,
    seed_everything,
)
from mauve_metric.runtime.processes import agree, gather, rank_and_size
from mauve_metric.runtime.progress import progress_bar

logger = logging.getLogger(__name__)


GenerateFunction = Callable[[list[str]], Sequence[str | None]]


@dataclass(frozen=True)
class _Plan:
    """What to write, and how long; for which model."""

    prompts: tuple[Prompt, ...]
    made_for: tuple[int, int | None]


class ModelEvaluator:
    """Everything that stays the same from one evaluation of a model to the next.

    Args:
        prompts: texts or a dataset column to continue; None: start from the BOS token.
        references: human texts, a dataset column, a `Reference`, or the file of a saved one.
        dataset: human texts of which the first `prompt_tokens` tokens are the prompts and, unless `references` are
            given, the whole the references.
        prompt_tokens: see `dataset`.
        include_prompt: score prompt and continuation, as the papers do, not the continuation alone (with an
            encoder-decoder model always the output alone).
        num_samples: how many texts; None: as many as there are prompts, or references without prompts. Prompts are
            used again if there are fewer.
        generation_config: a `transformers.GenerationConfig` or dict; None: sampling from the whole distribution.
        max_new_tokens: the most tokens to write; None: what `generation_config` says, else as many as the human text
            of the same number has (128 if its length is not known).
        generate_fn: writes instead of the model: from a list of prompts to a list of continuations, None for one that
            failed. Every process calls it with its share.
        generation_batch_size: prompts of a batch, halved when memory runs out.
        keep_going: count texts that fail and go on.
        distributed: every process of the torch process group evaluates; each writes its share, the first one scores.
        **options: the options of `compute_mauve`. `seed` is that of the sampling too, and `featurize_model_name` may
            be "self": the model that writes.

    Raises:
        TypeError, ValueError: an argument is not what it should be.
    """

    def __init__(
        self,
        prompts: Any = None,
        references: Any = None,
        *,
        dataset: Any = None,
        prompt_tokens: int = PROMPT_TOKENS,
        include_prompt: bool = True,
        num_samples: int | None = None,
        generation_config: Any = None,
        max_new_tokens: int | None = None,
        generate_fn: GenerateFunction | None = None,
        generation_batch_size: int = BATCH_SIZE,
        keep_going: bool = False,
        distributed: bool = False,
        **options: Any,
    ) -> None:
        check_option_names(options, ModelEvaluator.__init__)
        self.scorer = ReferenceScorer(options)
        if references is None and dataset is None:
            raise ValueError("references must be given (or a dataset, to cut prompts and references from)")
        if prompts is not None and dataset is not None:
            raise ValueError("prompts and dataset were both given: the dataset's first tokens are the prompts")
        if generate_fn is not None and not callable(generate_fn):
            raise TypeError(f"generate_fn must be a function from prompts to texts, got {generate_fn!r:.60}")
        batch_size = check_count("generation_batch_size", generation_batch_size)
        seed = self.scorer.config.seed
        self.generator = Generator(generation_settings(generation_config), batch_size, seed)
        self.source = PromptSource(
            prompts,
            dataset,
            prompt_tokens=check_count("prompt_tokens", prompt_tokens),
            include_prompt=include_prompt,
            num_samples=None if num_samples is None else check_count("num_samples", num_samples),
            max_new_tokens=None if max_new_tokens is None else check_count("max_new_tokens", max_new_tokens),
            settings=self.generator.config,
            by_function=generate_fn is not None,
            text_field=self.scorer.run.text_field,
        )
        self.generate_fn = generate_fn
        self.keep_going, self.distributed = keep_going, distributed
        self._references_given = references is not None
        self._plan: _Plan | None = None
        self.scorer.set_references(references)

    # --- before the first evaluation ------------------------------------------------------------------------------

    def prepare(self, model: Any, tokenizer: Any) -> None:
        """Cut prompts, check that the model can take them, and say no early.

        Raises:
            TypeError, ValueError: prompts, tokenizer and model do not fit.
        """
        self._planned(bare_model(model), tokenizer)

    def embed(self, model: Any, tokenizer: Any) -> None:
        """Featurize the references now, on the first process; they are kept.

        Raises:
            Exception: on every process, if the featurizer cannot be loaded or fails.
        """
        model = bare_model(model)
        self._planned(model, tokenizer)
        failure: Exception | None = None
        if self._rank_and_size()[0] == 0:
            try:
                with random_states_kept(), self.scorer.featurizing(model, tokenizer, False) as job:
                    self.scorer.embedded(job)
            except Exception as error:  # the other processes wait to hear of it
                failure = error
        self._raise_together(failure, self._agree(None if failure is None else repr(failure)))

    def _planned(self, model: Any, tokenizer: Any) -> tuple[Prompt, ...]:
        """The prompts as token ids, made once for a tokenizer and a length."""
        if self.generate_fn is None:
            refuse_sharded(model)
            if tokenizer is None:
                raise ValueError("a tokenizer is needed: give tokenizer, or processing_class to the Trainer")
        made_for = (id(tokenizer), self.source.positions(model))
        if self._plan is None or self._plan.made_for != made_for:
            if self.source.dataset is None:
                prompts = self.source.given(model, tokenizer, self.scorer.human, len(self.scorer))
            else:
                prompts, human = self.source.of_dataset(model, tokenizer)
                if not self._references_given:
                    self.scorer.set_texts(human)
            self._plan = _Plan(tuple(prompts), made_for)
        return self._plan.prompts

    # --- one evaluation -------------------------------------------------------------------------------------------

    def evaluate(self, model: Any, tokenizer: Any, *, verbose: bool = False) -> Evaluation:
        """Write, gather, score; the same on every process.

        Args:
            model: the model; a tokenizer's random state, mode, caches and settings are afterwards what they were.
            tokenizer: of the model.
            verbose: progress bars on the first process.

        Raises:
            Exception: unless `keep_going`, on every process; prompts that do not fit are refused in any case.
        """
        model = bare_model(model)
        prompts = self._planned(model, tokenizer)
        rank, size = self._rank_and_size()
        verbose = verbose and rank == 0
        failure: Exception | None = None
        with random_states_kept():
            started = time.perf_counter()
            mine: list[Generation | None] = []
            try:
                mine = self._write(model, tokenizer, prompts, range(rank, len(prompts), size), verbose)
            except Exception as error:  # the other processes wait to hear of it
                failure = error
            release_memory()
            part = (mine, repr(failure) if failure is not None else self.generator.failure, failure is not None)
            parts = gather(part) if size > 1 else [part]
            evaluation: Evaluation | None = None
            if rank == 0:
                seconds = {"generate": time.perf_counter() - started}
                try:
                    evaluation = self._judge(model, tokenizer, prompts, parts, seconds, verbose)
                except Exception as error:  # likewise
                    failure = error if failure is None else failure
                    evaluation = Evaluation(None, failed=len(prompts), error=repr(error), seconds=seconds)
            release_memory()
        evaluation = self._agree(evaluation)
        if evaluation is None:
            raise RuntimeError("the first process gave no evaluation")
        if not self.keep_going:
            self._raise_together(failure, evaluation.error)
        elif evaluation.error is not None and rank == 0:
            logger.warning("there is no MAUVE this time: %s", evaluation.error)
        return evaluation

    def _write(
        self, model: Any, tokenizer: Any, prompts: Sequence[Prompt], numbers: Sequence[int], verbose: bool
    ) -> list[Generation | None]:
        """The texts of this process's share of the prompts."""
        share = [prompts[number] for number in numbers]
        if self.generate_fn is not None:
            return self._ask(share, numbers)
        with progress_bar("generate", verbose, total=len(share), leave=False) as bar:
            return self.generator.write(
                model,
                tokenizer,
                share,
                numbers,
                keep_going=self.keep_going,
                advance=None if bar is None else lambda done: bar(done, len(share)),
            )

    def _ask(self, share: Sequence[Prompt], numbers: Sequence[int]) -> list[Generation | None]:
        """The texts of the user's own generator."""
        if not share:
            return []
        self.generator.failure = None
        seed_everything(self.generator.seed, numbers[0])
        function: Any = self.generate_fn
        try:
            found = list(function([prompt.text for prompt in share]))
            if len(found) != len(share):
                raise ValueError(f"generate_fn must give a text for each prompt, got {len(found)} for {len(share)}")
            wrong = next((item for item in found if not (item is None or isinstance(item, str))), None)
            if wrong is not None:
                raise TypeError(f"generate_fn must give texts, got {type(wrong).__name__}")
        except Exception as error:  # the user's code: anything can go wrong in it
            if not self.keep_going:
                raise
            logger.warning("generate_fn failed for %d prompts: %r", len(share), error)
            self.generator.failure = repr(error)
            found = [None] * len(share)
        return [
            None if item is None else Generation(item, prompt.text + item)
            for item, prompt in zip(found, share, strict=True)
        ]

    def _judge(
        self,
        model: Any,
        tokenizer: Any,
        prompts: Sequence[Prompt],
        parts: Sequence[tuple[list[Generation | None], str | None, bool]],
        seconds: dict[str, float],
        verbose: bool,
    ) -> Evaluation:
        """Put the processes' texts together and score them."""
        for rank, (_, error, fatal) in enumerate(parts):
            if fatal:
                place = f"process {rank}: " if len(parts) > 1 else ""
                return Evaluation(None, failed=len(prompts), error=f"{place}{error}", seconds=seconds)
        size = len(parts)
        written = [parts[number % size][0][number // size] for number in range(len(prompts))]
        done = [(prompt, item) for prompt, item in zip(prompts, written, strict=True) if item is not None]
        inside = self.source.scores_prompt(model)
        scored = [item.text if inside else item.continuation for _, item in done]
        evaluation = Evaluation(
            None,
            continuation_statistics(tokenizer, [item for _, item in done]) if done else {},
            tuple((prompt.text, item.continuation) for prompt, item in done),
            empty=sum(not item.continuation.strip() for _, item in done),
            failed=len(prompts) - len(done),
            seconds=seconds,
        )
        texts = [text for text in scored if text.strip()]
        if not texts:
            why = next((error for _, error, _ in parts if error is not None), "every text is empty")
            return replace(evaluation, error=f"none of {len(prompts)} texts can be scored: {why}")
        try:
            result = self.scorer.score(model, tokenizer, texts, len(scored) - len(texts), seconds, verbose)
        except Exception as error:
            if not self.keep_going:
                raise
            logger.debug("scoring failed", exc_info=True)
            return replace(evaluation, error=repr(error))
        signed = self._signed(result.signature_entries, model, size)
        return replace(evaluation, result=replace(result, signature_entries=signed))

    def _signed(self, scored: Mapping[str, object], model: Any, processes: int) -> dict[str, object]:
        """The signature's entries with what fixes the texts, before the package's version."""
        entries: dict[str, object] = {"include_prompt": self.source.scores_prompt(model)}
        if self.source.dataset is not None:
            entries["prompt_tokens"] = self.source.prompt_tokens
        else:
            entries["prompts"] = "none" if self.source.prompts is None else "given"
        if self.generate_fn is not None:
            entries["generation"] = name_of(self.generate_fn)
        else:
            config = self.generator.config
            entries["generation"] = describe_settings(config, model)
            known = self.scorer.human is not None and config.max_length is None
            default = "as the references" if known else config.max_length or NEW_TOKENS
            entries["max_new_tokens"] = self.source.max_new_tokens or config.max_new_tokens or default
            entries["generation_batch_size"] = self.generator.batch_size
        entries["processes"] = processes
        *before, version = scored.items()
        return dict([*before, *entries.items(), version])

    # --- several processes ----------------------------------------------------------------------------------------

    def _rank_and_size(self) -> tuple[int, int]:
        return rank_and_size() if self.distributed else (0, 1)

    def _agree(self, value: Any) -> Any:
        return agree(value) if self._rank_and_size()[1] > 1 else value

    def _raise_together(self, own: Exception | None, error: str | None) -> None:
        """Raise on every process if anything failed on any: the error itself where it happened."""
        if own is not None:
            raise own
        if error is not None:
            raise RuntimeError(f"evaluating the model failed: {error}")


def evaluate_model(
    model: Any,
    tokenizer: Any,
    prompts: Any = None,
    references: Any = None,
    *,
    dataset: Any = None,
    prompt_tokens: int = PROMPT_TOKENS,
    include_prompt: bool = True,
    num_samples: int | None = None,
    generation_config: Any = None,
    max_new_tokens: int | None = None,
    generate_fn: GenerateFunction | None = None,
    generation_batch_size: int = BATCH_SIZE,
    distributed: bool = False,
    **options: Any,
) -> MauveResult:
    """MAUVE of a model: let it write, and compare its texts with human ones (Pillutla et al. 2021, §4).

    Model, tokenizer and random states are left as they were. The signature says how the texts were made.

    Args:
        model: a transformers model with `generate` (an adapter's or data parallelism's shell around it is fine).
        tokenizer: its tokenizer.
        prompts, references, dataset, prompt_tokens, include_prompt, num_samples, generation_config, max_new_tokens,
            generate_fn, generation_batch_size, distributed: see `ModelEvaluator`.
        **options: those of `compute_mauve`.

    Returns:
        A `MauveResult`; P are the references, Q the model's texts.

    Raises:
        TypeError, ValueError: an argument is not what it should be, or no text can be scored.
        Exception: whatever model or featurizer raise.

    Example:
        evaluate_model(model, tokenizer, dataset=human_texts, num_samples=500, featurize_model_name="minilm").mauve
    """
    evaluator = ModelEvaluator(
        prompts,
        references,
        dataset=dataset,
        prompt_tokens=prompt_tokens,
        include_prompt=include_prompt,
        num_samples=num_samples,
        generation_config=generation_config,
        max_new_tokens=max_new_tokens,
        generate_fn=generate_fn,
        generation_batch_size=generation_batch_size,
        distributed=distributed,
        **options,
    )
    evaluation = evaluator.evaluate(model, tokenizer, verbose=evaluator.scorer.run.verbose)
    if evaluation.result is None:
        raise ValueError(f"there is no score: {evaluation.error}")
    return evaluation.result


evaluate_model.__signature__ = with_options(evaluate_model, "MauveResult", "distributed")  # type: ignore[attr-defined]
