"""A fine-tuned discriminator on tiny random models: learning, unchanged models, refused arguments."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.features.likelihood.finetuned_encoder import finetuned_discriminator

RNG = np.random.default_rng(0)
WORDS = np.array("rain walks ships list number range dog fox".split())
HUMAN = [f"{index} " + " ".join(RNG.choice(WORDS[:4], size=6)) for index in range(60)]
MODEL = [f"{index} " + " ".join(RNG.choice(WORDS[4:], size=6)) for index in range(60)]


@pytest.mark.parametrize("name", ["tiny_roberta", "tiny_gpt2"])
def test_it_learns_what_tells_the_sides_apart(name: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(name)
    found = finetuned_discriminator(HUMAN, MODEL, folder, epochs=6, learning_rate=3e-3, max_text_length=32)
    assert found.auc.value > 0.9
    assert found.auc.ci is not None and found.auc.ci[0] > 0.5
    assert len(found.held_out.scores) == 24  # a fifth of the texts, both sides alike
    assert found.held_out.is_model.sum() == 12


def test_a_live_pair_stays_as_it_is(tiny_gpt2: str) -> None:
    import torch
    from transformers import AutoTokenizer, GPT2ForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(tiny_gpt2)
    model = GPT2ForSequenceClassification.from_pretrained(tiny_gpt2, num_labels=2)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = torch.get_rng_state()
    found = finetuned_discriminator(HUMAN[:15], MODEL[:15], (model, tokenizer), epochs=1, max_text_length=16)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert tokenizer.pad_token is None and model.config.pad_token_id is None
    assert torch.equal(state, torch.get_rng_state())
    again = finetuned_discriminator(HUMAN[:15], MODEL[:15], (model, tokenizer), epochs=1, max_text_length=16)
    np.testing.assert_array_equal(found.held_out.scores, again.held_out.scores)


def test_bad_input_is_named(tiny_gpt2: str) -> None:
    from transformers import AutoTokenizer, GPT2Model

    with pytest.raises(ValueError, match=r"at least 10 texts a side .* and 1 in the second$"):
        finetuned_discriminator(HUMAN, MODEL[:1] * 50, tiny_gpt2)
    with pytest.raises(ValueError, match=r"^epochs must be at least 1, got 0$"):
        finetuned_discriminator(HUMAN, MODEL, tiny_gpt2, epochs=0)
    pair = (GPT2Model.from_pretrained(tiny_gpt2), AutoTokenizer.from_pretrained(tiny_gpt2))
    with pytest.raises(ValueError, match=r"sequence classification with two labels, got GPT2Model"):
        finetuned_discriminator(HUMAN, MODEL, pair)
