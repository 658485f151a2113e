"""What a score comes with: its numbers, its warnings and its signature."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import altair as alt

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

    Direction, range and paper of every score stand in `mauve_metric.scores.SCORES`. None stands for what was not asked
    for or cannot be computed (the errors of a set of one text; the lengths of features).

    Attributes:
        mauve: area under `divergence_curve`, in [0, 1], higher is better (Pillutla et al. 2021, §3).
        mauve_star: the same on Krichevsky–Trofimov smoothed histograms (Pillutla et al. 2023).
        mauve_exact: area under the continuous curve, without the error of the grid of weights.
        mauve_debiased, mauve_stderr, mauve_ci: MAUVE without the bias of sampling, its standard error, and its interval
            (low, high) at the config's level.
        ci_scope: what the intervals allow for besides sampling: "for this partition" or "over clusterings".
        mauve_runs, mauve_mean, mauve_std: `mauve` of every clustering (num_runs,), their mean and standard deviation.
        mauve_floor: `mauve_exact` of two sets without a common bucket.
        mauve_ceiling, mauve_ceiling_std: mean and standard deviation of `mauve` of two samples of one distribution of
            these sizes.
        p_value: of the permutation test that both sets come from one distribution.
        frontier_integral, frontier_integral_star: in [0, 1], lower is better (Liu et al. 2021, §3).
        frontier_integral_debiased, frontier_integral_stderr, frontier_integral_ci: as for MAUVE.
        jensen_shannon: ½KL(p‖m) + ½KL(q‖m) at m = ½(p + q), in nats, in [0, ln 2], lower is better.
        precision, recall, density, coverage: from nearest neighbours (Kynkäänniemi 2019; Naeem 2020).
        prd_precision, prd_recall, prd_area: of the exact precision-recall curve of the histograms (Sajjadi 2018).
        frechet_distance: of the features, at least 0, lower is better (Heusel 2017).
        n_p, n_q: number of texts. num_buckets: number of buckets of the histograms.
        p_dropped, q_dropped: empty texts left out on request. p_truncated, q_truncated: texts cut to the featurizer's
            length. p_median_length, q_median_length: in tokens.
        p_hist, q_hist: probabilities, shape (num_buckets,).
        divergence_curve: shape (m + 2, 2), see `mauve_metric.divergence.divergence_curve`.
        prd_curve: shape (j, 2): recall, precision.
        warnings: what to know before believing the score.
        signature: what fixes the score, `key:value|key:value|…`.
        p_labels, q_labels: bucket of each text, shape (n_p,) and (n_q,); not in `to_dict`.
    """

    mauve: float
    mauve_debiased: float | None
    mauve_stderr: float | None
    mauve_ci: tuple[float, float] | None
    ci_scope: str
    mauve_ceiling: float
    mauve_ceiling_std: float
    mauve_floor: float
    mauve_star: float
    mauve_exact: float
    mauve_mean: float
    mauve_std: float | None
    mauve_runs: Floats
    p_value: float | None
    frontier_integral: float
    frontier_integral_debiased: float | None
    frontier_integral_stderr: float | None
    frontier_integral_ci: tuple[float, float] | None
    frontier_integral_star: float
    jensen_shannon: float
    precision: float | None
    recall: float | None
    density: float | None
    coverage: float | None
    prd_precision: float
    prd_recall: float
    prd_area: float
    frechet_distance: float | None
    n_p: int
    n_q: int
    num_buckets: int
    p_dropped: int
    q_dropped: int
    p_truncated: int
    q_truncated: int
    p_median_length: float | None
    q_median_length: float | None
    warnings: tuple[ScoreWarning, ...]
    signature: str
    p_hist: Floats
    q_hist: Floats
    divergence_curve: Floats
    prd_curve: Floats
    p_labels: NDArray[np.int64] = field(repr=False, metadata={"in_dict": False})
    q_labels: NDArray[np.int64] = field(repr=False, metadata={"in_dict": False})

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python floats, integers, strings and lists, fit for JSON."""
        return {
            item.name: plain(getattr(self, item.name)) for item in fields(self) if item.metadata.get("in_dict", True)
        }

    def plot(self) -> alt.VConcatChart:
        """The figures of this result as one Altair chart, which a notebook shows (see `mauve_metric.plot`).

        Raises:
            ImportError: Altair is not installed.
        """
        from mauve_metric import plot

        return plot.result_chart(self)

    def __str__(self) -> str:
        interval = "" if self.mauve_ci is None else f" (debiased {self.mauve_debiased:.4f}"
        if self.mauve_ci is not None:
            interval += f", interval {self.mauve_ci[0]:.4f}–{self.mauve_ci[1]:.4f} {self.ci_scope})"
        return f"{self.signature} = {self.mauve:.4f}{interval}"


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
