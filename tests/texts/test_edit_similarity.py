"""Edit similarity against rapidfuzz."""

from __future__ import annotations

import random

import pytest
from rapidfuzz.distance import Levenshtein

from mauve_metric.texts.edit_similarity import edit_distance, edit_similarity


def test_edit_distance_is_that_of_rapidfuzz() -> None:
    rng = random.Random(1)
    for longest in (8, 150):
        for _ in range(300):
            one, other = ([rng.randrange(3) for _ in range(rng.randrange(longest))] for _ in range(2))
            assert edit_distance(one, other) == Levenshtein.distance(one, other), (one, other)
            assert edit_similarity(one, other) == pytest.approx(Levenshtein.normalized_similarity(one, other))
