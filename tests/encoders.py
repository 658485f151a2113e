"""Helpers of the tests of encoders: mixed texts, features one text at a time, and a model that counts its batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from mauve_metric.features.encoder import Encoder, load_encoder

SENTENCE = "the quick harbour counts lists of ships and raises errors when rain walks over lazy numbers"


WORDS = SENTENCE.split()


# rounding of float32 is 6e-8; a few layers of sums of 32 to 1536 terms lose two digits of that
FLOAT32 = 1e-5


def mixed_texts(count: int, longest: int, seed: int = 0) -> list[str]:
    """Texts of 1 to `longest` words, lengths mixed."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, longest + 1))) + str(index) for index in range(count)]


def relative_difference(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference of two features, relative to the feature's length."""
    return float((np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)).max())


def one_at_a_time(encoder: Encoder, texts: list[str]) -> Iterator[tuple[Any, list[int]]]:
    """The last hidden state of each text alone, by plain transformers without padding or mask: (t, d)."""
    for text in texts:
        ids = encoder.tokenizer(text, truncation=True, max_length=encoder.max_text_length)["input_ids"]
        with torch.no_grad():
            yield encoder.model(input_ids=torch.tensor([ids])).last_hidden_state[0], ids


class CountingModel(torch.nn.Module):
    """A model that notes the shape of each batch, and runs out of memory above a number of tokens."""

    def __init__(self, model: Any, most_tokens: int | None = None) -> None:
        super().__init__()
        self.inner, self.config, self.most_tokens = model, model.config, most_tokens
        self.shapes: list[tuple[int, int]] = []
        self.failures = 0

    @property
    def device(self) -> Any:
        return self.inner.device

    @property
    def dtype(self) -> Any:
        return self.inner.dtype

    def forward(self, input_ids: Any, attention_mask: Any, use_cache: bool = False) -> Any:
        if self.most_tokens is not None and input_ids.numel() > self.most_tokens:
            self.failures += 1
            raise torch.OutOfMemoryError("out of memory, as asked for by the test")
        self.shapes.append(tuple(input_ids.shape))
        return self.inner(input_ids=input_ids, attention_mask=attention_mask, use_cache=use_cache)


def counting(folder: str, most_tokens: int | None = None) -> tuple[Encoder, CountingModel]:
    import dataclasses

    encoder = load_encoder(folder)
    model = CountingModel(encoder.model, most_tokens)
    return dataclasses.replace(encoder, model=model), model
