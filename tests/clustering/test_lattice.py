"""The spreading network against torch and naive loops, the integer sphere against enumeration and brute force."""

from __future__ import annotations

import math
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits
from torch import nn

from mauve_metric import compare, compute_mauve
from mauve_metric.arrays import Rows
from mauve_metric.clustering import lattice as module
from mauve_metric.clustering.lattice import (
    apply,
    first_network,
    lattice,
    loss_of,
    nearest_points,
    nearest_rows,
    num_points,
    points,
    spread_rows,
)


def normal_rows(n: int, d: int, seed: int = 0) -> Rows:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def test_the_network_is_that_of_its_formula() -> None:
    rows, before = torch.from_numpy(normal_rows(40, 6)), torch.get_rng_state()
    network = first_network(rows, 5, torch.Generator().manual_seed(1))
    weights = [layer.weight.detach().numpy() for layer in network if isinstance(layer, nn.Linear)]
    draw = torch.Generator().manual_seed(1)
    bias = network[-1].bias.detach().numpy()
    for values, shape in zip([*weights, bias[:, None]], ((5, 6), (5, 5), (4, 5), (4, 5)), strict=True):
        uniform = 2 * torch.rand(shape, generator=draw, dtype=torch.float64).numpy() - 1
        np.testing.assert_allclose(values, uniform[:, : values.shape[1]] / math.sqrt(shape[1]), rtol=1e-6)
    expected = rows.numpy()
    for values in weights[:2]:
        expected = expected @ values.T
        expected = np.maximum((expected - expected.mean(axis=0)) / np.sqrt(expected.var(axis=0) + 1e-5), 0)
    expected = expected @ weights[2].T + bias
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(apply(network, rows, True).detach().numpy(), expected, atol=1e-5)
    assert torch.equal(before, torch.get_rng_state())
    one_by_one = np.concatenate([spread_rows(network, row[None]) for row in rows])
    np.testing.assert_allclose(spread_rows(network, rows), one_by_one, atol=1e-6)  # no row depends on the others


def test_the_loss_is_that_of_the_formula() -> None:
    own, close, far = torch.nn.functional.normalize(torch.from_numpy(normal_rows(30, 4)).double()).view(3, 10, 4)
    triplets, spreads = [], []
    for i in range(10):
        triplets.append(max(0.0, float((own[i] - close[i]).norm() - (own[i] - far[i]).norm())))
        spreads.append(math.log(10 * min(float((own[i] - own[j]).norm()) for j in range(10) if j != i)))
    expected = sum(triplets) / 10 - 0.7 * sum(spreads) / 10
    assert float(loss_of(own, close, far, 0.7)) == pytest.approx(expected, abs=1e-4)  # 1e-6 is added to distances


def test_copies_in_a_batch_leave_the_gradient_finite() -> None:
    own = torch.tensor([[1.0, 0, 0, 0]] * 3 + [[0, 1.0, 0, 0]]).requires_grad_()
    (slope,) = torch.autograd.grad(loss_of(own, own, own, 1.0), [own])
    assert bool(slope.isfinite().all())


@pytest.mark.parametrize("on_device", [False, True])
def test_neighbours_are_those_of_all_distances(on_device: bool) -> None:
    rows = normal_rows(200, 7)
    distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    found = nearest_rows(torch.from_numpy(rows) if on_device else rows, 10)
    assert found.tolist() == distances.argsort(axis=1)[:, :10].tolist()


def test_a_row_is_kept_away_from_the_50th_itself_the_first() -> None:
    rows = normal_rows(120, 4)
    distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    assert module._others(rows).tolist() == distances.argsort(axis=1)[:, 49].tolist()


def test_a_seed_fixes_every_bit_and_nothing_else_is_touched() -> None:
    rows = normal_rows(150, 5)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # type: ignore[index]
    first = lattice(rows, epochs=3, hidden=16, seed=1)
    with torch.inference_mode():
        again = lattice(rows, epochs=3, hidden=16, seed=1)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # type: ignore[index]
    assert first.labels.tolist() == again.labels.tolist()
    assert first.labels.tolist() == lattice(1024 * rows, epochs=3, hidden=16, seed=1).labels.tolist()  # the unit
    assert first.labels.tolist() != lattice(rows, epochs=3, hidden=16, seed=2).labels.tolist()
    assert torch.is_grad_enabled()


def test_the_number_of_threads_changes_nothing() -> None:
    rows, before = normal_rows(300, 40), torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            with threadpool_limits(threads):
                both = [lattice(rows, epochs=3, hidden=64, seed=1, paper=paper).labels for paper in (False, True)]
                found.append(np.concatenate(both).tolist())
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_a_tensor_is_worked_on_as_an_array_is() -> None:
    rows = normal_rows(150, 5)
    tensor = lattice(torch.from_numpy(rows), epochs=3, hidden=16).labels
    assert tensor.tolist() == lattice(rows, epochs=3, hidden=16).labels.tolist()


def test_neighbours_stay_together_and_rows_are_spread() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 100)
    rows = (10 * np.eye(8)[truth] + rng.normal(size=(400, 8))).astype(np.float32)
    found = lattice(rows, epochs=30, hidden=32)
    assert found.problem is not None  # 6 batches an epoch
    one, other = np.triu_indices(400, 1)
    together = found.labels[one] == found.labels[other]
    # Of two rows in one bucket 1/4 share a cluster by chance. Over seeds the share is .79 with a standard deviation of
    # .06, and there are 308 ± 11 buckets: both bounds are more than four standard deviations away.
    assert (truth[one] == truth[other])[together].mean() > 0.5
    assert len(np.unique(found.labels)) > 200


def test_the_papers_training_keeps_the_last_batch_and_normalises_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def spy(network: nn.Sequential, rows: torch.Tensor, training: bool) -> torch.Tensor:
        sizes.extend([len(rows)] if training else [])
        return apply(network, rows, training)

    monkeypatch.setattr(module, "apply", spy)
    # 129 and 150 rows in batches of 64: the last has 1, which has no variance and is left out, and 22
    for n, batches in ((129, [64, 64]), (150, [64, 64, 22])):
        sizes.clear()
        lattice(normal_rows(n, 5), epochs=2, hidden=8, paper=True)
        assert sizes == 2 * [size for size in batches for _ in range(3)]
        sizes.clear()
        lattice(normal_rows(n, 5), epochs=2, hidden=8)
        assert sizes == 2 * [192, 192]


def test_the_network_of_the_papers_training_learns_the_moments_of_one_set_at_a_time() -> None:
    rows = torch.from_numpy(normal_rows(192, 6) + np.repeat(np.eye(6)[:3], 64, axis=0).astype(np.float32))
    network = first_network(rows, 5, torch.Generator().manual_seed(1))
    linear, normalise = network[0], network[1]
    expected = np.zeros(5)
    for part in np.array_split(rows.numpy() @ linear.weight.detach().numpy().T, 3):
        expected = 0.9 * expected + 0.1 * part.mean(axis=0)  # torch's running mean, from 0
    for part in rows.chunk(3):
        apply(network, part, True)
    np.testing.assert_allclose(normalise.running_mean.numpy(), expected, atol=1e-6)


def test_an_epoch_has_partners_rows_to_keep_away_and_an_order_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rates fall after half and after three quarters of the epochs; a loss is the mean of its epoch's batches."""
    rows, network_draw, draw = (
        torch.from_numpy(normal_rows(150, 5)),
        torch.Generator().manual_seed(1),
        torch.Generator(),
    )
    network, near = first_network(rows, 8, network_draw), nearest_rows(rows.numpy(), 10)
    seen: list[torch.Tensor] = []
    losses: list[float] = []
    rates: list[float] = []

    def apply_to(network: nn.Sequential, rows: torch.Tensor, training: bool) -> torch.Tensor:
        seen.extend([rows] if training else [])
        return apply(network, rows, training)

    def loss(*values: Any) -> torch.Tensor:
        made = loss_of(*values)
        losses.append(float(made.detach()))
        return made

    class Watched(torch.optim.SGD):
        def step(self, *others: Any) -> Any:
            rates.append(self.param_groups[0]["lr"])
            assert self.param_groups[0]["momentum"] == 0.9
            return super().step(*others)

    monkeypatch.setattr(module, "apply", apply_to)
    monkeypatch.setattr(module, "loss_of", loss)
    monkeypatch.setattr(torch.optim, "SGD", Watched)
    others = module._others(spread_rows(network, rows))
    found = module._train(network, rows, near, 4, 1.0, draw.manual_seed(2), None, False)
    assert rates == [0.1] * 4 + [0.05] * 2 + [0.01] * 2
    np.testing.assert_allclose(found, np.mean(np.reshape(losses, (4, 2)), axis=1), rtol=1e-6)
    draw.manual_seed(2)
    partners = near[np.arange(150), torch.randint(10, (150,), generator=draw).numpy()]
    order = torch.randperm(150, generator=draw).numpy()
    for batch, triplets in zip((order[:64], order[64:128]), seen[:2], strict=True):
        assert torch.equal(triplets, rows[np.concatenate([batch, partners[batch], others[batch]])])


def test_progress_goes_to_the_end() -> None:
    seen: list[tuple[int, int | None]] = []
    rows = normal_rows(150, 5)
    made = lattice(rows, epochs=3, hidden=8, advance=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 6), (4, 6), (6, 6)] and made.problem is not None and "after 6 steps" in made.problem


def of_epochs(fall: float, epoch: int, change: float) -> np.ndarray:
    """Losses of twenty epochs, 0 but in the second quarter, of which one is changed."""
    losses = np.zeros(20)
    losses[5:11] = fall
    losses[epoch] += change
    return losses


@pytest.mark.parametrize(
    ("losses", "steps", "settled"),
    [
        (np.linspace(-2.7, -2.8, 20), 1000, True),
        (np.linspace(-2.7, -2.8, 20), 299, False),
        (np.linspace(-1.7, -2.8, 20), 1000, False),
        (np.array([-2.7] + [9.6] * 19), 1000, False),
        (np.array([-2.7]), 1000, True),
        (np.array([-2.7]), 300, True),
        (of_epochs(0.19, 0, 0), 1000, True),
        (of_epochs(0.21, 0, 0), 1000, False),  # between the second and the last quarter
        (of_epochs(0.19, 0, -0.19), 1000, True),
        (of_epochs(0.19, 0, -0.21), 1000, False),  # above the first epoch
        (of_epochs(0.19, 4, 9), 1000, True),
        (of_epochs(0.19, 5, 9), 1000, False),
        (of_epochs(0.19, 10, 9), 1000, False),
        (of_epochs(0.19, 11, 9), 1000, True),
        (of_epochs(0.21, 14, 0.5), 1000, False),
        (of_epochs(0.21, 15, 0.5), 1000, True),
        (of_epochs(0.21, 19, 0.5), 1000, True),
    ],
)
def test_a_training_that_did_not_converge_is_reported(losses: np.ndarray, steps: int, settled: bool) -> None:
    assert (module._problem(losses, steps) is None) == settled


def test_bad_sets_are_refused_in_words() -> None:
    assert lattice(normal_rows(64, 5), epochs=1, hidden=4).labels.shape == (64,)
    with pytest.raises(ValueError, match="needs at least 64 texts in all sets together, got 63"):
        lattice(normal_rows(63, 5))
    with pytest.raises(ValueError, match="needs at least 64 texts in all sets together, got 4"):
        lattice(normal_rows(4, 5))
    with pytest.raises(ValueError, match="needs features that differ, got 70 equal ones"):
        lattice(np.full((70, 5), 3.0, dtype=np.float32))


def test_a_loss_that_is_no_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "loss_of", lambda own, close, far, spread: (own * math.nan).sum())
    with pytest.raises(ValueError, match="quantizer='lattice': the loss is NaN or infinite after 1 epochs"):
        lattice(normal_rows(100, 5), epochs=3, hidden=8)


def test_a_score_by_the_lattice_has_all_of_a_score() -> None:
    p, q = normal_rows(90, 6), normal_rows(110, 6, seed=1) + np.float32(0.3)
    options = {"quantizer": "lattice", "lattice_epochs": 2, "lattice_hidden": 8, "num_runs": 2, "permutations": 19}
    options["lattice_squared_radius"] = 2
    result = compute_mauve(p_features=p, q_features=q, **options)  # type: ignore[arg-type]
    assert result.num_buckets == len(result.p_hist) == len(result.q_hist) == 24
    assert result.p_hist.sum() == pytest.approx(1) and result.q_hist.sum() == pytest.approx(1)
    assert result.p_value is not None and result.mauve_runs is not None and result.mauve_ceiling < 1
    assert "quantizer_not_converged" in [warning.code for warning in result.warnings]
    assert "quantizer:lattice|" in result.signature and "lattice_epochs:2|" in result.signature
    assert "drmm_" not in result.signature and "kmeans_num_redo" not in result.signature
    assert compute_mauve(p_features=p, q_features=q, **options).to_dict() == result.to_dict()  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="num_buckets must be 'auto' or left out with quantizer='lattice', which makes 24"
    ):
        compute_mauve(p_features=p, q_features=q, quantizer="lattice", num_buckets=20)


def test_models_are_compared_on_a_smaller_sphere() -> None:
    models = {"near": normal_rows(80, 6, seed=1), "far": normal_rows(80, 6, seed=2) + np.float32(4)}
    options = {"lattice_epochs": 5, "lattice_hidden": 16, "lattice_squared_radius": 5}
    found = compare(p_features=normal_rows(80, 6), models=models, quantizer="lattice", **options)  # type: ignore[arg-type]
    assert found.ranking == ("near", "far")
    assert {result.num_buckets for result in found.models.values()} == {48}


def enumerated(squared_radius: int) -> list[tuple[int, ...]]:
    """Every point, from the lexicographically largest downwards."""
    largest = isqrt(squared_radius)
    every = product(range(largest, -largest - 1, -1), repeat=4)
    return [point for point in every if sum(entry**2 for entry in point) == squared_radius]


# The numbers of points of 20, 25, 30 and 50 are those of Sablayrolles et al. 2019.
@pytest.mark.parametrize(("squared_radius", "count"), [(1, 8), (20, 144), (25, 248), (30, 576), (50, 744), (64, 24)])
def test_the_points_are_all_there(squared_radius: int, count: int) -> None:
    found = points(squared_radius)
    assert num_points(squared_radius) == len(found) == count and not found.flags.writeable
    assert [tuple(point) for point in found.tolist()] == enumerated(squared_radius)


def test_the_sphere_of_mauve_has_the_kinds_of_points_that_are_published() -> None:
    kinds = np.sort(np.abs(points(50)))[:, ::-1]
    found, sizes = np.unique(kinds, axis=0, return_counts=True)
    expected = {(7, 1, 0, 0): 48, (6, 3, 2, 1): 384, (5, 5, 0, 0): 24, (5, 4, 3, 0): 192, (4, 4, 3, 3): 96}
    assert dict(zip(map(tuple, found.tolist()), sizes.tolist(), strict=True)) == expected


def adversarial(squared_radius: int) -> dict[str, np.ndarray]:
    """Vectors whose products with the points are exact in float64, so that ties are ties, and random ones."""
    rng = np.random.default_rng(squared_radius)
    every = points(squared_radius)
    return {
        "random": rng.normal(size=(3000, 4)).astype(np.float32),
        "small integers": rng.integers(-3, 4, size=(3000, 4)).astype(np.float32),
        "zeros of both signs, equal entries": np.array(list(product([-1, -0.5, -0.0, 0.0, 0.5, 1], repeat=4))),
        "the points": every,
        "half way": every[:-1] + every[1:],
        "half way between any": every[rng.integers(len(every), size=2000)] + every[rng.integers(len(every), size=2000)],
        "tiny and huge": rng.choice([-1024, -(2.0**-30), 0.0, 2.0**-30, 1.0, 1024], size=(1000, 4)),
    }


@pytest.mark.more
@pytest.mark.parametrize("squared_radius", [1, 20, 25, 30, 50, 96])
def test_the_nearest_point_in_wider_numbers(squared_radius: int) -> None:
    every = points(squared_radius)
    for name, vectors in adversarial(squared_radius).items():
        expected = (vectors.astype(np.longdouble)[:, None] * every).sum(axis=2).argmax(axis=1)
        assert nearest_points(vectors, squared_radius).tolist() == expected.tolist(), name


def test_the_length_of_a_vector_does_not_matter() -> None:
    vectors = np.random.default_rng(0).normal(size=(100, 4))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    distances = np.linalg.norm(vectors[:, None] / lengths[:, None] - points(50) / np.sqrt(50), axis=2)
    assert nearest_points(1024 * vectors).tolist() == nearest_points(vectors).tolist() == distances.argmin(1).tolist()


def test_a_point_is_nearest_to_itself_and_no_vectors_have_no_points() -> None:
    assert nearest_points(points(50)).tolist() == list(range(744))
    assert nearest_points(np.zeros((0, 4))).shape == (0,)


def test_what_is_no_vector_is_named() -> None:
    with pytest.raises(ValueError, match=r"vectors must have shape \(n, 4\), got \(2, 3\)"):
        nearest_points(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="vectors must be finite"):
        nearest_points(np.array([[1, 2, 3, np.nan]]))
    with pytest.raises(ValueError, match="squared_radius must be at least 1, got 0"):
        points(0)


def test_many_cells_take_the_radius_with_the_most_points() -> None:
    every = range(1, module.MOST_SQUARED_RADIUS + 1)
    most = max(map(num_points, every))
    assert num_points(module.squared_radius_near(10**12)) == most
    last = num_points(module.MOST_SQUARED_RADIUS)
    nearest = min(every, key=lambda radius: max(num_points(radius), last) / min(num_points(radius), last))
    assert module.squared_radius_near(last) == nearest
    assert module.squared_radius_near(num_points(999)) == 999  # no smaller one has as many
    assert module.squared_radius_near(num_points(1001)) < module.MOST_SQUARED_RADIUS
