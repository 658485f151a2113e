"""Results, comparisons and explanations as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mauve_metric.catalogue.table import SCORES
from mauve_metric.results.digits import digits
from mauve_metric.results.document import (
    Column,
    TableRow,
    csv_table,
    latex_table,
    markdown_table,
    markdown_text,
    plain_table,
    wrapped,
)
from mauve_metric.results.names import printable
from mauve_metric.results.numbers import ComparisonNumbers, Difference, ResultNumbers
from mauve_metric.results.wording.joint_comparison import joint_comparison
from mauve_metric.results.wording.joint_verdict import featurizer_columns, featurizer_rows, joint_verdict
from mauve_metric.results.wording.learned_words import LEARNED_DIFFERENCES, learned_ranking, learned_sentence
from mauve_metric.results.wording.verdict import verdict
from mauve_metric.results.wording.words import (
    DIFFERENCE_NOTE,
    collected_warnings,
    comparison_headline,
    conclusion,
    each_featurizer,
    facts,
    forecast_sentence,
    headline,
    notes,
    ranking_verdict,
    result_warnings,
    warning_lines,
)

MODEL_COLUMNS = (
    Column("rank", "rank", "d"),
    Column("model", "model"),
    Column("mauve_debiased", "debiased", ".4f"),
    Column("low", "low", ".4f"),
    Column("high", "high", ".4f"),
    Column("mauve_classifier", "learned", ".4f"),
    Column("auc", "AUC", ".3f"),
    Column("mauve", "MAUVE", ".4f"),
    Column("mauve_own", "MAUVE own", ".4f"),
    Column("precision", "precision", ".3f"),
    Column("recall", "recall", ".3f"),
    Column("frontier_integral", "frontier int.", ".4f"),
    Column("n", "texts", "d"),
)
TEST_COLUMN = Column("p_value", "p", ".2g")
FEATURIZER_COLUMN = Column("featurizer", "featurizer")
DIFFERENCE_COLUMNS = (
    Column("a", "model"),
    Column("b", "against"),
    Column("difference", "difference", "+.4f"),
    Column("low", "low", "+.4f"),
    Column("high", "high", "+.4f"),
    Column("p_value", "p", ".2g"),
    Column("real", "real"),
)


def model_columns(comparison: ComparisonNumbers) -> tuple[Column, ...]:
    """`MODEL_COLUMNS`, before them the featurizers where there are several, and the p-values where there was a test."""
    tested = any(result.p_value is not None for result in comparison.models.values())
    return (*_featurizer_column(comparison), *MODEL_COLUMNS, *((TEST_COLUMN,) if tested else ()))


def difference_columns(comparison: ComparisonNumbers) -> tuple[Column, ...]:
    """`DIFFERENCE_COLUMNS`, before them the featurizers where there are several."""
    return (*_featurizer_column(comparison), *DIFFERENCE_COLUMNS)


def _featurizer_column(comparison: ComparisonNumbers) -> tuple[Column, ...]:
    return (FEATURIZER_COLUMN,) if len(comparison.by_featurizer) > 1 else ()


def model_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    """One row a featurizer and model, each featurizer's best first, by the keys of `model_columns`."""
    return _rows_of_each(comparison, _model_rows)


def difference_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    """One row a featurizer and pair, by the keys of `difference_columns`."""
    return _rows_of_each(comparison, _difference_rows)


def learned_difference_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    """The same of the scores on learned buckets."""
    return _rows_of_each(comparison, _learned_difference_rows)


def _rows_of_each(comparison: ComparisonNumbers, rows: Callable[[ComparisonNumbers], list[TableRow]]) -> list[TableRow]:
    found: list[TableRow] = []
    for name, one in each_featurizer(comparison).items():
        own: TableRow = {"featurizer": name}
        found += [own | row for row in rows(one)]
    return found


def _model_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    """The rows of one featurizer; equal models have the same rank."""
    equal = {(item.a, item.b) for item in comparison.differences if item.difference == 0}
    rows, rank = [], 1
    for place, name in enumerate(comparison.ranking):
        rank = rank if place and (comparison.ranking[place - 1], name) in equal else place + 1
        result = comparison.models[name]
        low, high = result.mauve_ci or (None, None)
        row: TableRow = {"rank": rank, "model": name, "low": low, "high": high, "n": result.n_q}
        for key in (
            "mauve",
            "mauve_debiased",
            "mauve_classifier",
            "auc",
            "precision",
            "recall",
            "frontier_integral",
            "p_value",
        ):
            row[key] = getattr(result, key)
        rows.append(row | {"mauve_own": comparison.own[name].mauve})
    return rows


def _difference_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    return _rows_of_differences(comparison.differences)


def _learned_difference_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    return _rows_of_differences(comparison.learned_differences)


def _rows_of_differences(differences: Sequence[Difference]) -> list[TableRow]:
    rows = []
    for item in differences:
        low, high = item.ci or (None, None)
        values: TableRow = {"a": item.a, "b": item.b, "difference": item.difference, "low": low, "high": high}
        rows.append(values | {"p_value": item.p_value, "real": "yes" if item.real else "no" if item.ci else None})
    return rows


def score_report(result: ResultNumbers, title: str) -> str:
    """The result for people: what it says, warnings, the scores, what they rest on, and the signature."""
    first = headline(result)
    lines = [printable(title), ""]
    for text in (
        f"{first.sentence}.",
        learned_sentence(result),
        verdict(result),
        joint_verdict(result.by_featurizer),
        first.beside,
    ):
        lines += wrapped(text, "  ", "  ")
    lines += ["", *(line for found in result.warnings for line in warning_lines("", found))]
    lines += [""] if result.warnings else []
    for name, score in SCORES.items():
        value = getattr(result, name)
        if value is not None:
            shown = f"{digits(value):>7}  {_ci(result, name):<17}"
            lines.append(f"  {score.title:<24} {shown}  {score.better}; {score.meaning}")
    lines.append("")
    lines += [f"  {name:<24} {value:<17}  {meaning}".rstrip() for name, value, meaning in facts(result)]
    lines += _featurizer_lines(result)
    return "\n".join([*lines, "", f"signature: {result.signature}"])


def _featurizer_lines(result: ResultNumbers) -> list[str]:
    """What each of several featurizers says, and the warnings and signatures of those after the first."""
    each = result.by_featurizer
    if len(each) < 2:
        return []
    lines = ["", *plain_table(featurizer_columns(each), featurizer_rows(each)), ""]
    own = result_warnings(result)[len(result.warnings) :]
    lines += [line for who, warning in own for line in warning_lines(who, warning)]
    return [*lines, "", *_other_signatures(each)]


def _other_signatures(each: Mapping[str, ResultNumbers] | Mapping[str, ComparisonNumbers]) -> list[str]:
    """The signatures of the featurizers after the first one."""
    return [f"signature of {printable(name)}: {one.signature}" for name, one in [*each.items()][1:]]


def _ci(result: ResultNumbers, name: str) -> str:
    interval = {
        "mauve_debiased": result.mauve_ci,
        "mauve_classifier": result.mauve_classifier_ci,
        "auc": result.auc_ci,
        "frontier_integral_debiased": result.frontier_integral_ci,
    }.get(name)
    return "" if interval is None else f"[{digits(interval[0])}, {digits(interval[1])}]"


def comparison_table(comparison: ComparisonNumbers) -> str:
    """The comparison for the terminal: warnings, models, differences, what they rest on, signature."""
    results = list(comparison.models.values())
    level, common = f"{100 * comparison.confidence_level:g} %", results[0]
    models = f"{len(results)} model{'' if len(results) == 1 else 's'}"
    lines = [f"{models} against {common.n_p} human texts, {common.num_buckets} common buckets", ""]
    joint = joint_comparison(comparison.by_featurizer)
    for text in (
        ranking_verdict(comparison),
        learned_ranking(comparison),
        joint,
        comparison_headline(comparison).beside,
    ):
        lines += wrapped(text, "  ", "  ")
    found = collected_warnings(comparison)
    lines += ["", *(line for who, warning in found for line in warning_lines(who, warning))]
    lines += ["", *plain_table(model_columns(comparison), model_rows(comparison)), ""]
    for note in notes(comparison):
        lines += wrapped(note, "  ", "  ")
    lines += wrapped(f"Intervals: {level}, {common.ci_scope}.", "  ", "  ")
    if comparison.differences:
        lines += ["", *plain_table(difference_columns(comparison), difference_rows(comparison)), ""]
        lines += wrapped(DIFFERENCE_NOTE, "  ", "  ") if len(comparison.differences) > 1 else []
        lines += wrapped(forecast_sentence(comparison), "  ", "  ")
    if comparison.learned_differences:
        lines += ["", f"  {LEARNED_DIFFERENCES}:", ""]
        lines += plain_table(difference_columns(comparison), learned_difference_rows(comparison))
    signatures = [*_other_signatures(comparison.by_featurizer), f"signature: {comparison.signature}"]
    return "\n".join([*lines, "", *signatures])


def comparison_markdown(comparison: ComparisonNumbers) -> str:
    """The tables in Markdown, with the notes."""
    parts = [markdown_table(model_columns(comparison), model_rows(comparison))]
    parts.append("\n".join(map(markdown_text, notes(comparison))))
    if comparison.differences:
        parts.append(markdown_table(difference_columns(comparison), difference_rows(comparison)))
        parts.append(markdown_text(f"{conclusion(comparison)} {forecast_sentence(comparison)}"))
    if comparison.learned_differences:
        parts.append(f"{LEARNED_DIFFERENCES}:")
        parts.append(markdown_table(difference_columns(comparison), learned_difference_rows(comparison)))
        parts.append(markdown_text(learned_ranking(comparison)))
    joint = joint_comparison(comparison.by_featurizer)
    parts += [markdown_text(joint)] if joint else []
    signatures = [comparison.signature, *_other_signatures(comparison.by_featurizer)]
    return "\n\n".join([*parts, *(f"`{signature.replace('`', ' ')}`" for signature in signatures)]) + "\n"


def comparison_csv(comparison: ComparisonNumbers, table: str = "models") -> str:
    """One table as CSV, numbers in full; a missing value is an empty field, and no name is a formula."""
    tables = {
        "models": (model_columns, model_rows),
        "differences": (difference_columns, difference_rows),
        "learned_differences": (difference_columns, learned_difference_rows),
    }
    if table not in tables:
        raise ValueError(f"table must be one of {', '.join(tables)}, got {table!r}")
    columns, rows = tables[table]
    return csv_table(columns(comparison), rows(comparison))


def comparison_latex(comparison: ComparisonNumbers) -> str:
    """The tables of models, differences and differences of learned scores as LaTeX `tabular`s; they need booktabs."""
    parts = [latex_table(model_columns(comparison), model_rows(comparison))]
    if comparison.differences:
        parts.append(latex_table(difference_columns(comparison), difference_rows(comparison)))
    if comparison.learned_differences:
        parts.append(latex_table(difference_columns(comparison), learned_difference_rows(comparison)))
    signatures = [comparison.signature, *_other_signatures(comparison.by_featurizer)]
    return "\n\n".join([*parts, *(f"% {signature}" for signature in signatures)]) + "\n"
