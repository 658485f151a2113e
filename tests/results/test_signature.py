"""Signatures: every value of every option comes back from the text."""

from __future__ import annotations

from typing import Any

import pytest
from changed_options import CHANGES
from hypothesis import given
from hypothesis import strategies as st
from strategies import ANYTHING

from mauve_metric.options import STRIP, MauveConfig, config_fields
from mauve_metric.results.signature import format_signature, parse_signature, signature_options

PLACES = ["7", "1e5", "None", "True", '"', '"a"', "a|b:c\\", "Instruct: find it\nQuery: ", " ", "\u2028", "C:\\model"]
VALUES = ANYTHING | st.sampled_from(PLACES) | st.text(min_size=1) | st.lists(st.sampled_from(STRIP))


@pytest.mark.parametrize("name", config_fields())
@given(value=VALUES)
def test_an_option_survives(name: str, value: Any) -> None:
    try:
        taken = getattr(MauveConfig(**{name: value}), name)
    except (TypeError, ValueError):
        taken = CHANGES[name]
    if taken is not None:  # unset options are not in a signature
        again = signature_options(parse_signature(format_signature({name: taken, "n_p": 5})))
        assert getattr(MauveConfig(**{name: again[name]}), name) == taken  # type: ignore[arg-type]


def test_no_prefix_is_not_the_preset_of_the_featurizer() -> None:
    assert signature_options({"featurize_model_name": "e5-base-v2"})["text_prefix"] == ""
    assert "text_prefix" not in signature_options({"featurize_model_name": "e5-base-v2"}, texts=False)
