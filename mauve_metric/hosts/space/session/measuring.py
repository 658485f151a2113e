"""Every measure of sets that are read: from their texts and stored features, without running another model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.describe import HUMAN, chosen_measures, describe_read
from mauve_metric.apps.describing.description import Description, title_of
from mauve_metric.apps.describing.measure_runner import DescribedSet, DescribedSets
from mauve_metric.arrays import Integers
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.hosts.space.session.run import Run
from mauve_metric.hosts.space.session.scoring import Scored
from mauve_metric.options import MauveConfig
from mauve_metric.results.comparison import Comparison

OFFERED = tuple(
    name
    for name in chosen_measures(None)
    if name == "score" or {"texts", "features"}.issuperset(MEASURES[name].inputs.given)
)
GROUPS = tuple(dict.fromkeys(MEASURES[name].group for name in OFFERED if name != "score"))


def check_measures(measures: object) -> tuple[str, ...]:
    """The measures of these groups or names, in the order of the table; None: all offered ones.

    Raises:
        TypeError, ValueError: not names of groups or measures, or none that is offered.

    >>> check_measures(["score", "mean_length"])
    ('score', 'mean_length')
    """
    names = chosen_measures(measures, ("score", *GROUPS))
    if measures is None:
        return OFFERED
    for part in measures.split(",") if isinstance(measures, str) else list(measures):  # type: ignore[call-overload]
        if not part.strip():
            continue
        if not set(chosen_measures(part)) & set(OFFERED):
            raise ValueError(
                f"measures: {part!r:.60} takes another model, a third set or too long for this page: expected "
                f"{', '.join(('score', *GROUPS))}, or names of their measures"
            )
    return tuple(name for name in names if name in OFFERED)


def measure_texts(
    texts: Sequence[list[str]],
    sides: Sequence[FeatureSet | None],
    models: Sequence[str],
    measures: Sequence[str],
    config: MauveConfig,
    run: Run,
    groups: Sequence[Integers | None],
    compared: Callable[[], Comparison] | None = None,
) -> Description:
    """Measure sets as `describe` does.

    Args:
        texts: of the human set and of each model's. sides: their features; None if no measure needs them.
        groups: of the texts of each set, None where all are independent.
        models: the models' names. measures: see `check_measures`. config: of the features and scores.
        run: receives the progress, and may end the work before each measure.
        compared: makes the comparison of the same sets; None: it is made of the features.
    """
    titles = [HUMAN, *(f"model {name}" for name in models)]
    human, *others = (DescribedSet(*of_set) for of_set in zip(titles, map(list, texts), sides, groups, strict=True))

    def before(name: str, done: int, total: int) -> None:
        run.stage((done + 1) / (total + 1), f"{title_of(name)}: measure {done + 1} of {total}")

    run.stage(0.0, "common buckets" if "score" in measures else "measures")
    of_models = dict(zip(models, others, strict=True))
    sets = DescribedSets(human, of_models, None, config, watch=run.check, before=before, compared=compared)
    return describe_read(sets, measures)


def measure_scored(scored: Scored, measures: Sequence[str], run: Run) -> Description:
    """The measures of the sets of a result."""
    evaluation = scored.evaluation
    sides, texts = evaluation.declared, [side or [] for side in evaluation.texts]
    names, groups, compared = evaluation.names, [side.groups for side in sides], lambda: scored.compared
    return measure_texts(texts, sides, names, measures, evaluation.config, run, groups, compared)
