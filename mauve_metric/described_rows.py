"""One measure of all sets of a description: given what it needs, with the intervals it can have."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from mauve_metric.arrays import Floats
from mauve_metric.described_set import DescribedSet, alone, beside, of_both, value_of
from mauve_metric.measures.estimate import Estimate
from mauve_metric.results.companions import Companion, Needs
from mauve_metric.results.numbers import ComparisonNumbers, Described

OF_FEATURES: tuple[Needs, ...] = ("features", "both features", "three features", "both histograms")
OF_LIKELIHOODS: tuple[Needs, ...] = ("likelihoods", "both likelihoods")


def _unwatched() -> None:
    """Nobody is told which set is measured."""


@dataclass
class DescribedSets:
    """The sets of a description, and what their measures share.

    human, models, training: the sets; training is None where none was given. level: of the intervals. seed: of draws.
    no_features, no_buckets: why the sets have none; empty where they have. comparison: holds the buckets.
    watch: called before each set is measured; what it raises ends the measure.
    """

    human: DescribedSet
    models: dict[str, DescribedSet]
    training: DescribedSet | None
    level: float
    seed: int
    no_features: str = ""
    no_buckets: str = ""
    comparison: ComparisonNumbers | None = None
    watch: Callable[[], None] = _unwatched

    @property
    def smallest(self) -> int:
        """The size of the smallest set of the human texts and the models'."""
        return min(len(item) for item in (self.human, *self.models.values()))

    def lacks(self, row: Companion) -> bool:
        """Whether a measure has nothing to be computed on that could have been given and was not."""
        if row.needs == "prompts":
            return all(item.prompts is None for item in (self.human, *self.models.values()))
        return row.needs == "three features" and self.training is None

    def measure(self, row: Companion) -> tuple[float | None, dict[str, Described]]:
        """The human texts' value, where there is one, and that of each model."""
        if row.needs in OF_FEATURES and self.no_features:
            raise ValueError(self.no_features)
        if row.needs.startswith(("both", "three")):
            return None, {name: of_both(self._between(row, name)) for name in self.models}
        level, human = self.level, value_of(self._of_one(row, self.human))
        found = {}
        for name, item in self.models.items():
            values = value_of(self._of_one(row, item))
            if values is None:
                continue
            if human is None:
                found[name] = alone(values, level, item.prompts)
            else:
                prompts = (item.prompts, self.human.prompts)
                found[name] = beside(values, human, level, *((None, None) if row.needs == "prompts" else prompts))
        return None if human is None else float(np.mean(human)), found

    def _of_one(self, row: Companion, item: DescribedSet) -> float | Floats | Estimate | None:
        self.watch()
        if row.sizes_matter:
            item = item.drawn(self.smallest, self.seed)
        if row.needs == "tokens":
            return row.compute(item.tokens)
        if row.needs == "texts":
            return row.compute(item.needed_texts())
        if row.needs == "features":
            return row.compute(item.features)
        if row.needs == "likelihoods":
            return row.compute(item.likelihoods)
        return None if item.prompts is None else row.compute(item.tokens, item.prompts)

    def _between(self, row: Companion, name: str) -> float | Floats | Estimate:
        self.watch()
        model, human = self.models[name], self.human
        seed, level = self.seed, self.level
        if row.needs == "both histograms":
            if self.comparison is None:
                raise ValueError(self.no_buckets or "there are no buckets")
            result = self.comparison.models[name]
            size = result.num_buckets
            return row.compute(
                np.bincount(result.p_labels, minlength=size), np.bincount(result.q_labels, minlength=size), level=level
            )
        if row.needs == "both texts":
            grouped = {"p_groups": human.prompts, "q_groups": model.prompts} if row.grouped else {}
            return row.compute(human.needed_texts(), model.needed_texts(), seed=seed, level=level, **grouped)
        if row.needs == "both likelihoods":
            return row.compute(human.likelihoods, model.likelihoods, seed=seed, level=level)
        third = [self.training.features] if row.needs == "three features" and self.training is not None else []
        grouped = {"p_groups": self._groups(human), "q_groups": self._groups(model)} if row.grouped else {}
        return row.compute(human.features, model.features, *third, seed=seed, level=level, **grouped)

    @staticmethod
    def _groups(item: DescribedSet) -> Sequence[Hashable] | None:
        """What must not stand on both sides of a fold: the prompts, else the texts themselves."""
        return item.prompts if item.prompts is not None else item.texts
