"""MAUVE in Inspect: a scorer that stores each text with its reference, and the metric over all samples.

Inspect finds both by the entry point of the package: `mauve_metric/text_pair` and `mauve_metric/mauve`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Unpack

from mauve_metric.runtime.errors import NoPackage

try:
    from inspect_ai.scorer import SampleScore, Score, Target, metric, scorer
    from inspect_ai.solver import TaskState
except ImportError as error:
    raise NoPackage("mauve_metric.hosts.harness.inspect needs Inspect: pip install 'mauve_metric[inspect]'") from error

from mauve_metric.hosts.harness.pair_scores import PairScores
from mauve_metric.inputs.tool_formats import sample_order
from mauve_metric.options import Options

REFERENCE = "reference"  # in the metadata of a score

MauveOfSamples = Callable[[list[SampleScore]], dict[str, float]]


@metric(scores="unreduced")  # type: ignore[untyped-decorator]
def mauve(**options: Unpack[Options]) -> MauveOfSamples:
    """MAUVE of all samples in all epochs, sorted by id: the numbers of `pair_scores.SCORES`.

    Args:
        **options: those of `compute_mauve`; Inspect notes them in the log.

    Returns:
        A function from the samples' scores to the numbers by name; NaN, and a reason in the log, where one fails.

    Raises:
        TypeError, ValueError: a wrong option, at once.

    Example:
        Task(dataset, solver=generate(), scorer=text_pair(), metrics=[mauve(featurize_model_name="minilm")])
    """
    pairs = PairScores(**options)

    def of_samples(scores: list[SampleScore]) -> dict[str, float]:
        scores = sorted(scores, key=lambda score: sample_order(score.sample_id))
        documents: list[object] = []
        text_pairs: list[tuple[str, str]] = []
        for number, sample in enumerate(scores):
            answer, reference = sample.score.answer, (sample.score.metadata or {}).get(REFERENCE)
            if not isinstance(answer, str) or not isinstance(reference, str):
                raise ValueError(
                    f"sample {sample.sample_id!r} keeps no text with its reference: give the task the scorer "
                    "mauve_metric.hosts.harness.inspect.text_pair(), of which mauve() is the metric"
                )
            text_pairs.append((reference, answer))
            documents.append(number if sample.sample_id is None else sample.sample_id)
        return pairs.score(text_pairs, documents)

    return of_samples


@scorer(metrics=[mauve()])  # type: ignore[untyped-decorator]
def text_pair() -> Callable[[TaskState, Target], Coroutine[Any, Any, Score]]:
    """Store the model's text and the human text, the sample's target; the value is the number of words of the former.

    Returns:
        The scorer of a sample.

    Raises:
        ValueError: by the scorer, for a sample with another number of targets than one.
    """

    async def score(state: TaskState, target: Target) -> Score:
        if len(target) != 1:
            raise ValueError(f"MAUVE compares with one human text a sample, got {len(target)} as target")
        text = state.output.completion
        return Score(value=len(text.split()), answer=text, metadata={REFERENCE: target.text})

    return score
