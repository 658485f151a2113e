"""The explanation of a score: the gap 1 - MAUVE, its buckets, and their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from mauve_metric.arrays import Floats
from mauve_metric.features.text_functions import NgramUse
from mauve_metric.results.document import FILES, Column, Document, Line, Part, Preformatted, Prose, Table
from mauve_metric.results.first_screen import featurizers_of, headline, one_line
from mauve_metric.results.plain_text import digits, excerpt, percent, printable
from mauve_metric.results.rendering import Result
from mauve_metric.results.result import MauveResult
from mauve_metric.results.wording import evidence, words

if TYPE_CHECKING:
    import altair as alt

GAP_COLUMNS = (Column("part", "part", ".4f"), Column("share", "share", ">"), Column("meaning", "of the gap"))
BUCKET_COLUMNS = (
    *Column.each("d", "rank", "bucket"),
    Column("side", "side"),
    Column("contribution", "part of the gap", ".4f"),
    Column("share", "share", ".3f"),
    *Column.each("d", p_count="human", q_count="model"),
    Column("p_value", "p", ".2g"),
    Column("overlap", "overlap", ".2f"),
    Column("other_rank", "other rank", "d"),
    Column("about", "about"),
)
SUBGROUP_COLUMNS = Column.each("s", "bucket", "label", "p_count", "q_count")
TEXT_COLUMNS = Column.each("s", "bucket", "side", "row", "distance", "in_bucket", "text")
SHORT = 90  # characters of a text on the first screen
MOST_SHOWN = 3  # things of a kind on the first screen
_ITEM = (" " * 4 + "- ", " " * 6)  # indents of a text


class NearText(NamedTuple):
    """A text near a bucket's centre.

    row: its number in its set. distance: from the centre, in projected space. in_bucket: whether it is one of the
    bucket's texts. text: None where only features were given.
    """

    row: int
    distance: float
    in_bucket: bool
    text: str | None

    @property
    def label(self) -> str:
        """The number of the text, and whether it lies in the bucket.

        >>> NearText(7, 0.5, False, None).label
        'text 7 (outside, nearest)'
        """
        return f"text {self.row}" + ("" if self.in_bucket else " (outside, nearest)")


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

    row: its number in its set. score: its rank, in (0, 1), the most model-like last. text: None where it is not known.
    """

    row: int
    score: float
    text: str | None

    @property
    def label(self) -> str:
        """The number of the text and its rank.

        >>> ScoredText(7, 0.034, None).label
        'text 7 (rank 0.03)'
        """
        return f"text {self.row} (rank {self.score:.2f})"


@dataclass(frozen=True)
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
        result = self.result
        buckets = Table(
            BUCKET_COLUMNS,
            [Table.row(BUCKET_COLUMNS, bucket, about=", ".join(bucket.words)) for bucket in self.buckets],
        )
        gaps = (
            (self.type_one, "from buckets with too many model texts (Type I)"),
            (self.type_two, "from buckets with too few (Type II): human text that the model misses"),
            (self.noise, "from buckets that could be noise"),
        )
        parts: tuple[Part, ...] = (
            Preformatted(result.first_screen()),
            words.warnings_prose([("", warning) for warning in result.warnings]),
            Prose([f"The gap of MAUVE to 1 is {digits(self.gap)}, in {result.num_buckets} buckets."]),
            Table.of(GAP_COLUMNS, [(value, percent(value, self.gap), text) for value, text in gaps]),
            Table(buckets.columns, buckets.rows, views=FILES),
            *self._evidence(),
        )
        texts = [(bucket.bucket, side, *near) for bucket in self.buckets for side, near in bucket.texts]
        labels = [(one.bucket, label, *counts) for one in self.buckets for label, counts in one.composition.items()]
        tables = {"buckets": buckets, "texts": Table.of(TEXT_COLUMNS, texts)}
        tables["subgroups"] = Table.of(SUBGROUP_COLUMNS, labels)
        title = f"The gap between {result.n_q} model texts and {result.n_p} human texts"
        return Document(title, parts, tables, [("", result.signature)])

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
        result = self.result
        sizes = f"{result.n_p} + {result.n_q} texts"
        head = " · ".join(filter(None, (printable(title), sizes, featurizers_of(result))))
        blocks = [[head], [headline(result)], self._giveaways()]
        for side, heading in (("missed", "Kinds of texts that the model misses:"), ("too much", "That it overdoes:")):
            kinds = [bucket for bucket in self.buckets if bucket.side == side and not bucket.noise][:MOST_SHOWN]
            blocks.append([heading, *(line for bucket in kinds for line in _kind_lines(bucket))] if kinds else [])
        if not any(blocks[2:]):
            blocks.append(["Nothing here is more than chance would show."])
        return "\n\n".join("\n".join(block) for block in [*blocks, [more] if more else []] if block)

    def summary(self) -> str:
        """The verdict and closeness on one line."""
        return one_line(self.result)

    def __str__(self) -> str:
        return self.first_screen()

    def _giveaways(self) -> list[str]:
        """The n-grams that differ most, and two texts at each end of a classifier that tells the sets apart."""
        lines = [f"  {printable(evidence.ngram_sentence(use))}" for use in self.ngrams[:MOST_SHOWN]]
        result = self.result
        is_told = result.auc is not None and result.auc > 0.5 and result.auc_p_value is not None
        if is_told and (result.auc_p_value or 0.0) <= 1 - result.confidence_level:
            for model, human in zip(self.most_model[:2], self.most_human[:2], strict=False):
                lines += [f"  {side}: {_short(near)}" for side, near in (("model", model), ("human", human))]
        return ["What gives the model away:", *lines] if lines else []

    def plot(self) -> alt.LayerChart:
        """The buckets by their contribution as an Altair chart (see `of_comparison.contributions_chart`)."""
        from mauve_metric.results.charts import of_comparison

        return of_comparison.contributions_chart(self)

    def _evidence(self) -> list[Prose]:
        """The buckets with their texts, then the texts and n-grams by which a classifier separates the two sets."""
        prose = []
        for bucket in self.buckets:
            found = [Line(f"{name}: {value}", " " * 4, " " * 7) for name, value in bucket.facts]
            found += [_text_line(side, near) for side, near in bucket.texts]
            prose.append(Prose(found, lead=bucket.title, paragraphs=True))
        extremes = [
            _text_line(side, item)
            for side, texts in (("human", self.most_human), ("model", self.most_model))
            for item in texts
        ]
        uses = [Line(evidence.ngram_sentence(use), *_ITEM) for use in self.ngrams]
        return [
            *prose,
            Prose([evidence.STABILITY_NOTE] if self.buckets else []),
            Prose([evidence.EXTREMES_NOTE, *extremes] if extremes else []),
            Prose([evidence.NGRAMS_NOTE, *uses] if uses else []),
            Prose([words.learned_sentence(self.result)] if self.result.normalised else []),
        ]


def _text_line(side: str, item: NearText | ScoredText) -> Line:
    return Line(f"{side} {item.label}: {excerpt(item.text or '')}".rstrip(": "), *_ITEM)


def _kind_lines(bucket: GapBucket) -> list[str]:
    """A bucket in two lines: its numbers with its words, and its most typical text of the side that has more there."""
    words_of = f": {printable(', '.join(bucket.words))}" if bucket.words else ""
    texts = bucket.p_texts if bucket.side == "missed" else bucket.q_texts
    shown = [f"    {_short(near)}" for near in texts if near.in_bucket][:1]
    return [f"  {bucket.p_count} human and {bucket.q_count} model texts{words_of}", *shown]


def _short(near: NearText | ScoredText) -> str:
    """The number of a text and its beginning."""
    return f"text {near.row}" if near.text is None else f"text {near.row}: {excerpt(near.text, SHORT)}"
