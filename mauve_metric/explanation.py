"""What an explanation of a score holds: the gap, its buckets, the texts in them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mauve_metric.result import MauveResult, plain

if TYPE_CHECKING:
    import altair as alt

Floats = NDArray[np.float64]
Side = Literal["too much", "missed", "even"]


class NearText(NamedTuple):
    """A text near a bucket's centre.

    row: its number in its set. distance: from the centre, in projected space. in_bucket: whether it is one of the
    bucket's texts. text: None where only features were given.
    """

    row: int
    distance: float
    in_bucket: bool
    text: str | None


@dataclass(frozen=True)
class GapBucket:
    """One bucket's part in the gap.

    Attributes:
        bucket: its number. rank: 1 for the largest contribution.
        side: "too much": the model puts a larger share of its texts here than people do (Type I); "missed": a smaller
            one (Type II); "even".
        contribution: in [0, 1], see `gap.contributions`. share: of the gap, in [0, 1].
        type_one, type_two: the contribution under its side's name, 0 under the other.
        p_count, q_count: human and model texts in it.
        p_value: of "equal shares", corrected for the number of buckets. noise: not significant at the config's level.
        overlap, other_rank: Jaccard index in [0, 1] of the bucket of a clustering with the next seed that has most of
            its texts, and that bucket's rank there: how stable the finding is.
        words: words and phrases that tell its texts apart from all others.
        p_words, q_words: what tells its human texts apart from the model texts around its centre, and its model texts
            from the human ones there. repeated: phrases that its model texts repeat.
        p_texts, q_texts: the texts of both sides nearest to its centre.
    """

    bucket: int
    rank: int
    side: Side
    contribution: float
    share: float
    type_one: float
    type_two: float
    p_count: int
    q_count: int
    p_value: float
    noise: bool
    overlap: float
    other_rank: int
    words: tuple[str, ...]
    p_words: tuple[str, ...]
    q_words: tuple[str, ...]
    repeated: tuple[str, ...]
    p_texts: tuple[NearText, ...]
    q_texts: tuple[NearText, ...]


@dataclass(frozen=True)
class Explanation:
    """The gap 1 - MAUVE of a result, taken apart.

    Attributes:
        result: the score.
        gap: 1 - `result.mauve`. type_one, type_two: its parts from buckets that the model fills too much, and from
            those that it misses; they sum to `gap`.
        noise: the part of buckets that could be noise.
        contributions: of every bucket, shape (num_buckets,); they sum to `gap`.
        p_values: of every bucket, corrected, shape (num_buckets,).
        buckets: the largest contributions, the largest first.
    """

    result: MauveResult
    gap: float
    type_one: float
    type_two: float
    noise: float
    contributions: Floats
    p_values: Floats = field(repr=False)
    buckets: tuple[GapBucket, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON; the result under "result"."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "result"}
        return {name: plain(value) for name, value in values.items()} | {"result": self.result.to_dict()}

    def plot(self) -> alt.LayerChart:
        """The buckets by their contribution as an Altair chart (see `plot_compare.contributions_chart`)."""
        from mauve_metric import plot_compare

        return plot_compare.contributions_chart(self)

    def __str__(self) -> str:
        from mauve_metric import tables

        return tables.explanation_table(self)
