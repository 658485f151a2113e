"""The explanation of a score: the gap 1 - MAUVE, its buckets, and their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from mauve_metric.arrays import Floats
from mauve_metric.features.text_functions import NgramUse
from mauve_metric.results.methods import Result
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.checks import check_string
from mauve_metric.runtime.plain_text import percent, printable

if TYPE_CHECKING:
    import altair as alt

    from mauve_metric.report.document import Document


class NearText(NamedTuple):
    """A text near a bucket's centre.

    row: its place in its set, from 0. distance: from the centre, in projected space.
    in_bucket: whether it is one of the bucket's texts. text: None where only features were given.
    """

    row: int
    distance: float
    in_bucket: bool
    text: str | None

    @property
    def label(self) -> str:
        """The number of the text, from 1, and whether it lies in the bucket.

        >>> NearText(6, 0.5, False, None).label
        'text 7 (outside, nearest)'
        """
        return f"text {self.row + 1}" + ("" if self.in_bucket else " (outside, nearest)")


@dataclass(frozen=True)
class GapBucket:
    """One bucket's part in the gap.

    Attributes:
        bucket: its number. rank: 1 for the largest contribution.
        side: "too much": the model puts a larger share of its texts here than people do (Type I); "missed": a smaller
            one (Type II); "even".
        contribution: in [0, 1], see `gap_buckets.contributions`. share: of the gap, in [0, 1].
        type_one, type_two: the contribution under its side's name, 0 under the other.
        p_count, q_count: human and model texts in it.
        p_value: of "equal shares", corrected for the number of buckets. noise: not significant at the config's level.
        overlap, other_rank: Jaccard index in [0, 1] of the bucket of a clustering with the next seed that has most of
            its texts, and that bucket's rank there: how stable the finding is.
        words: words and phrases that tell its texts apart from all others.
        p_words, q_words: words that separate its human texts from the model texts around its centre, and its model
            texts from the human ones there. repeated: phrases that its model texts repeat.
        p_texts, q_texts: the texts of both sides nearest to its centre.
        composition: with `by`, its human and its model texts of each label, for labels that it holds.
    """

    bucket: int
    rank: int
    side: Literal["too much", "missed", "even"]
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
    composition: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def texts(self) -> list[tuple[str, NearText]]:
        """The texts of both sides, each with the name of its side."""
        return [*(("human", near) for near in self.p_texts), *(("model", near) for near in self.q_texts)]

    @property
    def title(self) -> str:
        """The title of the bucket."""
        noise = ", could be noise" if self.noise else ""
        return (
            f"{self.rank}. {self.side.upper()}: {percent(self.share, 1)} of the gap, {self.p_count} human and "
            f"{self.q_count} model texts{noise}"
        )

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Facts below the title: names and values, without those that are empty."""
        facts = [
            ("about", ", ".join(self.words)),
            ("human texts say", ", ".join(self.p_words)),
            ("model texts say", ", ".join(self.q_words)),
            ("model repeats", ", ".join(self.repeated)),
            ("human texts by subgroup", self._composition(0)),
            ("model texts by subgroup", self._composition(1)),
            ("under another seed", f"overlap {self.overlap:.2f}, rank {self.other_rank}"),
        ]
        return [(name, printable(value)) for name, value in facts if value]

    @property
    def telling(self) -> dict[str, tuple[str, ...]]:
        """The phrases to mark in the "human" and in the "model" texts."""
        return {"human": self.p_words, "model": (*self.q_words, *self.repeated)}

    def _composition(self, side: int) -> str:
        """The shares of the labels among the texts of one side (0 human, 1 the model's), the largest first."""
        counts = Counter({label: of_both[side] for label, of_both in self.composition.items()})
        return ", ".join(f"{label} {percent(n, counts.total())}" for label, n in counts.most_common() if n)


class ScoredText(NamedTuple):
    """A text with the score of a classifier that was not fitted to it.

    row: its place in its set, from 0. score: its rank, in (0, 1), the most model-like last.
    text: None where it is not known.
    """

    row: int
    score: float
    text: str | None

    @property
    def label(self) -> str:
        """The number of the text, from 1, and its rank.

        >>> ScoredText(6, 0.034, None).label
        'text 7 (rank 0.03)'
        """
        return f"text {self.row + 1} (rank {self.score:.2f})"


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """The gap 1 - MAUVE of a result, divided among buckets.

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
            `features.text_functions.NgramUse`); else none.
    """

    result: MauveResult
    gap: float
    type_one: float
    type_two: float
    noise: float
    contributions: Floats
    p_values: Floats = field(repr=False)
    buckets: tuple[GapBucket, ...] = field(repr=False)
    most_human: tuple[ScoredText, ...] = field(default=(), repr=False)
    most_model: tuple[ScoredText, ...] = field(default=(), repr=False)
    ngrams: tuple[NgramUse, ...] = field(default=(), repr=False)

    def document(self) -> Document:
        """Build the document: score, gap and parts, buckets with texts, and evidence of a classifier."""
        from mauve_metric.report import result_documents

        return result_documents.of_explanation(self)

    @property
    def signature(self) -> str:
        """The signature of the score."""
        return self.result.signature

    def first_screen(self, title: str = "", more: str = "") -> str:
        """At most 40 lines: the verdict, what gives the model away, and the kinds of texts it misses or overdoes.

        Nothing is shown that could be noise: n-grams and buckets have corrected tests, and the ends of the classifier
        are shown only where its AUC is significant.

        Args:
            title: of the sets; empty: their sizes alone. more: the last line.
        """
        from mauve_metric.report.first_screen import explanation_screen

        return explanation_screen(self, check_string("title", title), check_string("more", more))

    def summary(self) -> str:
        """The verdict and closeness on one line."""
        return self.result.summary()

    def __str__(self) -> str:
        return self.first_screen()

    def plot(self) -> alt.LayerChart:
        """The buckets by their contribution as an Altair chart (see `of_comparison.contributions_chart`)."""
        from mauve_metric.report.charts import of_comparison

        return of_comparison.contributions_chart(self)
