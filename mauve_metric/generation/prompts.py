"""What a model is to continue, and how far: prompts as they are given, none at all, or the beginnings of texts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mauve_metric.generation.decoding import is_encoder_decoder, max_positions
from mauve_metric.generation.generator import Prompt, decode, start_ids, token_ids
from mauve_metric.texts.sources import text_source

logger = logging.getLogger(__name__)


PROMPT_TOKENS = 35  # as in Pillutla et al. 2021
NEW_TOKENS = 128  # where nothing says how long a text should be
_TOKENIZED_AT_ONCE = 1000


@dataclass(frozen=True)
class PromptSource:
    """Where prompts come from.

    prompts, dataset, prompt_tokens, include_prompt, num_samples, max_new_tokens: see `ModelEvaluator`.
    settings: the `GenerationConfig`. by_function: the user's function writes, not the model. text_field: the column of
    a dataset that holds the texts.
    """

    prompts: Any
    dataset: Any
    prompt_tokens: int
    include_prompt: bool
    num_samples: int | None
    max_new_tokens: int | None
    settings: Any
    by_function: bool
    text_field: str | None

    def texts(self, name: str, data: Any, empty_texts: str) -> Any:
        """The texts in anything that `text_source` takes."""
        return text_source(name, data, text_field=self.text_field, empty_texts=empty_texts).texts

    def positions(self, model: Any) -> int | None:
        """How many tokens the model takes, see `decoding.max_positions`; None where a function writes."""
        return None if self.by_function else max_positions(model)

    def scores_prompt(self, model: Any) -> bool:
        """Whether the text to score is prompt and continuation."""
        return self.include_prompt and (self.by_function or not is_encoder_decoder(model))

    def given(self, model: Any, tokenizer: Any, human: Sequence[str] | None, known: int) -> list[Prompt]:
        """Prompts as they are given, or none at all.

        Args:
            model, tokenizer: that write.
            human: the human texts, where they are known. known: how many there are.

        Raises:
            ValueError: prompts and model do not fit.
        """
        positions = self.positions(model)
        wanted = self.num_samples
        if self.prompts is None:
            if not self.by_function and is_encoder_decoder(model):
                raise ValueError("an encoder-decoder model needs prompts")
            texts = [""] * (known if wanted is None else wanted)
        else:
            texts = list(self.texts("prompts", self.prompts, "keep"))
            if not texts:
                raise ValueError("prompts must hold at least one text, got none")
            wanted = len(texts) if wanted is None else wanted
            texts = [texts[index % len(texts)] for index in range(wanted)]
        if self.by_function:
            return [Prompt((), 0, text) for text in texts]
        start = start_ids(model, tokenizer) if "" in texts else ()
        rows = [tuple(row) for row in token_ids(tokenizer, texts, ended=is_encoder_decoder(model))]
        rows = [row if text and row else start for row, text in zip(rows, texts, strict=True)]
        lengths = self._wanted_lengths(model, tokenizer, rows, human)
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

    def _wanted_lengths(
        self, model: Any, tokenizer: Any, rows: Sequence[tuple[int, ...]], human: Sequence[str] | None
    ) -> list[int]:
        """The most new tokens of each text."""
        config = self.settings
        most = self.max_new_tokens or config.max_new_tokens
        if most is None and config.max_length is not None:
            return [config.max_length if is_encoder_decoder(model) else config.max_length - len(row) for row in rows]
        if most is not None or human is None:
            return [most or NEW_TOKENS] * len(rows)
        tokens = [len(ids) for _, ids in tokenized(tokenizer, human)]
        inside = self.scores_prompt(model) and self.prompts is not None
        return [max(1, tokens[index % len(tokens)] - (len(row) if inside else 0)) for index, row in enumerate(rows)]

    def of_dataset(self, model: Any, tokenizer: Any) -> tuple[list[Prompt], list[str]]:
        """The first tokens of human texts, to be continued to the length of the human text, and those human texts.

        Raises:
            ValueError: dataset and model do not fit, or too few texts are long enough.
        """
        positions = self.positions(model)
        if tokenizer is None:
            raise ValueError("cutting a dataset into prompts needs a tokenizer")
        if not self.by_function and is_encoder_decoder(model):
            raise ValueError("a dataset is cut into prompts for causal models: give an encoder-decoder model prompts")
        most = self.max_new_tokens or self.settings.max_new_tokens
        prompts: list[Prompt] = []
        human: list[str] = []
        short = 0
        texts = self.texts("dataset", self.dataset, "drop")
        for text, ids in tokenized(tokenizer, texts, min(_TOKENIZED_AT_ONCE, self.num_samples or _TOKENIZED_AT_ONCE)):
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
        return prompts, human


def tokenized(tokenizer: Any, texts: Iterable[str], size: int = _TOKENIZED_AT_ONCE) -> Iterator[tuple[str, list[int]]]:
    """Each text with its token ids, so many tokenized at once."""
    part: list[str] = []
    for text in texts:
        part.append(text)
        if len(part) == size:
            yield from zip(part, token_ids(tokenizer, part), strict=True)
            part = []
    yield from zip(part, token_ids(tokenizer, part), strict=True)
