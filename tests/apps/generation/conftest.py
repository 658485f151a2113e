"""A tiny language model and its tokenizer."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def model(tiny_gpt2: str) -> Any:
    import transformers

    return transformers.GPT2LMHeadModel.from_pretrained(tiny_gpt2).eval()


@pytest.fixture
def tokenizer(tiny_gpt2: str) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(tiny_gpt2)
