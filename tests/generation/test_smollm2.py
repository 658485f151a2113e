"""The packaged language model against plain transformers, one text at a time, and the order of five decoders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import ROOT

from mauve_metric import FeatureSet, read_texts
from mauve_metric.features.likelihood.likelihoods import likelihoods
from mauve_metric.generation.generate import generate
from mauve_metric.options import MauveConfig, RunOptions

pytestmark = pytest.mark.slow
DECODERS = ("greedy", "top_k=10", "temperature=0.7", "top_p=0.9", "sampling")  # from the likeliest texts on


@pytest.fixture(scope="module")
def pair(smollm2: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(smollm2).eval(), AutoTokenizer.from_pretrained(smollm2)


@pytest.fixture(scope="module")
def human() -> list[str]:
    return [
        " ".join(text.split()[: 12 + 3 * index]) for index, text in enumerate(read_texts("examples/human.jsonl")[:8])
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
            state = model.model(ids).last_hidden_state[0, -1].numpy()
            logits = model(ids).logits[0, :-1].log_softmax(-1)
        # float32 through 30 layers, with and without padding: some hundred roundings of 6e-8
        assert np.allclose(features[number], state, rtol=1e-3, atol=1e-3 * np.abs(state).max())
        expected = logits.gather(1, ids[0, 1:, None])[:, 0].numpy()
        assert np.allclose(found.log_probabilities[slice(*found.offsets[number : number + 2])], expected, atol=1e-3)


def test_greedy_texts_are_those_of_one_text_at_a_time(pair: tuple[Any, Any], human: list[str], tmp_path: Path) -> None:
    """A batch may take another token where two are equally likely to five digits."""
    import torch

    model, tokenizer = pair
    written = generate(human, tmp_path / "t.jsonl", model=pair, decoder="greedy", max_new_tokens=8, batch_size=4)
    for prompt, text in zip(human, written, strict=True):
        ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
        new = tokenizer(text.continuation, return_tensors="pt", add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logits = model(torch.cat([ids, new], dim=1)).logits[0, ids.shape[1] - 1 : -1]
        taken = logits.gather(1, new.T)[:, 0]
        assert text.text == prompt + text.continuation and text.tokens == new.shape[1]
        assert bool((taken >= logits.max(dim=1).values - 1e-3).all())


def test_decoders_that_cut_more_write_likelier_texts(pair: tuple[Any, Any], human: list[str], tmp_path: Path) -> None:
    """The first decoder is far above the second and the last two are the lowest, by at least 12 x 20 tokens each."""
    means = {}
    for decoder in DECODERS:
        prompts = [human[index % len(human)] for index in range(12)]
        written = generate(prompts, tmp_path / f"{decoder}.jsonl", model=pair, decoder=decoder, max_new_tokens=20)
        texts = [text.text for text in written]
        found = likelihoods(texts, pair, MauveConfig(), RunOptions(cache=False))
        new = [
            found.log_probabilities[end - (text.tokens or 1) : end].mean()
            for end, text in zip(found.offsets[1:].tolist(), written, strict=True)
            if text.tokens
        ]
        means[decoder] = float(np.mean(new))
    assert means["greedy"] > max(means["top_k=10"], means["temperature=0.7"])
    assert min(means["top_k=10"], means["temperature=0.7"]) > means["top_p=0.9"] > means["sampling"]


def test_the_example_of_a_fine_tuning_runs(smollm2: str, tmp_path: Path) -> None:
    pytest.importorskip("peft")
    command = [sys.executable, str(ROOT / "examples" / "lora_with_mauve.py"), "--model", smollm2, "--samples", "20"]
    command += ["--steps", "20", "--new-tokens", "8", "--featurizer", "ngrams", "--folder", str(tmp_path / "lora")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line.split(":")[0] for line in done.stdout.splitlines() if line.startswith(("step", "best"))] == [
        "step 10",
        "step 20",
        "best",
    ]
    assert len(list((tmp_path / "lora" / "texts").iterdir())) == 2
