"""A comparison of features, and one of texts and names that must be escaped."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import EVIL, HUMAN_FEATURES, MODEL_FEATURES

from mauve_metric import Comparison, compare

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(p_features=HUMAN_FEATURES, models=MODEL_FEATURES, num_runs=2)


@pytest.fixture(scope="module")
def told() -> Comparison:
    """A comparison of texts with names and texts that must be escaped."""
    rng = np.random.default_rng(0)
    texts = {name: [f"{EVIL} {name} {i}" for i in range(40)] for name in ("human", EVIL, "b")}
    vectors = {text: rng.normal(size=4) + 3 * (name == "b") for name, every in texts.items() for text in every}

    def embed(every: list[str]) -> Floats:
        return np.array([vectors[text] for text in every])

    human = texts.pop("human")
    return compare(human, texts, featurize_model_name=embed, num_runs=1, buckets=2)
