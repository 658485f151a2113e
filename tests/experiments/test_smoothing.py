"""Smoothing rules against fractions worked out by hand."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from samples import ROOT

from mauve_metric.clustering.histograms import Histograms
from mauve_metric.measures.frontier import exact_area, frontier_integral

sys.path.append(str(ROOT / "experiments"))

from smoothing import SMOOTHINGS, smoothed

COUNTS = [4, 2, 1, 1, 0, 0]  # n = 8; φ0 = 2, φ1 = 2, φ2 = 1, φ3 = 0, φ4 = 1


@pytest.mark.parametrize(
    ("rule", "weights"),
    [
        ("none", [4, 2, 1, 1, 0, 0]),
        ("laplace", [5, 3, 2, 2, 1, 1]),
        ("krichevsky_trofimov", [4.5, 2.5, 1.5, 1.5, 0.5, 0.5]),
        ("braess_sauer", [4.75, 2.75, 2, 2, 0.5, 0.5]),
        # t = 0: φ1 ≥ 0, mass (2 + 1)·1 for two buckets; t = 1: φ2 ≥ 1, mass (1 + 1)·2 for two; t = 2: φ3 = 0 < 2, its
        # own 2; t = 4 is the largest count, its own 4
        ("good_turing", [4, 2, 2, 2, Fraction(3, 2), Fraction(3, 2)]),
    ],
)
def test_rules_by_hand(rule: str, weights: list[Fraction]) -> None:
    expected = [float(Fraction(weight) / sum(map(Fraction, weights))) for weight in weights]
    assert smoothed(np.array(COUNTS), rule).tolist() == pytest.approx(expected, rel=1e-14)


def test_star_scores_use_the_same_rule() -> None:
    histograms = Histograms(np.array(COUNTS), np.array(COUNTS[::-1]))
    assert np.allclose(smoothed(histograms.p_counts), histograms.probabilities(0.5)[0], rtol=1e-15)


@pytest.mark.parametrize("rule", SMOOTHINGS)
def test_every_rule_gives_probabilities(rule: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        counts = rng.multinomial(40, rng.dirichlet(np.full(int(rng.integers(1, 30)), 0.5)))
        found = smoothed(counts, rule)
        assert found.sum() == pytest.approx(1, abs=1e-14)
        assert (found >= 0).all() and (rule == "none" or (found > 0).all())
        assert len({(count, share) for count, share in zip(counts.tolist(), found.tolist(), strict=True)}) == len(
            set(counts.tolist())
        )  # equal counts, equal shares


@pytest.mark.parametrize("rule", ["laplace", "krichevsky_trofimov"])
def test_constants_bring_sets_of_one_size_together(rule: str) -> None:
    """A mixture with the uniform distribution, of the same weight on both sides (data processing)."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        p, q = (rng.multinomial(60, rng.dirichlet(np.ones(12))) for _ in range(2))
        plain, mixed = [smoothed(side, "none") for side in (p, q)], [smoothed(side, rule) for side in (p, q)]
        assert exact_area(*mixed) >= exact_area(*plain)
        assert frontier_integral(*mixed) <= frontier_integral(*plain)


def test_unknown_rules_and_bad_counts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"rule must be one of none, laplace.* got 'jelinek'"):
        smoothed(np.array([1, 2]), "jelinek")
    for counts in (np.array([0.5, 0.5]), np.array([-1, 2]), np.array([0, 0]), np.array([[1], [2]])):
        with pytest.raises(ValueError, match="counts must be a vector of non-negative integers"):
            smoothed(counts)
