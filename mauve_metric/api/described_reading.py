"""Read the sets of a description: their texts, and their features where measures need them."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mauve_metric.api.compare import check_sides, side_of
from mauve_metric.api.described_set import DescribedSet
from mauve_metric.features.feature_set import FeatureSet, Featurizing
from mauve_metric.features.sides import OpenedSides, open_sides, read_sides
from mauve_metric.options import MauveConfig, RunOptions
from mauve_metric.runtime.errors import EXPECTED, message_of

if TYPE_CHECKING:
    from mauve_metric.features.likelihood.likelihoods import Likelihoods

_Read = dict[str, tuple[FeatureSet | None, list[str] | None]]


@dataclass
class Reading:
    """Reader of the sets of a description.

    given: names of the options that the user gave. tokenize, likely: functions of texts that the sets call later.
    failed: the reason for missing features, else empty. seconds: how long they took.
    """

    config: MauveConfig
    run: RunOptions
    given: frozenset[str]
    opened: OpenedSides
    tokenize: Callable[[str], Sequence[Hashable]]
    likely: Callable[..., Likelihoods]
    failed: str = ""
    seconds: float = 0.0

    def sets(self, with_features: bool) -> list[DescribedSet]:
        """Read all sets; where texts cannot be featurized, `failed` holds the reason.

        Raises:
            TypeError, ValueError, OSError, ImportError: invalid texts or features.
        """
        with Featurizing(self.config, self.run, self.given) as job:
            read = self._with_features(job) if with_features else None
            read = self._as_given(job) if read is None else read
        sizes = {name: len(item) for name, sides in read.items() for item in sides if item is not None}
        codes = self.opened.codes(sizes) or {}
        return [
            DescribedSet(name, texts, side, codes.get(name), tokenize=self.tokenize, likely=self.likely)
            for name, (side, texts) in read.items()
        ]

    def _with_features(self, job: Featurizing) -> _Read | None:
        start = time.perf_counter()
        try:
            read = read_sides(job, self.opened)
        except EXPECTED as error:
            if not self.opened.are_texts:
                raise
            self.failed = f"the texts have no features: {message_of(error)}"
            return None
        finally:
            self.seconds = time.perf_counter() - start
        check_sides({self.opened.sides[name].argument: side for name, (side, _) in read.items()})
        return dict(read)

    def _as_given(self, job: Featurizing) -> _Read:
        found: _Read = {}
        for name, side in job.prepared(self.opened.sides).items():
            if side.kind == "text":
                found[name] = (None, list(job.source(side.argument, side.content).texts))
            else:
                found[name] = (job.side(side), None)
        return found

    def third(self, training: object) -> DescribedSet:
        """The training set: its texts, and its features when a measure needs them."""
        (side,) = open_sides({"training": side_of("training", training)}, self.config, self.run).sides.values()
        with Featurizing(self.config, self.run, self.given) as job:
            texts = list(job.source("training", side.content).texts) if side.kind == "text" else None
            if self.failed:
                return DescribedSet("training", texts)
            return DescribedSet("training", texts, job.side(side if texts is None else side.with_texts(texts)))
