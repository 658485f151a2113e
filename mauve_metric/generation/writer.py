"""The share of the texts that one process writes, with the model or by the user's function."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mauve_metric.generation.fully_sharded import writing_together
from mauve_metric.generation.generator import Generation, Generator, Prompt, ask
from mauve_metric.generation.options import GenerateFunction
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.model_state import check_finite_weights, release_memory, seed_everything
from mauve_metric.runtime.progress import progress_bar

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

logger = logging.getLogger(__name__)


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

    def part(
        self,
        model: LanguageModel | None,
        tokenizer: PreTrainedTokenizerBase | None,
        prompts: Sequence[Prompt],
        numbers: Sequence[int],
        verbose: bool,
    ) -> tuple[Part, Exception | None]:
        """Write this process's share of the prompts; return it with the error that ended its writing.

        Args:
            model, tokenizer: None where the user's function writes.
            prompts: of all processes. numbers: of those of this process.
            verbose: a progress bar.
        """
        share = [prompts[number] for number in numbers]
        try:
            if model is None or self.function is not None:
                written = self._ask(share, numbers)
            else:
                written = self._write(model, needed(tokenizer), share, numbers, verbose)
        except Exception as error:  # the other processes wait for it
            return Part([], repr(error), True), error
        finally:
            release_memory()
        return Part(written, self.generator.failure, False), None

    def part_in_step(
        self,
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        prompts: Sequence[Prompt],
        rank: int,
        size: int,
        verbose: bool,
    ) -> Part:
        """Write this process's share of the prompts with sharded weights, in step with the others.

        Raises:
            Exception: whatever the model raises, `keep_going` or not: the others wait inside the model, where they can
                hear of nothing.
        """
        share = len(range(rank, len(prompts), size))
        try:
            with writing_together(model) as inner, progress_bar("generate", verbose, total=share, leave=False) as bar:
                advance = None if bar is None else lambda done: bar(done, share)
                written = self.generator.write_in_step(inner, tokenizer, prompts, rank, size, advance)
        finally:
            release_memory()
        return Part(written, None, False)

    def _write(
        self,
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        share: Sequence[Prompt],
        numbers: Sequence[int],
        verbose: bool,
    ) -> list[Generation | None]:
        """The model's texts; `ValueError` for weights that are not numbers, of which no text can come."""
        check_finite_weights(model)
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
        """The texts of the user's own function."""
        if self.function is None:
            raise ValueError("a model is needed, or a generate_fn that writes instead")
        if not share:
            return []
        self.generator.failure = None
        seed_everything(self.generator.seed, numbers[0])
        try:
            return ask(self.function, share)
        except Exception as error:  # the user's code: anything can go wrong in it
            if not self.keep_going:
                raise
            logger.warning("generate_fn failed for %d prompts: %r", len(share), error)
            self.generator.failure = repr(error)
            return [None] * len(share)
