"""The share of the texts that one process writes, with the model (also a sharded one) or by the user's function."""

from __future__ import annotations

import contextlib
import copy
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from mauve_metric.apps.generation.decoding import (
    Generation,
    Prompt,
    decode,
    is_encoder_decoder,
    known_ids,
    max_positions,
)
from mauve_metric.apps.generation.search import (
    check_contrastive,
    contrastive_search,
    diverse_beams,
    is_contrastive,
    is_diverse,
)
from mauve_metric.apps.generation.writing_options import GenerateFunction, WritingOptions
from mauve_metric.apps.generation.writing_state import check_finite_weights, generating, seed_everything
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.model_state import out_of_memory, release_memory
from mauve_metric.runtime.optional_imports import import_torch
from mauve_metric.runtime.processes import in_process_group
from mauve_metric.runtime.progress import progress_bar

if TYPE_CHECKING:
    import torch
    from transformers import GenerationConfig, PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

logger = logging.getLogger(__name__)

ZERO3 = "DeepSpeed's ZeRO stage 3"
FSDP = "FSDP"
_FLATTENED = "_fsdp_flattened"  # an attribute of the weights that the first FSDP's shells have taken over


def sharded_by(model: torch.nn.Module) -> str | None:
    """Name the library that divides the model's weights among processes; None if each process has them all.

    >>> import torch
    >>> sharded_by(torch.nn.Linear(2, 2)) is None
    True
    """
    if _is_fsdp1(model) or any(_is_fsdp1(module) for module in model.modules()):
        return FSDP
    for parameter in model.parameters():
        if hasattr(parameter, "ds_id"):
            return ZERO3
        if hasattr(parameter, "device_mesh") or hasattr(parameter, _FLATTENED):
            return FSDP
    return None


def refuse_sharded(model: torch.nn.Module, distributed: bool) -> None:
    """Refuse sharded weights that cannot write here.

    Args:
        model: that is to write. distributed: the other processes write with this one.

    Raises:
        ValueError: the others are not there, or what gathers the weights is outside of the model.
    """
    by = sharded_by(model)
    if by is None:
        return
    if not distributed or not in_process_group():
        raise ValueError(
            f"the model's weights are sharded by {by}, so that no process can write by itself: call "
            "evaluate_model with distributed=True on every process, or give a generate_fn"
        )
    if any(hasattr(parameter, _FLATTENED) for parameter in _outside(model)):
        raise ValueError(
            "the model was wrapped in FSDP, and what came is the module inside, which has only parts of its weights: "
            "give evaluate_model the wrapped model, or the callback its trainer (MauveCallback(..., trainer=trainer))"
        )


@contextlib.contextmanager
def writing_together(model: LanguageModel) -> Iterator[LanguageModel]:
    """Yield the module to generate with; every process must call it the same number of times.

    Of a model wrapped in FSDP (the first version) the weights outside of the wrapped blocks are gathered meanwhile, as
    TRL does; all others are gathered block by block in each call, and given back when it is over.
    """
    if _is_fsdp1(model):
        fsdp = import_torch().distributed.fsdp.FullyShardedDataParallel
        with fsdp.summon_full_params(model, writeback=False, recurse=False):
            yield cast("LanguageModel", model.module)
        return
    try:
        yield model
    finally:
        for module in model.modules():
            reshard = getattr(module, "reshard", None)  # of the second version: the root keeps its weights gathered
            if callable(reshard):
                reshard()


def _outside(module: torch.nn.Module) -> Iterator[torch.nn.Parameter]:
    """The parameters that are in none of the first FSDP's shells."""
    if not _is_fsdp1(module):
        yield from module.parameters(recurse=False)
        for child in module.children():
            yield from _outside(child)


def _is_fsdp1(module: torch.nn.Module) -> bool:
    """Return whether a module is wrapped by FSDP version 1."""
    return type(module).__name__ == "FullyShardedDataParallel"


class WritingModel(NamedTuple):
    """The model that writes, without shells, and its tokenizer, if any; `verbose`: whether to show progress."""

    model: LanguageModel | None
    tokenizer: PreTrainedTokenizerBase | None
    verbose: bool


class WrittenPart(NamedTuple):
    """Texts that one process wrote, the last error, and whether it ended the writing."""

    written: list[Generation | None]
    error: str | None
    fatal: bool


def needed(tokenizer: PreTrainedTokenizerBase | None) -> PreTrainedTokenizerBase:
    """Return the tokenizer, which a model needs to write.

    Raises:
        ValueError: there is none. TypeError: it is no tokenizer.
    """
    if tokenizer is None:
        raise ValueError("a tokenizer is needed: give tokenizer, or processing_class to the Trainer")
    if not callable(tokenizer) or not hasattr(tokenizer, "decode"):
        raise TypeError(
            f"tokenizer must be a tokenizer of transformers, got {type(tokenizer).__name__}: {shown(tokenizer)}"
        )
    return tokenizer


@dataclass
class Writer:
    """Writes a share of the prompts' texts, several at once, in batches that fit into memory.

    batch_size: prompts of a batch; halved for good when memory runs out. seed: of the sampling. special: leave special
    tokens in answers, since some models mark their reasoning with them. function: the user's, which writes in place of
    the model. keep_going: count texts that fail and go on. n_best: the best so many beams of a prompt, which is there
    so many times, in rows beside each other, are its texts. failure: of the last failed batch.
    """

    config: GenerationConfig
    batch_size: int = WritingOptions.generation_batch_size
    seed: int = 25
    special: bool = False
    function: GenerateFunction | None = None
    keep_going: bool = False
    n_best: int = 1
    failure: str | None = None

    def model(self, model: LanguageModel | None) -> LanguageModel | None:
        """Return the model if it writes, None if the user's function does.

        Raises:
            ValueError: there is neither. TypeError: the model cannot generate.
        """
        if self.function is None and model is None:
            raise ValueError("a model is needed, or a generate_fn that writes instead")
        if self.function is not None:
            return None
        if not callable(getattr(model, "generate", None)) or not hasattr(model, "config"):
            raise TypeError(
                "model must be a model of transformers that can generate, such as AutoModelForCausalLM loads, got "
                f"{type(model).__name__}: {shown(model)}"
            )
        return model

    def part(
        self, writing: WritingModel, prompts: Sequence[Prompt], ranked: tuple[int, int]
    ) -> tuple[WrittenPart, Exception | None]:
        """Write this process's share of the prompts; return it with the error that ended its writing.

        Args:
            given: model and tokenizer, neither of which is needed where the user's function writes.
            prompts: of all processes. ranked: the rank of this process and the number of processes.

        Raises:
            Exception: of a model with sharded weights, which all processes call in step, whatever it raises,
                `keep_going` or not: the others wait inside the model, where they can hear of nothing.
        """
        author, assigned = self.model(writing.model), range(ranked[0], len(prompts), ranked[1])
        in_step = None if author is None or sharded_by(author) is None else ranked
        numbers = assigned if in_step is None else range(len(prompts))
        share = [prompts[number] for number in numbers]
        try:
            if author is None:
                written = self._ask(share, numbers)
            else:
                if in_step is None:
                    check_finite_weights(author)
                together = contextlib.nullcontext(author) if in_step is None else writing_together(author)
                bar = progress_bar("generate", writing.verbose, total=len(assigned), leave=False)
                with together as inner, bar as advance:
                    written = self.write(inner, needed(writing.tokenizer), share, numbers, advance, in_step)
        except Exception as error:  # the other processes wait for it
            if in_step is not None:
                raise
            return WrittenPart([], repr(error), True), error
        finally:
            release_memory()
        return WrittenPart(written, None if in_step is not None else self.failure, False), None

    def _ask(self, share: Sequence[Prompt], numbers: Sequence[int]) -> list[Generation | None]:
        """The texts of the user's own function.

        Raises:
            ValueError, TypeError: it does not give a text for each. Exception: whatever it raises, unless `keep_going`.
        """
        if not share or self.function is None:
            return []
        self.failure = None
        seed_everything(self.seed, numbers[0])
        try:
            answer = self.function([prompt.text if prompt.messages is None else prompt.messages for prompt in share])
            if not isinstance(answer, Iterable) or isinstance(answer, (str, bytes, Mapping)):
                raise TypeError(f"generate_fn must give a text for each prompt, got {type(answer).__name__}")
            texts = list(answer)
            if len(texts) != len(share):
                raise ValueError(f"generate_fn must give a text for each prompt, got {len(texts)} for {len(share)}")
            wrong = next((text for text in texts if not (text is None or isinstance(text, str))), None)
            if wrong is not None:
                raise TypeError(f"generate_fn must give texts, got {type(wrong).__name__}")
        except Exception as error:  # the user's code: anything can go wrong in it
            if not self.keep_going:
                raise
            logger.warning("generate_fn failed for %d prompts: %r", len(share), error)
            self.failure = repr(error)
            return [None] * len(share)
        if None in texts:
            self.failure = f"generate_fn gave no text for {texts.count(None)} of {len(texts)} prompts"
            logger.warning("%s", self.failure)
        return [
            None if text is None else Generation(text, text if prompt.messages is not None else prompt.text + text)
            for text, prompt in zip(texts, share, strict=True)
        ]

    def write(
        self,
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        prompts: Sequence[Prompt],
        numbers: Sequence[int],
        advance: Callable[[int, int], None] | None = None,
        in_step: tuple[int, int] | None = None,
        keep: Callable[[Mapping[int, Generation | None]], None] | None = None,
    ) -> list[Generation | None]:
        """The text of each prompt, in their order; None where generating failed.

        Batches are of similar length, left-padded, and seeded by the number of their first prompt. Model and
        tokenizer are left as they were; the random state is not (see `random_states_kept`).

        Where each call of the model needs all processes (sharded weights), they write `in_step`: every process works
        through the same batches, each writes those prompts of a batch that are its own, and has something to do in
        every step, if only for the others' sake.

        Args:
            model: without the shells that `bare_model` takes off.
            tokenizer: of the model.
            prompts: what to continue; in step, those of all processes: number i is written by process i % size.
            numbers: of each prompt among those of all processes.
            advance: called with the numbers of texts done and to do.
            in_step: the rank of this process and the number of processes; the texts are those of its own prompts.
            keep: called with the texts of each batch by their numbers, as soon as they are written.

        Raises:
            Exception: whatever the model raises, unless `keep_going`; out of memory at a single prompt. In step any
                exception is raised, and the other processes cannot go on then.
        """
        rank, size = in_step or (0, 1)
        lengths = [len(prompt.ids) + prompt.new_tokens for prompt in prompts]
        waiting = sorted(range(len(prompts)), key=lambda index: -lengths[index])  # memory runs out early if at all
        written: dict[int, Generation | None] = {}
        assigned = range(rank, len(prompts), size)
        with generating(model):
            while waiting:
                chosen = next_batch(prompts, waiting, self.batch_size * self.n_best, max_positions(model), size)
                mine = [index for index in chosen if index % size == rank]
                batch = mine or chosen[:1]
                seed_everything(self.seed, numbers[batch[0]])
                texts: Sequence[Generation | None] | None = None
                try:
                    texts = self._batch(model, tokenizer, [prompts[index] for index in batch], in_step is not None)
                except Exception as error:  # the model's own code can raise anything
                    if in_step is None and len(chosen) > self.n_best and out_of_memory(error):
                        self.batch_size = (len(chosen) // self.n_best + 1) // 2
                        logger.warning("out of memory: generation goes on with batches of %d", self.batch_size)
                    elif in_step is None and self.keep_going:
                        logger.warning("generating %d texts failed: %r", len(chosen), error)
                        self.failure, texts = repr(error), [None] * len(chosen)
                    else:
                        raise
                if texts is None:  # after the except clause, which holds on to the memory of the failed batch
                    release_memory()
                    continue
                written |= dict(zip(mine, texts, strict=False))  # nothing for a batch of other processes
                done = set(chosen)
                waiting = [index for index in waiting if index not in done]
                if keep is not None:
                    keep({numbers[index]: written[index] for index in mine})
                if advance is not None:
                    advance(len(written), len(assigned))
        return [written[index] for index in assigned]

    def _batch(
        self, model: LanguageModel, tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt], in_step: bool
    ) -> list[Generation]:
        owners = (self.config, getattr(model, "generation_config", None), tokenizer)
        ends = {*known_ids(model, *((owner, "eos_token_id") for owner in owners))}
        ends.update(end for prompt in prompts for end in prompt.ends)
        settings = copy.deepcopy(self.config)
        settings.max_new_tokens, settings.max_length = max(prompt.new_tokens for prompt in prompts), None
        settings.use_cache = True if settings.use_cache is None else settings.use_cache
        settings.return_dict_in_generate, settings.num_return_sequences = False, self.n_best
        settings.eos_token_id = sorted(ends) or None
        padding = ((tokenizer, f"{name}_token_id") for name in ("pad", "eos", "bos"))  # any token, under the mask
        settings.pad_token_id = next(iter(known_ids(model, *padding)), 0)
        alone = is_encoder_decoder(model)
        rows = run_generate(model, [prompt.ids for prompt in prompts[:: self.n_best]], settings, in_step)
        generations = []
        for prompt, row in zip(prompts, rows, strict=True):
            ids = row[: prompt.new_tokens]
            ids = ids[: next((position for position, token in enumerate(ids) if token in ends), len(ids))]
            if alone or prompt.messages is not None:  # the new tokens alone, after what the template has written
                special = self.special and prompt.messages is not None
                text = only = prompt.opening + decode(tokenizer, ids, special=special)
            else:  # decoded behind the prompt, since many tokenizers drop a first space
                before, text = decode(tokenizer, prompt.ids), decode(tokenizer, [*prompt.ids, *ids])
                only = text[len(before) :] if text.startswith(before) else decode(tokenizer, ids)
            generations.append(Generation(only, text, tuple(ids)))
        return generations


def next_batch(
    prompts: Sequence[Prompt], waiting: Sequence[int], batch_size: int, positions: int | None, processes: int = 1
) -> list[int]:
    """The first of the waiting prompts that can be written together.

    All rows of a batch are written to the length that the longest needs, so that a long prompt with a short text and a
    short prompt with a long one may not fit together.

    Args:
        prompts: all. waiting: numbers of those that are not written yet.
        batch_size: the most prompts of one process. processes: number i is written by process i % processes.
        positions: how many tokens the model takes; None: any number.
    """
    chosen: list[int] = []
    counts: Counter[int] = Counter()
    longest = new = 0
    for index in waiting:
        length, more = max(longest, len(prompts[index].ids)), max(new, prompts[index].new_tokens)
        fits = not chosen or positions is None or length + more <= positions
        if fits and counts[index % processes] < batch_size:
            chosen.append(index)
            counts[index % processes] += 1
            longest, new = length, more
        if len(chosen) == batch_size * processes:
            break
    return chosen


def run_generate(
    model: LanguageModel, rows: Sequence[Sequence[int]], settings: GenerationConfig, in_step: bool = False
) -> list[list[int]]:
    """New token ids for each row of ids: padded on the left (an encoder's input on the right) under a mask.

    Of `num_return_sequences` beams of a row, the best comes first, and those of the next row follow.

    With `in_step` the model is called until the texts of all processes have ended.
    """
    torch = import_torch()
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), int(settings.pad_token_id))
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    right = is_encoder_decoder(model)
    for index, row in enumerate(rows):
        columns = slice(0, len(row)) if right else slice(width - len(row), width)
        ids[index, columns] = torch.tensor(row)
        mask[index, columns] = 1
    device = model.device
    ids, mask = ids.to(device), mask.to(device)
    options: dict[str, Any] = {"synced_gpus": True} if in_step else {}
    if is_contrastive(settings):
        check_contrastive(model, in_step)
        output = contrastive_search(model, ids, mask, settings)
    elif is_diverse(settings):
        output = diverse_beams(model, ids, mask, settings, **options)
    else:
        generated: Any = model.generate(input_ids=ids, attention_mask=mask, generation_config=settings, **options)
        output = generated.tolist()
    return [row[1 if right else width :] for row in output]
