"""Deep residual mixtures against autograd, a naive loop over rows, and clusters that are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import norm

from mauve_metric.arrays import Rows
from mauve_metric.clustering import drmm as module
from mauve_metric.clustering.drmm import Layer, drmm, see, shape_near, views, write_slope


def clusters(seed: int, count: int, size: int, d: int, distance: float = 8.0) -> tuple[Rows, np.ndarray]:
    """Gaussians of standard deviation 1 at `distance` times the first unit vectors, shuffled; and whose each row is."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(count), size))
    return (distance * np.eye(d)[truth] + rng.normal(size=(len(truth), d))).astype(np.float32), truth


def random_layer(seed: int, earlier: int, k: int, d: int) -> Layer:
    draw = torch.Generator().manual_seed(seed)
    shapes = (k, d), (1,), (k,), (earlier, k, k)
    return Layer(*(torch.randn(shape, generator=draw, dtype=torch.float64) for shape in shapes))


def seen_streams(seed: int, n: int, earlier: int, k: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.randn((n, earlier, k), generator=draw, dtype=torch.float64).log_softmax(dim=2)


def test_a_layer_sees_what_the_formulas_say() -> None:
    n, earlier, k, d = 5, 2, 3, 4
    layer, streams = random_layer(1, earlier, k, d), seen_streams(2, n, earlier, k)
    rows = torch.randn((n, d), generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    seen = see(layer, rows, streams)
    variance = math.exp(float(layer.log_variance))
    links, weights = layer.links.log_softmax(2).numpy(), layer.logits.log_softmax(0).numpy()
    for i in range(n):
        total = []
        for c in range(k):
            away = float(((rows[i] - layer.means[c]) ** 2).sum())
            of_row = -0.5 * (away / variance + d * math.log(variance))
            of_choices = sum(
                math.exp(float(streams[i, j, m])) * links[j, c, m] for j in range(earlier) for m in range(k)
            )
            assert float(seen.of_rows[i, c]) == pytest.approx(of_row, rel=1e-12)
            assert float(seen.of_choices[i, c]) == pytest.approx(of_choices, rel=1e-12)
            total.append(of_row + of_choices + weights[c])
        digit = int(np.argmax(total))
        assert int(seen.digits[i]) == digit
        np.testing.assert_allclose(seen.residuals[i], rows[i] - layer.means[digit], atol=1e-15)
        for j in range(earlier):  # what is known of an earlier choice, once this one has been taken out
            left = np.exp(streams[i, j].numpy() - links[j, digit])
            np.testing.assert_allclose(seen.streams[i, j].exp(), left / left.sum(), rtol=1e-12)
        own = np.where(np.arange(k) == digit, 1 - 1e-8, 0) + 1e-8 / k
        np.testing.assert_allclose(seen.streams[i, earlier].exp(), own, rtol=1e-9)


@pytest.mark.parametrize("trust", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("earlier", [0, 2])
def test_the_gradient_is_that_of_autograd(earlier: int, trust: float) -> None:
    n, k, d = 20, 4, 3
    layer, streams = random_layer(4, earlier, k, d), seen_streams(5, n, earlier, k)
    rows = torch.randn((n, d), generator=torch.Generator().manual_seed(6), dtype=torch.float64)
    slope = Layer(*(torch.zeros_like(part) for part in layer))
    found = write_slope(layer, slope, see(layer, rows, streams), rows, streams, trust)

    free = Layer(*(part.clone().requires_grad_() for part in layer))
    variance = free.log_variance.exp()
    of_rows = torch.stack(
        [-0.5 * ((rows - mean).square().sum(1) / variance + d * variance.log()) for mean in free.means], dim=1
    )
    of_choices = torch.einsum("njm,jkm->nk", streams.exp(), free.links.log_softmax(2))
    with torch.no_grad():
        chosen = (of_rows + trust * of_choices).argmax(1)
    total = of_rows + of_choices + free.logits.log_softmax(0)
    loss = -total[range(n), chosen].mean() - 0.01 * of_rows.max(dim=0).values.mean()
    loss.backward()
    assert float(found) == pytest.approx(loss.item(), rel=1e-12)
    for name, mine, theirs in zip(Layer._fields, slope, free, strict=True):
        expected = torch.zeros_like(theirs) if theirs.grad is None else theirs.grad
        torch.testing.assert_close(mine, expected, rtol=1e-10, atol=1e-12, msg=name)


def test_the_steps_are_those_of_torch_adam() -> None:
    draw = torch.Generator().manual_seed(7)
    mine = torch.randn(5, generator=draw, dtype=torch.float64)
    theirs = mine.clone().requires_grad_()
    adam = torch.optim.Adam([theirs], lr=0.01, betas=(0.9, 0.99), eps=1e-8)
    first, second = torch.zeros_like(mine), torch.zeros_like(mine)
    for step in range(1, 6):
        slope = torch.randn(5, generator=draw, dtype=torch.float64)
        module._adam(mine, slope, first, second, step, 0.01, 0.99)
        theirs.grad = slope.clone()
        adam.step()
        torch.testing.assert_close(mine, theirs.detach(), rtol=1e-9, atol=1e-12)


@pytest.mark.more
def test_the_first_digit_names_clusters_that_are_far_apart() -> None:
    rows, truth = clusters(8, 4, 60, 6)
    labels = drmm(rows, layers=2, components=4, steps=600, seed=3).labels
    assert labels.dtype == np.int64 and labels.min() >= 0 and labels.max() < 16
    pairs = {(int(cluster), int(label) // 4) for cluster, label in zip(truth, labels, strict=True)}
    assert len(pairs) == 4 and len({digit for _, digit in pairs}) == 4


@pytest.mark.more
def test_later_digits_divide_what_is_left() -> None:
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(400, 2))

    def within(labels: np.ndarray) -> float:
        groups = [rows[labels == label] for label in np.unique(labels)]
        return sum(float(((group - group.mean(axis=0)) ** 2).sum()) for group in groups)

    labels = drmm(rows, layers=3, components=3, steps=500).labels
    three, nine, all27 = (within(labels // 3**left) for left in (2, 1, 0))
    # Equal parts of a plane in K pieces keep about 1/K of the square: half would be a poor partition.
    assert three < 0.6 * within(np.zeros(400)) and nine < 0.6 * three and all27 < 0.6 * nine


def test_one_layer_finds_what_hard_em_finds() -> None:
    rows, _ = clusters(10, 3, 100, 3, distance=6)
    labels = drmm(rows, layers=1, components=3, steps=600).labels
    assert len(set(labels.tolist())) == 3
    means = np.array([rows[labels == label].mean(axis=0) for label in range(3)])
    for _ in range(20):  # k-means is hard EM of spherical Gaussians of one variance and even weights
        nearest = np.square(rows[:, None] - means).sum(axis=2).argmin(axis=1)
        means = np.array([rows[nearest == label].mean(axis=0) for label in range(3)])
    # rows half-way between two centres may fall to either: a few in a hundred at six standard deviations
    assert np.mean(nearest == labels) > 0.98


def test_a_seed_fixes_every_bit_and_touches_no_other() -> None:
    rows, _ = clusters(11, 3, 30, 4)
    torch.manual_seed(1)
    np.random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    first, again, other = (drmm(rows, 2, 3, 60, seed=seed).labels for seed in (5, 5, 6))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert torch.equal(torch.get_rng_state(), before[0]) and (np.random.get_state()[1] == before[1]).all()
    assert torch.is_grad_enabled()


def test_the_number_of_threads_changes_nothing_and_stays() -> None:
    rows = np.random.default_rng(1).normal(size=(300, 600)).astype(np.float32)  # wide enough to be shared out
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(drmm(rows, 2, 4, 20).labels)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert np.array_equal(*found)


def test_neither_unit_nor_place_matters_nor_where_the_rows_are() -> None:
    rows = np.round(clusters(12, 3, 30, 4)[0].astype(np.float64) * 64) / 64  # sums and products by 2 are exact
    plain = drmm(rows, 2, 3, 60).labels
    for same in (rows * 2.0**60, rows * 2.0**-60, torch.from_numpy(rows), rows.astype(np.float32), rows * 2.0**1000):
        assert np.array_equal(drmm(same, 2, 3, 60).labels, plain)


def test_rows_are_left_as_they_are() -> None:
    rows, _ = clusters(13, 2, 20, 3)
    copy = rows.copy()
    rows.flags.writeable = False
    drmm(rows, 1, 2, 20)
    assert np.array_equal(rows, copy)


def test_copies_of_few_rows_share_buckets() -> None:
    kinds = np.random.default_rng(14).normal(size=(6, 5))
    found = drmm(np.tile(kinds, (30, 1)), 3, 3, 150)
    assert len(np.unique(found.labels)) <= 6 and (found.labels.reshape(30, 6) == found.labels[:6]).all()


def test_a_training_that_is_too_short_is_reported() -> None:
    rows = np.random.default_rng(15).normal(size=(300, 16))
    short, few = (drmm(rows, 2, 4, steps).problem for steps in (200, 5))
    assert short == "the mixtures of quantizer='drmm' were still improving after 200 steps: give more drmm_steps"
    assert few is not None and "after 5 steps" in few


def test_only_a_loss_that_still_falls_is_a_problem() -> None:
    steps, noise = np.arange(2000), np.random.default_rng(16).normal(size=2000)
    flat = 50 + noise + 1000 * np.exp(-steps / 100)
    assert module._problem(flat, 2, 10) is None
    assert module._problem(flat - steps / 200, 2, 10) is not None  # 3 in the last third
    assert module._problem(flat - steps / 200, 2, 200) is None  # of so many numbers that is nothing
    assert module._problem(flat[:999] * 0, 2, 10) is not None and module._problem(flat[:1000] * 0, 2, 10) is None


@pytest.mark.parametrize(
    ("fall", "change", "is_problem"),
    [
        (0.79, None, False),  # two layers of 0.2 and ten numbers of 0.02
        (0.81, None, True),
        (0.81, (600, -5.0), False),  # with a noise of about 0.05
        (0.81, (700, -5.0), False),
        (0.79, (599, 1e3), False),
        (0.81, (599, -1e3), True),
        (0.81, (701, -1e3), True),
        (0.81, (899, 1e3), True),
        (0.81, (900, 5.0), False),
        (0.81, (999, 5.0), False),
        (1.2, "noise", False),  # 3 √(1/101 + 1/100) = 0.42 more
        (1.25, "noise", True),
    ],
)
def test_a_loss_still_falls_if_its_last_tenth_is_below_its_seventh_by_more_than_noise(
    fall: float, change: Any, is_problem: bool
) -> None:
    losses = np.zeros(1000)
    losses[600:701] = fall
    if change == "noise":
        losses += (-1.0) ** np.arange(1000)
    elif change is not None:
        losses[change[0]] += change[1]
    assert (module._problem(losses, 2, 10) is not None) == is_problem


def test_a_problem_is_one_of_the_losses_of_all_layers_and_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "_problem", lambda losses, layers, d: f"{len(losses)} steps, {layers} layers, {d} columns"
    )
    assert drmm(clusters(16, 2, 20, 3)[0], 4, 2, 25).problem == "25 steps, 4 layers, 3 columns"


def test_progress_comes_to_the_end() -> None:
    told: list[tuple[int, int | None]] = []
    drmm(clusters(16, 2, 20, 3)[0], 1, 2, 250, advance=lambda done, total: told.append((done, total)))
    assert told[-1] == (250, 250) and len(told) > 1 and [done for done, _ in told] == sorted(done for done, _ in told)


def test_rows_that_no_mixture_fits_are_refused() -> None:
    rows, _ = clusters(17, 2, 4, 3)
    assert drmm(rows, 1, 8, 10).labels.shape == (8,)
    with pytest.raises(ValueError, match="drmm_components must be at most the number of texts of all sets, 8, got 9"):
        drmm(rows, 1, 9, 10)
    columns = np.tile([0.1, 0.3, 0.7], (20, 1))  # of whose mean the last bits may differ
    hardly = np.vstack([np.eye(3)[0], np.eye(3)[[0] * 19] + 1e-200])  # a difference that has no square
    for same in (np.ones((20, 3)), np.full((20, 3), 0.1, dtype=np.float32), np.zeros((20, 3)), columns, hardly):
        with pytest.raises(ValueError, match="quantizer='drmm' needs features that differ, got 20 equal ones"):
            drmm(same, 1, 2, 10)


def test_a_loss_that_is_no_number_ends_the_training() -> None:
    with pytest.raises(ValueError, match="quantizer='drmm': the loss is NaN or infinite after 50 steps"):
        drmm(clusters(18, 2, 40, 3)[0], 2, 3, 50, training=module.PAPER._replace(rate=1e30))


def test_parameters_lie_one_after_the_other() -> None:
    values = torch.arange(2 * (3 * 4 + 1 + 3) + 9)
    first, second = views(values, 2, 3, 4)
    assert first.means.shape == (3, 4) and first.links.shape == (0, 3, 3) and second.links.shape == (1, 3, 3)
    assert torch.equal(torch.cat([part.flatten() for layer in (first, second) for part in layer]), values)


def test_the_rate_falls_in_the_second_half_of_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    rates: list[float] = []
    monkeypatch.setattr(module, "_adam", lambda *values: rates.append(values[5]))
    drmm(np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32), 2, 2, 8, 0)
    full = rates[0]
    assert full > 0
    assert rates == pytest.approx([full * min(1, (2 - 2 * step / len(rates)) ** 2) for step in range(len(rates))])


def test_cells_take_the_nearest_shape_up_to_the_largest() -> None:
    assert [shape_near(cells) for cells in (2, 3, 4, 64)] == [(1, 2), (1, 3), (2, 2), (3, 4)]  # 64 is 8² as well
    assert shape_near(10**12) == (3, module.MOST_COMPONENTS)
    assert [shape_near(cells, layers=2) for cells in (2, 4, 10**12)] == [(2, 2), (2, 2), (2, module.MOST_COMPONENTS)]
    assert [shape_near(cells, components=10) for cells in (2, 10, 10**99)] == [
        (1, 10),
        (1, 10),
        (module.MOST_LAYERS, 10),
    ]


def test_earlier_choices_count_more_and_more_in_the_course_of_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """From next to nothing over a half in the middle to all."""
    trusts: list[float] = []
    write = module.write_slope

    def watched(*values: Any) -> Any:
        trusts.append(values[-1])
        return write(*values)

    monkeypatch.setattr(module, "write_slope", watched)
    made, slopes = (module.views(torch.zeros(2 * (2 * 3 + 1 + 2) + 4), 2, 2, 3) for _ in range(2))
    for phase in (0.0, 0.45, 0.5, 1.0):
        module._slope(made, slopes, torch.ones(8, 3), phase)
    expected = [0, (1 + math.tanh(-1)) / 2, 0.5, 1]
    assert trusts == pytest.approx(np.repeat(expected, 2), abs=1e-6)


def test_a_bucket_is_the_number_of_its_digits() -> None:
    """The first layer's digit counts three, and the second one's one."""
    draw = torch.Generator().manual_seed(3)
    layers = views(torch.randn(2 * (3 * 4 + 1 + 3) + 9, generator=draw, dtype=torch.float64), 2, 3, 4)
    rows = torch.randn(60, 4, generator=draw, dtype=torch.float64)
    first = see(layers[0], rows, rows.new_zeros((60, 0, 3)))
    second = see(layers[1], first.residuals, first.streams)
    labels = module._labels(layers, rows)
    assert labels.tolist() == (3 * first.digits + second.digits).tolist() and len(set(labels.tolist())) > 3


@pytest.mark.parametrize("training", [module.PAPER, module.SHORT])
def test_the_first_parameters_are_those_of_what_is_left_of_one_batch(training: module.Training) -> None:
    rows = torch.from_numpy(clusters(19, 3, 50, 4)[0]).double()
    values = module._first_values(rows, 3, 5, torch.Generator().manual_seed(1), training)
    draw = torch.Generator().manual_seed(1)
    left = rows[torch.randint(150, (256,), generator=draw)]
    streams = left.new_zeros((256, 0, 5))
    for layer in views(values, 3, 5, 4):
        quantiles = norm.cdf(-2) + (norm.cdf(2) - norm.cdf(-2)) * torch.rand(
            (5, 4), generator=draw, dtype=torch.float64
        )
        deviation = left.numpy().std(axis=0)
        expected = left.numpy().mean(axis=0) + training.spread * deviation * norm.ppf(quantiles)
        np.testing.assert_allclose(layer.means, expected, rtol=1e-9, atol=1e-9)
        # a K-th of the volume has a variance of K^(-2/d)
        variance = training.variance * (deviation**2).mean() * 5 ** (-2 / 4)
        assert float(layer.log_variance) == pytest.approx(math.log(variance), rel=1e-9)
        np.testing.assert_allclose(layer.links, 0.001 * torch.rand(layer.links.shape, generator=draw), rtol=1e-6)
        assert not layer.logits.any()
        seen = see(layer, left, streams)
        left, streams = seen.residuals, seen.streams


def test_copies_of_one_row_begin_with_the_least_variance() -> None:
    values = module._first_values(torch.ones((20, 3)), 1, 2, torch.Generator().manual_seed(1), module.SHORT)
    assert float(views(values, 1, 2, 3)[0].log_variance) == pytest.approx(math.log(1e-6))


def test_each_step_has_a_batch_a_phase_and_a_number_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[torch.Tensor] = []
    steps: list[tuple[Any, ...]] = []

    def slope(layers: Any, slopes: Any, batch: torch.Tensor, phase: float) -> torch.Tensor:
        batches.append(batch)
        return batch.new_tensor(phase)

    def adam(values: torch.Tensor, *others: Any) -> None:
        steps.append(others[3:])
        values.fill_(-100)

    monkeypatch.setattr(module, "_slope", slope)
    monkeypatch.setattr(module, "_adam", adam)
    values, rows = torch.zeros(2 * (2 + 1 + 2) + 4), torch.arange(100.0)[:, None]
    losses = module._train(values, rows, (2, 2), 250, torch.Generator().manual_seed(1), None, module.PAPER)
    np.testing.assert_allclose(losses, np.arange(250) / 250, rtol=1e-6)
    assert [(step, decay) for step, _, decay in steps] == [(step, 0.999) for step in range(1, 251)]
    assert steps[0][1] == module.PAPER.rate
    draw = torch.Generator().manual_seed(1)
    drawn = torch.cat([torch.randint(100, (200, 64), generator=draw), torch.randint(100, (50, 64), generator=draw)])
    assert torch.equal(torch.stack(batches)[:, :, 0].long(), drawn)
    for layer in views(values, 2, 2, 1):  # rows that are copies leave no variance
        assert float(layer.log_variance) == pytest.approx(math.log(1e-6)) and bool((layer.means == -100).all())


def test_the_loss_of_a_step_is_that_of_all_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "write_slope", lambda layer, slope, seen, *_: torch.tensor(float(seen.streams.shape[1]))
    )
    made = module.views(torch.zeros(3 * (2 * 3 + 1 + 2) + 12), 3, 2, 3)
    assert float(module._slope(made, made, torch.ones(8, 3), 0.5)) == 1 + 2 + 3
