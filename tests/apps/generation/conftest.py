"""A tiny language model and its tokenizer, and a server that answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from answering import KEY, Answers, serving


@pytest.fixture
def model(tiny_gpt2: str) -> Any:
    import transformers

    return transformers.GPT2LMHeadModel.from_pretrained(tiny_gpt2).eval()


@pytest.fixture
def tokenizer(tiny_gpt2: str) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(tiny_gpt2)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving() as server:
        yield server
