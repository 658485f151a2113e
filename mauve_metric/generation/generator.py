"""Texts that are written: by a model, in batches that fit into memory, or by the user's own function."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mauve_metric.generation.decoding import batch_settings, end_ids, is_encoder_decoder, vocabulary_size
from mauve_metric.generation.options import GenerateFunction, WritingOptions
from mauve_metric.runtime.model_state import generating, out_of_memory, release_memory, seed_everything, settings_kept
from mauve_metric.runtime.packages import import_torch

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prompt:
    """One text to write: the token ids to start from, the most tokens to add, and the prompt as text."""

    ids: tuple[int, ...]
    new_tokens: int
    text: str


@dataclass(frozen=True)
class Generation:
    """One text written: the continuation alone, with its prompt, and as new token ids if they are known."""

    continuation: str
    text: str
    ids: tuple[int, ...] | None = None


def token_ids(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], *, special: bool = True, ended: bool = False
) -> list[list[int]]:
    """Token ids of texts.

    The tokenizer's settings for padding and truncation are not touched.

    Args:
        tokenizer: of transformers.
        texts: what to cut into tokens.
        special: with the special tokens that the tokenizer adds.
        ended: also with the EOS token that some end a text with.
    """
    if not texts:
        return []
    with settings_kept(tokenizer):
        found = tokenizer(
            list(texts),
            add_special_tokens=special,
            padding=False,
            truncation=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
    end = getattr(tokenizer, "eos_token_id", None)
    return [list(row[:-1]) if not ended and len(row) > 1 and row[-1] == end else list(row) for row in found]


def decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """The text of token ids, without special tokens and with every space as it stands."""
    return str(tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))


def start_ids(model: LanguageModel, tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """What a text begins with when there is no prompt: the BOS token, or the token between texts.

    Raises:
        ValueError: neither is known.
    """
    size = vocabulary_size(model)
    for owner, name in (
        (tokenizer, "bos_token_id"),
        (tokenizer, "eos_token_id"),
        (getattr(model, "generation_config", None), "bos_token_id"),
        (model.config, "bos_token_id"),
    ):
        value = getattr(owner, name, None)
        if isinstance(value, int) and 0 <= value < size:
            return (value,)
    raise ValueError("generating without prompts needs a tokenizer with a BOS or an EOS token, and this one has none")


@dataclass
class Generator:
    """Writes texts with a model, several at once, in batches that fit into memory.

    batch_size: prompts of a batch; halved for good when memory runs out. seed: of the sampling. failure: what the last
    batch that failed said.
    """

    config: GenerationConfig
    batch_size: int = WritingOptions.generation_batch_size
    seed: int = 25
    failure: str | None = None

    def write(
        self,
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        prompts: Sequence[Prompt],
        numbers: Sequence[int],
        *,
        keep_going: bool = False,
        advance: Callable[[int], None] | None = None,
    ) -> list[Generation | None]:
        """The text of each prompt, in their order; None where generating failed.

        Batches are of similar length, left-padded, and seeded by the number of their first prompt. Model and
        tokenizer are left as they were; the random state is not (see `random_states_kept`).

        Args:
            model: without the shells that `bare_model` takes off.
            tokenizer: of the model.
            prompts: what to continue.
            numbers: of each prompt among those of all processes.
            keep_going: log a batch that fails and give None for its texts.
            advance: called with the number of texts done.

        Raises:
            Exception: whatever the model raises, unless `keep_going`; out of memory at a single prompt.
        """
        order = sorted(range(len(prompts)), key=lambda item: -(len(prompts[item].ids) + prompts[item].new_tokens))
        written: list[Generation | None] = [None] * len(prompts)
        start = 0
        with generating(model):
            while start < len(order):
                chosen = order[start : start + self.batch_size]
                seed_everything(self.seed, numbers[chosen[0]])
                try:
                    texts: Sequence[Generation | None] | None
                    texts = self._batch(model, tokenizer, [prompts[item] for item in chosen])
                except Exception as error:  # the model's own code: anything can go wrong in it
                    if self._smaller(error, len(chosen)):
                        texts = None
                    elif keep_going:
                        logger.warning("generating %d texts failed: %r", len(chosen), error)
                        self.failure, texts = repr(error), [None] * len(chosen)
                    else:
                        raise
                if texts is None:  # after the except clause, which holds on to the memory of the failed batch
                    release_memory()
                    continue
                for item, text in zip(chosen, texts, strict=True):
                    written[item] = text
                start += len(chosen)
                if advance is not None:
                    advance(start)
        return written

    def _smaller(self, error: Exception, size: int) -> bool:
        """Halve the batches if an error says that memory ran out and there is something to halve."""
        if size == 1 or not out_of_memory(error):
            return False
        self.batch_size = (size + 1) // 2
        logger.warning("out of memory: generation goes on with batches of %d", self.batch_size)
        return True

    def _batch(
        self, model: LanguageModel, tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt]
    ) -> list[Generation]:
        settings = batch_settings(self.config, model, tokenizer, max(prompt.new_tokens for prompt in prompts))
        alone = is_encoder_decoder(model)
        rows = run_generate(model, [prompt.ids for prompt in prompts], settings)
        ends = set(end_ids(self.config, model, tokenizer))
        found = []
        for prompt, row in zip(prompts, rows, strict=True):
            ids = row[: prompt.new_tokens]
            ids = ids[: next((place for place, item in enumerate(ids) if item in ends), len(ids))]
            found.append(_generation(tokenizer, prompt, ids, alone))
        return found


def _generation(tokenizer: PreTrainedTokenizerBase, prompt: Prompt, ids: Sequence[int], alone: bool) -> Generation:
    """The text of new tokens, decoded behind their prompt, since many tokenizers drop a first space."""
    if alone:
        text = decode(tokenizer, ids)
        return Generation(text, text, tuple(ids))
    before, text = decode(tokenizer, prompt.ids), decode(tokenizer, [*prompt.ids, *ids])
    alone_text = text[len(before) :] if text.startswith(before) else decode(tokenizer, ids)
    return Generation(alone_text, text, tuple(ids))


def run_generate(model: LanguageModel, rows: Sequence[Sequence[int]], settings: GenerationConfig) -> list[list[int]]:
    """New token ids for each row of ids: padded on the left (an encoder's input on the right) under a mask."""
    torch = import_torch()
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), int(settings.pad_token_id))
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    right = is_encoder_decoder(model)
    for index, row in enumerate(rows):
        place = slice(0, len(row)) if right else slice(width - len(row), width)
        ids[index, place] = torch.tensor(row)
        mask[index, place] = 1
    device = model.device
    output = model.generate(input_ids=ids.to(device), attention_mask=mask.to(device), generation_config=settings)
    found: list[list[int]] = output[:, 1 if right else width :].tolist()
    return found


def ask(function: GenerateFunction, prompts: Sequence[Prompt]) -> list[Generation | None]:
    """The text of each prompt from the user's own function; None for one that failed.

    Raises:
        ValueError, TypeError: it does not give a text for each. Exception: whatever it raises.
    """
    if not prompts:
        return []
    found = list(function([prompt.text for prompt in prompts]))
    if len(found) != len(prompts):
        raise ValueError(f"generate_fn must give a text for each prompt, got {len(found)} for {len(prompts)}")
    wrong = next((item for item in found if not (item is None or isinstance(item, str))), None)
    if wrong is not None:
        raise TypeError(f"generate_fn must give texts, got {type(wrong).__name__}")
    return [
        None if item is None else Generation(item, prompt.text + item)
        for item, prompt in zip(found, prompts, strict=True)
    ]
