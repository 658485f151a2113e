"""The statistics of one set of texts as a metric of Hugging Face's `evaluate`."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import Any

import datasets
import evaluate

from mauve_metric.arrays import TextData
from mauve_metric.hosts.evaluate.metric_card import describe_statistics
from mauve_metric.hosts.evaluate.stored_texts import StoredTexts
from mauve_metric.results.text_statistics import Tokenizer, text_statistics

TEXT_STATISTICS = "text_statistics"


class TextStatistics(StoredTexts):
    """Distinct n-grams, Zipf coefficient, repetition, Self-BLEU, … of one set of texts, as an `evaluate` metric.

    `evaluate.load("mauve_metric", "text_statistics").compute(predictions=texts)` returns a dict that is fit for JSON.
    Texts can be added piece by piece and from several processes, as for MAUVE.

    Args:
        **options: those of `evaluate.Metric`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     metric = TextStatistics(cache_dir=folder)
    ...     out = metric.compute(predictions=["so we beat on", "so we beat on"])
    >>> out["distinct_4"], out["self_bleu"], out["mean_length"]
    (0.5, 1.0, 4.0)
    """

    def __init__(self, config_name: str | None = None, **options: Any) -> None:
        unknown = sorted(set(options) - set(inspect.signature(evaluate.Metric.__init__).parameters))
        if unknown:
            raise TypeError(f"{TEXT_STATISTICS} have no default for {', '.join(unknown)}: give options to compute")
        self.defaults: Mapping[str, Any] = {}
        super().__init__(config_name or TEXT_STATISTICS, **options)

    def _info(self) -> evaluate.MetricInfo:
        description, inputs = describe_statistics()
        return evaluate.MetricInfo(
            description=description,
            citation="",
            inputs_description=inputs,
            features=datasets.Features({"predictions": datasets.Sequence(datasets.Value("string"))}),
            license="Apache-2.0",
        )

    def compute(
        self,
        *,
        predictions: TextData | None = None,
        references: None = None,
        tokenizer: Tokenizer | None = None,
        prompts: Sequence[Hashable] | None = None,
        measures: Sequence[str] | None = None,
        text_field: str | None = None,
    ) -> dict[str, object] | None:
        """The statistics of the texts given here and those stored before, as `text_statistics` returns them.

        Args:
            predictions: texts, added to those that are stored.
            references: None, which `evaluate.combine` gives after its `add_batch`, which keeps the human texts for the
                metrics that take them; statistics of human texts are for a compute of their own.
            tokenizer: a function from a text to its tokens; None for words and marks of punctuation.
            prompts: the prompt of each text, of the stored ones first.
            measures: names of those to compute; None for all that are cheap.
            text_field: the column of a `datasets.Dataset`.

        Returns:
            A dict fit for JSON; None in the processes other than the first.

        Raises:
            TypeError: not texts, or an unknown option.
            ValueError: no texts, or a value out of range.
        """
        chosen = {"tokenizer": tokenizer, "prompts": prompts, "measures": measures, "text_field": text_field}
        output: dict[str, object] | None = self._end({"predictions": predictions, "references": references}, chosen)
        return output

    def _check_and_compute(self, given: Mapping[str, object], options: Mapping[str, Any]) -> Any:
        chosen = {name: value for name, value in options.items() if name != "text_field"}
        return self._compute_stored(given, options["text_field"], chosen)

    def _compute(self, *, predictions: Sequence[Sequence[str]], **options: Any) -> Any:
        texts = list(chain.from_iterable(predictions))
        if not texts:
            raise ValueError("there are no predictions: give texts as predictions")
        return text_statistics(texts, **options)

    def _store(self, rows: Sequence[Mapping[str, list[str]]]) -> None:
        if any(row.get("references") for row in rows):
            raise ValueError(
                f"{TEXT_STATISTICS} are of predictions alone, got references: compute theirs by themselves (with "
                "evaluate.combine, give both sides to its add_batch and none to compute)"
            )
        super()._store(rows)
