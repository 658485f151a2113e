"""The adversarial rule of Pillutla et al. (2021): text as probable as human text, and without sense."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from models import Workshop

ADVERSARIAL = "adversarial"
RANDOM_SHARE = 0.15  # of the new tokens, which are drawn at random


def adversarial_texts(workshop: Workshop, model: str) -> list[str]:
    """A model's text whose mean log-probability is that of the human texts."""
    loaded = workshop.model(model)
    target, end = float(workshop.read(workshop.human).log_probabilities.mean()), loaded[1].eos_token_id

    def write(loaded: Any, rows: Sequence[Sequence[int]], count: int) -> list[list[int]]:
        return adversarial(loaded, rows, count, target, end)

    return workshop.write_by(model, ADVERSARIAL, write)


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
