"""Why a score is not 1: the gap, its buckets, the texts in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mauve_metric.results.charts import of_explanation
from mauve_metric.results.numbers import ExplanationNumbers
from mauve_metric.results.result import MauveResult
from mauve_metric.results.wording import explanation_text

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Explanation(ExplanationNumbers):
    """The gap 1 - MAUVE of a result, taken apart.

    Attributes:
        result: the score.
        gap: 1 - `result.mauve`. type_one, type_two: its parts from buckets that the model fills too much, and from
            those that it misses; they sum to `gap`.
        noise: the part of buckets that could be noise.
        contributions: of every bucket, shape (num_buckets,); they sum to `gap`.
        p_values: of every bucket, corrected, shape (num_buckets,).
        buckets: the largest contributions, the largest first.
        most_human, most_model: the human texts that the classifier of the learned score finds most human, and the
            model's that it finds most like the model's, the most extreme first; none where there is no such score.
        ngrams: with texts and the featurizer `ngrams`, the n-grams whose use differs most (see
            `features.ngram_use.NgramUse`); else none.
    """

    result: MauveResult

    def plot(self) -> alt.LayerChart:
        """The buckets by their contribution as an Altair chart (see `of_explanation.contributions_chart`)."""
        return of_explanation.contributions_chart(self)

    def __str__(self) -> str:
        return explanation_text.explanation_table(self)
