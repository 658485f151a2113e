"""Test for errors that a featurizer detects: human texts with known errors against other human texts."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mauve_metric.apps.studies.perturbations.text_errors import PERTURBATIONS
from mauve_metric.apps.studies.stress_test_result import FeaturizerStress, StressedScore, StressTest
from mauve_metric.arrays import TextData
from mauve_metric.clustering.quantizers import scoring_options
from mauve_metric.features.feature_set import FeatureSet, FeaturizeJob, InputSide
from mauve_metric.features.featurize import estimated_seconds
from mauve_metric.features.sides import open_sides
from mauve_metric.features.text_functions import named_featurizers
from mauve_metric.inputs.files import TextFile
from mauve_metric.measures.p_values import holm
from mauve_metric.options import Featurizer, MauveConfig, Options, RunOptions, with_options
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_signature, signature_entries
from mauve_metric.runtime.checks import did_you_mean, listed_names, wrong
from mauve_metric.runtime.errors import message_of
from mauve_metric.runtime.plain_text import duration
from mauve_metric.runtime.progress import watched
from mauve_metric.scoring.evaluation import Evaluation, resolve_config
from mauve_metric.uncertainty.score_warnings import warn

logger = logging.getLogger(__name__)

STRENGTHS = (0.25, 0.5, 1.0)
FEWEST_TO_PERTURB = 40  # two halves of 20: two buckets of ten texts per side
FEW_TO_PERTURB = 200  # a half: below, words in the wrong order everywhere may pass for chance
FEWEST_CHANGED = 0.2  # share of texts that the strongest change affects; less would never be detected
PERMUTATIONS = 1999
KINDS = 2  # of tests: by groups and by classifier


@with_options()
def stress_test(
    p_text: TextData | TextFile | str | Path,
    *,
    featurizers: Sequence[Featurizer] | Mapping[str, Featurizer] | Featurizer | None = None,
    perturbations: str | Sequence[str] | None = None,
    strengths: Sequence[float] = STRENGTHS,
    **options: Unpack[Options],
) -> StressTest:
    """Measure which errors in texts a featurizer detects, on the user's own human texts.

    A random half of the texts is given known errors of several strengths, and its closeness to the other half is
    computed. An error is seen if a permutation test tells the perturbed half apart from the reference, by groups or by
    classifier. Its p-value is the smaller one of the two, doubled, and is corrected for the number of errors and
    strengths (Holm): at the level 0.95 in one run of twenty anything is called seen that makes no difference.

    Args:
        p_text: human texts, or a file of them.
        featurizers: each as `featurize_model_name` in `compute_mauve`; a dict gives them names. None: the one of the
            options. One that cannot be used is named with the reason; the others are still tested.
        perturbations: names of errors, in a list or joined by commas, see `perturbations.text_errors`; None: all.
            Those that change hardly any of these texts are left out and named.
        strengths: from 0 (nothing changes) to 1, without 0.
        **options: see `compute_mauve`. permutations: 0 is for as many as it takes.

    Returns:
        A `StressTest`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; ValueError too for fewer than 40 texts, texts
            that no error can be given to, and where no featurizer can be used.

    >>> texts = [f"The number {n} came before {n + 1} and after {n - 1}." for n in range(100)]
    >>> stress = stress_test(
    ...     texts, featurizers={"length": lambda texts: [[len(text), 1.0] for text in texts]},
    ...     perturbations="truncated,words_shuffled", strengths=[1], cache=False,
    ... )
    >>> stress.featurizers["length"].unseen
    ('words_shuffled',)
    """
    config, run = scoring_options(options, "stress_test")
    encoders = named_featurizers(config.featurize_model_name if featurizers is None else featurizers)
    names, sizes = chosen_perturbations(perturbations), _checked_strengths(strengths)
    permutations = _permutations(config, len(names) * len(sizes))
    config = replace(config, permutations=permutations, knn=False, frechet_distance=False)
    side = open_sides({"human": InputSide("text", "p_text", p_text)}, config, run).sides["human"]
    texts = FeaturizeJob(config, run).texts_of(side)
    if len(texts) < FEWEST_TO_PERTURB:
        raise ValueError(
            f"p_text must hold at least {FEWEST_TO_PERTURB} texts, of which one half is perturbed and the other the "
            f"reference, got {len(texts)}"
        )
    design = _Design.of(texts, names, sizes, config.seed)
    silent, asked = replace(run, verbose=False), frozenset(options) | {"featurize_model_name"}
    by_featurizer: dict[str, FeaturizerStress] = {}
    failed: dict[str, str] = {}
    for name, encoder in encoders.items():
        try:
            with FeaturizeJob(replace(config, featurize_model_name=encoder), silent, asked) as job:
                by_featurizer[name] = _stress(job, name, design, run)
        except Exception as error:
            if len(encoders) == 1:
                raise
            failed[name] = message_of(error)
            logger.warning("%s is left out: %s", name, failed[name])
    if not by_featurizer:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        raise ValueError(f"none of the featurizers can be used: {reasons}")
    n = len(design.equal)
    few = warn("few_texts_to_perturb", {"n": n, "threshold": FEW_TO_PERTURB})
    return StressTest(
        featurizers=by_featurizer,
        failed=failed,
        left_out=design.left_out,
        n_reference=len(design.reference),
        n_perturbed=n,
        confidence_level=config.confidence_level,
        warnings=(few,) if n < FEW_TO_PERTURB else (),
    )


def _permutations(config: MauveConfig, tests: int) -> int:
    """The permutations of each test that tell one of so many sets apart after Holm's correction."""
    needed = math.ceil(KINDS * tests / (1 - config.confidence_level))
    if 0 < config.permutations < needed:
        level = f"confidence_level={config.confidence_level:g}"
        raise wrong(
            "permutations", f"at least {needed} to tell any of {tests} sets apart at {level}", config.permutations
        )
    return config.permutations or max(PERMUTATIONS, 2 * needed)


def chosen_perturbations(perturbations: object) -> tuple[str, ...]:
    """Names of the selected errors, in the order of the tables.

    Raises:
        TypeError, ValueError: not names of perturbations.
    """
    if perturbations is None:
        return tuple(PERTURBATIONS)
    wanted = [name.replace("-", "_") for name in listed_names("perturbations", perturbations, "names")]
    for name in wanted:
        if name not in PERTURBATIONS:
            hint = did_you_mean(name, PERTURBATIONS) or f": expected some of {', '.join(PERTURBATIONS)}"
            raise ValueError(f"perturbations: there is none called {name!r}{hint}")
    if not wanted:
        raise ValueError("perturbations must name at least one error, got none")
    return tuple(name for name in PERTURBATIONS if name in wanted)


def _checked_strengths(strengths: Any) -> tuple[float, ...]:
    if isinstance(strengths, np.ndarray):
        strengths = strengths.tolist()
    if isinstance(strengths, (str, bytes)) or not isinstance(strengths, Sequence) or not strengths:
        raise wrong("strengths", "a list of numbers above 0 and up to 1", strengths)
    for strength in strengths:
        is_number = isinstance(strength, (int, float, np.number)) and not isinstance(strength, bool)
        if not is_number or not 0 < strength <= 1:
            raise wrong("strengths", "numbers above 0 and up to 1", strength)
    return tuple(sorted({float(strength) for strength in strengths}))


@dataclass(frozen=True)
class _Design:
    """The sets of texts: the reference, the half that is perturbed as it was, and with each error of each strength."""

    reference: list[str]
    equal: list[str]
    perturbed: dict[tuple[str, float], list[str]]
    left_out: dict[str, str]

    @classmethod
    def of(cls, texts: Sequence[str], names: Sequence[str], strengths: Sequence[float], seed: int) -> _Design:
        order = np.random.default_rng(seed).permutation(len(texts))
        halves = np.sort(order[: len(texts) // 2]), np.sort(order[len(texts) // 2 :])
        equal, reference = ([texts[number] for number in half] for half in halves)
        perturbed: dict[tuple[str, float], list[str]] = {}
        left_out: dict[str, str] = {}
        for name in names:
            sets = {(name, strength): PERTURBATIONS[name].perturb(equal, strength, seed) for strength in strengths}
            share = _share_changed(equal, sets[name, strengths[-1]])
            if share < FEWEST_CHANGED * strengths[-1]:
                left_out[name] = (
                    f"it changes only {share:.0%} of these texts at strength {strengths[-1]:g}: they are too short, or "
                    "have nothing that it could change"
                )
                continue
            perturbed |= sets
        if not perturbed:
            raise ValueError(
                "p_text: the texts are too short to be given errors; "
                + "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
            )
        return cls(reference, equal, perturbed, left_out)


def _share_changed(texts: Sequence[str], perturbed: Sequence[str]) -> float:
    """Share of the texts that are changed or left out."""
    if len(perturbed) < len(texts):
        return 1 - len(perturbed) / len(texts)
    return float(np.mean([new != text for new, text in zip(perturbed, texts, strict=True)]))


def _stress(job: FeaturizeJob, name: str, design: _Design, run: RunOptions) -> FeaturizerStress:
    """Featurize and score the reference against itself and every perturbed set. name: of the featurizer."""
    start, config = time.perf_counter(), job.config
    reference = job.of_texts("the reference half", design.reference)
    equal = job.of_texts("the other half", design.equal)
    featurized = time.perf_counter() - start

    def score(side: FeatureSet) -> MauveResult:
        return Evaluation.of_sets([reference, side], config, run).result()

    score(equal)  # the first call loads modules, so its time would be too long
    start = time.perf_counter()
    results = {("equal", 0.0): score(equal)}
    _announce(job, name, design, equal, featurized / 2, time.perf_counter() - start)
    for cell, texts in watched(f"stress test {name}", design.perturbed.items(), run.verbose, " sets"):
        results[cell] = score(job.of_texts(f"the texts with {cell[0]}", texts))
    names, strengths = (dict.fromkeys(part) for part in zip(*design.perturbed, strict=True))
    more = {"perturbations": ",".join(map(str, names)), "strengths": ",".join(f"{part:g}" for part in strengths)}
    resolved = resolve_config(config, len(reference), len(equal))
    signature = format_signature(signature_entries(reference, equal, resolved, more))
    scores = _scores(results, design, config.confidence_level)
    (of_equal,) = scores.pop("equal")
    return FeaturizerStress(of_equal, scores, signature)


def _announce(
    job: FeaturizeJob, name: str, design: _Design, equal: FeatureSet, featurizing: float, scoring: float
) -> None:
    """Estimate and log the duration, from the time so far and, with cached features, the model's size."""
    sets = len(design.perturbed)
    model, is_cached = job.config.featurize_model_name, job.encoder is None
    featurizing *= sets
    if isinstance(model, (str, tuple)) and equal.lengths is not None:
        estimate = estimated_seconds(job.load(), sets * float(np.sum(equal.lengths)))
        featurizing = estimate if is_cached else min(estimate, featurizing)
    what = "%s: %d sets of %d texts, about %s to featurize (less what is in the cache) and %s to score"
    logger.info(what, name, sets, len(equal), duration(featurizing), duration(sets * scoring))


def _scores(
    results: Mapping[tuple[str, float], MauveResult], design: _Design, level: float
) -> dict[str, tuple[StressedScore, ...]]:
    """The scores of each error by its strength, and of "equal" sets, with corrected p-values.

    level: above which an error is seen.
    """
    p_values = [_p_value(result) for result in results.values()]
    first, *others = p_values
    scores: dict[str, tuple[StressedScore, ...]] = {}
    for ((name, strength), result), p_value in zip(results.items(), [first, *holm(others).tolist()], strict=True):
        if result.closeness is None:
            raise ValueError(f"{name} at strength {strength:g} leaves fewer than two texts, which have no score")
        share = _share_changed(design.equal, design.perturbed.get((name, strength), design.equal))
        score = StressedScore(strength, result.closeness, result.closeness_ci, p_value, p_value < 1 - level, share)
        scores[name] = (*scores.get(name, ()), score)
    return scores


def _p_value(result: MauveResult) -> float:
    """The smallest p-value by groups and by classifier, with Bonferroni's correction."""
    by_kind = {bound.kind: bound.p_value for bound in result.bounds}
    return min([1.0, *(KINDS * p_value for p_value in by_kind.values() if p_value is not None)])
