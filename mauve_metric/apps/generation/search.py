"""Searches that transformers has left to code on the Hub: diverse beams and contrastive search."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any, cast

from mauve_metric.apps.generation.decoding import is_encoder_decoder
from mauve_metric.runtime.checks import shown
from mauve_metric.runtime.optional_imports import import_torch, import_transformers

if TYPE_CHECKING:
    import torch
    from transformers import GenerationConfig

    from mauve_metric.runtime.model_state import LanguageModel

Chosen = dict[int, "list[tuple[torch.Tensor, torch.Tensor]]"]  # position → of each group, tokens and their weights


def is_diverse(settings: GenerationConfig) -> bool:
    """Return whether the beams are in groups."""
    return (settings.num_beam_groups or 1) > 1


def is_contrastive(settings: GenerationConfig) -> bool:
    """Return whether contrastive search is asked for, by the same settings as in transformers."""
    beams = (settings.num_beams or 1) > 1
    return bool(settings.penalty_alpha) and (settings.top_k or 0) > 1 and not settings.do_sample and not beams


def diverse_beams(
    model: LanguageModel, ids: torch.Tensor, mask: torch.Tensor, settings: GenerationConfig, **options: Any
) -> list[list[int]]:
    """Token ids of beam search in groups, each of which avoids what earlier ones choose (Vijayakumar et al. 2018).

    A token costs `diversity_penalty` for each beam of an earlier group that chose it at the same position. No group
    depends on a later one, so that each is an ordinary search, one after the other.

    Args:
        model: of transformers. ids, mask: (b, w), padded. options: further keywords of `generate`.

    Returns:
        `num_return_sequences` rows for each row of `ids`: the best of each group in turn, then the second best.
    """
    groups, wanted = int(settings.num_beam_groups or 1), int(settings.num_return_sequences or 1)
    of_group = copy.deepcopy(settings)
    of_group.num_beams, of_group.num_beam_groups, of_group.diversity_penalty = settings.num_beams // groups, None, None
    of_group.num_return_sequences = kept = -(-wanted // groups)
    penalty, record = _penalised(len(ids), float(settings.diversity_penalty), settings, of_group.num_beams)
    generation = import_transformers().generation
    options |= {"input_ids": ids, "attention_mask": mask, "generation_config": of_group}
    options |= {"logits_processor": generation.LogitsProcessorList([penalty])}
    options |= {"stopping_criteria": generation.StoppingCriteriaList([record])}
    rows = [cast("torch.Tensor", model.generate(**options)).tolist() for _ in range(groups)]
    return [rows[turn % groups][row * kept + turn // groups] for row in range(len(ids)) for turn in range(wanted)]


def _penalised(batch: int, penalty: float, settings: GenerationConfig, beams: int) -> tuple[Any, Any]:
    """A logits processor that lowers what earlier groups chose, and a criterion that stops nothing and records it."""
    xp = import_torch()
    chosen: Chosen = {}

    def lower(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        times = scores.new_zeros(batch, scores.shape[-1])
        for tokens, weights in chosen.get(ids.shape[1], ()):
            times.scatter_add_(1, tokens, weights.to(times.dtype))
        return (scores.view(batch, -1, scores.shape[-1]) - penalty * times[:, None]).view_as(scores)

    def record(ids: torch.Tensor, scores: torch.Tensor, **_: object) -> torch.Tensor:
        position = ids.shape[1] - 1
        groups_before = chosen.setdefault(position, [])
        ends = xp.tensor(settings.eos_token_id or [], device=ids.device)
        running = ~xp.isin(ids[:, min(chosen) :], ends).any(dim=1).view(batch, -1)
        groups_before.append((ids[:, -1].view(batch, -1), running & (running.cumsum(1) <= beams)))
        return ids.new_zeros(len(ids), dtype=xp.bool)

    return lower, record


def check_contrastive(model: LanguageModel, in_step: bool) -> None:
    """Refuse a model that contrastive search cannot use.

    Raises:
        ValueError: its prompt goes into an encoder, or its weights are spread over processes.
    """
    if is_encoder_decoder(model) or in_step:
        reason = "weights that are sharded" if in_step else "an encoder for the prompt"
        raise ValueError(
            f"penalty_alpha must be left out for a model with {reason}: contrastive search has no use of it"
        )


def contrastive_search(
    model: LanguageModel, ids: torch.Tensor, mask: torch.Tensor, settings: GenerationConfig
) -> list[list[int]]:
    """Token ids, prompt first, of contrastive search (Su et al. 2022, §4.2).

    Of the `top_k` likeliest tokens v the one with the highest (1 - α) p(v) - α max_j cos(h_v, h_j) is next, where α is
    `penalty_alpha`, h the last hidden state and j a token before v.

    Args:
        model: of transformers, a decoder. ids, mask: (b, w), padded on the left.

    Raises:
        ValueError: the model keeps no keys and values that can be put into another order.
    """
    torch = import_torch()
    k, alpha = int(settings.top_k), float(settings.penalty_alpha)
    ends = torch.tensor(settings.eos_token_id or [], device=ids.device)
    model_input = _Reader(model, mask)
    logits, hidden = model_input.read(ids)
    if not hasattr(model_input.cache, "reorder_cache"):
        raise ValueError(
            f"penalty_alpha must be left out for {shown(type(model).__name__)}: it has no cache to reorder"
        )
    first = torch.arange(len(ids), device=ids.device).repeat_interleave(k)
    model_input.reorder(first)
    done = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(int(settings.max_new_tokens)):
        likeliest, tokens = logits.softmax(-1).topk(k, dim=-1)
        next_logits, next_hidden = model_input.read(tokens.view(-1, 1))
        states = next_hidden.view(len(ids), k, -1)
        likeness = torch.einsum("bkd,bld->bkl", states, hidden)
        worst = likeness.masked_fill(model_input.mask.view(len(ids), k, -1)[:, :1, :-1] == 0, -1.0).amax(-1)
        best = ((1 - alpha) * likeliest - alpha * worst).argmax(-1)
        rows = torch.arange(len(ids), device=ids.device)
        ids = torch.cat([ids, tokens[rows, best, None]], dim=1)
        hidden = torch.cat([hidden, states[rows, best, None]], dim=1)
        logits = next_logits.view(len(ids), k, -1)[rows, best]
        done |= torch.isin(ids[:, -1], ends)
        if bool(done.all()):
            break
        model_input.reorder((rows * k + best).repeat_interleave(k))
    token_rows: list[list[int]] = ids.tolist()
    return token_rows


class _Reader:
    """A model that reads rows of tokens piece by piece; keeps the mask, and the keys and values of what it has read."""

    def __init__(self, model: LanguageModel, mask: torch.Tensor) -> None:
        self.model, self.mask = model, mask
        self.cache: Any = None
        self.has_positions = "position_ids" in inspect.signature(model.forward).parameters

    def read(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits behind the last token (b, V), and unit vectors of the hidden states of all tokens (b, t, d)."""
        torch = import_torch()
        if self.cache is not None:
            self.mask = torch.cat([self.mask, self.mask.new_ones(ids.shape)], dim=1)
        positions = (self.mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        options = {"position_ids": positions} if self.has_positions else {}
        out = self.model(
            input_ids=ids,
            attention_mask=self.mask,
            past_key_values=self.cache,
            use_cache=True,
            output_hidden_states=True,
            **options,
        )
        self.cache = out.past_key_values
        hidden = torch.nn.functional.normalize(out.hidden_states[-1].float(), dim=-1)
        return out.logits[:, -1].float(), hidden

    def reorder(self, rows: torch.Tensor) -> None:
        """Go on with these rows."""
        self.cache.reorder_cache(rows)
        self.mask = self.mask[rows]
