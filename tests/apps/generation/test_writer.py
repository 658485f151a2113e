"""Texts from a model: batches against one at a time, memory, prompts, and a model that is left as it was."""

from __future__ import annotations

import logging
import random
from typing import Any

import numpy as np
import pytest
from writers import HUMAN, PROMPTS, score

from mauve_metric.apps.generation.decoding import Prompt, generation_settings, token_ids
from mauve_metric.apps.generation.writer import Writer, next_batch, refuse_sharded
from mauve_metric.apps.generation.writing_state import random_states_kept
from mauve_metric.runtime.model_state import bare_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def prompts_of(tokenizer: Any, texts: list[str], new_tokens: int = 8) -> list[Prompt]:
    return [Prompt(tuple(row), new_tokens, text) for row, text in zip(token_ids(tokenizer, texts), texts, strict=True)]


# --- generation ---------------------------------------------------------------------------------------------------


def test_a_batch_of_unequal_prompts_is_one_prompt_at_a_time(model: Any, tokenizer: Any) -> None:
    prompts = prompts_of(tokenizer, PROMPTS)
    settings = generation_settings({"do_sample": False})
    together = Writer(settings, batch_size=5).write(model, tokenizer, prompts, range(5))
    alone = [Writer(settings).write(model, tokenizer, [prompt], [0])[0] for prompt in prompts]
    assert together == alone
    ids = torch.tensor([prompts[2].ids])
    plain = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=8, pad_token_id=0
    )
    assert together[2] is not None
    assert together[2].text == tokenizer.decode(plain[0], skip_special_tokens=True)
    assert together[2].text == PROMPTS[2] + together[2].continuation


def test_every_prompt_gets_its_own_length(model: Any, tokenizer: Any) -> None:
    prompts = [Prompt((5, 6), length, "") for length in (3, 9, 1)]
    model.generation_config.eos_token_id = None
    tokenizer.eos_token = None
    written = Writer(generation_settings({"do_sample": False})).write(model, tokenizer, prompts, range(3))
    texts = [item.continuation for item in written if item is not None]
    assert texts[1].startswith(texts[0]) and texts[0].startswith(texts[2])
    assert len(texts[2]) < len(texts[0]) < len(texts[1])


def test_a_text_ends_at_the_end_token(model: Any, tokenizer: Any) -> None:
    def stop_at_second(input_ids: Any, scores: Any) -> Any:
        scores[:] = float("-inf")
        scores[:, 7 if input_ids.shape[1] == 1 else tokenizer.eos_token_id] = 0
        return scores

    whole = model.generate
    model.generate = lambda **options: whole(logits_processor=[stop_at_second], **options)
    (found,) = Writer(generation_settings(None)).write(model, tokenizer, [Prompt((5,), 9, "")], [0])
    assert found is not None and found.continuation == tokenizer.decode([7])


def test_the_seed_alone_decides(model: Any, tokenizer: Any) -> None:
    prompts = prompts_of(tokenizer, PROMPTS)

    def texts(seed: int) -> Any:
        return Writer(generation_settings(None), 2, seed).write(model, tokenizer, prompts, range(5))

    first = texts(1)
    torch.rand(3)
    assert texts(1) == first
    assert texts(2) != first


def test_out_of_memory_halves_the_batch_for_good(model: Any, tokenizer: Any, caplog: pytest.LogCaptureFixture) -> None:
    sizes: list[int] = []
    whole = model.generate

    def narrow(**options: Any) -> Any:
        sizes.append(len(options["input_ids"]))
        if sizes[-1] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(**options)

    settings = generation_settings({"do_sample": False})
    prompts = prompts_of(tokenizer, PROMPTS)
    expected = Writer(settings).write(model, tokenizer, prompts, range(5))
    model.generate = narrow
    writer = Writer(settings, batch_size=8)
    with caplog.at_level(logging.WARNING):
        assert writer.write(model, tokenizer, prompts, range(5)) == expected
    assert sizes == [5, 3, 2, 2, 1]
    assert "out of memory: generation goes on with batches of 2" in caplog.text
    sizes.clear()
    assert writer.write(model, tokenizer, prompts, range(5)) == expected
    assert sizes == [2, 2, 1]


def test_out_of_memory_at_one_prompt_is_an_error(model: Any, tokenizer: Any) -> None:
    def never(**_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    model.generate = never
    with pytest.raises(torch.OutOfMemoryError):
        Writer(generation_settings(None)).write(model, tokenizer, prompts_of(tokenizer, PROMPTS), range(5))


# --- nothing else changes -----------------------------------------------------------------------------------------


def test_the_model_and_everything_around_it_are_left_as_they_were(model: Any, tokenizer: Any) -> None:
    model.train()
    model.transformer.h[1].eval()
    model.gradient_checkpointing_enable()
    tokenizer.padding_side = "right"
    tokenizer.backend_tokenizer.enable_truncation(max_length=7)
    seen: list[bool] = []
    whole = model.generate

    def watched(**options: Any) -> Any:
        seen.append(model.is_gradient_checkpointing or any(module.training for module in model.modules()))
        return whole(**options)

    def everything() -> tuple[Any, ...]:
        return (
            [module.training for module in model.modules()],
            [getattr(module, "gradient_checkpointing", None) for module in model.modules()],
            [(parameter.requires_grad, parameter.grad) for parameter in model.parameters()],
            {name: value.clone().tolist() for name, value in model.state_dict().items()},
            model.config.to_dict(),
            model.generation_config.to_dict(),
            sorted(set(model.__dict__) - {"generate"}),
            (tokenizer.padding_side, tokenizer.pad_token, tokenizer.backend_tokenizer.truncation),
            tokenizer.backend_tokenizer.padding,
            random.getstate(),
            np.random.get_state()[1].tolist(),  # type: ignore[union-attr, index]
            torch.get_rng_state().tolist(),
            torch.is_grad_enabled(),
        )

    before = everything()
    assert True in before[1]
    model.generate = watched
    score(model, tokenizer, PROMPTS, HUMAN, num_samples=20)
    assert everything() == before
    assert seen == [False]


def test_a_failure_leaves_them_too(model: Any, tokenizer: Any) -> None:
    def broken(**_: Any) -> Any:
        random.random()
        raise RuntimeError("no texts today")

    model.train()
    model.generate = broken
    state = random.getstate()
    with pytest.raises(RuntimeError, match="no texts today"):
        score(model, tokenizer, PROMPTS, HUMAN)
    assert model.training and model.transformer.h[0].training
    assert random.getstate() == state


def test_random_states_are_kept_through_an_error() -> None:
    before = torch.get_rng_state()
    with pytest.raises(KeyError), random_states_kept():
        torch.rand(4)
        raise KeyError
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.more
def test_shells_are_taken_off(model: Any) -> None:
    assert bare_model(torch.nn.DataParallel(model)) is model
    assert bare_model(torch.compile(model)) is model


def test_sharded_weights_are_refused_in_one_sentence(model: Any, tokenizer: Any) -> None:
    model.lm_head.weight.ds_id = 3
    with pytest.raises(ValueError, match=r"sharded by DeepSpeed's ZeRO stage 3.*generate_fn"):
        refuse_sharded(model, distributed=True)  # of one process
    with pytest.raises(ValueError, match="ZeRO"):
        score(model, tokenizer, PROMPTS, HUMAN)


# --- prompts that go together -------------------------------------------------------------------------------------


def test_a_long_prompt_and_a_long_text_do_not_share_a_batch(model: Any, tokenizer: Any) -> None:
    model.generation_config.eos_token_id = tokenizer.eos_token = None
    prompts = [Prompt((5,) * 90, 6, ""), Prompt((5,), 95, ""), Prompt((5,) * 3, 4, "")]  # of 96 positions
    written = Writer(generation_settings({"do_sample": False})).write(model, tokenizer, prompts, range(3))
    assert [len(item.ids or ()) for item in written if item is not None] == [6, 95, 4]
    assert next_batch(prompts, [0, 1, 2], 3, 96) == [0, 2] and next_batch(prompts, [0, 1, 2], 3, None) == [0, 1, 2]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_processes_in_step_write_what_each_would_alone(model: Any, tokenizer: Any, size: int) -> None:
    """As often as each other, since a model with sharded weights needs all of them in every call."""
    prompts = [Prompt((5, 6 + item), 2 + item % 3, "") for item in range(7)]
    calls: list[int] = []
    whole = model.generate

    def counted(*, synced_gpus: bool = False, **options: Any) -> Any:
        calls[-1] += synced_gpus
        return whole(**options)

    for rank in range(size):
        numbers = range(rank, 7, size)
        model.generate = whole
        alone = Writer(generation_settings(None), 2).write(model, tokenizer, [prompts[i] for i in numbers], numbers)
        calls.append(0)
        model.generate = counted
        writer = Writer(generation_settings(None), 2)
        assert writer.write(model, tokenizer, prompts, range(7), in_step=(rank, size)) == alone
    assert len(set(calls)) == 1


def test_weights_of_zero_stage_3_are_written_with_in_step(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DeepSpeed's mark on the weights; it gathers them itself in each call of a module."""
    model.lm_head.weight.ds_id = 3
    monkeypatch.setattr("mauve_metric.apps.generation.writer.in_process_group", lambda: True)
    seen: list[Any] = []
    whole = model.generate
    model.generate = lambda *, synced_gpus=None, **options: seen.append(synced_gpus) or whole(**options)
    expected = score(model.__class__.from_pretrained(model.name_or_path), tokenizer, PROMPTS, HUMAN, num_samples=7)
    found = score(model, tokenizer, PROMPTS, HUMAN, num_samples=7, distributed=True)
    assert found.mauve == expected.mauve and seen == [True]
    with pytest.raises(ValueError, match=r"featurize_model_name='self' needs a whole model .*ZeRO stage 3 has sharded"):
        score(model, tokenizer, PROMPTS, HUMAN, featurize_model_name="self", distributed=True)
