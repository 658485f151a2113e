"""The packaged language model against plain transformers, one text at a time."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric import FeatureSet, read_texts
from mauve_metric.apps.describing.likelihood.likelihoods import likelihoods
from mauve_metric.apps.generation.generate import generate
from mauve_metric.options import MauveConfig, RunOptions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pair(smollm2: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(smollm2).eval(), AutoTokenizer.from_pretrained(smollm2)


@pytest.fixture(scope="module")
def human() -> list[str]:
    return [
        " ".join(text.split()[: 12 + 4 * index]) for index, text in enumerate(read_texts("examples/human.jsonl")[:5])
    ]


def test_features_and_likelihoods_are_those_of_one_text_at_a_time(
    smollm2: str, pair: tuple[Any, Any], human: list[str]
) -> None:
    import torch

    model, tokenizer = pair
    features = FeatureSet.from_texts(human, featurize_model_name=smollm2, cache=False).features
    found = likelihoods(human, smollm2, MauveConfig(), RunOptions(cache=False))
    for number, text in enumerate(human):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            alone = model(ids, output_hidden_states=True)
        state, logits = alone.hidden_states[-1][0, -1].numpy(), alone.logits[0, :-1].log_softmax(-1)
        # float32 through 30 layers, with and without padding: some hundred roundings of 6e-8
        assert np.allclose(features[number], state, rtol=1e-3, atol=1e-3 * np.abs(state).max())
        expected = logits.gather(1, ids[0, 1:, None])[:, 0].numpy()
        assert np.allclose(found.log_probabilities[slice(*found.offsets[number : number + 2])], expected, atol=1e-3)


def test_greedy_texts_are_those_of_one_text_at_a_time(pair: tuple[Any, Any], human: list[str], tmp_path: Path) -> None:
    """A batch may take another token where two are equally likely to five digits."""
    import torch

    model, tokenizer = pair
    written = generate(human, tmp_path / "t.jsonl", model=pair, decoder="greedy", max_new_tokens=6, batch_size=3)
    compared = 0
    for prompt, text in zip(human, written, strict=True):
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        options = {"do_sample": False, "max_new_tokens": 6, "output_logits": True, "return_dict_in_generate": True}
        with torch.inference_mode():
            alone = model.generate(ids, **options)
        new = alone.sequences[0, ids.shape[1] :]
        best, second = torch.cat(alone.logits).topk(2).values.T
        assert text.text == prompt + text.continuation
        if bool((best - second > 1e-3).all()):
            compared += 1
            assert text.continuation == tokenizer.decode(new, skip_special_tokens=True) and text.tokens == len(new)
    assert compared > len(human) / 2


def test_the_decoders_of_the_examples_have_the_order_of_the_papers(pair: tuple[Any, Any]) -> None:
    """Mean log-probability of a token by the model that wrote the texts: Pillutla et al. 2021, Table 3."""
    decoders = ("greedy", "temperature", "top_k", "nucleus", "sampling")
    texts = [text for decoder in decoders for text in read_texts(f"examples/{decoder}.jsonl")[:6]]
    found = likelihoods(texts, pair, MauveConfig(), RunOptions(cache=False))
    means = [float(part.mean()) for part in np.split(found.log_probabilities, found.offsets[6:-1:6])]
    assert all(likelier > less + 0.1 for likelier, less in itertools.pairwise(means)), means
