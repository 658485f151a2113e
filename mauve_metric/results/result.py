"""The result of a comparison of two sets: scores, intervals, warnings, signature."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

from mauve_metric.arrays import Floats, Labels
from mauve_metric.measures.groups import Design
from mauve_metric.options import HUMAN, RunOptions
from mauve_metric.results.methods import SignedResult, plain
from mauve_metric.results.signature import is_published_setting, signature_number
from mauve_metric.runtime.checks import check_string, shown, wrong
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.uncertainty.closeness import Bound
from mauve_metric.uncertainty.jackknife import CurveBand
from mauve_metric.uncertainty.learned_score import Learned
from mauve_metric.uncertainty.score_warnings import ScoreWarning

if TYPE_CHECKING:
    import altair as alt

    from mauve_metric.report.document import Document

VerdictWord: TypeAlias = Literal["like human", "different", "undecided", "no verdict"]
VERDICT_NUMBERS: Mapping[VerdictWord, float] = {  # where only numbers can be logged
    "like human": 1.0,
    "undecided": 0.0,
    "different": -1.0,
    "no verdict": math.nan,
}


class Stripped(NamedTuple):
    """Number of texts of a set that one rule of `strip` changed."""

    rule: str
    texts: int


class WrittenText(NamedTuple):
    """A text that a model wrote for a score.

    prompt: what it continues or answers, "" for none. continuation: what was written. text: what is scored, with or
    without the prompt. tokens: how many were written; None where that is not known.
    """

    prompt: str
    continuation: str
    text: str
    tokens: int | None


class LearnedScore(NamedTuple):
    """A score on learned buckets with the AUC of its classifier, and their intervals."""

    mauve_classifier: float
    mauve_classifier_ci: tuple[float, float]
    auc: float
    auc_ci: tuple[float, float]
    mauve_classifier_stderr: float

    @classmethod
    def of(cls, learned: Learned) -> LearnedScore:
        """The numbers of a learned score."""
        return cls(learned.mauve, learned.ci, learned.auc, learned.auc_ci, learned.stderr)


@dataclass(frozen=True, eq=False)
class MauveResult(SignedResult):
    """A MAUVE score with its uncertainty, curves and signature. P is the reference (human) side, Q the model's.

    Direction, range and paper of every score are in `results.scores.SCORES`. None stands for what was not asked
    for or cannot be computed (the errors of a set of one text; the lengths of features).

    Attributes:
        verdict: "like human", "different", "undecided" (more texts would tell) or "no verdict" (the number cannot be
            believed). verdict_reason: for no verdict, or layout that makes the difference, a code of
            `scoring.verdict.REASONS`; else None. shown_by: what shows a difference, "groups" of texts and "classifier",
            of several featurizers with its name, as "classifier by ngrams", and "repeats"; empty if nothing does.
            shown_p_value: the least p-value of the tests that do, corrected for their number; None without one.
        texts_needed: of an undecided verdict, texts a set at which the interval would decide in 8 of 10 cases; None
            for other verdicts, and where that is more than a thousand times as many.
        p_repeated, q_repeated: share of the texts of a set that are copies of another one there, or nearer to one than
            by chance, in [0, 1]. repeats_p_value: of "the model repeats itself no more than the human set does"; None
            where it does not, by `dependence.EXCESS_ERRORS` standard errors.
        repeated_groups: of near-alike texts of the model, where they may be several answers to prompts that were not
            declared; closeness_as_prompts: closeness if they are, with the ends of its interval. Else None.
        closeness, closeness_ci: debiased MAUVE by the sharpest partition at hand, the lowest of `mauve_debiased` (by
            groups of similar texts) and `mauve_classifier` over all featurizers, in [0, 1], higher is better; 1 for
            sets that cannot be told apart. Every partition gives an upper bound of the MAUVE of the distributions. The
            interval is [lowest low, lowest high] of m intervals at level 1 - α/m. None without an interval.
        closeness_without_layout, closeness_without_layout_ci: the same where the difference is in part of layout (the
            reason "layout"): by the classifier of the texts without that layout, and by the featurizers that do not see
            it. Rankings use it. None where there is no such layout, or the score without it is not known.
            by_layout_alone: without that layout no test shows a difference.
        mauve: area under `divergence_curve`, in [0, 1], higher is better (Pillutla et al. 2021, §3).
        mauve_star: the same on Krichevsky–Trofimov smoothed histograms (Pillutla et al. 2023).
        mauve_exact: area under the continuous curve, without the error of the grid of weights.
        mauve_debiased, mauve_debiased_stderr, mauve_debiased_ci: MAUVE without the bias of sampling, its standard
            error, and its interval (low, high) at the config's level.
        mauve_finer, mauve_finer_ci: the same on finer groups, of two or three texts of each set; None below 50 texts.
        ci_scope: what the intervals allow for besides sampling: "for this partition" or "over clusterings".
        mauve_runs, mauve_mean, mauve_std: `mauve` of every clustering (num_runs,), their mean and standard deviation.
        mauve_floor: `mauve_exact` of two sets without a common bucket.
        mauve_ceiling, mauve_ceiling_std: mean and standard deviation of `mauve` of two samples of one distribution of
            these sizes.
        p_value: of the permutation test that both sets come from one distribution.
        mauve_classifier, mauve_classifier_stderr, mauve_classifier_ci: debiased MAUVE on buckets of a classifier's
            held-out scores, in [0, 1], higher is better: what separates the two sets best, where `mauve` follows what
            the texts are about (docs/saturation.md). None below ten texts a side.
        auc, auc_ci, auc_p_value: chance that this classifier scores a model's text above a human one, ½ for sets that
            cannot be told apart, lower is better; and of so large an AUC where both sets have one distribution.
        format_auc, format_aucs: the same AUC of a classifier of the layout that the featurizer sees (line breaks,
            blanks and so on), and of each number of `TRAITS` alone; None where the texts are not known.
        normalised: where layout moves the score (warning `format_differs`), the learned score and AUC of the same texts
            without it.
        normalised_missing: why `normalised` is not there although layout tells the two sets apart, as one clause.
        together: with several featurizers, the learned score and AUC of one classifier of all their features.
        frontier_integral, frontier_integral_star: in [0, 1], lower is better (Liu et al. 2021, §3).
        frontier_integral_debiased, frontier_integral_debiased_stderr, frontier_integral_debiased_ci: as for MAUVE.
        jensen_shannon: ½KL(p‖m) + ½KL(q‖m) at m = ½(p + q), in nats, in [0, ln 2], lower is better.
        precision, recall, density, coverage: from nearest neighbours (Kynkäänniemi 2019; Naeem 2020). precision_ci,
            recall_ci: their intervals, for other texts on both sides (see `support_intervals`). human_halves: the
            precision, or recall, of one random half of the human texts by the other; None for fewer than ten texts in
            a half.
        prd_precision, prd_recall, prd_area: of the exact precision-recall curve of the histograms (Sajjadi 2018).
        frechet_distance: of the features, at least 0, lower is better (Heusel 2017).
        design: of the texts: "aligned" (row i of both sides answers prompt i), "prompts" (groups were
            given), "independent" (so declared), "found" (nothing was declared, and pairs of both sides were found from
            their features or openings) or "undeclared". A score of one design does not compare with one of another.
        partners: model texts that share a prompt with a human text, as declared or found, or are copies of one; None:
            not looked for. pairs_in_step: share of the pairs found from the features that are in the same row of both
            sides, in [0, 1]; None if none were found. Under a true "aligned" it is near 1.
        n_p, n_q: number of texts. p_prompts, q_prompts: of prompts, None in the independent design.
        num_buckets: number of buckets of the histograms.
        p_dropped, q_dropped: empty texts left out on request. p_truncated, q_truncated: texts cut to the featurizer's
            length. p_stripped, q_stripped: how many texts each rule of `strip` changed. p_median_length,
            q_median_length: in tokens.
        p_hist, q_hist: shares of the literature's buckets (`p_labels`, `q_labels`), shape (num_buckets,), from which
            `mauve`, the curves and all other numbers without "debiased" in their name follow. The debiased ones and
            their intervals are means over other clusterings, whose counts are `bounds[0].histograms`.
        divergence_curve: shape (m + 2, 2), see `mauve_metric.measures.frontier.divergence_curve`.
        prd_curve: shape (j, 2): recall, precision.
        warnings: what to know before believing the score.
        signature_entries: what fixes the score, in order. signature: the same as `key:value|key:value|…`.
        bounds, bounds_without_layout: the partitions behind `closeness` and `closeness_without_layout`, with the
            buckets of all texts; not in `to_dict`.
        by_featurizer: with several featurizers the result of each by its name, the first being this one; else empty.
        curve_mixtures: λ, KL(q‖r_λ) and KL(p‖r_λ) of each inner point of `divergence_curve`, shape (m, 3).
        curve_band: the debiased curve and its pointwise band, see `jackknife.frontier_band`.
        learned_p_counts, learned_q_counts: human and model texts in each bucket of `mauve_classifier`, (k,), from the
            most human to the most model-like. The score follows from them by `uncertainty.learned_score.debiased`;
            where texts share prompts, from `bounds[-1].histograms`, the same counts with their groups.
        reference_name: of the reference texts in sentences and tables; "human" unless another was given.
        learned: buckets and ranks of each text by the classifier (see `uncertainty.learned_score.Learned`).
        texts: of `evaluate_model`, what the model wrote, empty texts too; else empty.
        p_labels, q_labels: bucket of each text, shape (n_p,) and (n_q,). These and `signature_entries` are not in
            `to_dict`.
    """

    mauve: float
    mauve_debiased: float | None
    mauve_debiased_stderr: float | None
    mauve_debiased_ci: tuple[float, float] | None
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
    frontier_integral_debiased_stderr: float | None
    frontier_integral_debiased_ci: tuple[float, float] | None
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
    partners: int | None
    pairs_in_step: float | None
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
    normalised: LearnedScore | None = None
    normalised_missing: str | None = None
    together: LearnedScore | None = None
    mauve_finer: float | None = None
    mauve_finer_ci: tuple[float, float] | None = None
    precision_ci: tuple[float, float] | None = None
    recall_ci: tuple[float, float] | None = None
    human_halves: float | None = None
    closeness: float | None = None
    closeness_ci: tuple[float, float] | None = None
    closeness_without_layout: float | None = None
    closeness_without_layout_ci: tuple[float, float] | None = None
    by_layout_alone: bool = False
    verdict: VerdictWord = "no verdict"
    verdict_reason: str | None = None
    shown_by: tuple[str, ...] = ()
    shown_p_value: float | None = None
    texts_needed: int | None = None
    p_repeated: float | None = None
    q_repeated: float | None = None
    repeats_p_value: float | None = None
    repeated_groups: int | None = None
    closeness_as_prompts: tuple[float, float, float] | None = None
    learned_p_counts: tuple[int, ...] | None = None
    learned_q_counts: tuple[int, ...] | None = None
    learned: Learned | None = field(default=None, repr=False, metadata={"in_dict": False})
    reference_name: str = HUMAN
    texts: tuple[WrittenText, ...] = field(default=(), repr=False, metadata={"in_dict": False})
    bounds: tuple[Bound, ...] = field(default=(), repr=False, metadata={"in_dict": False})
    bounds_without_layout: tuple[Bound, ...] = field(default=(), repr=False, metadata={"in_dict": False})
    by_featurizer: Mapping[str, MauveResult] = field(default_factory=dict, repr=False, metadata={"in_dict": False})

    @property
    def confidence_level(self) -> float:
        """The level of the intervals and tests."""
        return signature_number(self.signature_entries, "confidence_level")

    @property
    def is_published_setting(self) -> bool:
        """Return whether `mauve` is the literature's number on these features: buckets and curve are made as there."""
        return is_published_setting(self.signature_entries)

    def to_dict(self) -> dict[str, Any]:
        """Every number as plain Python values, fit for JSON; with several featurizers also `by_featurizer`."""
        return super().to_dict() | ({"by_featurizer": plain(self.by_featurizer)} if self.by_featurizer else {})

    def document(self) -> Document:
        """Build the document: first screen, warnings, every computed score, and the facts behind them.

        With several featurizers also the scores of each, and the warnings and signatures of the others.
        """
        from mauve_metric.report import result_documents

        return result_documents.of_result(self)

    def plot(self) -> alt.VConcatChart:
        """Draw the figures of this result as one Altair chart, which a notebook shows (see `charts.of_result`).

        Raises:
            ImportError: Altair is not installed.
        """
        from mauve_metric.report.charts import of_result

        return of_result.result_chart(self)

    def first_screen(self, title: str = "", more: str = "") -> str:
        """The verdict, closeness and what it rests on, and three notes at most; title, more: first and last line."""
        from mauve_metric.report.first_screen import first_screen

        return first_screen(self, check_string("title", title), check_string("more", more))

    def summary(self) -> str:
        """The verdict and closeness on one line."""
        from mauve_metric.report.first_screen import verdict_line

        return verdict_line(self)

    def with_reference_name(self, name: str) -> Self:
        """The same result, whose sentences and tables call the reference texts by this name.

        Raises:
            WrongOption: it is no name for a sentence.
        """
        name = RunOptions(reference_name=name).reference_name
        if name == self.reference_name:
            return self
        each = {label: result.with_reference_name(name) for label, result in self.by_featurizer.items()}
        return replace(self, reference_name=name, by_featurizer=each)

    def numbers(self, names: Iterable[str]) -> dict[str, float]:
        """Fields as plain floats, for hosts that log numbers only; NaN for one that is not given.

        Args:
            names: of scores; `NAME_ci_low` and `NAME_ci_high` are the ends of the interval `NAME_ci`, and `verdict` is
                1 for "like human", 0 for "undecided", -1 for "different" and NaN for "no verdict".

        Raises:
            WrongOption: these are no names of fields that are numbers.
        """
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise wrong("names", "a list of names of scores", names)
        return {name: self._number(name) for name in names}

    def _number(self, name: str) -> float:
        if name == "verdict":
            return VERDICT_NUMBERS[self.verdict]
        is_end = isinstance(name, str) and name.endswith(("_ci_low", "_ci_high"))
        field_name, end = name.rsplit("_", 1) if is_end else (name, None)
        value = vars(self).get(str(field_name), "")
        if end is not None and isinstance(value, tuple):
            value = value[end == "high"]
        if value is not None and not isinstance(value, (int, float)):
            raise WrongOption.of("names", f"must be names of scores, got {shown(name)}")
        return math.nan if value is None else float(value)

    def __str__(self) -> str:
        return self.first_screen()
