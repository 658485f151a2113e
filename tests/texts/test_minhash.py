"""MinHash against published collision probabilities, exact Jaccard similarities and another implementation."""

from __future__ import annotations

import numpy as np
import pytest
from datasketch import MinHash

from mauve_metric.texts.minhash import band_groups, collision_probability


def pairs_of_sets(shared: int, own: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of sets of numbers with `shared` in common and `own` of their own each, and where each begins."""
    rows = []
    for pair in range(count):
        base = pair * 1000
        common = list(range(base, base + shared))
        rows += [common + list(range(base + 300, base + 300 + own)), common + list(range(base + 600, base + 600 + own))]
    return np.array(rows, dtype=np.int64).ravel(), np.arange(0, (shared + own) * 2 * count + 1, shared + own)


@pytest.mark.parametrize(
    ("rows", "bands", "jaccard", "published"),
    [
        (20, 450, 0.5, 4.3e-4),
        (20, 450, 0.6, 0.0163),
        (20, 450, 0.7, 0.3018),
        (20, 450, 0.8, 0.9946),
        (20, 40, 0.9, 0.9944),
        (20, 40, 0.8, 0.3711),
    ],
)
def test_published_probabilities(rows: int, bands: int, jaccard: float, published: float) -> None:
    assert collision_probability(jaccard, rows, bands) == pytest.approx(published, abs=5e-5)


@pytest.mark.parametrize(("shared", "own"), [(10, 10), (30, 10), (60, 10)])
def test_sets_meet_as_often_as_they_should(shared: int, own: int) -> None:
    rows, bands, count = 4, 6, 600
    met = np.zeros(count, dtype=bool)
    for group in band_groups(*pairs_of_sets(shared, own, count), rows, bands, seed=1):
        assert len(group) == 2 and group[0] // 2 == group[1] // 2  # no stranger by chance
        met[group[0] // 2] = True
    expected = collision_probability(shared / (shared + 2 * own), rows, bands)
    error = np.sqrt(expected * (1 - expected) / count)  # of a share of independent pairs
    assert abs(met.mean() - expected) < 4 * error


def test_rows_estimate_jaccard_as_another_tool_does() -> None:
    numbers, starts = pairs_of_sets(40, 10, 1)
    draws = 2000
    agree = sum(1 for _ in band_groups(numbers, starts, 1, draws, seed=2)) / draws
    theirs = [MinHash(num_perm=draws, seed=3) for _ in range(2)]
    for minhash, start, end in zip(theirs, starts, starts[1:], strict=False):
        for number in numbers[start:end].tolist():
            minhash.update(number.to_bytes(8, "little"))
    error = np.sqrt(2 / 3 * 1 / 3 / draws)
    assert abs(agree - 2 / 3) < 4 * error
    assert abs(agree - theirs[0].jaccard(theirs[1])) < 6 * error  # both are estimates
