"""Precision, recall, density and coverage in torch, for rows that are on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mauve_metric.runtime.tensors import steps

if TYPE_CHECKING:
    import torch


def support_scores(
    p: torch.Tensor, q: torch.Tensor, k: int, tolerance: float = 0.0
) -> tuple[float, float, float, float]:
    """Precision, recall, density, coverage as `support.support_scores`, a point on the edge inside.

    Distances are sums of squared differences in float64, the same for the same two points at any position.
    """
    import torch

    p_radii, q_radii = _radii(p, k) + tolerance, _radii(q, k) + tolerance
    in_p_balls, in_q_balls = (torch.zeros(len(rows), dtype=torch.int64, device=p.device) for rows in (q, p))
    filled = torch.zeros(len(p), dtype=torch.bool, device=p.device)
    for some in steps(len(q), len(p)):
        distances = _distances(q[some], p)
        inside = distances <= p_radii
        in_p_balls[some] = inside.sum(dim=1)
        filled |= inside.any(dim=0)
        in_q_balls += (distances <= q_radii[some, None]).sum(dim=0)
    precision, recall = float((in_p_balls > 0).double().mean()), float((in_q_balls > 0).double().mean())
    return precision, recall, float(in_p_balls.sum()) / (k * len(q)), float(filled.double().mean())


def _radii(rows: torch.Tensor, k: int) -> torch.Tensor:
    """The distance of each row to its k-th nearest other row."""
    import torch

    radii = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
    for some in steps(len(rows), len(rows)):
        distances = _distances(rows[some], rows)
        own = torch.arange(len(distances), device=rows.device)
        distances[own, own + some.start] = torch.inf
        radii[some] = distances.topk(k, dim=1, largest=False).values[:, -1]
    return radii


def _distances(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    import torch

    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(one.to(torch.float64), other.to(torch.float64), compute_mode=mode)
