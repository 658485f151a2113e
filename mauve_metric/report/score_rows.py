"""The numbers of one object, a row each, from which every view is made: a featurizer, all of them, a model."""

from __future__ import annotations

from collections.abc import Mapping

from mauve_metric.options import HUMAN
from mauve_metric.report.document import Column, Table, TableRow
from mauve_metric.results.comparison import Comparison, ranking_score
from mauve_metric.results.result import MauveResult
from mauve_metric.runtime.plain_text import digits, printable, shown_names
from mauve_metric.scoring.verdict import is_same

_SMALL = 0.1  # of a score: two decimals of an interval are too few
ALL, TOGETHER = "all", "joined"  # closeness over all featurizers; one classifier of the features of all
FEATURIZER_COLUMN = Column("featurizer", "featurizer")
FEATURIZER_COLUMNS = (
    FEATURIZER_COLUMN,
    *Column.each(".4f", "closeness", "low", "high"),
    Column("decides", "decides"),
    *Column.each(".4f", mauve_debiased="by groups", mauve_finer="by finer groups", mauve_classifier="by classifier"),
    *Column.each(".3f", auc="AUC"),
    Column("mauve", "MAUVE", ".4f"),
    *Column.each(".3f", "precision", "recall"),
    Column("p_value", "p", ".2g"),
)


def with_interval(value: float | None, ends: tuple[float, float] | None, form: str = ".3f", of: str = "") -> str:
    """A score with its interval.

    Args:
        form: of the ends, those of a small score with three decimals. of: form of the score; empty: three decimals.

    >>> with_interval(0.25, (0.2, 0.3), ".2f"), with_interval(None, None)
    ('0.250 [0.20, 0.30]', '–')
    >>> with_interval(0.007, (0.006, 0.009), ".2f")
    '0.007 [0.006, 0.009]'
    """
    if value is None:
        return "–"
    form = ".3f" if form == ".2f" and value < _SMALL else form
    interval = "" if ends is None else f" [{digits(ends[0], form)}, {digits(ends[1], form)}]"
    return digits(value, of or ".3f") + interval


def verdict_words(result: MauveResult) -> str:
    """The verdict, and the code of its reason in brackets."""
    verdict = result.verdict.replace(HUMAN, printable(result.reference_name))
    return verdict + (f" ({result.verdict_reason})" if result.verdict_reason else "")


def picks(auc: float | None) -> str:
    """The AUC of a classifier as times in 100, with the number of chance; empty for none."""
    return "" if auc is None else f"picks the model's text {round(100 * auc)} times in 100 (50 = chance)"


def rows_by_featurizer(result: MauveResult, each: Mapping[str, MauveResult]) -> list[TableRow]:
    """A row for each featurizer, with its own numbers, and one for the classifier of all; the one that decides marked.

    Args:
        result: by all featurizers. each: the result of the same sets by each.
    """
    labels, rows, is_open = shown_names(list(each)), list[TableRow](), True
    for name, single in each.items():
        decides = is_open and is_same(single.closeness, result.closeness)
        is_open = is_open and not decides
        more = {"featurizer": labels[name], "decides": "yes" if decides else None}
        rows.append(Table.row(FEATURIZER_COLUMNS, single, "closeness_ci", **more))
    if (joint := result.together) is not None:
        score, decides = joint.mauve_classifier, is_open and is_same(joint.mauve_classifier, result.closeness)
        more = {"featurizer": TOGETHER, "decides": "yes" if decides else None}
        rows.append(Table.row(FEATURIZER_COLUMNS, joint, "mauve_classifier_ci", closeness=score, **more))
    return rows


def featurizers_table(result: MauveResult) -> Table:
    """One row a featurizer, with the columns that hold anything."""
    return Table(FEATURIZER_COLUMNS, rows_by_featurizer(result, result.by_featurizer)).filled()


def rows_of_model(comparison: Comparison, name: str) -> list[TableRow]:
    """The same of one model of several; none for a single featurizer."""
    each = {label: single.models[name] for label, single in comparison.by_featurizer.items()}
    return rows_by_featurizer(comparison.models[name], each) if len(each) > 1 else []


def parts_of(result: MauveResult) -> list[tuple[str, float, tuple[float, float] | None, bool]]:
    """The scores of one featurizer that closeness is the lowest of: name, score, interval, and if it decides.

    Finer groups are left out where they neither decide nor reach lower than the others.
    """
    scores = [
        ("by groups", result.mauve_debiased, result.mauve_debiased_ci),
        ("by finer groups", result.mauve_finer, result.mauve_finer_ci),
        ("by classifier", result.mauve_classifier, result.mauve_classifier_ci),
    ]
    shown_scores = [(name, value, ends) for name, value, ends in scores if value is not None]
    deciding = next((name for name, value, _ in shown_scores if is_same(value, result.closeness)), "")
    others = [ends[0] for name, _, ends in shown_scores if ends is not None and "finer" not in name]
    low = result.mauve_finer_ci and result.mauve_finer_ci[0] < min(others, default=1.0)
    return [
        (name, value, ends, name == deciding)
        for name, value, ends in shown_scores
        if "finer" not in name or low or name == deciding
    ]


def support_words(result: MauveResult, featurizer: str = "") -> str:
    """The scores that two halves of the human texts reach, beside precision and recall; empty where it is not known."""
    if result.human_halves is None:
        return ""
    by = f" by {featurizer}" if featurizer else ""
    name, share = printable(result.reference_name), digits(result.human_halves, ".2f")
    return f"two halves of the {name} texts reach {share} in both{by}"


def has_layout_scores(comparison: Comparison) -> bool:
    """Return whether the models are ranked by their closeness without layout."""
    return any(result.closeness_without_layout is not None for result in comparison.models.values())


def without_layout_cell(result: MauveResult) -> str:
    """The closeness by which a model is ranked, with its interval."""
    plain = result.closeness_without_layout is not None
    return with_interval(
        ranking_score(result), result.closeness_without_layout_ci if plain else result.closeness_ci, ".2f"
    )
