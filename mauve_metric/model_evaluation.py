"""A model instead of texts: it writes, its texts are scored, and nothing about it changes."""

from __future__ import annotations

import contextlib
import inspect
import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from mauve_metric import text_statistics
from mauve_metric.compute import compute_mauve
from mauve_metric.config import unknown_options
from mauve_metric.distributed import agree, rank_and_size
from mauve_metric.encoder import Encoder, import_torch
from mauve_metric.generate import (
    BATCH_SIZE,
    Generation,
    Generator,
    Prompt,
    bare_model,
    decode,
    describe_settings,
    generation_settings,
    is_encoder_decoder,
    max_positions,
    random_states_kept,
    refuse_sharded,
    release_memory,
    seed_everything,
    start_ids,
    token_ids,
)
from mauve_metric.inputs import Featurizing, RunOptions, option_parameters, split_options
from mauve_metric.reference import Reference
from mauve_metric.result import MauveResult, format_signature
from mauve_metric.texts import text_source

logger = logging.getLogger(__name__)

PROMPT_TOKENS = 35  # as in Pillutla et al. 2021
NEW_TOKENS = 128  # where nothing says how long a text should be
DISTINCT_N = 4
SELF = "self"  # the name of the featurizer that is the model itself
_TOKENIZED_AT_ONCE = 1000

GenerateFunction = Callable[[list[str]], Sequence[str | None]]


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation of a model gave.

    result: the scores, None if there are none. statistics: of the continuations. texts: a prompt and what was written
    behind it, for each text. empty: continuations without a word. failed: prompts without a text. error: why there is
    no result. seconds: of "generate", "featurize" and "score".
    """

    result: MauveResult | None
    statistics: dict[str, float] = field(default_factory=dict)
    texts: tuple[tuple[str, str], ...] = ()
    empty: int = 0
    failed: int = 0
    error: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)


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
        self.options = dict(options)
        self.config, self.run = split_options(options)
        if references is None and dataset is None:
            raise ValueError("references must be given (or a dataset, to cut prompts and references from)")
        if prompts is not None and dataset is not None:
            raise ValueError("prompts and dataset were both given: the dataset's first tokens are the prompts")
        if generate_fn is not None and not callable(generate_fn):
            raise TypeError(f"generate_fn must be a function from prompts to texts, got {generate_fn!r:.60}")
        self.prompts, self.references, self.dataset = prompts, references, dataset
        self.prompt_tokens = _count("prompt_tokens", prompt_tokens)
        self.num_samples = None if num_samples is None else _count("num_samples", num_samples)
        self.max_new_tokens = None if max_new_tokens is None else _count("max_new_tokens", max_new_tokens)
        self.include_prompt = include_prompt
        self.generate_fn = generate_fn
        self.keep_going, self.distributed = keep_going, distributed
        batch_size = _count("generation_batch_size", generation_batch_size)
        self.generator = Generator(generation_settings(generation_config), batch_size, self.config.seed)
        self.asked_batch_size = batch_size
        self.itself = self.config.featurize_model_name == SELF
        if self.itself:
            logger.warning(
                "featurize_model_name='self': the texts are judged by the model that wrote them, whose features change "
                "as it learns, so that its scores compare neither over time nor with those of others"
            )
        self.reference: Reference | None = None
        self.human: list[str] | None = None
        self._encoder: Encoder | None = None
        self._plan: _Plan | None = None
        self._take_references()

    def _take_references(self) -> None:
        """Texts as a list or features as a `Reference`, checked."""
        given = self.references
        if isinstance(given, (str, Path)):
            given = Reference.load(given)
        if isinstance(given, Reference):
            if self.itself or self.config.match_lengths != "no":
                option = (
                    "featurize_model_name='self'" if self.itself else f"match_lengths={self.config.match_lengths!r}"
                )
                raise ValueError(f"{option} needs the references as texts, got a Reference")
            self.reference = given
        elif given is not None:
            self.human = list(self._texts("references", given, self.config.empty_texts))

    def _texts(self, name: str, data: Any, empty_texts: str) -> Any:
        return text_source(name, data, text_field=self.run.text_field, empty_texts=empty_texts).texts

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
                with random_states_kept(), self._featurizing(model, tokenizer, False) as job:
                    self._embedded(job)
            except Exception as error:  # the other processes wait to hear of it
                failure = error
        self._raise_together(failure, self._agree(None if failure is None else repr(failure)))

    def _planned(self, model: Any, tokenizer: Any) -> tuple[Prompt, ...]:
        """The prompts as token ids, made once for a tokenizer and a length."""
        if self.generate_fn is None:
            refuse_sharded(model)
            if tokenizer is None:
                raise ValueError("a tokenizer is needed: give tokenizer, or processing_class to the Trainer")
        made_for = (id(tokenizer), max_positions(model) if self.generate_fn is None else None)
        if self._plan is None or self._plan.made_for != made_for:
            make = self._prompts_of_dataset if self.dataset is not None else self._prompts_given
            self._plan = _Plan(tuple(make(model, tokenizer, made_for[1])), made_for)
        return self._plan.prompts

    def _prompts_given(self, model: Any, tokenizer: Any, positions: int | None) -> list[Prompt]:
        """Prompts as they are given, or none at all."""
        wanted = self.num_samples
        if self.prompts is None:
            if self.generate_fn is None and is_encoder_decoder(model):
                raise ValueError("an encoder-decoder model needs prompts")
            known = len(self.reference) if self.reference is not None else len(self.human or ())
            texts = [""] * (known if wanted is None else wanted)
        else:
            texts = list(self._texts("prompts", self.prompts, "keep"))
            if not texts:
                raise ValueError("prompts must hold at least one text, got none")
            wanted = len(texts) if wanted is None else wanted
            texts = [texts[index % len(texts)] for index in range(wanted)]
        if self.generate_fn is not None:
            return [Prompt((), 0, text) for text in texts]
        start = start_ids(model, tokenizer) if "" in texts else ()
        rows = [tuple(row) for row in token_ids(tokenizer, texts, ended=is_encoder_decoder(model))]
        rows = [row if text and row else start for row, text in zip(rows, texts, strict=True)]
        lengths = self._wanted_lengths(model, tokenizer, rows)
        room = [
            length if positions is None else min(length, positions - len(row))
            for length, row in zip(lengths, rows, strict=True)
        ]
        for index, count in enumerate(room):
            if count < 1:
                raise ValueError(
                    f"prompts, position {index}: {len(rows[index])} tokens leave no room to write: the model takes "
                    f"{positions} in all"
                )
        return [Prompt(row, count, text) for row, count, text in zip(rows, room, texts, strict=True)]

    def _wanted_lengths(self, model: Any, tokenizer: Any, rows: Sequence[tuple[int, ...]]) -> list[int]:
        """The most new tokens of each text."""
        config = self.generator.config
        most = self.max_new_tokens or config.max_new_tokens
        if most is None and config.max_length is not None:
            return [config.max_length if is_encoder_decoder(model) else config.max_length - len(row) for row in rows]
        if most is not None or self.human is None:
            return [most or NEW_TOKENS] * len(rows)
        human = [len(row) for row in _in_parts(lambda part: token_ids(tokenizer, part), self.human)]
        inside = self._scores_prompt(model) and self.prompts is not None
        return [max(1, human[index % len(human)] - (len(row) if inside else 0)) for index, row in enumerate(rows)]

    def _prompts_of_dataset(self, model: Any, tokenizer: Any, positions: int | None) -> list[Prompt]:
        """The first tokens of human texts, to be continued to the length of the human text."""
        if tokenizer is None:
            raise ValueError("cutting a dataset into prompts needs a tokenizer")
        if self.generate_fn is None and is_encoder_decoder(model):
            raise ValueError("a dataset is cut into prompts for causal models: give an encoder-decoder model prompts")
        most = self.max_new_tokens or self.generator.config.max_new_tokens
        prompts: list[Prompt] = []
        human: list[str] = []
        short = 0
        for text, ids in self._tokenized_dataset(tokenizer):
            size = self.prompt_tokens + (bool(ids) and ids[0] == getattr(tokenizer, "bos_token_id", None))
            total = min(len(ids), positions or len(ids), len(ids) if most is None else size + most)
            if total <= size:
                short += 1
                continue
            prompt = Prompt(tuple(ids[:size]), total - size, decode(tokenizer, ids[:size]))
            whole = text if total == len(ids) else decode(tokenizer, ids[:total])
            if not self.include_prompt:
                whole = whole.removeprefix(prompt.text)
            prompts.append(prompt)
            human.append(whole)
            if len(prompts) == self.num_samples:
                break
        if short:
            logger.warning("dataset: %d texts are left out, they have no token beyond the prompt's", short)
        if not prompts:
            raise ValueError(
                f"dataset must hold texts of more than prompt_tokens={self.prompt_tokens} tokens, got none"
            )
        if self.num_samples is not None and len(prompts) < self.num_samples:
            raise ValueError(
                f"num_samples={self.num_samples} texts were asked for, the dataset has {len(prompts)} usable"
            )
        if self.references is None and human != self.human:
            self.human, self.reference = human, None
        return prompts

    def _tokenized_dataset(self, tokenizer: Any) -> Iterator[tuple[str, list[int]]]:
        part: list[str] = []
        size = min(_TOKENIZED_AT_ONCE, self.num_samples or _TOKENIZED_AT_ONCE)
        for text in self._texts("dataset", self.dataset, "drop"):
            part.append(text)
            if len(part) == size:
                yield from zip(part, token_ids(tokenizer, part), strict=True)
                part = []
        yield from zip(part, token_ids(tokenizer, part), strict=True)

    def _scores_prompt(self, model: Any) -> bool:
        return self.include_prompt and not (self.generate_fn is None and is_encoder_decoder(model))

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
            parts = self._gather(
                (mine, repr(failure) if failure is not None else self.generator.failure, failure is not None)
            )
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
        with _progress_bar("generate", len(share), verbose) as advance:
            return self.generator.write(model, tokenizer, share, numbers, keep_going=self.keep_going, advance=advance)

    def _ask(self, share: Sequence[Prompt], numbers: Sequence[int]) -> list[Generation | None]:
        """The texts of the user's own generator."""
        if not share:
            return []
        self.generator.failure = None
        seed_everything(self.config.seed, numbers[0])
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
        inside = self._scores_prompt(model)
        scored = [item.text if inside else item.continuation for _, item in done]
        evaluation = Evaluation(
            None,
            _statistics(tokenizer, [item for _, item in done]) if done else {},
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
            result = self._score(model, tokenizer, texts, len(scored) - len(texts), seconds, verbose)
        except Exception as error:
            if not self.keep_going:
                raise
            logger.debug("scoring failed", exc_info=True)
            return replace(evaluation, error=repr(error))
        signature = self._signed(result.signature, model, size)
        return replace(evaluation, result=replace(result, signature=signature))

    def _score(
        self, model: Any, tokenizer: Any, texts: list[str], dropped: int, seconds: dict[str, float], verbose: bool
    ) -> MauveResult:
        if self.config.match_lengths != "no":  # the length to cut to depends on both sets: nothing can be kept
            return self._score_matched(model, tokenizer, texts, seconds, verbose)
        started = time.perf_counter()
        with self._featurizing(model, tokenizer, verbose) as job:
            p = self._embedded(job)
            job.follow(p.identity)
            q = job.of_texts("q_text", texts)
        seconds["featurize"] = time.perf_counter() - started
        options = {name: value for name, value in self.options.items() if name not in _RUN_OPTIONS}
        options["featurize_model_name"] = job.config.featurize_model_name
        result = compute_mauve(p=p, q=replace(q, dropped=dropped), **options)
        seconds["score"] = time.perf_counter() - started - seconds["featurize"]
        return result

    def _score_matched(
        self, model: Any, tokenizer: Any, texts: list[str], seconds: dict[str, float], verbose: bool
    ) -> MauveResult:
        started = time.perf_counter()
        with self._featurizing(model, tokenizer, verbose) as job:
            name, run = job.config.featurize_model_name, job.run
        options = {**self.options, "featurize_model_name": name, "verbose": run.verbose, "cache": run.cache}
        if run.device_id is None:
            options["device"] = run.device
        result = compute_mauve(p_text=self.human, q_text=texts, **options)
        seconds["featurize"] = time.perf_counter() - started
        return result

    @contextlib.contextmanager
    def _featurizing(self, model: Any, tokenizer: Any, verbose: bool) -> Iterator[Featurizing]:
        """A job with the encoder of the last one, which waits in the host's memory in between."""
        config, run = self.config, replace(self.run, distributed=False, verbose=verbose)
        if run.device is None and run.device_id is None:
            run = replace(run, device=str(getattr(model, "device", "cpu")))
        if self.itself:
            config, run = replace(config, featurize_model_name=(model, tokenizer)), replace(run, cache=False)
        encoder = None if self.itself else self._encoder
        job = Featurizing(config, run, given=frozenset(self.options), encoder=encoder)
        if self.reference is not None and not self.itself:
            job.follow(self.reference.identity)
        lent = job.encoder
        if lent is not None and lent.device != str(lent.model.device):
            lent.model.to(lent.device)
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

    def _embedded(self, job: Featurizing) -> Reference:
        """The references' features, computed once (each time if the model itself is the featurizer)."""
        if self.reference is not None and not self.itself:
            return self.reference
        self.reference = job.of_texts("references", self.human)
        return self.reference

    def _signed(self, signature: str, model: Any, processes: int) -> str:
        """The signature with what fixes the texts, before the package's version."""
        entries: dict[str, Any] = {"include_prompt": self._scores_prompt(model)}
        if self.dataset is not None:
            entries["prompt_tokens"] = self.prompt_tokens
        else:
            entries["prompts"] = "none" if self.prompts is None else "given"
        if self.generate_fn is not None:
            function = self.generate_fn
            module = getattr(function, "__module__", type(function).__module__)
            entries["generation"] = f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
        else:
            config = self.generator.config
            entries["generation"] = describe_settings(config, model)
            known = self.human is not None and config.max_length is None
            default = "as the references" if known else config.max_length or NEW_TOKENS
            entries["max_new_tokens"] = self.max_new_tokens or config.max_new_tokens or default
            entries["generation_batch_size"] = self.generator.batch_size
        entries["processes"] = processes
        head, version = signature.rsplit("|", 1)
        return f"{head}|{format_signature(entries)}|{version}"

    # --- several processes ----------------------------------------------------------------------------------------

    def _rank_and_size(self) -> tuple[int, int]:
        return rank_and_size() if self.distributed else (0, 1)

    def _agree(self, value: Any) -> Any:
        return agree(value) if self._rank_and_size()[1] > 1 else value

    def _gather(self, part: Any) -> list[Any]:
        """The parts of all processes, on the first one."""
        rank, size = self._rank_and_size()
        if size == 1:
            return [part]
        parts: list[Any] | None = [None] * size if rank == 0 else None
        import_torch().distributed.gather_object(part, parts, dst=0)
        return [] if parts is None else parts

    def _raise_together(self, own: Exception | None, error: str | None) -> None:
        """Raise on every process if anything failed on any: the error itself where it happened."""
        if own is not None:
            raise own
        if error is not None:
            raise RuntimeError(f"evaluating the model failed: {error}")


_RUN_OPTIONS = frozenset(item.name for item in fields(RunOptions))


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
    evaluation = evaluator.evaluate(model, tokenizer, verbose=evaluator.run.verbose)
    if evaluation.result is None:
        raise ValueError(f"there is no score: {evaluation.error}")
    return evaluation.result


evaluate_model.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *(item for item in inspect.signature(evaluate_model).parameters.values() if item.kind is not item.VAR_KEYWORD),
        *(item for item in option_parameters() if item.name != "distributed"),
    ],
    return_annotation="MauveResult",
)


def check_option_names(options: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """`TypeError` for keywords that are neither options of a score nor of the function, with the nearest name."""
    own = [name for name in inspect.signature(function).parameters if name != "self"]
    problem = unknown_options(options, [*own, *(item.name for item in option_parameters())])
    if problem:
        raise TypeError(problem)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an integer of at least 1, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value}")
    return int(value)


def _in_parts(work: Callable[[list[str]], list[list[int]]], texts: Sequence[str]) -> Iterator[list[int]]:
    for start in range(0, len(texts), _TOKENIZED_AT_ONCE):
        yield from work(list(texts[start : start + _TOKENIZED_AT_ONCE]))


def _statistics(tokenizer: Any, written: Sequence[Generation]) -> dict[str, float]:
    """Repetition, distinct n-grams and mean length in tokens, or in words where no tokenizer is known."""
    tokens: Any = [item.ids for item in written if item.ids is not None]
    if len(tokens) < len(written):
        texts = [item.continuation for item in written]
        tokens = [text.split() for text in texts] if tokenizer is None else token_ids(tokenizer, texts, special=False)
    return {
        "repetition": text_statistics.repetition(tokens),
        f"distinct_{DISTINCT_N}": text_statistics.distinct_n(tokens, DISTINCT_N),
        "mean_length": text_statistics.mean_length(tokens),
    }


@contextlib.contextmanager
def _progress_bar(title: str, total: int, verbose: bool) -> Iterator[Callable[[int], None] | None]:
    """The function to call with the number of texts done: a tqdm bar when asked for and stderr is a terminal."""
    if not (verbose and sys.stderr.isatty()):
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(desc=title, total=total, unit=" texts", dynamic_ncols=True, leave=False) as bar:
        yield lambda done: bar.update(done - bar.n)
