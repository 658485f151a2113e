"""Compute one measure of all sets of a description, with intervals where they are known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mauve_metric.api.described_set import DescribedSet, entry_of, value_of
from mauve_metric.api.subgroups import enough_rows
from mauve_metric.arrays import Estimate, Floats, Integers
from mauve_metric.catalogue.row import Measure
from mauve_metric.duplicates.near_duplicates import texts_of_one_origin
from mauve_metric.features.likelihood.language_model import Decoder
from mauve_metric.measures.discriminators import TransferTable, transfer_table
from mauve_metric.measures.groups import pair_of_groups
from mauve_metric.options import MauveConfig
from mauve_metric.quantize.histograms import Histograms, count_labels
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.description import Described
from mauve_metric.uncertainty.divergence_intervals import TEXTS_OF_ROUGH, chi_square, few_texts_a_bucket


@dataclass
class DescribedSets:
    """The sets of a description, and what their measures share.

    human, models, training: the sets; training is None where none was given. config: of the features and scores.
    no_features, no_buckets: why the sets have none; empty where they have. comparison: holds the buckets.
    decoders: of the models that have one. watch: called before each set is measured; what it raises ends the measure.
    shared: results of which several measures are parts, by function and model.
    """

    human: DescribedSet
    models: dict[str, DescribedSet]
    training: DescribedSet | None
    config: MauveConfig
    no_features: str = ""
    no_buckets: str = ""
    comparison: Comparison | None = None
    watch: Callable[[], None] = lambda: None
    decoders: Mapping[str, Decoder] = field(default_factory=dict)
    shared: dict[tuple[object, str], Any] = field(default_factory=dict, init=False)

    def of_rows(self, rows: Sequence[Integers | None]) -> DescribedSets | None:
        """The texts of one subgroup, of the models that have enough of them; None for too few human texts, or no model.

        rows: of the human texts and of each model; None for a set without labels.
        """
        human, some = enough_rows(self.models, rows)
        if human is None or not some:
            return None
        models = {name: self.models[name].of_rows(own) for name, own in some.items()}
        return replace(self, human=self.human.of_rows(human), models=models)

    @property
    def smallest(self) -> int:
        """The size of the smallest set of the human texts and the models'."""
        return min(len(item) for item in (self.human, *self.models.values()))

    def lacks(self, row: Measure) -> bool:
        """Return True if a measure lacks an optional input that was not given."""
        if "prompts" in row.inputs.given:
            return not any(item.has_repeated_groups for item in (self.human, *self.models.values()))
        if "a decoder" in row.inputs.given:
            return not self.decoders
        return "training" in row.inputs.given and self.training is None

    def measure(self, row: Measure) -> tuple[float | None, dict[str, Described]]:
        """Compute the human texts' value, where there is one, and that of each model."""
        if "features" in row.inputs.given and self.no_features:
            raise ValueError(self.no_features)
        if "a decoder" in row.inputs.given:
            return None, {name: self._decoded(row, decoder) for name, decoder in self.decoders.items()}
        if row.inputs.sets > 1:
            return None, {name: self._of_both(row, name) for name in self.models}
        human, found = value_of(self._of_one(row, self.human)), {}
        for name, item in self.models.items():
            values = value_of(self._of_one(row, item))
            if values is None:
                continue
            groups = (item.groups, self.human.groups)
            if human is not None and "prompts" in row.inputs.forms:
                groups = (None, None)
            found[name] = entry_of(values, self.config.confidence_level, groups[0], human, groups[1])
        return None if human is None else float(np.mean(human)), found

    def _decoded(self, row: Measure, decoder: Decoder) -> Described:
        self.watch()
        values = np.asarray(row.compute(self.human.decoded(decoder)))
        return entry_of(values, self.config.confidence_level, self.human.groups)

    def _of_one(self, row: Measure, item: DescribedSet) -> float | Floats | Estimate | None:
        self.watch()
        if row.sizes_matter:
            item = item.drawn(self.smallest, self.config.seed)
        if "prompts" in row.inputs.forms and not item.has_repeated_groups:
            return None
        return row.on(item.form)

    def _between(self, row: Measure, name: str) -> float | Floats | Estimate:
        self.watch()
        model, human = self.models[name], self.human
        if "histograms" in row.inputs.forms:
            counts = self._counts(name)
            grouped = {} if counts.groups is None else {"groups": counts.groups}
            estimate: Estimate = row.compute(
                counts.p_counts, counts.q_counts, level=self.config.confidence_level, **grouped
            )
            return estimate
        if row.sizes_matter and not row.grouped:
            model, human = (item.drawn(self.smallest, self.config.seed) for item in (model, human))
        options: dict[str, Any] = {"seed": self.config.seed, "level": self.config.confidence_level}
        if row.grouped:
            options |= {"prompts": self._prompts(name)} if "texts" in row.inputs.forms else self._groups(name)
        pair = pair_of_groups(human.groups, model.groups) if row.designed else None
        options |= {} if pair is None else {"groups": pair}
        third = [self.training.form] if row.inputs.sets == 3 and self.training is not None else []
        if not row.part:
            return row.on(human.form, model.form, *third, **options)
        key = row.compute, name
        if key not in self.shared:
            self.shared[key] = row._replace(part="").on(human.form, model.form, *third, **options)
        part: Estimate = getattr(self.shared[key], row.part)
        return part

    def _of_both(self, row: Measure, name: str) -> Described:
        """The entry of a measure of two sets, with the reason for a missing interval if it is few texts a bucket."""
        found = self._between(row, name)
        if isinstance(found, Estimate):
            item = Described(float(found.value), None, found.ci, found.p_value)
        else:
            item = Described(float(found))
        if item.ci is not None or "histograms" not in row.inputs.forms or row.compute is chi_square:
            return item
        counts = self._counts(name)
        few = few_texts_a_bucket(counts.p_counts, counts.q_counts, TEXTS_OF_ROUGH)
        return item._replace(no_interval="none: few texts a bucket") if few else item

    def _counts(self, name: str) -> Histograms:
        """The histograms of the human texts and a model's."""
        if self.comparison is None:
            raise ValueError(self.no_buckets or "there are no buckets")
        result = self.comparison.models[name]
        groups = self.human.groups, self.models[name].groups
        return count_labels(result.p_labels, result.q_labels, result.num_buckets, *groups)

    def _prompts(self, name: str) -> tuple[Sequence[Hashable], Sequence[Hashable]] | None:
        """Prompts of the human texts and of a model's; None unless both are known."""
        human, model = self.human.groups, self.models[name].groups
        return None if human is None or model is None else (human.tolist(), model.tolist())

    def transfer(self) -> TransferTable:
        """The discriminators of the features, each trained on one model's texts and tested on every model's."""
        sets = {"human": self.human, **self.models}
        prompts: list[Hashable] | None = None
        if all(item.groups is not None for item in sets.values()):
            prompts = [code for item in sets.values() for code in item.prompts]
        if all(item.texts is not None for item in sets.values()):
            texts = [text for item in sets.values() for text in item.needed_texts()]
            prompts = texts_of_one_origin(texts, prompts).tolist()
        ends = np.cumsum([len(item) for item in sets.values()]).tolist()
        groups = (
            None
            if prompts is None
            else {name: prompts[end - len(item) : end] for (name, item), end in zip(sets.items(), ends, strict=True)}
        )
        features = {name: item.features for name, item in self.models.items()}
        return transfer_table(
            self.human.features, features, seed=self.config.seed, level=self.config.confidence_level, groups=groups
        )

    def _groups(self, name: str) -> dict[str, Sequence[Hashable] | Integers]:
        """Groups of texts that must stay in one fold: copies, and answers to one prompt."""
        human, model, prompts = self.human, self.models[name], self._prompts(name)
        if human.texts is None or model.texts is None:
            return {} if prompts is None else {"groups_p": prompts[0], "groups_q": prompts[1]}
        joined = None if prompts is None else [*prompts[0], *prompts[1]]
        groups = texts_of_one_origin([*human.texts, *model.texts], joined)
        return {"groups_p": groups[: len(human.texts)], "groups_q": groups[len(human.texts) :]}
