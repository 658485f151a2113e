"""Scores of equal sets, with which a score is compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from mauve_metric.report.document import Column, Document, Prose, Table
from mauve_metric.results.methods import SignedResult
from mauve_metric.runtime.plain_text import digits, interval_words, printable, rounded_up

if TYPE_CHECKING:
    import altair as alt

Source: TypeAlias = Literal["split", "forecast"]


@dataclass(frozen=True)
class Spread:
    """Spread of a score over many pairs of equal sets: mean, standard deviation, and the range of the middle 90 %."""

    mean: float
    std: float
    low: float
    high: float


@dataclass(frozen=True)
class EqualSets:
    """Scores of many pairs of equal sets of one size.

    texts: of each set. num_buckets: k. source: "split", disjoint random parts of the human texts, clustered anew each
    time; "forecast", sets drawn from the human histogram. pairs: how many. mauve: as in the literature; mauve_debiased:
    without sampling bias, where equal sets have 1.
    """

    texts: int
    num_buckets: int
    source: Source
    pairs: int
    mauve: Spread
    mauve_debiased: Spread


@dataclass(frozen=True)
class Needed:
    """Number of texts per set that shows a difference with 80 % probability.

    from_human: a model whose score is so much below 1, from people. between: two models that differ by so much. None:
    more than a billion.
    """

    difference: float
    from_human: int | None
    between: int | None


SIZE_COLUMNS = (
    *Column.each("d", texts="texts a set", num_buckets="k"),
    Column("source", "from"),
    Column("pairs", "pairs", "d"),
    *Column.each(".4f", mauve="MAUVE", mauve_std="std", mauve_low="5 %", mauve_high="95 %"),
    *Column.each(".4f", debiased="debiased", debiased_std="std", debiased_low="5 %"),
)
NEEDED_COLUMNS = (
    Column("difference", "difference", ".3g"),
    *Column.each("s", from_human="a model from people", between="two models"),
)
NOTE = (
    "split: disjoint random parts of your texts, clustered anew each time; forecast: sets drawn from the histogram of "
    "all your texts. MAUVE: as in the literature; debiased: without sampling bias, where equal sets have 1."
)


@dataclass(frozen=True)
class HumanBaseline(SignedResult):
    """Spread of the scores of equal sets, and the number of texts that shows a difference.

    Attributes:
        texts: of the human set. floor: the score of sets with nothing in common, whatever their sizes.
        sizes: of equal sets, the smallest first: random splits of the human texts, and forecasts for larger sets.
        needed: for each difference how many texts a set show it with 80 % probability.
        num_buckets: on which these forecasts are made. around: the score near which two models differ.
        prompts: how many the texts have, where several texts share one: splits share no prompt, and there are no
            forecasts; None: each text is alone.
        signature_entries: what fixes the numbers, in order. signature: the same as `key:value|key:value|…`.
    """

    texts: int
    floor: float
    sizes: tuple[EqualSets, ...]
    needed: tuple[Needed, ...]
    num_buckets: int
    around: float
    prompts: int | None
    signature_entries: Mapping[str, object] = field(repr=False, metadata={"in_dict": False})
    signature: str = field(init=False)

    @property
    def halves(self) -> EqualSets:
        """Two halves of the human texts, the largest split."""
        return [sets for sets in self.sizes if sets.source == "split"][-1]

    def document(self) -> Document:
        """Build the document: scores of equal sets by size, and the number of texts that shows a difference."""
        halves = self.halves
        featurizer = self.signature_entries.get("featurize_model_name")
        of_featurizer = "" if featurizer is None else f" with {printable(str(featurizer))}"
        range_of_most = interval_words((halves.mauve.low, halves.mauve.high))
        facts = [
            f"Two halves of your own human texts, {halves.texts} each on {halves.num_buckets} buckets, score "
            f"{digits(halves.mauve.mean, '.3f')} ({range_of_most} in 9 of 10 splits){of_featurizer}.",
            "That is the ceiling at this size: no model can be expected to pass it."
            if self.prompts is None
            else f"These halves share none of the {self.prompts} prompts: that is the ceiling at this size for a "
            "model whose texts answer other prompts. Texts that answer the same prompts as yours may score more.",
            f"Without sampling bias it is {digits(halves.mauve_debiased.mean, '.3f')}, and "
            f"19 of 20 splits lie above {digits(halves.mauve_debiased.low, '.3f')}.",
            f"Sets with nothing in common score {digits(self.floor, '.4f')}.",
        ]
        sizes = [(*first, *raw, *debiased[:3]) for *first, raw, debiased in map(astuple, self.sizes)]
        needed = list(map(astuple, self.needed))
        in_words = [
            (difference, *("over a billion" if texts is None else rounded_up(texts) for texts in numbers))
            for difference, *numbers in needed
        ]
        forecasts = (
            f"Texts a set that show a difference in 8 of 10 cases, on {self.num_buckets} buckets. a model from people: "
            "its score is so much below 1. between two models: they score "
            f"{digits(self.around, '.2f')} and so much less. These are forecasts: models that depart from people in "
            "other ways take up to twice or half as many."
        )
        tables = {"sizes": Table.of(SIZE_COLUMNS, sizes), "needed": Table.of(NEEDED_COLUMNS, needed)}
        shown = Table.of(NEEDED_COLUMNS, in_words)
        parts = (Prose(facts), tables["sizes"], Prose([NOTE]), *((shown, Prose([forecasts])) if self.needed else ()))
        return Document(f"{self.texts} human texts", parts, tables, [("", self.signature)])

    def plot(self) -> alt.FacetChart:
        """Plot MAUVE of equal sets by size, as in the literature and without sampling bias."""
        from mauve_metric.report.charts.intervals import intervals_chart

        values = [
            (name, f"{sets.texts} texts ({sets.source})", spread.mean, (spread.low, spread.high))
            for sets in self.sizes
            for name, spread in (("MAUVE", sets.mauve), ("MAUVE, debiased", sets.mauve_debiased))
        ]
        return intervals_chart(values, "What equal sets score", "mean, and the range of the middle 90 % of pairs")
