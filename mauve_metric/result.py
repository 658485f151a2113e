"""What a score comes with: its numbers, its warnings and its signature."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class ScoreWarning(NamedTuple):
    """Something that a careful reviewer would say about a score.

    code: a fixed word for programs. message: one sentence for people. numbers: what it is based on.
    """

    code: str
    message: str
    numbers: dict[str, Any]


@dataclass(frozen=True)
class MauveResult:
    """A MAUVE score and what belongs to it. P is the reference (human) side, Q the model's.

    Attributes:
        mauve: area under `divergence_curve`, in [0, 1], higher is better (Pillutla et al. 2021, §3).
        mauve_star: the same on Krichevsky–Trofimov smoothed histograms (Pillutla et al. 2023).
        frontier_integral, frontier_integral_star: in [0, 1], lower is better (Liu et al. 2021, §3).
        mauve_exact: area under the continuous curve, without the error of the grid of weights.
        mauve_floor: `mauve_exact` of two sets without a common bucket.
        prd_precision, prd_recall, prd_area: of the exact precision-recall curve, in [0, 1], higher is better
            (Sajjadi et al. 2018).
        n_p, n_q: number of texts. num_buckets: number of buckets of the histograms.
        p_dropped, q_dropped: empty texts left out on request.
        p_hist, q_hist: probabilities, shape (num_buckets,).
        divergence_curve: shape (m + 2, 2), see `mauve_metric.divergence.divergence_curve`.
        prd_curve: shape (j, 2): recall, precision.
        warnings: what to know before believing the score.
        signature: what fixes the score, `key:value|key:value|…`.
        p_labels, q_labels: bucket of each text, shape (n_p,) and (n_q,); not in `to_dict`.
    """

    mauve: float
    mauve_star: float
    frontier_integral: float
    frontier_integral_star: float
    mauve_exact: float
    mauve_floor: float
    prd_precision: float
    prd_recall: float
    prd_area: float
    n_p: int
    n_q: int
    num_buckets: int
    p_dropped: int
    q_dropped: int
    p_hist: Floats
    q_hist: Floats
    divergence_curve: Floats
    prd_curve: Floats
    warnings: tuple[ScoreWarning, ...]
    signature: str
    p_labels: NDArray[np.int64] = field(repr=False, metadata={"in_dict": False})
    q_labels: NDArray[np.int64] = field(repr=False, metadata={"in_dict": False})

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python floats, integers, strings and lists, fit for JSON."""
        return {
            item.name: plain(getattr(self, item.name)) for item in fields(self) if item.metadata.get("in_dict", True)
        }

    def __str__(self) -> str:
        return f"{self.signature} = {self.mauve:.4f}"


def plain(value: Any) -> Any:
    """A value with arrays as lists, numpy numbers as Python's, and named tuples as dicts."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value


def format_signature(entries: Mapping[str, Any]) -> str:
    """`key:value|key:value|…`, without the separators inside a value.

    >>> format_signature({"num_buckets": 50, "featurize_model_name": "org/name"})
    'num_buckets:50|featurize_model_name:org/name'
    """
    return "|".join(f"{key}:{_signature_value(value)}" for key, value in entries.items())


def _signature_value(value: Any) -> str:
    text = repr(value) if isinstance(value, float) and not value.is_integer() else str(value)
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return text.replace("|", "/").replace("\n", " ")
