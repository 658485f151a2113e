"""Copies of human texts: values by hand, intervals by simulation and another tool's formula, and their directions."""

from __future__ import annotations

import numpy as np
import pytest

from mauve_metric.catalogue.table import MEASURES
from mauve_metric.duplicates.copied_text import copied_substrings, near_duplicates_across
from mauve_metric.duplicates.near_duplicates import near_duplicates
from mauve_metric.duplicates.repeated_substrings import repeated_substrings


def draws(count: int, seed: int, words: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(map(str, rng.integers(5000, size=words))) for _ in range(count)]


def test_near_duplicates_across_by_hand() -> None:
    human = draws(20, 0)
    model = [human[3], human[5] + " and more", *draws(6, 1)]
    found = near_duplicates_across(human, model)
    assert found.value == 2 / 8
    assert found.ci is not None
    for end in found.ci:  # Wilson's: where the distance to the share is z standard errors of the end itself
        assert abs(end - 0.25) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / 8), abs=1e-6)
    none = near_duplicates_across(human, draws(20, 2))
    assert none.value == 0 and none.ci is not None
    assert none.ci[0] == 0 and 0.1 < none.ci[1] < 0.2  # three in twenty may have been missed
    assert near_duplicates_across(human, human).ci == pytest.approx((1 - none.ci[1], 1))
    with pytest.raises(ValueError, match="model holds no texts"):
        near_duplicates_across(human, [])


def test_copied_substrings_by_hand() -> None:
    human = draws(20, 0)
    model = [*human[:12], *draws(12, 1)]
    found = copied_substrings(human, model)
    assert found.value == 0.5
    assert found.ci is not None and found.ci[0] < 0.5 < found.ci[1]
    assert found == copied_substrings(human, model) != copied_substrings(human, model, seed=1)
    assert copied_substrings(human, model, level=0.5).ci[1] < found.ci[1]  # type: ignore[index]
    assert copied_substrings(human, model[3:]).ci is None  # nine copies are few
    inside = " ".join(["own"] * 30 + human[0].split()[5:57] + ["words"] * 18)
    assert copied_substrings(human, [inside]).value == 0.52


def test_the_interval_holds_as_often_as_it_says() -> None:
    """Of 60 at 80 % hold 48 on average, with a standard error of √(60 · .8 · .2) = 3.1; four of those are allowed."""
    human, rng = draws(1, 0), np.random.default_rng(0)
    sides = (human[0], draws(1, 1)[0])
    held = 0
    for _ in range(60):
        low, high = copied_substrings(human, [sides[int(own)] for own in rng.random(60) > 0.4], level=0.8).ci or (1, 0)
        held += low <= 0.4 <= high
    assert 36 <= held < 60


def test_directions() -> None:
    """An equal model, one that copies, one that collapsed to a few texts, and one that says noise."""
    human, equal, noisy = draws(60, 0), draws(60, 1), draws(60, 2)
    collapsed = (equal[:3] * 20)[:60]
    for name, measure in (("near", near_duplicates_across), ("copied", copied_substrings)):
        values = [measure(human, model).value for model in (equal, human[:30] + equal[:30], human, collapsed, noisy)]
        assert values == [0, 0.5, 1, 0, 0], name
    for model, share in ((equal, 0), (human, 0), (collapsed, 1), (noisy, 0)):
        assert near_duplicates(model) == repeated_substrings([text.split() for text in model]) == share
    rows = {name: row.better for name, row in MEASURES.items() if row.group == "duplication"}
    assert rows == {
        "near_duplicates": "human",
        "near_duplicates_across": "lower",
        "repeated_substrings": "human",
        "copied_substrings": "lower",
    }
