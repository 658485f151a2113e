"""Diverse beams and contrastive search against loops that read every text again from its beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from writers import PROMPTS

from mauve_metric.apps.generation.decoding import generation_settings, token_ids
from mauve_metric.apps.generation.writer import run_generate

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def settings_of(texts: int = 1, **values: Any) -> Any:
    settings = generation_settings({"do_sample": False, "max_new_tokens": 8, **values})
    settings.pad_token_id, settings.num_return_sequences = 0, texts
    return settings


def log_probabilities(model: Any, ids: Sequence[int]) -> Any:
    with torch.no_grad():
        return model(input_ids=torch.tensor([list(ids)])).logits[0, -1].log_softmax(-1)


def beams_in_groups(
    model: Any, prompt: Sequence[int], count: int, beams: int, groups: int, penalty: float
) -> list[list[int]]:
    """New tokens of each group's beams, the best first, where no text ends."""
    width = beams // groups
    states: list[list[tuple[float, list[int]]]] = [[(0.0, [])] for _ in range(groups)]
    for _ in range(count):
        used: Counter[int] = Counter()
        for group, state in enumerate(states):
            children = []
            for total, row in state:
                scores = log_probabilities(model, [*prompt, *row])
                for token, times in used.items():
                    scores[token] -= penalty * times
                children += [(total + float(scores[token]), [*row, token]) for token in range(len(scores))]
            states[group] = sorted(children, key=lambda child: -child[0])[:width]
            used.update(row[-1] for _, row in states[group])
    return [row for state in states for _, row in state]


@pytest.mark.more
@pytest.mark.parametrize(("beams", "groups"), [(4, 2), (3, 3), (6, 2)])
def test_diverse_beams_are_those_of_a_loop(model: Any, tokenizer: Any, beams: int, groups: int) -> None:
    prompts = token_ids(tokenizer, PROMPTS[:3])  # of unequal length
    values = {"num_beams": beams, "num_beam_groups": groups, "diversity_penalty": 0.7}
    settings = settings_of(texts=beams, max_new_tokens=5, **values)
    rows = run_generate(model, prompts, settings)
    for number, prompt in enumerate(prompts):
        by_group = beams_in_groups(model, prompt, 5, beams, groups, 0.7)
        width = beams // groups
        in_turn = [by_group[group * width + rank] for rank in range(width) for group in range(groups)]
        assert rows[number * beams : (number + 1) * beams] == in_turn
    settings.num_return_sequences = 2
    assert run_generate(model, prompts, settings)[2:4] == rows[beams : beams + 2]
    settings.diversity_penalty, settings.num_return_sequences = 1e-30, groups  # then all groups find the same
    same = run_generate(model, prompts, settings)
    assert all(same[start : start + groups] == [same[start]] * groups for start in range(0, len(same), groups))


def test_a_text_that_has_ended_costs_other_groups_nothing(model: Any, tokenizer: Any) -> None:
    prompt = token_ids(tokenizer, PROMPTS[:1])[0]
    ends = [int(log_probabilities(model, prompt).argmax())]  # what the first group writes first
    values = {"num_beams": 2, "num_beam_groups": 2, "diversity_penalty": 1000.0, "eos_token_id": ends}
    rows = run_generate(model, [prompt], settings_of(texts=2, **values))
    assert [row[0] for row in rows] == ends * 2


def contrastive(model: Any, prompt: Sequence[int], count: int, width: int, alpha: float) -> list[int]:
    """New tokens of contrastive search, with every text read from its beginning."""
    ids = list(prompt)
    for _ in range(count):
        chances = log_probabilities(model, ids).exp()
        scores = {}
        for token in chances.topk(width).indices.tolist():
            with torch.no_grad():
                out = model(input_ids=torch.tensor([[*ids, token]]), output_hidden_states=True)
            states = out.hidden_states[-1][0]
            likeness = torch.cosine_similarity(states[-1:], states[:-1], dim=-1).max()
            scores[token] = float((1 - alpha) * chances[token] - alpha * likeness)
        ids.append(max(scores, key=lambda token: scores[token]))
    return ids[len(prompt) :]


@pytest.mark.more
@pytest.mark.parametrize("alpha", [0.2, 0.6, 1.0])
def test_contrastive_search_is_that_of_a_loop(model: Any, tokenizer: Any, alpha: float) -> None:
    prompts = token_ids(tokenizer, PROMPTS[:3])
    rows = run_generate(model, prompts, settings_of(penalty_alpha=alpha, top_k=4))
    assert rows == [contrastive(model, prompt, 8, 4, alpha) for prompt in prompts]
    greedy = run_generate(model, prompts, settings_of())
    nearly_greedy = run_generate(model, prompts, settings_of(penalty_alpha=1e-9, top_k=4))
    assert nearly_greedy == greedy != rows


def test_contrastive_search_ends_with_the_last_text(model: Any, tokenizer: Any) -> None:
    prompt = token_ids(tokenizer, PROMPTS[:1])[0]
    whole = run_generate(model, [prompt], settings_of(penalty_alpha=0.6, top_k=4))[0]
    ended = run_generate(model, [prompt], settings_of(penalty_alpha=0.6, top_k=4, eos_token_id=[whole[2]]))[0]
    assert ended == whole[: whole.index(whole[2]) + 1]


def test_models_without_contrastive_search_are_refused(model: Any) -> None:
    settings = settings_of(penalty_alpha=0.6, top_k=4)
    with pytest.raises(ValueError, match="penalty_alpha must be left out for a model with weights that are sharded"):
        run_generate(model, [[5]], settings, in_step=True)
    model.config.is_encoder_decoder = True
    with pytest.raises(ValueError, match="penalty_alpha must be left out for a model with an encoder"):
        run_generate(model, [[5]], settings)
