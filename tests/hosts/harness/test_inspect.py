"""Inspect: an evaluation from end to end with a model that is made up, and what its metric refuses."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams

from mauve_metric import TextFile, compute_mauve
from mauve_metric.hosts.harness.pair_scores import SCORES, scalar_scores

inspect_ai = pytest.importorskip("inspect_ai", reason="needs Inspect: pip install 'mauve_metric[inspect]'")
host = importlib.import_module("mauve_metric.hosts.harness.inspect")

PAIRS = list(zip(HUMAN[:24], MODEL, strict=True))


@pytest.fixture
def evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a task in which the model writes what is expected of it, sample by sample."""
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import Generate, TaskState, solver

    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path))

    @solver
    def writes() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput.from_content("none", str(state.metadata["writes"]))
            return state

        return solve

    def run(ids: Sequence[str | None] = [None] * len(PAIRS), **options: Any) -> Any:
        samples = [
            Sample(input="Go on.", target=human, id=name, metadata={"writes": model})
            for name, (human, model) in zip(ids, PAIRS, strict=True)
        ]
        task = inspect_ai.Task(dataset=samples, solver=writes(), **options)
        (log,) = inspect_ai.eval(task, model="mockllm/model", display="none", log_dir=str(tmp_path))
        return log

    return run


def test_an_evaluation_gives_the_numbers_of_its_pairs(evaluated: Any, tiny_gpt2: str) -> None:
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "num_buckets": 4, "num_runs": 1}
    log = evaluated(scorer=host.text_pair(), metrics=[host.mauve(**options)], epochs=2)
    assert log.status == "success", log.error
    human, model = zip(*(pair for pair in PAIRS for _ in range(2)), strict=True)  # every epoch counts
    samples = [number for number in range(len(PAIRS)) for _ in range(2)]
    expected = compute_mauve(p_text=human, q_text=model, p_groups=samples, q_groups=samples, **options)
    (score,) = log.results.scores
    assert {name: score.metrics[name].value for name in SCORES} == scalar_scores(expected)
    assert all(found.params == options for found in score.metrics.values())
    kept = log.samples[0].scores["text_pair"]
    assert (kept.metadata["reference"], kept.answer) in PAIRS and kept.value == len(kept.answer.split())


@pytest.mark.parametrize("name", ["{}", "s{}"])
def test_the_log_gives_the_number_of_the_run(name: str, evaluated: Any, tiny_gpt2: str) -> None:
    options: dict[str, Any] = {"featurize_model_name": tiny_gpt2, "num_buckets": 4, "num_runs": 1}
    ids = [name.format(7 * number % len(PAIRS)) for number in range(len(PAIRS))]
    log = evaluated(ids, scorer=host.text_pair(), metrics=[host.mauve(**options)])
    (score,) = log.results.scores
    found = compute_mauve(q_text=TextFile(log.location), **options)
    assert {name: score.metrics[name].value for name in SCORES} == scalar_scores(found)


def test_inspect_finds_both_by_name() -> None:
    from inspect_ai.scorer._metric import metric_create

    found = [entry.value for entry in metadata.entry_points(group="inspect_ai") if entry.name == "mauve_metric"]
    assert set(found) == {"mauve_metric.hosts.harness.inspect"}
    made = metric_create("mauve_metric/mauve", num_buckets=4, featurize_model_name=ngrams)
    assert callable(made)


def test_scores_of_another_scorer_and_several_targets_are_refused(
    evaluated: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from inspect_ai.scorer import SampleScore, Score, Target

    with pytest.raises(ValueError, match="sample 3 keeps no text with its reference: give the task the scorer"):
        host.mauve()([SampleScore(score=Score(value=1.0), sample_id=3)])
    metric = host.mauve(featurize_model_name=ngrams)
    score = Score(value=0, answer="", metadata={"reference": "a text"})
    with caplog.at_level(logging.ERROR, logger="mauve_metric"):
        metric([SampleScore(score=score)])
    assert "1 of 1 texts of the model are empty" in caplog.text
    with pytest.raises(ValueError, match="one human text a sample, got 2"):
        host.text_pair()(None, Target(["a", "b"])).send(None)
