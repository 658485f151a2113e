"""Lattice buckets: a trained network spreads rows over the unit sphere in four dimensions; its points are the buckets.

The points are those of an integer sphere: they do not depend on the features, the network does.
"""

from __future__ import annotations

import logging
import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mauve_metric.arrays import Array, Floats, Integers, Labels, Rows
from mauve_metric.clustering.histograms import Advance, Quantized, ratio
from mauve_metric.clustering.on_device import scaled_rows
from mauve_metric.runtime.checks import check_least
from mauve_metric.runtime.errors import NotFinite, WrongOption
from mauve_metric.runtime.optional_imports import import_faiss, import_torch
from mauve_metric.runtime.tensors import ProjectedRows, as_array, full_precision, index_of, is_tensor
from mauve_metric.runtime.tensors import steps as blocks_of
from mauve_metric.runtime.threads import one_torch_thread

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)

DIMENSIONS = 4
LEAST_ROWS = 64  # a batch
_POSITIVES = 10  # nearest neighbours that a row's partner is drawn from, itself among them
_NEGATIVE = 50  # the neighbour, in what the network gives, that a row is kept further away from than from its partner
PAPER_SQUARED_RADIUS, PAPER_EPOCHS, PAPER_HIDDEN = 50, 200, 768  # of Pillutla et al. 2021
SHORT_HIDDEN = 256
MOST_SQUARED_RADIUS = 1000
_RATES = ((0.5, 0.1), (0.75, 0.05), (1.0, 0.01))  # up to this share of the epochs, this rate
_MOMENTUM = 0.9
_KEPT = 0.9  # of the running means of a batch normalisation
_LEAST_DISTANCE = 1e-6  # added to distances, so that copies have a logarithm
_LEAST_VARIANCE = 1e-5  # added to variances
_FEW_STEPS = 300  # fewer are not enough for the smallest sets
_STILL_FALLING = 0.2  # as much as distances between vectors that have all grown by a fifth


def lattice(
    rows: ProjectedRows,
    squared_radius: int = 50,
    epochs: int = 50,
    hidden: int = 256,
    spread: float = 1.0,
    seed: int = 25,
    advance: Advance | None = None,
    paper: bool = False,
) -> Quantized:
    """Bucket of each row: the nearest integer point to a spreading network's output (Sablayrolles et al. 2019).

    The network f goes to unit vectors in four dimensions. Its loss over a batch of n rows is
    mean_i max(0, ‖f_i - f_i⁺‖ - ‖f_i - f_i⁻‖) - spread · mean_i log(n min_j ‖f_i - f_j‖): i⁺ is one of the 10 nearest
    neighbours of row i, drawn anew in every epoch, i⁻ the 50th nearest neighbour of f_i at the start of the epoch. The
    first term keeps neighbours together, the second (KoLeo) spreads all over the sphere.

    Rows are centred and divided by one number before, so that no step depends on their unit.

    Args:
        rows: features, (n, d): an array, or a torch tensor, which is worked on where it is.
        squared_radius: of the integer sphere; 50 has 744 points.
        epochs: passes over the rows, in batches of 64. For MAUVE 200 were used (Pillutla et al. 2021).
        hidden: width h of the network; for MAUVE 768.
        spread: weight of the second term; for MAUVE 1, by Sablayrolles et al. 0.05.
        seed: of the first weights, the batches and the partners. On one kind of CPU with one version of torch it fixes
            every bit, whatever the number of threads.
        advance: called with the steps done and those in all.
        paper: as in the paper's code, the rows left over by whole batches are a batch too, unless there is only one,
            and a batch, its partners and the rows to keep away are normalised each by their own moments. False: whole
            batches alone, of other rows in every epoch, and the three are normalised together.

    Returns:
        Labels (n,) in 0 … num_points(squared_radius) - 1; and a problem if the training was too short.

    Raises:
        ValueError: fewer rows than a batch, rows that are all equal, or a loss that is no number.
    """
    torch = import_torch()
    if len(rows) < LEAST_ROWS:
        raise WrongOption(
            f"quantizer='lattice' needs at least {LEAST_ROWS} texts in all sets together, got {len(rows)}"
        )
    draw = torch.Generator().manual_seed(seed)
    with torch.inference_mode(False), torch.enable_grad(), full_precision(), one_torch_thread():
        scaled = scaled_rows(rows, "lattice")
        partners = nearest_rows(scaled if is_tensor(rows) else as_array(scaled), _POSITIVES)
        network = first_network(scaled, hidden, draw)
        losses = _train(network, scaled, partners, epochs, spread, draw, advance, paper)
        vectors = spread_rows(network, scaled)
    labels = nearest_points(vectors, squared_radius)
    logger.info("lattice: %d rows, %d of %d points", len(rows), len(np.unique(labels)), num_points(squared_radius))
    return Quantized(labels, _problem(losses, epochs * len(_starts(len(rows), paper))))


def nearest_rows(rows: ProjectedRows, count: int) -> Integers:
    """The numbers of the nearest rows to each row, itself among them, nearest first: (n, d) → (n, count)."""
    if not is_tensor(rows):
        index = import_faiss().IndexFlatL2(rows.shape[1])
        index.add(rows)
        numbers: Integers = index.search(rows, count)[1]
        return numbers
    import torch

    squares = rows.square().sum(dim=1)
    nearest = [
        torch.addmm(squares, rows[some], rows.T, alpha=-2.0).topk(count, largest=False).indices
        for some in blocks_of(len(rows), len(rows))
    ]
    return np.asarray(as_array(torch.cat(nearest)), dtype=np.int64)


def first_network(rows: torch.Tensor, hidden: int, draw: torch.Generator) -> torch.nn.Sequential:
    """Linear – normalise – ReLU – linear – normalise – ReLU – linear, weights uniform up to 1/√(inputs).

    Normalising takes the bias of the first two layers off: they have none.
    """
    import torch
    from torch import nn

    def uniform(outputs: int, inputs: int) -> nn.Parameter:
        values = 2 * torch.rand((outputs, inputs), generator=draw, dtype=torch.float64) - 1
        return nn.Parameter((values / math.sqrt(inputs)).to(rows))

    layers: list[nn.Module] = []
    for inputs, outputs in ((rows.shape[1], hidden), (hidden, hidden), (hidden, DIMENSIONS)):
        linear = nn.Linear(inputs, outputs, bias=False, device="meta")  # draws nothing
        linear.weight = uniform(outputs, inputs)
        layers += [linear, nn.BatchNorm1d(hidden, _LEAST_VARIANCE, 1 - _KEPT).to(rows), nn.ReLU()]
    layers[-3].bias = nn.Parameter(uniform(DIMENSIONS, hidden)[:, 0].detach().clone())
    return nn.Sequential(*layers[:-2])


def apply(network: torch.nn.Sequential, rows: torch.Tensor, training: bool) -> torch.Tensor:
    """Apply the network to rows: (b, d) → (b, 4), of length 1; training: normalised by the rows' own moments."""
    from torch.nn import functional

    return functional.normalize(network.train(training)(rows))


def spread_rows(network: torch.nn.Sequential, rows: torch.Tensor) -> Rows:
    """Apply the trained network to all rows, each by itself: (n, d) → (n, 4)."""
    import torch

    with torch.no_grad():
        parts = [as_array(apply(network, rows[some], False)) for some in blocks_of(len(rows), 4 * DIMENSIONS)]
    spread: Rows = np.concatenate(parts)
    return spread


def loss_of(anchors: torch.Tensor, close: torch.Tensor, far: torch.Tensor, spread: float) -> torch.Tensor:
    """The loss of a batch: of what the network gives for rows, partners and rows to keep away, each (b, 4)."""
    closer = (_distances(anchors, close) - _distances(anchors, far)).relu().mean()
    nearest = (anchors @ anchors.T).detach().fill_diagonal_(-math.inf).argmax(dim=1)
    return closer - spread * (len(anchors) * _distances(anchors, anchors[nearest])).log().mean()


def _distances(some: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    import torch

    lengths: torch.Tensor = torch.linalg.vector_norm(some - others, dim=1)
    return lengths + _LEAST_DISTANCE


def _train(
    network: torch.nn.Sequential,
    rows: torch.Tensor,
    near: Integers,
    epochs: int,
    spread: float,
    draw: torch.Generator,
    advance: Advance | None,
    paper: bool,
) -> Floats:
    """Change the network in place, and return the mean loss of each epoch; near: neighbours of each row, (n, 10)."""
    import torch

    n, starts = len(rows), _starts(len(rows), paper)
    optimizer = torch.optim.SGD(network.parameters(), momentum=_MOMENTUM)
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        partners = near[np.arange(n), torch.randint(_POSITIVES, (n,), generator=draw).numpy()]
        others = _others(spread_rows(network, rows))
        order = torch.randperm(n, generator=draw).numpy()
        optimizer.param_groups[0]["lr"] = next(rate for until, rate in _RATES if epoch < until * epochs)
        total = rows.new_zeros(())
        for start in starts:
            batch = order[start : start + LEAST_ROWS]
            triplets = rows[index_of(np.concatenate([batch, partners[batch], others[batch]]), rows)]
            normalised = triplets.chunk(3) if paper else [triplets]
            anchors, close, far = torch.cat([apply(network, some, True) for some in normalised]).chunk(3)
            loss = loss_of(anchors, close, far, spread)
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            total += loss.detach()
        losses[epoch] = float(total) / len(starts)
        if not math.isfinite(losses[epoch]):
            raise NotFinite(f"quantizer='lattice': the loss is NaN or infinite after {epoch + 1} epochs")
        if advance is not None:
            advance((epoch + 1) * len(starts), epochs * len(starts))
    return losses


def _starts(n: int, paper: bool) -> range:
    """The first row of each batch of an epoch of n rows.

    >>> _starts(130, False), _starts(130, True), _starts(129, True)  # a single row has no variance
    (range(0, 67, 64), range(0, 129, 64), range(0, 128, 64))
    """
    return range(0, n - (1 if paper else LEAST_ROWS - 1), LEAST_ROWS)


def _others(vectors: Rows) -> Integers:
    """The 50th nearest of each vector, (n, 4), itself the first: (n,)."""
    from scipy.spatial import cKDTree

    numbers: Integers = cKDTree(vectors).query(vectors, k=[_NEGATIVE])[1][:, 0]
    return numbers


def _problem(losses: Floats, steps: int) -> str | None:
    """A sentence if there were few steps, or if the loss still fell after the first rate, or had risen in the end."""
    epochs = len(losses)
    early, late = losses[epochs // 4 : epochs // 2 + 1].mean(), losses[epochs * 3 // 4 :].mean()
    if steps >= _FEW_STEPS and early - late < _STILL_FALLING and late - losses[0] < _STILL_FALLING:
        return None
    return f"the network of quantizer='lattice' had not settled after {steps} steps: give more lattice_epochs"


def num_points(squared_radius: int) -> int:
    """Number of points of four integers with this sum of squares, by Jacobi: 8 Σ d over its divisors d, but 4 ∤ d.

    >>> [num_points(r2) for r2 in (20, 25, 30, 50)]
    [144, 248, 576, 744]
    """
    return 8 * sum(d for d in range(1, squared_radius + 1) if squared_radius % d == 0 and d % 4)


@lru_cache(maxsize=256)
def squared_radius_near(cells: int) -> int:
    """The smallest squared radius whose number of points is nearest to a number of cells, as a ratio.

    >>> [squared_radius_near(cells) for cells in (2, 10, 30, 60, 744)]
    [1, 1, 3, 7, 50]
    """
    every = range(1, MOST_SQUARED_RADIUS + 1)
    return min(every, key=lambda squared_radius: ratio(num_points(squared_radius), cells))


@lru_cache(maxsize=8)
def points(squared_radius: int) -> Integers:
    """The points u of four integers with ‖u‖² = squared_radius, (m, 4), from the lexicographically largest downwards.

    >>> points(1)[:5].tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, -1]]
    """
    check_least("squared_radius", squared_radius)
    reach = math.isqrt(squared_radius)
    first = np.indices((2 * reach + 1,) * (DIMENSIONS - 1)).reshape(DIMENSIONS - 1, -1).T - reach
    rest = squared_radius - np.square(first).sum(axis=1)
    last = np.sqrt(np.maximum(rest, 0)).round().astype(np.int64)
    whole = np.square(last) == rest
    both = [np.column_stack([first[whole], sign * last[whole]]) for sign in (-1, 1)]
    sorted_points: Integers = np.unique(np.concatenate(both), axis=0)[::-1]
    sorted_points.flags.writeable = False  # every caller gets the same array
    return sorted_points


def nearest_points(vectors: Array, squared_radius: int = 50) -> Labels:
    """The number, in `points`, of the point with the largest inner product with each vector: the nearest in direction.

    Among points that are equally near the first is taken.

    Args:
        vectors: (n, 4), of any length; of zeros, every point is equally near.

    Returns:
        Shape (n,), in 0 … num_points(squared_radius) - 1.

    Raises:
        ValueError: vectors that are not (n, 4), or not finite.

    Sablayrolles et al. 2019, "Spreading vectors for similarity search", section 3.4.

    >>> points(50)[nearest_points(np.array([[0.9, 0.0, -0.2, 0.0], [-0.5, 0.5, 0.5, 0.5]]))].tolist()
    [[7, 0, -1, 0], [-3, 4, 4, 3]]
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[1] != DIMENSIONS:
        raise ValueError(f"vectors must have shape (n, {DIMENSIONS}), got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise NotFinite.of("vectors", "must be finite, got NaN or infinity")
    lattice_points = points(squared_radius)
    labels = np.empty(len(vectors), dtype=np.int64)
    for some in blocks_of(len(vectors), len(lattice_points)):
        labels[some] = (vectors[some] @ lattice_points.T).argmax(axis=1)
    return labels
