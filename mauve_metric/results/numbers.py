"""The numbers of results, comparisons and explanations, without the ways of showing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple

from mauve_metric.arrays import Floats, Labels
from mauve_metric.features.ngram_use import NgramUse
from mauve_metric.measures.groups import Design
from mauve_metric.results.plain import plain
from mauve_metric.results.signature import format_signature
from mauve_metric.uncertainty.jackknife import CurveBand
from mauve_metric.uncertainty.learned import Learned
from mauve_metric.uncertainty.score_warnings import ScoreWarning


class Stripped(NamedTuple):
    """How many texts of a set one rule of `strip` changed."""

    rule: str
    texts: int


class NormalisedScore(NamedTuple):
    """The learned score of the same texts with each run of white space as one blank and without capital letters."""

    mauve_classifier: float
    mauve_classifier_ci: tuple[float, float]
    auc: float
    auc_ci: tuple[float, float]


@dataclass(frozen=True)
class ResultNumbers:
    """What a `MauveResult` holds; its fields are explained there."""

    mauve: float
    mauve_debiased: float | None
    mauve_stderr: float | None
    mauve_ci: tuple[float, float] | None
    ci_scope: str
    mauve_ceiling: float
    mauve_ceiling_std: float
    mauve_floor: float
    mauve_star: float
    mauve_exact: float
    mauve_mean: float
    mauve_std: float | None
    mauve_runs: Floats
    p_value: float | None
    frontier_integral: float
    frontier_integral_debiased: float | None
    frontier_integral_stderr: float | None
    frontier_integral_ci: tuple[float, float] | None
    frontier_integral_star: float
    jensen_shannon: float | None
    precision: float | None
    recall: float | None
    density: float | None
    coverage: float | None
    prd_precision: float
    prd_recall: float
    prd_area: float
    frechet_distance: float | None
    design: Design
    n_p: int
    n_q: int
    p_prompts: int | None
    q_prompts: int | None
    num_buckets: int
    p_dropped: int
    q_dropped: int
    p_truncated: int
    q_truncated: int
    p_stripped: tuple[Stripped, ...]
    q_stripped: tuple[Stripped, ...]
    p_median_length: float | None
    q_median_length: float | None
    warnings: tuple[ScoreWarning, ...]
    signature_entries: Mapping[str, object] = field(repr=False, metadata={"in_dict": False})
    signature: str = field(init=False)
    p_hist: Floats
    q_hist: Floats
    divergence_curve: Floats
    prd_curve: Floats
    curve_mixtures: Floats = field(repr=False, metadata={"in_dict": False})
    curve_band: CurveBand | None = field(repr=False, metadata={"in_dict": False})
    p_labels: Labels = field(repr=False, metadata={"in_dict": False})
    q_labels: Labels = field(repr=False, metadata={"in_dict": False})
    mauve_classifier: float | None = None
    mauve_classifier_stderr: float | None = None
    mauve_classifier_ci: tuple[float, float] | None = None
    auc: float | None = None
    auc_ci: tuple[float, float] | None = None
    auc_p_value: float | None = None
    format_auc: float | None = None
    format_aucs: Mapping[str, float] | None = None
    normalised: NormalisedScore | None = None
    learned: Learned | None = field(default=None, repr=False, metadata={"in_dict": False})
    by_featurizer: Mapping[str, ResultNumbers] = field(default_factory=dict, repr=False, metadata={"in_dict": False})

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python floats, integers, strings and lists, fit for JSON."""
        return {
            item.name: plain(getattr(self, item.name)) for item in fields(self) if item.metadata.get("in_dict", True)
        }


Side = Literal["too much", "missed", "even"]


class NearText(NamedTuple):
    """A text near a bucket's centre.

    row: its number in its set. distance: from the centre, in projected space. in_bucket: whether it is one of the
    bucket's texts. text: None where only features were given.
    """

    row: int
    distance: float
    in_bucket: bool
    text: str | None


@dataclass(frozen=True)
class GapBucket:
    """One bucket's part in the gap.

    Attributes:
        bucket: its number. rank: 1 for the largest contribution.
        side: "too much": the model puts a larger share of its texts here than people do (Type I); "missed": a smaller
            one (Type II); "even".
        contribution: in [0, 1], see `gap.contributions`. share: of the gap, in [0, 1].
        type_one, type_two: the contribution under its side's name, 0 under the other.
        p_count, q_count: human and model texts in it.
        p_value: of "equal shares", corrected for the number of buckets. noise: not significant at the config's level.
        overlap, other_rank: Jaccard index in [0, 1] of the bucket of a clustering with the next seed that has most of
            its texts, and that bucket's rank there: how stable the finding is.
        words: words and phrases that tell its texts apart from all others.
        p_words, q_words: what tells its human texts apart from the model texts around its centre, and its model texts
            from the human ones there. repeated: phrases that its model texts repeat.
        p_texts, q_texts: the texts of both sides nearest to its centre.
    """

    bucket: int
    rank: int
    side: Side
    contribution: float
    share: float
    type_one: float
    type_two: float
    p_count: int
    q_count: int
    p_value: float
    noise: bool
    overlap: float
    other_rank: int
    words: tuple[str, ...]
    p_words: tuple[str, ...]
    q_words: tuple[str, ...]
    repeated: tuple[str, ...]
    p_texts: tuple[NearText, ...]
    q_texts: tuple[NearText, ...]


class ScoredText(NamedTuple):
    """A text with the score of a classifier that was not fitted to it.

    row: its number in its set. score: above 0 on the model's side. text: None where only features were given.
    """

    row: int
    score: float
    text: str | None


@dataclass(frozen=True)
class ExplanationNumbers:
    """What an `Explanation` holds; its fields are explained there."""

    result: ResultNumbers
    gap: float
    type_one: float
    type_two: float
    noise: float
    contributions: Floats
    p_values: Floats = field(repr=False)
    buckets: tuple[GapBucket, ...] = field(repr=False)
    most_human: tuple[ScoredText, ...] = field(default=(), repr=False)
    most_model: tuple[ScoredText, ...] = field(default=(), repr=False)
    ngrams: tuple[NgramUse, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, fit for JSON; the result under "result"."""
        values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "result"}
        return {name: plain(value) for name, value in values.items()} | {"result": self.result.to_dict()}


class OwnScore(NamedTuple):
    """The literature's MAUVE of one model and the human set, on buckets of their own: `compute_mauve`'s `mauve`."""

    mauve: float
    num_buckets: int
    p_value: float | None
    signature: str


@dataclass(frozen=True)
class Difference:
    """Whether two models differ.

    Attributes:
        a, b: names.
        difference: debiased MAUVE of a minus that of b, in [-1, 1].
        ci: its interval at the config's level; None where a score has no error at all (see `MauveResult`).
        p_value: of "no difference", for this pair alone, on the safe side (see `differences.difference_of`); in (0, 1],
            one too small for a float is stored as 2.2e-308, the smallest normal one; likewise.
        real: significant at 1 - level with Holm's correction for the number of pairs that have a p-value.
        stderr: standard error of the difference; None where there is no interval.
    """

    a: str
    b: str
    difference: float
    ci: tuple[float, float] | None
    p_value: float | None
    real: bool
    stderr: float | None = field(metadata={"in_dict": False})

    def to_dict(self) -> dict[str, Any]:
        """The fields but for the standard error, fit for JSON."""
        return {name: plain(getattr(self, name)) for name in ("a", "b", "difference", "ci", "p_value", "real")}


@dataclass(frozen=True)
class ComparisonNumbers:
    """What a `Comparison` holds; its fields are explained there."""

    models: Mapping[str, ResultNumbers]
    own: dict[str, OwnScore]
    ranking: tuple[str, ...]
    differences: tuple[Difference, ...]
    confidence_level: float
    design: Design
    smallest_difference: float | None
    texts_needed: int | None
    warnings: tuple[ScoreWarning, ...]
    signature_entries: Mapping[str, object] = field(repr=False)
    signature: str = field(init=False)
    explanations: Mapping[str, ExplanationNumbers] = field(repr=False)
    by_featurizer: Mapping[str, ComparisonNumbers] = field(default_factory=dict, repr=False)
    learned_ranking: tuple[str, ...] = ()
    learned_differences: tuple[Difference, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", format_signature(self.signature_entries))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the explanations as plain Python values, fit for JSON.

        `models` holds for each name the result's own dict; `mauve_own` the literature's score.
        """
        return {
            "models": {name: result.to_dict() for name, result in self.models.items()},
            "differences": [difference.to_dict() for difference in self.differences],
            "mauve_own": {name: own.mauve for name, own in self.own.items()},
            "own": {name: plain(own) for name, own in self.own.items()},
            "ranking": list(self.ranking),
            "learned_ranking": list(self.learned_ranking),
            "learned_differences": [difference.to_dict() for difference in self.learned_differences],
            "confidence_level": self.confidence_level,
            "design": self.design,
            "smallest_difference": self.smallest_difference,
            "texts_needed": self.texts_needed,
            "warnings": plain(self.warnings),
            "signature": self.signature,
        }


class Described(NamedTuple):
    """One measure of one model.

    value: the number. difference: from the human texts' value; None where the measure is of both sets.
    ci: the interval of the difference, where there is one, else of the value; None where none can be had honestly.
    p_value: of "both sets are draws from one distribution", None without a test.
    """

    value: float
    difference: float | None = None
    ci: tuple[float, float] | None = None
    p_value: float | None = None
