"""The share of the texts that one process writes, with the model (also a sharded one) or by the user's function."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from mauve_metric.generation.generator import Generation, Generator, Given, Prompt
from mauve_metric.generation.options import GenerateFunction
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.model_state import check_finite_weights, release_memory, seed_everything
from mauve_metric.runtime.optional_imports import import_torch
from mauve_metric.runtime.processes import in_process_group
from mauve_metric.runtime.progress import progress_bar

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

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
    """The module that writes, as long as every process calls it as often as the others do.

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


class Part(NamedTuple):
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


@dataclass(frozen=True)
class Writer:
    """Writes a share of the prompts' texts.

    generator: for the model. function: the user's, which writes instead. keep_going: count texts that fail and go on.
    """

    generator: Generator
    function: GenerateFunction | None
    keep_going: bool

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

    def part(self, given: Given, prompts: Sequence[Prompt], ranked: tuple[int, int]) -> tuple[Part, Exception | None]:
        """Write this process's share of the prompts; return it with the error that ended its writing.

        Args:
            given: model and tokenizer, neither of which is needed where the user's function writes.
            prompts: of all processes. ranked: the rank of this process and the number of processes.

        Raises:
            Exception: of a model with sharded weights, which all processes call in step, whatever it raises,
                `keep_going` or not: the others wait inside the model, where they can hear of nothing.
        """
        author, own = self.model(given.model), range(ranked[0], len(prompts), ranked[1])
        in_step = None if author is None or sharded_by(author) is None else ranked
        numbers = own if in_step is None else range(len(prompts))
        share = [prompts[number] for number in numbers]
        try:
            if author is None:
                written = self._ask(share, numbers)
            else:
                if in_step is None:
                    check_finite_weights(author)
                together = contextlib.nullcontext(author) if in_step is None else writing_together(author)
                bar = progress_bar("generate", given.verbose, total=len(own), leave=False)
                with together as inner, bar as advance:
                    written = self.generator.write(
                        inner, needed(given.tokenizer), share, numbers, self.keep_going, advance, in_step
                    )
        except Exception as error:  # the other processes wait for it
            if in_step is not None:
                raise
            return Part([], repr(error), True), error
        finally:
            release_memory()
        return Part(written, None if in_step is not None else self.generator.failure, False), None

    def _ask(self, share: Sequence[Prompt], numbers: Sequence[int]) -> list[Generation | None]:
        """The texts of the user's own function.

        Raises:
            ValueError, TypeError: it does not give a text for each. Exception: whatever it raises, unless `keep_going`.
        """
        if not share or self.function is None:
            return []
        self.generator.failure = None
        seed_everything(self.generator.seed, numbers[0])
        try:
            given = self.function([prompt.text if prompt.messages is None else prompt.messages for prompt in share])
            if not isinstance(given, Iterable):
                raise TypeError(f"generate_fn must give a text for each prompt, got {type(given).__name__}")
            found = list(given)
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
            return [None] * len(share)
        return [
            None if item is None else Generation(item, item if prompt.messages is not None else prompt.text + item)
            for item, prompt in zip(found, share, strict=True)
        ]
