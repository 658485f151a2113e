"""What each score is: its name for people, which direction is better, its range and its paper."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Score(NamedTuple):
    """One row of the table of scores.

    better: "higher" or "lower". low, high: the range; None where there is no bound.
    """

    title: str
    better: Literal["higher", "lower"]
    low: float | None
    high: float | None
    paper: str
    meaning: str


SCORES: dict[str, Score] = {
    "mauve": Score(
        "MAUVE", "higher", 0, 1, "Pillutla et al. 2021", "area under the divergence curve on the literature's grid"
    ),
    "mauve_star": Score(
        "MAUVE*", "higher", 0, 1, "Pillutla et al. 2023", "MAUVE of histograms smoothed by half a text a bucket"
    ),
    "mauve_exact": Score(
        "MAUVE, exact area", "higher", 0, 1, "Pillutla et al. 2021", "MAUVE with every mixture weight, no grid"
    ),
    "frontier_integral": Score(
        "frontier integral", "lower", 0, 1, "Liu et al. 2021", "average divergence along the frontier"
    ),
    "frontier_integral_star": Score(
        "frontier integral*", "lower", 0, 1, "Liu et al. 2021", "frontier integral of smoothed histograms"
    ),
    "prd_precision": Score(
        "PRD precision (F 1/8)", "higher", 0, 1, "Sajjadi et al. 2018", "quality: model text that could be human"
    ),
    "prd_recall": Score(
        "PRD recall (F 8)", "higher", 0, 1, "Sajjadi et al. 2018", "coverage: human text that the model could write"
    ),
    "prd_area": Score("PRD area", "higher", 0, 1, "Sajjadi et al. 2018", "area under the exact precision-recall curve"),
}
