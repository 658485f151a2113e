"""What a model is to continue, and how far: prompts as they are given, none at all, or the beginnings of texts."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mauve_metric.generation.decoding import is_encoder_decoder, max_positions
from mauve_metric.generation.generator import Prompt, decode, start_ids, token_ids
from mauve_metric.generation.options import WritingOptions
from mauve_metric.texts.sources import text_source

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

logger = logging.getLogger(__name__)


NEW_TOKENS = 128  # where nothing says how long a text should be
_TOKENIZED_AT_ONCE = 1000


@dataclass(frozen=True)
class PromptSource:
    """Where prompts come from. The model is None wherever the user's function writes.

    options: of writing. settings: the `GenerationConfig`. text_field: the column of a dataset that holds the texts.
    """

    options: WritingOptions
    settings: GenerationConfig
    text_field: str | None

    def positions(self, model: LanguageModel | None) -> int | None:
        """How many tokens the model takes, see `decoding.max_positions`; None where a function writes."""
        return None if model is None else max_positions(model)

    def scores_prompt(self, model: LanguageModel | None) -> bool:
        """Whether the text to score is prompt and continuation."""
        return self.options.include_prompt and (model is None or not is_encoder_decoder(model))

    # --- prompts as they are given --------------------------------------------------------------------------------

    def for_function(self, known: int) -> list[Prompt]:
        """Prompts for the user's function, or empty ones; `known` is how many human texts there are."""
        return [Prompt((), 0, text) for text in self._given(known)]

    def for_model(
        self, model: LanguageModel, tokenizer: PreTrainedTokenizerBase, human: Sequence[str] | None, known: int
    ) -> list[Prompt]:
        """Prompts as they are given, or none at all.

        Args:
            model, tokenizer: that write.
            human: the human texts, where they are known. known: how many there are.

        Raises:
            ValueError: prompts and model do not fit.
        """
        if self.options.prompts is None and is_encoder_decoder(model):
            raise ValueError("an encoder-decoder model needs prompts")
        texts = self._given(known)
        start = start_ids(model, tokenizer) if "" in texts else ()
        rows = [tuple(row) for row in token_ids(tokenizer, texts, ended=is_encoder_decoder(model))]
        rows = [row if text and row else start for row, text in zip(rows, texts, strict=True)]
        lengths = self._wanted_lengths(model, tokenizer, rows, human)
        positions = self.positions(model)
        prompts = []
        for index, (row, length, text) in enumerate(zip(rows, lengths, texts, strict=True)):
            room = length if positions is None else min(length, positions - len(row))
            if room < 1:
                raise ValueError(
                    f"prompts, position {index}: {len(row)} tokens leave no room to write: the model takes "
                    f"{positions} in all"
                )
            prompts.append(Prompt(row, room, text))
        return prompts

    def _given(self, known: int) -> list[str]:
        """The prompts, used again up to the number asked for; empty ones if there are none."""
        wanted = self.options.num_samples
        if self.options.prompts is None:
            return [""] * (known if wanted is None else wanted)
        texts = list(self._texts("prompts", self.options.prompts, "keep"))
        if not texts:
            raise ValueError("prompts must hold at least one text, got none")
        return [texts[index % len(texts)] for index in range(len(texts) if wanted is None else wanted)]

    def _texts(self, name: str, data: Iterable[object], empty_texts: str) -> Iterable[str]:
        """The texts in anything that `text_source` takes."""
        return text_source(name, data, text_field=self.text_field, empty_texts=empty_texts).texts

    def _wanted_lengths(
        self,
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        rows: Sequence[tuple[int, ...]],
        human: Sequence[str] | None,
    ) -> list[int]:
        """The most new tokens of each text."""
        whole = self.settings.max_length
        most = self.options.max_new_tokens or self.settings.max_new_tokens
        if most is None and whole is not None:
            return [whole if is_encoder_decoder(model) else whole - len(row) for row in rows]
        if most is not None or human is None:
            return [most or NEW_TOKENS] * len(rows)
        tokens = [len(ids) for _, ids in tokenized(tokenizer, human)]
        inside = self.scores_prompt(model) and self.options.prompts is not None
        return [max(1, tokens[index % len(tokens)] - (len(row) if inside else 0)) for index, row in enumerate(rows)]

    # --- the beginnings of texts ----------------------------------------------------------------------------------

    def of_dataset(
        self, dataset: Iterable[object], model: LanguageModel | None, tokenizer: PreTrainedTokenizerBase | None
    ) -> tuple[list[Prompt], list[str]]:
        """The first tokens of human texts, to be continued to the length of the human text, and those human texts.

        Raises:
            ValueError: dataset and model do not fit, or too few texts are long enough.
        """
        wanted = self.options.num_samples
        if tokenizer is None:
            raise ValueError("cutting a dataset into prompts needs a tokenizer")
        if model is not None and is_encoder_decoder(model):
            raise ValueError("a dataset is cut into prompts for causal models: give an encoder-decoder model prompts")
        pairs: list[tuple[Prompt, str]] = []
        short = 0
        at_once = min(_TOKENIZED_AT_ONCE, wanted or _TOKENIZED_AT_ONCE)
        for text, ids in tokenized(tokenizer, self._texts("dataset", dataset, "drop"), at_once):
            pair = self._cut(text, ids, self.positions(model), tokenizer)
            if pair is None:
                short += 1
                continue
            pairs.append(pair)
            if len(pairs) == wanted:
                break
        if short:
            logger.warning("dataset: %d texts are left out, they have no token beyond the prompt's", short)
        if not pairs:
            raise ValueError(
                f"dataset must hold texts of more than prompt_tokens={self.options.prompt_tokens} tokens, got none"
            )
        if wanted is not None and len(pairs) < wanted:
            raise ValueError(f"num_samples={wanted} texts were asked for, the dataset has {len(pairs)} usable")
        return [prompt for prompt, _ in pairs], [human for _, human in pairs]

    def _cut(
        self, text: str, ids: Sequence[int], positions: int | None, tokenizer: PreTrainedTokenizerBase
    ) -> tuple[Prompt, str] | None:
        """A prompt from the first tokens of a text, and the human text to compare with; None if nothing is left."""
        most = self.options.max_new_tokens or self.settings.max_new_tokens
        size = self.options.prompt_tokens + (bool(ids) and ids[0] == getattr(tokenizer, "bos_token_id", None))
        total = min(len(ids), positions or len(ids), len(ids) if most is None else size + most)
        if total <= size:
            return None
        prompt = Prompt(tuple(ids[:size]), total - size, decode(tokenizer, ids[:size]))
        whole = text if total == len(ids) else decode(tokenizer, ids[:total])
        return prompt, whole if self.options.include_prompt else whole.removeprefix(prompt.text)


def tokenized(
    tokenizer: PreTrainedTokenizerBase, texts: Iterable[str], size: int = _TOKENIZED_AT_ONCE
) -> Iterator[tuple[str, list[int]]]:
    """Each text with its token ids, so many tokenized at once."""
    part: list[str] = []
    for text in texts:
        part.append(text)
        if len(part) == size:
            yield from zip(part, token_ids(tokenizer, part), strict=True)
            part = []
    yield from zip(part, token_ids(tokenizer, part), strict=True)
