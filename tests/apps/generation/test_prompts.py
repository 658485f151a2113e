"""Prompts: cut from a dataset, limited in length, repeated, absent."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from writers import HUMAN, PROMPTS, features, score

from mauve_metric.apps.generation.decoding import token_ids
from mauve_metric.apps.generation.evaluator import ModelEvaluator

transformers = pytest.importorskip("transformers")


def test_a_dataset_is_cut_into_prompt_and_continuation(model: Any, tokenizer: Any) -> None:
    evaluator = ModelEvaluator(dataset=HUMAN, prompt_tokens=6, featurize_model_name=features)
    prompts = evaluator._tokenize(model, tokenizer)
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
        prompts = evaluator._tokenize(model, tokenizer)
    assert len(prompts[0].ids) + prompts[0].new_tokens == 96  # all positions
    assert len(prompts) == 2 and evaluator.scorer.human is not None
    assert evaluator.scorer.human[0] == tokenizer.decode(token_ids(tokenizer, texts[:1])[0][:96])
    assert "1 texts are left out" in caplog.text
    short = ModelEvaluator(dataset=texts, prompt_tokens=6, max_new_tokens=4, featurize_model_name=features)
    assert [prompt.new_tokens for prompt in short._tokenize(model, tokenizer)] == [4, 4]
    bare = ModelEvaluator(dataset=texts, prompt_tokens=6, include_prompt=False, featurize_model_name=features)
    cut = bare._tokenize(model, tokenizer)
    assert bare.scorer.human is not None and cut[1].text + bare.scorer.human[1] == HUMAN[0]


def test_without_prompts_texts_begin_at_the_token_between_texts(model: Any, tokenizer: Any) -> None:
    evaluator = ModelEvaluator(None, HUMAN, featurize_model_name=features)
    prompts = evaluator._tokenize(model, tokenizer)
    assert {prompt.ids for prompt in prompts} == {(tokenizer.eos_token_id,)}
    lengths = [len(row) for row in token_ids(tokenizer, HUMAN)]
    assert [prompt.new_tokens for prompt in prompts] == [min(length, 95) for length in lengths]


def test_the_error_for_a_missing_prompt_proposes_no_option(model: Any, tokenizer: Any) -> None:
    with pytest.raises(TypeError, match=r"^prompts must hold strings only, .* position 1: None; remove missing texts$"):
        score(model, tokenizer, [PROMPTS[0], None], HUMAN)


def test_prompts_are_used_again_up_to_the_number_asked_for(model: Any, tokenizer: Any) -> None:
    result = score(model, tokenizer, PROMPTS, HUMAN, num_samples=12, max_new_tokens=5)
    assert (result.n_p, result.n_q) == (24, 12)
    assert score(model, tokenizer, PROMPTS, HUMAN, num_samples=3, max_new_tokens=5).n_q == 3
