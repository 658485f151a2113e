"""Thresholds of the warnings about duplicates."""

from __future__ import annotations

import pytest

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.duplicates.duplication_warnings import duplication_warnings


@pytest.mark.parametrize(
    ("name", "human", "silent", "said", "code", "severe"),
    [
        ("near_duplicates_across", 0.0, 0.01, 0.011, "near_duplicates_between", True),
        ("copied_substrings", 0.0, 0.01, 0.011, "copied_passages", True),
        ("near_duplicates", 0.2, 0.21, 0.22, "near_duplicates_within", False),
        ("repeated_substrings", 0.2, 0.25, 0.26, "repeated_passages", False),
    ],
)
def test_each_threshold_of_duplication(
    name: str, human: float, silent: float, said: float, code: str, severe: bool
) -> None:
    assert MEASURES[name].group == "duplication"
    assert not [*duplication_warnings({name: silent}, {name: human})]
    (warning,) = duplication_warnings({name: said}, {name: human})
    assert (warning.code, warning.severe, warning.numbers["share"]) == (code, severe, said)
    assert warning.message.startswith(f"{100 * said:.1f} % of the model's ")
    assert "{" not in warning.message


def test_what_is_missing_of_duplication_gives_no_warning() -> None:
    assert not [*duplication_warnings({})]
    assert [found.code for found in duplication_warnings({"near_duplicates": 0.5})] == ["near_duplicates_within"]
