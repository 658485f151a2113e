"""Several featurizers in the forms that a caller can give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from samples import ngrams

from mauve_metric.features.named_featurizers import named_featurizers


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("minilm", ["minilm"]),
        (["minilm", "ngrams"], ["minilm", "ngrams"]),
        (("minilm", "ngrams"), ["minilm", "ngrams"]),
        ((ngrams, "minilm"), ["samples.ngrams", "minilm"]),
        ({"a": ngrams}, ["a"]),
        ((torch.nn.Linear(1, 1), len), ["torch.nn.modules.linear.Linear"]),
    ],
)
def test_forms(given: Any, names: list[str]) -> None:
    assert list(named_featurizers(given)) == names


@pytest.mark.parametrize(
    "given",
    [
        np.array([1, 2]),
        np.array(["minilm"]),
        pd.Series(["minilm"]),
        3,
        iter(["minilm"]),
        [None],
        ["minilm", ["ngrams"]],
    ],
    ids=lambda item: type(item).__name__,
)
def test_other_values_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r"^featurizers"):
        named_featurizers(given, first="gpt2")
