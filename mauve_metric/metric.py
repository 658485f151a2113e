"""The metric of Hugging Face's `evaluate`, a view of `compute_mauve`: references are P, predictions are Q."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain, zip_longest
from typing import Any

import datasets
import evaluate

from mauve_metric.arrays import TextData
from mauve_metric.compute import compute_mauve
from mauve_metric.features.reference import Reference
from mauve_metric.hosts.metric_card import CITATION, CODEBASE_URLS, REFERENCE_URLS, describe, describe_inputs
from mauve_metric.options import split_options
from mauve_metric.results.result import MauveResult
from mauve_metric.texts.sources import text_source

ROW_TEXTS = 10_000  # texts of one stored row: Arrow's offsets into the characters of a row have 32 bits
DEFAULTS: Mapping[str, Any] = {"row_order": "pq"}  # where this view differs from `MauveConfig`

_HOST_OPTIONS = frozenset(inspect.signature(evaluate.Metric.__init__).parameters)
_SIDES = {"p": ("references", "reference_features"), "q": ("predictions", "prediction_features")}
_CORE_NAME = re.compile(r"\b([pq])_(features|tokens|text)\b")


class MauveOutput(dict[str, Any]):
    """What `Mauve.compute` returns: items that are fit for JSON, attributes that are those of `MauveResult`.

    `out["mauve"]` and `out.mauve` are the same number; `out["divergence_curve"]` is a list, `out.divergence_curve`
    an array. `out.result` is the `MauveResult` itself, `str(out.result)` the line to paste in a paper.

    >>> from mauve_metric import compute_mauve
    >>> out = MauveOutput(compute_mauve(p_features=[[0.0, 1.0]] * 9, q_features=[[0.0, 1.0]] * 9))
    >>> out["mauve"], out.mauve, out.divergence_curve.shape
    (1.0, 1.0, (27, 2))
    """

    def __init__(self, result: MauveResult) -> None:
        super().__init__(result.to_dict())
        self.result = result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "result":  # not there yet while it is unpickled
            raise AttributeError(name)
        return getattr(self.result, name)

    def __reduce__(self) -> tuple[type[MauveOutput], tuple[MauveResult], None, None, Iterator[tuple[str, Any]]]:
        return MauveOutput, (self.result,), None, None, iter(self.items())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(item.name for item in fields(self.result))})


class Mauve(evaluate.Metric):  # type: ignore[misc]
    """MAUVE as an `evaluate` metric.

    Texts are stored as lists of strings, a row of at most `ROW_TEXTS` for each batch: the two sides may have different
    lengths, and texts can be added piece by piece and from several processes. A `compute` ends the collection, also
    when it fails: the next one starts empty.

    Args:
        **options: those of `evaluate.Metric` (`cache_dir`, `num_process`, …), and defaults for the keywords of
            `compute`, as in `evaluate.load("mauve_metric", featurize_model_name="minilm")`. `seed` is both.

    >>> import numpy, tempfile
    >>> rng = numpy.random.default_rng(0)
    >>> human, model = rng.normal(size=(100, 8)), rng.normal(size=(80, 8)) + 1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = Mauve(cache_dir=folder).compute(reference_features=human, prediction_features=model)
    >>> 0 < out["mauve"] < 1, out.mauve == out["mauve"], out["n_p"], out["n_q"]
    (True, True, 100, 80)
    """

    writer: Any  # of the base class
    cache_file_name: str | None
    filelock: Any

    def __init__(self, config_name: str | None = None, **options: Any) -> None:
        own = {name: value for name, value in options.items() if name not in _HOST_OPTIONS}
        if options.get("seed") is not None:
            own["seed"] = options["seed"]
        self.defaults = {**DEFAULTS, **own}
        split_options(self.defaults)
        super().__init__(config_name, **{name: value for name, value in options.items() if name in _HOST_OPTIONS})

    def _info(self) -> evaluate.MetricInfo:
        texts = datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=describe(),
            citation=CITATION,
            inputs_description=describe_inputs(DEFAULTS),
            features=datasets.Features({"predictions": texts, "references": texts}),
            license="Apache-2.0",
            homepage=REFERENCE_URLS[0],
            reference_urls=list(REFERENCE_URLS),
            codebase_urls=list(CODEBASE_URLS),
        )

    def add(self, *, prediction: str | None = None, reference: str | None = None, **plural: str | None) -> None:
        """Store one text of either side or of both.

        Args:
            prediction: a text of the model.
            reference: a human text.
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
        given = {"predictions": predictions, "references": references}
        if all(data is None for data in given.values()):
            raise ValueError("add_batch needs predictions, references or both, got none")
        self._store_batch(given, self.defaults.get("text_field"))

    def compute(
        self, *, predictions: TextData | None = None, references: TextData | None = None, **options: Any
    ) -> MauveOutput | None:
        """Score the texts given here and those stored before, or features.

        Args:
            predictions: texts of the model, added to those that are stored.
            references: human texts, likewise.
            **options: `prediction_features`, `reference_features` and the options below.

        Returns:
            A `MauveOutput`; None in the processes other than the first.

        Raises:
            TypeError: an unknown option, or an argument of the wrong type.
            ValueError: a value out of range, or data that cannot be scored.
        """
        try:
            output = self._compute_anyhow({"predictions": predictions, "references": references}, options)
        except BaseException:
            self._forget()
            raise
        self.file_paths = self.filelocks = None  # the base class has removed the files and released the locks
        return output

    def _compute_anyhow(self, given: Mapping[str, object], options: dict[str, Any]) -> MauveOutput | None:
        options = {**self.defaults, **options}
        features = {name: options.pop(name) for _, name in _SIDES.values() if name in options}
        features = {name: array for name, array in features.items() if array is not None}
        check_names(options)
        _, run = split_options(options)
        if features and self.num_process > 1:
            raise ValueError(
                f"{' and '.join(features)} cannot be gathered from {self.num_process} processes: give texts, or "
                "compute in one process with a metric of num_process=1"
            )
        if any(data is not None for data in given.values()):
            self._store_batch(given, run.text_field)
        if self.writer is None and self.num_process > 1:
            self._store([{"predictions": [], "references": []}])  # the first process waits for the file of each other
        if self.writer is None:
            return self._compute(predictions=[], references=[], **features, **options)
        output: MauveOutput | None = super().compute(**features, **options)
        return output

    def _compute(
        self, *, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], **options: Any
    ) -> MauveOutput:
        """Rows of texts and features by their names in this view → the scores."""
        sides: dict[str, Any] = {}
        for side, rows in (("p", references), ("q", predictions)):
            texts_name, features_name = _SIDES[side]
            features, texts = options.pop(features_name, None), list(chain.from_iterable(rows))
            if features is None and not texts:
                raise ValueError(f"there are no {texts_name}: give texts as {texts_name} or arrays as {features_name}")
            if features is None:
                sides[f"{side}_text"] = texts
            else:
                sides[side if isinstance(features, Reference) else f"{side}_features"] = features
        with names_of_this_view():
            return MauveOutput(compute_mauve(**sides, **options))

    def _store_batch(self, given: Mapping[str, object], text_field: str | None) -> None:
        texts = {
            name: [] if data is None else stored_texts(name, data, text_field=text_field)
            for name, data in given.items()
        }
        pieces = {
            name: [side[start : start + ROW_TEXTS] for start in range(0, len(side), ROW_TEXTS)]
            for name, side in texts.items()
        }
        rows = zip_longest(*pieces.values(), fillvalue=[])
        self._store([dict(zip(pieces, row, strict=True)) for row in rows])

    def _store(self, rows: Sequence[Mapping[str, list[str]]]) -> None:
        """Write rows of checked texts, each by itself; if that fails, everything stored is given up."""
        try:
            for row in rows:
                super().add_batch(predictions=[row["predictions"]], references=[row["references"]])
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        """Drop what is stored and give back the locks, so that the next call starts empty."""
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


def stored_texts(name: str, data: object, *, text_field: str | None = None) -> list[str]:
    """Checked texts as a list, empty ones included: what becomes of those is an option of `compute`."""
    return list(text_source(name, data, text_field=text_field, empty_texts="keep").texts)


def check_names(options: Mapping[str, object]) -> None:
    """Point out names of Hugging Face's module of the same metric, where p means the predictions.

    Raises:
        TypeError: one of them is among the options.
    """
    for name in options:
        match = _CORE_NAME.fullmatch(name)
        if match is not None:
            raise TypeError(
                f"{name} is not an option of this metric: Hugging Face's module calls predictions p and references q, "
                "the papers and this package call references (human) P and predictions (model) Q. Give texts as "
                "references and predictions, features as reference_features and prediction_features"
                + (", and texts instead of tokens" if match[2] == "tokens" else "")
            )


@contextlib.contextmanager
def names_of_this_view() -> Iterator[None]:
    """Errors of `compute_mauve` with the names that this view has for its arguments."""
    try:
        yield
    except (TypeError, ValueError) as error:
        error.args = tuple(to_view_names(part) if isinstance(part, str) else part for part in error.args)
        raise


def to_view_names(message: str) -> str:
    """Put the names of this view in place of those of `compute_mauve`.

    >>> to_view_names("p_features and q_text")
    'reference_features and predictions'
    """
    return _CORE_NAME.sub(lambda match: _SIDES[match[1]][match[2] == "features"], message)
