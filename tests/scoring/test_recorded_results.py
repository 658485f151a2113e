"""Every number, verdict and warning of small inputs is the recorded one: `tests/record_results.py` writes them anew."""

from __future__ import annotations

import pytest
from record_results import INPUTS, moved, outcome, recorded


def test_every_input_is_recorded() -> None:
    assert set(recorded()) == set(INPUTS)


@pytest.mark.parametrize("name", INPUTS)
def test_the_whole_result_is_the_recorded_one(name: str) -> None:
    assert moved(recorded()[name], outcome(name)) == []
