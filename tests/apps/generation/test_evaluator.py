"""Texts of a model, scored: references in every form, failures, signatures."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import texts_of, write_jsonl
from writers import HUMAN, PROMPTS, features, score

import mauve_metric
from mauve_metric import FeatureSet, MauveConfig, compute_mauve, evaluate_model
from mauve_metric.apps.generation.decoding import describe_settings, generation_settings
from mauve_metric.apps.generation.evaluator import ModelEvaluator
from mauve_metric.apps.generation.writing_options import (
    ModelKeywords,
    TrainingKeywords,
    WritingKeywords,
    WritingOptions,
)
from mauve_metric.options import option_names

torch = pytest.importorskip("torch")

transformers = pytest.importorskip("transformers")


def test_references_in_every_form_give_one_score(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    options = {"num_samples": 20, "max_new_tokens": 8}
    texts = score(model, tokenizer, PROMPTS, HUMAN, **options)
    reference = FeatureSet.from_texts(HUMAN, featurize_model_name=features)
    path = reference.save(tmp_path / "human.npz")
    assert score(model, tokenizer, PROMPTS, reference, **options).mauve == texts.mauve
    assert score(model, tokenizer, PROMPTS, path, **options).mauve == texts.mauve
    lines = write_jsonl(tmp_path / "human.jsonl", HUMAN)
    assert score(model, tokenizer, PROMPTS, lines, **options).mauve == texts.mauve
    several = {"featurizers": {"wide": lambda texts: features(texts) * 9}, **options}
    assert len(score(model, tokenizer, PROMPTS, lines, **several).by_featurizer) == 2
    with pytest.raises(ValueError, match="references holds what one featurizer made"):
        score(model, tokenizer, PROMPTS, path, **several)
    datasets = pytest.importorskip("datasets")
    column = datasets.Dataset.from_dict({"text": HUMAN})["text"]
    assert score(model, tokenizer, PROMPTS, column, **options).mauve == texts.mauve


def test_a_language_model_as_featurizer_is_loaded_once_and_warnings_are_logged_once(
    model: Any, tokenizer: Any, tiny_gpt2: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from mauve_metric.features import encoder

    loads: list[str] = []
    load: Callable[..., Any] = encoder.load_encoder
    monkeypatch.setattr(
        "mauve_metric.features.feature_set.load_encoder", lambda *a, **k: (loads.append("load"), load(*a, **k))[1]
    )
    evaluator = ModelEvaluator(PROMPTS, HUMAN, featurize_model_name=tiny_gpt2, max_new_tokens=8)
    first, second = (evaluator.evaluate(model, tokenizer).result for _ in range(2))
    assert loads == ["load"]
    assert first is not None and second is not None
    assert first.to_dict() == second.to_dict()
    logged = [
        record.args[0] for record in caplog.records if record.name == "mauve_metric.scoring.score" and record.args
    ]
    assert logged == [warning.code for warning in first.warnings]
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
        ModelEvaluator(PROMPTS, FeatureSet(np.ones((3, 2))), featurize_model_name="self")


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


def test_generations_that_fail_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    def half(prompts: list[str]) -> list[str | None]:
        return [None if index % 4 == 0 else "" if index % 4 == 1 else " more" for index in range(len(prompts))]

    found = ModelEvaluator(HUMAN, HUMAN, generate_fn=half, featurize_model_name=features).evaluate(None, None)
    assert (found.failed, found.empty) == (6, 6)
    assert "generate_fn gave no text for 6 of 24 prompts" in caplog.text
    assert found.result is not None and found.result.n_q == 18  # an empty continuation is scored with its prompt
    alone = ModelEvaluator(HUMAN, HUMAN, generate_fn=half, include_prompt=False, featurize_model_name=features)
    result = alone.evaluate(None, None).result
    assert result is not None and (result.n_q, result.q_dropped) == (12, 6)


def test_nothing_to_score_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="none of 24 texts can be scored: every text is empty"):
        score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts: [" "] * len(prompts), include_prompt=False)
    with pytest.raises(RuntimeError, match="can be scored: generate_fn gave no text for 24 of 24 prompts"):
        score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts: [None] * len(prompts))
    with pytest.raises(ValueError, match="got 1 for 24"):
        score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts: ["one"])
    with pytest.raises(TypeError, match="generate_fn must give texts, got int"):
        score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts: [1] * len(prompts))
    for wrong in ("a" * 24, dict.fromkeys(HUMAN, "a text")):  # whose letters, or keys, are as many
        with pytest.raises(TypeError, match=r"generate_fn must give a text for each prompt, got (str|dict)"):
            score(None, None, HUMAN, HUMAN, generate_fn=lambda prompts, wrong=wrong: wrong)
    with pytest.raises(TypeError, match="generate_fn must give a text for each prompt, got int"):
        score(None, None, HUMAN, HUMAN, generate_fn=len)  # type: ignore[arg-type]


@pytest.mark.slow
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
        ({"prompt_tokens": 6}, ValueError, "prompt_tokens is for a dataset, and there is none"),
        ({"num_samples": 0}, ValueError, "num_samples must be an integer of at least 1, got 0"),
        ({"num_samples": "9"}, TypeError, "num_samples must be an integer"),
        ({"prompts": []}, ValueError, "prompts must hold at least one text"),
        ({"prompts": [" ".join(HUMAN)]}, ValueError, "position 0: .* the model takes 96"),
        ({"prompts": None, "dataset": ["a"]}, ValueError, "more than prompt_tokens=35 tokens, got none"),
        ({"generation_config": 3}, TypeError, "generation_config must be"),
        ({"generation_config": {"num_return_sequences": 2, "do_sample": True}}, ValueError, "num_samples"),
        (
            {"generation_config": {"temprature": 0.7}},
            ValueError,
            "has no setting 'temprature': did you mean 'temperature'",
        ),
        (
            {"generation_config": transformers.GenerationConfig(temprature=0.7)},
            ValueError,
            "has no setting 'temprature': did you mean",
        ),
        ({"generation_config": {"stop_strings": ["."]}}, ValueError, "generation_config.stop_strings must be left out"),
        ({"generation_config": {"num_beams": -1}}, ValueError, "generation_config.num_beams must be an integer"),
        ({"generation_config": {"max_new_tokens": -1}}, ValueError, "generation_config.max_new_tokens must be"),
        ({"generation_config": {"max_length": 2}}, ValueError, "no room to write: generation_config.max_length is 2"),
        ({"generation_config": {"top_p": 2}}, ValueError, "top_p must be a number in \\(0, 1\\], got 2"),
        ({"generation_config": {"do_sample": "x"}}, TypeError, "do_sample must be True or False, got 'x'"),
        ({"generation_config": {"eos_token_id": "x"}}, TypeError, "eos_token_id must be an integer"),
        (
            {"generation_config": {"temperature": 0, "do_sample": True}},
            ValueError,
            "temperature must be above 0, got 0: do_sample=False decodes greedily",
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


def test_keywords_of_writing_are_the_fields_of_its_options() -> None:
    written = {item.name: item.type for item in fields(WritingOptions)}
    keywords = {name: hint.__forward_arg__ for name, hint in WritingKeywords.__annotations__.items()}
    assert {"prompts", "references"} == set(written) - set(keywords)
    assert keywords == {name: hint for name, hint in written.items() if name in keywords}
    assert all(item.metadata["help"] in str(WritingOptions.__doc__) for item in fields(WritingOptions))


def test_keywords_of_scoring_are_the_options_of_a_score() -> None:
    scoring = set(option_names()) - {"prompts"}  # which are to be continued here
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
    path = FeatureSet(np.ones((3, 2)), {"model": "nobody/no-model"}).save(tmp_path / "human.npz")
    with pytest.raises(ValueError, match="pass featurize_model_name='nobody/no-model'"):  # before anything is written
        ModelEvaluator(PROMPTS, path)


# --- the texts, and the length of the references ------------------------------------------------------------------


def test_features_that_the_texts_cannot_be_compared_with_are_refused_at_once(tmp_path: Path) -> None:
    made = FeatureSet(np.ones((3, 2)), {"model": "ngrams"})
    for references in (made, made.save(tmp_path / "human.npz")):
        with pytest.raises(ValueError, match="features made by ngrams in another way than featurize_model_name='use'"):
            ModelEvaluator(PROMPTS, references, featurize_model_name="use")


def test_the_texts_come_with_the_result(model: Any, tokenizer: Any, tmp_path: Path) -> None:
    """Scored by themselves, they have the same score; the file has them as `mauve-metric generate` writes them."""
    path = tmp_path / "texts.jsonl"
    options: dict[str, Any] = {"num_samples": 20, "max_new_tokens": 8, "save_texts": path}
    out = score(model, tokenizer, PROMPTS, HUMAN, **options)
    assert len(out.texts) == 20 and [text.prompt for text in out.texts[:6]] == [*PROMPTS, PROMPTS[0]]
    assert all(text.text == text.prompt + text.continuation for text in out.texts)
    texts = [text.text for text in out.texts]
    alone = mauve_metric.compute_mauve(p_text=HUMAN, q_text=texts, featurize_model_name=features)
    assert alone.mauve == out.mauve and alone.texts == () and "texts" not in out.to_dict()
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    settings = describe_settings(generation_settings(None), model)
    expected = [(text.prompt, text.text, settings, 25, text.tokens) for text in out.texts]
    assert [tuple(row.values()) for row in rows] == expected
    with pytest.raises(OSError, match="texts are never overwritten"):
        score(model, tokenizer, PROMPTS, HUMAN, **options)
    with pytest.raises(RuntimeError, match="none of 5 texts can be scored"):
        failing = {"generate_fn": lambda prompts: [""] * len(prompts), "save_texts": tmp_path / "none.jsonl"}
        score(None, None, PROMPTS, HUMAN, include_prompt=False, **failing)
    assert (tmp_path / "none.jsonl").read_text(encoding="utf-8").count("\n") == 5


@pytest.mark.parametrize("include_prompt", [True, False])
def test_references_are_cut_to_the_length_that_is_written(
    model: Any, tokenizer: Any, caplog: pytest.LogCaptureFixture, include_prompt: bool
) -> None:
    seen: list[list[str]] = []

    def noted(texts: list[str]) -> Any:
        seen.append(list(texts))
        return features(texts)

    options: dict[str, Any] = {"max_new_tokens": 6, "include_prompt": include_prompt, "featurize_model_name": noted}
    model.generation_config.eos_token_id = None  # so that each text has its full length
    evaluator = ModelEvaluator(PROMPTS, HUMAN, cut_references=True, **options)
    ends = {"suppress_tokens": [tokenizer.eos_token_id]}
    evaluator.writer.config.update(**ends)
    for _ in range(2):
        result = evaluator.evaluate(model, tokenizer).result
    assert caplog.text.count("texts are cut to the length that is generated") == 1
    assert result is not None and "|references:cut|" in result.signature
    human = seen[0]
    for number, (text, whole) in enumerate(zip(human, HUMAN, strict=True)):
        size = 6 + (len(tokenizer(PROMPTS[number % len(PROMPTS)])["input_ids"]) if include_prompt else 0)
        assert text == tokenizer.decode(tokenizer(whole)["input_ids"][:size])
    for unlimited in ({"cut_references": False, "max_new_tokens": 6}, {"cut_references": True}, {"max_new_tokens": 6}):
        seen.clear()
        whole_result = score(model, tokenizer, PROMPTS, HUMAN, featurize_model_name=noted, **unlimited)
        assert seen[0] == HUMAN and "references:cut" not in whole_result.signature


@pytest.mark.parametrize("featurizers", [None, ["ngrams", features]])
def test_written_texts_get_numbers_verdict_and_warnings_of_compute_mauve(featurizers: Any) -> None:
    human = [*texts_of(40, shortest=4), ""]
    written = {f"prompt {number}": f" {text} \n" for number, text in enumerate(texts_of(40, seed=1, shortest=4))}
    options: dict[str, Any] = {"featurize_model_name": "ngrams", "empty_texts": "drop"}
    evaluator = ModelEvaluator(
        [*written],
        human,
        include_prompt=False,
        generate_fn=lambda prompts: [written[prompt] for prompt in prompts],
        featurizers=featurizers,
        **options,
    )
    result = evaluator.evaluate(None, None).result
    expected = compute_mauve(p_text=human, q_text=[*written.values()], featurizers=featurizers, **options)
    assert result is not None and expected.bounds_without_layout and expected.p_dropped == 1
    assert [*result.by_featurizer] == [*expected.by_featurizer]
    for (name, each), other in zip(
        {**result.by_featurizer, "": result}.items(), [*expected.by_featurizer.values(), expected], strict=True
    ):
        numbers, numbers_of_other = each.to_dict(), other.to_dict()
        for part in (numbers, numbers_of_other):
            part.pop("by_featurizer", None)
        assert {**numbers, "signature": ""} == {**numbers_of_other, "signature": ""}, name
