"""Batches of like length: their limits, little padding, and memory that runs out."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import numpy as np
import pytest
import torch
from encoders import FLOAT32, counting, mixed_texts, relative_difference

from mauve_metric.features.batches import plan_batches
from mauve_metric.features.encoder import load_encoder
from mauve_metric.features.featurize import featurize_texts


def test_batches_keep_to_the_limits(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)
    featurize_texts(encoder, mixed_texts(30, 12), batch_size=4, max_batch_tokens=60)
    assert max(rows for rows, _ in model.shapes) <= 4
    assert all(rows * length <= 60 or rows == 1 for rows, length in model.shapes)
    assert sum(rows for rows, _ in model.shapes) == 30


def test_little_padding_on_mixed_lengths(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)
    _, stats = featurize_texts(encoder, mixed_texts(1500, 20))
    assert stats.padded_tokens == sum(rows * length for rows, length in model.shapes)
    assert stats.tokens == int(np.concatenate(stats.lengths).sum())
    # 1 to 75 tokens in batches of 1024: some 15 to 100 neighbours of the 1500 sorted texts, so that a batch spans one
    # or two of the 75 lengths: a waste of a token in some 35, below five in a hundred
    assert 1 - stats.tokens / stats.padded_tokens < 0.05
    assert len(model.shapes) < 1.1 * stats.tokens / 1024 + 2  # and not by running each text alone


@pytest.mark.parametrize("batch_size", [None, 1, 3])
@pytest.mark.parametrize("budget", [1, 7, 64, 10_000])
def test_plan_batches(budget: int, batch_size: int | None) -> None:
    lengths = np.random.default_rng(budget).integers(1, 40, size=100)
    batches = plan_batches(lengths, budget, batch_size)
    assert sorted(itertools.chain.from_iterable(batch.tolist() for batch in batches)) == list(range(100))
    longest = [int(lengths[batch].max()) for batch in batches]
    assert longest == sorted(longest, reverse=True)  # the largest batch first: memory runs out early or never
    for batch, length in zip(batches, longest, strict=True):
        assert len(batch) == 1 or len(batch) * length <= budget
        assert batch_size is None or len(batch) <= batch_size
    assert plan_batches(np.array([], dtype=np.int64), 10) == []


def test_out_of_memory_halves_the_batch_and_is_remembered(tiny_gpt2: str, caplog: pytest.LogCaptureFixture) -> None:
    texts = mixed_texts(60, 12)
    expected = featurize_texts(load_encoder(tiny_gpt2), texts)[0]
    encoder, model = counting(tiny_gpt2, most_tokens=100)
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        found, stats = featurize_texts(encoder, texts, max_batch_tokens=800)
    assert relative_difference(found, expected) <= FLOAT32
    assert all(rows * length <= 100 for rows, length in model.shapes)
    # 800 tokens → 400 → 200 → 100 takes three failures, one more where the halves are uneven; later batches
    # start within the budget
    assert 1 <= model.failures <= 4
    assert stats.backed_off and stats.batch_tokens is not None and stats.batch_tokens <= 100
    assert "out of memory" in caplog.text
    assert stats.texts == stats.distinct == 60
    assert stats.padded_tokens == sum(rows * length for rows, length in model.shapes)


def test_out_of_memory_on_one_text_is_an_error(tiny_gpt2: str) -> None:
    encoder, _ = counting(tiny_gpt2, most_tokens=3)
    with pytest.raises(torch.OutOfMemoryError):
        featurize_texts(encoder, ["ships and rain over the quick harbour"])


def test_other_errors_of_the_model_come_through(tiny_gpt2: str) -> None:
    encoder, model = counting(tiny_gpt2)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("shapes do not fit")

    model.inner.forward = fail
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        featurize_texts(encoder, ["a", "b"])
