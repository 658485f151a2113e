"""Helpers of the tests of models that write: prompts, references, and the score of the generated texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mauve_metric import MauveResult, evaluate_model

HUMAN = [
    f"Ship {i} left the {'harbour' if i % 3 else 'river'} with {i * 7 % 11} sailors, and she counts." for i in range(24)
]


PROMPTS = ["The", "A list comprehension makes", "Whether it rains or shines, she walks to the", "Raise", "She"]


def features(texts: list[str]) -> Any:
    """A featurizer that takes no time: how often each of a few letters occurs."""
    return np.array([[text.count(letter) for letter in "aeinorst "] for text in texts], dtype=float)


def score(model: Any, tokenizer: Any, *arguments: Any, **options: Any) -> MauveResult:
    return evaluate_model(model, tokenizer, *arguments, **{"featurize_model_name": features, **options})
