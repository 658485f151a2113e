"""Texts that an `evaluate` metric collects, in pieces and from several processes, and the statistics of one set."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypedDict, Unpack

from mauve_metric.runtime.errors import NoPackage

try:
    import datasets
    import evaluate
except ImportError as error:
    raise NoPackage(
        "the metric for evaluate needs evaluate and datasets: pip install 'mauve_metric[evaluate]'"
    ) from error

from mauve_metric.arrays import TextData
from mauve_metric.hosts.evaluate.metric_card import describe_statistics
from mauve_metric.hosts.evaluate.text_statistics import text_statistics
from mauve_metric.inputs.sources import text_source

TEXT_STATISTICS = "text_statistics"
ROW_TEXTS = 10_000  # texts of one stored row: Arrow's offsets into the characters of a row have 32 bits


class Reading(TypedDict, total=False):
    """Keywords of `text_source`."""

    text_field: str | None
    missing: bool
    cure: str


class StoredTexts(evaluate.Metric):  # type: ignore[misc]
    """An `evaluate` metric whose texts are stored as lists of strings, a row of at most `ROW_TEXTS` for each batch.

    A `compute` ends the collection, also when it fails: the next one starts empty. A subclass defines its sides in
    `_info`; its `compute` returns `_compute_stored`, within `_ending`.
    """

    writer: Any  # of the base class
    cache_file_name: str | None
    filelock: Any
    defaults: Mapping[str, Any]
    cure = ""  # for missing texts

    def add(self, *, prediction: str | None = None, reference: str | None = None, **plural: str | None) -> None:
        """Store one text of either side or of both.

        Args:
            prediction: a text of the model; None adds none.
            reference: a human text; likewise.
            **plural: the same two as `predictions` and `references`, the names that `evaluate.combine` uses.

        Raises:
            TypeError: not one text, or an unknown name.
        """
        unknown = sorted(set(plural) - {"predictions", "references"})
        if unknown:
            raise TypeError(f"add takes prediction and reference, got {', '.join(unknown)}")
        row = {}
        for single, name, text in (("prediction", "predictions", prediction), ("reference", "references", reference)):
            if text is not None and plural.get(name) is not None:
                raise ValueError(f"{single} and {name} are the same argument of add: give one of them")
            text = plural.get(name) if text is None else text
            if text is not None and not isinstance(text, str):
                raise TypeError(
                    f"{single} must be one text, got {type(text).__name__}: {text!r:.60} (add_batch takes lists)"
                )
            row[name] = [] if text is None else stored_texts(single, [text])
        if not any(row.values()):
            raise ValueError("add needs a prediction, a reference or both, got none")
        self._store([row])

    def add_batch(self, *, predictions: TextData | None = None, references: TextData | None = None) -> None:
        """Store texts of either side or of both, which need not be equally many.

        Args:
            predictions: texts of the model: a list, a `datasets` column, an array or another iterable of strings.
            references: human texts, likewise.

        Raises:
            TypeError: not texts. Nothing of the batch is stored then.
        """
        batch = {"predictions": predictions, "references": references}
        if all(data is None for data in batch.values()):
            raise ValueError("add_batch needs predictions, references or both, got none")
        missing = self.defaults.get("empty_texts") == "drop"
        text_field = self.defaults.get("text_field")
        self._store_batch(batch, {"text_field": text_field, "missing": missing, "cure": self.cure})

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        """End the collection, also when the computation fails."""
        try:
            yield
        except BaseException:
            self._forget()
            raise
        self.file_paths = self.filelocks = None  # the base class has removed the files and released the locks

    def _compute_stored(self, batch: Mapping[str, object], reading: Reading, options: Mapping[str, Any]) -> Any:
        """Store the given texts, and compute from all stored texts; the first process computes for all."""
        if any(data is not None for data in batch.values()):
            self._store_batch(batch, reading)
        if self.writer is None and self.num_process > 1:
            self._store([{}])  # the first process waits for the file of each other
        if self.writer is None:
            return self._compute(**{name: [] for name in self._feature_names()}, **options)
        return super().compute(**options)

    def _store_batch(self, batch: Mapping[str, object], reading: Reading) -> None:
        texts = {name: [] if data is None else stored_texts(name, data, **reading) for name, data in batch.items()}
        starts = range(0, max(map(len, texts.values())), ROW_TEXTS)
        self._store([{name: side[start : start + ROW_TEXTS] for name, side in texts.items()} for start in starts])

    def _store(self, rows: Sequence[Mapping[str, list[str]]]) -> None:
        """Write rows of checked texts, each by itself; if that fails, delete everything stored."""
        try:
            for row in rows:
                super().add_batch(**{name: [row.get(name, [])] for name in self._feature_names()})
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        """Delete the stored texts and release the locks, so that the next call starts empty."""
        if self.writer is not None:
            self.writer.close()
        self.writer = self.buf_writer = self.data = self.selected_feature_format = None
        files: list[tuple[str, Any]] = list(zip(self.file_paths or [], self.filelocks or [], strict=True))
        if self.cache_file_name is not None:
            files.append((self.cache_file_name, self.filelock))
        self.file_paths = self.filelocks = self.cache_file_name = self.filelock = None
        for path, lock in reversed(files):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
            if lock is not None:
                lock.release()
        if self.rendez_vous_lock is not None:
            self.rendez_vous_lock.release()


def stored_texts(name: str, data: object, **reading: Unpack[Reading]) -> list[str]:
    """Checked texts as a list, empty ones included; an option of `compute` decides about those."""
    return list(text_source(name, data, empty_texts="keep", **reading).texts)


class TextStatistics(StoredTexts):
    """Distinct n-grams, Zipf coefficient, repetition, Self-BLEU, … of one set of texts, as an `evaluate` metric.

    `evaluate.load(evaluate_path(), "text_statistics").compute(predictions=texts)` returns a dict that is fit for JSON.
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
        tokenizer: object = None,
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
        batch = {"predictions": predictions, "references": references}
        chosen = {"tokenizer": tokenizer, "prompts": prompts, "measures": measures}
        reading: Reading = {"text_field": text_field, "cure": self.cure}
        with self._ending():
            output: dict[str, object] | None = self._compute_stored(batch, reading, chosen)
        return output

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
