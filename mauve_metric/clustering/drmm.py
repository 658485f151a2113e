"""Deep residual mixture models: layers of Gaussian mixtures, each of what the one before has left of the rows.

The gradients are written out: the choices are hard, so that they are sums over the rows of a batch, and a step takes
about a millisecond.
"""

from __future__ import annotations

import functools
import logging
import math
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mauve_metric.arrays import Floats, Labels
from mauve_metric.clustering.histograms import Advance, Quantized, ratio
from mauve_metric.clustering.on_device import scaled_rows
from mauve_metric.runtime.checks import wrong
from mauve_metric.runtime.errors import NotFinite
from mauve_metric.runtime.optional_imports import import_torch
from mauve_metric.runtime.tensors import ProjectedRows, as_array, full_precision
from mauve_metric.runtime.tensors import steps as blocks_of
from mauve_metric.runtime.threads import one_torch_thread

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

_BATCH = 64
_FIRST_BATCH = 256  # rows from which the first parameters are taken
_DECAY = 0.9  # Adam's, of the mean slope
PAPER_LAYERS, PAPER_COMPONENTS = 3, 10  # of Pillutla et al. 2021
MOST_LAYERS, MOST_COMPONENTS = 16, 1000
STEPS_A_TEXT = 20  # of the papers' code
SHORT_STEPS = 2000  # of training by SHORT
_PULL = 0.01  # α: how strongly a component is drawn to the row that is nearest to it
_LEAK = 1e-8  # ε: what a hard choice leaves to all components together
_LEAST_LOG_VARIANCE = math.log(1e-6)  # of rows of variance 1; copies of one row have none
_STILL_FALLING = 0.2, 0.02  # nats a layer, and a number: 4 % of the variance that is left, in the last third
_FEW_STEPS = 1000  # fewer are never enough for PAPER, whose variances start small and grow by half a per cent a step
_CHUNK = 200  # steps between two checks of the loss


class Training(NamedTuple):
    """Constants of a training.

    rate: of Adam. decay: Adam's, of the squared slope. spread: of the first means, in standard deviations of the rows.
    variance: the first, as a share of the rows'.
    """

    rate: float
    decay: float
    spread: float
    variance: float


PAPER = Training(0.005, 0.999, 1.0, 0.01)
# Far from the rows, one mean takes nearly all of them, and the others need thousands of steps to come near.
SHORT = Training(0.02, 0.99, 0.1, 1.0)


class Layer(NamedTuple):
    """One mixture of K spherical Gaussians of one variance.

    means: (K, d). log_variance: (1,). logits: (K,). links: (j, K, K), what each component says, as logits, about the
    choice of each of the j earlier layers.
    """

    means: torch.Tensor
    log_variance: torch.Tensor
    logits: torch.Tensor
    links: torch.Tensor


class Seen(NamedTuple):
    """Output of a layer for n rows.

    squared: distances to the means, (n, K). of_rows, of_choices: log-densities of the rows and of the earlier choices,
    (n, K). total: both, and the weights of the components. digits: the choices, (n,). residuals: what goes on of the
    rows, (n, d). streams: what is known of each choice by then, as log-probabilities, (n, j + 1, K).
    """

    squared: torch.Tensor
    of_rows: torch.Tensor
    of_choices: torch.Tensor
    total: torch.Tensor
    digits: torch.Tensor
    residuals: torch.Tensor
    streams: torch.Tensor


def drmm(
    rows: ProjectedRows,
    layers: int = 3,
    components: int = 10,
    steps: int = 2000,
    seed: int = 25,
    advance: Advance | None = None,
    training: Training = SHORT,
) -> Quantized:
    """Bucket of each row by a deep residual mixture model (Hämäläinen & Solin 2020; for MAUVE: Pillutla et al. 2021).

    Layer ℓ is a mixture of K Gaussians N(μ_k, σ²) of what the layers before left of the rows, x; a row's digit is
    argmax_k of -½(‖x - μ_k‖²/σ² + d log σ²) + Σ_j Σ_m p_jm log B_jkm + log π_k, with p_j what is known of the choice of
    layer j, and x - μ goes on. The digits, the first layer's first, are the bucket's number in base K.

    The layers train together, each on the hard choices in batches of 64 rows, by Adam, whose rate falls to 0 in the
    second half. Rows are centred and divided by one number before, so that no step depends on their unit.

    Args:
        rows: features, (n, d): an array, or a torch tensor, which is worked on where it is.
        layers, components: L and K.
        steps: batches. The paper speaks of 20 epochs, of n / 64 batches each; its code draws 20 n batches.
        seed: of the first parameters and of the batches. On one kind of CPU with one version of torch it fixes every
            bit, whatever the number of threads.
        advance: called with the steps done and those in all.
        training: the paper's code has `PAPER`.

    Returns:
        Labels (n,) in 0 … K^L - 1; and a problem if the model was still improving when the training ended.

    Raises:
        ValueError: fewer rows than components, rows that are all equal, or a loss that is no number.

    >>> rng = np.random.default_rng(0)
    >>> rows = np.repeat([[0.0, 0.0], [20.0, 0.0]], 40, axis=0) + rng.normal(size=(80, 2))
    >>> labels = drmm(rows, layers=1, components=2, steps=200).labels
    >>> len(set(labels[:40])), len(set(labels[40:])), len(set(labels))
    (1, 1, 2)
    """
    torch = import_torch()
    if len(rows) < components:
        raise wrong("drmm_components", f"at most the number of texts of all sets, {len(rows)}", components)
    with torch.no_grad(), full_precision(), one_torch_thread():
        scaled = scaled_rows(rows, "drmm")
        draw = torch.Generator().manual_seed(seed)
        values = _first_values(scaled, layers, components, draw, training)
        losses = _train(values, scaled, (layers, components), steps, draw, advance, training)
        labels = _labels(views(values.double(), layers, components, scaled.shape[1]), scaled)
    logger.info("drmm: %d rows, %d layers of %d, loss %.6g", len(rows), layers, components, losses[-1])
    return Quantized(labels, _problem(losses, layers, scaled.shape[1]))


@functools.cache  # asked for by every score
def shape_near(cells: int, layers: int | None = None, components: int | None = None) -> tuple[int, int]:
    """L and K for which K^L is nearest to a number of cells, as a ratio; of equally near ones the most layers.

    Args:
        cells: at least 2. layers, components: L or K, where it is given. Without L there are two or three layers, but
            one for two or three cells.

    >>> [shape_near(cells) for cells in (2, 5, 10, 30, 1000)]
    [(1, 2), (2, 2), (2, 3), (3, 3), (3, 10)]
    >>> shape_near(30, layers=2), shape_near(30, components=2), shape_near(1, 3, 10)
    ((2, 5), (5, 2), (3, 10))
    """
    if layers is not None and components is not None:
        return layers, components
    if layers is not None or components is not None:
        every_l, every_k = range(1, MOST_LAYERS + 1), range(2, MOST_COMPONENTS + 1)
        allowed = product([layers] if layers else every_l, [components] if components else every_k)
    else:
        allowed = product((1,), (2, 3)) if cells < 4 else product((2, 3), range(2, MOST_COMPONENTS + 1))
    return min(allowed, key=lambda shape: (ratio(shape[1] ** shape[0], cells), -shape[0]))


def views(values: torch.Tensor, layers: int, components: int, d: int) -> list[Layer]:
    """The layers whose parameters lie in one vector, one after the other."""
    layer_views, start = [], 0
    for earlier in range(layers):
        parts = []
        for shape in ((components, d), (1,), (components,), (earlier, components, components)):
            parts.append(values[start : start + math.prod(shape)].view(shape))
            start += math.prod(shape)
        layer_views.append(Layer(*parts))
    return layer_views


def _first_values(
    rows: torch.Tensor, layers: int, components: int, draw: torch.Generator, training: Training
) -> torch.Tensor:
    """The parameters before the training, in one vector: layer by layer, from what is left of one batch by then."""
    import torch

    d = rows.shape[1]
    values = rows.new_zeros(layers * (components * d + 1 + components) + math.comb(layers, 2) * components**2)
    residuals = rows[torch.randint(len(rows), (_FIRST_BATCH,), generator=draw).to(rows.device)]
    streams = rows.new_zeros((_FIRST_BATCH, 0, components))
    for layer in views(values, layers, components, d):
        mean, deviation = residuals.mean(dim=0), residuals.std(dim=0, correction=0)
        even = 2 * torch.rand(components, d, generator=draw, dtype=torch.float64) - 1
        normal = math.sqrt(2) * torch.erfinv(math.erf(math.sqrt(2)) * even)  # none further than 2 from 0
        layer.means.copy_(mean + training.spread * deviation * normal.to(rows))
        variance = training.variance * float(deviation.square().mean()) / components ** (2 / d)
        layer.log_variance.fill_(max(math.log(max(variance, 1e-30)), _LEAST_LOG_VARIANCE))
        layer.links.copy_(0.001 * torch.rand(layer.links.shape, generator=draw))
        seen = see(layer, residuals, streams)
        residuals, streams = seen.residuals, seen.streams
    return values


def see(layer: Layer, rows: torch.Tensor, streams: torch.Tensor) -> Seen:
    """Apply a layer to rows (n, d), given the log-probabilities of their earlier choices, (n, j, K)."""
    import torch

    d, k = rows.shape[1], len(layer.logits)
    squared = torch.addmm(layer.means.square().sum(dim=1), rows, layer.means.T, alpha=-2.0)
    squared = (squared + rows.square().sum(dim=1, keepdim=True)).clamp_(min=0.0)
    links = layer.links.log_softmax(dim=2)
    of_rows = -0.5 * (squared * (-layer.log_variance).exp() + d * layer.log_variance)
    of_choices = streams.exp().flatten(1) @ links.transpose(1, 2).reshape(-1, k)
    total = of_rows + of_choices + layer.logits.log_softmax(dim=0)
    digits = total.argmax(dim=1)
    earlier = (streams - links[:, digits].transpose(0, 1)).log_softmax(dim=2)
    latest = (_members(digits, k, rows) * (1 - _LEAK) + _LEAK / k).log()
    streams = torch.cat([earlier, latest[:, None]], dim=1)
    return Seen(squared, of_rows, of_choices, total, digits, rows - layer.means[digits], streams)


def _members(digits: torch.Tensor, k: int, like: torch.Tensor) -> torch.Tensor:
    """1 where a row has that digit, else 0: (n,) → (n, K)."""
    return like.new_zeros((len(digits), k)).scatter_(1, digits[:, None], 1.0)


def write_slope(
    layer: Layer, slope: Layer, seen: Seen, rows: torch.Tensor, streams: torch.Tensor, trust: float
) -> torch.Tensor:
    """Write the gradient of a layer's loss over a batch into `slope`, and return the loss.

    The loss is -mean_i total[i, z_i] - α mean_k max_i of_rows[i, k] with z_i = argmax_k(of_rows + trust · of_choices).

    Args:
        rows, streams: what the layer saw, (n, d) and (n, j, K). trust: ρ, from 0 to 1 in the course of the training.
    """
    n, k = seen.total.shape
    members = _members((seen.of_rows + trust * seen.of_choices).argmax(dim=1), k, rows) / n
    shares = members.sum(dim=0)
    best, nearest = seen.of_rows.max(dim=0)
    pulled = members + _members(nearest, n, rows).T * (_PULL / k)
    weights, precision = pulled.sum(dim=0), (-layer.log_variance).exp()
    slope.means.copy_((layer.means * weights[:, None] - pulled.T @ rows) * precision)
    slope.log_variance.copy_(0.5 * (rows.shape[1] * weights.sum() - (pulled * seen.squared).sum() * precision))
    slope.logits.copy_(layer.logits.softmax(dim=0) - shares)
    told = (members.T @ streams.exp().flatten(1)).reshape(k, streams.shape[1], k)
    slope.links.copy_(layer.links.softmax(dim=2) * shares[:, None] - told.transpose(0, 1))
    return -(members * seen.total).sum() - _PULL * best.mean()


def _train(
    values: torch.Tensor,
    rows: torch.Tensor,
    shape: tuple[int, int],
    steps: int,
    draw: torch.Generator,
    advance: Advance | None,
    training: Training,
) -> Floats:
    """Change the parameters in place by so many steps of Adam, and return the loss of each; shape: (L, K)."""
    import torch

    slope, first, second = (torch.zeros_like(values) for _ in range(3))
    layers, slopes = views(values, *shape, rows.shape[1]), views(slope, *shape, rows.shape[1])
    losses_of_chunks: list[Floats] = []
    for start in range(0, steps, _CHUNK):
        numbers = torch.randint(len(rows), (min(_CHUNK, steps - start), _BATCH), generator=draw).to(rows.device)
        losses = rows.new_zeros(len(numbers))
        for step, batch in enumerate(numbers, start=start):
            losses[step - start] = _slope(layers, slopes, rows[batch], step / steps)
            rate = training.rate * min(1.0, (2 - 2 * step / steps) ** 2)
            _adam(values, slope, first, second, step + 1, rate, training.decay)
            for layer in layers:
                layer.log_variance.clamp_(min=_LEAST_LOG_VARIANCE)
        losses_of_chunks.append(as_array(losses).astype(np.float64))
        if not np.isfinite(losses_of_chunks[-1]).all():
            raise NotFinite(f"quantizer='drmm': the loss is NaN or infinite after {start + len(numbers)} steps")
        if advance is not None:
            advance(start + len(numbers), steps)
    return np.concatenate(losses_of_chunks)


def _slope(layers: list[Layer], slopes: list[Layer], batch: torch.Tensor, phase: float) -> torch.Tensor:
    """The gradient of every layer, and the sum of their losses; phase: from 0 to 1 in the course of the training."""
    trust = (1 + math.tanh(20 * (phase - 0.5))) / 2
    streams, loss = batch.new_zeros((len(batch), 0, len(layers[0].logits))), batch.new_zeros(())
    for layer, slope in zip(layers, slopes, strict=True):
        seen = see(layer, batch, streams)
        loss += write_slope(layer, slope, seen, batch, streams, trust)
        batch, streams = seen.residuals, seen.streams
    return loss


def _adam(
    values: torch.Tensor,
    slope: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    step: int,
    rate: float,
    decay: float,
) -> None:
    """One step of Adam (Kingma & Ba 2015), in place; step: from 1. decay: of the squared slope."""
    first.mul_(_DECAY).add_(slope, alpha=1 - _DECAY)
    second.mul_(decay).addcmul_(slope, slope, value=1 - decay)
    size = (second / (1 - decay**step)).sqrt_().add_(1e-8)
    values.addcdiv_(first, size, value=-rate / (1 - _DECAY**step))


def _labels(layers: list[Layer], rows: torch.Tensor) -> Labels:
    """The bucket of each row: its digits as one number in base K."""
    import torch

    k = len(layers[0].logits)
    labels = torch.zeros(len(rows), dtype=torch.int64, device=rows.device)
    for some in blocks_of(*rows.shape):
        residuals = rows[some].double()
        streams = residuals.new_zeros((len(residuals), 0, k))
        for layer in layers:
            seen = see(layer, residuals, streams)
            residuals, streams = seen.residuals, seen.streams
            labels[some] = labels[some] * k + seen.digits
    return np.asarray(as_array(labels), dtype=np.int64)


def _problem(losses: Floats, layers: int, d: int) -> str | None:
    """A sentence if the loss still fell when the rate was on its way to 0."""
    n = len(losses)
    early, late = losses[int(0.6 * n) : int(0.7 * n) + 1], losses[int(0.9 * n) :]
    a_layer, a_number = _STILL_FALLING
    noise = math.sqrt(float(early.var() / len(early) + late.var() / len(late)))
    if n >= _FEW_STEPS and early.mean() - late.mean() < layers * (a_layer + d * a_number) + 3 * noise:
        return None
    return f"the mixtures of quantizer='drmm' were still improving after {n} steps: give more drmm_steps"
