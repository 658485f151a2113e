"""Several models against one human set: results, ranking, differences, and changes since an earlier run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mauve_metric.measures.groups import Design
from mauve_metric.measures.p_values import holm
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.methods import AsDict, SignedResult, plain
from mauve_metric.results.result import MauveResult
from mauve_metric.results.runs import RunsSummary, difference_of_runs, summarize_runs
from mauve_metric.runtime.checks import check_string, quoted, shown, wrong
from mauve_metric.runtime.plain_text import printable
from mauve_metric.uncertainty.intervals import Estimate
from mauve_metric.uncertainty.score_warnings import ScoreWarning

if TYPE_CHECKING:
    import altair as alt

    from mauve_metric.report.document import Document


class OwnScore(NamedTuple):
    """The literature's MAUVE of one model and the human set, on buckets of their own, as of `compute_mauve`.

    mauve_ceiling: what two human sets of these sizes reach there; None in results that older versions stored.
    """

    mauve: float
    num_buckets: int
    p_value: float | None
    signature: str
    mauve_ceiling: float | None = None


@dataclass(frozen=True)
class Difference(AsDict):
    """Difference of two models and its significance.

    Attributes:
        a, b: names.
        difference: closeness of a minus that of b, or the score that the models are ranked by, in [-1, 1].
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


def tested_differences(
    values: Mapping[tuple[str, str], float], tested: Mapping[tuple[str, str], Estimate], level: float
) -> tuple[Difference, ...]:
    """The differences of pairs with Holm's correction over all that are tested.

    Args:
        values: the difference of each pair of names, first minus second. tested: of those that have an interval.
    """
    corrected = dict(zip(tested, holm([test.p_value for test in tested.values()]), strict=True))
    return tuple(
        Difference(a, b, test.value, test.ci, test.p_value, bool(corrected[a, b] < 1 - level), test.stderr)
        if (test := tested.get((a, b))) is not None
        else Difference(a, b, value, None, None, False, None)
        for (a, b), value in values.items()
    )


def ranking_score(result: MauveResult) -> float | None:
    """The closeness by which a model is ranked: without the layout that makes a difference, where that is known."""
    return result.closeness if result.closeness_without_layout is None else result.closeness_without_layout


def layout_effect_is_unknown(values: Mapping[str, Any]) -> bool:
    """Return whether layout may make a difference of unknown size: of features alone, or where it was not tried.

    values: the fields of a result.
    """
    if values.get("closeness_without_layout") is not None or values.get("verdict") == "no verdict":
        return False
    return values.get("verdict_reason") == "layout" or values.get("format_auc") is None


def comparable_without_layout(results: Mapping[str, MauveResult]) -> dict[str, MauveResult]:
    """Results to rank: with their scores without layout only where these are known for all whose layout matters."""
    unknown = next((name for name, result in results.items() if layout_effect_is_unknown(vars(result))), None)
    if unknown is None:
        return {**results}
    removed: dict[str, Any] = dict.fromkeys(("closeness_without_layout", "closeness_without_layout_ci", "normalised"))
    removed |= {"bounds_without_layout": (), "by_layout_alone": False}
    removed["normalised_missing"] = f"that of {unknown} is not known"
    return {
        name: result if result.closeness_without_layout is None else replace(result, **removed)
        for name, result in results.items()
    }


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


@dataclass(frozen=True, eq=False)
class Comparison(SignedResult):
    """Several models' scores against one human set, and their differences.

    Attributes:
        models: the result of each model on the partition that all share, in the order given.
        own: each model's MAUVE on buckets of its own, as the literature computes it.
        ranking: names by falling `closeness`, or `closeness_without_layout` where there is one. ranked_by: "closeness",
            or "precision" where the closeness of all models is near 0, so that it does not order them, and "groups"
            where precision is not known either: then it is the debiased score by groups of similar texts.
        recall_ranking, recall_differences: the second order where models are ranked by precision; empty else.
        differences: of every pair, the better ranked model first.
        confidence_level: of the intervals. design: whether texts share prompts: "independent", "aligned"
            (row i of every set answers prompt i) or "prompts".
        smallest_difference: between the two best that these sets would show with 80 % probability; None for one model.
        texts_needed: of each set, to tell the two best apart with 80 % probability if they differ by what was seen;
            None for one model or no difference at all.
        warnings: about the comparison; those about a model are in its result.
        signature_entries: what fixes the comparison, in order. signature: the same as `key:value|key:value|…`.
        explanations: for each model the buckets that make its gap; empty if not asked for.
        by_featurizer: with several featurizers the comparison of each by its name, the first being this one; else
            empty. Tables have the rows of all, figures the intervals of all.
        learned_ranking: names by falling `mauve_classifier`, of the models that have one.
        learned_differences: of every pair of these, the better one first; their intervals allow for the human texts
            and the prompts that two scores share.
        subgroups: with `by`, each model's recall and coverage of the human texts of each label; else
            empty. by_subgroup: the comparison of the texts of each label that human texts and models have enough of.
        together_ranking, together_differences: the same of the learned scores by one classifier of the features of all
            featurizers, which are in each model's `together`; empty for one featurizer.
        runs: of a model with several runs, such as seeds, their mean and its interval; see `with_runs`. runs_ranking,
            runs_differences: of the models that have some, by the mean over runs of the score that `ranking` is by;
            intervals and tests are over other runs and other texts (see `runs.difference_of_runs`).
    """

    models: dict[str, MauveResult]
    own: dict[str, OwnScore]
    ranking: tuple[str, ...]
    ranked_by: Literal["closeness", "precision", "groups"]
    differences: tuple[Difference, ...]
    confidence_level: float
    design: Design
    smallest_difference: float | None
    texts_needed: int | None
    warnings: tuple[ScoreWarning, ...]
    signature_entries: Mapping[str, object] = field(repr=False, metadata={"in_dict": False})
    signature: str = field(init=False)
    explanations: dict[str, Explanation] = field(repr=False, metadata={"in_dict": False})
    by_featurizer: Mapping[str, Comparison] = field(default_factory=dict, repr=False, metadata={"in_dict": False})
    recall_ranking: tuple[str, ...] = ()
    recall_differences: tuple[Difference, ...] = ()
    learned_ranking: tuple[str, ...] = ()
    learned_differences: tuple[Difference, ...] = ()
    together_ranking: tuple[str, ...] = ()
    together_differences: tuple[Difference, ...] = ()
    subgroups: tuple[Subgroup, ...] = ()
    by_subgroup: Mapping[str, Comparison] = field(default_factory=dict, repr=False, metadata={"in_dict": False})
    runs: Mapping[str, RunsSummary] = field(default_factory=dict)
    runs_ranking: tuple[str, ...] = ()
    runs_differences: tuple[Difference, ...] = ()

    @property
    def reference_name(self) -> str:
        """The name of the reference texts, that of every result."""
        return next(iter(self.models.values())).reference_name

    def with_reference_name(self, name: str) -> Comparison:
        """The same comparison, whose sentences and tables call the reference texts by this name."""
        return replace(
            self,
            models={label: result.with_reference_name(name) for label, result in self.models.items()},
            explanations={
                label: replace(gap, result=gap.result.with_reference_name(name))
                for label, gap in self.explanations.items()
            },
            by_featurizer={label: each.with_reference_name(name) for label, each in self.by_featurizer.items()},
            by_subgroup={label: each.with_reference_name(name) for label, each in self.by_subgroup.items()},
        )

    def with_runs(self, runs: Mapping[str, Sequence[str]]) -> Comparison:
        """The comparison with the means of models of which several runs were compared, such as seeds, and differences.

        Args:
            runs: by the name of a model the names of its runs, two or more of `models`.

        Raises:
            TypeError: not names of runs by model.
            ValueError: a name that is not among the models; a run of two models; fewer than two runs.
        """
        if not isinstance(runs, Mapping) or not all(isinstance(names, (list, tuple)) for names in runs.values()):
            raise TypeError(f"runs must be a dict from names of models to lists of names, got {shown(runs)}")
        few = next((model for model, names in runs.items() if len(names) < 2), None)
        if few is not None:
            raise ValueError(f"runs[{few!r}] must name two runs or more, got {len(runs[few])}")
        if not runs:
            return self
        unknown = [name for names in runs.values() for name in names if name not in self.models]
        if unknown:
            raise ValueError(f"runs must name models of the comparison, {quoted([*self.models])}, got {unknown[0]!r}")
        every = [name for names in runs.values() for name in names]
        twice = next((name for name in every if every.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"runs must name each run once, got {twice!r} twice")
        mauve_of = {name: score.mauve for name, score in self.own.items()}
        summaries = {
            model: summarize_runs({name: self.models[name] for name in names}, mauve_of, self.confidence_level)
            for model, names in runs.items()
        }
        ranking, differences = _ranked_runs(self.differences, runs, self.confidence_level)
        return replace(self, runs=summaries, runs_ranking=ranking, runs_differences=differences)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the explanations as plain Python values, fit for JSON.

        `models` holds for each name the result's own dict; `mauve_own` the literature's score. With several featurizers
        also `by_featurizer`, the dict of each; with `by` also `by_subgroup`.
        """
        values = super().to_dict() | {"mauve_own": {name: score.mauve for name, score in self.own.items()}}
        if self.by_featurizer:
            values |= {"by_featurizer": plain(self.by_featurizer)}
        return values | ({"by_subgroup": plain(self.by_subgroup)} if self.by_subgroup else {})

    def first_screen(self, title: str = "", more: str = "") -> str:
        """The models in order, what differs, and at most three notes; title, more: its first and last line."""
        from mauve_metric.report.first_screen import comparison_screen

        return comparison_screen(self, check_string("title", title), check_string("more", more))

    def summary(self) -> str:
        """The models in order with their verdicts and closeness, a line each."""
        return "\n".join(f"{printable(name)}: {self.models[name].summary()}" for name in self.ranking)

    def __str__(self) -> str:
        return self.first_screen()

    def document(self) -> Document:
        """Build the document: first screen, warnings, the table of models, and those of the differences."""
        from mauve_metric.report import result_documents

        return result_documents.of_comparison(self)

    def plot(self) -> alt.VConcatChart:
        """The figures as one Altair chart (see `mauve_metric.report.charts.of_comparison`)."""
        from mauve_metric.report.charts import of_comparison

        return of_comparison.comparison_chart(self)

    def save_report(self, path: str | Path, measures: Document | None = None) -> Path:
        """Write one HTML page with tables, figures, warnings, buckets and signatures, that needs no network.

        Args:
            path: of the page, which ends in .html or .htm.
            measures: the document of a description of the same models, which is added.
        """
        from mauve_metric.report.document import Document
        from mauve_metric.report.html_and_images import report_page, save_page

        if measures is not None and not isinstance(measures, Document):
            raise wrong("measures", "the document of a description or None", measures)
        return save_page(path, lambda: report_page(self, measures))


def _ranked_runs(
    differences: Sequence[Difference], runs: Mapping[str, Sequence[str]], level: float
) -> tuple[tuple[str, ...], tuple[Difference, ...]]:
    """Models with several runs by falling mean score, and the differences of all their pairs.

    Args:
        differences: of every two runs, the better one first, in the order of their ranking.
    """
    best = differences[0].a
    scores = {best: 0.0} | {pair.b: -pair.difference for pair in differences if pair.a == best}
    means = {model: fmean(scores[name] for name in names) for model, names in runs.items()}
    ranking = tuple(sorted(means, key=lambda model: means[model], reverse=True))
    pairs = {
        (pair.a, pair.b): Estimate(pair.difference, pair.stderr, pair.ci)
        for pair in differences
        if pair.ci is not None and pair.stderr is not None
    }
    values = {(a, b): means[a] - means[b] for a, b in itertools.combinations(ranking, 2)}
    tested = {
        (a, b): difference_of_runs(pairs, runs[a], runs[b], level)
        for a, b in values
        if all({pair, pair[::-1]} & {*pairs} for pair in itertools.combinations([*runs[a], *runs[b]], 2))
    }
    return ranking, tested_differences(values, tested, level)
