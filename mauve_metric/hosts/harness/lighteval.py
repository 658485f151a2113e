"""MAUVE in lighteval: a metric of the whole corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from mauve_metric.runtime.errors import NoPackage

try:
    from lighteval.metrics.metrics_corpus import CorpusLevelComputation
    from lighteval.metrics.sample_preparator import GenerativeCorpusMetricInput, GenerativePreparator
    from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
    from lighteval.tasks.requests import SamplingMethod
except ImportError as error:
    raise NoPackage(
        "mauve_metric.hosts.harness.lighteval needs lighteval: pip install 'mauve_metric[lighteval]'"
    ) from error

from mauve_metric.hosts.harness.pair_scores import PairScores, check_text
from mauve_metric.options import Options


class MauveOfCorpus(CorpusLevelComputation):  # type: ignore[misc]
    """The scores of all documents as a dictionary, so that lighteval computes no bootstrap."""

    def __init__(self, **options: Unpack[Options]) -> None:
        self.scores = PairScores(**options)

    def compute_corpus(self, items: Sequence[GenerativeCorpusMetricInput]) -> dict[str, float]:
        """The numbers of `pair_scores.SCORES` of the model's texts of all documents."""
        return self.scores.score(
            (_only("gold texts", document.golds), _only("texts of the model", document.preds)) for document in items
        )


def mauve(**options: Unpack[Options]) -> CorpusLevelMetric:
    """MAUVE for the `metrics` of a task of lighteval that generates.

    Args:
        **options: those of `compute_mauve`.

    Returns:
        A metric of the whole corpus, which gives the numbers by name.

    Raises:
        TypeError, ValueError: a wrong option, at once.

    Example:
        LightevalTaskConfig(..., metrics=[mauve(featurize_model_name="minilm")])
    """
    return CorpusLevelMetric(
        metric_name="mauve",
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=GenerativePreparator(),
        corpus_level_fn=MauveOfCorpus(**options),
    )


def _only(name: str, texts: Sequence[object] | str) -> str:
    """The one text of a document."""
    if not isinstance(texts, str) and len(texts) != 1:
        raise ValueError(f"MAUVE scores one text a document, got {len(texts)} {name}")
    return check_text(name, texts if isinstance(texts, str) else texts[0])
