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

from mauve_metric.api.score import resolve_config, score_features
from mauve_metric.arrays import TextData
from mauve_metric.features.feature_set import FeatureSet, Featurizing, Side
from mauve_metric.features.featurize import duration, estimated_seconds
from mauve_metric.features.sides import open_sides
from mauve_metric.features.text_functions import named_featurizers
from mauve_metric.options import Featurizer, MauveConfig, Options, RunOptions, with_options
from mauve_metric.perturbations.table import PERTURBATIONS
from mauve_metric.quantize.quantizers import scoring_options
from mauve_metric.results.result import MauveResult
from mauve_metric.results.signature import format_signature, signature_entries
from mauve_metric.results.stress_test import FeaturizerStress, StressedScore, StressTest
from mauve_metric.runtime.checks import did_you_mean, listed_names, shown, wrong
from mauve_metric.runtime.errors import EXPECTED, WrongOption, message_of
from mauve_metric.runtime.progress import progress_bar
from mauve_metric.texts.files import TextFile
from mauve_metric.uncertainty.buckets import holm
from mauve_metric.uncertainty.score_warnings import ScoreWarning

logger = logging.getLogger(__name__)

STRENGTHS = (0.25, 0.5, 1.0)
FEWEST_TEXTS = 40  # two halves of 20: two buckets of ten texts per side
FEW_TEXTS = 200  # a half: below, words in the wrong order everywhere may pass for chance
FEWEST_CHANGED = 0.2  # share of texts that the strongest change affects; less would never be detected
PERMUTATIONS = 1999


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

    A random half of the texts is given known errors of several strengths and scored against the other half. An error
    is seen if a permutation test tells the perturbed half apart from the reference; the p-values are corrected for the
    number of errors and strengths (Holm), so that at the level 0.95 in one run of twenty anything is called seen that
    makes no difference.

    Args:
        p_text: human texts, or a file of them.
        featurizers: each as `featurize_model_name` in `compute_mauve`; a dict gives them names. None: the one of the
            options. One that cannot be used is named with the reason; the others are still tested.
        perturbations: names of errors, in a list or joined by commas, see `mauve_metric.perturbations.table`; None:
            all. Those that change hardly any of these texts are left out and named.
        strengths: from 0 (nothing changes) to 1, without 0.
        **options: see `compute_mauve`. permutations: 0 is for as many as it takes.

    Returns:
        A `StressTest`.

    Raises:
        TypeError, ValueError, OSError, ImportError: as `compute_mauve`; ValueError too for fewer than 40 texts, texts
            that no error can be given to, and where no featurizer can be used.

    >>> texts = [f"The number {n} came before {n + 1} and after {n - 1}." for n in range(100)]
    >>> found = stress_test(
    ...     texts, featurizers={"length": lambda texts: [[len(text), 1.0] for text in texts]},
    ...     perturbations="truncated,words_shuffled", strengths=[1], cache=False,
    ... )
    >>> found.featurizers["length"].unseen
    ('words_shuffled',)
    """
    config, run = scoring_options(options, "stress_test")
    encoders = named_featurizers(config.featurize_model_name if featurizers is None else featurizers)
    names, sizes = chosen_perturbations(perturbations), _checked_strengths(strengths)
    config = _checked_config(config, len(names) * len(sizes))
    texts = _texts(p_text, config, run)
    design = _Design.of(texts, names, sizes, config.seed)
    given = frozenset(options) | {"featurize_model_name"}
    found: dict[str, FeaturizerStress] = {}
    failed: dict[str, str] = {}
    for name, encoder in encoders.items():
        try:
            found[name] = _Stressing(replace(config, featurize_model_name=encoder), run, given, design, name).scored()
        except EXPECTED as error:
            if len(encoders) == 1:
                raise
            failed[name] = message_of(error)
            logger.warning("%s is left out: %s", name, failed[name])
    if not found:
        reasons = "; ".join(f"{name}: {reason:.150}" for name, reason in [*failed.items()][:3])  # in full in the log
        raise ValueError(f"none of the featurizers can be used: {reasons}")
    return StressTest(
        featurizers=found,
        failed=failed,
        left_out=design.left_out,
        n_reference=len(design.reference),
        n_perturbed=len(design.equal),
        confidence_level=config.confidence_level,
        warnings=_size_warnings(len(design.equal)),
    )


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
    expected = "strengths must be numbers above 0 and up to 1"
    if isinstance(strengths, np.ndarray):
        strengths = strengths.tolist()
    if isinstance(strengths, (str, bytes)) or not isinstance(strengths, Sequence) or not strengths:
        raise TypeError(f"{expected}, got {shown(strengths)}")
    for strength in strengths:
        if isinstance(strength, bool) or not isinstance(strength, (int, float, np.number)):
            raise TypeError(f"{expected}, got {shown(strength)}")
        if not 0 < strength <= 1:
            raise ValueError(f"{expected}, got {shown(strength)}")
    return tuple(sorted({float(strength) for strength in strengths}))


def _checked_config(config: MauveConfig, cells: int) -> MauveConfig:
    """The config with enough permutations for so many tests, and without nearest neighbours.

    Raises:
        ValueError: too few permutations.
    """
    alpha = 1 - config.confidence_level
    needed = math.ceil(cells / alpha)
    if 0 < config.permutations < needed:
        least = f"at least {needed} to tell any of {cells} sets apart at confidence_level={config.confidence_level:g}"
        raise wrong("permutations", least, config.permutations)
    permutations = config.permutations or max(PERMUTATIONS, 2 * needed)
    return replace(config, permutations=permutations, knn=False, frechet_distance=False)


def _texts(data: object, config: MauveConfig, run: RunOptions) -> list[str]:
    side = open_sides({"human": Side("text", "p_text", data)}, config, run).sides["human"]
    texts = list(Featurizing(config, run).source("p_text", side.content).texts)
    if len(texts) < FEWEST_TEXTS:
        raise ValueError(
            f"p_text must hold at least {FEWEST_TEXTS} texts, of which one half is perturbed and the other the "
            f"reference, got {len(texts)}"
        )
    return texts


def _size_warnings(perturbed: int) -> tuple[ScoreWarning, ...]:
    if perturbed >= FEW_TEXTS:
        return ()
    message = f"{perturbed} texts a half are few: what is not seen here may be seen with {FEW_TEXTS} or more"
    return (ScoreWarning("few_texts", message, {"n": perturbed, "threshold": FEW_TEXTS}),)


@dataclass(frozen=True)
class _Design:
    """The sets of texts: the reference, the half that is perturbed as it was, and with each error of each strength."""

    reference: list[str]
    equal: list[str]
    perturbed: dict[tuple[str, float], list[str]]
    changed: dict[tuple[str, float], float]
    left_out: dict[str, str]

    @classmethod
    def of(cls, texts: Sequence[str], names: Sequence[str], strengths: Sequence[float], seed: int) -> _Design:
        order = np.random.default_rng(seed).permutation(len(texts))
        halves = np.sort(order[: len(texts) // 2]), np.sort(order[len(texts) // 2 :])
        equal, reference = ([texts[number] for number in half] for half in halves)
        perturbed: dict[tuple[str, float], list[str]] = {}
        changed: dict[tuple[str, float], float] = {}
        left_out: dict[str, str] = {}
        for name in names:
            sets = {strength: PERTURBATIONS[name].perturb(equal, strength, seed) for strength in strengths}
            shares = {strength: _share_changed(equal, found) for strength, found in sets.items()}
            if shares[strengths[-1]] < FEWEST_CHANGED * strengths[-1]:
                left_out[name] = (
                    f"it changes only {shares[strengths[-1]]:.0%} of these texts at strength {strengths[-1]:g}: they "
                    "are too short, or have nothing that it could change"
                )
                continue
            perturbed |= {(name, strength): sets[strength] for strength in strengths}
            changed |= {(name, strength): shares[strength] for strength in strengths}
        if not perturbed:
            raise ValueError(
                "p_text: the texts are too short to be given errors; "
                + "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
            )
        return cls(reference, equal, perturbed, changed, left_out)


def _share_changed(texts: Sequence[str], perturbed: Sequence[str]) -> float:
    """Share of the texts that are changed or left out."""
    if len(perturbed) < len(texts):
        return 1 - len(perturbed) / len(texts)
    return float(np.mean([new != text for new, text in zip(perturbed, texts, strict=True)]))


@dataclass
class _Stressing:
    """State of the test of one featurizer."""

    config: MauveConfig
    run: RunOptions
    given: frozenset[str]
    design: _Design
    name: str

    def scored(self) -> FeaturizerStress:
        """Featurize and score the reference against itself and every perturbed set."""
        design = self.design
        silent = replace(self.run, verbose=False)
        with Featurizing(self.config, silent, self.given) as job:
            start = time.perf_counter()
            reference = job.of_texts("the reference half", design.reference)
            equal = job.of_texts("the other half", design.equal)
            featurized = time.perf_counter() - start
            self._score(reference, equal)  # the first call loads modules, so its time would be too long
            start = time.perf_counter()
            results = {("equal", 0.0): self._score(reference, equal)}
            self._announce(job, equal, featurized / 2, time.perf_counter() - start)
            with progress_bar(f"stress test {self.name}", self.run.verbose, " sets", len(design.perturbed)) as bar:
                for done, (cell, texts) in enumerate(design.perturbed.items()):
                    if bar is not None:
                        bar(done, len(design.perturbed))
                    side = job.of_texts(f"the texts with {cell[0]}", texts)
                    results[cell] = self._score(reference, side)
        return self._collect(results, self._signature(reference, equal))

    def _score(self, reference: FeatureSet, side: FeatureSet) -> MauveResult:
        return score_features(reference, side, self.config, quiet=True, run=self.run, with_learned=False)

    def _announce(self, job: Featurizing, equal: FeatureSet, featurizing: float, scoring: float) -> None:
        """Estimate and log the duration, from the time so far and, with cached features, the model's size."""
        sets = len(self.design.perturbed)
        model, known = self.config.featurize_model_name, job.encoder is None
        featurizing *= sets
        if isinstance(model, (str, tuple)) and equal.lengths is not None:
            estimate = estimated_seconds(job.load(), sets * float(np.sum(equal.lengths)))
            featurizing = estimate if known else min(estimate, featurizing)
        logger.info(
            "%s: %d sets of %d texts, about %s to featurize (less what is in the cache) and %s to score",
            self.name,
            sets,
            len(equal),
            duration(featurizing),
            duration(sets * scoring),
        )

    def _collect(self, results: Mapping[tuple[str, float], MauveResult], signature: str) -> FeaturizerStress:
        corrected = holm([_p_value(result) for cell, result in results.items() if cell[1] > 0])
        p_values = [_p_value(results["equal", 0.0]), *corrected.tolist()]
        scores: dict[str, list[StressedScore]] = {}
        for ((name, strength), result), p_value in zip(results.items(), p_values, strict=True):
            if result.mauve_debiased is None:
                raise ValueError(f"{name} at strength {strength:g} leaves fewer than two texts, which have no interval")
            seen = p_value < 1 - self.config.confidence_level
            changed = self.design.changed.get((name, strength), 0.0)
            score = StressedScore(strength, result.mauve_debiased, result.mauve_ci, p_value, seen, changed)
            scores.setdefault(name, []).append(score)
        (equal,) = scores.pop("equal")
        return FeaturizerStress(equal, {name: tuple(found) for name, found in scores.items()}, signature)

    def _signature(self, reference: FeatureSet, equal: FeatureSet) -> str:
        config = resolve_config(self.config, len(reference), len(equal))
        names, strengths = (dict.fromkeys(part) for part in zip(*self.design.perturbed, strict=True))
        more = {"perturbations": ",".join(map(str, names)), "strengths": ",".join(f"{part:g}" for part in strengths)}
        return format_signature(signature_entries(reference, equal, config, more))


def _p_value(result: MauveResult) -> float:
    if result.p_value is None:
        raise WrongOption.of("permutations", "must be at least 1 to tell sets apart")
    return result.p_value
