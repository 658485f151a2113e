"""lighteval: its own classes prepare, aggregate and log what the metric gives."""

from __future__ import annotations

import importlib
import math
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams

from mauve_metric import compute_mauve
from mauve_metric.hosts.harness.pair_scores import SCORES, scalar_scores

lighteval = pytest.importorskip("lighteval", reason="needs lighteval: see docs/harness.md for its environment")
host = importlib.import_module("mauve_metric.hosts.harness.lighteval")

OPTIONS: dict[str, Any] = {"featurize_model_name": ngrams, "num_buckets": 4, "num_runs": 1}
PAIRS = list(zip(HUMAN[:24], MODEL, strict=True))


class Task:
    """The attributes of a task that the logger reads."""

    def __init__(self, metric: Any) -> None:
        self.metric = metric

    def aggregation(self) -> Any:
        return self.metric.get_corpus_aggregations()


def prepared(metric: Any, human: str | list[str], model: list[str]) -> Any:
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    doc = Doc(query="Go on.", choices=[human] if isinstance(human, str) else human, gold_index=0)
    if isinstance(human, list):
        doc.gold_index = list(range(len(human)))
    return metric.compute_sample(doc=doc, model_response=ModelResponse(text=model))


def test_the_logger_gives_the_numbers_of_the_pairs_and_no_bootstrap() -> None:
    from lighteval.logging.info_loggers import MetricsLogger

    metric = host.mauve(**OPTIONS)
    logger = MetricsLogger()
    for human, model in PAIRS:
        logger.log("story|0", prepared(metric, human, [model]))
    logger.aggregate({"story|0": Task(metric)})
    pairs = PAIRS
    expected = compute_mauve(
        p_text=[pair[0] for pair in pairs], q_text=[pair[1] for pair in pairs], aligned=True, **OPTIONS
    )
    assert dict(logger.metric_aggregated["story|0"]) == scalar_scores(expected)
    assert logger.metric_aggregated["all"]["mauve"] == expected.mauve
    assert metric.higher_is_better and "MauveOfCorpus" in str(metric.corpus_level_fn)


def test_several_texts_of_a_document_are_refused_and_empty_ones_are_nan() -> None:
    metric = host.mauve(**OPTIONS)
    compute = metric.get_corpus_aggregations()["mauve"]
    with pytest.raises(ValueError, match="one text a document, got 2 texts of the model"):
        compute([prepared(metric, "a", ["b", "c"])["mauve"]])
    with pytest.raises(ValueError, match="one text a document, got 2 gold texts"):
        compute([prepared(metric, ["a", "b"], ["c"])["mauve"]])
    found = compute([prepared(metric, "a", [" "])["mauve"]])
    assert list(found) == list(SCORES) and all(map(math.isnan, found.values()))
