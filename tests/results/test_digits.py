"""Numbers as text: what is not quite an end of its range is never shown as one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mauve_metric.results.digits import cell, digits, percent


@pytest.mark.parametrize("form", [".2f", ".3f", ".4f", "+.4f", ".2g"])
def test_only_an_end_of_the_range_is_shown_as_one(form: str) -> None:
    rng = np.random.default_rng(0)
    near = 10.0 ** rng.uniform(-16, 0, size=300)
    for value in [*near, *(1 - near), *(near - 1 if form[0] == "+" else [])]:
        shown = digits(float(value), form)
        if shown[0] in "<>":
            bound = float(shown[1:])
            assert value < bound if shown[0] == "<" else value > bound
        else:
            assert float(shown) not in (-1, 0, 1) or float(shown) == value
    assert [float(digits(end, form)) for end in (0.0, 1.0)] == [0, 1]


def test_a_range_without_ends_has_a_zero_like_any_number() -> None:
    values = (-1e-15, -1e-6, 1e-15, 0.04, -0.06, 1.00001)
    assert [digits(value, "+.1f", ()) for value in values] == ["+0.0", "+0.0", "+0.0", "+0.0", "-0.1", "+1.0"]
    assert digits(-1e-15, "+.1f") == ">-0.1"


def test_shown_numbers_are_the_rounded_ones() -> None:
    assert [digits(value) for value in (0.83312, 12.5, 0.9999954, -0.0)] == ["0.8331", "12.5000", "0.999995", "0.0000"]
    assert [cell(value, ".2g") for value in (0.031, 1.0, 1e-12, 0.9996)] == ["0.031", "1", "<0.0001", "0.9996"]
    assert [cell(None, ".4f"), cell(3, "d"), cell("a", "s"), cell(math.nan, ".3f")] == ["–", "3", "a", "nan"]
    assert [percent(part, 3.0) for part in (0.0, 1e-6, 1.0, 2.99999, 3.0)] == [
        "0.0 %", "<0.1 %", "33.3 %", "99.9997 %", "100.0 %",
    ]  # fmt: skip
