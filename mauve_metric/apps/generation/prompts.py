"""Prompts to continue, and lengths: prompts as given, none, or the beginnings of texts."""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from mauve_metric.apps.generation import conversations
from mauve_metric.apps.generation.conversations import Conversation
from mauve_metric.apps.generation.decoding import (
    Prompt,
    decode,
    is_encoder_decoder,
    max_positions,
    start_ids,
    token_ids,
)
from mauve_metric.apps.generation.writing_options import WritingOptions
from mauve_metric.features.featurize import windows
from mauve_metric.inputs.sources import text_source
from mauve_metric.runtime.errors import WrongOption

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

logger = logging.getLogger(__name__)


Item = TypeVar("Item")
NEW_TOKENS = 128  # where no length of a text is given
_TOKENIZED_AT_ONCE = 1000


@dataclass(frozen=True)
class PromptSource:
    """Source of prompts. The model is None wherever the user's function writes.

    options: of writing. settings: the `GenerationConfig`. text_field: the column of a dataset that holds the texts.
    """

    options: WritingOptions
    settings: GenerationConfig
    text_field: str | None

    def scores_prompt(self, model: LanguageModel | None, prompts: Sequence[Prompt]) -> bool:
        """Return whether the text to score is prompt and continuation: no encoder-decoder's output and no answer."""
        answers = any(prompt.messages is not None for prompt in prompts)
        return self.options.include_prompt and not answers and (model is None or not is_encoder_decoder(model))

    # --- conversations --------------------------------------------------------------------------------------------

    @functools.cached_property
    def _prompts(self) -> Iterable[object] | None:
        """The prompts; an iterator can be read once only."""
        prompts = self.options.prompts
        return list(prompts) if isinstance(prompts, Iterator) else prompts

    @functools.cached_property
    def _conversations(self) -> list[Conversation] | None:
        """The prompts as conversations; None if they are texts, or none at all."""
        if self._prompts is None:
            return None
        return conversations.conversations_in("prompts", self._prompts, self.text_field)

    @property
    def may_be_wrapped(self) -> bool:
        """Return whether the training's data decide if the prompts go through the chat template."""
        return self.options.chat_template == "auto" and self._prompts is not None and self._conversations is None

    def _chats(self, num_references: int, conversational: bool) -> list[Conversation] | None:
        """The conversations to answer, as many as are asked for; None if texts are to be continued.

        Raises:
            ValueError: `chat_template` does not fit the prompts.
        """
        asked = self.options.chat_template
        chats = self._conversations
        if chats is not None and asked is False:
            raise ValueError("chat_template=False leaves no way to write conversations: give prompts as texts")
        if chats is not None:
            return self._as_many(chats)
        if asked is True or (conversational and self.may_be_wrapped):
            return [conversations.as_conversation(text) for text in self._given_prompts(num_references)]
        return None

    def _of_chat(
        self, model: LanguageModel, tokenizer: PreTrainedTokenizerBase, chats: list[Conversation]
    ) -> list[Prompt]:
        """Conversations to answer as token ids, without a length yet."""
        if is_encoder_decoder(model):
            raise ValueError(
                "conversations are answered by causal models: give an encoder-decoder model prompts as texts"
            )
        places = (f"prompts, position {index}" for index in range(len(chats)))
        texts = [conversations.rendered(tokenizer, chat, where) for chat, where in zip(chats, places, strict=True)]
        rows = token_ids(tokenizer, texts, special=False, ended=True)
        ends = conversations.turn_ends(tokenizer)
        return [
            Prompt(tuple(row), 0, question(chat), chat, ends, conversations.opened_reasoning(text))
            for row, chat, text in zip(rows, chats, texts, strict=True)
        ]

    # --- prompts as they are given --------------------------------------------------------------------------------

    def as_given(
        self,
        model: LanguageModel | None,
        tokenizer: PreTrainedTokenizerBase | None,
        human: Sequence[str] | None,
        num_references: int,
        conversational: bool = False,
    ) -> list[Prompt]:
        """Prompts as they are given, or empty ones.

        Args:
            model, tokenizer: that write; None for the user's function, whose prompts have no token ids.
            human: the human texts, where they are known. known: how many there are.
            conversational: the model is being trained on conversations.

        Raises:
            ValueError: prompts and model do not fit.
        """
        if self._prompts is None and model is not None and is_encoder_decoder(model):
            raise ValueError("an encoder-decoder model needs prompts")
        chats = self._chats(num_references, conversational)
        asked = self.options.chat_template is True and self._conversations is None
        if asked and model is not None and tokenizer is not None and not conversations.has_template(tokenizer):
            cure = "set tokenizer.chat_template, or leave chat_template out"
            raise WrongOption.of("chat_template", f"is True, and the tokenizer has no template: {cure}")
        if model is None or tokenizer is None:
            plain = [Prompt((), 0, text) for text in self._given_prompts(num_references)] if chats is None else []
            return plain + [Prompt((), 0, question(chat), chat) for chat in chats or ()]
        if chats is not None:
            prompts = self._of_chat(model, tokenizer, chats)
        else:  # empty ones begin at the token between texts
            texts = self._given_prompts(num_references)
            start = start_ids(model, tokenizer) if "" in texts else ()
            ids = token_ids(tokenizer, texts, ended=is_encoder_decoder(model))
            rows = [tuple(row) if text and row else start for row, text in zip(ids, texts, strict=True)]
            prompts = [Prompt(row, 0, text) for row, text in zip(rows, texts, strict=True)]
        lengths = self._wanted_lengths(model, tokenizer, prompts, human)
        positions = max_positions(model)
        rooms = [
            length if positions is None else min(length, positions - len(prompt.ids))
            for prompt, length in zip(prompts, lengths, strict=True)
        ]
        full = next((index for index, room in enumerate(rooms) if room < 1), None)
        if full is not None:
            tokens, cause = len(prompts[full].ids), f"the model takes {positions} in all"
            if lengths[full] < 1:
                cause = f"generation_config.max_length is {self.settings.max_length}"
            raise ValueError(f"prompts, position {full}: {tokens} tokens leave no room to write: {cause}")
        return [replace(prompt, new_tokens=room) for prompt, room in zip(prompts, rooms, strict=True)]

    def _given_prompts(self, num_references: int) -> list[str]:
        """The prompts, used again up to the number asked for; empty ones if there are none."""
        wanted = self.options.num_samples
        if self._prompts is None:
            return [""] * (num_references if wanted is None else wanted)
        source = text_source(
            "prompts", self._prompts, text_field=self.text_field, empty_texts="keep", side="prompt", cure=""
        )
        texts = list(source.texts)
        if not texts:
            raise ValueError("prompts must hold at least one text, got none")
        return self._as_many(texts)

    def _as_many(self, items: Sequence[Item]) -> list[Item]:
        """The items, used again up to the number asked for."""
        wanted = self.options.num_samples
        return [items[index % len(items)] for index in range(len(items) if wanted is None else wanted)]

    def _wanted_lengths(
        self,
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        prompts: Sequence[Prompt],
        human: Sequence[str] | None,
    ) -> list[int]:
        """The most new tokens of each text."""
        rows = [prompt.ids for prompt in prompts]
        whole = self.settings.max_length
        most = self.options.max_new_tokens or self.settings.max_new_tokens
        if most is None and whole is not None:
            return [whole if is_encoder_decoder(model) else whole - len(row) for row in rows]
        if most is not None or human is None:
            return [most or NEW_TOKENS] * len(rows)
        tokens = [len(ids) for _, ids in tokenized(tokenizer, human)]
        inside = self.scores_prompt(model, prompts) and self._prompts is not None
        return [max(1, tokens[index % len(tokens)] - (len(row) if inside else 0)) for index, row in enumerate(rows)]

    def cut_to_length(
        self,
        texts: Sequence[str],
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        prompts: Sequence[Prompt],
    ) -> list[str]:
        """The human texts, text i cut to the most tokens that the scored text of prompt i can have.

        They stay whole where they themselves give the lengths, and unless `cut_references` is True.
        """
        limits = (self.options.max_new_tokens, self.settings.max_new_tokens, self.settings.max_length)
        if self.options.cut_references is not True or limits == (None, None, None):
            return list(texts)
        begins = self.scores_prompt(model, prompts) and self._prompts is not None
        start = getattr(tokenizer, "bos_token_id", None)
        sizes = [
            prompt.new_tokens + (len(prompt.ids) - (prompt.ids[:1] == (start,)) if begins else 0) for prompt in prompts
        ]
        rows = token_ids(tokenizer, texts, special=False)
        return [
            text if len(row) <= size else decode(tokenizer, row[:size])
            for text, row, size in zip(texts, rows, itertools.cycle(sizes), strict=False)
        ]

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
        positions, most = max_positions(model), self.options.max_new_tokens or self.settings.max_new_tokens
        pairs: list[tuple[Prompt, str]] = []
        short = 0
        at_once = min(_TOKENIZED_AT_ONCE, wanted or _TOKENIZED_AT_ONCE)
        source = text_source("dataset", dataset, text_field=self.text_field, empty_texts="drop")
        for text, ids in tokenized(tokenizer, source.texts, at_once):
            size = self.options.prompt_tokens + (bool(ids) and ids[0] == getattr(tokenizer, "bos_token_id", None))
            total = min(len(ids), positions or len(ids), len(ids) if most is None else size + most)
            if total <= size:
                short += 1
                continue
            prompt = Prompt(tuple(ids[:size]), total - size, decode(tokenizer, ids[:size]))
            whole = text if total == len(ids) else decode(tokenizer, ids[:total])
            pairs.append((prompt, whole if self.options.include_prompt else whole.removeprefix(prompt.text)))
            if len(pairs) == wanted:
                break
        if source.dropped:
            logger.warning("dataset: %d empty texts are left out", source.dropped)
        if short:
            logger.warning("dataset: %d texts are left out, they have no token beyond the prompt's", short)
        if not pairs:
            raise ValueError(
                f"dataset must hold texts of more than prompt_tokens={self.options.prompt_tokens} tokens, got none"
            )
        if wanted is not None and len(pairs) < wanted:
            raise ValueError(f"num_samples={wanted} texts were asked for, the dataset has {len(pairs)} usable")
        return [prompt for prompt, _ in pairs], [human for _, human in pairs]


def question(chat: Conversation) -> str:
    """The last message of a conversation, which represents it in tables."""
    return conversations.text_of(chat[-1]) or ""


def tokenized(
    tokenizer: PreTrainedTokenizerBase, texts: Iterable[str], size: int = _TOKENIZED_AT_ONCE
) -> Iterator[tuple[str, list[int]]]:
    """Each text with its token ids, so many tokenized at once."""
    for part in windows(texts, size):
        yield from zip(part, token_ids(tokenizer, part), strict=True)
