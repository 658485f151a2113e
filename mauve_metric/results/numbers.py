"""The records that results, comparisons, explanations and descriptions hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from mauve_metric.results.plain import values_of
from mauve_metric.uncertainty.learned import Learned


class Stripped(NamedTuple):
    """Number of texts of a set that one rule of `strip` changed."""

    rule: str
    texts: int


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
        p_words, q_words: words that separate its human texts from the model texts around its centre, and its model
            texts from the human ones there. repeated: phrases that its model texts repeat.
        p_texts, q_texts: the texts of both sides nearest to its centre.
        composition: with `by`, its human and its model texts of each label, for labels that it holds.
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
    composition: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def texts(self) -> list[tuple[str, NearText]]:
        """The texts of both sides, each with the name of its side."""
        return [*(("human", near) for near in self.p_texts), *(("model", near) for near in self.q_texts)]


class ScoredText(NamedTuple):
    """A text with the score of a classifier that was not fitted to it.

    row: its number in its set. score: above 0 on the model's side. text: None where only features were given.
    """

    row: int
    score: float
    text: str | None


class LearnedScore(NamedTuple):
    """A score on learned buckets with the AUC of its classifier, and their intervals."""

    mauve_classifier: float
    mauve_classifier_ci: tuple[float, float]
    auc: float
    auc_ci: tuple[float, float]

    @classmethod
    def of(cls, found: Learned) -> LearnedScore:
        """The numbers of a learned score."""
        return cls(found.mauve, found.ci, found.auc, found.auc_ci)


class OwnScore(NamedTuple):
    """The literature's MAUVE of one model and the human set, on buckets of their own: `compute_mauve`'s `mauve`."""

    mauve: float
    num_buckets: int
    p_value: float | None
    signature: str


@dataclass(frozen=True)
class Difference:
    """Difference of two models and its significance.

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
        return values_of(self)


class Subgroup(NamedTuple):
    """Recall and coverage of one subgroup of the human texts by one model, in [0, 1], higher is better.

    label, model: their names. n_p, n_q: human and model texts of the subgroup; n_q is None where the model's texts
    have no labels. recall: share of its human texts within the support of all the model's texts; None for fewer than
    ten, as all that follow. coverage: share of its human texts whose ball holds a text of the model. recall_ci,
    coverage_ci: intervals. coverage_of_others: that of all other human texts. missed: whether the coverage is lower
    than that by more than chance.
    """

    label: str
    model: str
    n_p: int
    n_q: int | None
    recall: float | None = None
    recall_ci: tuple[float, float] | None = None
    coverage: float | None = None
    coverage_ci: tuple[float, float] | None = None
    coverage_of_others: float | None = None
    missed: bool | None = None


class Described(NamedTuple):
    """One measure of one model.

    value: the number. difference: from the human texts' value; None where the measure is of both sets.
    ci: the interval of the difference, where there is one, else of the value; None if no valid interval is known.
    no_interval: the reason, where the sets are why.
    p_value: of "both sets are draws from one distribution", None without a test.
    """

    value: float
    difference: float | None = None
    ci: tuple[float, float] | None = None
    p_value: float | None = None
    no_interval: str = ""
