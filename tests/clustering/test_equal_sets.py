"""Two sets of human texts are not called different, whatever the quantizer and the number of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.arrays import Rows
from mauve_metric.clustering.quantizers import QUANTIZERS

EXAMPLE = Path(__file__).parents[2] / "examples" / "human.npz"


def pair(n: int, seed: int) -> tuple[Rows, Rows]:
    """Two disjoint random sets of n human texts."""
    with np.load(EXAMPLE) as example:
        rows = example["features"]
    order = np.random.default_rng(seed).permutation(len(rows))
    return rows[order[:n]], rows[order[n : 2 * n]]


def scored(n: int, seed: int, quantizer: str, **options: Any) -> MauveResult:
    p, q = pair(n, seed)
    return compute_mauve(p_features=p, q_features=q, quantizer=quantizer, knn=False, **options)  # type: ignore[arg-type]


def check(results: list[MauveResult]) -> None:
    """Assert that no more results than chance allows show a difference: four standard deviations of 5 %."""
    most = int(binom.isf(norm.sf(4), len(results), 0.05))
    assert sum(result.verdict == "different" for result in results) <= most
    outside = [result for result in results if result.mauve_debiased_ci is not None and result.mauve_debiased_ci[1] < 1]
    assert len(outside) <= most


@pytest.mark.slow
@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_many_halves_of_human_texts_are_rarely_different(quantizer: str) -> None:
    halves = 4 if quantizer in ("drmm", "lattice") else 8  # seconds of training each
    short: dict[str, Any] = {"drmm_steps": 500, "lattice_epochs": 20}
    for n, options in ((50, {"drmm_steps": 1000}), (200, short)):  # few texts are overfitted first
        check([scored(n, seed, quantizer, num_runs=1, **options) for seed in range(halves)])


@pytest.mark.more
@pytest.mark.parametrize(
    ("quantizer", "options"),
    [
        ("drmm", {"drmm_layers": 3, "drmm_components": 10, "drmm_steps": 50}),
        ("lattice", {"lattice_squared_radius": 50, "lattice_epochs": 2, "lattice_hidden": 16}),
        ("kmeans", {"num_buckets": 120}),
    ],
)
def test_fewer_than_two_texts_a_bucket_have_no_interval(quantizer: str, options: dict[str, Any]) -> None:
    result = scored(200, 0, quantizer, num_runs=1, **options)
    assert (
        result.mauve_debiased is not None and result.mauve_debiased_ci is None and result.mauve_debiased_stderr is None
    )
    (told,) = (warning.message for warning in result.warnings if warning.code == "no_interval")
    assert f"only 200 texts on a side for {result.num_buckets} buckets" in told
    # closeness has buckets of its own, which are fewer
    assert result.closeness is not None and result.closeness_ci is not None
    assert result.closeness > 0.95 > result.mauve_debiased
    assert result.verdict in ("undecided", "like human")


def test_little_more_than_two_texts_a_bucket_have_an_interval() -> None:
    assert scored(200, 0, "kmeans", num_runs=1, num_buckets=90).mauve_debiased_ci is not None
