"""MAUVE in lm-evaluation-harness: pairs from the documents, and an aggregation for each number.

A task names these functions, as `lm_eval_mauve.yaml` beside this file does (`INCLUDE` is its path):

    process_results: !function mauve_metric.hosts.harness.lm_eval.process_results
    metric_list:
      - metric: mauve
        aggregation: !function mauve_metric.hosts.harness.lm_eval.mauve
        higher_is_better: true

The human text of a document is its field "target". Another field, and the options of `compute_mauve`, are given to
`task_functions` in a module beside the task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Unpack

from mauve_metric.hosts.harness.pair_scores import SCORES, Notes, PairScores, check_text
from mauve_metric.options import Options
from mauve_metric.runtime.errors import NoSuchField

INCLUDE = Path(__file__).with_name("lm_eval_mauve.yaml")
REFERENCE_FIELD = "target"

Document = Mapping[str, object]
Aggregation = Callable[..., float]


class TaskFunctions(NamedTuple):
    """The functions that a task names: one for each document, and an aggregation for each of `SCORES`.

    notes: verdict as a word, signature and warnings, which the harness writes into its results where the task's
    `metadata` names them.
    """

    process_results: Callable[[Document, Sequence[object]], dict[str, tuple[str, str]]]
    mauve: Aggregation
    closeness: Aggregation
    closeness_ci_low: Aggregation
    closeness_ci_high: Aggregation
    verdict: Aggregation
    mauve_debiased: Aggregation
    mauve_classifier: Aggregation
    auc: Aggregation
    precision: Aggregation
    recall: Aggregation
    notes: Notes


def task_functions(reference_field: str = REFERENCE_FIELD, **options: Unpack[Options]) -> TaskFunctions:
    """The functions of a task with its own field or options.

    Args:
        reference_field: the field of a document that holds the human text.
        **options: those of `compute_mauve`.

    Returns:
        `process_results` for `process_results:` of the task, then an aggregation for each of `SCORES`, and `notes`.

    Raises:
        TypeError, ValueError: a wrong option.

    >>> functions = task_functions("story", featurize_model_name="minilm")
    >>> functions.process_results({"story": "once"}, ["twice"])["mauve"]
    ('once', 'twice')
    """
    scores = PairScores(**options)

    def process_results(doc: Document, results: Sequence[object]) -> dict[str, tuple[str, str]]:
        if reference_field not in doc:
            raise NoSuchField(
                f"the document has no field {reference_field!r}, only {', '.join(map(repr, doc))}: name the field of "
                "the human text with mauve_metric.hosts.harness.lm_eval.task_functions(reference_field=…)"
            )
        if len(results) != 1:
            raise ValueError(
                f"MAUVE scores one text a document (output_type: generate_until), got {len(results)} results"
            )
        only = results[0]
        if isinstance(only, list) and len(only) == 1:  # of the filter take_first_k
            only = only[0]
        human = check_text(f"the field {reference_field!r}", doc[reference_field])
        return dict.fromkeys(SCORES, (human, check_text("what the model wrote", only)))

    aggregations = {name: _aggregation(name, scores) for name in SCORES}
    return TaskFunctions(process_results, notes=scores.notes, **aggregations)


def _aggregation(name: str, scores: PairScores) -> Aggregation:
    """Make the aggregation that returns one of `SCORES` for all documents."""

    def aggregation(items: Sequence[tuple[str, str]] = (), **others: object) -> float:
        if others or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in items):
            raise ValueError(
                f"{name} compares two sets of texts, and cannot score one document by itself: name it as "
                f"`aggregation: !function mauve_metric.hosts.harness.lm_eval.{name}`, and give the task "
                "`process_results: !function mauve_metric.hosts.harness.lm_eval.process_results`"
            )
        return scores.score(items)[name]

    aggregation.__name__ = name
    return aggregation


functions = task_functions()
process_results, mauve, closeness, closeness_ci_low, closeness_ci_high, verdict = functions[:6]
mauve_debiased, mauve_classifier, auc, precision, recall, notes = functions[6:]
