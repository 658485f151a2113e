"""The numbers of a stress test, without the ways of showing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mauve_metric.results.numbers import plain
from mauve_metric.uncertainty.score_warnings import ScoreWarning


@dataclass(frozen=True)
class StressedScore:
    """The score of human texts with a known error of one strength against other human texts.

    mauve_debiased, ci: as in `MauveResult`. p_value: of "the error makes no difference", by permutation and corrected
    for the number of errors and strengths (Holm). seen: whether it is told apart from equal. changed: share of the
    texts that the error changed or left out.
    """

    strength: float
    mauve_debiased: float
    ci: tuple[float, float] | None
    p_value: float
    seen: bool
    changed: float


@dataclass(frozen=True)
class FeaturizerStress:
    """What one featurizer sees.

    equal: of the unperturbed texts, strength 0. perturbations: by name, the strengths rising.
    """

    equal: StressedScore
    perturbations: Mapping[str, tuple[StressedScore, ...]]
    signature: str

    def smallest_seen(self, perturbation: str) -> float | None:
        """The smallest strength that is told apart from equal; None if none is."""
        return next((score.strength for score in self.perturbations[perturbation] if score.seen), None)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The errors of which no strength is told apart from equal."""
        return tuple(name for name in self.perturbations if self.smallest_seen(name) is None)

    def to_dict(self) -> dict[str, Any]:
        """Each perturbation as lists over its strengths."""
        return {
            name: {
                "strengths": [score.strength for score in scores],
                "mauve_debiased": [score.mauve_debiased for score in scores],
                "ci": [score.ci and list(score.ci) for score in scores],
                "smallest_seen": self.smallest_seen(name),
                "p_value": [score.p_value for score in scores],
                "changed": [score.changed for score in scores],
            }
            for name, scores in self.perturbations.items()
        }


@dataclass(frozen=True)
class StressTestNumbers:
    """See `mauve_metric.results.stress_test.StressTest`."""

    featurizers: Mapping[str, FeaturizerStress]
    failed: Mapping[str, str]
    left_out: Mapping[str, str]
    n_reference: int
    n_perturbed: int
    confidence_level: float
    warnings: tuple[ScoreWarning, ...]

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths of every perturbation, rising."""
        first = next(iter(self.featurizers.values()))
        return tuple(score.strength for score in next(iter(first.perturbations.values())))

    @property
    def perturbations(self) -> tuple[str, ...]:
        """The names of the perturbations, in the order of the tables."""
        return tuple(next(iter(self.featurizers.values())).perturbations)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values."""
        equal = {name: found.equal for name, found in self.featurizers.items()}
        return {
            "featurizers": {name: found.to_dict() for name, found in self.featurizers.items()},
            "equal": {
                name: {
                    "mauve_debiased": score.mauve_debiased,
                    "ci": score.ci and list(score.ci),
                    "p_value": score.p_value,
                }
                for name, score in equal.items()
            },
            "unseen": {name: list(found.unseen) for name, found in self.featurizers.items()},
            "failed": dict(self.failed),
            "left_out": dict(self.left_out),
            "n_reference": self.n_reference,
            "n_perturbed": self.n_perturbed,
            "confidence_level": self.confidence_level,
            "warnings": plain(self.warnings),
            "signatures": {name: found.signature for name, found in self.featurizers.items()},
        }
