"""Texts from a model: batches against one at a time, memory, prompts, and a model that is left as it was."""

from __future__ import annotations

import inspect
import logging
import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import write_jsonl

import mauve_metric
from mauve_metric import MauveConfig, MauveResult, Reference, evaluate_model
from mauve_metric.generation.decoding import describe_settings, generation_settings
from mauve_metric.generation.evaluator import ModelEvaluator
from mauve_metric.generation.generator import Generator, Prompt, next_batch, token_ids
from mauve_metric.generation.options import ModelKeywords, TrainingKeywords, WritingKeywords, WritingOptions
from mauve_metric.options import option_parameters
from mauve_metric.runtime.model_state import bare_model, random_states_kept
from mauve_metric.runtime.sharded import refuse_sharded

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

HUMAN = [
    f"Ship {i} left the {'harbour' if i % 3 else 'river'} with {i * 7 % 11} sailors, and she counts." for i in range(24)
]
PROMPTS = ["The", "A list comprehension makes", "Whether it rains or shines, she walks to the", "Raise", "She"]


def features(texts: list[str]) -> Any:
    """A featurizer that takes no time: how often each of a few letters occurs."""
    return np.array([[text.count(letter) for letter in "aeinorst "] for text in texts], dtype=float)


@pytest.fixture
def model(tiny_gpt2: str) -> Any:
    return transformers.GPT2LMHeadModel.from_pretrained(tiny_gpt2).eval()


@pytest.fixture
def tokenizer(tiny_gpt2: str) -> Any:
    return transformers.AutoTokenizer.from_pretrained(tiny_gpt2)


def prompts_of(tokenizer: Any, texts: list[str], new_tokens: int = 8) -> list[Prompt]:
    return [Prompt(tuple(row), new_tokens, text) for row, text in zip(token_ids(tokenizer, texts), texts, strict=True)]


def score(model: Any, tokenizer: Any, *arguments: Any, **options: Any) -> MauveResult:
    return evaluate_model(model, tokenizer, *arguments, **{"featurize_model_name": features, **options})


# --- generation ---------------------------------------------------------------------------------------------------


def test_a_batch_of_unequal_prompts_is_one_prompt_at_a_time(model: Any, tokenizer: Any) -> None:
    prompts = prompts_of(tokenizer, PROMPTS)
    settings = generation_settings({"do_sample": False})
    together = Generator(settings, batch_size=5).write(model, tokenizer, prompts, range(5))
    alone = [Generator(settings).write(model, tokenizer, [prompt], [0])[0] for prompt in prompts]
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
    written = Generator(generation_settings({"do_sample": False})).write(model, tokenizer, prompts, range(3))
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
    (found,) = Generator(generation_settings(None)).write(model, tokenizer, [Prompt((5,), 9, "")], [0])
    assert found is not None and found.continuation == tokenizer.decode([7])


def test_the_seed_alone_decides(model: Any, tokenizer: Any) -> None:
    prompts = prompts_of(tokenizer, PROMPTS)

    def texts(seed: int) -> Any:
        return Generator(generation_settings(None), 2, seed).write(model, tokenizer, prompts, range(5))

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
    expected = Generator(settings).write(model, tokenizer, prompts, range(5))
    model.generate = narrow
    generator = Generator(settings, batch_size=8)
    with caplog.at_level(logging.WARNING):
        assert generator.write(model, tokenizer, prompts, range(5)) == expected
    assert sizes == [5, 3, 2, 2, 1]
    assert "out of memory: generation goes on with batches of 2" in caplog.text
    sizes.clear()
    assert generator.write(model, tokenizer, prompts, range(5)) == expected
    assert sizes == [2, 2, 1]


def test_out_of_memory_at_one_prompt_is_an_error(model: Any, tokenizer: Any) -> None:
    def never(**_: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    model.generate = never
    with pytest.raises(torch.OutOfMemoryError):
        Generator(generation_settings(None)).write(model, tokenizer, prompts_of(tokenizer, PROMPTS), range(5))


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


def test_shells_are_taken_off(model: Any) -> None:
    assert bare_model(torch.nn.DataParallel(model)) is model
    assert bare_model(torch.compile(model)) is model


def test_sharded_weights_are_refused_in_one_sentence(model: Any, tokenizer: Any) -> None:
    model.lm_head.weight.ds_id = 3
    with pytest.raises(ValueError, match=r"sharded by DeepSpeed's ZeRO stage 3.*generate_fn"):
        refuse_sharded(model, distributed=True)  # of one process
    with pytest.raises(ValueError, match="ZeRO"):
        score(model, tokenizer, PROMPTS, HUMAN)


# --- prompts and references ---------------------------------------------------------------------------------------


def test_a_dataset_is_cut_into_prompt_and_continuation(model: Any, tokenizer: Any) -> None:
    evaluator = ModelEvaluator(dataset=HUMAN, prompt_tokens=6, featurize_model_name=features)
    prompts = evaluator._planned(model, tokenizer)
    rows = token_ids(tokenizer, HUMAN)
    assert [prompt.ids for prompt in prompts] == [tuple(row[:6]) for row in rows]
    assert [prompt.new_tokens for prompt in prompts] == [len(row) - 6 for row in rows]
    assert evaluator.scorer.human == HUMAN
    found = evaluator.evaluate(model, tokenizer)
    assert found.result is not None and found.result.n_p == found.result.n_q == 24
    assert all(text.startswith(prompt.text) for prompt, text in zip(prompts, HUMAN, strict=True))
    assert 0 < found.statistics["mean_length"] <= np.mean([len(row) - 6 for row in rows])


def test_a_dataset_is_cut_to_what_the_model_takes_and_what_is_asked(
    model: Any, tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    texts = [" ".join(HUMAN), "Ship", "", HUMAN[0]]
    evaluator = ModelEvaluator(dataset=texts, prompt_tokens=6, featurize_model_name=features)
    with caplog.at_level(logging.WARNING):
        prompts = evaluator._planned(model, tokenizer)
    assert len(prompts[0].ids) + prompts[0].new_tokens == 96  # all positions
    assert len(prompts) == 2 and evaluator.scorer.human is not None
    assert evaluator.scorer.human[0] == tokenizer.decode(token_ids(tokenizer, texts[:1])[0][:96])
    assert "1 texts are left out" in caplog.text
    short = ModelEvaluator(dataset=texts, prompt_tokens=6, max_new_tokens=4, featurize_model_name=features)
    assert [prompt.new_tokens for prompt in short._planned(model, tokenizer)] == [4, 4]
    bare = ModelEvaluator(dataset=texts, prompt_tokens=6, include_prompt=False, featurize_model_name=features)
    cut = bare._planned(model, tokenizer)
    assert bare.scorer.human is not None and cut[1].text + bare.scorer.human[1] == HUMAN[0]


def test_without_prompts_texts_begin_at_the_token_between_texts(model: Any, tokenizer: Any) -> None:
    evaluator = ModelEvaluator(None, HUMAN, featurize_model_name=features)
    prompts = evaluator._planned(model, tokenizer)
    assert {prompt.ids for prompt in prompts} == {(tokenizer.eos_token_id,)}
    lengths = [len(row) for row in token_ids(tokenizer, HUMAN)]
    assert [prompt.new_tokens for prompt in prompts] == [min(length, 95) for length in lengths]


def test_prompts_are_used_again_up_to_the_number_asked_for(model: Any, tokenizer: Any) -> None:
    result = score(model, tokenizer, PROMPTS, HUMAN, num_samples=12, max_new_tokens=5)
    assert (result.n_p, result.n_q) == (24, 12)
    assert score(model, tokenizer, PROMPTS, HUMAN, num_samples=3, max_new_tokens=5).n_q == 3


def test_references_in_every_form_give_one_score(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    options = {"num_samples": 20, "max_new_tokens": 8}
    texts = score(model, tokenizer, PROMPTS, HUMAN, **options)
    reference = Reference.from_texts(HUMAN, featurize_model_name=features)
    path = reference.save(tmp_path / "human.npz")
    assert score(model, tokenizer, PROMPTS, reference, **options).mauve == texts.mauve
    assert score(model, tokenizer, PROMPTS, path, **options).mauve == texts.mauve
    lines = write_jsonl(tmp_path / "human.jsonl", HUMAN)
    assert score(model, tokenizer, PROMPTS, lines, **options).mauve == texts.mauve
    datasets = pytest.importorskip("datasets")
    column = datasets.Dataset.from_dict({"text": HUMAN})["text"]
    assert score(model, tokenizer, PROMPTS, column, **options).mauve == texts.mauve


def test_a_language_model_as_featurizer_is_loaded_once(
    model: Any, tokenizer: Any, tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mauve_metric.features import encoder

    loads: list[str] = []
    load: Callable[..., Any] = encoder.load_encoder
    monkeypatch.setattr(
        "mauve_metric.features.reference.load_encoder", lambda *a, **k: (loads.append("load"), load(*a, **k))[1]
    )
    evaluator = ModelEvaluator(PROMPTS, HUMAN, featurize_model_name=tiny_gpt2, max_new_tokens=8)
    first, second = (evaluator.evaluate(model, tokenizer).result for _ in range(2))
    assert loads == ["load"]
    assert first is not None and second is not None
    assert first.to_dict() == second.to_dict()
    fresh = evaluate_model(model, tokenizer, PROMPTS, HUMAN, featurize_model_name=tiny_gpt2, max_new_tokens=8)
    assert fresh.to_dict() == first.to_dict()


def test_the_model_judges_itself_with_a_warning(
    model: Any, tokenizer: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with caplog.at_level(logging.WARNING):
        evaluator = ModelEvaluator(PROMPTS, HUMAN, featurize_model_name="self", num_samples=20, max_new_tokens=8)
    assert "judged by the model that wrote them" in caplog.text
    first = evaluator.evaluate(model, tokenizer).result
    with torch.no_grad():
        model.transformer.wte.weight.mul_(1.5)
    second = evaluator.evaluate(model, tokenizer).result
    assert first is not None and second is not None
    assert first.signature != second.signature  # the revision is a hash of the weights
    assert not (tmp_path / "cache").exists()  # features of passing weights are not kept
    with pytest.raises(ValueError, match="needs the references as texts"):
        ModelEvaluator(PROMPTS, Reference(np.ones((3, 2))), featurize_model_name="self")


def test_lengths_can_be_matched(model: Any, tokenizer: Any, tiny_gpt2: str) -> None:
    options = {"featurize_model_name": tiny_gpt2, "max_new_tokens": 4, "num_samples": 20}
    result = evaluate_model(model, tokenizer, PROMPTS, HUMAN, match_lengths="truncate", **options)
    assert "match_lengths:truncate" in result.signature
    assert result.p_truncated == 24


def test_an_encoder_decoder_is_scored_on_its_output(tokenizer: Any) -> None:
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2, decoder_start_token_id=0,
        pad_token_id=1, eos_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.T5ForConditionalGeneration(config)
    result = score(model, tokenizer, PROMPTS, HUMAN, num_samples=10, max_new_tokens=6)
    assert result.n_q + result.q_dropped == 10
    assert "include_prompt:False" in result.signature
    with pytest.raises(ValueError, match="an encoder-decoder model needs prompts"):
        score(model, tokenizer, None, HUMAN)


# --- the user's own generator -------------------------------------------------------------------------------------


def test_generate_fn_writes_instead_of_the_model() -> None:
    asked: list[str] = []

    def parrot(prompts: list[str]) -> list[str]:
        asked.extend(prompts)
        return [" and again" for _ in prompts]

    result = score(None, None, HUMAN, HUMAN, generate_fn=parrot)
    assert asked == HUMAN
    direct = mauve_metric.compute_mauve(
        p_text=HUMAN, q_text=[text + " and again" for text in HUMAN], featurize_model_name=features
    )
    assert result.mauve == direct.mauve
    assert "parrot" in result.signature


def test_generations_that_fail_are_counted() -> None:
    def half(prompts: list[str]) -> list[str | None]:
        return [None if index % 4 == 0 else "" if index % 4 == 1 else " more" for index in range(len(prompts))]

    found = ModelEvaluator(HUMAN, HUMAN, generate_fn=half, featurize_model_name=features).evaluate(None, None)
    assert (found.failed, found.empty) == (6, 6)
    assert found.result is not None and found.result.n_q == 18  # an empty continuation is scored with its prompt
    alone = ModelEvaluator(HUMAN, HUMAN, generate_fn=half, include_prompt=False, featurize_model_name=features)
    result = alone.evaluate(None, None).result
    assert result is not None and (result.n_q, result.q_dropped) == (12, 6)


def test_nothing_to_score_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="none of 24 texts can be scored: every text is empty"):
        score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts: [" "] * len(prompts), include_prompt=False)
    with pytest.raises(ValueError, match="got 1 for 24"):
        score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts: ["one"])
    with pytest.raises(TypeError, match="generate_fn must give texts, got int"):
        score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts: [1] * len(prompts))


# --- signature and errors -----------------------------------------------------------------------------------------


def test_the_signature_says_how_the_texts_were_made(model: Any, tokenizer: Any) -> None:
    def signature(**options: Any) -> str:
        result = score(model, tokenizer, **{"dataset": HUMAN, "prompt_tokens": 6, "max_new_tokens": 4, **options})
        assert result.signature.split("|")[-1] == f"mauve_metric:{mauve_metric.__version__}"
        return result.signature

    plain = signature()
    assert "|include_prompt:True|prompt_tokens:6|generation:do_sample=True,temperature=1,top_k=0,top_p=1|" in plain
    others = [
        signature(include_prompt=False),
        signature(prompt_tokens=5),
        signature(max_new_tokens=5),
        signature(generation_config={"do_sample": True, "top_p": 0.9}),
        signature(generation_config={"num_beams": 2}),
        signature(generation_batch_size=4),
        signature(seed=3),
        signature(num_samples=20),
    ]
    assert len({plain, *others}) == 9


def test_the_signature_shows_what_the_model_and_the_library_fill_in(model: Any) -> None:
    settings = generation_settings({"do_sample": True, "top_p": 0.9})
    assert describe_settings(settings, model) == "do_sample=True,temperature=1,top_k=50,top_p=0.9"
    model.generation_config.top_k, model.generation_config.repetition_penalty = 7, 1.2
    assert describe_settings(settings, model).startswith("do_sample=True,temperature=1,top_k=7,top_p=0.9")
    assert "repetition_penalty=1.2" in describe_settings(settings, model)
    assert describe_settings(generation_settings({"do_sample": False}), model).startswith("do_sample=False,rep")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"references": None}, ValueError, "references must be given"),
        ({"dataset": HUMAN}, ValueError, "prompts and dataset were both given"),
        ({"num_samples": 0}, ValueError, "num_samples must be an integer of at least 1, got 0"),
        ({"num_samples": "9"}, TypeError, "num_samples must be an integer"),
        ({"prompts": []}, ValueError, "prompts must hold at least one text"),
        ({"prompts": [" ".join(HUMAN)]}, ValueError, "position 0: .* the model takes 96"),
        ({"prompts": None, "dataset": ["a"]}, ValueError, "more than prompt_tokens=35 tokens, got none"),
        ({"generation_config": 3}, TypeError, "generation_config must be"),
        ({"generation_config": {"num_return_sequences": 2, "do_sample": True}}, ValueError, "num_samples"),
        ({"generation_config": {"num_beams": -1}}, ValueError, "generation_config.num_beams must be an integer"),
        ({"generation_config": {"max_new_tokens": -1}}, ValueError, "generation_config.max_new_tokens must be"),
        ({"generation_config": {"top_p": 2}}, ValueError, "top_p must be a number above 0 and at most 1, got 2"),
        ({"generation_config": {"do_sample": "x"}}, TypeError, "do_sample must be True or False, got 'x'"),
        ({"generation_config": {"eos_token_id": "x"}}, TypeError, "eos_token_id must be an integer"),
        (
            {"generation_config": {"temperature": 0, "do_sample": True}},
            ValueError,
            "temperature must be a number above 0, got 0; do_sample=False decodes greedily",
        ),
        ({"tokenizer": "gpt2"}, TypeError, "tokenizer must be a tokenizer of transformers, got str: 'gpt2'"),
        ({"generate_fn": "vllm"}, TypeError, "generate_fn must be a function"),
        ({"num_bucket": 3}, TypeError, "did you mean 'num_buckets'"),
        ({"tokenizer": None}, ValueError, "a tokenizer is needed"),
    ],
)
def test_bad_arguments_are_named(
    model: Any, tokenizer: Any, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    given = {"tokenizer": tokenizer, "prompts": PROMPTS, "references": HUMAN, **arguments}
    with pytest.raises(error, match=message):
        score(model, given.pop("tokenizer"), **given)


@pytest.mark.parametrize("other", ["gpt2", torch.nn.Linear(2, 2), object()], ids=["name", "layer", "object"])
def test_models_that_cannot_generate_are_refused(other: Any, tokenizer: Any) -> None:
    with pytest.raises(TypeError, match=r"^model must be a model of transformers that can generate, .* got "):
        score(other, tokenizer, PROMPTS, HUMAN)


@pytest.mark.parametrize("sampling", [True, False])
def test_weights_that_are_not_finite_are_refused(model: Any, tokenizer: Any, sampling: bool) -> None:
    with torch.no_grad():
        model.transformer.h[0].mlp.c_fc.weight[0, 0] = float("nan")
    with pytest.raises(ValueError, match=r"got NaN or infinity in 'transformer\.h\.0\.mlp\.c_fc\.weight'"):
        score(model, tokenizer, PROMPTS, HUMAN, generation_config={"do_sample": sampling})


def test_without_a_model_a_function_must_write(tokenizer: Any) -> None:
    with pytest.raises(ValueError, match="a model is needed, or a generate_fn"):
        score(None, tokenizer, PROMPTS, HUMAN)


def test_the_package_offers_it_late() -> None:
    assert mauve_metric.evaluate_model is evaluate_model
    assert {"MauveCallback", "MauveTrainerMixin", "evaluate_model"} <= set(mauve_metric.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mauve_metric.nothing


# --- options ------------------------------------------------------------------------------------------------------


def test_keywords_of_writing_are_the_fields_of_its_options() -> None:
    written = {item.name: item.type for item in fields(WritingOptions)}
    keywords = {name: hint.__forward_arg__ for name, hint in WritingKeywords.__annotations__.items()}
    assert {"prompts", "references"} == set(written) - set(keywords)
    assert keywords == {name: hint for name, hint in written.items() if name in keywords}
    assert all(item.metadata["help"] in str(WritingOptions.__doc__) for item in fields(WritingOptions))


def test_keywords_of_scoring_are_the_options_of_a_score() -> None:
    scoring = {item.name for item in option_parameters()} - {"prompts"}  # which are to be continued here
    assert scoring | set(WritingKeywords.__annotations__) == set(ModelKeywords.__annotations__)
    assert set(ModelKeywords.__annotations__) - set(TrainingKeywords.__annotations__) == {"distributed"}


@pytest.mark.parametrize("shown", [evaluate_model, ModelEvaluator, mauve_metric.MauveCallback])
def test_help_shows_every_option_with_its_default(shown: Any) -> None:
    parameters = inspect.signature(shown).parameters
    defaults = {item.name: item.default for item in (*fields(WritingOptions), *fields(MauveConfig))}
    assert {name: parameters[name].default for name in defaults} == defaults
    assert parameters["cache"].default is True and "options" not in parameters
    assert ("distributed" in parameters) is (shown is not mauve_metric.MauveCallback)


def test_a_file_of_references_chooses_no_model(tmp_path: Path) -> None:
    path = Reference(np.ones((3, 2)), {"model": "nobody/no-model"}).save(tmp_path / "human.npz")
    with pytest.raises(ValueError, match="pass featurize_model_name='nobody/no-model'"):  # before anything is written
        ModelEvaluator(PROMPTS, path)


# --- prompts that go together -------------------------------------------------------------------------------------


def test_a_long_prompt_and_a_long_text_do_not_share_a_batch(model: Any, tokenizer: Any) -> None:
    model.generation_config.eos_token_id = tokenizer.eos_token = None
    prompts = [Prompt((5,) * 90, 6, ""), Prompt((5,), 95, ""), Prompt((5,) * 3, 4, "")]  # of 96 positions
    written = Generator(generation_settings({"do_sample": False})).write(model, tokenizer, prompts, range(3))
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
        alone = Generator(generation_settings(None), 2).write(model, tokenizer, [prompts[i] for i in numbers], numbers)
        calls.append(0)
        model.generate = counted
        assert Generator(generation_settings(None), 2).write_in_step(model, tokenizer, prompts, rank, size) == alone
    assert len(set(calls)) == 1


def test_weights_of_zero_stage_3_are_written_with_in_step(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DeepSpeed's mark on the weights; it gathers them itself in each call of a module."""
    model.lm_head.weight.ds_id = 3
    monkeypatch.setattr("mauve_metric.runtime.sharded.in_process_group", lambda: True)
    seen: list[Any] = []
    whole = model.generate
    model.generate = lambda *, synced_gpus=None, **options: seen.append(synced_gpus) or whole(**options)
    expected = score(model.__class__.from_pretrained(model.name_or_path), tokenizer, PROMPTS, HUMAN, num_samples=7)
    found = score(model, tokenizer, PROMPTS, HUMAN, num_samples=7, distributed=True)
    assert found.mauve == expected.mauve and seen == [True]
    with pytest.raises(ValueError, match=r"featurize_model_name='self' needs a whole model .*ZeRO stage 3 has sharded"):
        score(model, tokenizer, PROMPTS, HUMAN, featurize_model_name="self", distributed=True)
