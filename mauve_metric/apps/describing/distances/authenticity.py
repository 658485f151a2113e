"""Copying of training texts: distances of a model's texts to them, compared with those of human texts."""

from __future__ import annotations

import math

import numpy as np

from mauve_metric.apps.describing.distances.checked_sets import check_sets
from mauve_metric.arrays import Array, Floats, Integers, MeasuredValue
from mauve_metric.measures.p_values import positive, t_quantile, two_sided

_CELL_ROWS = 50  # training rows, human rows and model rows that a cell has on average, at least
_MOST_CELLS = 50
_LEAST_MODEL_ROWS = 20  # in a cell that counts


def authenticity(human: Array, model: Array, training: Array, *, seed: int = 25, level: float = 0.95) -> MeasuredValue:
    """The share of model texts that are no near copies of a training text (Alaa et al. 2022, §3.3).

    A row counts if its nearest training row is further away from it than from that row's own nearest training row.

    Args:
        human: features of human texts that the model was not trained on, (n_h, d), at least 1 row.
        model: of the model's texts, (n_m, d), at least 1 row.
        training: of texts it was trained on, (n_t, d), at least 2 rows.
        seed: not used, taken as by every measure of three sets. level: of the interval, inside (0, 1).

    Returns:
        value: in [0, 1], higher is better; what human texts reach depends on the sets, and is below 1. ci: of a share
        (Clopper and Pearson 1934). p_value: of "the model's texts are as authentic as the human ones" (Fisher's exact
        test, both sides), all for these training texts.

    Raises:
        ValueError: too few rows, no common d, a level out of range.

    >>> rows = np.random.default_rng(0).normal(size=(90, 3))
    >>> authenticity(rows[:30], rows[60:] + 1e-3, rows[60:]).value
    0.0
    """
    from scipy.stats import binomtest, fisher_exact

    human, model, training = _centre(human, model, training, level)
    _, training_distance = _nearest(training, training, same=True)
    counts = []
    for rows in (model, human):
        index, distance = _nearest(rows, training)
        counts.append(int(np.count_nonzero(distance > training_distance[index])))
    test = fisher_exact([[count, len(rows) - count] for count, rows in zip(counts, (model, human), strict=True)])
    low, high = binomtest(counts[0], len(model)).proportion_ci(level)
    return MeasuredValue(counts[0] / len(model), (float(low), float(high)), positive(test.pvalue))


def data_copying(
    human: Array, model: Array, training: Array, *, num_cells: int | None = None, seed: int = 25, level: float = 0.95
) -> MeasuredValue:
    """C_T: are the model's texts nearer to the training texts than human texts are? (Meehan et al. 2020, §3.2).

    Σ w_c·Z_c over cells c, w_c the share of human rows in the cell (of those in all cells that count) and Z_c the
    standardised Mann–Whitney statistic of the distances to the nearest training row, above 0 where the model's are the
    larger; ties count half, and lower the standard deviation. Cells are those of k-means of the training rows; the ones
    with rows of both sets and at least 20 of the model count.

    Args:
        human: features of human texts that the model was not trained on, (n_h, d), at least 1 row.
        model: of the model's texts, (n_m, d), at least 20 rows.
        training: of texts it was trained on, (n_t, d), at least 2 rows.
        num_cells: how many, at least 1; by default as many as leave 50 rows of each set on average, at most 50.
        seed: of k-means. level: of the interval, inside (0, 1).

    Returns:
        value: unbounded; about 0 if the model's texts are as far from the training texts as human ones, below it if
        they are nearer (copies), above it if they are further away (underfit); it grows with the number of rows.
        ci: normal, by the larger of the variance under equality and DeLong's. p_value: both sides, normal.

    Raises:
        ValueError: too few rows, no common d, no cell that counts, a level out of range.

    >>> rows = np.random.default_rng(0).normal(size=(90, 3))
    >>> value, ci, p_value = data_copying(rows[:30], rows[60:] + 1e-3, rows[60:])
    >>> round(value, 3), ci[1] < 0, p_value < 0.001
    (-6.696, True, True)
    """
    from sklearn.cluster import KMeans

    human, model, training = _centre(human, model, training, level)
    if num_cells is None:
        num_cells = min(_MOST_CELLS, max(1, min(len(human), len(model), len(training)) // _CELL_ROWS))
    if not 1 <= num_cells <= len(training):
        raise ValueError(f"num_cells must be from 1 to the {len(training)} rows of training, got {num_cells}")
    start = training[np.random.default_rng(seed).choice(len(training), num_cells, replace=False)]
    cells = KMeans(num_cells, init=start, n_init=1, max_iter=20, tol=0).fit(training)
    far = [_nearest(rows, training)[1] for rows in (human, model)]
    cell = [cells.predict(rows) for rows in (human, model)]
    sizes, statistics = [], []
    for number in range(num_cells):
        ours, theirs = (distances[cell_of_row == number] for distances, cell_of_row in zip(far, cell, strict=True))
        if len(ours) and len(theirs) >= _LEAST_MODEL_ROWS:
            sizes.append(len(ours))
            statistics.append(_mann_whitney(ours, theirs))
    if not sizes:
        raise ValueError(
            f"data_copying needs a cell with a human row and {_LEAST_MODEL_ROWS} model rows, got none: "
            f"{len(human)} human and {len(model)} model rows in {num_cells} cells"
        )
    weights = np.array(sizes) / sum(sizes)
    scores, variances = (np.array(column) for column in zip(*statistics, strict=True))
    value, spread = float(weights @ scores), math.sqrt(float(np.square(weights) @ variances))
    half = t_quantile(level) * spread
    when_equal = math.sqrt(float(np.square(weights).sum()))  # the standard deviation for equal sets
    return MeasuredValue(value, (value - half, value + half), two_sided(value / when_equal))


def _centre(human: Array, model: Array, training: Array, level: float) -> tuple[Floats, Floats, Floats]:
    """All in float64 and about the training rows' mean, where squares lose least."""
    check_sets({"training": training}, least=2)
    check_sets({"human": human, "model": model, "training": training})
    if not 0 < level < 1:
        raise ValueError(f"level must be inside (0, 1), got {level}")
    mean = training.mean(axis=0, dtype=np.float64)
    return human - mean, model - mean, training - mean


def _nearest(rows: Floats, others: Floats, same: bool = False) -> tuple[Integers, Floats]:
    """For each row the number of the nearest of `others` and the distance to it, summed from the differences.

    same: both are one set, and no row is its own neighbour.
    """
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(others)
    index: Integers = search.kneighbors(None if same else rows, return_distance=False)[:, 0]
    return index, np.linalg.norm(rows - others[index], axis=1)


def _mann_whitney(human: Floats, model: Floats) -> tuple[float, float]:
    """The standardised statistic, above 0 where the model's numbers are larger, and its variance, at least 1.

    The variance is DeLong's of the share of pairs in which the model's is larger, over that under equality.
    """
    from scipy.stats import rankdata

    n, m, everything = len(human), len(model), np.concatenate([human, model])
    ranks = rankdata(everything)
    _, ties = np.unique(everything, return_counts=True)
    correction = float((ties.astype(np.float64) ** 3 - ties).sum()) / ((n + m) * (n + m - 1))
    under_equality = (n + m + 1 - correction) / (12 * n * m)
    if under_equality <= 0:  # all numbers are the same
        return 0.0, 1.0
    of_model = (ranks[n:] - rankdata(model)) / n  # share of human numbers below each of the model's
    of_human = 1 - (ranks[:n] - rankdata(human)) / m
    variances = [float(shares.var(ddof=1)) / len(shares) for shares in (of_model, of_human) if len(shares) > 1]
    return (float(of_model.mean()) - 0.5) / math.sqrt(under_equality), max(sum(variances) / under_equality, 1.0)
