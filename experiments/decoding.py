"""The decoding rules of the experiments, by the name that tables show.

Contrastive search is not among them: transformers has moved it out of the library, to code on the Hub. The adversarial
rule of Pillutla et al. (2021) is written here: it makes text as probable as human text, and without sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import diverse
import numpy as np
import torch
from models import Workshop, Writing

from mauve_metric.apps.describing.likelihood.likelihoods import likelihoods
from mauve_metric.options import RunOptions

RANDOM_SHARE = 0.15  # of the new tokens, which the adversarial rule draws at random


def temperature(value: float) -> tuple[str, Mapping[str, object]]:
    """Name and settings of sampling at a temperature."""
    name = "sampling" if value == 1 else f"temperature {value:g}"
    return name, {"do_sample": True, "top_k": 0, "temperature": value}


def nucleus(p: float) -> tuple[str, Mapping[str, object]]:
    """Name and settings of sampling from the likeliest tokens that make up a share p of the probability."""
    return ("sampling" if p == 1 else f"nucleus {p:g}"), {"do_sample": True, "top_k": 0, "top_p": p}


DECODERS: dict[str, Mapping[str, object]] = {
    "greedy": {"do_sample": False},
    "beam 4": {"do_sample": False, "num_beams": 4},
    **dict([temperature(0.7), temperature(1.0)]),
    "top-k 40": {"do_sample": True, "top_k": 40},
    **dict([nucleus(0.95)]),
    "typical 0.95": {"do_sample": True, "top_k": 0, "typical_p": 0.95},
}
ADVERSARIAL = "adversarial"
ALL = (*DECODERS, ADVERSARIAL)
BLOCKED: Mapping[str, object] = {"do_sample": False, "num_beams": 4, "no_repeat_ngram_size": 4}  # of 4-grams
BEAMS, GROUPS = 10, 5  # of the decoders of several continuations
SEVERAL: dict[str, Callable[[Any, Sequence[int], int, Sequence[int]], list[diverse.Written]]] = {
    "NPAD": lambda model, row, count, never: diverse.noisy(model, row, count, BEAMS, 0.3, never),
    "top-g 3": lambda model, row, count, never: diverse.beam_search(model, row, count, BEAMS, diverse.capped(3), never),
    "Hamming 0.8": lambda model, row, count, never: diverse.beam_search(
        model, row, count, BEAMS, diverse.hamming(0.8), never
    ),
    "iterative": lambda model, row, count, never: diverse.iterative(model, row, count, BEAMS // GROUPS, GROUPS, never),
    "clustered": lambda model, row, count, never: diverse.beam_search(
        model, row, count, BEAMS, diverse.clustered(_embeddings(model), GROUPS, 0), never
    ),
    "oversampled": lambda model, row, count, never: diverse.oversampled(model, row, count, BEAMS, 10 * BEAMS, never),
    "clusters of beams": lambda model, row, count, never: diverse.one_of_each(
        diverse.beam_search(model, row, count, 10 * BEAMS, never=never), _embeddings(model), BEAMS, GROUPS, 0
    ),
}
EVERY = (*ALL, "beam 4, blocked", *SEVERAL)


def _embeddings(model: Any) -> np.ndarray:
    """The input embeddings of a model, (V, d)."""
    found: np.ndarray = model.get_input_embeddings().weight.detach().float().cpu().numpy()
    return found


def texts_by(workshop: Workshop, model: str, decoder: str) -> list[str]:
    """A model's text under one of `EVERY`; of several continuations of a prompt the first."""
    if decoder in SEVERAL:
        never = [workshop.model(model)[1].eos_token_id]

        def first_of(loaded: Any, rows: Sequence[Sequence[int]], count: int) -> list[list[int]]:
            return [list(SEVERAL[decoder](loaded, row, count, never)[0].ids) for row in rows]

        return workshop.write(model, decoder, first_of)
    if decoder != ADVERSARIAL:
        return workshop.write(model, decoder, DECODERS.get(decoder, BLOCKED))

    @cache
    def target() -> float:
        human = likelihoods(workshop.human, workshop.model(model), run=RunOptions(cache=False), prepend_bos=True)
        return float(human.log_probabilities.mean())

    def write(loaded: Any, rows: Sequence[Sequence[int]], count: int) -> list[list[int]]:
        return adversarial(loaded, rows, count, target(), workshop.model(model)[1].eos_token_id)

    as_writing: Writing = write
    return workshop.write(model, decoder, as_writing)


@torch.no_grad()
def adversarial(model: Any, rows: Sequence[Sequence[int]], count: int, target: float, end: int) -> list[list[int]]:
    """New token ids whose mean log-probability is that of human text: the first at random, the rest to match it.

    Args:
        model: of transformers. rows: token ids to continue. count: how many to write.
        target: mean log-probability of a token of human text under the model.
        end: the token between texts, which is never written.
    """
    width = max(map(len, rows))
    ids = torch.tensor([[end] * (width - len(row)) + list(row) for row in rows], device=model.device)
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=model.device)
    total = torch.zeros(len(rows), device=model.device)
    written, state, step_ids = [], None, ids
    for step in range(count):
        places = (mask.cumsum(1) - 1).clamp(min=0)[:, -step_ids.shape[1] :]
        out = model(input_ids=step_ids, attention_mask=mask, position_ids=places, past_key_values=state, use_cache=True)
        state, logs = out.past_key_values, out.logits[:, -1].float().log_softmax(-1)
        if step < math.ceil(RANDOM_SHARE * count):
            choice = torch.rand_like(logs)
        else:
            choice = -((total[:, None] + logs) / (step + 1) - target).abs()
        choice[:, end] = -math.inf
        step_ids = choice.argmax(-1, keepdim=True)
        total += logs.gather(1, step_ids)[:, 0]
        mask = torch.cat([mask, torch.ones_like(step_ids)], dim=1)
        written.append(step_ids[:, 0])
    found: list[list[int]] = torch.stack(written, dim=1).tolist()
    return found
