"""Debiased divergences against one-at-a-time jackknives and simulations of multinomials with a known truth."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.distances import divergence_intervals
from mauve_metric.apps.describing.distances.divergence_intervals import estimate_divergence
from mauve_metric.uncertainty import intervals
from mauve_metric.uncertainty.jackknife import debiased_frontier

Floats = NDArray[np.float64]

KINDS = list(divergence_intervals.DIVERGENCES)
REPEATS = 80


def divergence(p: Floats, q: Floats, kind: divergence_intervals.Divergence) -> float:
    return float(divergence_intervals.divergence_terms(p, q, kind).sum())


def population(k: int, shift: float) -> tuple[Floats, Floats]:
    """P uneven, each share of Q that of P times e^(shift · normal)."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(k, 5.0))
    q = p * np.exp(shift * rng.normal(size=k))
    return p, q / q.sum()


def test_bias_is_removed_one_text_at_a_time() -> None:
    """For a divergence whose buckets add up, the binomial jackknife is the delete-one jackknife of each bucket."""
    p, q = np.array([6, 3, 1, 4]), np.array([2, 5, 3, 0])
    n, m = int(p.sum()), int(q.sum())

    def term(x: float, y: float) -> float:
        return (x - y) ** 2 / (2 * (x + y)) if x + y else 0.0

    total = 0.0
    for x, y in zip(p, q, strict=True):
        here = term(x / n, y / m)
        without = x / n * term((x - 1) / (n - 1), y / m) + (1 - x / n) * term(x / (n - 1), y / m)
        other = y / m * term(x / n, (y - 1) / (m - 1)) + (1 - y / m) * term(x / n, y / (m - 1))
        total += here + (n - 1) * (here - without) + (m - 1) * (here - other)
    assert estimate_divergence(p, q, "le_cam").value == pytest.approx(max(total, 0.0), abs=1e-13)


def test_kl_of_many_texts_is_the_plain_kl() -> None:
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    counts = [(10**8 * side).astype(np.int64) for side in (p, q)]
    for kind in KINDS:  # the bias is of the order of k/n = 3e-8; the grid of θ has steps of 1e-2, and bends |p-q| less
        truth = divergence(p, q, kind)
        assert estimate_divergence(*counts, kind).value == pytest.approx(
            truth, abs=2e-2 * (kind == "total_variation") + 1e-6
        )


def test_frontier_integral_is_that_of_a_result() -> None:
    rng = np.random.default_rng(1)
    p, q = (rng.multinomial(300, side) for side in population(30, 0.7))
    found, expected = (
        divergence_intervals.frontier_integral(p, q),
        intervals.estimate_scores(debiased_frontier(p, q))[1],
    )
    assert (found.value, found.ci) == (expected.value, expected.ci)


def test_backward_is_forward_swapped_and_the_exponential_follows() -> None:
    p, q = np.array([30, 10, 5, 0]), np.array([10, 20, 10, 5])
    forward, backward = divergence_intervals.kl_forward(p, q), divergence_intervals.kl_backward(p, q)
    assert backward == divergence_intervals.kl_forward(q, p)
    assert forward.value != backward.value
    exponentiated = divergence_intervals.kl_exponentiated(p, q)
    assert exponentiated.ci is not None and forward.ci is not None
    assert exponentiated.value == math.exp(-0.1 * forward.value)
    assert exponentiated.ci == (math.exp(-0.1 * forward.ci[1]), math.exp(-0.1 * forward.ci[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_in_range_and_finite(kind: divergence_intervals.Divergence) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        k = int(rng.integers(1, 20))
        p, q = (rng.multinomial(int(rng.integers(2, 80)), rng.dirichlet(np.full(k, 0.5))) for _ in range(2))
        found, wider = estimate_divergence(p, q, kind), estimate_divergence(p, q, kind, level=0.99)
        assert 0 <= found.value < math.inf
        if kind == "chi_square":
            assert found.ci is None
            continue
        if found.ci is None or wider.ci is None:
            unseen = kind == "kl" and p[q == 0].sum() > 0.2 * p.sum()
            needed = {"total_variation": 0, "kl": 8, "hellinger": 8}.get(kind, 5)
            few = min(p.sum(), q.sum()) < needed * ((p + q) > 0).sum()
            assert found.ci is wider.ci and (unseen or few)
            continue
        assert 0 <= found.ci[0] <= found.value <= found.ci[1] < math.inf
        assert wider.ci[0] <= found.ci[0] and found.ci[1] <= wider.ci[1]
        empty = estimate_divergence(np.append(p, 0), np.append(q, 0), kind)
        assert empty.value == pytest.approx(found.value, abs=1e-12)  # a bucket without texts says nothing


@pytest.mark.parametrize("kind", KINDS)
def test_sets_without_a_common_bucket(kind: divergence_intervals.Divergence) -> None:
    p, q = np.repeat([10, 0], 20), np.repeat([0, 10], 20)
    found = estimate_divergence(p, q, kind)
    most = {"hellinger": 2.0, "total_variation": 1.0, "le_cam": 1.0, "jensen_shannon": math.log(2)}.get(kind)
    if most is None:  # infinite, and the value is one of what was added: without an interval
        assert found.value > 2 and found.ci is None
    else:
        assert found.value == pytest.approx(most, rel=1e-8)  # the weight of EM's grid points beside 0 and 1


@functools.cache
def simulated(k: int, n: int, shift: float, repeats: int) -> dict[str, tuple[float, float, float, float]]:
    """For each kind: mean error of the plug-in and of the estimate, how often the interval holds the truth and no 0."""
    p, q = population(k, shift)
    rng = np.random.default_rng(3)
    draws = [(rng.multinomial(n, p), rng.multinomial(n, q)) for _ in range(repeats)]
    found = {}
    for kind in KINDS:
        truth = divergence(p, q, kind)
        estimates = [estimate_divergence(*counts, kind) for counts in draws]
        with np.errstate(divide="ignore"):
            plug_in = np.mean([divergence(x / n, y / n, kind) for x, y in draws]) - truth
        error = float(np.mean([estimate.value for estimate in estimates])) - truth
        ends = np.array([estimate.ci for estimate in estimates if estimate.ci] or [(math.inf, math.inf)])
        held = float(((ends[:, 0] <= truth + 1e-12) & (truth <= ends[:, 1] + 1e-12)).mean())
        found[str(kind)] = float(plug_in), error, held, float((ends[:, 0] > 0).mean())
    return found


@pytest.mark.more
@pytest.mark.parametrize(("k", "n", "shift"), [(50, 500, 0.5), (50, 500, 1.0), (20, 200, 1.0)])
def test_bias_is_removed_and_intervals_hold_the_truth(k: int, n: int, shift: float) -> None:
    for kind, (plug_in, error, held, _) in simulated(k, n, shift, REPEATS).items():
        if kind == "chi_square":  # its plug-in is infinite most of the time, and its error follows rare buckets
            assert plug_in == math.inf and abs(error) < math.inf
            continue
        # 90 % is promised; 80 repeats of .9 come out below .9 - 2·√(.9·.1/80) = .833 once in forty times
        assert held >= 0.833, kind
        truth = divergence(*population(k, shift), kind)  # type: ignore[arg-type]
        assert abs(error) < 0.15 * truth + 0.005, kind  # third-order bias at ten texts a bucket
        assert abs(error) < abs(plug_in), kind


@pytest.mark.parametrize("kind", ["jensen_shannon", "le_cam", "hellinger", "total_variation"])
def test_intervals_of_sets_with_next_to_no_overlap_hold_the_truth(kind: divergence_intervals.Divergence) -> None:
    """Exact: every number of texts in the other side's bucket, by its probability."""
    n, share = 100, 0.005
    truth, covered = divergence(np.array([1 - share, share]), np.array([share, 1 - share]), kind), 0.0
    for i, j in itertools.product(range(6), repeat=2):
        ci = estimate_divergence(np.array([n - i, i]), np.array([j, n - j]), kind).ci
        assert ci is not None
        covered += binom.pmf(i, n, share) * binom.pmf(j, n, share) * (ci[0] <= truth <= ci[1])
    assert covered >= 0.95


def test_with_few_texts_a_bucket_only_total_variation_has_an_interval() -> None:
    # 1000 texts in 500 buckets: the intervals of the others held the truth in 0 (KL) to 93 % of draws
    rng, (p, q) = np.random.default_rng(3), population(500, 1.0)
    truth, held = divergence(p, q, "total_variation"), 0
    for _ in range(10):
        counts = rng.multinomial(1000, p), rng.multinomial(1000, q)
        ci = estimate_divergence(*counts, "total_variation").ci
        held += ci is not None and ci[0] <= truth <= ci[1]
    assert held >= 7  # of 10 at 95 %: three misses have a probability of .01
    for kind in set(divergence_intervals.DIVERGENCES) - {"total_variation"}:
        assert estimate_divergence(*counts, kind).ci is None, kind
    assert divergence_intervals.frontier_integral(*counts).ci is None
    fewer = [side.reshape(100, 5).sum(axis=1) for side in counts]  # ten texts a bucket, as in the literature
    assert divergence_intervals.frontier_integral(*fewer).ci is not None
    assert estimate_divergence(*fewer, "hellinger").ci is not None


@pytest.mark.parametrize(("k", "n"), [(20, 200), (50, 500)])
def test_equal_sets_are_not_called_different(k: int, n: int) -> None:
    for kind, (_, _, _, differs) in simulated(k, n, 0.0, REPEATS).items():
        # at most 5 % of 80, and two standard errors √(.05·.95/80) = .024 more
        assert differs <= 0.099 or kind == "chi_square", kind  # which has no interval


def test_rows_of_the_table() -> None:
    p, q = np.array([40, 10, 3]), np.array([10, 40, 0])
    rows = {name: row for name, row in MEASURES.items() if row.group == "buckets" and "histograms" in row.inputs.forms}
    assert {"kl_forward", "kl_backward", "kl_exponentiated", "total_variation"} <= set(rows)
    for name, row in rows.items():
        found = row.compute(p, q, level=0.9)
        equal = row.compute(p, p, level=0.9)
        assert row.low is None or row.low <= found.value, name  # type: ignore[union-attr]
        assert row.high is None or found.value <= row.high, name  # type: ignore[union-attr]
        sign = 1 if row.better == "higher" else -1
        assert sign * equal.value > sign * found.value, name  # type: ignore[union-attr]


def test_too_few_texts_bad_counts_and_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 texts on each side, got 1 and 3"):
        divergence_intervals.kl_forward(np.array([1, 0]), np.array([1, 2]))
    with pytest.raises(ValueError, match="p_counts must be a vector of non-negative integers"):
        divergence_intervals.total_variation(np.array([0.5, 0.5]), np.array([1, 2]))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="kind must be one of"):
        estimate_divergence(np.array([3, 1]), np.array([1, 2]), "renyi")  # type: ignore[arg-type]
