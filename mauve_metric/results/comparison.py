"""Several models against one human set: results, ranking, differences, and changes since an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mauve_metric.measures.groups import Design
from mauve_metric.results.document import Column, Document, Heading, Part, Preformatted, Prose, Table, TableRow
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.first_screen import caveats, comparison_screen, paper_table, ranking_sentence, verdict_words
from mauve_metric.results.plain_text import printable
from mauve_metric.results.rendering import AsDict, SignedResult, plain, report_page, save_page
from mauve_metric.results.result import WARNING_COLUMNS, MauveResult, codes_of
from mauve_metric.results.signature import VERSIONS
from mauve_metric.results.wording import words
from mauve_metric.uncertainty.score_warnings import ScoreWarning

if TYPE_CHECKING:
    import altair as alt

MODEL_COLUMNS = (
    Column("rank", "rank", "d"),
    Column("model", "model"),
    *Column.each(".4f", "closeness", "low", "high", mauve_debiased="by groups", mauve_classifier="by classifier"),
    Column("auc", "AUC", ".3f"),
    *Column.each(".4f", mauve_own="MAUVE", mauve="shared MAUVE"),
    *Column.each(".3f", "precision", "recall"),
    Column("frontier_integral", "frontier int.", ".4f"),
    Column("n", "texts", "d"),
)
SUBGROUP_COLUMNS = (
    *Column.each("s", label="subgroup", model="model"),
    *Column.each("d", n_p="human", n_q="texts"),
    *Column.each(".3f", "recall", "coverage", coverage_low="low", coverage_high="high"),
    Column("missed", "missed"),
    *Column.each(".4f", "closeness", "low", "high"),
    Column("auc", "AUC", ".3f"),
)
CSV_COLUMNS = (  # what the table of models has in CSV besides: the difference from the first one
    *Column.each("s", "difference", "difference_low", "difference_high", "difference_p", "differs"),
    *WARNING_COLUMNS,
)
TEST_COLUMN = Column("p_value", "p", ".2g")
FEATURIZER_COLUMN = Column("featurizer", "featurizer")
DIFFERENCE_COLUMNS = (
    *Column.each("s", a="model", b="against"),
    *Column.each("+.4f", "difference", "low", "high"),
    TEST_COLUMN,
    Column("real", "real"),
)
_ROUNDING = 1e-9
_MAY_DIFFER = ("n_q", "q_digest", "q_texts", *VERSIONS)  # entries of the signatures of two runs


class OwnScore(NamedTuple):
    """The literature's MAUVE of one model and the human set, on buckets of their own: `compute_mauve`'s `mauve`."""

    mauve: float
    num_buckets: int
    p_value: float | None
    signature: str


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


@dataclass(frozen=True)
class Comparison(SignedResult):
    """Several models' scores against one human set, and their differences.

    Attributes:
        models: the result of each model on the partition that all share, in the order given.
        own: each model's MAUVE on buckets of its own, as the literature computes it.
        ranking: names by falling `closeness`. ranked_by: "closeness", or "groups" where the closeness of all models is
            near 0, so that it does not order them: then it is the debiased score by groups of similar texts.
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
    """

    models: dict[str, MauveResult]
    own: dict[str, OwnScore]
    ranking: tuple[str, ...]
    ranked_by: Literal["closeness", "groups"]
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
    learned_ranking: tuple[str, ...] = ()
    learned_differences: tuple[Difference, ...] = ()
    together_ranking: tuple[str, ...] = ()
    together_differences: tuple[Difference, ...] = ()
    subgroups: tuple[Subgroup, ...] = ()
    by_subgroup: Mapping[str, Comparison] = field(default_factory=dict, repr=False, metadata={"in_dict": False})

    def to_dict(self) -> dict[str, Any]:
        """Everything but the explanations as plain Python values, fit for JSON.

        `models` holds for each name the result's own dict; `mauve_own` the literature's score. With several featurizers
        also `by_featurizer`, the dict of each; with `by` also `by_subgroup`.
        """
        values = super().to_dict() | {"mauve_own": {name: own.mauve for name, own in self.own.items()}}
        if self.by_featurizer:
            values |= {"by_featurizer": plain(self.by_featurizer)}
        return values | ({"by_subgroup": plain(self.by_subgroup)} if self.by_subgroup else {})

    def first_screen(self, title: str = "", more: str = "") -> str:
        """The models in order, what differs, and at most three notes; title, more: its first and last line."""
        return comparison_screen(self, title, more)

    def summary(self) -> str:
        """The models in order with their verdicts and closeness, a line each."""
        return "\n".join(f"{printable(name)}: {self.models[name].summary()}" for name in self.ranking)

    def __str__(self) -> str:
        return self.first_screen()

    def document(self) -> Document:
        """Build the document: first screen, warnings, the table of models, and those of the differences."""
        first, tables = next(iter(self.models.values())), self._tables()
        models = f"{len(self.models)} model{'' if len(self.models) == 1 else 's'}"
        level = f"Intervals: {100 * self.confidence_level:g} %, {first.ci_scope}."
        several = [words.DIFFERENCE_NOTE] if len(self.differences) > 1 else []
        warnings = words.warnings_prose(words.collected_warnings(self))
        parts: list[Part] = [Preformatted(self.first_screen()), warnings]
        models_table = tables["models"]
        unranked = all(row["rank"] is None for row in models_table.rows)
        shown = [column for column in models_table.columns if not (unranked and column.key == "rank")]
        parts += [models_table._replace(columns=shown), Prose([*words.notes(self), level])]
        parts += [tables["differences"], Prose([*several, words.forecast_sentence(self)])]
        for title, key in (
            (words.LEARNED_DIFFERENCES, "learned_differences"),
            (words.TOGETHER_DIFFERENCES, "together_differences"),
        ):
            parts += [Heading(title), tables[key]] if tables[key].rows else []
        if self.subgroups:
            parts += [Heading("Subgroups"), Prose([words.missed_sentence(self.subgroups)])]
            parts += [tables["subgroups"], Prose([words.SUBGROUP_NOTE])]
        others = [(printable(name), one.signature) for name, one in [*self.by_featurizer.items()][1:]]
        tables |= {"models": models_table._replace(columns=(*models_table.columns, *CSV_COLUMNS))}
        title = f"{models} against {first.n_p} human texts, {first.num_buckets} common buckets"
        called = words.with_labels(self)
        paper = paper_table({name: (called.models[name], called.own[name].mauve) for name in called.ranking})
        below = [ranking_sentence(self)] if len(self.models) > 1 else []
        below += caveats(called.models)
        return Document(title, parts, tables, [("", self.signature), *others], (paper, below))

    def plot(self) -> alt.VConcatChart:
        """The figures as one Altair chart (see `mauve_metric.results.charts.of_comparison`)."""
        from mauve_metric.results.charts import of_comparison

        return of_comparison.comparison_chart(self)

    def save_report(self, path: str | Path, measures: Document | None = None) -> Path:
        """Write one HTML page with tables, figures, warnings, buckets and signatures, that needs no network.

        Args:
            path: of the page, which ends in .html or .htm.
            measures: the document of a description of the same models, which is added.
        """
        return save_page(path, lambda: report_page(self, measures))

    def _tables(self) -> dict[str, Table]:
        """The tables of models and differences, each featurizer's rows under its name where there are several."""
        each = words.each_featurizer(self)
        before = (FEATURIZER_COLUMN,) if len(each) > 1 else ()
        tested = (TEST_COLUMN,) if any(result.p_value is not None for result in self.models.values()) else ()

        def table(columns: Sequence[Column], rows: Callable[[Comparison], list[TableRow]]) -> Table:
            return Table(
                (*before, *columns), [row | {"featurizer": name} for name, one in each.items() for row in rows(one)]
            )

        return {
            "models": table((*MODEL_COLUMNS, *tested), _model_rows),
            "differences": table(DIFFERENCE_COLUMNS, lambda one: _difference_rows(one.differences)),
            "learned_differences": table(DIFFERENCE_COLUMNS, lambda one: _difference_rows(one.learned_differences)),
            "together_differences": Table(
                DIFFERENCE_COLUMNS, _difference_rows(words.with_labels(self).together_differences)
            ),
            "subgroups": table(SUBGROUP_COLUMNS, _subgroup_rows),
        }


def _is_ranked(comparison: Comparison) -> bool:
    """Return whether any models are told apart and none is in doubt, so that a rank means something."""
    doubtful = any(result.verdict == "no verdict" for result in comparison.models.values())
    return any(pair.real for pair in comparison.differences) and not doubtful


def _model_rows(comparison: Comparison) -> list[TableRow]:
    """The rows of one featurizer, the best model first; equal models share a rank, and without a difference none."""
    is_ranked = _is_ranked(comparison)
    equal = {(item.a, item.b) for item in comparison.differences if item.difference == 0}
    rows: list[TableRow] = []
    for place, name in enumerate(comparison.ranking):
        rank = rows[-1]["rank"] if place and (comparison.ranking[place - 1], name) in equal else place + 1
        rank = rank if is_ranked else None
        result, own = comparison.models[name], comparison.own[name].mauve
        columns = (*MODEL_COLUMNS, TEST_COLUMN)
        rows.append(Table.row(columns, result, "closeness_ci", rank=rank, model=name, mauve_own=own, n=result.n_q))
        rows[-1] |= {"verdict": verdict_words(result), "warnings": codes_of(result.warnings)}
        first = next(
            (item for item in comparison.differences if (item.a, item.b) == (comparison.ranking[0], name)), None
        )
        low, high = (None, None) if first is None else first.ci or (None, None)
        rows[-1] |= {
            "difference": None if first is None else -first.difference,
            "difference_low": None if high is None else -high,
            "difference_high": None if low is None else -low,
            "difference_p": None if first is None else first.p_value,
            "differs": None if first is None else "yes" if first.real else "no",
        }
    return rows


def _subgroup_rows(comparison: Comparison) -> list[TableRow]:
    """A row a label and model: its recall, and the scores on the texts of the label."""
    rows = []
    for item in comparison.subgroups:
        own = comparison.by_subgroup.get(item.label)
        scores = Table.row(SUBGROUP_COLUMNS, own and own.models.get(item.model), "closeness_ci")
        low, high = item.coverage_ci or (None, None)
        missed = None if item.missed is None else "yes" if item.missed else "no"
        rows.append(scores | item._asdict() | {"coverage_low": low, "coverage_high": high, "missed": missed})
    return rows


def _difference_rows(differences: Sequence[Difference]) -> list[TableRow]:
    return [
        Table.row(DIFFERENCE_COLUMNS, item, real="yes" if item.real else "no" if item.ci else None)
        for item in differences
    ]
