"""The map of all texts that were scored, from the rows that the clustering saw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mauve_metric.plot_map import map_chart
from mauve_metric.space.scoring import Scored


def text_map(scored: Scored, most: int, link: str | None = None) -> Any:
    """Human texts and those of every model on their first two principal components (see `plot_map.map_chart`).

    The models come in the order of the ranking, so that they have the colours of the other figures.

    Args:
        scored: what is known of the models.
        most: points that are drawn.
        link: see `map_chart`.
    """
    partition, embedded, given = scored.partition, scored.embedded, list(scored.results)
    order = [0, *(given.index(name) + 1 for name in scored.best_first)]
    return map_chart(
        ["human texts", *scored.best_first],
        [partition.rows[number] for number in order],
        [partition.labels[0][number] for number in order],
        [embedded.kept(number) for number in order],
        variance_shares(partition.rows, embedded.variance),
        most=most,
        link=link,
    )


def variance_shares(rows: Sequence[NDArray[Any]], variance: float) -> tuple[float, float]:
    """Which shares of the variance of the features, scaled to length 1, the first two projected columns hold.

    >>> from mauve_metric.quantize import unit_rows
    >>> from mauve_metric.space.scoring import unit_variance
    >>> features = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 1.0], [1.0, 0.0]])
    >>> unit = unit_rows(features)
    >>> variance = unit_variance([features[:2], features[2:]])
    >>> [round(share, 6) for share in variance_shares([unit[:2], unit[2:]], variance)]
    [0.5, 0.5]
    """
    along = [*np.concatenate([part[:, :2] for part in rows]).var(axis=0, dtype=np.float64).tolist(), 0.0][:2]
    first, second = (min(max(value / variance, 0.0), 1.0) if variance > 0 else 0.0 for value in along)
    return first, second
