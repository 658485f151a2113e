"""The metric of Hugging Face's `evaluate`, a view of `compute_mauve`: references are P, predictions are Q."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from typing import Any

from mauve_metric.runtime.errors import NoPackage

try:
    import datasets
    import evaluate
except ImportError as error:
    raise NoPackage(
        "the metric for evaluate needs evaluate and datasets: pip install 'mauve_metric[evaluate]'"
    ) from error

from mauve_metric.arrays import TextData
from mauve_metric.features.feature_set import FeatureSet, InputSide, Kind
from mauve_metric.hosts.evaluate import metric_card as card
from mauve_metric.hosts.evaluate.stored_texts import TEXT_STATISTICS, Reading, StoredTexts, TextStatistics
from mauve_metric.options import MauveConfig, RunOptions, option_names, split_options
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.checks import check_known_options
from mauve_metric.scoring.compute import score_sides

_HOST_OPTIONS = frozenset(inspect.signature(evaluate.Metric.__init__).parameters)
_SIDES = {"p": ("reference_features", "references"), "q": ("prediction_features", "predictions")}  # texts last
_OF_COMPUTE = frozenset(("featurizers", "aligned", "p_groups", "q_groups"))  # its own arguments, and no options
_CORE_NAME = re.compile(r"\b([pq])_(features|tokens|text)\b")


class MauveOutput(dict[str, Any]):
    """Output of `Mauve.compute`: items that are fit for JSON, attributes that are those of `MauveResult`.

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
        return sorted({*super().__dir__(), *(field.name for field in fields(self.result))})


class Mauve(StoredTexts):
    """MAUVE as an `evaluate` metric, and with `config_name="text_statistics"` the statistics of one set of texts.

    The two sides may have different lengths, and texts can be added piece by piece and from several processes. A
    `compute` ends the collection, also when it fails: the next one starts empty.

    Args:
        config_name: None for MAUVE, or "text_statistics" for a `TextStatistics`.
        **options: those of `evaluate.Metric` (`cache_dir`, `num_process`, …), and defaults for the keywords of
            `compute`, as in `evaluate.load(evaluate_path(), featurize_model_name="minilm")`. `seed` is both.

    >>> import numpy, tempfile
    >>> rng = numpy.random.default_rng(0)
    >>> human, model = rng.normal(size=(100, 8)), rng.normal(size=(80, 8)) + 1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = Mauve(cache_dir=folder).compute(reference_features=human, prediction_features=model)
    >>> 0 < out["mauve"] < 1, out.mauve == out["mauve"], out["n_p"], out["n_q"]
    (True, True, 100, 80)
    """

    cure = "give empty_texts='drop' to evaluate.load"  # before a compute

    def __new__(cls, config_name: str | None = None, **options: Any) -> StoredTexts:
        """The metric of this `config_name`, which is how `evaluate.load` chooses among those of one module."""
        if config_name == TEXT_STATISTICS:
            return TextStatistics(**options)
        if config_name not in (None, "default"):
            raise ValueError(f"config_name must be {TEXT_STATISTICS!r}, or None for MAUVE, got {config_name!r}")
        made: Mauve = super().__new__(cls)
        return made

    def __init__(self, config_name: str | None = None, **options: Any) -> None:
        of_score = {name: value for name, value in options.items() if name not in _HOST_OPTIONS}
        if options.get("seed") is not None:
            of_score["seed"] = options["seed"]
        self.defaults = {**card.DEFAULTS, **of_score}
        _split_options(self.defaults)
        super().__init__(config_name, **{name: value for name, value in options.items() if name in _HOST_OPTIONS})

    def _info(self) -> evaluate.MetricInfo:
        texts = datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description=card.DESCRIPTION,
            citation=card.CITATION,
            inputs_description=card.describe_inputs(),
            features=datasets.Features({"predictions": texts, "references": texts}),
            license="Apache-2.0",
            homepage=card.REFERENCE_URLS[0],
            reference_urls=list(card.REFERENCE_URLS),
            codebase_urls=list(card.CODEBASE_URLS),
        )

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
        options = {**self.defaults, **options}
        features = {name: options.pop(name) for name, _ in _SIDES.values() if name in options}
        features = {name: array for name, array in features.items() if array is not None}
        with self._ending():
            for name in options:
                if (match := _CORE_NAME.fullmatch(name)) is not None:
                    tokens = ", and texts instead of tokens" if match[2] == "tokens" else ""
                    raise TypeError(
                        f"{name} is not an option of this metric: Hugging Face's module calls predictions p and "
                        "references q, the papers and this package call references (human) P and predictions (model) "
                        "Q. Give texts as references and predictions, features as reference_features and "
                        f"prediction_features{tokens}"
                    )
            config, run = _split_options(options)
            if features and self.num_process > 1:
                raise ValueError(
                    f"{' and '.join(features)} cannot be gathered from {self.num_process} processes: give texts, or "
                    "compute in one process with a metric of num_process=1"
                )
            batch = {"predictions": predictions, "references": references}
            reading: Reading = {"text_field": run.text_field, "missing": config.empty_texts == "drop"}
            output: MauveOutput | None = self._compute_stored(batch, reading, features | options)
        return output

    def _compute(
        self, *, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], **options: Any
    ) -> MauveOutput:
        """Rows of texts and features by their names in this view → the scores."""
        sides: dict[str, InputSide] = {}
        for side, rows in (("p", references), ("q", predictions)):
            features_name, texts_name = choices = _SIDES[side]
            features, texts = options.pop(features_name, None), list(chain.from_iterable(rows))
            if features is None and not texts:
                raise ValueError(f"there are no {texts_name}: give texts as {texts_name} or arrays as {features_name}")
            kind: Kind = "text" if features is None else "set" if isinstance(features, FeatureSet) else "features"
            name, content = (texts_name, texts) if features is None else (features_name, features)
            groups = f"{side}_groups"
            beside = None if features is None else texts or None
            sides[side] = InputSide(kind, name, content, beside, options.pop(groups, None), groups, choices)
        of_compute = {name: options.pop(name) for name in _OF_COMPUTE if name in options}
        return MauveOutput(score_sides(sides, options, **of_compute))


def _split_options(options: Mapping[str, Any]) -> tuple[MauveConfig, RunOptions]:
    """The options of a score among those of `compute`; `UnknownOption` with the nearest name of both."""
    check_known_options(options, [*chain(*_SIDES.values()), *_OF_COMPUTE, *option_names()])
    return split_options({name: value for name, value in options.items() if name not in _OF_COMPUTE})
