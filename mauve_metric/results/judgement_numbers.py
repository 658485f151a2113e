"""The numbers of people's judgements, without the ways of showing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from mauve_metric.results.measured import Reading
from mauve_metric.results.numbers import plain
from mauve_metric.results.signature import format_signature


@dataclass(frozen=True)
class ModelScore:
    """How strong one model is in people's judgement.

    score: Bradley–Terry times 100, see `bradley_terry`; higher is better, the sum over the models is 0. ci: its
    interval. wins: of its judgements, a tie counting as half unless it was settled otherwise.
    """

    model: str
    score: float
    ci: tuple[float, float]
    wins: float
    judgements: int


@dataclass(frozen=True)
class ScoreDifference:
    """How much stronger a is than b: the difference of their scores, and its interval (of this pair alone)."""

    a: str
    b: str
    difference: float
    ci: tuple[float, float]


@dataclass(frozen=True)
class Agreement:
    """How far a measure orders the models as people do.

    correlation: Spearman's, in [-1, 1], 1 for the same order, of the measure so taken that larger is better. reading:
    what is better of it, see `Measured`. p_value: of "no relation", by permutation, for this measure alone. models: how
    many were ordered.
    """

    measure: str
    correlation: float
    p_value: float
    models: int
    reading: Reading


@dataclass(frozen=True)
class QuestionScores:
    """The judgements on one question.

    models: the strongest first. differences: of every pair, the stronger first. agreement: of each measure that was
    given, the highest correlation first. failed: why other measures have none.
    """

    question: str
    judgements: int
    ties: int
    annotators: int | None
    models: tuple[ModelScore, ...]
    differences: tuple[ScoreDifference, ...]
    agreement: tuple[Agreement, ...]
    failed: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, models and measures by name."""
        return {
            "judgements": self.judgements,
            "ties": self.ties,
            "annotators": self.annotators,
            "ranking": [score.model for score in self.models],
            "models": {score.model: _without(score, "model") for score in self.models},
            "differences": plain(self.differences),
            "correlations": {found.measure: _without(found, "measure") for found in self.agreement},
            "failed": dict(self.failed),
        }


@dataclass(frozen=True)
class JudgementNumbers:
    """What a `Judgement` holds; its fields are explained there."""

    questions: Mapping[str, QuestionScores]
    confidence_level: float
    quick: int
    human: str | None
    left_out: tuple[str, ...]
    signature_entries: Mapping[str, object] = field(repr=False)
    signature: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON."""
        return {
            "questions": {name: scores.to_dict() for name, scores in self.questions.items()},
            "confidence_level": self.confidence_level,
            "quick": self.quick,
            "human": self.human,
            "left_out": list(self.left_out),
            "signature": self.signature,
        }


@dataclass(frozen=True)
class RoundScores:
    """How well the boundary was found in some rounds.

    Attributes:
        points: the mean, in [0, 5], see `boundary_points`; the higher, the easier a model's text is told from a
            person's. ci: its interval, None for a single player or round.
        random, always_last: the mean points of players who do not read, on the same texts.
        exact: the share of right guesses. eventually: the share of guesses at or after the boundary.
        machine: rounds with a machine's text. human: rounds without, and false_alarms: the share of those in which one
            was found; None without such rounds.
        alpha: Krippendorff's, of "guessed at or after the boundary" by those who saw the same text; None where it is
            not defined. players: None where the table does not name them.
        seconds: the mean on a sentence, looks longer than the limit cut to it; None without times.
    """

    model: str
    rounds: int
    players: int | None
    points: float
    ci: tuple[float, float] | None
    random: float
    always_last: float
    exact: float
    eventually: float
    machine: int
    human: int
    false_alarms: float | None
    alpha: float | None
    seconds: float | None


@dataclass(frozen=True)
class GameNumbers:
    """What a `BoundaryGame` holds; its fields are explained there."""

    total: RoundScores
    models: Mapping[str, RoundScores]
    confidence_level: float
    in_runs: int
    signature_entries: Mapping[str, object] = field(repr=False)
    signature: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON, the numbers of all rounds at the top."""
        return {
            **_without(self.total, "model"),
            "models": {name: _without(scores, "model") for name, scores in self.models.items()},
            "confidence_level": self.confidence_level,
            "in_runs": self.in_runs,
            "signature": self.signature,
        }


def _without(numbers: ModelScore | Agreement | RoundScores, name: str) -> dict[str, Any]:
    """The fields but for the name."""
    return {item.name: plain(getattr(numbers, item.name)) for item in fields(numbers) if item.name != name}
