"""The numbers of a calibration, without the ways of showing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from mauve_metric.results.numbers import plain
from mauve_metric.results.signature import format_signature

Source: TypeAlias = Literal["split", "forecast"]


@dataclass(frozen=True)
class Spread:
    """Of a score over many pairs of equal sets: mean, standard deviation, and the range of the middle 90 %."""

    mean: float
    std: float
    low: float
    high: float


@dataclass(frozen=True)
class EqualSets:
    """Two equal sets of one size, again and again.

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
    """How many texts a set show a difference with 80 % probability.

    from_human: a model whose score is so much below 1, from people. between: two models that differ by so much. None:
    more than a billion.
    """

    difference: float
    from_human: int | None
    between: int | None


@dataclass(frozen=True)
class BaselineNumbers:
    """What a `HumanBaseline` holds; its fields are explained there."""

    texts: int
    floor: float
    sizes: tuple[EqualSets, ...]
    needed: tuple[Needed, ...]
    num_buckets: int
    around: float
    signature_entries: Mapping[str, object] = field(repr=False)
    signature: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))

    @property
    def halves(self) -> EqualSets:
        """Two halves of the human texts, the largest split."""
        return [item for item in self.sizes if item.source == "split"][-1]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON."""
        return {
            "texts": self.texts,
            "floor": self.floor,
            "sizes": plain(self.sizes),
            "needed": plain(self.needed),
            "num_buckets": self.num_buckets,
            "around": self.around,
            "signature": self.signature,
        }
