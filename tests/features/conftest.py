"""Encoders of every kind."""

from __future__ import annotations

import pytest

from mauve_metric.features.encoder import Encoder, load_encoder


@pytest.fixture(params=["tiny_gpt2", "tiny_roberta", "minilm"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    return load_encoder(request.getfixturevalue(request.param))
