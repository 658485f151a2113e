"""Bias and errors against jackknives one text at a time; what a result takes from them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from mauve_metric import compute_mauve
from mauve_metric.uncertainty.intervals import estimate_scores
from mauve_metric.uncertainty.jackknife import WEIGHTS, debiased_frontier

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

PAIRS = [
    ([5, 3, 0, 2], [1, 0, 4, 3]),
    ([7, 1, 1, 0, 0], [2, 2, 2, 2, 0]),
    ([1, 1], [2, 0]),
    ([4, 0], [0, 3]),
    ([12, 30, 8], [12, 30, 8]),
]


def population(k: int, shift: float) -> tuple[Floats, Floats]:
    """P uneven, each share of Q that of P times e^(shift · normal)."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(k, 5.0))
    q = p * np.exp(shift * rng.normal(size=k))
    return p, q / q.sum()


def kl(a: Floats, b: Floats) -> float:
    return sum(x * math.log(x / y) for x, y in zip(a, b, strict=True) if x > 0)


def divergences(p_counts: Counts, q_counts: Counts) -> Floats:
    """KL(q‖r_λ) and KL(p‖r_λ) for every λ, one bucket at a time, (2, m)."""
    p, q = p_counts / p_counts.sum(), q_counts / q_counts.sum()
    mixtures = [lam * p + (1 - lam) * q for lam in WEIGHTS]
    return np.array([[kl(q, r) for r in mixtures], [kl(p, r) for r in mixtures]])


def without_one(counts: Counts) -> list[Counts]:
    """The counts without each of the texts in turn."""
    found = []
    for bucket, count in enumerate(counts):
        for _ in range(count):
            left = counts.copy()
            left[bucket] -= 1
            found.append(left)
    return found


@pytest.mark.parametrize(("p_list", "q_list"), PAIRS)
def test_bias_is_removed_as_by_leaving_out_each_text(p_list: list[int], q_list: list[int]) -> None:
    p, q = np.array(p_list), np.array(q_list)
    full = divergences(p, q)
    without_p = np.mean([divergences(left, q) for left in without_one(p)], axis=0)
    without_q = np.mean([divergences(p, left) for left in without_one(q)], axis=0)
    expected = full + (p.sum() - 1) * (full - without_p) + (q.sum() - 1) * (full - without_q)
    found = debiased_frontier(p, q)
    # the divergences are O(1) with about 1e-15 of rounding, which the factors n - 1 < 50 multiply
    assert found.type_one == pytest.approx(expected[0], rel=0, abs=1e-11)
    assert found.type_two == pytest.approx(expected[1], rel=0, abs=1e-11)


@pytest.mark.parametrize(("p_list", "q_list"), PAIRS)
def test_bias_is_removed_bucket_by_bucket(p_list: list[int], q_list: list[int]) -> None:
    p_counts, q_counts = np.array(p_list), np.array(q_list)
    n_p, n_q = p_counts.sum(), q_counts.sum()

    def term(a: float, b: float, lam: float) -> float:
        """Contribution of a bucket with the shares a of P and b of Q to KL(p‖r_λ)."""
        return a * math.log(a / (lam * a + (1 - lam) * b)) if a > 0 else 0.0

    found = debiased_frontier(p_counts, q_counts)
    for m in (0, 37, 99):
        total = 0.0
        for x, y in zip(p_counts, q_counts, strict=True):
            a, b = x / n_p, y / n_q
            here = term(a, b, WEIGHTS[m])
            without = a * term((x - 1) / (n_p - 1), b, WEIGHTS[m]) if x else 0.0
            without += (1 - a) * term(x / (n_p - 1), b, WEIGHTS[m])
            other = b * term(a, (y - 1) / (n_q - 1), WEIGHTS[m]) if y else 0.0
            other += (1 - b) * term(a, y / (n_q - 1), WEIGHTS[m])
            total += here + (n_p - 1) * (here - without) + (n_q - 1) * (here - other)
        assert found.type_two[m] == pytest.approx(total, rel=0, abs=1e-11)  # as above


@pytest.mark.parametrize(("p_list", "q_list"), PAIRS)
def test_error_is_the_delete_one_error(p_list: list[int], q_list: list[int]) -> None:
    """The error of any weighted sum of the divergences, so of the frontier integral."""
    p, q = np.array(p_list), np.array(q_list)
    weights = np.stack([1 - WEIGHTS, WEIGHTS]) * 2 * (WEIGHTS[1] - WEIGHTS[0])
    expected = 0.0
    for values in (
        [float((weights * divergences(left, q)).sum()) for left in without_one(p)],
        [float((weights * divergences(p, left)).sum()) for left in without_one(q)],
    ):
        n = len(values)
        # the jackknife's (n-1)/n Σ(T₋ᵢ - mean)², times (n-1)/n: a variance of the mean with n below, not n - 1
        expected += (n - 1) ** 2 / n * float(np.var(values))
    found = estimate_scores(debiased_frontier(p, q))[1].stderr ** 2
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)  # differences of O(1) sums, squared


def test_swapping_the_sides_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    p, q = rng.multinomial(300, population(25, 1.0)[0]), rng.multinomial(200, population(25, 1.0)[1])
    forwards, backwards = debiased_frontier(p, q), debiased_frontier(q, p)
    assert forwards.type_one == pytest.approx(backwards.type_two[::-1], rel=0, abs=1e-11)  # as above
    for one, other in zip(estimate_scores(forwards), estimate_scores(backwards), strict=True):
        # the sums run in another order; the bisection is good to 1e-12 of a number of order 1
        assert other.value == pytest.approx(one.value, abs=1e-9)
        assert other.stderr == pytest.approx(one.stderr, abs=1e-9)
        assert other.ci == pytest.approx(one.ci, abs=1e-9)


def test_a_text_alone_has_no_error() -> None:
    with pytest.raises(ValueError, match="at least 2 texts on each side, got 1 and 3"):
        debiased_frontier(np.array([1, 0]), np.array([1, 2]))


# --- in a result --------------------------------------------------------------------------------------------------


def features(seed: int, n_p: int, n_q: int, shift: float = 0.4) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {"p_features": rng.normal(size=(n_p, 6)), "q_features": rng.normal(size=(n_q, 6)) + shift}


def test_runs_repeat_the_clustering_and_leave_the_score_alone() -> None:
    sides = features(10, 150, 130)
    one = compute_mauve(**sides, num_runs=1, knn=False)
    many = compute_mauve(**sides, num_runs=4, knn=False)
    assert one.mauve == many.mauve == many.mauve_runs[0] == one.mauve_runs[0]
    # means over clusterings of the rows sorted by content, of one and of four
    assert one.mauve_debiased is not None and many.mauve_debiased is not None and many.mauve_std is not None
    assert abs(one.mauve_debiased - many.mauve_debiased) < 4 * many.mauve_std
    assert (len(one.mauve_runs), len(many.mauve_runs)) == (1, 4)
    assert one.mauve_std is None and one.mauve_mean == one.mauve
    assert many.mauve_mean == pytest.approx(float(np.mean(many.mauve_runs)))
    assert many.mauve_std == pytest.approx(float(np.std(many.mauve_runs, ddof=1))) and many.mauve_std > 0
    assert (one.ci_scope, many.ci_scope) == ("for this partition", "over clusterings")
    for result in (one, many):
        assert result.mauve_ci is not None and result.mauve_ci[0] < result.mauve_debiased < result.mauve_ci[1]
    # the further runs are of the rows sorted by content: the order of the texts is nothing to them
    turned = {name: rows[::-1] for name, rows in sides.items()}
    again = compute_mauve(**turned, num_runs=4, knn=False)
    assert again.mauve_runs[1:] == pytest.approx(many.mauve_runs[1:], rel=0, abs=1e-9)
    assert len(set(many.mauve_runs.tolist())) > 1


@pytest.mark.parametrize(("n_p", "n_q", "runs"), [(60, 60, 5), (999, 1200, 5), (1000, 1000, 1)])
def test_default_number_of_runs(n_p: int, n_q: int, runs: int) -> None:
    result = compute_mauve(**features(11, n_p, n_q), num_buckets=4, kmeans_num_redo=1, knn=False)
    assert len(result.mauve_runs) == runs
    assert f"num_runs:{runs}|" in result.signature


@pytest.mark.parametrize(("n_p", "n_q"), [(1, 5), (5, 1), (1, 1)])
def test_one_text_has_a_score_but_no_error(n_p: int, n_q: int) -> None:
    result = compute_mauve(**features(13, n_p, n_q))
    for name in ("mauve", "frontier_integral"):
        assert [getattr(result, f"{name}_{part}") for part in ("debiased", "stderr", "ci")] == [None] * 3
    assert 0 <= result.mauve <= 1 and 0 <= result.mauve_ceiling <= 1
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["mauve_ci"] is None
