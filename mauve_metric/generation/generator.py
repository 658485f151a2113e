"""Generation of texts: by a model, in batches that fit into memory, or by the user's own function."""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mauve_metric.generation.conversations import Conversation
from mauve_metric.generation.decoding import (
    end_ids,
    first_token,
    is_encoder_decoder,
    max_positions,
)
from mauve_metric.generation.options import WritingOptions
from mauve_metric.runtime.model_state import generating, out_of_memory, release_memory, seed_everything, settings_kept
from mauve_metric.runtime.optional_imports import import_torch

if TYPE_CHECKING:
    from transformers import GenerationConfig, PreTrainedTokenizerBase

    from mauve_metric.runtime.model_state import LanguageModel

logger = logging.getLogger(__name__)


class Given(NamedTuple):
    """Arguments of one evaluation: the model without shells and its tokenizer, if any, and whether to show progress."""

    model: LanguageModel | None
    tokenizer: PreTrainedTokenizerBase | None
    verbose: bool


@dataclass(frozen=True)
class Prompt:
    """One text to write: the token ids to start from, the most tokens to add, and the prompt as text.

    messages: the conversation, if the prompt is one: then the answer alone is the text. ends: tokens that end the
    answer, beside those that end any text. opening: what the template has already written of the answer.
    """

    ids: tuple[int, ...]
    new_tokens: int
    text: str
    messages: Conversation | None = None
    ends: tuple[int, ...] = ()
    opening: str = ""


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


def decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], *, special: bool = False) -> str:
    """The text of token ids, without special tokens unless asked for, and with every space unchanged."""
    return str(tokenizer.decode(list(ids), skip_special_tokens=not special, clean_up_tokenization_spaces=False))


def start_ids(model: LanguageModel, tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """First tokens of a text without a prompt: the BOS token, or the token between texts.

    Raises:
        ValueError: neither is known.
    """
    owners = (getattr(model, "generation_config", None), model.config)
    found = first_token(
        model,
        (tokenizer, "bos_token_id"),
        (tokenizer, "eos_token_id"),
        *((owner, "bos_token_id") for owner in owners),
    )
    if found is None:
        raise ValueError(
            "generating without prompts needs a tokenizer with a BOS or an EOS token, and this one has none"
        )
    return (found,)


@dataclass
class Generator:
    """Writes texts with a model, several at once, in batches that fit into memory.

    batch_size: prompts of a batch; halved for good when memory runs out. seed: of the sampling. special: leave special
    tokens in answers, since some models mark their reasoning with them. failure: of the last failed batch.
    """

    config: GenerationConfig
    batch_size: int = WritingOptions.generation_batch_size
    seed: int = 25
    special: bool = False
    failure: str | None = None

    def write(
        self,
        model: LanguageModel,
        tokenizer: PreTrainedTokenizerBase,
        prompts: Sequence[Prompt],
        numbers: Sequence[int],
        keep_going: bool = False,
        advance: Callable[[int, int], None] | None = None,
        in_step: tuple[int, int] | None = None,
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
            keep_going: log a batch that fails and give None for its texts.
            advance: called with the numbers of texts done and to do.
            in_step: the rank of this process and the number of processes; the texts are those of its own prompts.

        Raises:
            Exception: whatever the model raises, unless `keep_going`; out of memory at a single prompt. In step any
                exception is raised, and the other processes cannot go on then.
        """
        rank, size = in_step or (0, 1)
        lengths = [len(prompt.ids) + prompt.new_tokens for prompt in prompts]
        waiting = sorted(range(len(prompts)), key=lambda item: -lengths[item])  # memory runs out early if at all
        written: dict[int, Generation | None] = {}
        own = range(rank, len(prompts), size)
        with generating(model):
            while waiting:
                chosen = next_batch(prompts, waiting, self.batch_size, max_positions(model), size)
                mine = [item for item in chosen if item % size == rank]
                batch = mine or chosen[:1]
                seed_everything(self.seed, numbers[batch[0]])
                texts: Sequence[Generation | None] | None = None
                try:
                    texts = self._batch(model, tokenizer, [prompts[item] for item in batch], in_step is not None)
                except Exception as error:  # the model's own code can raise anything
                    if in_step is None and len(chosen) > 1 and out_of_memory(error):
                        self.batch_size = (len(chosen) + 1) // 2
                        logger.warning("out of memory: generation goes on with batches of %d", self.batch_size)
                    elif in_step is None and keep_going:
                        logger.warning("generating %d texts failed: %r", len(chosen), error)
                        self.failure, texts = repr(error), [None] * len(chosen)
                    else:
                        raise
                if texts is None:  # after the except clause, which holds on to the memory of the failed batch
                    release_memory()
                    continue
                written |= dict(zip(mine, texts, strict=False))  # nothing for a batch of other processes
                done = set(chosen)
                waiting = [item for item in waiting if item not in done]
                if advance is not None:
                    advance(len(written), len(own))
        return [written[item] for item in own]

    def _batch(
        self, model: LanguageModel, tokenizer: PreTrainedTokenizerBase, prompts: Sequence[Prompt], in_step: bool
    ) -> list[Generation]:
        ends = {*end_ids(self.config, model, tokenizer), *(end for prompt in prompts for end in prompt.ends)}
        settings = copy.deepcopy(self.config)
        settings.max_new_tokens, settings.max_length = max(prompt.new_tokens for prompt in prompts), None
        settings.use_cache = True if settings.use_cache is None else settings.use_cache
        settings.return_dict_in_generate = False
        settings.eos_token_id = sorted(ends) or None
        padding = ((tokenizer, f"{name}_token_id") for name in ("pad", "eos", "bos"))  # any token, under the mask
        settings.pad_token_id = first_token(model, *padding) or 0
        alone = is_encoder_decoder(model)
        rows = run_generate(model, [prompt.ids for prompt in prompts], settings, in_step)
        found = []
        for prompt, row in zip(prompts, rows, strict=True):
            ids = row[: prompt.new_tokens]
            ids = ids[: next((place for place, item in enumerate(ids) if item in ends), len(ids))]
            found.append(_generation(tokenizer, prompt, ids, alone, self.special))
        return found


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
    for item in waiting:
        length, more = max(longest, len(prompts[item].ids)), max(new, prompts[item].new_tokens)
        fits = not chosen or positions is None or length + more <= positions
        if fits and counts[item % processes] < batch_size:
            chosen.append(item)
            counts[item % processes] += 1
            longest, new = length, more
        if len(chosen) == batch_size * processes:
            break
    return chosen


def _generation(
    tokenizer: PreTrainedTokenizerBase, prompt: Prompt, ids: Sequence[int], alone: bool, special: bool
) -> Generation:
    """The text of new tokens, decoded behind their prompt, since many tokenizers drop a first space.

    An answer is the new tokens alone, after the part that the template has already written.
    """
    if alone or prompt.messages is not None:
        text = prompt.opening + decode(tokenizer, ids, special=special and prompt.messages is not None)
        return Generation(text, text, tuple(ids))
    before, text = decode(tokenizer, prompt.ids), decode(tokenizer, [*prompt.ids, *ids])
    alone_text = text[len(before) :] if text.startswith(before) else decode(tokenizer, ids)
    return Generation(alone_text, text, tuple(ids))


def run_generate(
    model: LanguageModel, rows: Sequence[Sequence[int]], settings: GenerationConfig, in_step: bool = False
) -> list[list[int]]:
    """New token ids for each row of ids: padded on the left (an encoder's input on the right) under a mask.

    With `in_step` the model is called until the texts of all processes have ended.
    """
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
    ids, mask = ids.to(device), mask.to(device)
    options = {"synced_gpus": True} if in_step else {}
    output = model.generate(input_ids=ids, attention_mask=mask, generation_config=settings, **options)
    found: list[list[int]] = output[:, 1 if right else width :].tolist()
    return found
